"""From a plan to ranked units: propose, fetch, score exactly, collapse copies, group. Reads the store, writes nothing.

Here is a question with its filter; give me documents or sessions in their total order. Knows nothing about doors,
snippets or envelopes.
"""

from __future__ import annotations

import sqlite3

from .filters import Filter, wanted_tags
from .plan import Plan
from .ranking import (
    CONTEXT,
    CUT,
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
from .text import exact
from .values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .lexical_contract import Index

POOL = 100
"""Proposals that are scored exactly; sessions need 100, documents lose nothing at 50 (docs/QUALITY)."""
SMALL, SMALL_POOL = 20_000, 300
"""In a library of up to SMALL documents more proposals are scored: few match anyway, and those that match are alike."""
PHRASE_POOL = 200
"""Proposals whose text is read to verify a phrase."""
REACH = len(NEIGHBOURS)
BESIDE = 30
"""Of so many of the first proposals the documents within reach are scored too: a short one with a single word of its
own may owe the others to a neighbour (docs/QUALITY.md has what that finds)."""


class Scored(NamedTuple):
    """A document with its exact score, and how many copies of it were collapsed into it."""

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


def statistics(db: sqlite3.Connection, index: Index, plan: Plan) -> Statistics:
    """The collection's numbers for this plan, the fresh tail included."""
    totals: Totals = reading.totals(db)
    tail = reading.rows_after(db, index.mark, Filter())
    lent = reading.heads(db, {row.session for row in tail}) if tail else {}
    bare = [Evidence(piece.pattern, piece.whole) for piece in plan.scored]
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
        Evidence(piece.pattern, piece.whole, idf(numbers.documents, frequency), piece.weight, piece.strong)
        for piece, frequency in zip(plan.scored, numbers.frequencies, strict=True)
    )
    if numbers.documents <= SMALL:
        pool = max(pool, SMALL_POOL)
    rows, complete = _candidates(db, index, plan, wanted, evidence, pool)
    scorer = _Scorer(db, evidence, side_by_side(evidence, plan.pairs), numbers.average)
    scored, heads = scorer.score(rows), scorer.heads
    return Ranking(arranged(scored, heads, grouped), complete, numbers, evidence, heads)


def arranged(scored: list[Scored], heads: dict[int, Head], grouped: bool, summed: int = SUMMED) -> tuple[Unit, ...]:
    """What is ranked, in its order, the cut applied; a session counts by the `summed` best of its documents."""
    ordered = sorted(scored, key=lambda s: _order(s, heads))
    ordered = _collapsed(_spoken(ordered), heads)
    units = _sessions(ordered, heads, summed) if grouped else [Unit(s.score, s) for s in ordered]
    floor = CUT * units[0].score if units else 0.0
    return tuple(u for u in units if u.score >= floor)


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
) -> tuple[list[Row], bool]:
    wants = [piece.want for piece in plan.scored]
    wants += [piece.want for piece in plan.excluded if len(piece.want.any_of) == 1 and not piece.want.all_of]
    limit = max(pool, PHRASE_POOL) if plan.phrases else pool
    highest = sum(e.idf * e.weight for e in evidence) or 1.0
    ids, complete = index.propose(
        wants, wanted_tags(wanted), wanted.since, wanted.until, wanted.last_document, limit, highest
    )
    if not complete:
        near = (number + step for number in ids[:BESIDE] for step in range(-REACH, REACH + 1))
        ids = list(dict.fromkeys([*ids, *near]))
    found = {row.id: row for row in reading.rows(db, ids, wanted)} if ids else {}
    tail = reading.rows_after(db, index.mark, wanted)
    rows: list[Row] = []
    for row in [*tail, *(found[number] for number in ids if number in found)]:
        if plan.phrases and len(rows) == pool:  # enough are verified: to read more texts would tell no more
            return rows, False
        if admitted(db, row, plan):
            rows.append(row)
    return rows, complete and len(tail) < reading.TAIL


def admitted(db: sqlite3.Connection, row: Row, plan: Plan) -> bool:
    """Whether the document itself holds what is required, word for word where that is asked, and nothing that is
    excluded."""
    if any(_holds(row, piece.pattern, piece.whole) for piece in plan.excluded):
        return False
    required = (piece for piece in plan.scored if piece.want.required)
    return all(_holds(row, piece.pattern, piece.whole) for piece in required) and _verified(db, row, plan)


def _holds(row: Row, pattern: bytes, whole: bytes | None) -> bool:
    return bool(occurrences(row.tokens, pattern) or (whole and occurrences(row.tokens, whole)))


def _verified(db: sqlite3.Connection, row: Row, plan: Plan) -> bool:
    """Whether every phrase stands in the stored text, word for word."""
    if not plan.phrases:
        return True
    text = reading.text(db, row.id)
    folded, words = f" {text.casefold()} ", list[str]()
    for phrase in plan.phrases:
        if f" {' '.join(phrase)} " in folded:
            continue
        words = words or exact(text)
        if not _contains(words, phrase):
            return False
    return True


