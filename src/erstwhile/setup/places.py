"""What every kind of configuration file has in common: a place in its text where our entry stands, and the proof that
an edit changed nothing else. Knows nothing about files or agents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

NAME = "erstwhile"
"""The name of our entry, wherever entries have names."""

Entry = Mapping[str, Any]


class Broken(Exception):
    """The text is not what its format asks for."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


class CannotEdit(Exception):
    """The text is sound, but written in a way that we do not change; its text says why."""


class Look(NamedTuple):
    """What a text holds."""

    entry: Any
    """What stands under our name; None when nothing does."""
    rest: str
    """Everything else, in a form that can be compared."""


class Place(ABC):
    """Where an agent keeps MCP servers in a text of one format.

    The text is changed by insertion and deletion alone; what the format's own parser says about the text before and
    after decides whether the change is taken.
    """

    format: str

    @abstractmethod
    def look(self, text: str) -> Look:
        """What the text holds. Raises Broken with the line."""

    @abstractmethod
    def insert(self, text: str, entry: Entry) -> str:
        """The text with the entry. It must not have one. Raises CannotEdit."""

    @abstractmethod
    def delete(self, text: str) -> str:
        """The text without our entry. It must have one. Raises CannotEdit."""

    def added(self, text: str, entry: Entry) -> str:
        """The text with the entry added, or put in the place of the one that is there, everything else as it was.
        Raises Broken or CannotEdit."""
        before = self.look(text)
        if before.entry == entry:
            return text
        new = self.insert(text if before.entry is None else self.removed(text), entry)
        self._check(new, entry, before.rest)
        return new

    def removed(self, text: str) -> str:
        """The text without our entry, everything else as it was. Raises Broken or CannotEdit."""
        before = self.look(text)
        if before.entry is None:
            return text
        new = self.delete(text)
        self._check(new, None, before.rest)
        return new

    def _check(self, new: str, entry: Entry | None, rest: str) -> None:
        if not self.holds(new, entry, rest):
            raise CannotEdit(f"this {self.format} is written in a way that erst does not edit")

    def holds(self, new: str, entry: Entry | None, rest: str) -> bool:
        """Whether the text holds just that."""
        try:
            after = self.look(new)
        except Broken:
            return False
        return after.entry == entry and after.rest == rest

    def first(self, texts: Iterable[str], rest: str) -> str:
        """The first of these that lacks our entry and nothing else. Raises CannotEdit."""
        for text in texts:
            if self.holds(text, None, rest):
                return text
        raise CannotEdit("its entry is written in a way that erst does not edit")

    def empty(self, text: str) -> bool:
        """Whether the text holds nothing that anybody would miss."""
        return text.lstrip("\ufeff").strip() in ("", "{}", "[]")


def newline(text: str) -> str:
    """The line end that the text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def line_at(text: str, position: int) -> int:
    """The 1-based line of a position."""
    return text.count("\n", 0, position) + 1


def line_start(text: str, position: int) -> int:
    """Where the line of a position begins."""
    return text.rfind("\n", 0, position) + 1
