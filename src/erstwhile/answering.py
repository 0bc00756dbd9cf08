"""Makes the answer to a question: plan, rank, page, show, and say what the answer does not show."""

from __future__ import annotations

import sqlite3
import time

from . import cursor as paging
from .config import Config
from .errors import NotBuilt, StaleCursor, UsageError
from .filters import Filter
from .model import Answer, Coverage, Hit, Note, Query, Total
from .places import place
from .plan import Plan, plan
from .query import Parsed, checked, parse, with_filters
from .ranking import idf
from .scoping import Scoped, scoped
from .search import POOL, Ranking, Statistics, Unit, rank, statistics
from .snippet import snippet, visible
from .store import reading
from .store.reading import Head
from .text import terms
from .values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .lexical_contract import Index
    from .plain import Counted

SNIPPET = 240
DEEPEST = 3200
"""Proposals scored at most, however far a reader pages."""
BY_TIME = 1000
"""Proposals scored when hits are sorted by time: the relevant ones, then their order."""


class Context(NamedTuple):
    """What the library knows besides the store."""

    config: Config
    pending: int
    listed: int | None = None
    """How many sources lie on disk, as of the last refresh."""
    snippet: int = SNIPPET


class Question(NamedTuple):
    """A query made ready: its filters resolved, its pieces planned."""

    query: Query
    parsed: Parsed
    plan: Plan
    scoped: Scoped
    filter: Filter
    hidden: int = 0
    """How many documents of the asking session were not looked at."""
    counted: Counted | None = None
    """For `ranking=plain`."""


class _Shown(NamedTuple):
    """What a snippet is cut around: tokens with their weights, and runs that count side by side."""

    wanted: dict[str, float]
    phrases: list[tuple[str, ...]]


def answer(db: sqlite3.Connection, index: Index, asked: Query, context: Context) -> Answer:
    """Raises UsageError, StaleCursor, NotBuilt."""
    question = _question(db, asked, context)
    page = paging.decode(asked.cursor, asked) if asked.cursor else None
    ranking, relaxed = _ranked(db, index, question, page)
    start = page.offset if page else 0
    query = question.query
    shown = ranking.units[start : start + query.limit]
    around = _wanted(question, ranking.statistics.documents)
    hits = tuple(
        _hit(db, ranking, question, unit, start + number, around, context.snippet)
        for number, unit in enumerate(shown, 1)
    )
    following = start + query.limit if start + query.limit < len(ranking.units) else None
    coverage = reading.coverage(db, context.pending, context.listed)
    return Answer(
        query=asked.text,
        scope=question.scoped.scope,
        ranking=query.ranking,
        mode=query.mode,
        total=Total(len(ranking.units), ranking.complete),
        hits=hits,
        next_cursor=_next(asked, ranking, question.filter, following),
        coverage=coverage,
        notes=tuple(_notes(db, index, question, ranking, relaxed, coverage)),
    )


# -- the question ------------------------------------------------------------------------------------------------------


def _question(db: sqlite3.Connection, asked: Query, context: Context) -> Question:
    parsed = parse(asked.text)
    query = checked(with_filters(asked, parsed, time.time()))
    _refuse_unbuilt(query)
    pieces = plan(parsed.items)
    if not pieces.scored:
        raise UsageError(_nothing_asked(asked.text, parsed))
    where = scoped(db, query, context.config.search.scope)
    wanted = where.filter._replace(last_document=reading.last_document(db))
    wanted, hidden = _without_current(db, query, wanted)
    return Question(query, parsed, pieces, where, wanted, hidden, _counted(db, query, parsed))


def _counted(db: sqlite3.Connection, query: Query, parsed: Parsed) -> Counted | None:
    if query.ranking != "plain":
        return None
    from .plain import counted

    return counted(db, parsed.items)


