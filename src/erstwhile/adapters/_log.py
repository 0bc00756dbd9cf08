"""A growing log on its way to events, one record a line: what Copilot CLI, Pi and Qwen Code have in common. Knows no
record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from ..model import Event, Mark, Message, Resume, Session, Unknown
from ._chain import Chain
from .base import ODD, JsonLines, fields, odd


class Log(ABC):
    """One file on its way to events; `state` is what a later read needs to go on where this one ended."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.lines = JsonLines(path, since)
        since = since or {}
        self.head: dict[str, Any] = dict(fields(since.get("head")))
        self.next: int = since.get("next", 0)
        """The index of the next message."""
        self.shown: bool = since.get("shown", False)
        """Whether the session was yielded, in this read or an earlier one."""

    @abstractmethod
    def session(self) -> Session:
        """The head as far as it is known."""

    @abstractmethod
    def event(self, record: dict[str, Any], unknown: list[str]) -> Message | Mark | None:
        """What a record comes to; types that are not known go to `unknown`."""

    def marks(self) -> Iterator[Mark]:
        """What is known only at the end."""
        return iter(())

    @property
    def state(self) -> dict[str, Any]:
        return {**self.lines.state, "head": self.head, "next": self.next, "shown": self.shown}

    def events(self) -> Iterator[Event]:
        yielded = False
        unknown: list[str] = []
        for line, record in self.lines:
            try:
                event = self.event(record, unknown)
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
                continue
            if event is None or (isinstance(event, Message) and not event.parts):
                continue
            if not yielded:
                yield self.session()
                yielded = self.shown = True
            yield event
        if self.shown:
            yield self.session()
        yield from self.marks()
        yield from (Unknown(kind) for kind in unknown)
        yield from self.lines.skipped
        yield Resume(self.state)


class ChainedLog(Log):
    """A log whose records name their predecessor; what the conversation left behind is marked."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        super().__init__(path, since)
        self.chain = Chain(fields(since.get("chain")) if since else None)

    def marks(self) -> Iterator[Mark]:
        if marked := self.chain.abandoned():
            yield Mark(marked, "abandoned")

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "chain": self.chain.state}
