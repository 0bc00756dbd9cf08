"""Makes the answer to a question: plan, rank, page, show, and say what the answer does not show."""

from __future__ import annotations

import os
import sqlite3
import time

from . import cursor as paging
from .config import Config
from .errors import NotBuilt, StaleCursor, UsageError
from .filters import Filter, Hidden
from .honesty import ENOUGH, share
from .model import Answer, Coverage, Hit, Note, Query, Total
from .places import place
from .plan import CLOSE, EXACT, INSIDE, SCATTERED, Plan, plan
from .query import Item, Parsed, checked, parse, with_filters
from .ranking import idf
from .scoping import Scoped, scoped
from .search import POOL, Ranking, Scored, Statistics, Unit, holding, holds, rank, statistics, unscored
from .snippet import snippet, visible
from .store import reading
from .store.reading import Head, Row
from .text import exact, folded, stemmed, terms
from .values import TYPE_CHECKING, Any, NamedTuple
from .vocabulary import MOST, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .lexical_contract import Index
    from .plain import Counted

SNIPPET = 240
DEEPEST = 3200
"""Proposals scored at most, however far a reader pages."""
BY_TIME = 1000
"""Proposals scored when hits are sorted by time: the relevant ones, then their order."""


BEST = 10
"""Hits of which one must hold enough of the question."""
FEW = 2
"""Words besides stop words up to which a text may be a piece of another."""
LETTERS = 3
"""Characters up to which a word may well be the end or the beginning of another."""
SHORTEST_ID = 8
"""Characters from which the beginning of an id is taken as one."""


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
    words: Vocabulary
    counted: Counted | None = None
    """For `ranking=plain`."""


class Found(NamedTuple):
    """What answered a question."""

    ranking: Ranking
    plan: Plan
    tier: int
    share: float = 1.0
    """The part of the question that the best hits hold."""


class _Shown(NamedTuple):
    """What a snippet is cut around: tokens with their weights, and runs that count side by side."""

    wanted: dict[str, float]
    phrases: list[tuple[str, ...]]
    patterns: list[str]


def answer(db: sqlite3.Connection, index: Index, asked: Query, context: Context) -> Answer:
    """Raises UsageError, StaleCursor, NotBuilt."""
    question = _question(db, index, asked, context)
    page = paging.decode(asked.cursor, asked) if asked.cursor else None
    found = _found(db, index, question, page)
    if named := _named_session(db, question):
        found = _before(db, named, found, asked.group == "session")
    ranking, query = found.ranking, question.query
    start = page.offset if page else 0
    shown = ranking.units[start : start + query.limit]
    around = _wanted(question, found.plan, ranking.statistics.documents)
    hits = tuple(
        _hit(db, found, question, unit, start + number, around, context.snippet) for number, unit in enumerate(shown, 1)
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
        next_cursor=_next(asked, found, question.filter, following),
        coverage=coverage,
        notes=tuple(_notes(db, index, question, found, coverage)),
        since=query.since,
        until=query.until,
    )


# -- the question ------------------------------------------------------------------------------------------------------


def _question(db: sqlite3.Connection, index: Index, asked: Query, context: Context) -> Question:
    parsed = parse(asked.text)
    if any(item.form == "regex" for item in parsed.items):
        from .patterns import settled

        parsed = settled(parsed)
    query = checked(with_filters(asked, parsed, time.time()))
    _refuse_unbuilt(query)
    words = Vocabulary(db, index)
    pieces = plan(parsed.items, words=words)
    if not (pieces.scored or any(wanted for _, wanted in pieces.patterns) or _lists(query, parsed)):
        raise UsageError(_nothing_asked(asked.text, parsed))
    where = scoped(db, query, context.config.search.scope)
    wanted = where.filter._replace(last_document=reading.last_document(db))
    if hidden := _in_context(db, query):
        wanted = wanted._replace(hidden=hidden)
    return Question(query, parsed, pieces, where, wanted, words, _counted(db, query, parsed, pieces))


def _counted(db: sqlite3.Connection, query: Query, parsed: Parsed, pieces: Plan) -> Counted | None:
    if query.ranking != "plain" or not pieces.scored:
        return None
    if any(item.form == "prefix" and not item.excluded for item in parsed.items):
        raise UsageError("ranking=plain counts whole words; leave out the * or take ranking=contextual")
    from .plain import counted

    return counted(db, parsed.items)


