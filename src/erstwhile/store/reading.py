"""Reads what searches, transcripts and listings need. Every function takes the connection; the caller holds the
snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from ..filters import Filter, Hidden, condition, marks, session_condition
from ..model import Coverage, Root, Source
from ..text import VERSION
from ..values import Any, NamedTuple

TAIL = 5000
"""Documents behind the index that a search scores directly at most: more only while a first index or a rebuild runs."""
CALLS_READ = "touched-up-to"
"""Meta key in a store that is older than the table `touched`: the largest document whose call was looked at."""
JOINED = "documents d JOIN sessions s ON s.id = d.session JOIN sources o ON o.id = s.source"


class Row(NamedTuple):
    """What ranking needs of a document."""

    id: int
    session: int
    seq: int
    characters: int
    length: int
    tokens: bytes
    time: float | None
    message: int
    digest: int
    record: int | None
    """What the copies of the document have in common, if it has any: the agent's record id, or what lineage found."""
    state: str | None


ROW = (
    "d.id, d.session, d.seq, d.characters, d.length, d.tokens, coalesce(d.time, s.ended, s.started), d.message,"
    " d.digest, coalesce(d.copied, d.record), d.state"
)


class Head(NamedTuple):
    """What a hit shows of its session."""

    id: int
    key: str
    native: str
    agent: str
    title: str | None
    first_text: str | None
    project: str | None
    path: str
    started: float | None
    ended: float | None
    parent: str | None
    relation: str | None
    archived: bool
    origin: str | None
    context_tokens: bytes
    documents: int
    cwd: str | None
    branch: str | None
    model: str | None
    messages: int
    collection: str | None
    slug: str | None
    twins: int
    """Other sources that hold the session, too."""


HEAD = (
    "s.id, s.key, s.native, s.agent, s.title, s.first_text, s.project, o.path, s.started, s.ended, s.parent,"
    " s.relation, s.archived OR o.state = 'vanished', coalesce(o.role, s.origin), s.context_tokens, s.documents,"
    " s.cwd, s.branch, s.model, s.messages, s.collection, s.slug,"
    " (SELECT count(*) FROM twins t WHERE t.session = s.key)"
)


class Totals(NamedTuple):
    """BM25's collection statistics: documents, their own tokens, and the tokens they inherit."""

    documents: int
    tokens: int
    context: int
    characters: int


def totals(db: sqlite3.Connection) -> Totals:
    return Totals(*db.execute("SELECT documents, tokens, context, characters FROM totals").fetchone())


def last_document(db: sqlite3.Connection) -> int:
    return db.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()[0]


def rows(db: sqlite3.Connection, ids: Iterable[int], wanted: Filter) -> list[Row]:
    """Those of the documents `ids` that fit the filter."""
    numbers = ",".join(map(str, ids))
    sql, values = condition(wanted)
    return [Row(*r) for r in db.execute(f"SELECT {ROW} FROM {JOINED} WHERE d.id IN ({numbers}) AND {sql}", values)]


def rows_after(db: sqlite3.Connection, mark: int, wanted: Filter) -> list[Row]:
    """The documents above `mark` that fit the filter, the newest TAIL of them: what the lexical index has not seen
    yet."""
    sql, values = condition(wanted)
    found = db.execute(
        f"SELECT {ROW} FROM {JOINED} WHERE d.id > ? AND {sql} ORDER BY d.id DESC LIMIT {TAIL}", [mark, *values]
    )
    return [Row(*r) for r in found]


def texts_after(db: sqlite3.Connection, mark: int, limit: int) -> list[str]:
    """The texts of the newest documents above `mark`."""
    found = db.execute("SELECT text FROM texts WHERE id > ? ORDER BY id DESC LIMIT ?", (mark, limit))
    return [row[0] for row in found]


def count_after(db: sqlite3.Connection, mark: int) -> int:
    return db.execute("SELECT count(*) FROM documents WHERE id > ?", (mark,)).fetchone()[0]


def newest(db: sqlite3.Connection, wanted: Filter, oldest: bool = False) -> Iterator[tuple[Row, str]]:
    """The documents that fit, with their texts: session by session, those that ended last first, their ends first."""
    for session in newest_sessions(db, wanted, oldest):
        yield from newest_of(db, session, wanted, oldest)


