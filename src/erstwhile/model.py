"""The frozen values of a search: what it takes and gives, and the sources it checks first.

Knows nothing about disk, formats or ranking. NamedTuples, not dataclasses, and without postponed annotations: `erst
search` loads this module, importing `dataclasses` alone costs half of what it may spend, and each class of postponed
annotations
0.14 ms. What a search does not need lies in `history` (what adapters produce) and `listings` (what is shown besides
answers), and is found here by name.
"""

from __future__ import annotations

from .values import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .history import Event, Mark, Message, Part, Resume, Session, Title, Unknown
    from .listings import (
        Added,
        Checkup,
        Child,
        Finding,
        MessageView,
        PartView,
        RawRecord,
        RawTranscript,
        Report,
        ResumeCommand,
        SessionInfo,
        SessionPage,
        SourceStatus,
        Stats,
        Transcript,
    )

__all__ = [
    "KINDS",
    "ROLES",
    "SCOPES",
    "STATES",
    "Added",
    "Answer",
    "Checkup",
    "Child",
    "Coverage",
    "Event",
    "Finding",
    "Hit",
    "Mark",
    "Message",
    "MessageView",
    "Note",
    "Part",
    "PartView",
    "Query",
    "RawRecord",
    "RawTranscript",
    "Report",
    "Resume",
    "ResumeCommand",
    "Root",
    "Session",
    "SessionInfo",
    "SessionPage",
    "Skipped",
    "Source",
    "SourceStatus",
    "Stats",
    "Title",
    "Total",
    "Transcript",
    "Unknown",
]

KINDS = ("user_text", "assistant_text", "reasoning", "tool_input", "tool_output", "tool_error", "summary", "document")
ROLES = ("user", "assistant", "tool", "system")
SCOPES = ("project", "global", "archive")
STATES = ("abandoned", "rolled_back", "inherited", "shadowed")


class Root(NamedTuple):
    """A folder to look in: an agent's home or a folder of transcripts. `role` is a scope it stands for, or None."""

    path: str
    role: str | None = None
    collection: str | None = None
    """The name of the collection that it is."""


class Source(NamedTuple):
    """What is checked for change: a file with its side files, or one row of a shared database."""

    agent: str
    path: str
    """The file; `FILE#native-id` for a session inside a shared database."""
    stamp: str
    """Changes whenever what `read` gives may have changed. Compared as text, never interpreted."""
    size: int = 0
    """Bytes on disk, to tell small work from large."""
    mtime: float = 0.0
    """Seconds since 1970; the newest sources are read first."""
    slug: str | None = None
    """Name of the per-project folder it lies in, where the agent has such folders."""
    role: str | None = None
    """The role of the root it was found under."""
    hidden: bool = False
    """The agent is deleting it: its sessions must not be found."""
    excluded: str | None = None
    """Why it must not be read (a link out of the root, a device); it is listed, not opened."""
    native: str | None = None
    """The native id of its one session, where the listing knows it."""


class Skipped(NamedTuple):
    """Something that could not be read: the 1-based line where there is one, and why."""

    line: int | None
    reason: str


class Query(NamedTuple):
    """A question with its filters; every door builds this one value. Several values of a field are alternatives."""

    text: str = ""
    scope: str | None = None
    """One of SCOPES; None means project when the current project has sessions, else global."""
    project: str | None = None
    """The folder that scope `project` means, and a filter when the scope is another one."""
    projects: tuple[str, ...] = ()
    """Further projects: alternatives to `project`; where the scope is `project`, they narrow it."""
    agents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths in any spelling: only sessions that touched one of them."""
    titles: tuple[str, ...] = ()
    """Only sessions whose title holds one of these texts."""
    sessions: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    since: float | None = None
    """Seconds since 1970, inclusive."""
    until: float | None = None
    """Seconds since 1970, exclusive."""
    subagents: str | None = None
    """None, `no` or `only`."""
    current_session: str | None = None
    include_current: bool = False
    limit: int = 10
    cursor: str | None = None
    sort: str = "relevance"
    group: str = "session"
    mode: str = "lexical"
    ranking: str = "contextual"
    rerank: bool = False
    explain: bool = False


class Note(NamedTuple):
    """Something that gives an answer its meaning; `code` is one of DESIGN's note codes."""

    code: str
    text: str
    count: int | None = None


class Hit(NamedTuple):
    """A ranked document, or a session shown by its best document. Field names are those of the JSON envelope."""

    rank: int
    score: float
    session: str
    session_id: str
    agent: str
    title: str | None
    project: str | None
    session_path: str
    message_index: int
    ordinal: int
    kind: str
    role: str
    tool: str | None
    time: float | None
    heading: str | None
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    copies: int
    parent: str | None
    archived: bool
    source: str
    """project, global or archive."""
    state: str | None = None
    more: int = 0
    """Grouped by session: its other hits."""
    collection: str | None = None
    slug: str | None = None
    field: str | None = None
    explanation: dict[str, Any] | None = None


class Total(NamedTuple):
    count: int
    exact: bool


class Coverage(NamedTuple):
    """How much of what lies on disk the answer could see."""

    sources: int
    indexed: int
    pending: int
    failed: int
    sessions: int
    documents: int


class Answer(NamedTuple):
    """The envelope around the hits."""

    query: str
    scope: str
    ranking: str
    mode: str
    total: Total
    hits: tuple[Hit, ...]
    next_cursor: str | None
    coverage: Coverage
    notes: tuple[Note, ...]
    since: float | None = None
    until: float | None = None
    """The times that the question was narrowed to, as they were understood."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import history, listings

    return getattr(history if hasattr(history, name) else listings, name)