def _lists(query: Query, parsed: Parsed) -> bool:
    """Whether the question is its filters alone: what they leave is listed, newest first."""
    return not parsed.items and bool(parsed.filters or query.files or query.titles)


def _refuse_unbuilt(query: Query) -> None:
    for what, asked in (
        (f"mode {query.mode}", query.mode != "lexical"),
        ("rerank", query.rerank),
    ):
        if asked:
            raise NotBuilt(f"{what} is not built yet")


def _nothing_asked(text: str, parsed: Parsed) -> str:
    if any(item.excluded for item in parsed.items):
        return "only excluded words: add at least one word to look for"
    if text.strip():
        return f"nothing to look for in {visible(text.strip())[:60]!r}: type a word, a name or a quoted phrase"
    return "an empty question: type a word, a name or a quoted phrase"


def _in_context(db: sqlite3.Connection, query: Query) -> Hidden | None:
    """What the asking session still has before its eyes, where it is known and may not be found."""
    if not query.current_session or query.include_current:
        return None
    found = reading.session_ids(db, query.current_session, 2) or reading.sessions_of_path(db, query.current_session)
    return reading.in_context(db, found[0][0]) if len(found) == 1 else None


# -- ranking -----------------------------------------------------------------------------------------------------------


def _found(db: sqlite3.Connection, index: Index, question: Question, page: paging.Cursor | None) -> Found:
    """The first tier whose best hits hold enough of the question, else the one whose hold most. A page goes on in the
    tier of the page before it."""
    question = _as_of(question, page)
    if question.counted:
        return Found(_plain(db, question.counted, question, page), question.plan, EXACT)
    best: Found | None = None
    for tier, pieces in _tiers(question):
        if page and tier != page.tier:
            continue
        if not (pieces.scored or pieces.patterns):
            return Found(_listed(db, question), pieces, tier)
        if page and len(page.frequencies) != len(pieces.scored):
            break
        numbers = Statistics(page.documents, page.average, page.frequencies) if page else statistics(db, index, pieces)
        offset = page.offset if page else 0
        ranking = _deep_enough(db, index, pieces, question.filter, numbers, question.query, offset)
        held = _share(ranking)
        if page or held >= ENOUGH:
            found = Found(ranking, pieces, tier, held)
            return found if tier != EXACT else _with_verbatim(db, question, found)
        if best is None or held > best.share:
            best = Found(ranking, pieces, tier, held)
    lacking = best is None or best.share < ENOUGH
    if lacking and (not page or page.tier == INSIDE) and (run := _run(question)):
        ranking = holding(db, question.filter, run, question.query.group == "session")
        if ranking.units:
            return Found(_timed(ranking, question.query), question.plan, INSIDE)
    return best or Found(Ranking((), True, Statistics(0, 1.0, ()), (), {}), question.plan, EXACT, 0.0)


def _plain(db: sqlite3.Connection, counted: Counted, question: Question, page: paging.Cursor | None = None) -> Ranking:
    """All that fits, by textbook BM25."""
    from .plain import rank

    numbers = Statistics(page.documents, page.average, page.frequencies) if page else counted.statistics
    ranking = rank(db, counted, question.plan, question.filter, numbers, question.query.group == "session")
    return _timed(ranking, question.query)


def _as_of(question: Question, page: paging.Cursor | None) -> Question:
    """The question over what was there when its first page was shown."""
    if page is None:
        return question
    if page.last > (question.filter.last_document or 0):
        raise StaleCursor("the index was rebuilt since this page; ask again without the cursor")
    return question._replace(filter=question.filter._replace(last_document=page.last))


def _tiers(question: Question) -> Iterator[tuple[int, Plan]]:
    """The ways to look for the question's pieces, each more lenient than the one before it."""
    yield EXACT, question.plan
    if question.plan.compounds:
        yield SCATTERED, plan(question.parsed.items, SCATTERED, question.words)
    respelled = plan(question.parsed.items, CLOSE, question.words)
    if respelled.corrected:
        yield CLOSE, respelled


def _run(question: Question) -> str:
    """The text, folded and with single spaces, when it is words alone, which may stand somewhere as they are."""
    parsed = question.parsed
    plain = not parsed.filters and all(item == Item(item.text) for item in parsed.items)
    return " ".join(folded(question.query.text).split()) if plain else ""


