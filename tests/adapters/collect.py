"""Adapter events folded into plain sessions, so that a test can compare what a source gave. Pure; knows no format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from erstwhile.model import Event, Mark, Message, Part, Resume, Session, Skipped, Title, Unknown


class Item(NamedTuple):
    """One part where it stands in its session; `ordinal` counts the session's parts from 0 in the order they came."""

    ordinal: int
    index: int
    role: str
    time: float | None
    kind: str
    text: str
    tool: str | None
    state: str | None
    record: str | None


@dataclass
class Conversation:
    """A session with its messages: index -> (role, time), and its parts in order."""

    head: Session
    messages: dict[int, tuple[str, float | None]] = field(default_factory=dict[int, "tuple[str, float | None]"])
    items: list[Item] = field(default_factory=list[Item])

    @property
    def count(self) -> int:
        """How many messages it has, those without parts too."""
        return self.head.messages if self.head.messages is not None else max(self.messages, default=-1) + 1

    def add(self, message: Message) -> None:
        role, time = self.messages.setdefault(message.index, (message.role, message.time))
        for part in message.parts:
            self.items.append(_item(len(self.items), message.index, role, time, part))

    def mark(self, mark: Mark) -> None:
        touched = set(mark.indexes)
        self.items = [i._replace(state=mark.state) if i.index in touched else i for i in self.items]


def _item(ordinal: int, index: int, role: str, time: float | None, part: Part) -> Item:
    return Item(ordinal, index, role, time, part.kind, part.text, part.tool, part.state, part.record)


@dataclass
class Collected:
    """What the events of one source, or of several reads of it, came to."""

    sessions: dict[str, Conversation] = field(default_factory=dict[str, Conversation])
    titles: list[Title] = field(default_factory=list[Title])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    unknown: dict[str, int] = field(default_factory=dict[str, int])
    resume: dict[str, Any] | None = None


def collect(events: Iterable[Event], earlier: Collected | None = None) -> Collected:
    """The events as sessions; with `earlier`, added to what an earlier read of the same source gave.

    A session's messages and marks follow its head. After a resumed read they belong to the session that was read last
    until another head comes.
    """
    got = Collected() if earlier is None else Collected(earlier.sessions, earlier.titles, [], dict(earlier.unknown))
    current = next(reversed(got.sessions.values()), None)
    for event in events:
        if isinstance(event, Session):
            current = got.sessions.setdefault(event.id, Conversation(event))
            current.head = event
        elif isinstance(event, Message):
            assert current is not None, "a message came before any session"
            current.add(event)
        elif isinstance(event, Mark):
            assert current is not None, "a mark came before any session"
            current.mark(event)
        elif isinstance(event, Title):
            got.titles.append(event)
        elif isinstance(event, Skipped):
            got.skipped.append(event)
        elif isinstance(event, Unknown):
            got.unknown[event.type] = got.unknown.get(event.type, 0) + 1
        elif isinstance(event, Resume):  # pyright: ignore[reportUnnecessaryIsInstance]
            got.resume = event.state
        else:
            raise AssertionError(f"not an event: {event!r}")
    return got


def merge(collected: Iterable[Collected]) -> dict[str, Conversation]:
    """The sessions of several sources by full id, the first source of an id wins, with the titles another source gave.

    A title by session id replaces the head's, one by record id only fills a gap.
    """
    sources = list(collected)
    sessions: dict[str, Conversation] = {}
    for source in sources:
        for name, session in source.sessions.items():
            sessions.setdefault(name, session)
    owners = {i.record: s for s in reversed(list(sessions.values())) for i in s.items if i.record}
    for title in (t for source in sources for t in source.titles):
        if title.session in sessions:
            target = sessions[title.session]
            target.head = target.head._replace(title=title.text)
        elif title.record in owners and owners[title.record].head.title is None:
            target = owners[title.record]
            target.head = target.head._replace(title=title.text)
    return sessions
