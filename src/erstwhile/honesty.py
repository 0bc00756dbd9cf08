"""How much of a question the best hits hold: whether an answer is one. Pure.

A question about something absent still finds the common words in it. What is held is measured in IDF, words that no
text has included, so that the rare ones decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from .ranking import Evidence

ENOUGH = 0.45
"""The part of a question's IDF mass that the best hit must hold, else the answer is weak (benchmarks/honesty)."""


def share(frequencies: Sequence[float], evidence: Sequence[Evidence]) -> float:
    """The part of the question's mass that a document with these weighted frequencies holds; 1 for a question without
    words. Single characters of a longer CJK run say nothing."""
    asked = held = 0.0
    for frequency, e in zip(frequencies, evidence, strict=True):
        if e.strong:
            asked += max(1.0, e.weight) * e.idf
            held += e.weight * e.idf if frequency else 0.0
    return held / asked if asked else 1.0