def newest_sessions(db: sqlite3.Connection, wanted: Filter, oldest: bool = False) -> list[int]:
    sql, values = session_condition(wanted)
    for test, value in (("s.ended >= ?", wanted.since), ("s.started < ?", wanted.until)):
        if value is not None:
            sql += f" AND {test}"
            values.append(value)
    order = "s.started IS NULL, s.started, s.key" if oldest else "s.ended IS NULL, s.ended DESC, s.key"
    source = f"FROM sessions s JOIN sources o ON o.id = s.source WHERE {sql}"
    return [row[0] for row in db.execute(f"SELECT s.id {source} ORDER BY {order}", values)]


def newest_of(
    db: sqlite3.Connection, session: int, wanted: Filter, oldest: bool = False, limit: int = -1
) -> Iterator[tuple[Row, str]]:
    """The session's documents that fit, with their texts, the last ones first."""
    sql, values = condition(wanted)
    way = "" if oldest else "DESC"
    for *row, text in db.execute(
        f"SELECT {ROW}, t.text FROM {JOINED} JOIN texts t ON t.id = d.id WHERE d.session = ? AND {sql}"
        f" ORDER BY d.seq {way} LIMIT ?",
        [session, *values, limit],
    ):
        yield Row(*row), text


def places_around(db: sqlite3.Connection, session: int, first: int, last: int) -> list[tuple[int, int, bytes]]:
    """(seq, length, tokens) of the session's documents from seq `first` to `last`."""
    return db.execute(
        "SELECT seq, length, tokens FROM documents WHERE session = ? AND seq BETWEEN ? AND ?", (session, first, last)
    ).fetchall()


def heads(db: sqlite3.Connection, sessions: Iterable[int]) -> dict[int, Head]:
    numbers = ",".join(map(str, sessions))
    found = db.execute(
        f"SELECT {HEAD} FROM sessions s JOIN sources o ON o.id = s.source WHERE s.id IN ({numbers}) AND s.live"
    )
    return {r[0]: Head(*r) for r in found}


class Mate(NamedTuple):
    """A document that has its record in common with others."""

    id: int
    record: int
    digest: int
    session: int
    seq: int


def mates(db: sqlite3.Connection, records: Iterable[int]) -> list[Mate]:
    """The documents of the records, whatever session holds them."""
    numbers = ",".join(map(str, records))
    found = db.execute(
        "SELECT id, copied, digest, session, seq FROM documents"
        f" WHERE copied IN ({numbers}) AND session > 0 UNION ALL"
        " SELECT id, record, digest, session, seq FROM documents"
        f" WHERE record IN ({numbers}) AND copied IS NULL AND session > 0"
    )
    return [Mate(*r) for r in found]


def text(db: sqlite3.Connection, document: int) -> str:
    """What is searched of a document: its heading and its text."""
    row = db.execute("SELECT text FROM searched WHERE id = ?", (document,)).fetchone()
    return row[0] if row else ""


def texts_holding(db: sqlite3.Connection, patterns: list[bytes]) -> Iterator[tuple[int, str]]:
    """(id, text) of every document that holds one of the packed tokens, and of a few others where bytes of two tokens
    look like one."""
    if not patterns:
        return
    tests = " OR ".join(["instr(d.tokens, ?)"] * len(patterns))
    yield from db.execute(
        f"SELECT d.id, t.text FROM documents d JOIN texts t ON t.id = d.id WHERE d.session > 0 AND ({tests})", patterns
    )


class Shown(NamedTuple):
    """What a hit shows of its document."""

    ordinal: int
    kind: str
    role: str
    tool: str | None
    time: float | None
    text: str
    heading: str | None


def shown(db: sqlite3.Connection, document: int) -> Shown:
    return Shown(
        *db.execute(
            "SELECT d.ordinal, d.kind, d.role, d.tool, d.time, t.text, h.heading FROM documents d"
            " JOIN texts t ON t.id = d.id LEFT JOIN headings h ON h.id = d.id WHERE d.id = ?",
            (document,),
        ).fetchone()
    )


# -- sessions ----------------------------------------------------------------------------------------------------------


def sessions_matching(
    db: sqlite3.Connection, wanted: Filter, sort: str, limit: int, offset: int
) -> tuple[list[Head], int]:
    """A page of the sessions that fit, and how many there are. `sort` is newest or oldest by the session's end."""
    sql, values = session_condition(wanted)
    for test, value in (("s.ended >= ?", wanted.since), ("s.started < ?", wanted.until)):
        if value is not None:
            sql += f" AND {test}"
            values.append(value)
    if wanted.kinds or wanted.roles or wanted.tools:
        inner, more = condition(wanted)
        sql += f" AND s.id IN (SELECT d.session FROM {JOINED} WHERE {inner})"
        values += more
    source = f"FROM sessions s JOIN sources o ON o.id = s.source WHERE {sql}"
    order = "s.ended IS NULL, s.ended DESC, s.key" if sort != "oldest" else "s.started IS NULL, s.started, s.key"
    total = db.execute(f"SELECT count(*) {source}", values).fetchone()[0]
    page = db.execute(f"SELECT {HEAD} {source} ORDER BY {order} LIMIT ? OFFSET ?", [*values, limit, offset])
    return [Head(*r) for r in page], total


