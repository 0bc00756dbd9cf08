"""One session while its source is read: what is new against the documents that the store has of it."""

from __future__ import annotations

import sqlite3
from typing import Any

from ..documents import Document
from ..model import Session

TITLE_CHARACTERS = 200


class Draft:
    """One session being collected. `pending` holds (seq, document) not written yet."""

    def __init__(self, db: sqlite3.Connection, key: str, row: Any, rival: Any, appending: bool) -> None:
        self.key, self.rival = key, rival
        self.head = Session(key)
        self.id: int | None = row[0] if row else None
        self.pending: list[tuple[int, Document]] = []
        self.marks: list[tuple[tuple[int, ...], str]] = []
        self.restated: list[tuple[str | None, int]] = []
        self.staged = False
        self.new = 0
        self.replaced_from: int | None = None
        self.replaced = False
        """Whether documents of an older version had to go."""
        self.digests: list[tuple[int, str]] = []
        """Digest and kind of the documents, where a rival has to be compared with."""
        kept = row if appending else None
        self.seq: int = kept[2] if kept else 0
        self.ordinals: int = kept[3] if kept else 0
        self.messages: int = kept[4] if kept else 0
        self.first_text: str | None = kept[5] if kept else None
        self._old: list[tuple[Any, ...]] = []
        if row and not appending:
            self._old = db.execute(
                "SELECT digest, message, ordinal, piece, kind, role, tool, time, record, state"
                " FROM documents WHERE session = ? ORDER BY seq",
                (self.id,),
            ).fetchall()
            self.replaced_from = 0

    @property
    def has_content(self) -> bool:
        return self.seq > 0

    def drop(self) -> None:
        self.seq = 0
        self.pending.clear()

    def add(self, index: int, documents: list[Document], parts: int) -> None:
        for d in documents:
            if self.rival is not None:
                self.digests.append((d.digest, d.kind))
            if self.replaced_from is not None and self.replaced_from == self.seq and self._same(d):
                self.replaced_from += 1
            else:
                self.pending.append((self.seq, d))
            self.seq += 1
        if self.first_text is None:
            self.first_text = next(
                (_line(d.text) for d in documents if d.kind == "user_text" and d.state is None), None
            )
        self.ordinals += parts
        self.messages = max(self.messages, index + 1)

    def _same(self, d: Document) -> bool:
        """Whether the store's document at this place is `d`; a different state is set again, not written again."""
        if self.seq >= len(self._old):
            return False
        *old, state = self._old[self.seq]
        if old != [d.digest, d.message, d.ordinal, d.piece, d.kind, d.role, d.tool, d.time, d.record]:
            return False
        if state != d.state:
            self.restated.append((d.state, self.seq))
        return True


def _line(text: str) -> str | None:
    line = " ".join(text[: 4 * TITLE_CHARACTERS].split())[:TITLE_CHARACTERS]
    return line or None