def _with_verbatim(db: sqlite3.Connection, question: Question, found: Found) -> Found:
    """What was found, with what holds the text as it stands, among the newest: a piece of a text that is hardly more
    than stop words may begin or end inside a word. Behind the rest where there is room; in front where a full page has
    only letters of it, and nothing that holds it."""
    ranking, query, grouped = found.ranking, question.query, question.query.group == "session"
    run, room = _run(question), len(ranking.units) < query.limit
    if not run or len(found.plan.scored) > FEW or not (room or _letters(found.plan)):
        return found
    if not (room and " " in run):
        shown = (reading.text(db, unit.best.row.id) for unit in ranking.units[: query.limit])
        if any(holds(text, run) for text in shown):
            return found
    verbatim = holding(db, question.filter, run, grouped)
    first, behind = (ranking.units, verbatim.units) if room else (verbatim.units, ranking.units)
    have = {_identity(unit, grouped) for unit in first}
    top = max((unit.score for unit in ranking.units[:1]), default=1.0)
    score = min(1.0, ranking.units[-1].score) if room else top
    first = first if room else tuple(unit._replace(score=top) for unit in first)
    more = (unit._replace(score=min(unit.score, score)) for unit in behind if _identity(unit, grouped) not in have)
    heads = {**ranking.heads, **verbatim.heads}
    return found._replace(ranking=_timed(ranking._replace(units=(*first, *more), heads=heads), query))


def _letters(pieces: Plan) -> bool:
    """Whether only words of a few letters are looked for, as ends of words are."""
    return all(len(token) <= LETTERS for piece in pieces.scored for token in (piece.text, *piece.want.any_of))


def _share(ranking: Ranking) -> float:
    """The part of the question that one of the best hits holds at most."""
    if not ranking.units or ranking.scorer is None:
        return 0.0
    measured = ranking.scorer.measured
    return max(share(measured(unit.best.row)[0], ranking.evidence) for unit in ranking.units[:BEST])


def _listed(db: sqlite3.Connection, question: Question) -> Ranking:
    """What a question without words finds: the calls that touched its files, or what its sessions end with."""
    query, wanted = question.query, question.filter
    grouped, oldest = query.group == "session", query.sort == "oldest"
    if query.files:
        from .store.touched import touching_documents

        rows = reading.rows(db, touching_documents(db, query.files), wanted)
        return _timed(unscored(db, rows, wanted, grouped, True), query)
    rows = list[Row]()
    for session in reading.newest_sessions(db, wanted, oldest):
        rows += [row for row, _ in reading.newest_of(db, session, wanted, oldest, 1 if grouped else BY_TIME)]
        if len(rows) >= BY_TIME:
            return _timed(unscored(db, rows[:BY_TIME], wanted, grouped, False), query)
    return _timed(unscored(db, rows, wanted, grouped, True), query)


# -- a session named by its id or path ---------------------------------------------------------------------------------


def _named_session(db: sqlite3.Connection, question: Question) -> Unit | None:
    """The session that the whole text names, wherever it lies: by its id, the beginning of one, or the path of its
    log."""
    text = question.query.text.strip().strip('"')
    found = reading.session_ids(db, text, 2) if len(text.split()) == 1 else []
    if found and not _is_id(text, found[0][1]):
        found = []
    if not found and ("/" in text or "\\" in text) and "\0" not in text:
        path = os.path.expanduser(text)
        paths = dict.fromkeys((text, path, os.path.abspath(path)))
        found = next((f for p in paths if (f := reading.sessions_of_path(db, p))), [])
    if len(found) != 1:
        return None
    anywhere = question.filter
    if question.query.project is None or question.query.scope == "project":
        anywhere = anywhere._replace(place=None, slugs=(), archived=None)
    return _unit_of(db, found[0][0], anywhere)


def _is_id(text: str, key: str) -> bool:
    """Whether a text that begins an id is meant as one: an ordinary word begins the ids of some agents, too."""
    native = key.partition(":")[2]
    return text in (key, native) or (
        len(text) >= SHORTEST_ID and any(map(str.isdigit, text.removeprefix(key[: -len(native)])))
    )


def _unit_of(db: sqlite3.Connection, session: int, wanted: Filter) -> Unit | None:
    """The session as a hit, shown by its first text that fits."""
    if wanted.sessions is not None and session not in wanted.sessions:
        return None
    first = next(reading.newest_of(db, session, wanted._replace(sessions=None), True, 1), None)
    return Unit(0.0, Scored(0.0, first[0])) if first else None


