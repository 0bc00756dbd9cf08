"""How a hit's score came about, from the numbers that made it: nothing is searched or counted again for it."""

from __future__ import annotations

from .plan import CLOSE, EXACT, INSIDE, SCATTERED, Plan
from .ranking import CONTEXT, NEIGHBOURS, SHORT, bm25, session_parts
from .search import Ranking, Scored, Scorer, Unit
from .values import Any

TIERS = {EXACT: "exact", SCATTERED: "scattered", CLOSE: "close", INSIDE: "inside"}


def explained(ranking: Ranking, plan: Plan, tier: int, unit: Unit) -> dict[str, Any]:
    """The shape `explanation`: the tier, what each term adds to the shown document's score, what that is measured by,
    its neighbours and copies, and for a session what its documents add."""
    best, scorer = unit.best, ranking.scorer
    shape: dict[str, Any] = {"tier": TIERS[tier], "document": best.row.id, "document_score": round(best.score, 6)}
    if scorer is None or (best.row.session, best.row.seq) not in scorer.own or best.row.session not in scorer.lent:
        return shape | {"terms": [], "copies": best.copies}
    frequencies, length = scorer.measured(best.row)
    shape["terms"] = _terms(scorer, plan, best, frequencies, length)
    if pairs := _pairs(scorer, plan, best, length):
        shape["side_by_side"] = pairs
    words = sum(term["adds"] for term in [*shape["terms"], *pairs])
    if abs(best.score - words) > 1e-6:
        shape["matches"] = round(best.score - words, 6)
    shape["length"] = {"own": best.row.length, "counted": round(length, 2), "average": round(scorer.average, 2)}
    shape["weights"] = {"own": 1.0, "inherited": CONTEXT, "neighbours": list(NEIGHBOURS)}
    shape["neighbours"] = _neighbours(scorer, best)
    shape["copies"] = best.copies
    if unit.others:
        members = [best, *unit.others]
        shape["session"] = [
            {"document": s.row.id, "score": round(s.score, 6), "adds": round(adds, 6)}
            for s, adds in zip(members, session_parts([s.score for s in members]))
        ]
    return shape


def _terms(scorer: Scorer, plan: Plan, best: Scored, frequencies: list[float], length: float) -> list[dict[str, Any]]:
    own, lent = scorer.own[best.row.session, best.row.seq][0], scorer.lent[best.row.session][0]
    found: list[dict[str, Any]] = []
    for at, (piece, e) in enumerate(zip(plan.scored, scorer.evidence)):
        alone = [frequency if at == place else 0.0 for place, frequency in enumerate(frequencies)]
        evidence = [other._replace(strong=True) for other in scorer.evidence]
        neighbours = frequencies[at] - own[at] - CONTEXT * lent[at]
        found.append(
            {
                "term": piece.text,
                "adds": round(bm25(alone, evidence, length, scorer.average), 6),
                "idf": round(e.idf, 4),
                "weight": e.weight,
                "frequency": round(frequencies[at], 4),
                "own": own[at],
                "inherited": lent[at],
                "from_neighbours": round(neighbours, 4),
            }
        )
    return found


def _pairs(scorer: Scorer, plan: Plan, best: Scored, length: float) -> list[dict[str, Any]]:
    """What words that stand side by side in the question and in the document add."""
    found: list[dict[str, Any]] = []
    for (a, b), e, times in zip(plan.pairs, scorer.pairs, scorer.beside(best.row)):
        if times:
            adds = bm25([times], [e], length, scorer.average)
            terms = [plan.scored[a].text, plan.scored[b].text]
            found.append({"terms": terms, "adds": round(adds, 6), "weight": e.weight, "frequency": times})
    return found


def _neighbours(scorer: Scorer, best: Scored) -> list[dict[str, Any]]:
    """The documents beside a short one that say something of the question."""
    row = best.row
    if row.characters >= SHORT:
        return []
    found: list[dict[str, Any]] = []
    for distance, weight in enumerate(NEIGHBOURS, 1):
        for step in (-distance, distance):
            near = scorer.own.get((row.session, row.seq + step))
            if near and any(near[0]):
                found.append({"at": step, "weight": weight, "frequencies": near[0]})
    return sorted(found, key=lambda one: one["at"])
