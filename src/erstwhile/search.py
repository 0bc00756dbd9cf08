"""From a plan to ranked units: propose, fetch, score exactly, collapse copies, group. Reads the store, writes nothing.

Here is a question with its filter; give me documents or sessions in their total order. Knows nothing about doors,
snippets or envelopes.
"""

from __future__ import annotations

import sqlite3

from .filters import Filter, wanted_tags
from .lineage import below_parents, collapsed
from .plan import Piece, Plan
from .ranking import (
    CONTEXT,
    CUT,
    K1,
    NEIGHBOURS,
    SHORT,
    SUMMED,
    Evidence,
    bm25,
    counts,
    idf,
    occurrences,
    session_score,
    side_by_side,
)
from .store import reading
from .store.reading import Head, Row, Totals
from .text import exact, folded
from .values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .lexical_contract import Index

POOL = 100
"""Proposals that are scored exactly; sessions need 100, documents lose nothing at 50 (docs/QUALITY)."""
SMALL, SMALL_POOL = 20_000, 300
"""In a library of up to SMALL documents more proposals are scored: few match anyway, and those that match are alike."""
PHRASE_POOL = 200
"""Proposals whose text is read to verify a phrase."""
PATTERN_POOL = 1000
"""Proposals whose text is read to match an expression."""
LOOKED_THROUGH = 20_000
"""Documents that are read for an expression of which the index knows nothing; the answer says that there were more."""
INSIDE_THROUGH = 2000
"""Documents that are read for a run of characters when nothing else was found."""
MATCH = 1.0
"""What many matches of an expression count, beside words that count their IDF."""
REACH = len(NEIGHBOURS)
BESIDE = 30
"""Of so many of the first proposals the documents within reach are scored too: a short one with a single word of its
own may owe the others to a neighbour (docs/QUALITY.md has what that finds)."""


class Scored(NamedTuple):
    """A document with its exact score, and how many places hold it: copies are one (see `lineage`)."""

    score: float
    row: Row
    copies: int = 1
    own: bool = True
    """Whether it holds a word of the question itself; else its session lends it."""


class Unit(NamedTuple):
    """What is ranked: a session by its best documents, or one document."""

    score: float
    best: Scored
    others: tuple[Scored, ...] = ()


class Statistics(NamedTuple):
    """What scores depend on besides the documents; a cursor carries it, so that later pages score the same."""

    documents: int
    average: float
    frequencies: tuple[int, ...]


class Ranking(NamedTuple):
    units: tuple[Unit, ...]
    complete: bool
    """Whether every document that fits was scored: the count of units is exact."""
    statistics: Statistics
    evidence: tuple[Evidence, ...]
    heads: dict[int, Head]
    scorer: Scorer | None = None
    """What the scores were made of."""
    looked_at: int | None = None
    """How many of the newest documents were looked through, where not all were."""
    crowded: bool = False
    """Whether copies took most of the places among the documents that were scored: others may lie behind them."""


def statistics(db: sqlite3.Connection, index: Index, plan: Plan) -> Statistics:
    """The collection's numbers for this plan, the fresh tail included."""
    totals: Totals = reading.totals(db)
    tail = reading.rows_after(db, index.mark, Filter())
    lent = reading.heads(db, {row.session for row in tail}) if tail else {}
    bare = [Evidence(piece.pattern, piece.whole, forms=piece.forms) for piece in plan.scored]
    frequencies = [index.frequency_of(piece.want) for piece in plan.scored]
    for row in tail:
        own = counts(row.tokens, bare)
        inherited = counts(lent[row.session].context_tokens, bare)
        frequencies = [f + bool(o or i) for f, o, i in zip(frequencies, own, inherited, strict=True)]
    average = (totals.tokens + CONTEXT * totals.context) / max(1, totals.documents)
    return Statistics(totals.documents, max(average, 1.0), tuple(frequencies))


