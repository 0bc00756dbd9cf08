"""A process of its own that writes a database, as a running agent does: locks of one process do not show in itself."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

OWNER = """
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
for line in sys.stdin:
    try:
        print(json.dumps(db.execute(json.loads(line)).fetchall()), flush=True)
    except sqlite3.Error as error:
        print(json.dumps(str(error)), flush=True)
"""


class Owner:
    """Runs statements in the other process, which waits for no lock: one that we hold would show as an error."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", OWNER, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def __call__(self, statement: str) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(statement) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def kill(self) -> None:
        """Ends it as a crash would: its files stay as they are."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream and not stream.closed:
                stream.close()


def write(path: Path, script: str, *rows: tuple[str, *tuple[object, ...]]) -> Path:
    """A database made by `script`, with `rows` of (table, values …)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
        for table, *values in rows:
            db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)
        db.commit()
    return path


def contents(folder: Path, without: tuple[str, ...] = ()) -> dict[str, str]:
    """The hash of every file in the folder."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.endswith(without))
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