def _before(db: sqlite3.Connection, named: Unit, found: Found, grouped: bool) -> Found:
    """What was found with the named session in front; what only resembles its name is left out."""
    ranking = found.ranking
    whole = found.tier == EXACT and found.share >= ENOUGH
    rest = tuple(u for u in ranking.units if whole and _identity(u, grouped) != _identity(named, grouped))
    score = max([1.0, *(u.score for u in rest[:1])])
    heads = {**ranking.heads, **reading.heads(db, [named.best.row.session])}
    ranking = ranking._replace(units=(named._replace(score=score), *rest), heads=heads)
    return found._replace(ranking=ranking if whole else ranking._replace(complete=True), tier=EXACT, share=1.0)


def _deep_enough(
    db: sqlite3.Connection, index: Index, pieces: Plan, wanted: Filter, numbers: Statistics, query: Query, offset: int
) -> Ranking:
    """A ranking that reaches behind the asked page. Deeper pools only add behind what a shallower one has ranked, so
    that pages fit together."""
    grouped = query.group == "session"
    by_time = query.sort != "relevance"
    pool = BY_TIME if by_time else POOL
    ranking = rank(db, index, pieces, wanted, numbers, grouped, pool)
    if grouped and not ranking.complete and _seen_all(db, ranking, wanted):
        return _timed(ranking, query)
    while not by_time and not ranking.complete and len(ranking.units) <= offset + query.limit and pool < DEEPEST:
        pool *= 4
        deeper = rank(db, index, pieces, wanted, numbers, grouped, pool)
        have = {_identity(unit, grouped) for unit in ranking.units}
        more = tuple(unit for unit in deeper.units if _identity(unit, grouped) not in have)
        if not more and not (deeper.crowded and not deeper.complete):
            break
        ranking = deeper._replace(units=ranking.units + more, heads={**ranking.heads, **deeper.heads})
    return _timed(ranking, query)


def _seen_all(db: sqlite3.Connection, ranking: Ranking, wanted: Filter) -> bool:
    """Whether a document of every session that fits was scored, so that a deeper look finds no other session."""
    few = wanted.place is not None or wanted.sessions is not None
    return few and len(ranking.heads) >= reading.count_sessions(db, wanted)


def _timed(ranking: Ranking, query: Query) -> Ranking:
    """The ranking by time, where that was asked; equal times stay in their order, which is total."""
    if query.sort == "relevance":
        return ranking
    way = -1 if query.sort == "newest" else 1
    return ranking._replace(units=tuple(sorted(ranking.units, key=lambda u: way * (u.best.row.time or 0.0))))


def _identity(unit: Unit, grouped: bool) -> int:
    return unit.best.row.session if grouped else unit.best.row.id


def _next(asked: Query, found: Found, wanted: Filter, offset: int | None) -> str | None:
    if offset is None:
        return None
    numbers = found.ranking.statistics
    last = wanted.last_document or 0
    if asked.cursor:
        last = paging.decode(asked.cursor, asked).last
    return paging.encode(
        paging.Cursor(
            paging.fingerprint(asked), found.tier, offset, last, numbers.documents, numbers.average, numbers.frequencies
        )
    )


# -- hits --------------------------------------------------------------------------------------------------------------


def _hit(
    db: sqlite3.Connection, found: Found, question: Question, unit: Unit, number: int, around: _Shown, width: int
) -> Hit:
    row = unit.best.row
    head = found.ranking.heads[row.session]
    shown = reading.shown(db, row.id)
    text, highlights = snippet(shown.text, around.wanted, width, around.phrases, _places(around.patterns))
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
        heading=shown.heading,
        snippet=text,
        highlights=highlights,
        copies=unit.best.copies,
        parent=head.parent,
        archived=bool(head.archived),
        source=_source(head, question.scoped.place),
        state=row.state,
        more=len(unit.others),
        collection=head.collection,
        slug=head.slug,
        field=shown.heading,
        explanation=_explained(found, unit) if question.query.explain else None,
    )


def _explained(found: Found, unit: Unit) -> dict[str, Any]:
    from .explaining import explained  # most searches explain nothing

    return explained(found.ranking, found.plan, found.tier, unit)


def _places(patterns: list[str]) -> Callable[[str], list[tuple[int, int]]] | None:
    """Where the expressions match in a text."""
    if not patterns:
        return None
    from .patterns import spans

    return lambda text: [span for pattern in patterns for span in spans(pattern, text)]