def _refuse_unbuilt(query: Query) -> None:
    for what, asked in (
        (f"mode {query.mode}", query.mode != "lexical"),
        ("rerank", query.rerank),
        ("explain", query.explain),
        ("the filter collection", bool(query.collections)),
        ("the filter file", bool(query.files)),
    ):
        if asked:
            raise NotBuilt(f"{what} is not built yet")


def _nothing_asked(text: str, parsed: Parsed) -> str:
    if any(item.excluded for item in parsed.items):
        return "only excluded words: add at least one word to look for"
    if parsed.filters:
        return "only filters: add at least one word to look for, or list sessions with `erst sessions`"
    if text.strip():
        return f"nothing to look for in {visible(text.strip())[:60]!r}: type a word, a name or a quoted phrase"
    return "an empty question: type a word, a name or a quoted phrase"


def _without_current(db: sqlite3.Connection, query: Query, wanted: Filter) -> tuple[Filter, int]:
    """Leaves out what the asking session still has before its eyes: everything since its last compaction."""
    if not query.current_session or query.include_current:
        return wanted, 0
    found = reading.session_ids(db, query.current_session)
    if len(found) != 1:
        return wanted, 0
    session = found[0][0]
    return wanted._replace(hidden=(session, reading.summary_at(db, session) or 0)), session


# -- ranking -----------------------------------------------------------------------------------------------------------


def _ranked(
    db: sqlite3.Connection, index: Index, question: Question, page: paging.Cursor | None
) -> tuple[Ranking, bool]:
    """The ranking, and whether compounds had to be taken apart to find anything."""
    wanted = question.filter
    if page is not None:
        if page.last > (wanted.last_document or 0):
            raise StaleCursor("the index was rebuilt since this page; ask again without the cursor")
        wanted = wanted._replace(last_document=page.last)
    if question.counted:
        return _plain(db, question.counted, question, wanted, page), False
    relaxed = plan(question.parsed.items, relaxed=True) if question.plan.compounds else None
    for attempt in (question.plan, relaxed):
        if attempt is None or (page is not None and len(page.frequencies) != len(attempt.scored)):
            continue
        numbers = Statistics(page.documents, page.average, page.frequencies) if page else statistics(db, index, attempt)
        ranking = _deep_enough(db, index, attempt, wanted, numbers, question.query, page.offset if page else 0)
        if ranking.units:
            return ranking, attempt is relaxed
    return Ranking((), True, Statistics(0, 1.0, ()), (), {}), False


def _deep_enough(
    db: sqlite3.Connection, index: Index, pieces: Plan, wanted: Filter, numbers: Statistics, query: Query, offset: int
) -> Ranking:
    """A ranking that reaches behind the asked page. Deeper pools only add behind what a shallower one has ranked, so
    that pages fit together."""
    grouped = query.group == "session"
    by_time = query.sort != "relevance"
    pool = BY_TIME if by_time else POOL
    ranking = rank(db, index, pieces, wanted, numbers, grouped, pool)
    while not by_time and not ranking.complete and len(ranking.units) <= offset + query.limit and pool < DEEPEST:
        pool *= 4
        deeper = rank(db, index, pieces, wanted, numbers, grouped, pool)
        have = {_identity(unit, grouped) for unit in ranking.units}
        more = tuple(unit for unit in deeper.units if _identity(unit, grouped) not in have)
        if not more:
            break
        ranking = deeper._replace(units=ranking.units + more, heads={**ranking.heads, **deeper.heads})
    return _sorted(ranking, query)


def _plain(
    db: sqlite3.Connection, counted: Counted, question: Question, wanted: Filter, page: paging.Cursor | None = None
) -> Ranking:
    """All that fits, by textbook BM25."""
    from .plain import rank

    numbers = Statistics(page.documents, page.average, page.frequencies) if page else counted.statistics
    ranking = rank(db, counted, question.plan, wanted, numbers, question.query.group == "session")
    return _sorted(ranking, question.query)


