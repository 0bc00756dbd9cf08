"""What a library shows besides ranked answers: sessions, transcripts, sources, numbers."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from itertools import groupby

from . import cursor as paging
from .answering import Context, answer
from .errors import NotFound, Refused, UsageError
from .filters import Filter
from .model import (
    Child,
    MessageView,
    PartView,
    Query,
    RawTranscript,
    ResumeCommand,
    SessionInfo,
    SessionPage,
    Skipped,
    SourceStatus,
    Stats,
    Transcript,
)
from .query import checked, parse, whole, with_filters
from .scoping import scoped
from .store import reading
from .store.reading import Head, Piece
from .values import TYPE_CHECKING, Any
from .version import VERSION

if TYPE_CHECKING:
    from .lexical_contract import Index

LAST = 2**62


# -- sessions ----------------------------------------------------------------------------------------------------------


def sessions(db: sqlite3.Connection, index: Index, query: Query, context: Context) -> SessionPage:
    """A page of sessions: what the words find, best first, or without words all that fit, newest first."""
    query = query._replace(scope=query.scope or ("project" if query.project else "global"))
    if parse(query.text).items:
        found = answer(db, index, query._replace(group="session"), context)
        infos = tuple(info(db, _head(db, hit.session)) for hit in found.hits)
        return SessionPage(infos, found.next_cursor, found.total.count, found.total.exact)
    import time

    wanted = checked(with_filters(query, parse(query.text), time.time()))
    start = paging.decode(query.cursor, query).offset if query.cursor else 0
    where = _listed(db, wanted, scoped(db, wanted, "global").filter)
    page, total = reading.sessions_matching(db, where, wanted.sort, wanted.limit, start)
    after = start + wanted.limit
    following = (
        paging.encode(paging.Cursor(paging.fingerprint(query), 0, after, 0, 0, 0.0, ())) if after < total else None
    )
    return SessionPage(tuple(info(db, head) for head in page), following, total)


def _listed(db: sqlite3.Connection, asked: Query, where: Filter) -> Filter:
    """Without the notes of collections, which would bury the conversations, unless they are asked for, or all there
    is."""
    if asked.collections or asked.sessions or "document" in asked.kinds or "markdown" in asked.agents:
        return where
    talks = Filter(conversations=True)
    return where._replace(conversations=True) if reading.has_sessions(db, talks) else where


def info(db: sqlite3.Connection, head: Head) -> SessionInfo:
    return SessionInfo(
        session=head.key,
        session_id=head.native,
        agent=head.agent,
        title=head.title or head.first_text,
        project=head.project,
        cwd=head.cwd,
        branch=head.branch,
        model=head.model,
        started=head.started,
        ended=head.ended,
        parent=head.parent,
        relation=head.relation,
        archived=bool(head.archived),
        session_path=head.path,
        messages=head.messages,
        counts=reading.counts(db, head.id),
        collection=head.collection,
        slug=head.slug,
        children=tuple(Child(key, relation or None, title) for key, relation, title in reading.children(db, head.key)),
    )


def _head(db: sqlite3.Connection, key: str) -> Head:
    number = reading.session_ids(db, key)[0][0]
    return reading.heads(db, [number])[number]


def find(db: sqlite3.Connection, name: str) -> Head:
    """The session that a full id, native id, unique prefix or known path names. Raises NotFound, Refused,
    UsageError."""
    name = whole(name).strip()
    if not name:
        raise UsageError("which session? Give its id, the beginning of it, or its path")
    found = reading.session_ids(db, name)
    if not found and _is_path(name):
        found = _by_path(db, name)
    if not found:
        raise NotFound(f"no session {name!r}; `erst sessions` lists them")
    if len(found) > 1:
        some = ", ".join(key for _, key in found[:5])
        raise UsageError(f"{name!r} could be {some}{' and others' if len(found) > 5 else ''}; give more of it")
    return reading.heads(db, [found[0][0]])[found[0][0]]


def _is_path(name: str) -> bool:
    """Whether a name that is no session's id is meant as a path: ids may hold slashes too, behind `agent:`."""
    slash = min((at for at in (name.find("/"), name.find("\\")) if at >= 0), default=-1)
    return slash >= 0 and name.find(":", 2, slash) < 0


def _by_path(db: sqlite3.Connection, name: str) -> list[tuple[int, str]]:
    """The sessions of a path the library knows, as given or with its links resolved; nothing else is ever opened."""
    if "\0" in name:
        raise Refused("a path holds no NUL character; only indexed sessions are read")
    path = os.path.expanduser(name)
    for known in dict.fromkeys((name, path, os.path.abspath(path), os.path.realpath(path))):
        if found := reading.sessions_of_path(db, known):
            return found
    raise Refused(f"{name} is not a session that erstwhile knows; only indexed sessions are read")


# -- transcripts -------------------------------------------------------------------------------------------------------