def _source(head: Head, here: str | None) -> str:
    """project, global or archive: as the agent keeps them apart, else whether the session belongs to the asked
    project."""
    if head.origin:
        return head.origin
    if head.archived:
        return "archive"
    inside = here and head.project and (place(head.project) + "/").startswith(here.rstrip("/") + "/")
    return "project" if inside else "global"


def _wanted(question: Question, pieces: Plan, documents: int) -> _Shown:
    """The question's words; single characters of a longer CJK run are not worth showing."""
    rare = idf(max(1, documents), 0)
    shown = _Shown({}, [], [pattern for pattern, wanted in pieces.patterns if wanted])
    for piece in pieces.scored:
        if piece.forms:  # what a prefix stands for, or other spellings
            shown.wanted.update(dict.fromkeys(piece.want.any_of, rare))
    for item in question.parsed.items:
        for term in terms(item.text) if not item.excluded and item.form != "regex" else ():
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


def _notes(db: sqlite3.Connection, index: Index, question: Question, answered: Found, coverage: Coverage) -> list[Note]:
    """What gives the answer its meaning."""
    query, ranking = question.query, answered.ranking
    found = len(ranking.units)
    notes = [Note("malformed_query", fault) for fault in question.parsed.malformed]
    if found and answered.tier != EXACT:
        notes.append(Note("relaxed", _relaxed(db, answered)))
    if found and answered.share < ENOUGH:
        text = "these hits hold few of the question's rare words: what was asked may not be there at all"
        notes.append(Note("weak", text))
    for prefix in dict.fromkeys(question.words.cut):
        text = f"more words begin with {prefix} than are looked for: the {MOST} commonest were; type more of it"
        notes.append(Note("capped", text, MOST))
    if ranking.looked_at is not None and answered.tier != INSIDE:
        text = f"the expression names no word to look up: only the newest {ranking.looked_at:,} documents were read"
        notes.append(Note("capped", text, ranking.looked_at))
    elif answered.plan.patterns and not ranking.complete:
        notes.append(Note("capped", "more documents may match the expression than were read"))
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
    if hidden := question.filter.hidden:
        counted = _count(db, index, question, answered, question.filter._replace(hidden=hidden._replace(only=True)))
        if counted.count:
            text = f"{_many(counted, 'message')} of the asking session {_are(counted)} hidden: it still has them in its"
            notes.append(Note("hidden_current_session", f"{text} context", counted.count))
    if not query.cursor:
        notes += _beyond(db, index, question, answered)
    heads = ranking.heads
    if found and all(heads[unit.best.row.session].archived for unit in ranking.units):
        notes.append(Note("archived_only", "every hit lies in an archived session or one whose log is gone"))
    return notes


def _relaxed(db: sqlite3.Connection, answered: Found) -> str:
    """Which tier answered, and what it took for what."""
    if answered.tier == SCATTERED:
        return "no text here has the compound as typed; these hold its parts scattered"
    if answered.tier == INSIDE:
        return "no text here has these words; the newest that hold the text as it stands, inside words, are shown"
    texts = [reading.text(db, unit.best.row.id) for unit in answered.ranking.units[:BEST]]
    said: list[str] = []
    for word, tokens in answered.plan.corrected:
        near = dict.fromkeys(w for text in texts for w in exact(text) if stemmed(w) in tokens)
        if near:
            said.append(f"{word} was taken as {', '.join(list(near)[:3])}")
    return "no text has every word as typed; " + ("; ".join(said) or "close spellings were looked for")


def _beyond(db: sqlite3.Connection, index: Index, question: Question, answered: Found) -> list[Note]:
    """What the filters removed where nothing is left, and what lies outside the scope."""
    notes = [] if answered.ranking.units else _removed(db, index, question, answered)
    wanted, scope, query = question.filter, question.scoped.scope, question.query
    everywhere = wanted._replace(place=None, slugs=(), archived=None)
    if everywhere == wanted or (scope == "global" and any(note.code == "filtered_out" for note in notes)):
        return notes
    outside = _outside(db, _under(db, index, question, answered, everywhere), answered.ranking, wanted, query)
    if outside.count:
        where = {"project": "in other projects", "archive": "outside the archive"}.get(scope)
        text = f"{where}; use scope=global" if where else f"outside {query.project}; leave that filter out"
        notes.append(Note("outside_scope", f"{_many(outside, 'more hit')} {text}", outside.count))
    return notes


