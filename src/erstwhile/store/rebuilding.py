"""Mends the store before a run: what a killed run staged, and tokens that another tokenizer made."""

from __future__ import annotations

import sqlite3

from ..text import VERSION, indexed
from .connection import transaction
from .reading import tokenizer

BATCH = 2000


def retokenise(db: sqlite3.Connection) -> None:
    """Makes every document's tokens anew when they are of another tokenizer: in batches, each one transaction, so that
    readers go on, and a run that is killed goes on where it was."""
    if tokenizer(db) == str(VERSION):
        return
    note = f"retokenised-{VERSION}"
    done = int((db.execute("SELECT value FROM meta WHERE key = ?", (note,)).fetchone() or ("0",))[0])
    some = "SELECT id, text FROM searched WHERE id > ? ORDER BY id LIMIT ?"
    while batch := db.execute(some, (done, BATCH)).fetchall():
        rows: list[tuple[bytes, int, int]] = []
        for number, text in batch:
            packed = indexed(text).packed
            rows.append((packed, len(packed) // 4, number))
        done = batch[-1][0]
        with transaction(db):
            db.executemany("UPDATE documents SET tokens = ?, length = ? WHERE id = ?", rows)
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (note, str(done)))
    with transaction(db):
        for session, context in db.execute("SELECT id, context FROM sessions").fetchall():
            db.execute("UPDATE sessions SET context_tokens = ? WHERE id = ?", (indexed(context).packed, session))
        db.execute(
            "UPDATE totals SET tokens = (SELECT coalesce(sum(length), 0) FROM documents),"
            " context = (SELECT coalesce(sum(length(context_tokens) / 4 * documents), 0) FROM sessions)"
        )
        db.execute("DELETE FROM meta WHERE key LIKE 'retokenised-%'")
        db.execute("INSERT OR REPLACE INTO meta VALUES ('tokenizer', ?)", (str(VERSION),))


def drop_staged(db: sqlite3.Connection) -> None:
    """Removes what a run that was killed had staged. Only for the process that holds the indexer's lock."""
    left = "SELECT EXISTS (SELECT 1 FROM documents WHERE session < 0) OR EXISTS (SELECT 1 FROM sessions WHERE NOT live)"
    if not db.execute(left).fetchone()[0]:
        return
    with transaction(db):
        count, tokens, characters = db.execute(
            "SELECT count(*), coalesce(sum(length), 0), coalesce(sum(characters), 0) FROM documents WHERE session < 0"
        ).fetchone()
        db.execute("DELETE FROM texts WHERE id IN (SELECT id FROM documents WHERE session < 0)")
        db.execute("DELETE FROM headings WHERE id IN (SELECT id FROM documents WHERE session < 0)")
        db.execute("DELETE FROM touched WHERE document IN (SELECT id FROM documents WHERE session < 0)")
        db.execute("INSERT OR IGNORE INTO stale SELECT id FROM documents WHERE session < 0")
        db.execute("DELETE FROM documents WHERE session < 0")
        db.execute("DELETE FROM sessions WHERE NOT live")
        db.execute(
            "UPDATE totals SET documents = documents - ?, tokens = tokens - ?, characters = characters - ?",
            (count, tokens, characters),
        )