def around(db: sqlite3.Connection, session: str, index: int, before: int, after: int) -> Transcript:
    """The messages from `index - before` to `index + after` that have text."""
    head = find(db, session)
    if index < 0 or index >= max(head.messages, 1):
        raise NotFound(f"{head.key} has no message {index}: it has {head.messages}, from 0 on")
    first, last = max(0, index - max(0, before)), index + max(0, after)
    return Transcript(info(db, head), _messages(reading.pieces(db, head.id, first, last)))


def show(db: sqlite3.Connection, session: str, start: int, count: int | None, kinds: tuple[str, ...]) -> Transcript:
    """The session's messages that have text, or `count` of them from index `start` on."""
    head = find(db, session)
    first, last = max(0, start), LAST
    if count is not None:
        shown = reading.message_indexes(db, head.id, kinds, first, max(0, count))
        last = shown[-1] if shown else first - 1
    return Transcript(info(db, head), _messages(reading.pieces(db, head.id, first, last, kinds)))


def raw(db: sqlite3.Connection, session: str) -> RawTranscript:
    """The session with the records of the agent's own file, which is read again. Raises NotFound when it is gone."""
    from .adapters.base import file_of, regular
    from .adapters.installed import named

    head = find(db, session)
    source = reading.source_of(db, head.id)
    adapter = named(head.agent)
    file = file_of(source.path)
    if not os.path.lexists(file) or adapter is None:
        raise NotFound(f"{file} is gone, and its records with it; `erst show` without --raw shows what was kept")
    if not regular(file):
        raise Refused(f"{file} is no regular file any more: it may lead anywhere, so it is not read")
    try:
        records = tuple(one._replace(record=_masked(one.record)) for one in adapter.records(source))
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror or error}") from error
    return RawTranscript(info(db, head), records)


def _masked(record: Any) -> Any:
    """A record without secrets: in its texts, and where a key says what its value is."""
    import json

    from .nested import each_text
    from .redact import redact

    clean = each_text(record, redact)
    text = json.dumps(clean, ensure_ascii=False)
    masked = redact(text)
    if masked == text:
        return clean
    try:
        return json.loads(masked)
    except ValueError:
        return masked


def _messages(pieces: Iterable[Piece]) -> tuple[MessageView, ...]:
    views: list[MessageView] = []
    for number, group in groupby(pieces, key=lambda p: p.message):
        members: list[Piece] = list(group)
        parts: list[PartView] = []
        for ordinal, run in groupby(members, key=lambda p: p.ordinal):
            same = list(run)
            first = same[0]
            text = "".join(p.text for p in same)
            parts.append(PartView(ordinal, first.kind, first.tool, text, first.state, first.heading))
        views.append(MessageView(number, members[0].role, members[0].time, tuple(parts)))
    return tuple(views)


def resume(db: sqlite3.Connection, session: str) -> ResumeCommand:
    from .adapters.installed import named

    head = find(db, session)
    adapter = named(head.agent)
    target = head.native
    plain = not target.startswith("-") and target.isprintable()  # an id that an agent would take for an option
    command = adapter.resume(target, head.cwd) if adapter and plain and head.relation != "subagent" else None
    if command is None:
        hint = f"; its parent is {head.parent}" if head.parent else ""
        raise NotFound(f"{head.agent} has no command that continues {head.key}{hint}")
    return ResumeCommand(tuple(command), head.cwd if head.cwd and head.cwd.isprintable() else None)


# -- sources and numbers -----------------------------------------------------------------------------------------------


def sources(db: sqlite3.Connection) -> list[SourceStatus]:
    import json

    return [
        SourceStatus(
            agent,
            path,
            state,
            count,
            messages,
            tuple(Skipped(*s) for s in json.loads(skipped)),
            json.loads(unknown),
            reason,
        )
        for agent, path, state, count, messages, skipped, unknown, reason in reading.source_rows(db)
    ]


def stats(db: sqlite3.Connection, folder: str, pending: int) -> Stats:
    from .text import VERSION as TOKENIZER

    return Stats(
        coverage=reading.coverage(db, pending),
        agents=reading.grouped(db, "agent"),
        kinds=reading.grouped(db, "kind"),
        projects=reading.grouped(db, "project", 20),
        store_bytes=_size(folder, lambda name: name.startswith("store.db")),
        index_bytes=_size(folder, lambda name: not name.startswith("store.db")),
        text_characters=reading.totals(db).characters,
        versions={"erstwhile": VERSION, "tokenizer": str(TOKENIZER), "schema": str(reading.schema(db))},
    )


def _size(folder: str, counted: Callable[[str], bool]) -> int:
    """Bytes of the files below the folder whose top-level name counts."""
    if folder == ":memory:":
        return 0
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            top = os.path.relpath(path, folder).split(os.sep)[0]
            if counted(top):
                try:
                    total += os.path.getsize(path)
                except OSError:
                    continue
    return total
