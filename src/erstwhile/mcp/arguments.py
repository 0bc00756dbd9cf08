"""What a client sent to a tool, as typed values. Absent, null and empty mean unset, so that a client which sends every
default asks the same question as one which sends none. Knows no tool."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from typing import Any

from erstwhile.errors import UsageError
from erstwhile.model import Note
from erstwhile.query import parse_since, parse_until
from erstwhile.snippet import visible

LONGEST_QUERY = 4000
"""Characters of a query that are looked for; a pasted log beyond them only repeats itself."""
LARGEST = 2**31


class Arguments:
    """One call's arguments; methods raise UsageError for a value of the wrong sort. `notes`: what was ignored."""

    def __init__(self, given: Mapping[str, Any], known: Collection[str]) -> None:
        self._given = given
        self.notes: list[Note] = []
        for name in sorted(set(given) - set(known)):
            text = f"the argument {visible(name)[:60]!r} is unknown and was ignored; known are {', '.join(known)}"
            self.notes.append(Note("unknown_argument", text))

    def text(self, name: str) -> str:
        """The text, stripped; empty when unset."""
        value = self._given.get(name)
        if isinstance(value, list) and len(value) <= 1:
            value = value[0] if value else None
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"{name} must be a text")
        return str(value).strip()

    def query(self) -> str:
        """The text `query`, cut when it is very long."""
        text = self.text("query")
        if len(text) > LONGEST_QUERY:
            said = f"only the first {LONGEST_QUERY:,} of the query's {len(text):,} characters were looked for"
            self.notes.append(Note("malformed_query", said))
        return text[:LONGEST_QUERY]

    def texts(self, name: str) -> tuple[str, ...]:
        """Several texts: a list, a list written as JSON in a text, or one text."""
        value = self._given.get(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _decoded(value)
        if isinstance(value, str):
            value = [value]
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise UsageError(f"{name} must be a list of texts")
        return tuple(stripped for one in value if (stripped := one.strip()))

    def words(self, name: str) -> tuple[str, ...]:
        """Several single words; commas and spaces part them, too."""
        return tuple(word for text in self.texts(name) for word in text.replace(",", " ").split())

    def number(self, name: str) -> int | None:
        """A whole number, None when unset; beyond any use it is cut off, not refused."""
        value = self._given.get(name)
        if value is None or value == "":
            return None
        try:
            if isinstance(value, bool) or not isinstance(value, str | int | float) or float(value) % 1:
                raise ValueError
            return max(-LARGEST, min(int(float(value)), LARGEST))
        except (ValueError, OverflowError):
            raise UsageError(f"{name} must be a whole number") from None

    def clamped(self, name: str, default: int, least: int, most: int) -> int:
        """The number within its range; `default` when unset."""
        number = self.number(name)
        return default if number is None else max(least, min(number, most))

    def flag(self, name: str) -> bool:
        """Whether it is set: true, or a text or number that says so."""
        value = self._given.get(name)
        said = str(value).strip().lower()
        if value is None or said in ("", "false", "0", "no", "none", "null"):
            return False
        if said in ("true", "1", "yes"):
            return True
        raise UsageError(f"{name} must be true or false")

    def since(self) -> float | None:
        text = self.text("since")
        return parse_since(text, time.time()) if text else None

    def until(self) -> float | None:
        text = self.text("until")
        return parse_until(text, time.time()) if text else None


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
