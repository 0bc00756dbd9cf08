"""What a library shows besides answers: sessions, transcripts, sources, reports. Frozen values, nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

from .model import Coverage, Skipped


class Child(NamedTuple):
    """A session that came from another one: a sub-agent, a fork, a resumed copy."""

    session: str
    relation: str | None
    title: str | None


class SessionInfo(NamedTuple):
    """A session as it is listed. Field names are those of the JSON shape `session`."""

    session: str
    session_id: str
    agent: str
    title: str | None
    project: str | None
    cwd: str | None
    branch: str | None
    model: str | None
    started: float | None
    ended: float | None
    parent: str | None
    relation: str | None
    archived: bool
    session_path: str
    messages: int
    counts: dict[str, int]
    collection: str | None = None
    slug: str | None = None
    children: tuple[Child, ...] = ()
    """What came from it, the oldest first."""


class SessionPage(NamedTuple):
    sessions: tuple[SessionInfo, ...]
    next_cursor: str | None
    total: int
    exact: bool = True
    """Whether `total` is a count; a lower bound otherwise."""


class PartView(NamedTuple):
    ordinal: int
    kind: str
    tool: str | None
    text: str
    state: str | None
    heading: str | None = None


class MessageView(NamedTuple):
    message_index: int
    role: str
    time: float | None
    parts: tuple[PartView, ...]


class Transcript(NamedTuple):
    """A session, or a stretch of it."""

    session: SessionInfo
    messages: tuple[MessageView, ...]


class RawRecord(NamedTuple):
    """One record of the agent's file as it stands there, secrets masked."""

    message_index: int | None
    """The message that it brings or goes on with; None for a record beside the conversation."""
    role: str | None
    line: int | None
    """1-based, where the file has lines."""
    record: Any
    """Its JSON value."""


class RawTranscript(NamedTuple):
    session: SessionInfo
    records: tuple[RawRecord, ...]


class SourceStatus(NamedTuple):
    """One source as `erst sources` lists it. `state` is ok, partial, failed, vanished or excluded."""

    agent: str
    path: str
    state: str
    sessions: int
    messages: int
    skipped: tuple[Skipped, ...]
    unknown: dict[str, int]
    reason: str | None = None
    """Why it failed or is excluded."""


class Finding(NamedTuple):
    """Something that a person should look at. `code` is failed, skipped, unknown_type, low_yield, unclaimed or
    unreadable_root."""

    code: str
    agent: str
    path: str
    text: str


class Checkup(NamedTuple):
    """What `erst doctor` found: every source, and what is wrong with them or around them."""

    sources: tuple[SourceStatus, ...]
    findings: tuple[Finding, ...]


class Report(NamedTuple):
    """What one indexing run did."""

    sources: int = 0
    read: int = 0
    failed: int = 0
    vanished: int = 0
    messages: int = 0
    pending: int = 0
    """Sources still to read when the run stopped at its budget or another process was indexing."""
    failures: tuple[tuple[str, str], ...] = ()
    """(path, reason) of each source that could not be read."""


class Added(NamedTuple):
    """A folder that the user added: a collection of notes, or a further root of an agent (`name` is None then)."""

    agent: str
    path: str
    name: str | None
    files: int = 0
    documents: int = 0
    """How many are searchable; for another agent's folder the sessions' documents."""
    skipped: tuple[tuple[str, Skipped], ...] = ()
    """(path, what could not be read of it)."""
    waiting: bool = False
    """Whether it is read later, because another process is indexing."""


class ResumeCommand(NamedTuple):
    """The agent's own command that continues a session, and the folder to run it in."""

    arguments: tuple[str, ...]
    cwd: str | None


class Stats(NamedTuple):
    coverage: Coverage
    agents: dict[str, int]
    """Sessions by agent."""
    kinds: dict[str, int]
    """Documents by kind."""
    projects: dict[str, int]
    """Sessions by project, most first, at most 20."""
    store_bytes: int
    index_bytes: int
    text_characters: int
    versions: dict[str, str]