def _outside(db: sqlite3.Connection, all_: Ranking, shown: Ranking, wanted: Filter, query: Query) -> Total:
    """How many of all units lie outside the scope: as many as one pool shows, which is exact where it holds all. What
    is near enough to the best of them, or to the best that is shown, would be shown without the scope, too."""
    inside = reading.of_sessions(db, {unit.best.row.session for unit in all_.units}, wanted) if all_.units else set()
    grouped = query.group == "session"
    have = {_identity(unit, grouped) for unit in shown.units}
    others = (u for u in all_.units if u.best.row.session not in inside and _identity(u, grouped) not in have)
    return Total(sum(1 for _ in others), all_.complete)


def _removed(db: sqlite3.Connection, index: Index, question: Question, answered: Found) -> list[Note]:
    """Which filters took all hits away, and which fit nothing at all."""
    from . import nearest  # most answers have hits

    query = question.query
    given = list(nearest.given(query))
    if not given:
        return []
    without = query._replace(**{name: empty for name, empty in _NO_FILTERS if name != "project"})
    if query.scope != "project":
        without = without._replace(project=None, scope=question.scoped.scope)
    notes: list[Note] = []
    removed = _count(db, index, question, answered, _filter(db, question, without))
    if removed.count:
        names = " ".join(name for name, _ in given)
        text = f"the filter{'' if len(given) == 1 else 's'} {names} removed {_many(removed, 'hit')}"
        notes.append(Note("filtered_out", text + _alone(db, index, question, answered, given), removed.count))
    if reading.has_sessions(db, Filter()):
        said = nearest.misfits(db, query)
        if not said and not reading.has_sessions(db, question.filter._replace(place=None, slugs=())):
            said = [f"no session fits {' '.join(name for name, _ in given)} together"]
        notes += [Note("filter_fits_nothing", text) for text in said]
    return notes


_FILTERS = "project projects agents kinds roles tools files titles sessions collections since until subagents"
_NO_FILTERS = tuple((name, Query._field_defaults[name]) for name in _FILTERS.split())


def _alone(
    db: sqlite3.Connection, index: Index, question: Question, answered: Found, given: list[tuple[str, Query]]
) -> str:
    """Which of several filters removed them alone."""
    if len(given) == 1:
        return "; loosen it to see these"
    said: list[str] = []
    for name, without in given:
        found = _count(db, index, question, answered, _filter(db, question, without))
        if found.count:
            said.append(f"without {name} there {_are(found)} {_many(found, 'hit')}")
    return f"; {', '.join(said)}" if said else "; no hit is left when only one of them is dropped"


def _filter(db: sqlite3.Connection, question: Question, query: Query) -> Filter:
    """The filter of another query about the same snapshot."""
    wanted = scoped(db, query._replace(scope=query.scope or question.scoped.scope), question.scoped.scope).filter
    return wanted._replace(last_document=question.filter.last_document, hidden=question.filter.hidden)


def _many(total: Total, noun: str) -> str:
    floor = "" if total.exact else "at least "
    return f"{floor}{total.count} {noun}{'' if total.count == 1 else 's'}"


def _are(total: Total) -> str:
    return "is" if total.count == 1 and total.exact else "are"


def _count(db: sqlite3.Connection, index: Index, question: Question, answered: Found, wanted: Filter) -> Total:
    """How many units the question finds under another filter, as far as one pool shows; of what is hidden, how many
    documents."""
    grouped = question.query.group == "session" and not (wanted.hidden and wanted.hidden.only)
    found = _under(db, index, question, answered, wanted, grouped)
    return Total(len(found.units), found.complete)


def _under(
    db: sqlite3.Connection,
    index: Index,
    question: Question,
    answered: Found,
    wanted: Filter,
    grouped: bool | None = None,
) -> Ranking:
    """What the question finds under another filter, in the tier that has answered."""
    pieces = answered.plan
    grouped = question.query.group == "session" if grouped is None else grouped
    if question.counted:
        query = question.query._replace(group="session" if grouped else "none")
        return _plain(db, question.counted, question._replace(filter=wanted, query=query))
    if answered.tier == INSIDE:
        return holding(db, wanted, _run(question), grouped)
    if not (pieces.scored or pieces.patterns):
        query = question.query._replace(group="session" if grouped else "none")
        return _listed(db, question._replace(filter=wanted, query=query))
    numbers = answered.ranking.statistics
    if len(numbers.frequencies) != len(pieces.scored):
        numbers = statistics(db, index, pieces)
    return rank(db, index, pieces, wanted, numbers, grouped)
