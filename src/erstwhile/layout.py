"""Cells of a terminal: how wide a text is, where it breaks, how it is coloured. Knows nothing about sessions.

Colours are written by hand: a search may not load a library for them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

BOLD, DIM, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "1", "2", "31", "32", "33", "34", "35", "36"
MATCH = "1;33"

Span = tuple[int, int]


def painted(text: str, style: str, colour: bool) -> str:
    """The text in a style; unchanged without colour or text."""
    return f"\x1b[{style}m{text}\x1b[0m" if colour and text else text


def cells(text: str) -> int:
    """Columns the text takes: two for wide characters, none for combining ones."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with `…` where something was cut off."""
    if cells(text) <= width:
        return text
    used, end = 1, 0
    while end < len(text) and (used := used + _cells(text[end])) <= width:
        end += 1
    return text[:end].rstrip() + "…"


def padded(text: str, width: int) -> str:
    """The text cut or filled to exactly `width` columns."""
    text = cut(text, width)
    return text + " " * (width - cells(text))


def broken(text: str, width: int) -> Iterator[Span]:
    """Where lines of at most `width` columns start and end: broken at spaces and between wide characters, inside a word
    only when the word is wider than a line. Spaces at a break belong to no line."""
    start = 0
    while start < len(text):
        end = _line(text, start, width)
        yield start, start + len(text[start:end].rstrip(" "))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1


def _line(text: str, start: int, width: int) -> int:
    used, last = 0, 0
    for position in range(start, len(text)):
        size = _cells(text[position])
        if text[position] == " " or (size == 2 and position > start):
            last = position
        used += size
        if used > width and text[position] != " ":
            return last or max(position, start + 1)
    return len(text)


def marked(text: str, line: Span, spans: Sequence[Span], style: str, colour: bool) -> str:
    """The stretch `line` of the text, with those parts of it that lie in `spans` in the style."""
    out, at = "", line[0]
    for start, end in sorted(spans):
        start, end = max(start, at), min(end, line[1])
        if start < end:
            out += text[at:start] + painted(text[start:end], style, colour)
            at = end
    return out + text[at : line[1]]
