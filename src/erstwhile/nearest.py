"""A filter fits nothing: which one, and what was probably meant. Asked only for answers without hits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from .model import Query
from .query import FIELDS as ALL_FIELDS
from .query import stated
from .scoping import scoped
from .store import naming, reading
from .vocabulary import distance

FIELDS = {field: name for field, name in ALL_FIELDS.items() if field not in ("since", "until")}
"""Filters that name something, and the field of Query that each one fills."""
OTHERS = ("agent", "project", "tool", "collection")
"""Fields under which a value is looked for that another field does not have."""
IN_DOCUMENTS = ("kind", "role", "tool")


def given(query: Query) -> Iterator[tuple[str, Query]]:
    """Every filter as text with its values, and the question without it. The scope is none."""
    query = _folder_apart(query)
    for field, name in FIELDS.items():
        if found := getattr(query, name):
            yield " ".join(written(field, value) for value in found), query._replace(**{name: ()})
    for name in ("since", "until"):
        if (at := getattr(query, name)) is not None:
            yield f"{name} {stated(at)}", query._replace(**{name: None})
    if query.subagents:
        yield f"subagents {query.subagents}", query._replace(subagents=None)


def _folder_apart(query: Query) -> Query:
    """The query with a project that only filters among its other projects, where it does not say what the scope is."""
    if query.project and query.scope != "project":
        return query._replace(project=None, projects=(query.project, *query.projects), scope=query.scope or "global")
    return query


def misfits(db: sqlite3.Connection, query: Query) -> list[str]:
    """A sentence for each filter that nothing fits at all, whatever the others say."""
    query = _folder_apart(query)
    said: list[str] = []
    for field, name in FIELDS.items():
        found: tuple[str, ...] = getattr(query, name)
        if found and not any(_fits(db, field, name, value) for value in found):
            asked = " ".join(written(field, value) for value in found)
            said.append(f"nothing fits {asked}{_meant(db, field, found)}")
    first, last = naming.span(db)
    if query.since is not None and last is not None and query.since > last:
        said.append(f"nothing is as late as {stated(query.since)}; the last session ended {stated(last)}")
    if query.until is not None and first is not None and query.until <= first:
        said.append(f"nothing is as early as {stated(query.until)}; the first session began {stated(first)}")
    if query.subagents == "only" and not reading.has_sessions(db, scoped(db, Query(subagents="only"), "global").filter):
        said.append("no session is a sub-agent's")
    return said


def _fits(db: sqlite3.Connection, field: str, name: str, value: str) -> bool:
    if field in IN_DOCUMENTS:
        return value.casefold() in (one.casefold() for one in naming.values(db, field))
    return reading.has_sessions(db, scoped(db, Query(scope="global")._replace(**{name: (value,)}), "global").filter)


def _meant(db: sqlite3.Connection, field: str, asked: tuple[str, ...]) -> str:
    """What was probably meant, and what there is where that is little."""
    guesses = [guess for value in asked if (guess := _guess(db, field, value))]
    text = f"; did you mean {' or '.join(dict.fromkeys(guesses))}?" if guesses else ""
    if field in ("agent", "collection", "kind", "role") and (there := naming.values(db, field)):
        text += f"{'' if text else ';'} there {'is' if len(there) == 1 else 'are'} {', '.join(there[:12])}"
    return text


def _guess(db: sqlite3.Connection, field: str, value: str) -> str | None:
    """The nearest value of the field, else the same value under another field."""
    known = naming.values(db, field)
    asked = value.replace("\\", "/").rstrip("/")
    if (field == "project" and "/" not in asked) or field == "file":
        known = list(dict.fromkeys(path.rpartition("/")[2] for path in known))
        asked = asked.rpartition("/")[2]
    if near := nearest(asked, known):
        return written(field, near)
    for other in OTHERS:
        names = (one.rpartition("/")[2] if other == "project" else one for one in naming.values(db, other))
        if other != field and (same := next((n for n in names if n.casefold() == value.casefold()), None)):
            return written(other, same)
    return None


def nearest(asked: str, known: list[str]) -> str | None:
    """The one of the known names that `asked` was probably meant to be: it differs in case, by a few letters, or one
    begins with the other."""
    folded = asked.casefold()
    limit = max(1, min(3, len(folded) // 3))
    rated = [(rate, name) for name in known if (rate := _rate(folded, name.casefold(), limit)) is not None]
    return min(rated)[1] if rated else None


def _rate(asked: str, name: str, limit: int) -> int | None:
    apart = distance(asked, name, limit)
    if apart <= limit:
        return apart
    begins = len(asked) > 2 and (name.startswith(asked) or (len(name) > 2 and asked.startswith(name)))
    return limit + 1 if begins else None


def written(field: str, value: str) -> str:
    """The filter as it stands in a query's text."""
    return f'{field}:"{value}"' if any(map(str.isspace, value)) else f"{field}:{value}"
