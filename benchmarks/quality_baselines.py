"""What a plain SQLite full-text search gives on the same documents: the ranking that most tools of this kind have."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from quality_model import Doc, Question

FETCHED = 1000


class Fts:
    """FTS5 with its default tokenizer over a set's documents; sessions by their best document."""

    def __init__(self, docs: Iterable[Doc]) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE docs USING fts5 (text, id UNINDEXED, session UNINDEXED, pool UNINDEXED)")
        rows = ((f"{doc.title}\n{doc.text}" if doc.title else doc.text, doc.id, doc.session, doc.pool) for doc in docs)
        self.db.executemany("INSERT INTO docs VALUES (?, ?, ?, ?)", rows)

    def ranked(self, question: Question, level: str, joined: str) -> list[str]:
        """Ids of documents or sessions, best first; `joined` is AND or OR."""
        words = re.findall(r"\w+", question.text)
        if not words:
            return []
        found = self.db.execute(
            f"SELECT {'session' if level == 'session' else 'id'} FROM docs WHERE docs MATCH ? AND pool = ?"
            f" ORDER BY rank LIMIT {FETCHED}",
            (f" {joined} ".join(f'"{word}"' for word in words), question.pool),
        )
        return [row[0] for row in found]