def _sorted(ranking: Ranking, query: Query) -> Ranking:
    if query.sort == "relevance":
        return ranking
    newest = query.sort == "newest"
    ordered = sorted(ranking.units, key=lambda u: (u.best.row.time or 0.0) * (-1 if newest else 1))
    return ranking._replace(units=tuple(ordered))


def _identity(unit: Unit, grouped: bool) -> int:
    return unit.best.row.session if grouped else unit.best.row.id


def _next(asked: Query, ranking: Ranking, wanted: Filter, offset: int | None) -> str | None:
    if offset is None:
        return None
    numbers = ranking.statistics
    last = wanted.last_document or 0
    if asked.cursor:
        last = paging.decode(asked.cursor, asked).last
    return paging.encode(
        paging.Cursor(paging.fingerprint(asked), offset, last, numbers.documents, numbers.average, numbers.frequencies)
    )


# -- hits --------------------------------------------------------------------------------------------------------------


def _hit(
    db: sqlite3.Connection, ranking: Ranking, question: Question, unit: Unit, number: int, around: _Shown, width: int
) -> Hit:
    row = unit.best.row
    head = ranking.heads[row.session]
    shown = reading.shown(db, row.id)
    text, highlights = snippet(shown.text, around.wanted, width, around.phrases)
    return Hit(
        rank=number,
        score=round(unit.score, 6),
        session=head.key,
        session_id=head.native,
        agent=head.agent,
        title=head.title or head.first_text,
        project=head.project,
        session_path=head.path,
        message_index=row.message,
        ordinal=shown.ordinal,
        kind=shown.kind,
        role=shown.role,
        tool=shown.tool,
        time=shown.time if shown.time is not None else row.time,
        heading=None,
        snippet=text,
        highlights=highlights,
        copies=unit.best.copies,
        parent=head.parent,
        archived=bool(head.archived),
        source=_source(head, question.scoped.place),
        state=row.state,
        more=len(unit.others),
    )


def _source(head: Head, here: str | None) -> str:
    """project, global or archive: as the agent keeps them apart, else whether the session belongs to the asked
    project."""
    if head.origin:
        return head.origin
    if head.archived:
        return "archive"
    inside = here and head.project and (place(head.project) + "/").startswith(here.rstrip("/") + "/")
    return "project" if inside else "global"


def _wanted(question: Question, documents: int) -> _Shown:
    """The question's words; single characters of a longer CJK run are not worth showing."""
    shown = _Shown({}, [])
    rare = idf(max(1, documents), 0)
    for item in question.parsed.items:
        for term in terms(item.text) if not item.excluded else ():
            if term.stop and not item.quoted and len(question.plan.scored) > 1:
                continue
            if term.kind == "compound" and len(term.stream) > 1:
                shown.phrases.append(term.stream)
            for token in term.strong if term.kind == "cjk" else term.stream:
                shown.wanted.setdefault(token, rare * (0.3 if term.kind == "compound" else 1.0))
            if term.whole:
                shown.wanted[term.whole] = rare
    return shown


# -- notes -------------------------------------------------------------------------------------------------------------


