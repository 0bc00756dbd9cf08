"""Changes of sessions that are in the store: titles and parents that other sources tell, what is inherited, removal.

Each keeps the statistics, and the list of what the lexical index has to be told, in step; the caller holds the
transaction.
"""

from __future__ import annotations

import sqlite3

from ..text import indexed


def lent_title(db: sqlite3.Connection, key: str, session: int | None) -> str | None:
    """The newest title that another source holds for the session, by its id or by one of its records; or None."""
    row = db.execute("SELECT text FROM titles WHERE session = ? ORDER BY rowid DESC LIMIT 1", (key,)).fetchone()
    row = (
        row
        or db.execute(
            "SELECT text FROM titles t WHERE record IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM documents d WHERE d.record = t.record AND d.session = ?)"
            " ORDER BY rowid DESC LIMIT 1",
            (session,),
        ).fetchone()
    )
    return row[0] if row else None


def titled(db: sqlite3.Connection, source: int) -> set[tuple[int, str]]:
    """(row id, key) of the sessions without a title of their own for which the source holds one."""
    return set(
        db.execute(
            "SELECT s.id, s.key FROM titles t JOIN sessions s ON s.key = t.session"
            " WHERE t.source = ?1 AND s.own_title IS NULL UNION "
            "SELECT s.id, s.key FROM titles t JOIN documents d ON d.record = t.record"
            " JOIN sessions s ON s.id = d.session WHERE t.source = ?1 AND s.own_title IS NULL",
            (source,),
        )
    )


_DESCENDANTS = (
    "WITH RECURSIVE below (key) AS (SELECT c.key FROM sessions p JOIN sessions c ON c.parent = p.key WHERE p.id = ?"
    " UNION SELECT c.key FROM below JOIN sessions c ON c.parent = below.key) SELECT key FROM below"
)
"""The sessions that say they come from one, and what comes from them: a fork is not what its origin was resumed from,
though it begins with the same record and may have ended earlier."""


def link_resumed(db: sqlite3.Connection, session: int, first_new: int) -> None:
    """A session that begins with a record of another one was resumed from it, whichever of the two was read first. The
    session's documents from `first_new` on were not looked at before."""
    began = db.execute(
        # each record once: the pieces of a long text all have the same, and to join them with each other is quadratic
        "SELECT DISTINCT f.session FROM"
        " (SELECT DISTINCT record FROM documents WHERE session = ? AND seq >= ? AND record NOT NULL) d"
        " JOIN documents f ON f.record = d.record AND f.seq = 0 AND f.session > 0",
        (session, first_new),
    ).fetchall()
    for (number,) in [(session,), *began]:
        holders = db.execute(
            "SELECT s.id, s.key FROM documents f JOIN documents d ON d.record = f.record"
            " JOIN sessions s ON s.id = d.session WHERE f.session = ? AND f.seq = 0 AND s.live"
            f" AND s.key NOT IN ({_DESCENDANTS}) ORDER BY s.started, s.ended, s.key LIMIT 1",
            (number, number),
        ).fetchone()
        if holders and holders[0] != number:
            db.execute(
                "UPDATE sessions SET parent = ?1, relation = 'resume' WHERE id = ?2 AND parent IS NULL"
                " AND key IS NOT (SELECT parent FROM sessions WHERE key = ?1)",
                (holders[1], number),
            )


def refresh_context(db: sqlite3.Connection, session: int, new: int) -> None:
    """Recomputes what the session lends to its documents; where that changed, the `new` ones excepted, they are
    stale."""
    title, lends, place, old, documents, packed = db.execute(
        "SELECT title, lends, place, context, documents, context_tokens FROM sessions WHERE id = ?", (session,)
    ).fetchone()
    context = " ".join(filter(None, (title, lends, (place or "").rpartition("/")[2])))
    length = len(packed) // 4
    if context != old:
        packed = indexed(context).packed
        db.execute(
            "UPDATE sessions SET context = ?, context_tokens = ? WHERE id = ?",
            (context, packed, session),
        )
        db.execute("UPDATE totals SET context = context + ?", ((len(packed) // 4 - length) * (documents - new),))
        db.execute("INSERT OR IGNORE INTO stale SELECT id FROM documents WHERE session = ?", (session,))
    db.execute("UPDATE totals SET context = context + ?", (len(packed) // 4 * new,))


def remove_documents(db: sqlite3.Connection, session: int, start: int) -> int:
    """Removes the session's documents from `seq` = start on, and takes them out of the statistics; says how many."""
    count, tokens, characters = db.execute(
        "SELECT count(*), coalesce(sum(length), 0), coalesce(sum(characters), 0) FROM documents"
        " WHERE session = ? AND seq >= ?",
        (session, start),
    ).fetchone()
    if not count:
        return 0
    context = db.execute("SELECT length(context_tokens) / 4 FROM sessions WHERE id = ?", (session,)).fetchone()
    db.execute(
        "UPDATE totals SET documents = documents - ?, tokens = tokens - ?, context = context - ?,"
        " characters = characters - ?",
        (count, tokens, count * (context[0] if context else 0), characters),
    )
    gone = "SELECT id FROM documents WHERE session = ? AND seq >= ?"
    db.execute(f"INSERT OR IGNORE INTO stale {gone}", (session, start))
    db.execute(f"DELETE FROM texts WHERE id IN ({gone})", (session, start))
    db.execute(f"DELETE FROM headings WHERE id IN ({gone})", (session, start))
    db.execute(f"DELETE FROM touched WHERE document IN ({gone})", (session, start))
    db.execute("DELETE FROM documents WHERE session = ? AND seq >= ?", (session, start))
    return count


def remove_session(db: sqlite3.Connection, session: int) -> None:
    remove_documents(db, session, 0)
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
