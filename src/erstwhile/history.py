"""What an adapter produces: sessions, messages, parts, and what it could not read. Frozen values, nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

from .model import Skipped


class Part(NamedTuple):
    """A piece of a message with one kind."""

    kind: str
    text: str
    tool: str | None = None
    state: str | None = None
    """One of STATES for text the agent keeps but no longer shows itself."""
    record: str | None = None
    """The agent's own id of the record that carries it (unique for the agent, the same in copies of the record)."""
    heading: str | None = None
    """The nearest heading above a `document`; it is searched with the text."""


class Message(NamedTuple):
    """One conversation record. Yielded again with the same index, it brings further parts of that message."""

    index: int
    role: str
    time: float | None
    """Seconds since 1970, UTC."""
    parts: tuple[Part, ...]


class Session(NamedTuple):
    """The head of one conversation. Yielded before its messages; yielded again with the same id, it replaces the
    head."""

    id: str
    """`agent:native-id`."""
    title: str | None = None
    """The recorded title; never one derived from the first question."""
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    started: float | None = None
    """Seconds since 1970; the first message's time when None. Likewise `ended`."""
    ended: float | None = None
    parent: str | None = None
    """Full id of the session it came from."""
    relation: str | None = None
    """subagent, fork, resume or compaction."""
    archived: bool = False
    origin: str | None = None
    """project, global or archive where the agent keeps them apart; derived when None."""
    messages: int | None = None
    """How many conversation records it has, those without parts too; the largest index + 1 when None."""
    collection: str | None = None
    slug: str | None = None
    lends: str | None = None
    """Text that its documents inherit besides the title: description, tags."""
    content: int | None = None
    """Hash of the whole source, by which a renamed one is recognised."""


class Mark(NamedTuple):
    """Messages (by index) yielded earlier or in earlier reads whose parts turn out to have a state."""

    indexes: tuple[int, ...]
    state: str


class Title(NamedTuple):
    """A title for a session that another source holds, by its full id or by the id of one of its records."""

    text: str
    session: str | None = None
    record: str | None = None


class Unknown(NamedTuple):
    """A record type that the adapter does not know."""

    type: str


class Resume(NamedTuple):
    """Where the next read may start: JSON values, opaque to everyone but the adapter."""

    state: dict[str, Any]


Event = Session | Message | Mark | Title | Skipped | Unknown | Resume
