"""Records that name their predecessor: which of them the conversation left behind when it went back and on from an
earlier one. Pure; Pi and Qwen Code write such files."""

from __future__ import annotations

from typing import Any

from .base import Reread


class Chain:
    """Takes records in file order; the live ones are those on the way from the last record back to the first.

    A predecessor that is not in the file (its line is damaged, or the file was copied from the middle of another one)
    is taken to be the record before. A resumed read knows only the last record, so it goes on along a straight line and
    is a Reread where the conversation branches.
    """

    def __init__(self, since: dict[str, Any] | None = None) -> None:
        self._partial = since is not None
        self._last: str | None = (since or {}).get("last")
        self._parents: dict[str, str | None] = {}
        self._indexes: dict[str, int] = {}
        self._straight = True

    def __contains__(self, key: str) -> bool:
        return key in self._parents

    def add(self, key: str, parent: str | None, index: int | None) -> None:
        """Place a record; `index` is that of its message, None for every other record."""
        if parent != self._last:
            if self._partial:
                raise Reread(key)
            if self._last is not None and (parent is None or parent in self._parents):
                self._straight = False
            else:
                parent = self._last
        self._parents[key] = parent
        if index is not None:
            self._indexes[key] = index
        self._last = key

    def abandoned(self) -> tuple[int, ...]:
        """Indexes of the messages that are not live, in order."""
        if self._straight:
            return ()
        live: set[str] = set()
        key = self._last
        while key is not None:
            live.add(key)
            key = self._parents.get(key)
        return tuple(index for key, index in self._indexes.items() if key not in live)

    @property
    def state(self) -> dict[str, Any]:
        """The last record, for `since`."""
        return {"last": self._last}
