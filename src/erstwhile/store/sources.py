"""What the store knows of each source: its stamp, its state, where to read on."""

from __future__ import annotations

import sqlite3

from ..model import Source
from .changes import remove_session
from .connection import transaction
from .writing import Known


def known(db: sqlite3.Connection, source: Source) -> Known | None:
    """The source as last written, or None. Its resume state is decoded here, since only a changed source needs it."""
    row = db.execute(
        "SELECT id, stamp, state, size, resume, version FROM sources WHERE agent = ? AND path = ?",
        (source.agent, source.path),
    ).fetchone()
    if row is None:
        return None
    if row[4] is None:
        return Known(*row)
    import json

    return Known(row[0], row[1], row[2], row[3], json.loads(row[4]), row[5])


def set_failed(db: sqlite3.Connection, source: Source, reason: str) -> None:
    """Records why a source could not be read, under a stamp that no listing gives, so that it is tried again."""
    _set(db, source, f"failed {source.stamp}", "failed", reason)


def set_excluded(db: sqlite3.Connection, source: Source, reason: str) -> None:
    """Records that a source must not be read; what was read of it before goes."""
    row = db.execute(
        "SELECT id, state FROM sources WHERE agent = ? AND path = ?", (source.agent, source.path)
    ).fetchone()
    if row and row[1] == "excluded":
        return
    if row:
        remove(db, [(source.agent, source.path)])
    _set(db, source, source.stamp, "excluded", reason)


def _set(db: sqlite3.Connection, source: Source, stamp: str, state: str, reason: str) -> None:
    with transaction(db):
        db.execute(
            "INSERT INTO sources (agent, path, stamp, state, reason, size, slug, role) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (agent, path) DO UPDATE SET state = excluded.state, reason = excluded.reason,"
            " stamp = excluded.stamp",
            (source.agent, source.path, stamp, state, reason, source.size, source.slug, source.role),
        )


def vanish(db: sqlite3.Connection, gone: list[tuple[str, str]], keep: bool) -> None:
    """Sources that lie on disk no more: their sessions stay and count as archived, or go too."""
    with transaction(db):
        for agent, path in gone:
            row = db.execute("SELECT id FROM sources WHERE agent = ? AND path = ?", (agent, path)).fetchone()
            if row is None:
                continue
            _release(db, row[0])
            if keep and _owns(db, row[0]):
                db.execute("UPDATE sources SET state = 'vanished', reason = NULL WHERE id = ?", row)
                _refresh_tags(db, row[0])
            else:
                _remove(db, row[0])


def contents(db: sqlite3.Connection, sources: list[tuple[str, str]]) -> dict[tuple[str, int, int], str]:
    """The paths of those of the sources that can be recognised by (agent, bytes, hash of the content)."""
    found: dict[tuple[str, int, int], str] = {}
    for agent, path in sources:
        for size, content in db.execute(
            "SELECT o.size, s.content FROM sources o JOIN sessions s ON s.source = o.id"
            " WHERE o.agent = ? AND o.path = ? AND s.content IS NOT NULL",
            (agent, path),
        ):
            found.setdefault((agent, size, content), path)
    return found


def move(db: sqlite3.Connection, old: str, new: Source) -> None:
    """A source with one session that has another name now: the session and its documents keep their rows. Its stamp is
    forgotten, so that it is read, since a title may come from the name."""
    with transaction(db):
        row = db.execute("SELECT id FROM sources WHERE agent = ? AND path = ?", (new.agent, old)).fetchone()
        db.execute("UPDATE sources SET path = ?, stamp = '' WHERE id = ?", (new.path, row[0]))
        db.execute(
            "UPDATE sessions SET key = ?, native = ? WHERE source = ?",
            (f"{new.agent}:{new.native}", new.native, row[0]),
        )


def appear(db: sqlite3.Connection, back: list[tuple[str, str]]) -> None:
    """Vanished sources that lie on disk again, unchanged."""
    with transaction(db):
        for agent, path in back:
            row = db.execute("SELECT id FROM sources WHERE agent = ? AND path = ?", (agent, path)).fetchone()
            db.execute("UPDATE sources SET state = iif(skipped = '[]', 'ok', 'partial') WHERE id = ?", row)
            _refresh_tags(db, row[0])


def remove(db: sqlite3.Connection, sources: list[tuple[str, str]]) -> None:
    """Takes sources and their sessions out of the store."""
    with transaction(db):
        for agent, path in sources:
            for row in db.execute("SELECT id FROM sources WHERE agent = ? AND path = ?", (agent, path)).fetchall():
                _remove(db, row[0])


def _owns(db: sqlite3.Connection, source: int) -> bool:
    """Whether sessions or titles came from the source."""
    held = "SELECT EXISTS (SELECT 1 FROM sessions WHERE source = ?1) OR EXISTS (SELECT 1 FROM titles WHERE source = ?1)"
    return bool(db.execute(held, (source,)).fetchone()[0])


def _refresh_tags(db: sqlite3.Connection, source: int) -> None:
    db.execute(
        "INSERT OR IGNORE INTO stale SELECT d.id FROM sessions s JOIN documents d ON d.session = s.id"
        " WHERE s.source = ?",
        (source,),
    )


def _release(db: sqlite3.Connection, source: int) -> None:
    """What gave way to a source that goes is read again."""
    db.execute(
        "UPDATE sources SET stamp = '' WHERE id IN"
        " (SELECT t.source FROM sessions s JOIN twins t ON t.session = s.key WHERE s.source = ?)",
        (source,),
    )


def _remove(db: sqlite3.Connection, source: int) -> None:
    _release(db, source)
    db.execute("DELETE FROM twins WHERE source = ?", (source,))
    for (session,) in db.execute("SELECT id FROM sessions WHERE source = ?", (source,)).fetchall():
        remove_session(db, session)
    db.execute("DELETE FROM titles WHERE source = ?", (source,))
    db.execute("DELETE FROM sources WHERE id = ?", (source,))
