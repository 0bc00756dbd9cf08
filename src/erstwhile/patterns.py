"""Regular expressions of a query: what they match, and which words a text must hold for them to match. Pure.

re2 matches in time linear in the text, so no expression can hang a server. It is loaded by the first expression that is
asked, never by another search. The parser of `re` only tells which characters an expression needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from .query import Item, Parsed
from .text import folded, positions
from .values import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

MEMORY = 8 << 20
"""Bytes that a compiled expression may take."""
SHORTEST = 3
"""Characters of a piece of a word that are worth looking for in the index."""
STRIPPED = 3
"""Letters at a word's end that its stem may lack, as far as an expression's words are concerned."""


class Needed(NamedTuple):
    """A word that every matching text holds."""

    text: str
    opens: bool = False
    """Whether something may stand before it in its word."""
    goes_on: bool = False
    """Whether something may follow in its word."""


Spans = list[tuple[int, int]]


def settled(parsed: Parsed) -> Parsed:
    """The parse with expressions that cannot be compiled taken as words, and why."""
    items: list[Item] = []
    faults: list[str] = []
    for item in parsed.items:
        fault = _fault(item.text) if item.form == "regex" else None
        if fault:
            faults.append(f"/{item.text}/ is taken as words: {fault}")
            item = Item(item.text, excluded=item.excluded)
        items.append(item)
    return Parsed(tuple(items), parsed.filters, (*parsed.malformed, *faults))


def spans(pattern: str, text: str) -> Spans:
    """Where the expression matches more than nothing. Lower case in it stands for both, as ripgrep's smart case."""
    return [match.span() for match in _compiled(pattern).finditer(text) if match.end() > match.start()]


def matches(pattern: str) -> Callable[[str], bool]:
    """Whether a text holds a match."""
    search = _compiled(pattern).search
    return lambda text: search(text) is not None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    import re2  # pyright: ignore[reportMissingImports]

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    options.case_sensitive = any(character.isupper() for character in _unescaped(pattern))
    return re2.compile(pattern, options)


def _unescaped(pattern: str) -> Iterator[str]:
    r"""The characters that stand for themselves: not the S of `\S`."""
    rest = iter(pattern)
    for character in rest:
        if character == "\\":
            next(rest, "")
        else:
            yield character


def _fault(pattern: str) -> str | None:
    """Why the expression cannot be matched, or None."""
    try:
        import re2  # pyright: ignore[reportMissingImports]
    except ImportError:
        return "regular expressions need the package google-re2"
    try:
        _compiled(pattern)
    except re2.error as error:
        said = error.args[0] if error.args else "it is malformed"
        return f"{said.decode('utf-8', 'replace') if isinstance(said, bytes) else said}{_where(pattern)}"
    return None


def _where(pattern: str) -> str:
    """The place that is at fault, as far as Python's parser sees one."""
    import re

    try:
        re.compile(pattern)
    except re.error as error:
        return f" (character {error.pos + 1})" if error.pos is not None else ""
    except (RecursionError, OverflowError):
        pass
    return ""


# -- what a match needs ------------------------------------------------------------------------------------------------


def needed(pattern: str) -> list[Needed]:
    """The words and pieces of words that every match holds; none where the expression names no characters for sure."""
    found: list[Needed] = []
    for run in _runs(pattern):
        words = list(positions(run.text))
        for at, (start, end, _) in enumerate(words):
            opens = run.opens and at == 0 and start == 0
            goes_on = run.goes_on and at == len(words) - 1 and end == len(run.text)
            word = folded(run.text[start:end])
            if not (opens or goes_on) or len(word) >= SHORTEST:
                found.append(Needed(word, opens, goes_on))
    return list(dict.fromkeys(found))


def core(need: Needed) -> str:
    """What of a piece of a word its token surely holds: a stem may lack the end."""
    kept = need.text[: max(SHORTEST, len(need.text) - STRIPPED)] if need.text.isascii() else need.text
    return kept.rstrip("y") if len(kept.rstrip("y")) >= SHORTEST else kept


def _runs(pattern: str) -> list[Needed]:
    """The stretches of characters that stand in every match, in order."""
    from re import _constants as ops  # pyright: ignore[reportAttributeAccessIssue]
    from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]
    from re import error

    try:
        tree = parser.parse(pattern)
    except (error, RecursionError, OverflowError):  # re2 knows more than `re`: nothing is known for sure
        return []
    collected = _Runs()
    _walk(tree, collected, ops)
    collected.end(True)
    return collected.runs


class _Runs:
    """Runs while they are collected."""

    def __init__(self) -> None:
        self.runs: list[Needed] = []
        self.text = ""
        self.opens = True

    def end(self, goes_on: bool) -> None:
        """The run ends; whether its word may go on, and so the next one may be the rest of a word."""
        if self.text:
            self.runs.append(Needed(self.text, self.opens, goes_on))
        self.text, self.opens = "", goes_on


def _walk(tree: Any, into: _Runs, ops: Any) -> None:
    for kind, value in tree:
        if kind is ops.LITERAL:
            into.text += chr(value)
        elif kind is ops.SUBPATTERN:
            _walk(value[3], into, ops)
        elif kind is ops.AT or (kind is ops.IN and _parts_words(value, ops)):
            into.end(value in (ops.AT_NON_BOUNDARY,) if kind is ops.AT else False)
        elif kind in (ops.MAX_REPEAT, ops.MIN_REPEAT) and value[0] > 0:
            inner = list(value[2])
            if len(inner) == 1 and inner[0][0] is ops.IN and _parts_words(inner[0][1], ops):
                into.end(False)
                continue
            into.end(True)
            _walk(inner, into, ops)
            into.end(True)
        else:
            into.end(True)


def _parts_words(members: Any, ops: Any) -> bool:
    """Whether a set holds only spaces, which no word does."""
    return all(
        (kind is ops.CATEGORY and value is ops.CATEGORY_SPACE) or (kind is ops.LITERAL and chr(value).isspace())
        for kind, value in members
    )
