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
    "file": "files",
    "title": "titles",
    "session": "sessions",
    "collection": "collections",
    "project": "projects",
    "since": "since",
    "until": "until",
}
"""Filters that may stand in the text, and the field of Query each one fills."""

PIECE = re.compile(
    r"""([+-]?)(?:(/(?!\s)(?:\\.|[^/\\])+(?<!\s)/)(?!\S)|(?:([a-z]+):)?(?:"([^"]*)"|(\S+)))""",
)
r"""A sign, then a regular expression between slashes, or a field with a quoted or plain value. A path in slashes is no
expression: a slash inside one is written `\/`."""


class Item(NamedTuple):
    """One piece of the text."""

    text: str
    quoted: bool = False
    required: bool = False
    excluded: bool = False
    form: str = "words"
    """words, prefix (the text without its star) or regex (the text between the slashes)."""


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
        sign, pattern, field, quoted, plain = match.groups()
        if pattern is not None:
            items.append(Item(pattern[1:-1].replace("\\/", "/"), False, sign != "-", sign == "-", "regex"))
            continue
        value = quoted if quoted is not None else plain
        if field in FIELDS and value:
            fault = "a filter has no sign" if sign else _fault(field, value)
            if not fault:
                filters.append((field, value))
                continue
            malformed.append(f"{sign}{field}:{value} is taken as words: {fault}")
        word = value
        if field is not None:
            word, quoted = f"{field}:{word}", None
        if quoted is not None and not quoted.strip():
            continue
        if quoted is None and word.startswith('"'):
            malformed.append(f"the quote in {word} is not closed")
        if quoted is None and len(word) > 1 and word.endswith("*"):
            items.append(Item(word.rstrip("*"), False, sign == "+", sign == "-", "prefix"))
            continue
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


def with_filters(query: Query, parsed: Parsed, now: float) -> Query:
    """The query with the filters of its text added to its own; of several times the widest counts, as several values of
    any field are alternatives. Raises UsageError for a value that cannot be."""
    for field, value in parsed.filters:
        name = FIELDS[field]
        if field == "since":
            at = parse_since(value, now)
            query = query._replace(since=at if query.since is None else min(at, query.since))
        elif field == "until":
            at = parse_until(value, now)
            query = query._replace(until=at if query.until is None else max(at, query.until))
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
        raise UsageError(f"since ({stated(query.since)}) lies after until ({stated(query.until)})")
    return query._replace(limit=max(1, min(query.limit, 100)))


def whole(value: Any) -> Any:
    """A text, or a tuple of texts, with halves of surrogate pairs replaced: nothing else can be put into UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return tuple(map(whole, value)) if isinstance(value, tuple) else value


def gathered(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a Query as a door collected them. Several projects are alternatives, which scope project with its
    one folder cannot mean: naming them says the same."""
    projects = fields.get("project")
    if not isinstance(projects, tuple):
        return fields
    fields = fields | {"project": projects[0], "projects": projects[1:]}
    if len(projects) > 1 and fields.get("scope") == "project":
        del fields["scope"]
    return fields


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


def stated(seconds: float) -> str:
    """The time in the user's zone, which is named."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M %Z")
    except (OverflowError, OSError, ValueError):
        return f"{seconds:.0f} s after 1970"


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
