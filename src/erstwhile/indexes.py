"""Chooses the lexical index: tantivy's, or SQLite's FTS5 where tantivy cannot be imported; and replaces it beside
itself.

Its name carries the versions of its own schema and of the tokenizer. While none of the wanted name exists, an older one
answers; the new one is built under another name and takes its place when it is whole.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable

from .errors import StoreError
from .store.reading import count_after
from .text import VERSION
from .values import TYPE_CHECKING

if TYPE_CHECKING:
    from .lexical_contract import Index

LAZY = 200
"""A tail of this many documents is scored directly rather than committed: a commit costs more than scoring them."""


class Indexes:
    """The index below `folder` (None: in memory). `current` answers; `refresh` before each use."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.make, kind, schema = _engine()
        self.wanted = os.path.join(folder, f"{kind}-{schema}-{VERSION}") if folder else None
        self._used = self._best()
        self.current: Index = self.make(self._used)
        self.broken = False

    def refresh(self) -> bool:
        """Sees the last commit, and a rebuilt index that took the place of this one; False when there is none to
        use."""
        best = self._best()
        if best != self._used:
            self._used, self.current = best, self.make(best)
        try:
            found = self.current.refresh()
            self.broken = False
        except StoreError:
            found, self.broken = False, True
        return found

    def due(self, db: sqlite3.Connection) -> bool:
        """Whether the wanted index cannot be read, or is missing while the store holds more than a tail."""
        if self.wanted is None:
            return False
        if self.broken or self._used != self.wanted:
            return True
        return not os.path.exists(self.wanted) and count_after(db, 0) > LAZY

    def set_aside(self) -> None:
        """Moves an index that cannot be read out of the way: every process sees it missing, and one rebuilds it."""
        self.current.forget()
        if self._used is not None:
            _remove(self._used + ".old")
            try:
                os.replace(self._used, self._used + ".old")
            except OSError:  # another process was faster, or holds it open
                self.broken = True
        self.current = self.make(self._used)

    def rebuild(self, db: sqlite3.Connection) -> None:
        """Builds the wanted index from the store beside the live one, and swaps. Only for the holder of the lock."""
        from .indexing import catch_up

        if self.wanted is None:
            return
        beside, old = self.wanted + ".new", self.wanted + ".old"
        _remove(beside)
        _remove(old)
        catch_up(db, self.make(beside), {})
        self.current.forget()  # Windows renames no folder whose files are open
        if os.path.exists(self.wanted):
            os.replace(self.wanted, old)
        os.replace(beside, self.wanted)
        for name in self._others():
            _remove(os.path.join(os.path.dirname(self.wanted), name))
        self._used = self.wanted
        self.current = self.make(self.wanted)
        self.refresh()

    def _best(self) -> str | None:
        """The wanted index, or the newest older one while that does not exist."""
        if self.wanted is None or os.path.exists(self.wanted):
            return self.wanted
        older = [name for name in self._others() if not name.endswith((".new", ".old"))]
        return os.path.join(os.path.dirname(self.wanted), older[-1]) if older else self.wanted

    def _others(self) -> list[str]:
        """Names of the other indexes of this engine, oldest version first."""
        assert self.wanted is not None
        folder, wanted = os.path.split(self.wanted)
        kind = wanted.split("-")[0]
        try:
            names = os.listdir(folder)
        except OSError:
            return []
        return sorted(name for name in names if name.startswith(f"{kind}-") and name != wanted)


def _engine() -> tuple[Callable[[str | None], Index], str, int]:
    try:
        from .lexical import SCHEMA, Lexical
    except ImportError:
        from .lexical_fts import SCHEMA, LexicalFts

        return LexicalFts, "fts", SCHEMA
    return Lexical, "lexical", SCHEMA


def _remove(path: str) -> None:
    """Deletes an index that is no longer used; one that another process holds open is left for the next time."""
    import shutil

    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    for name in (path, path + "-wal", path + "-shm", path + "-journal"):
        if os.path.exists(name):
            try:
                os.remove(name)
            except OSError:
                continue