def rank(
    db: sqlite3.Connection,
    index: Index,
    plan: Plan,
    wanted: Filter,
    numbers: Statistics,
    grouped: bool,
    pool: int = POOL,
) -> Ranking:
    """The units in their order (best first, then newer, then session id, then message index), the cut applied."""
    evidence = tuple(
        Evidence(piece.pattern, piece.whole, idf(numbers.documents, found), piece.weight, piece.strong, piece.forms)
        for piece, found in zip(plan.scored, numbers.frequencies, strict=True)
    )
    if numbers.documents <= SMALL:
        pool = max(pool, SMALL_POOL)
    rows, worth, complete = _candidates(db, index, plan, wanted, evidence, pool)
    looked_at = None
    if plan.patterns and not rows:
        rows, worth, looked_at = _looked_through(db, plan, wanted, pool)
        complete = looked_at is None
    scorer = Scorer(db, evidence, side_by_side(evidence, plan.pairs), numbers.average)
    scored = scorer.score(rows, worth)
    return _ranking(scored, scorer, wanted, grouped, complete, numbers)._replace(looked_at=looked_at)


def _ranking(
    scored: list[Scored], scorer: Scorer, wanted: Filter, grouped: bool, complete: bool, numbers: Statistics
) -> Ranking:
    heads = scorer.heads
    units, crowded = arranged(scorer.db, scored, heads, wanted, grouped)
    units = below_parents(units, heads, scorer.evidence, lambda s: _order(s, heads))
    return Ranking(above_cut(units), complete, numbers, scorer.evidence, heads, scorer, crowded=crowded)


def arranged(
    db: sqlite3.Connection,
    scored: list[Scored],
    heads: dict[int, Head],
    wanted: Filter,
    grouped: bool,
    summed: int = SUMMED,
) -> tuple[list[Unit], bool]:
    """The units in their order, copies collapsed, and whether copies took most of the places; a session counts by the
    `summed` best of its documents. `heads` gets those of further owners."""
    spoken = _spoken(sorted(scored, key=lambda s: _order(s, heads)))
    ordered = collapsed(db, spoken, heads, wanted, lambda s: _order(s, heads))
    units = _sessions(ordered, heads, summed) if grouped else [Unit(s.score, s) for s in ordered]
    return units, 2 * len(ordered) < len(spoken)


def above_cut(units: list[Unit]) -> tuple[Unit, ...]:
    floor = CUT * units[0].score if units else 0.0
    return tuple(u for u in units if u.score >= floor)


def unscored(
    db: sqlite3.Connection, rows: list[Row], wanted: Filter, grouped: bool, complete: bool, score: float = 0.0
) -> Ranking:
    """Documents that were found without words, newest first."""
    scorer = Scorer(db, (), (), 1.0)
    scored = scorer.score(rows, {row.id: score for row in rows})
    return _ranking(scored, scorer, wanted, grouped, complete, Statistics(0, 1.0, ()))


def _order(scored: Scored, heads: dict[int, Head]) -> tuple[float, float, str, int, int]:
    row = scored.row
    return (-round(scored.score, 9), -(row.time or 0.0), heads[row.session].key, row.message, row.seq)


# -- candidates --------------------------------------------------------------------------------------------------------


def _candidates(
    db: sqlite3.Connection,
    index: Index,
    plan: Plan,
    wanted: Filter,
    evidence: tuple[Evidence, ...],
    pool: int,
) -> tuple[list[Row], dict[int, float], bool]:
    """Rows that fit, what their matches of expressions are worth by id, and whether these are all."""
    wants = [piece.want for piece in plan.scored]
    wants += [piece.want for piece in plan.excluded if len(piece.want.any_of) == 1 and not piece.want.all_of]
    wants += plan.narrowing
    limit = max(pool, PATTERN_POOL if plan.patterns else PHRASE_POOL) if plan.verified else pool
    highest = sum(e.idf * e.weight for e in evidence) or 1.0
    ids, complete = (
        index.propose(wants, wanted_tags(wanted), wanted.since, wanted.until, wanted.last_document, limit, highest)
        if plan.scored or plan.narrowing
        else ([], False)
    )
    if not complete:
        near = (number + step for number in ids[:BESIDE] for step in range(-REACH, REACH + 1))
        ids = list(dict.fromkeys([*ids, *near]))
    found = {row.id: row for row in reading.rows(db, ids, wanted)} if ids else {}
    tail = reading.rows_after(db, index.mark, wanted)
    rows: list[Row] = []
    worth: dict[int, float] = {}
    for row in [*tail, *(found[number] for number in ids if number in found)]:
        if plan.verified and len(rows) == pool:  # enough are verified: to read more texts would tell no more
            return rows, worth, False
        value = fits(db, row, plan)
        if value is not None:
            rows.append(row)
            if plan.verified:
                worth[row.id] = value
    return rows, worth, complete and len(tail) < reading.TAIL


