"""Asks the databases of running agents without their noticing: nothing beside them is made, locked against them or
written. Knows no agent's tables.

A database without a write-ahead log is read without locks and asked again when it changed meanwhile; one with a log is
read as SQLite's own readers do it, but with its shared memory opened read-only. Every question has a connection of its
own, so that nobody who takes time over an answer keeps a lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import SourceError
from ..model import Root, Source
from ..values import TYPE_CHECKING, Any, NamedTuple
from .base import MAX_LINE, decode, regular

if TYPE_CHECKING:
    import sqlite3
    from typing import TypeVar

    T = TypeVar("T")
    K = TypeVar("K")

PAGE = 4 << 20
"""Bytes of rows that are held at a time."""
MAX_COPY = 256 << 20
"""A log whose shared memory is gone is only read through a copy; of a larger database none is made."""
WAIT, TRIES, PAUSE = 0.2, 6, 0.02
"""Seconds for a lock, and how often and after how many seconds a database that is being written is asked again."""
MAGIC = b"SQLite format 3\0"
HOT = bytes.fromhex("d9d505f920a163d7")
"""Starts a rollback journal whose pages may stand half written in the database."""
WAL_HEADER = 32
UNKNOWN = ": written by a version that erstwhile does not know"


class Row(NamedTuple):
    """One session as a listing sees it."""

    native: str
    facts: tuple[object, ...]
    """What changes when the session does."""
    size: int = 0
    mtime: float | None = None
    hidden: bool = False


# -- sources -----------------------------------------------------------------------------------------------------------


def sources(agent: str, root: Root, path: str, rows: Callable[[sqlite3.Connection], Iterable[Row]]) -> Iterator[Source]:
    """One source for each session that `rows` finds in the database.

    When it cannot be asked there is one source for the whole file, so that reading it says why (see `check`).
    """
    if not regular(path):
        if os.path.lexists(path):
            reason = "a symbolic link" if os.path.islink(path) else "not a regular file"
            yield Source(agent, path, "excluded", role=root.role, excluded=reason)
        return
    try:
        found = ask(path, lambda db: list(rows(db)))
    except SourceError:
        yield whole(agent, root, path)
        return
    for row in found:
        stamp = ":".join("" if fact is None else str(fact) for fact in row.facts)
        yield Source(
            agent, f"{path}#{row.native}", stamp, row.size, row.mtime or 0.0, role=root.role, hidden=row.hidden
        )


def whole(agent: str, root: Root, path: str) -> Source:
    """The database as one source."""
    written = _written(path)
    stamp = "+".join(f"{size}:{mtime}" for size, mtime in written)
    newest = max((mtime for _, mtime in written), default=0)
    return Source(agent, path, stamp, sum(size for size, _ in written), newest / 1e9, role=root.role)


def check(path: str, rows: Callable[[sqlite3.Connection], Iterable[Row]]) -> None:
    """Raises the SourceError for which the database was listed as one source, if there still is one."""
    ask(path, lambda db: list(rows(db)))


def split(path: str) -> tuple[str, str | None]:
    """(database, native id) of a source's path `FILE#native-id`; the id is None when it names the file alone."""
    at = path.find("#")
    while at >= 0:
        if os.path.isfile(path[:at]):
            return path[:at], path[at + 1 :]
        at = path.find("#", at + 1)
    return path, None


# -- questions ---------------------------------------------------------------------------------------------------------


def ask(path: str, question: Callable[[sqlite3.Connection], T]) -> T:
    """What `question` makes of the database; it must not keep the connection. Raises SourceError.

    The question may be put several times, when the owner writes meanwhile.
    """
    fault = "it is being written"
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE)
        if _size(f"{path}-wal") > WAL_HEADER:
            shared = regular(f"{path}-shm")
            answer = _answer(path, "mode=ro&readonly_shm=1", question) if shared else _copied(path, question)
            if not isinstance(answer, _Fault):
                return answer
            if _size(f"{path}-wal") > WAL_HEADER and shared == regular(f"{path}-shm"):
                raise SourceError(f"cannot read {path}: {answer.reason}")
            fault = answer.reason
            continue
        before = _state(path)
        if before is None:
            continue
        answer = _answer(path, "mode=ro&immutable=1", question)
        if before == _state(path):
            if isinstance(answer, _Fault):
                raise SourceError(f"cannot read {path}: {answer.reason}")
            return answer
    raise SourceError(f"cannot read {path}: {fault}")


def fetched(
    path: str, keys: Sequence[K], fetch: Callable[[sqlite3.Connection, K], list[sqlite3.Row]]
) -> Iterator[tuple[K, list[sqlite3.Row] | None]]:
    """Each key with the rows that `fetch` finds for it; None where a value is too long to be read.

    Holds about PAGE bytes of rows and no connection while the caller works on them.
    """
    at = 0

    def some(db: sqlite3.Connection) -> list[list[sqlite3.Row] | None]:
        found: list[list[sqlite3.Row] | None] = []
        room = PAGE
        while room > 0 and at + len(found) < len(keys):
            rows = _unless_too_long(db, keys[at + len(found)], fetch)
            found.append(rows)
            room -= 100 + sum(len(v) for row in rows or () for v in row if isinstance(v, (str, bytes)))
        return found

    while at < len(keys):
        page = ask(path, some)
        yield from zip(keys[at : at + len(page)], page, strict=True)
        at += len(page)