def has_project(db: sqlite3.Connection, folder: str, slugs: tuple[tuple[str, str], ...]) -> bool:
    """Whether a session worked in `folder` itself (a place, or its `slugs` where none was recorded), not only somewhere
    below it; or lies under a root that stands for the project."""
    tests: list[tuple[str, tuple[str, ...]]] = [
        ("sessions WHERE live AND (place = ?1 OR cwd_place = ?1)", (folder,)),
        ("sources WHERE role = 'project'", ()),
    ]
    unplaced = "sessions s JOIN sources o ON o.id = s.source WHERE s.place IS NULL AND s.agent = ? AND o.slug = ?"
    tests += [(unplaced, pair) for pair in slugs]
    return any(db.execute(f"SELECT 1 FROM {test} LIMIT 1", values).fetchone() for test, values in tests)


def sessions_of_project(db: sqlite3.Connection, name: str) -> tuple[int, ...]:
    """The sessions whose project's last folder is `name`, case ignored; (-1,) when there are none."""
    found = db.execute(
        "SELECT id FROM sessions WHERE live AND lower(substr(place, -length(?1) - 1)) = '/' || lower(?1)", (name,)
    )
    return tuple(row[0] for row in found) or (-1,)


def titled_sessions(db: sqlite3.Connection, titles: tuple[str, ...]) -> tuple[int, ...]:
    """The sessions whose shown title holds one of the texts, case and spacing ignored; (-1,) when there are none."""
    wanted = [" ".join(title.casefold().split()) for title in titles]
    found = db.execute("SELECT id, coalesce(title, first_text) FROM sessions WHERE live").fetchall()
    fitting = [
        number for number, title in found if title and any(w in " ".join(title.casefold().split()) for w in wanted)
    ]
    return tuple(fitting) or (-1,)


def fitting_sessions(db: sqlite3.Connection, wanted: Filter) -> list[int]:
    """Row ids of the sessions that fit."""
    sql, values = session_condition(wanted)
    found = db.execute(f"SELECT s.id FROM sessions s JOIN sources o ON o.id = s.source WHERE {sql}", values)
    return [row[0] for row in found]


def has_sessions(db: sqlite3.Connection, wanted: Filter) -> bool:
    sql, values = session_condition(wanted)
    found = db.execute(f"SELECT 1 FROM sessions s JOIN sources o ON o.id = s.source WHERE {sql} LIMIT 1", values)
    return found.fetchone() is not None


def unplaced_agents(db: sqlite3.Connection) -> set[str]:
    """The agents that have sessions without a recorded folder: only there a per-project folder's name has to speak."""
    found = db.execute("SELECT DISTINCT agent FROM sessions WHERE place IS NULL AND agent <> 'markdown'")
    return {row[0] for row in found}


def collections(db: sqlite3.Connection) -> list[str]:
    """The names of the collections that hold documents."""
    return [
        row[0] for row in db.execute("SELECT DISTINCT collection FROM sessions WHERE collection IS NOT NULL ORDER BY 1")
    ]


def children(db: sqlite3.Connection, key: str) -> list[tuple[str, str, str | None]]:
    """(key, relation, title) of the sessions that came from this one, the oldest first."""
    return db.execute(
        "SELECT key, coalesce(relation, ''), coalesce(title, first_text) FROM sessions"
        " WHERE parent = ? AND live AND key <> parent ORDER BY started, key",
        (key,),
    ).fetchall()


def counts(db: sqlite3.Connection, session: int) -> dict[str, int]:
    """Parts of the session by kind."""
    return dict(
        db.execute(
            "SELECT kind, count(*) FROM documents WHERE session = ? AND piece = 0 GROUP BY kind ORDER BY kind",
            (session,),
        )
    )


def session_ids(db: sqlite3.Connection, name: str, limit: int = 6) -> list[tuple[int, str]]:
    """(row id, key) of the sessions that `name` means: a full id, else a native id, else a prefix of one of the two."""
    top = name + "\U0010ffff"
    for test, values in (
        ("s.key = ?", (name,)),
        ("s.native = ?", (name,)),
        ("s.key >= ? AND s.key < ? OR s.native >= ? AND s.native < ?", (name, top, name, top)),
    ):
        found = db.execute(
            f"SELECT s.id, s.key FROM sessions s WHERE s.live AND ({test}) ORDER BY s.key LIMIT ?", (*values, limit)
        )
        if rows := found.fetchall():
            return rows
    return []


