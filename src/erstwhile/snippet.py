"""The part of a text worth showing: around its densest run of wanted tokens, safe to print, with what to highlight.

Knows tokens and characters, nothing of queries or of where it will be shown.
"""

from __future__ import annotations

import re
import unicodedata

from erstwhile.text import positions, spans

from .values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

__all__ = ["snippet", "visible"]

LONG = 16_000
"""Characters of a text that are looked at from the start; beyond, only windows around words that look wanted."""
WINDOW = 600
LIKENESSES = 16
PLACES = 4
NUDGE = 24
"""How far a cut may move to fall between words."""
REPEATED = 0.1
REPEATS = 3
"""The second and third occurrence of a token count a little, further ones nothing: different words beat one word."""

_SEQUENCES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movement
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]?"
)
_LINES = r"\r\n?|[\x0b\x0c\x85\u2028\u2029]"
_HIDDEN = (
    r"[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
_SURROGATES = r"[\ud800-\udfff]"
# Patterns as text: `re` compiles and keeps them at the first text that needs them, which most searches never meet.

Mark = tuple[int, int, str, float]
"""A wanted place in a text: start, end, token, weight."""
Run = tuple[int, int, float]
"""A stretch of a text and the worth of the marks in it."""


def visible(text: str, keep_lines: bool = False) -> str:
    """The text without what a terminal or a reader would obey and not see: control codes and sequences, characters that
    turn the direction, have no width or are no characters. Line ends and tabs become spaces unless they are kept."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = re.sub(_SEQUENCES, "", text) if "\x1b" in text or not text.isascii() else text
        text = re.sub(_HIDDEN, "", re.sub(_LINES, "\n", text))
        text = text if text.isascii() else re.sub(_SURROGATES, "\ufffd", text)
    return text if keep_lines else text.replace("\n", " ").replace("\t", " ")


def snippet(
    text: str,
    wanted: Collection[str],
    width: int = 240,
    phrases: Sequence[Sequence[str]] = (),
    places: Callable[[str], list[tuple[int, int]]] | None = None,
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """At most `width` characters around the best run of wanted tokens, and the places of the matched words in them.

    `wanted` may be a dict from token to weight. `phrases` are runs of stream tokens that count, and are highlighted,
    only side by side. `places` says where else in a text something wanted stands.
    """
    best, best_marks = "", list[Mark]()
    best_run: Run = (0, 0, -1.0)
    before = after = False
    for start, end in _windows(text, [*wanted, *(token for phrase in phrases for token in phrase)]):
        stretch = " ".join(visible(text[start:end]).split())
        marks = _marks(stretch, wanted, phrases)
        if places:
            marks = sorted([*marks, *((low, high, "", 1.0) for low, high in places(stretch))])
        run = _best_run(marks, width)
        if run[2] > best_run[2]:
            best, best_marks, best_run = stretch, marks, run
            before, after = start > 0, end < len(text)
    start, end = _cut(best, best_run, width, before, after)
    lead = "…" if before or start > 0 else ""
    trail = "…" if after or end < len(best) else ""
    shift = start - len(lead)
    shown = [(low - shift, high - shift) for low, high in _merged(best_marks) if start <= low and high <= end]
    return lead + best[start:end] + trail, tuple(shown)


# -- where to look -----------------------------------------------------------------------------------------------------


def _windows(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """The stretches to look at: all of an ordinary text; the beginning and the likely places of a long one."""
    if len(text) <= LONG:
        return [(0, len(text))]
    windows = [(0, LONG)]
    for place in sorted(set(_likely(text, tokens))):
        start, end = max(0, place - WINDOW), min(len(text), place + WINDOW)
        if start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def _likely(text: str, tokens: Sequence[str]) -> Iterator[int]:
    """Places beyond the beginning where a token stands as it is, capitalised or in capitals. A stem begins its words,
    but for the last letter of some (happi, happy)."""
    for token in tokens[:LIKENESSES]:
        likeness = token[:-1] if len(token) > 3 and token[-1] == "i" else token
        for form in {likeness, likeness.capitalize(), likeness.upper()}:
            place = LONG - WINDOW
            for _ in range(PLACES):
                place = text.find(form, place + 1)
                if place < 0:
                    break
                yield place


# -- what is wanted there ----------------------------------------------------------------------------------------------


def _marks(text: str, wanted: Collection[str], phrases: Sequence[Sequence[str]]) -> list[Mark]:
    weights: dict[str, float] = wanted if isinstance(wanted, dict) else {}
    marks = [
        (start, end, token, weights.get(token, 1.0))
        for start, end, tokens in spans(text, wanted)
        for token in tokens
        if token in wanted
    ]
    if phrases:
        marks += _phrase_marks(text, phrases, weights)
        marks.sort()
    return marks


def _phrase_marks(text: str, phrases: Sequence[Sequence[str]], weights: dict[str, float]) -> Iterator[Mark]:
    stream = list(positions(text))
    for phrase in map(list, filter(None, phrases)):
        for at in range(len(stream) - len(phrase) + 1):
            if stream[at][2] == phrase[0] and [token for _, _, token in stream[at : at + len(phrase)]] == phrase:
                worth = sum(weights.get(token, 1.0) for token in phrase)
                yield stream[at][0], stream[at + len(phrase) - 1][1], " ".join(phrase), worth


def _merged(marks: list[Mark]) -> list[tuple[int, int]]:
    """The places of the marks, those that overlap as one."""
    places: list[tuple[int, int]] = []
    for start, end, _, _ in marks:
        if places and start < places[-1][1]:
            places[-1] = (places[-1][0], max(places[-1][1], end))
        else:
            places.append((start, end))
    return places


def _best_run(marks: list[Mark], width: int) -> Run:
    """The first of the best runs that fit: different tokens count in full, repeated ones a little."""
    best: Run = (0, 0, 0.0)
    counts: dict[str, int] = {}
    worth, first = 0.0, 0
    for at, (_, end, token, weight) in enumerate(marks):
        worth += weight * _share(counts.get(token, 0))
        counts[token] = counts.get(token, 0) + 1
        while first < at and end - marks[first][0] > width - 2:
            _, _, gone, lost = marks[first]
            first += 1
            counts[gone] -= 1
            worth -= lost * _share(counts[gone])
        if worth > best[2] + 1e-9:
            best = (marks[first][0], end, worth)
    return best


def _share(before: int) -> float:
    """What an occurrence counts after that many of the same."""
    return 1.0 if not before else REPEATED if before < REPEATS else 0.0


# -- where to cut ------------------------------------------------------------------------------------------------------


def _cut(text: str, run: Run, width: int, before: bool, after: bool) -> tuple[int, int]:
    """Start and end of what is shown: the run and its surroundings, in whole characters and if possible words."""
    if len(text) + before + after <= width:
        return 0, len(text)
    first, last, _ = run
    room = max(0, width - 2)
    start = max(0, min(first - (room - min(last - first, room)) // 2, len(text) - room))
    if start > 0:
        start = _later(text, start, max(start, min(first, start + NUDGE)))
    end = min(len(text), start + room)
    if end < len(text):
        end = _earlier(text, end, max(start, min(end, last), end - NUDGE))
    return start, end


def _later(text: str, start: int, latest: int) -> int:
    """The next beginning of a word up to `latest`, else the next whole character."""
    space = text.find(" ", start - 1, latest)
    if space >= 0:
        return space + 1
    while start < len(text) and _continues(text[start]):
        start += 1
    return start


def _earlier(text: str, end: int, earliest: int) -> int:
    """The last end of a word down to `earliest`, else the end of the last whole character."""
    space = text.rfind(" ", earliest, end + 1)
    if space >= 0:
        return space
    while end > 0 and _continues(text[end]):
        end -= 1
    return end


def _continues(character: str) -> bool:
    """Whether the character belongs to the one before it: a combining mark, a Hangul vowel or final, a skin tone."""
    return character > "\u02ff" and (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )
