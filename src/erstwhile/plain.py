"""`ranking=plain`: textbook BM25 over the product's tokens, without stems, stop words, context and neighbours; a
session ranks by its best document.

The store keeps counts of stems only. So every document that holds a stem of the question is split again and counted
word by word: exact by construction, with nothing to propose and nothing more to store (the tokens a second time would
make the store a third larger), at the price of reading these texts for each question: 1 s of CPU for two words, 15 s
for ten with stop words, over 180,226 documents. It is there to compare with, not to search with.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache

from .filters import Filter
from .plan import Plan
from .query import Item
from .ranking import Evidence, bm25, idf, occurrences
from .search import Ranking, Scored, Statistics, above_cut, arranged, fits
from .store import reading
from .text import analyse, key, packed_unstemmed, unstemmed
from .values import NamedTuple

BATCH = 5000
"""Documents fetched at a time."""
KEPT = 20_000
"""Texts whose words are remembered between questions, 50 MB at most."""

_words = lru_cache(KEPT)(packed_unstemmed)


class Counted(NamedTuple):
    """A question's words, and how often each document of the library holds them."""

    weights: tuple[int, ...]
    """How often the question says each word."""
    found: dict[int, tuple[int, ...]]
    """By document: the occurrences of each word; only documents that hold any."""
    statistics: Statistics


def counted(db: sqlite3.Connection, items: tuple[Item, ...]) -> Counted:
    """Counts the words of the pieces that are not excluded."""
    weights: dict[str, int] = {}
    stems: set[str] = set()
    for item in items:
        if item.form == "words" and not item.excluded:
            tokens = analyse(item.text)
            stems.update(tokens.stream, tokens.wholes)
            for word in unstemmed(item.text):
                weights[word] = weights.get(word, 0) + 1
    words = list(map(key, weights))
    found: dict[int, tuple[int, ...]] = {}
    for number, text in reading.texts_holding(db, list(map(key, stems))):
        tokens = _words(text)
        if any(counts := tuple([occurrences(tokens, word) for word in words])):
            found[number] = counts
    totals = reading.totals(db)
    frequencies = tuple(sum(column) for column in zip(*([c > 0 for c in counts] for counts in found.values())))
    numbers = Statistics(totals.documents, max(totals.tokens / max(1, totals.documents), 1.0), frequencies)
    return Counted(tuple(weights.values()), found, numbers)


def rank(
    db: sqlite3.Connection, counted: Counted, plan: Plan, wanted: Filter, numbers: Statistics, grouped: bool
) -> Ranking:
    """All units that fit, in their order."""
    evidence = tuple(
        Evidence(b"", None, idf(numbers.documents, frequency), weight)
        for weight, frequency in zip(counted.weights, numbers.frequencies)
    )
    scored: list[Scored] = []
    ids = list(counted.found)
    for start in range(0, len(ids), BATCH):
        for row in reading.rows(db, ids[start : start + BATCH], wanted):
            if fits(db, row, plan) is not None:
                score = bm25(counted.found[row.id], evidence, row.length, numbers.average)
                scored.append(Scored(score, row._replace(tokens=b"")))
    heads = reading.heads(db, {s.row.session for s in scored})
    units, _ = arranged(db, scored, heads, wanted, grouped, 1)
    return Ranking(above_cut(units), True, numbers, evidence, heads)