def sessions_of_path(db: sqlite3.Connection, path: str) -> list[tuple[int, str]]:
    return db.execute(
        "SELECT s.id, s.key FROM sessions s JOIN sources o ON o.id = s.source"
        " WHERE o.path = ? AND s.live ORDER BY s.key",
        (path,),
    ).fetchall()


class Piece(NamedTuple):
    message: int
    ordinal: int
    kind: str
    role: str
    tool: str | None
    time: float | None
    state: str | None
    text: str
    heading: str | None


def pieces(db: sqlite3.Connection, session: int, first: int, last: int, kinds: tuple[str, ...] = ()) -> Iterator[Piece]:
    """The session's documents of the messages `first` to `last`, in order."""
    only = f" AND d.kind IN ({marks(kinds)})" if kinds else ""
    for row in db.execute(
        "SELECT d.message, d.ordinal, d.kind, d.role, d.tool, d.time, d.state, t.text, h.heading"
        " FROM documents d JOIN texts t ON t.id = d.id LEFT JOIN headings h ON h.id = d.id"
        f" WHERE d.session = ? AND d.message BETWEEN ? AND ?{only} ORDER BY d.seq",
        (session, first, last, *kinds),
    ):
        yield Piece(*row)


def message_indexes(db: sqlite3.Connection, session: int, kinds: tuple[str, ...], start: int, count: int) -> list[int]:
    """The indexes of up to `count` messages that have parts, from index `start` on."""
    only = f" AND kind IN ({marks(kinds)})" if kinds else ""
    found = db.execute(
        f"SELECT DISTINCT message FROM documents WHERE session = ? AND message >= ?{only} ORDER BY message LIMIT ?",
        (session, start, *kinds, count),
    )
    return [r[0] for r in found]


def in_context(db: sqlite3.Connection, session: int) -> Hidden:
    """What the session still has before its eyes: its documents since its last compaction, what its sub-agents did
    since then, and the copies of those documents in sessions that it goes on from, that go on from it, or that keep
    what a compaction took."""
    at, key, agent, parent = db.execute(
        "SELECT summary_at, key, agent, parent FROM sessions WHERE id = ?", (session,)
    ).fetchone()
    seq, time = 0, None
    if at is not None:
        seq, time = db.execute(
            "SELECT seq, time FROM documents WHERE session = ? AND message = ? AND kind = 'summary' ORDER BY seq",
            (session, at),
        ).fetchone() or (0, None)
    below = db.execute(
        "WITH RECURSIVE below (key) AS (VALUES (?) UNION SELECT s.key FROM sessions s JOIN below b ON s.parent = b.key"
        " WHERE s.relation = 'subagent') SELECT s.id FROM sessions s JOIN below b ON s.key = b.key"
        " WHERE s.live AND s.id <> ? AND coalesce(s.ended, s.started, ?) >= ?",
        (key, session, time or 0.0, time or 0.0),
    )
    kin = db.execute(
        "SELECT id FROM sessions WHERE live AND id <> ?1 AND agent = ?2 AND coalesce(relation, '') <> 'subagent'"
        " AND (key = ?3 OR parent IN (?3, ?4) OR relation = 'compaction')",
        (session, agent, parent, key),
    )
    return Hidden(session, seq, tuple(row[0] for row in below), tuple(row[0] for row in kin))


def of_sessions(db: sqlite3.Connection, numbers: Iterable[int], wanted: Filter) -> set[int]:
    """Those of the sessions that fit the filter."""
    some = ",".join(map(str, numbers))
    sql, values = session_condition(wanted)
    found = db.execute(
        f"SELECT s.id FROM sessions s JOIN sources o ON o.id = s.source WHERE s.id IN ({some}) AND {sql}", values
    )
    return {row[0] for row in found}


def count_sessions(db: sqlite3.Connection, wanted: Filter) -> int:
    sql, values = session_condition(wanted)
    found = db.execute(f"SELECT count(*) FROM sessions s JOIN sources o ON o.id = s.source WHERE {sql}", values)
    return found.fetchone()[0]