def _looked_through(
    db: sqlite3.Connection, plan: Plan, wanted: Filter, pool: int
) -> tuple[list[Row], dict[int, float], int | None]:
    """The newest documents that fit, where the index can tell nothing of the expression: rows, what their matches are
    worth, and how many documents were looked at unless all were."""
    rows: list[Row] = []
    worth: dict[int, float] = {}
    for number, (row, text) in enumerate(reading.newest(db, wanted)):
        if number == LOOKED_THROUGH or len(rows) == pool:
            return rows, worth, number
        if _admitted(row, plan) and (value := _verified(text, plan)) is not None:
            rows.append(row)
            worth[row.id] = value
    return rows, worth, None


def holding(db: sqlite3.Connection, wanted: Filter, run: str, grouped: bool) -> Ranking:
    """The newest documents that hold `run` as it stands, also inside words; `run` is folded, its spaces single."""
    rows: list[Row] = []
    for number, (row, text) in enumerate(reading.newest(db, wanted)):
        if number == INSIDE_THROUGH or len(rows) == POOL:
            return unscored(db, rows, wanted, grouped, False, 1.0)._replace(looked_at=number)
        if holds(text, run):
            rows.append(row)
    return unscored(db, rows, wanted, grouped, True, 1.0)


def holds(text: str, run: str) -> bool:
    """Whether the text holds the folded run as it stands, but for case and spaces."""
    form = folded(text)
    return run.partition(" ")[0] in form and run in " ".join(form.split())


def fits(db: sqlite3.Connection, row: Row, plan: Plan) -> float | None:
    """None unless the document fits, its stored text included where that has to be read; else what its matches of
    expressions are worth."""
    if not _admitted(row, plan):
        return None
    return _verified(reading.text(db, row.id), plan) if plan.verified else 0.0


def _admitted(row: Row, plan: Plan) -> bool:
    """Whether the document itself holds what is required and nothing that is excluded."""
    if any(_holds(row, piece) for piece in plan.excluded):
        return False
    return all(_holds(row, piece) for piece in plan.scored if piece.want.required)


def _holds(row: Row, piece: Piece) -> bool:
    tokens = row.tokens
    return bool(
        occurrences(tokens, piece.pattern)
        or (piece.whole and occurrences(tokens, piece.whole))
        or any(occurrences(tokens, form) for form in piece.forms)
    )


def _verified(text: str, plan: Plan) -> float | None:
    """None unless the stored text fits: every phrase stands in it word for word, a word begins with each prefix, every
    expression matches; else what its matches are worth."""
    if plan.phrases and not _has_phrases(text, plan.phrases):
        return None
    if plan.prefixes:
        form = folded(text)
        if not all(_begins(form, prefix) for prefix in plan.prefixes):
            return None
    return _matched(text, plan) if plan.patterns else 0.0


def _has_phrases(text: str, phrases: tuple[tuple[str, ...], ...]) -> bool:
    simple, words = f" {text.casefold()} ", list[str]()
    for phrase in phrases:
        if f" {' '.join(phrase)} " in simple:
            continue
        words = words or exact(text)
        if not _contains(words, phrase):
            return False
    return True


def _begins(form: str, prefix: str) -> bool:
    at = form.find(prefix)
    while at > 0 and form[at - 1].isalnum() and prefix[0].isalnum() and form[at - 1].isdigit() == prefix[0].isdigit():
        at = form.find(prefix, at + 1)
    return at >= 0


def _matched(text: str, plan: Plan) -> float | None:
    from .patterns import matches, spans

    value = 0.0
    for pattern, wanted in plan.patterns:
        found = len(spans(pattern, text)) if wanted else 0
        if bool(found or matches(pattern)(text)) != wanted:
            return None
        value += MATCH * (found or 1) / ((found or 1) + K1) if wanted else 0.0
    return value


def _contains(words: list[str], phrase: tuple[str, ...]) -> bool:
    first, size = phrase[0], len(phrase)
    return any(word == first and tuple(words[at : at + size]) == phrase for at, word in enumerate(words))


# -- exact scores ------------------------------------------------------------------------------------------------------


