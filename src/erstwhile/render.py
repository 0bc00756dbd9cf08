"""Values of the model -> the JSON shapes that every door gives. Knows nothing about terminals.

`json` is loaded only by the functions that write JSON: it costs as much as half a search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from .model import (
    Answer,
    Checkup,
    Coverage,
    Hit,
    MessageView,
    PartView,
    RawTranscript,
    SessionInfo,
    SessionPage,
    SourceStatus,
    Transcript,
)

SCHEMA_VERSION = 1

# Legal in JSON and dangerous on a terminal: C1 controls, bidirectional overrides and isolates, separators. Written as
# escapes they say the same to every decoder.
_UNSAFE = {
    code: f"\\u{code:04x}"
    for code in (
        *range(0x7F, 0xA0),
        0x61C,
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
    )
}


def utc(seconds: float | None) -> str | None:
    """ISO-8601 in UTC, to the second; None for no time or one outside the calendar."""
    if seconds is None:
        return None
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (OverflowError, OSError, ValueError):
        return None


def local(seconds: float) -> str | None:
    """ISO-8601 in the user's zone with its offset, for what a day was taken to mean."""
    try:
        form = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return None
    return f"{form[:-2]}:{form[-2:]}"


def answer(value: Answer) -> dict[str, Any]:
    """The envelope."""
    times = {name: local(at) for name, at in (("since", value.since), ("until", value.until)) if at is not None}
    return {
        "schema_version": SCHEMA_VERSION,
        "query": value.query,
        "scope": value.scope,
        **times,
        "ranking": value.ranking,
        "mode": value.mode,
        "total": value.total._asdict(),
        "hits": [hit(one) for one in value.hits],
        "next_cursor": value.next_cursor,
        "coverage": coverage(value.coverage),
        "notes": [note._asdict() for note in value.notes],
    }


def hit(value: Hit) -> dict[str, Any]:
    """One hit of the envelope."""
    shape = value._asdict()
    shape["score"] = round(value.score, 4)
    shape["time"] = utc(value.time)
    shape["highlights"] = [list(span) for span in value.highlights]
    if value.explanation is None:
        del shape["explanation"]
    return shape


def coverage(value: Coverage) -> dict[str, int]:
    """The object `coverage`, the same in the envelope and in /api/status."""
    return value._asdict()


def session(value: SessionInfo) -> dict[str, Any]:
    """The shape `session`; `collection` and `slug` only where it lies in one, `children` only where there are some."""
    shape = value._asdict() | {"started": utc(value.started), "ended": utc(value.ended), "counts": dict(value.counts)}
    shape["children"] = [child._asdict() for child in value.children]
    absent = {"collection", "slug"} if value.collection is None else set[str]()
    return {key: one for key, one in shape.items() if key not in absent and (key != "children" or one)}


def sessions(value: SessionPage) -> dict[str, Any]:
    """A page of `erst sessions`."""
    return {"sessions": [session(one) for one in value.sessions], "next_cursor": value.next_cursor}


def transcript(value: Transcript) -> dict[str, Any]:
    """A session with its messages, or a stretch of them."""
    return {"session": session(value.session), "messages": [message(one) for one in value.messages]}


def raw(value: RawTranscript) -> dict[str, Any]:
    """A session with the agent's own records."""
    return {"session": session(value.session), "records": [one._asdict() for one in value.records]}


def message(value: MessageView) -> dict[str, Any]:
    """The shape `message`."""
    return {
        "message_index": value.message_index,
        "role": value.role,
        "time": utc(value.time),
        "parts": [part(one) for one in value.parts],
    }


def part(value: PartView) -> dict[str, Any]:
    """One part of a message; `heading` only where there is one."""
    shape = value._asdict()
    if value.heading is None:
        del shape["heading"]
    return shape


def source(value: SourceStatus) -> dict[str, Any]:
    """The shape `source`; `reason` only where there is one."""
    shape = value._asdict()
    shape["skipped"] = [one._asdict() for one in value.skipped]
    if value.reason is None:
        del shape["reason"]
    return shape


def checkup(value: Checkup) -> dict[str, Any]:
    """The sources and the findings of `erst doctor`."""
    return {
        "sources": [source(one) for one in value.sources],
        "findings": [one._asdict() for one in value.findings],
    }


def dumps(shape: Any) -> str:
    """One line of JSON: valid UTF-8 whatever is in it, and safe to look at on a terminal."""
    import json

    text = json.dumps(shape, ensure_ascii=False, separators=(", ", ": "))
    return harmless(text.encode("utf-8", "replace").decode("utf-8"))


def harmless(text: str) -> str:
    """JSON whose dangerous characters are written as escapes: it says the same to every decoder."""
    return text.translate(_UNSAFE)


def lines(value: Answer) -> Iterator[str]:
    """The hits of an answer, one line of JSON each."""
    for one in value.hits:
        yield dumps(hit(one)) + "\n"