def source_of(db: sqlite3.Connection, session: int) -> Source:
    """The source that holds the session, as it was last read."""
    return Source(
        *db.execute(
            "SELECT o.agent, o.path, o.stamp, o.size, 0.0, o.slug, o.role FROM sessions s"
            " JOIN sources o ON o.id = s.source WHERE s.id = ?",
            (session,),
        ).fetchone()
    )


# -- sources and numbers -----------------------------------------------------------------------------------------------


def added(db: sqlite3.Connection) -> list[tuple[str, Root]]:
    """(agent, root) of every folder that the user added."""
    found = db.execute("SELECT agent, path, collection FROM added ORDER BY agent, path")
    return [(agent, Root(path, None, collection)) for agent, path, collection in found]


def stamps(db: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """(stamp, state) of every known source by (agent, path)."""
    found = db.execute("SELECT agent, path, stamp, state FROM sources")
    return {(agent, path): (stamp, state) for agent, path, stamp, state in found}


def twins_of(db: sqlite3.Connection, gone: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """(agent, path) of the sources that hold, too, what the sources `gone` hold."""
    found: set[tuple[str, str]] = set()
    for holder in gone:
        found |= set(
            db.execute(
                "SELECT o.agent, o.path FROM sources h JOIN sessions s ON s.source = h.id"
                " JOIN twins t ON t.session = s.key JOIN sources o ON o.id = t.source WHERE h.agent = ? AND h.path = ?",
                holder,
            )
        )
    return found


def sizes(db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Bytes already read by (agent, path), of the sources that can be read on from there."""
    found = db.execute("SELECT agent, path, size FROM sources WHERE resume IS NOT NULL")
    return {(agent, path): size for agent, path, size in found}


def coverage(db: sqlite3.Connection, pending: int = 0, listed: int | None = None) -> Coverage:
    """`listed` is how many sources lie on disk, where that is known; one that has grown is pending, not indexed."""
    states = dict(
        db.execute("SELECT state, count(*) FROM sources WHERE stamp <> '' OR state = 'failed' GROUP BY state")
    )
    sessions = db.execute("SELECT count(*) FROM sessions WHERE live").fetchone()[0]
    indexed = states.get("ok", 0) + states.get("partial", 0)
    failed = states.get("failed", 0)
    if pending:
        total = max(listed or 0, indexed + failed)
        indexed = max(0, total - pending - failed)
    return Coverage(indexed + failed + pending, indexed, pending, failed, sessions, totals(db).documents)


def source_rows(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """(agent, path, state, sessions, messages, skipped, unknown, reason) by agent and path; the lists are JSON
    texts."""
    return db.execute(
        "SELECT agent, path, state, sessions, messages, skipped, unknown, reason FROM sources ORDER BY agent, path"
    ).fetchall()


def yields(db: sqlite3.Connection) -> list[tuple[str, str, int, int, int, int, bool]]:
    """(agent, path, size, documents, the most documents it ever gave, its size then, whether it holds titles) of the
    sources that were read."""
    found = db.execute(
        "SELECT agent, path, size, (SELECT coalesce(sum(documents), 0) FROM sessions s WHERE s.source = o.id AND live),"
        " best_documents, best_size,"
        " EXISTS (SELECT 1 FROM titles t WHERE t.source = o.id) FROM sources o"
        " WHERE state IN ('ok', 'partial') ORDER BY agent, path"
    )
    return [(*row[:6], bool(row[6])) for row in found]


def failures(db: sqlite3.Connection, limit: int = 3) -> list[tuple[str, str]]:
    found = db.execute("SELECT path, reason FROM sources WHERE state = 'failed' ORDER BY path LIMIT ?", (limit,))
    return [(path, reason or "unreadable") for path, reason in found]


def grouped(db: sqlite3.Connection, what: str, limit: int = 1000) -> dict[str, int]:
    """Sessions by agent or project, or documents by kind, most first."""
    table, test = ("documents", "1") if what == "kind" else ("sessions", f"live AND {what} IS NOT NULL")
    return dict(
        db.execute(
            f"SELECT {what}, count(*) FROM {table} WHERE {test} GROUP BY {what} ORDER BY 2 DESC, 1 LIMIT ?", (limit,)
        )
    )


def schema(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def tokenizer(db: sqlite3.Connection) -> str:
    """The version of the tokenizer that made the tokens; that of this program where there are none yet."""
    row = db.execute("SELECT value FROM meta WHERE key = 'tokenizer'").fetchone()
    return row[0] if row else str(VERSION)


def calls_unread(db: sqlite3.Connection) -> bool:
    """Whether calls of an older store were not looked at yet for the paths they touched."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (CALLS_READ,)).fetchone() is not None
