"""Reads a file while it grows, the way the product does, and compares that with one read of the whole."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from collect import Collected, collect

from erstwhile.adapters.base import Adapter, Reread
from erstwhile.model import Source


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)


def whole(adapter: Adapter, path: Path) -> Collected:
    return collect(adapter.read(Source(adapter.name, str(path), "")))


def growing(adapter: Adapter, path: Path, pieces: Iterable[bytes]) -> tuple[Collected, int]:
    """What the reads after each piece came to, and how many of them had to begin anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    got, again = whole(adapter, path), 0
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        try:
            got = collect(adapter.read(Source(adapter.name, str(path), ""), got.resume), got)
        except Reread:
            got, again = whole(adapter, path), again + 1
    return got, again


def facts(collected: Collected) -> dict[str, Any]:
    """What a reader of the store would see: heads, messages, parts, types."""
    return {
        key: (session.head, session.messages, session.items, session.count)
        for key, session in collected.sessions.items()
    } | {"unknown": collected.unknown}


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    """`data` in pieces that end at the places."""
    ends = [0, *sorted({p % (len(data) + 1) for p in places}), len(data)]
    return [data[a:b] for a, b in zip(ends, ends[1:], strict=False)]
