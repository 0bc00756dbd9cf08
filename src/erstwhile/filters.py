"""What narrows a search, in the three forms it takes: a value, the store's SQL condition, and tags in the lexical
index.

Pure. The tags only keep the index from proposing what the condition would throw away; the condition decides.
"""

from __future__ import annotations

from .places import ancestors
from .values import Any, NamedTuple


class Hidden(NamedTuple):
    """What the asking session still has in its context."""

    session: int
    seq: int
    """Its documents from this one on: what lies before the last compaction is no longer there."""
    subagents: tuple[int, ...] = ()
    """Its sub-agents since then."""
    kin: tuple[int, ...] = ()
    """Sessions that may hold copies of the same documents."""
    only: bool = False
    """To count what is hidden: exactly that, instead of all else."""


class Filter(NamedTuple):
    """Resolved conditions; several values of one field are alternatives, the fields together narrow."""

    agents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    sessions: tuple[int, ...] | None = None
    """Row ids of sessions; None: any."""
    place: str | None = None
    """Only sessions whose project is this place or below it, or whose per-project folder is one of `slugs`, or that
    lie under a root with the role project; with their sub-agents."""
    slugs: tuple[tuple[str, str], ...] = ()
    archived: bool | None = None
    since: float | None = None
    until: float | None = None
    subagents: str | None = None
    collections: tuple[str, ...] = ()
    everywhere: bool = True
    """Whether collections belong to the place and to the archive, too."""
    conversations: bool = False
    """Only what agents left: no collections."""
    last_document: int | None = None
    """The snapshot: the largest document id that may be shown."""
    hidden: Hidden | None = None


def condition(wanted: Filter) -> tuple[str, list[Any]]:
    """SQL over `documents d`, `sessions s`, `sources o`, and its parameters."""
    sql, values = session_condition(wanted)
    parts = [sql]
    for column, allowed in (("d.kind", wanted.kinds), ("d.role", wanted.roles)):
        if allowed:
            parts.append(f"{column} IN ({marks(allowed)})")
            values += allowed
    if wanted.tools:
        parts.append(f"lower(d.tool) IN ({marks(wanted.tools)})")
        values += [t.lower() for t in wanted.tools]
    for test, value in (
        ("d.time >= ?", wanted.since),
        ("d.time < ?", wanted.until),
        ("d.id <= ?", wanted.last_document),
    ):
        if value is not None:
            parts.append(test)
            values.append(value)
    if wanted.hidden is not None:
        hidden, more = _hidden(wanted.hidden)
        parts.append(hidden if wanted.hidden.only else f"NOT {hidden}")
        values += more
    return " AND ".join(parts), values


def _hidden(hidden: Hidden) -> tuple[str, list[Any]]:
    """What the asking session sees: text that its agent no longer shows itself is not among it."""
    seen = "{0}.session = ? AND {0}.seq >= ? AND coalesce({0}.state, 'inherited') = 'inherited'"
    values: list[Any] = [hidden.session, hidden.seq]
    tests = [seen.format("d")]
    if hidden.subagents:
        tests.append(f"d.session IN ({marks(hidden.subagents)})")
        values += hidden.subagents
    if hidden.kin:
        copied = f"d.digest IN (SELECT h.digest FROM documents h WHERE {seen.format('h')})"
        tests.append(f"d.session IN ({marks(hidden.kin)}) AND {copied}")
        values += [*hidden.kin, hidden.session, hidden.seq]
    return f"({' OR '.join(tests)})", values


