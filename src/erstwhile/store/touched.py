"""The paths that tool calls touched, and the sessions that touched an asked one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from ..touching import asked, paths, touched
from .connection import transaction
from .reading import CALLS_READ as PENDING

BATCH = 2000
MANY = 500
"""Paths that a question means from which sessions are asked for them, not the paths for sessions."""


# -- asking ------------------------------------------------------------------------------------------------------------


def touching_sessions(db: sqlite3.Connection, files: Iterable[str]) -> tuple[int, ...]:
    """The sessions that touched one of the paths; (-1,) when there are none."""
    paths = _known(db, files)
    known = ",".join(map(str, paths))
    if len(paths) < MANY:
        found = db.execute(f"SELECT DISTINCT session FROM touched WHERE path IN ({known}) ORDER BY session")
    else:  # `+` keeps SQLite from trying every path for every session: most have one among their first
        touches = f"SELECT 1 FROM touched t WHERE t.session = s.id AND +t.path IN ({known})"
        found = db.execute(f"SELECT s.id FROM sessions s WHERE EXISTS ({touches}) ORDER BY s.id")
    return tuple(row[0] for row in found) or (-1,)


def touching_documents(db: sqlite3.Connection, files: Iterable[str]) -> list[int]:
    """The calls that touched one of the paths."""
    known = ",".join(map(str, _known(db, files)))
    return [row[0] for row in db.execute(f"SELECT DISTINCT document FROM touched WHERE path IN ({known})")]


def _known(db: sqlite3.Connection, files: Iterable[str]) -> set[int]:
    """The kept paths that the asked ones mean: the path itself, one that ends with it, one below it, or one that fits
    its `*`."""
    found: set[int] = set()
    for file in files:
        form = asked(file, os.path.expanduser("~"))
        name = form.rpartition("/")[2]
        if any(mark in form for mark in "*?["):  # GLOB's star crosses slashes, so `**` says no more
            found.update(_ids(db, "path GLOB ?1 OR path GLOB '*/' || ?1", form))
        elif form.startswith("/") or form[1:2] == ":":
            found.update(_ids(db, "path > ?1 || '/' AND path < ?1 || '0' OR path = ?1", form))
            # a call of a session without a folder, or of another home, kept the end of its path
            short = "substr(path, 1, 1) <> '/' AND substr(path, 2, 1) <> ':'"
            tail = "'/' || CASE WHEN path LIKE '~/%' THEN substr(path, 3) ELSE path END"
            found.update(_ids(db, f"name = ?1 AND {short} AND substr(?2, -length({tail})) = {tail}", name, form))
        else:
            found.update(_ids(db, "name = ?1 AND substr('/' || path, -length(?2) - 1) = '/' || ?2", name, form))
            found.update(_ids(db, "instr('/' || path, '/' || ?1 || '/') > 0", form))
    return found


def _ids(db: sqlite3.Connection, test: str, *values: str) -> Iterable[int]:
    return [row[0] for row in db.execute(f"SELECT id FROM paths WHERE {test}", values)]


# -- writing -----------------------------------------------------------------------------------------------------------


def put_touched(
    db: sqlite3.Connection, session: int, cwd: str | None, calls: Iterable[tuple[int, Iterable[str]]]
) -> None:
    """Keeps what the session's calls touched, each a document with its paths; the caller holds the transaction."""
    for document, found in calls:
        for path in found:
            form, name = touched(path, cwd)
            db.execute("INSERT OR IGNORE INTO paths (path, name) VALUES (?, ?)", (form, name))
            db.execute(
                "INSERT OR IGNORE INTO touched SELECT id, ?, ? FROM paths WHERE path = ?", (session, document, form)
            )


def catch_up_touched(db: sqlite3.Connection) -> None:
    """Looks at the calls of a store that is older than the table, in batches, so that readers go on and a run that is
    killed goes on where it was."""
    while (row := db.execute("SELECT value FROM meta WHERE key = ?", (PENDING,)).fetchone()) is not None:
        batch = db.execute(
            "SELECT d.id, d.session, s.cwd, t.text FROM documents d JOIN sessions s ON s.id = d.session"
            " JOIN texts t ON t.id = d.id WHERE d.id > ? AND d.kind = 'tool_input' ORDER BY d.id LIMIT ?",
            (int(row[0]), BATCH),
        ).fetchall()
        with transaction(db):
            for number, session, cwd, text in batch:
                put_touched(db, session, cwd, [(number, paths(text))])
            if batch:
                db.execute("UPDATE meta SET value = ? WHERE key = ?", (str(batch[-1][0]), PENDING))
            else:
                db.execute("DELETE FROM meta WHERE key = ?", (PENDING,))
