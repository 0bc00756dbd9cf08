"""The opaque cursor of a page: where it goes on, the snapshot it belongs to, and the statistics it was scored with.
Pure."""

from __future__ import annotations

from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from struct import error as NotPacked  # noqa: N812 - an exception, whatever its name
from struct import pack, unpack
from zlib import crc32

from .errors import StaleCursor
from .model import Query
from .values import NamedTuple

VERSION = 2
HEAD = "<BBIIQQd"


class Cursor(NamedTuple):
    question: int
    """Fingerprint of everything in the query but its limit, its cursor and the exact times."""
    tier: int
    """Which tier answered, so that later pages ask the same."""
    offset: int
    last: int
    """The largest document id that any page of this question shows."""
    documents: int
    average: float
    frequencies: tuple[int, ...]


def fingerprint(query: Query) -> int:
    # `since=7d` is another number for every page: only whether there is a bound belongs to the question
    bounds = [None if time is None else 0.0 for time in (query.since, query.until)]
    bound = query._replace(limit=0, cursor=None, since=bounds[0], until=bounds[1])
    return crc32(repr(bound).encode("utf-8", "replace"))


def encode(cursor: Cursor) -> str:
    head = pack(
        HEAD, VERSION, cursor.tier, cursor.question, cursor.offset, cursor.last, cursor.documents, cursor.average
    )
    data = head + pack(f"<{len(cursor.frequencies)}I", *cursor.frequencies)
    return b2a_base64(data + pack("<I", crc32(data)), newline=False).decode().translate(_SAFE).rstrip("=")


def decode(text: str, query: Query) -> Cursor:
    """The cursor in `text`. Raises StaleCursor when it is damaged or belongs to another question."""
    try:
        data = a2b_base64(text.translate(_UNSAFE) + "=" * (-len(text) % 4))
        body, check = data[:-4], unpack("<I", data[-4:])[0]
        if crc32(body) != check:
            raise StaleCursor("the cursor is damaged; ask again without it")
        size = len(pack(HEAD, 0, 0, 0, 0, 0, 0, 0.0))
        version, tier, question, offset, last, documents, average = unpack(HEAD, body[:size])
        frequencies = unpack(f"<{(len(body) - size) // 4}I", body[size:])
    except (NotBase64, NotPacked, ValueError):
        raise StaleCursor("the cursor is damaged; ask again without it") from None
    if version != VERSION or question != fingerprint(query):
        raise StaleCursor("the cursor belongs to another question; ask again without it")
    return Cursor(question, tier, offset, last, documents, average, frequencies)


_SAFE = {ord("+"): "-", ord("/"): "_"}
_UNSAFE = {ord("-"): "+", ord("_"): "/"}