def columns(db: sqlite3.Connection, table: str) -> set[str]:
    """The table's columns; none when there is no such table."""
    return {row[1] for row in db.execute("SELECT * FROM pragma_table_info(?)", (table,))}


def select(
    db: sqlite3.Connection, table: str, needed: Sequence[str], wanted: Sequence[str] = (), prefix: str = ""
) -> str:
    """`needed` and `wanted` as a list for SELECT, with NULL for what this version of the table lacks of `wanted`.

    Raises SourceError that names what it lacks of `needed`.
    """
    have = columns(db, table)
    if not have:
        raise SourceError(f"no table {table}{UNKNOWN}")
    if missing := [name for name in needed if name not in have]:
        raise SourceError(
            f"table {table} has no {', '.join(missing)}: written by a version that erstwhile does not know"
        )
    return ", ".join(f"{prefix}{n}" if n in have else f"NULL AS {n}" for n in (*needed, *wanted))


def newest(db: sqlite3.Connection, sessions: str, table: str, counted: bool = True) -> str:
    """SQL for a table (session_id, last, count): the highest rowid and the number of the rows each session has.

    With an index it looks each session up (2,000 sessions with 200,000 parts: 60 to 90 ms of CPU instead of 125);
    without one that would go through all rows for each session.
    """
    count = "count(*)" if counted else "NULL"
    indexes = db.execute(
        "SELECT 1 FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i"
        " WHERE i.seqno = 0 AND i.name = 'session_id' AND l.partial = 0",
        (table,),
    )
    if indexes.fetchone() is None:
        return f"(SELECT session_id, max(rowid) AS last, {count} AS count FROM {table} GROUP BY session_id)"
    seek = f"FROM {table} t WHERE t.session_id = o.id"
    many = f"(SELECT count(*) {seek})" if counted else "NULL"
    return f"(SELECT o.id AS session_id, (SELECT max(t.rowid) {seek}) AS last, {many} AS count FROM {sessions} o)"


def json_of(value: object) -> Any:
    """The decoded JSON of a text or blob column, None for NULL; raises ValueError."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return decode(value.encode("utf-8", "replace"))
    if isinstance(value, bytes):
        return decode(value)
    raise ValueError("not JSON")


# -- connections -------------------------------------------------------------------------------------------------------


class _Fault(NamedTuple):
    """Why a question could not be answered."""

    reason: str


def _answer(path: str, mode: str, question: Callable[[sqlite3.Connection], T]) -> T | _Fault:
    import sqlite3
    from contextlib import closing
    from pathlib import Path

    try:
        uri = f"{Path(path).absolute().as_uri()}?{mode}"
        with closing(sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None)) as db:
            db.row_factory = sqlite3.Row
            db.text_factory = _text
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE)
            db.execute("PRAGMA trusted_schema = OFF")
            return question(db)
    except (sqlite3.Error, OSError, SourceError) as error:
        return _Fault(str(error))


def _copied(path: str, question: Callable[[sqlite3.Connection], T]) -> T | _Fault:
    """The answer of a copy: opening a log whose shared memory is gone would make it anew beside the original."""
    import shutil
    import tempfile

    before = _written(path)
    if sum(size for size, _ in before) > MAX_COPY:
        return _Fault("its write-ahead log has no -shm file; open it once with its agent")
    try:
        with tempfile.TemporaryDirectory(prefix="erst-") as folder:
            copy = os.path.join(folder, "copy.db")
            for suffix in ("", "-wal"):
                shutil.copyfile(path + suffix, copy + suffix)
            if before != _written(path):
                return _Fault("it is being written")
            return _answer(copy, "mode=ro", question)
    except OSError as error:
        return _Fault(error.strerror or str(error))


def _unless_too_long(
    db: sqlite3.Connection, key: K, fetch: Callable[[sqlite3.Connection, K], list[sqlite3.Row]]
) -> list[sqlite3.Row] | None:
    import sqlite3

    try:
        return fetch(db, key)
    except sqlite3.DataError:
        return None


def _state(path: str) -> tuple[object, ...] | None:
    """What tells that a database was written meanwhile; None while a transaction is being put into it."""
    try:
        with open(f"{path}-journal", "rb") as journal:
            if journal.read(len(HOT)) == HOT:
                return None
    except OSError:  # no journal, or none that can be read
        pass
    try:
        with open(path, "rb") as file:
            stat = os.fstat(file.fileno())
            head = file.read(100)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    if head and not head.startswith(MAGIC):
        raise SourceError(f"cannot read {path}: file is not a database")
    return stat.st_size, stat.st_mtime_ns, stat.st_ino, head


def _written(path: str) -> list[tuple[int, int]]:
    """(size, mtime in ns) of the database and of its log, as far as they are there."""
    found: list[tuple[int, int]] = []
    for name in (path, f"{path}-wal"):
        try:
            stat = os.lstat(name)
        except OSError:
            continue
        found.append((stat.st_size, stat.st_mtime_ns))
    return found


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