class Scorer:
    """Scores a pool of documents; afterwards `heads` holds their sessions."""

    def __init__(
        self, db: sqlite3.Connection, evidence: tuple[Evidence, ...], pairs: tuple[Evidence, ...], average: float
    ) -> None:
        self.db, self.evidence, self.pairs, self.average = db, evidence, pairs, average
        self.own: dict[tuple[int, int], tuple[list[int], int]] = {}
        """Counts and number of the tokens by (session, seq)."""
        self.heads: dict[int, Head] = {}
        self.lent: dict[int, tuple[list[int], int]] = {}
        """Counts and number of the inherited tokens by session."""

    def score(self, rows: list[Row], worth: dict[int, float]) -> list[Scored]:
        """`worth` is what documents count besides their words, by id."""
        self._surroundings(rows)
        for row in rows:
            if (row.session, row.seq) not in self.own:
                self.own[row.session, row.seq] = (counts(row.tokens, self.evidence), row.length)
        self.heads = reading.heads(self.db, {row.session for row in rows})
        for number, head in self.heads.items():
            self.lent[number] = (counts(head.context_tokens, self.evidence), len(head.context_tokens) // 4)
        more = worth.get
        scored = (
            Scored(
                self._score(row) + more(row.id, 0.0), row, 1, any(self.own[row.session, row.seq][0]) or row.id in worth
            )
            for row in rows
        )
        return [s for s in scored if s.score > 0 or (s.row.id in worth and not self.evidence)]

    def _surroundings(self, rows: list[Row]) -> None:
        """Counts what stands within reach of the short documents."""
        wanted: dict[int, list[int]] = {}
        for row in rows:
            if row.characters < SHORT:
                wanted.setdefault(row.session, []).append(row.seq)
        for session, places in wanted.items():
            for first, last in _merged(sorted(places), REACH):
                for seq, length, tokens in reading.places_around(self.db, session, first, last):
                    self.own[session, seq] = (counts(tokens, self.evidence), length)

    def _score(self, row: Row) -> float:
        frequencies, length = self.measured(row)
        if not any(frequencies):
            return 0.0
        return bm25([*frequencies, *self.beside(row)], self.evidence + self.pairs, length, self.average)

    def beside(self, row: Row) -> list[int]:
        """How often the words of each pair stand side by side in the document."""
        return counts(row.tokens, self.pairs) if self.pairs else []

    def measured(self, row: Row) -> tuple[list[float], float]:
        """The weighted frequency of each piece in the document, and the length they are measured by.

        A document needs a word of the question of its own, or an inherited one; what its neighbours say only adds. Its
        length is then the weighted mean of the lengths counted, else the short neighbours of a hit would outrank it, or
        every document that borrows would count as long."""
        own, length = self.own[row.session, row.seq]
        inherited, size = self.lent[row.session]
        frequencies: list[float] = [o + CONTEXT * i for o, i in zip(own, inherited, strict=True)]
        if not any(frequencies):
            return frequencies, length
        total, share = length + CONTEXT * size, 1.0
        if row.characters < SHORT:
            for distance, weight in enumerate(NEIGHBOURS, 1):
                for seq in (row.seq - distance, row.seq + distance):
                    if near := self.own.get((row.session, seq)):
                        total += weight * near[1]
                        share += weight
                        if any(near[0]):
                            frequencies = [f + weight * n for f, n in zip(frequencies, near[0], strict=True)]
        return frequencies, total / share


def _merged(places: list[int], reach: int) -> list[tuple[int, int]]:
    """Sorted places, each widened by `reach`, as disjoint ranges."""
    ranges: list[tuple[int, int]] = []
    for place in places:
        if ranges and place - reach <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], place + reach)
        else:
            ranges.append((place - reach, place + reach))
    return ranges


def _spoken(ordered: list[Scored]) -> list[Scored]:
    """Without the documents that only their session's title or project makes fit: one of them stands for the session,
    where no other does, else a title would bring every message of its session."""
    shown = {scored.row.session for scored in ordered if scored.own}
    kept: list[Scored] = []
    for scored in ordered:
        if scored.own:
            kept.append(scored)
        elif scored.row.session not in shown:
            shown.add(scored.row.session)
            kept.append(scored)
    return kept


# -- sessions ----------------------------------------------------------------------------------------------------------


def _sessions(ordered: list[Scored], heads: dict[int, Head], summed: int) -> list[Unit]:
    members: dict[int, list[Scored]] = {}
    for scored in ordered:
        members.setdefault(scored.row.session, []).append(scored)
    units = [
        Unit(session_score([s.score for s in group[:summed]]), group[0], tuple(group[1:])) for group in members.values()
    ]
    return sorted(units, key=lambda u: _order(u.best._replace(score=u.score), heads))