def _notes(
    db: sqlite3.Connection,
    index: Index,
    question: Question,
    ranking: Ranking,
    relaxed: bool,
    coverage: Coverage,
) -> list[Note]:
    """What gives the answer its meaning."""
    query, found = question.query, len(ranking.units)
    notes = [Note("malformed_query", fault) for fault in question.parsed.malformed]
    if relaxed:
        notes.append(Note("relaxed", "no text has the compound as typed; these hold its parts scattered"))
    if (late := reading.count_after(db, index.mark)) > reading.TAIL:
        text = (
            f"the index is being built: {late - reading.TAIL} older documents were not searched; ask again in a moment"
        )
        notes.append(Note("index_pending", text, late - reading.TAIL))
    if coverage.pending:
        many = "1 source is" if coverage.pending == 1 else f"{coverage.pending} sources are"
        text = f"{many} still being indexed; ask again in a moment for a complete answer"
        notes.append(Note("index_pending", text, coverage.pending))
    if coverage.failed:
        path, reason = reading.failures(db)[0]
        many = "1 source" if coverage.failed == 1 else f"{coverage.failed} sources"
        text = f"{many} could not be read, such as {path}: {reason}; see `erst sources`"
        notes.append(Note("source_failed", text, coverage.failed))
    if question.hidden:
        hidden = _count(db, index, question, ranking, Filter(sessions=(question.hidden,)))
        if hidden.count:
            text = f"{_hits(hidden)} of the asking session {_are(hidden)} hidden: it still has them in its context"
            notes.append(Note("hidden_current_session", text, hidden.count))
    if (found < query.limit or relaxed) and not query.cursor:
        notes += _beyond(db, index, question, ranking)
    if found and all(ranking.heads[unit.best.row.session].archived for unit in ranking.units):
        notes.append(Note("archived_only", "every hit lies in an archived session or one whose log is gone"))
    return notes


def _beyond(db: sqlite3.Connection, index: Index, question: Question, ranking: Ranking) -> list[Note]:
    """What lies outside the filters or the scope, for an answer that has room left."""
    found = len(ranking.units)
    wanted, scope = question.filter, question.scoped.scope
    anywhere = Filter(last_document=wanted.last_document, hidden=wanted.hidden)
    if wanted == anywhere:
        return []
    notes: list[Note] = []
    inside = anywhere._replace(place=wanted.place, slugs=wanted.slugs, archived=wanted.archived)
    if not found and inside != wanted:
        removed = _count(db, index, question, ranking, inside)
        if removed.count:
            text = f"the filters ({_named(question.query)}) removed {_hits(removed)}; loosen them to see these"
            notes.append(Note("filtered_out", text, removed.count))
        if reading.has_sessions(db, Filter()) and not reading.has_sessions(db, wanted._replace(place=None, slugs=())):
            known = ", ".join(reading.grouped(db, "agent"))
            text = f"no indexed session fits the filters ({_named(question.query)}); there are sessions of {known}"
            notes.append(Note("filter_fits_nothing", text))
    everywhere = wanted._replace(place=None, slugs=(), archived=None)
    if everywhere != wanted:
        more = _count(db, index, question, ranking, everywhere)
        more = more._replace(count=more.count - found)
        if more.count > 0:
            where = "in other projects" if scope == "project" else "elsewhere"
            notes.append(Note("outside_scope", f"{_hits(more, 'more ')} {where}; use scope=global", more.count))
    return notes


def _named(query: Query) -> str:
    """The filters of a query by name and value."""
    fields = ("agents", "kinds", "roles", "tools", "sessions")
    parts = [f"{name.removesuffix('s')} {', '.join(getattr(query, name))}" for name in fields if getattr(query, name)]
    parts += [name for name in ("since", "until") if getattr(query, name) is not None]
    parts += [f"project {query.project}"] if query.project else []
    parts += [f"subagents {query.subagents}"] if query.subagents else []
    return "; ".join(parts) or "archived only"


def _hits(total: Total, more: str = "") -> str:
    floor = "" if total.exact else "at least "
    return f"{floor}{total.count} {more}hit{'' if total.count == 1 else 's'}"


def _are(total: Total) -> str:
    return "is" if total.count == 1 and total.exact else "are"


def _count(db: sqlite3.Connection, index: Index, question: Question, ranking: Ranking, wanted: Filter) -> Total:
    """How many units the question finds under another filter, as far as one pool shows."""
    if question.counted:
        return Total(len(_plain(db, question.counted, question, wanted).units), True)
    numbers = ranking.statistics
    if len(numbers.frequencies) != len(question.plan.scored):
        numbers = statistics(db, index, question.plan)
    found = rank(db, index, question.plan, wanted, numbers, question.query.group == "session")
    return Total(len(found.units), found.complete)
