"""Copies of a document become one, with the earliest owner as its face; sub-agents stand below their parents.

What is a copy of what was settled when the sources were read (`store/copies`): here it is only looked up, also beyond
the documents that were scored, so that an answer does not depend on which of the copies were proposed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from .filters import Filter
from .ranking import Evidence, counts
from .store import reading
from .store.reading import Head, Row
from .values import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .search import Scored, Unit

NUDGE = 1e-6
"""How much more a parent scores than the sub-agent it has to stand before."""
DEEPEST = 16
"""Generations of sub-agents that are looked at."""

Key = tuple[int, int | None]
"""What all copies of a document have in common: its record and its text; without a record its own number."""


def collapsed(
    db: sqlite3.Connection,
    ordered: list[Scored],
    heads: dict[int, Head],
    wanted: Filter,
    order: Callable[[Scored], Any],
) -> list[Scored]:
    """Copies that lineage links become one, shown by its earliest owner that fits the filter, at the place of the best
    of them; it counts the places that hold it, sessions and further sources of these. What the asking session has
    before its eyes is left out in all its copies. `heads` gets the owners'."""
    groups: dict[Key, list[Scored]] = {}
    for scored in ordered:
        record = scored.row.record
        key = (record, scored.row.digest) if record is not None else (scored.row.id, None)
        groups.setdefault(key, []).append(scored)
    others, seen = _others(db, groups, heads, wanted)
    faces = [_face(group, others.get(key, []), heads) for key, group in groups.items() if key not in seen]
    return faces if len(groups) == len(ordered) and not others else sorted(faces, key=order)


def _others(
    db: sqlite3.Connection, groups: dict[Key, list[Scored]], heads: dict[int, Head], wanted: Filter
) -> tuple[dict[Key, list[Row]], set[Key]]:
    """The copies that were not scored and fit the filter, and the groups of which the asking session sees a copy."""
    records = {record for record, digest in groups if digest is not None}
    if not records:
        return {}, set()
    scored = {s.row.id for group in groups.values() for s in group}
    found = {m.id: m for m in reading.mates(db, records) if (m.record, m.digest) in groups}
    seen: set[Key] = set()
    hidden = wanted.hidden
    if hidden is not None and not hidden.only:
        held = (m for m in found.values() if m.session == hidden.session and m.seq >= hidden.seq)
        seen = {(m.record, m.digest) for m in held}
    missing = found.keys() - scored
    others: dict[Key, list[Row]] = {}
    for row in reading.rows(db, missing, wanted) if missing else ():
        mate = found[row.id]
        others.setdefault((mate.record, mate.digest), []).append(row)
    unknown = {row.session for rows in others.values() for row in rows} - heads.keys()
    if unknown:
        heads.update(reading.heads(db, unknown))
    return others, seen


def _face(group: Sequence[Scored], others: Sequence[Row], heads: dict[int, Head]) -> Scored:
    """The group as one, with the score of the best of it: the first, as they come in order."""
    best = group[0]
    if len(group) == 1 and not others:
        twins = heads[best.row.session].twins
        return best._replace(copies=1 + twins) if twins else best
    rows = [*(s.row for s in group), *others]
    sessions = {heads[row.session].key for row in rows}

    def age(row: Row) -> tuple[Any, ...]:
        head = heads[row.session]
        # a resumed copy keeps its times, so both begin alike; it is the one that went on
        return (
            row.state == "inherited",
            head.parent in sessions and head.parent != head.key,
            head.relation not in (None, "subagent"),
            head.relation == "subagent",
            head.started or 0.0,
            head.ended or 0.0,
            head.key,
            row.seq,
        )

    copies = sum(1 + heads[session].twins for session in {row.session for row in rows})
    return best._replace(row=min(rows, key=age), copies=copies)


# -- sub-agents --------------------------------------------------------------------------------------------------------


def below_parents(
    units: list[Unit], heads: dict[int, Head], evidence: Sequence[Evidence], order: Callable[[Scored], Any]
) -> list[Unit]:
    """The units with each sub-agent behind its parent where a turn of the parent holds what the sub-agent holds of the
    question: then the parent comes right before it. A sub-agent that holds more keeps its place."""
    by_session: dict[str, list[int]] = {}
    for at, unit in enumerate(units):
        by_session.setdefault(_head(unit, heads).key, []).append(at)
    generations = {at: _generation(unit, heads, by_session, units) for at, unit in enumerate(units)}
    below = sorted((at for at, depth in generations.items() if depth), key=lambda at: (-generations[at], at))
    if not below:
        return units
    units = list(units)
    for at in below:
        held = _held(units[at].best, evidence)
        parents = [p for p in by_session[_head(units[at], heads).parent or ""] if _covers(units[p], held, evidence)]
        if parents:
            first = max(parents, key=lambda p: units[p].score)
            units[first] = units[first]._replace(score=max(units[first].score, units[at].score * (1 + NUDGE)))
    return sorted(units, key=lambda u: order(u.best._replace(score=u.score)))


def _generation(unit: Unit, heads: dict[int, Head], by_session: dict[str, list[int]], units: list[Unit]) -> int:
    """How many sub-agents stand between the unit and the uppermost parent that is found, too; 0 for no sub-agent."""
    depth, head = 0, _head(unit, heads)
    while head.relation == "subagent" and head.parent in by_session and depth < DEEPEST:
        depth, head = depth + 1, _head(units[by_session[head.parent][0]], heads)
    return depth


def _head(unit: Unit, heads: dict[int, Head]) -> Head:
    return heads[unit.best.row.session]


def _covers(unit: Unit, held: set[int], evidence: Sequence[Evidence]) -> bool:
    return any(held <= _held(scored, evidence) for scored in (unit.best, *unit.others))


def _held(scored: Scored, evidence: Sequence[Evidence]) -> set[int]:
    """Which pieces of the question the document holds."""
    return {piece for piece, count in enumerate(counts(scored.row.tokens, evidence)) if count}