def session_condition(wanted: Filter) -> tuple[str, list[Any]]:
    """SQL over `sessions s`, `sources o` alone, for lists of sessions."""
    parts, values = ["s.live"], list[Any]()
    if wanted.agents:
        parts.append(f"s.agent IN ({marks(wanted.agents)})")
        values += wanted.agents
    if wanted.sessions is not None:
        # more than SQLite takes parameters; `+` keeps it from going through their documents one session after another
        parts.append(f"+s.id IN ({','.join(map(str, wanted.sessions))})")
    if wanted.archived is not None:
        put_away = f"(s.archived OR o.state = 'vanished') = {int(wanted.archived)}"
        parts.append(f"({put_away} OR s.collection IS NOT NULL)" if wanted.everywhere else put_away)
    if wanted.collections:
        parts.append(f"s.collection IN ({marks(wanted.collections)})")
        values += wanted.collections
    if wanted.conversations:
        parts.append("s.collection IS NULL")
    if wanted.subagents:
        parts.append("s.relation IS " + ("NOT 'subagent'" if wanted.subagents == "no" else "'subagent'"))
    if wanted.place is not None:
        inside, below = _inside("s", "o", wanted)
        above, more = _inside("p", "q", wanted)
        collected = "s.collection IS NOT NULL OR " if wanted.everywhere else ""
        parts.append(
            f"({collected}{inside} OR s.relation = 'subagent' AND s.parent IN (SELECT p.key FROM sessions p"
            f" JOIN sources q ON q.id = p.source WHERE {above}))"
        )
        values += below + more
    return " AND ".join(parts), values


def _inside(s: str, o: str, wanted: Filter) -> tuple[str, list[Any]]:
    folder = (wanted.place or "").rstrip("/")
    parts, values = [f"{o}.role = 'project'"], list[Any]()
    for column in (f"{s}.place", f"{s}.cwd_place"):
        parts += [f"{column} = ?", f"{column} > ? AND {column} < ?"]
        values += [wanted.place, folder + "/", folder + "0"]
    for agent, slug in wanted.slugs:  # lossy: it only counts where no folder was recorded
        parts.append(f"{s}.place IS NULL AND {s}.agent = ? AND {o}.slug = ?")
        values += [agent, slug]
    return f"({' OR '.join(parts)})", values


def marks(values: tuple[Any, ...]) -> str:
    return ",".join("?" * len(values))


# -- tags --------------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """What a session's tags are made of."""

    session: int
    agent: str
    relation: str | None
    archived: bool
    places: tuple[str | None, ...]
    """Its project and its cwd, and its parent's for a sub-agent."""
    slugs: tuple[tuple[str, str | None], ...]
    roles: tuple[str | None, ...]
    collection: str | None = None


COLLECTED = "c"
"""The tag of everything that lies in a collection."""


def session_tags(session: Place) -> list[str]:
    """The tags that all documents of a session carry in the lexical index."""
    tags = [f"a:{session.agent}", f"s:{session.session}", f"x:{int(session.archived)}"]
    tags.append("u:only" if session.relation == "subagent" else "u:no")
    for path in session.places:
        tags += [f"p:{folder}" for folder in ancestors(path or "")]
    tags += [f"g:{agent}/{slug}" for agent, slug in session.slugs if slug]
    tags += [f"o:{role}" for role in session.roles if role]
    tags += [COLLECTED, f"c:{session.collection}"] if session.collection else []
    return tags


def document_tags(kind: str, role: str, tool: str | None) -> list[str]:
    return [f"k:{kind}", f"r:{role}", *([f"t:{tool.lower()}"] if tool else [])]


def wanted_tags(wanted: Filter) -> list[list[str]]:
    """Groups of tags: a document must carry at least one of each group."""
    groups = [
        [f"a:{agent}" for agent in wanted.agents],
        [f"k:{kind}" for kind in wanted.kinds],
        [f"r:{role}" for role in wanted.roles],
        [f"t:{tool.lower()}" for tool in wanted.tools],
        [f"c:{name}" for name in wanted.collections],
    ]
    anywhere = [COLLECTED] if wanted.everywhere else []
    if wanted.sessions is not None:
        groups.append([f"s:{session}" for session in wanted.sessions])
    if wanted.archived is not None:
        groups.append([f"x:{int(wanted.archived)}", *anywhere])
    if wanted.subagents:
        groups.append([f"u:{wanted.subagents}"])
    if wanted.place not in (None, "/"):
        slugs = (f"g:{agent}/{slug}" for agent, slug in wanted.slugs)
        groups.append([f"p:{wanted.place}", "o:project", *slugs, *anywhere])
    return [group for group in groups if group]
