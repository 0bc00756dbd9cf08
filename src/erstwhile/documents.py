"""Decides what is searchable: cuts the parts of messages into documents, and names what a session lends to each of
them.

Pure. Knows nothing about where documents are kept or how they are ranked.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from .model import Message, Part
from .touching import paths

LIMIT = 2000
"""Characters of a document at most."""


class Document(NamedTuple):
    """A part, or a piece of a long one. The pieces of a part, joined, are the part's text."""

    message: int
    ordinal: int
    piece: int
    kind: str
    role: str
    tool: str | None
    time: float | None
    state: str | None
    record: int | None
    """64-bit hash of the agent's record id: copies of a record in other sessions have the same."""
    digest: int
    """64-bit hash of the text, and of the heading where there is one."""
    text: str
    heading: str | None = None
    paths: tuple[str, ...] = ()
    """What the call touched; the first piece of a long one has them all."""


def searched(heading: str | None, text: str) -> str:
    """The text that is searched: a heading counts as the document's own words."""
    return f"{heading}\n{text}" if heading else text


def documents(message: Message, ordinal: int) -> Iterator[Document]:
    """The documents of one message; `ordinal` is that of its first part."""
    for place, part in enumerate(message.parts):
        record = hash64(part.record) if part.record else None
        touched = paths(part.text) if part.kind == "tool_input" else ()
        for piece, text in enumerate(pieces(part.text)):
            document = _document(message, part, ordinal + place, piece, record, text)
            yield document if piece or not touched else document._replace(paths=touched)


def _document(message: Message, part: Part, ordinal: int, piece: int, record: int | None, text: str) -> Document:
    return Document(
        message.index,
        ordinal,
        piece,
        part.kind,
        message.role,
        part.tool,
        message.time,
        part.state,
        record,
        hash64(searched(part.heading, text)),
        text,
        part.heading,
    )


def pieces(text: str, limit: int = LIMIT) -> Iterator[str]:
    """`text` in pieces of at most `limit` characters, cut at the last paragraph end that fits, else the last line end,
    sentence end or space in the second half of the piece, else anywhere."""
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int, stop: int) -> int:
    middle = start + (stop - start) // 2
    for ending in ("\n\n", "\n", "。", ". ", " "):
        at = text.rfind(ending, middle, stop)
        if at >= 0:
            return at + len(ending)
    return stop


def hash64(text: str) -> int:
    """A signed 64-bit hash of `text`, the same on every machine."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)
