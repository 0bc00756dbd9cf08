"""Measures of ranked lists against graded relevance. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

DEPTH = 10


def measures(ranked: Sequence[str], relevant: Mapping[str, float]) -> dict[str, float]:
    """nDCG (linear gain), recall and MRR at 10, and whether any relevant one is among the first 1, 5 and 10."""
    first: dict[str, None] = dict.fromkeys(ranked)
    gains = [relevant.get(name, 0.0) for name in list(first)[:DEPTH]]
    best = sorted(relevant.values(), reverse=True)[:DEPTH]
    place = next((at for at, gain in enumerate(gains) if gain), None)
    return {
        "ndcg": _dcg(gains) / _dcg(best),
        "recall": sum(gain > 0 for gain in gains) / len(relevant),
        "mrr": 0.0 if place is None else 1 / (place + 1),
        **{f"hit{top}": float(any(gains[:top])) for top in (1, 5, 10)},
    }


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(at + 2) for at, gain in enumerate(gains))


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]} if rows else {}