def _contains(words: list[str], phrase: tuple[str, ...]) -> bool:
    first, size = phrase[0], len(phrase)
    return any(word == first and tuple(words[at : at + size]) == phrase for at, word in enumerate(words))


# -- exact scores ------------------------------------------------------------------------------------------------------


class _Scorer:
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

    def score(self, rows: list[Row]) -> list[Scored]:
        self._surroundings(rows)
        for row in rows:
            if (row.session, row.seq) not in self.own:
                self.own[row.session, row.seq] = (counts(row.tokens, self.evidence), row.length)
        self.heads = reading.heads(self.db, {row.session for row in rows})
        for number, head in self.heads.items():
            self.lent[number] = (counts(head.context_tokens, self.evidence), len(head.context_tokens) // 4)
        scored = (Scored(self._score(row), row, 1, any(self.own[row.session, row.seq][0])) for row in rows)
        return [s for s in scored if s.score > 0]

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
        """A document needs a word of the question of its own, or an inherited one; what its neighbours say only adds.
        Its
        length is then the weighted mean of the lengths counted, else the short neighbours of a hit would outrank it, or
        every document that borrows would count as long."""
        own, length = self.own[row.session, row.seq]
        inherited, size = self.lent[row.session]
        frequencies: list[float] = [o + CONTEXT * i for o, i in zip(own, inherited, strict=True)]
        if not any(frequencies):
            return 0.0
        total, share = length + CONTEXT * size, 1.0
        if row.characters < SHORT:
            for distance, weight in enumerate(NEIGHBOURS, 1):
                for seq in (row.seq - distance, row.seq + distance):
                    if near := self.own.get((row.session, seq)):
                        total += weight * near[1]
                        share += weight
                        if any(near[0]):
                            frequencies = [f + weight * n for f, n in zip(frequencies, near[0], strict=True)]
        if not self.pairs:
            return bm25(frequencies, self.evidence, total / share, self.average)
        frequencies += counts(row.tokens, self.pairs)
        return bm25(frequencies, self.evidence + self.pairs, total / share, self.average)


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


# -- copies and sessions -----------------------------------------------------------------------------------------------


def _collapsed(ordered: list[Scored], heads: dict[int, Head]) -> list[Scored]:
    """Copies that lineage links become one, shown by its earliest owner at the place of the best of them."""
    same_text: dict[int, list[Scored]] = {}
    for scored in ordered:
        same_text.setdefault(scored.row.digest, []).append(scored)
    if len(same_text) == len(ordered):
        return ordered
    merged = [_face(group, heads) for texts in same_text.values() for group in _lineages(texts, heads)]
    return sorted(merged, key=lambda s: _order(s, heads))


def _lineages(texts: list[Scored], heads: dict[int, Head]) -> list[list[Scored]]:
    """Documents of equal text in groups that lineage links; equal text in unrelated sessions stays apart."""
    records: dict[object, list[Scored]] = {}
    copies: list[Scored] = []
    for scored in texts:
        if scored.row.state == "inherited" or heads[scored.row.session].relation in ("compaction", "fork", "resume"):
            copies.append(scored)
        else:
            records.setdefault(scored.row.record or (scored.row.id,), []).append(scored)
    groups = list(records.values())
    for copy in copies:
        home = next((g for g in groups if any(_copied(copy, other, heads) for other in g)), None)
        if home is None:
            groups.append([copy])
        else:
            home.append(copy)
    return groups


def _copied(copy: Scored, other: Scored, heads: dict[int, Head]) -> bool:
    """Whether an inherited or archived document is the other one again: the same record, a parent or a sibling that
    inherits it too, or, for a compaction's archive, any session of the agent."""
    if copy.row.record is not None and copy.row.record == other.row.record:
        return True
    a, b = heads[copy.row.session], heads[other.row.session]
    if a.id == b.id or a.agent != b.agent:
        return False
    return a.relation == "compaction" or (a.parent in (b.key, b.parent) and a.parent is not None)


def _face(group: list[Scored], heads: dict[int, Head]) -> Scored:
    if len(group) == 1:
        return group[0]

    def age(scored: Scored) -> tuple[bool, bool, float, float, str]:
        head = heads[scored.row.session]
        copied = scored.row.state == "inherited"
        # a resumed copy keeps its times, so both begin alike; it is the one that went on
        return (copied, head.relation not in (None, "subagent"), head.started or 0.0, head.ended or 0.0, head.key)

    return min(group, key=age)._replace(score=max(s.score for s in group), copies=len(group))


def _sessions(ordered: list[Scored], heads: dict[int, Head], summed: int) -> list[Unit]:
    members: dict[int, list[Scored]] = {}
    for scored in ordered:
        members.setdefault(scored.row.session, []).append(scored)
    units = [
        Unit(session_score([s.score for s in group[:summed]]), group[0], tuple(group[1:])) for group in members.values()
    ]
    return sorted(units, key=lambda u: _order(u.best._replace(score=u.score), heads))
