"""Keeps the lexical index in step with the store. The index says itself how far it is; the store never records it."""

from __future__ import annotations

import sqlite3

from .indexes import LAZY
from .lexical_types import Busy
from .store import lexicon, transaction
from .store.reading import count_after
from .values import TYPE_CHECKING

if TYPE_CHECKING:
    from .lexical_contract import Index


def catch_up(db: sqlite3.Connection, index: Index, fresh: dict[int, str], lazily: bool = False) -> bool:
    """Adds the documents above the index's mark and redoes the stale ones; False when another process is writing.

    `fresh` holds tokens of documents just written; it is emptied. `lazily` leaves a short tail to be scored directly.
    """
    index.refresh()
    mark = index.mark
    stale = lexicon.stale_ids(db)
    due = len(stale) + count_after(db, mark)
    if not due or (lazily and due < LAZY):
        return True
    try:
        writer = index.writer()
    except Busy:
        return False
    try:
        for number in stale:
            writer.remove(number)
        for entry in lexicon.stale_entries(db, mark):
            writer.add(entry)
        for entry in lexicon.new_entries(db, mark, fresh):
            writer.add(entry)
        writer.commit()
    finally:
        writer.close()
    fresh.clear()
    with transaction(db):
        lexicon.clear_stale(db, stale)
    index.refresh()
    return True
