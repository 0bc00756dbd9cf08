"""The exact score of a document and of a session, and their total order. Pure: counts in, scores out.

BM25 (Robertson and Zaragoza, 2009) with Lucene's non-negative IDF, over weighted term frequencies: what a document
inherits from its session, and what its neighbours say when it is short, counts as a fraction of an occurrence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

from .values import NamedTuple

K1 = 1.2
B = 0.75
CONTEXT = 0.5
"""An inherited token (recorded title, project) counts half: LoCoMo turns .479 -> .552 with the neighbours
(docs/QUALITY)."""
NEIGHBOURS = (0.5, 0.25)
"""The documents next to a short one and those behind them."""
SHORT = 400
"""Characters below which a document borrows from its neighbours; longer ones lose by it."""
CUT = 0.15
"""Hits under this part of the best score are dropped, as Reasonix does."""
SUMMED = 10
FURTHER = 0.1
"""A session's score is that of its best document and this part of those of the next nine, discounted by 1/rank. With
all of it (1.0) a long session of weak hits beats the short one that says it: titles typed as questions over 1,000 bench
sessions came first .42 of the time, now .79; questions over real agent sessions nDCG .844 -> .878, LoCoMo sessions
.849 -> .853. Also tried: 1/rank^2 (.69, .865, .849), five or three documents, coverage of the question by the session,
a divisor for long sessions; the best alone (.86, .875, .856) has LoCoMo's Hit@5 .942 for .946 (docs/QUALITY.md)."""
ADJACENT = 0.2
"""Two plain words that stand side by side in the question and in the text count as one more word of this weight: CoSQA
.376 -> .380, Cranfield .361 -> .363, titles over bench sessions .78 -> .79 first; no set falls. 0.4 gives more (LoCoMo
turns .554, Cranfield .365, titles .82) but proposals, which know no pairs, then miss common words on FTS5 (.93 of the
top ten). At 0.7 CoSQA falls, a window of four words costs it too; CJK runs gain nothing: their pairs say it already."""


class Evidence(NamedTuple):
    """One piece of the question as it is counted in packed tokens."""

    pattern: bytes
    """One packed token, or several that must stand side by side."""
    whole: bytes | None = None
    """The packed whole form of a compound: counted where the pattern is not found."""
    idf: float = 0.0
    weight: float = 1.0
    """How often the question says it."""
    strong: bool = True
    """Weak pieces (single characters of a longer CJK run) raise a score, but do not make a hit."""
    forms: tuple[bytes, ...] = ()
    """Further packed tokens that count as the piece: what a prefix stands for, or other spellings."""


def idf(documents: int, frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): Lucene's IDF, never negative."""
    return log(1 + (documents - min(frequency, documents) + 0.5) / (frequency + 0.5))


def occurrences(tokens: bytes, pattern: bytes) -> int:
    """How often the packed `pattern` stands in the packed `tokens`; matches that straddle tokens do not count."""
    found = 0
    at = tokens.find(pattern)
    while at >= 0:
        if at % 4:
            at = tokens.find(pattern, at + 1)
        else:
            found += 1
            at = tokens.find(pattern, at + len(pattern))
    return found


def counts(tokens: bytes, evidence: Sequence[Evidence]) -> list[int]:
    """Occurrences of each piece in the packed tokens."""
    find = tokens.find
    return [
        (
            0
            if find(pattern) < 0 and (whole is None or find(whole) < 0)
            else occurrences(tokens, pattern) or (occurrences(tokens, whole) if whole else 0)
        )
        + (sum(occurrences(tokens, form) for form in forms if form != pattern) if forms else 0)
        for pattern, whole, _, _, _, forms in evidence
    ]


def bm25(frequencies: Iterable[float], evidence: Sequence[Evidence], length: float, average: float) -> float:
    """The score of weighted frequencies, one per piece, in a document of `length` tokens; 0 without a strong piece."""
    damping = _damping(length, average)
    score, strong = 0.0, False
    for frequency, e in zip(frequencies, evidence, strict=True):
        if frequency:
            score += e.weight * e.idf * frequency / (frequency + damping)
            strong = strong or e.strong
    return score if strong else 0.0


def session_score(scores: Sequence[float]) -> float:
    """The first of the descending `scores`, and a part of the next nine, each divided by its rank."""
    return sum(session_parts(scores))


def session_parts(scores: Sequence[float]) -> list[float]:
    """What each of the ten best adds to the score of their session."""
    return [score * (FURTHER / rank if rank > 1 else 1.0) for rank, score in enumerate(scores[:SUMMED], 1)]


def side_by_side(evidence: Sequence[Evidence], pairs: Iterable[tuple[int, int]]) -> tuple[Evidence, ...]:
    """Each pair of pieces, by their places in `evidence`, as a piece of its own; the commoner of the two weighs it."""
    return tuple(
        Evidence(evidence[a].pattern + evidence[b].pattern, None, min(evidence[a].idf, evidence[b].idf), ADJACENT)
        for a, b in pairs
    )


def promising(
    ids: Sequence[int], scores: Sequence[float], lengths: Sequence[int], highest: float, limit: int
) -> list[int]:
    """The `limit` documents whose scores promise most once their neighbours are counted.

    `scores` are BM25 of the documents alone, `lengths` their tokens, negative for those that borrow. A score says how
    often the document holds what is asked, as if that were one word; neighbours have the ids next to it. Of 5,000
    random messages this finds 97 % of the top ten where the scores alone find 89 % (natural questions, 100 of 1,000).
    """
    average = sum(map(abs, lengths)) / max(1, len(lengths)) or 1.0
    flat, slope = K1 * (1 - B), K1 * B / average
    found: dict[int, tuple[float, float]] = {}
    for number, score, length in zip(ids, scores, lengths, strict=True):
        part = min(score / highest, 0.999)
        tokens = abs(length)
        found[number] = (part / (1 - part) * (flat + slope * tokens), tokens)
    near, far = NEIGHBOURS
    share = 1 + 2 * (near + far)
    rated: list[tuple[float, int]] = []
    get, unseen = found.get, (0.0, average)
    for number, length in zip(ids, lengths, strict=True):
        frequency, size = found[number]
        if length < 0:
            f1, s1 = get(number - 1, unseen)
            f2, s2 = get(number + 1, unseen)
            f3, s3 = get(number - 2, unseen)
            f4, s4 = get(number + 2, unseen)
            frequency += near * (f1 + f2) + far * (f3 + f4)
            size = (size + near * (s1 + s2) + far * (s3 + s4)) / share
        rated.append((-frequency / (frequency + flat + slope * size), number))
    rated.sort()
    return [number for _, number in rated[:limit]]


def _damping(length: float, average: float) -> float:
    return K1 * (1 - B + B * length / average)
