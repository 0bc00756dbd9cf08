"""What a person types, as a value: the pieces of a query text and the filters that stand in it. Pure.

No text raises an error. A malformed piece is taken as plain words, and the parse says so.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from .errors import UsageError
from .model import KINDS, ROLES, Query
from .values import Any, NamedTuple

FIELDS = {
    "agent": "agents",
    "kind": "kinds",
    "role": "roles",
    "tool": "tools",
    "session": "sessions",
    "collection": "collections",
    "project": "project",
    "since": "since",
    "until": "until",
}
"""Filters that may stand in the text, and the field of Query each one fills."""

PIECE = re.compile(r'([+-]?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))')


class Item(NamedTuple):
    """One piece of the text."""

    text: str
    quoted: bool = False
    required: bool = False
    excluded: bool = False


class Parsed(NamedTuple):
    items: tuple[Item, ...]
    filters: tuple[tuple[str, str], ...]
    """(field of FIELDS, value) in order."""
    malformed: tuple[str, ...]
    """What was taken as plain words instead, and why."""


def parse(text: str) -> Parsed:
    """The pieces, filters and faults of a query text."""
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair, as a terminal gives for a broken byte
    items: list[Item] = []
    filters: list[tuple[str, str]] = []
    malformed: list[str] = []
    for match in PIECE.finditer(text):
        sign, field, quoted, plain = match.groups()
        value = quoted if quoted is not None else plain
        if field in FIELDS and not sign and value:
            if fault := _fault(field, value):
                malformed.append(f"{field}:{value} is taken as words: {fault}")
            else:
                filters.append((field, value))
                continue
        word = quoted if quoted is not None else plain
        if field is not None:
            word, quoted = f"{field}:{word}", None
        if quoted is not None and not quoted.strip():
            continue
        if quoted is None and word.startswith('"'):
            malformed.append(f"the quote in {word} is not closed")
        if quoted is None and (unbuilt := _unbuilt(word)):
            malformed.append(f"{word} is taken as words: {unbuilt} not built yet")
        items.append(Item(word, quoted is not None, quoted is not None or sign == "+", sign == "-"))
    return Parsed(tuple(items), tuple(filters), tuple(malformed))


def _fault(field: str, value: str) -> str | None:
    """Why a filter in the text cannot be meant, or None."""
    allowed = {"kind": KINDS, "role": ROLES}.get(field)
    if allowed and value not in allowed:
        return f"use one of {', '.join(allowed)}"
    if field in ("since", "until"):
        try:
            _span(value, 0.0)
        except UsageError as error:
            return str(error)
    return None


def _unbuilt(word: str) -> str | None:
    """The operator of the query language that a word uses and that is not built yet, or None."""
    if len(word) > 1 and word.endswith("*"):
        return "prefixes are"
    if len(word) > 2 and word.startswith("/") and word.endswith("/"):
        return "regular expressions are"
    if word.startswith(("file:", "title:")) and not word.endswith(":"):
        return f"the filter {word.split(':')[0]} is"
    return None


def with_filters(query: Query, parsed: Parsed, now: float) -> Query:
    """The query with the filters of its text added to its own. Raises UsageError for a value that cannot be."""
    for field, value in parsed.filters:
        name = FIELDS[field]
        if field == "since":
            query = query._replace(since=parse_since(value, now))
        elif field == "until":
            query = query._replace(until=parse_until(value, now))
        elif field == "project":
            query = query._replace(project=value)
        else:
            query = query._replace(**{name: (*getattr(query, name), value)})
    return query


def checked(query: Query) -> Query:
    """The query with whole texts and its numbers in range; raises UsageError that names what is allowed."""
    query = Query._make(whole(value) for value in query)
    for what, value, allowed in (
        ("scope", query.scope, ("project", "global", "archive")),
        ("sort", query.sort, ("relevance", "newest", "oldest")),
        ("group", query.group, ("session", "none")),
        ("mode", query.mode, ("lexical", "hybrid", "semantic")),
        ("ranking", query.ranking, ("contextual", "plain")),
        ("subagents", query.subagents, ("no", "only")),
        *(("kind", kind, KINDS) for kind in query.kinds),
        *(("role", role, ROLES) for role in query.roles),
    ):
        if value is not None and value not in allowed:
            raise UsageError(f"unknown {what} {value!r}: use one of {', '.join(allowed)}")
    if query.since is not None and query.until is not None and query.since >= query.until:
        raise UsageError("since lies after until")
    return query._replace(limit=max(1, min(query.limit, 100)))


def whole(value: Any) -> Any:
    """A text, or a tuple of texts, with halves of surrogate pairs replaced: nothing else can be put into UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return tuple(map(whole, value)) if isinstance(value, tuple) else value


# -- dates -------------------------------------------------------------------------------------------------------------

AGE = re.compile(r"(\d{1,9})\s*(m|h|d|w|mo|y)(?:in|ays?|eeks?|ours?)?", re.ASCII)
UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "mo": 30 * 86400, "y": 365 * 86400}


def parse_since(text: str, now: float) -> float:
    """Seconds since 1970 at which the named time begins: an ISO date or time, `2026-03`, `7d`, `2w`, `today`,
    `yesterday`. Days are local. Raises UsageError."""
    return _span(text, now)[0]


def parse_until(text: str, now: float) -> float:
    """Seconds since 1970 at which the named time ends, the whole of a named day or month included."""
    return _span(text, now)[1]


def _span(text: str, now: float) -> tuple[float, float]:
    word = text.strip().lower().removeprefix("-")  # -1d, as other tools write it
    if age := AGE.fullmatch(word):
        at = now - int(age[1]) * UNITS[age[2]]
        return at, at
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    if word in ("today", "yesterday"):
        day = today - timedelta(days=word == "yesterday")
        return day.timestamp(), (day + timedelta(days=1)).timestamp()
    try:
        if re.fullmatch(r"\d{4}-\d{2}", word):
            first = datetime.fromisoformat(word + "-01")
            after = (first + timedelta(days=31)).replace(day=1)
            return first.timestamp(), after.timestamp()
        at = datetime.fromisoformat(text.strip())
        whole_day = len(word) == 10 or re.fullmatch(r"\d{8}", word)
        return at.timestamp(), (at + timedelta(days=1) if whole_day else at).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"cannot read the date {text!r}: use 2026-11-03, 2026-11, 2026-11-03T08:15, 7d, 2w, today or yesterday"
        ) from None
