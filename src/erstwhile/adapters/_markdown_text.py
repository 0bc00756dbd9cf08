"""The text of a Markdown file -> what its front matter says and its sections by nearest heading. Pure.

Blocks are found by a CommonMark parser, which knows what is no heading (code, HTML, lists); YAML and TOML by their own
readers, with every value taken as text, so that no tag of a file is ever executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from functools import cache
from typing import Any, NamedTuple

from ..history import Skipped

FENCES: Mapping[str, tuple[str, ...]] = {"---": ("---", "..."), "+++": ("+++",)}
"""What opens front matter on the first line, and what closes it: YAML, TOML."""
ASSIGNS = {"---": ":", "+++": "="}
LONGEST = 100_000
"""Characters of front matter that are read; more is a file of another kind."""


class Section(NamedTuple):
    """The text below one heading, up to the next one of any level; `heading` is None before the first."""

    heading: str | None
    text: str


class Note(NamedTuple):
    """One Markdown file."""

    title: str | None
    """As recorded, else the first heading; None when its front matter is broken: the recorded one is not known then."""
    slug: str | None
    created: str | None
    changed: str | None
    lends: str
    """What every section inherits besides the title: description, tags, headings without a text of their own."""
    sections: tuple[Section, ...]
    faults: tuple[Skipped, ...]


class _Matter(NamedTuple):
    """Front matter: its values, the raw text of one that is broken, and the line where the body begins."""

    values: Mapping[str, Any] = {}
    body: int = 0
    broken: str = ""
    faults: tuple[Skipped, ...] = ()


def note(text: str) -> Note:
    """The file's text, line ends as they stand, as a Note. No text raises an error."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    matter = _matter(lines)
    values = {str(key).lower(): value for key, value in matter.values.items()}
    found = list(_sections(lines[matter.body :]))
    kept = [section for section in found if section.text]
    bare = [section.heading for section in found if section.heading and not section.text]
    first = next((section.heading for section in found if section.heading), None)
    title, description = _text(values.get("title")), _text(values.get("description"))
    if not kept and (rest := description or " ".join(bare)):
        kept, bare = [Section(None, rest)], []
    return Note(
        title=title or (None if matter.faults else first),
        slug=_text(values.get("slug")),
        created=_first(values, "date", "created"),
        changed=_first(values, "updated", "lastmod", "modified"),
        lends=" ".join(filter(None, (description, " ".join(_tags(values.get("tags"))), matter.broken, *bare))),
        sections=tuple(kept),
        faults=matter.faults,
    )


# -- front matter ----------------------------------------------------------------------------------------------------


def _matter(lines: list[str]) -> _Matter:
    """What stands between the fences. A line of dashes that opens nothing is a rule, and no fault."""
    fence = lines[0].rstrip()
    if fence not in FENCES or len(lines) < 2 or not lines[1].strip():
        return _Matter()
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() in FENCES[fence]), None)
    if end is None:
        return _unclosed(lines) if ASSIGNS[fence] in lines[1] else _Matter()
    raw = "\n".join(lines[1:end])
    if len(raw) > LONGEST:
        return _Matter(body=end + 1, broken=raw[:LONGEST], faults=(Skipped(1, "front matter is too long"),))
    try:
        values = _toml(raw) if fence == "+++" else _yaml(raw)
    except _Broken as error:
        return _Matter(body=end + 1, broken=raw, faults=(Skipped(error.line + 1, f"broken front matter: {error}"),))
    if isinstance(values, dict):
        return _Matter(values, end + 1)
    return _Matter() if raw.strip() else _Matter(body=end + 1)


def _unclosed(lines: list[str]) -> _Matter:
    """Front matter that is never closed reaches to the end of its first paragraph."""
    end = 1
    for token in _blocks().parse("\n".join(lines)):
        if token.level == 0 and token.map:
            if token.type not in ("hr", "paragraph_open"):
                break
            end = token.map[1]
            if token.type == "paragraph_open":
                break
    return _Matter(body=end, broken="\n".join(lines[1:end]), faults=(Skipped(1, "front matter is not closed"),))


class _Broken(Exception):
    """What is wrong, and in which line of the front matter (from 1)."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(" ".join(reason.split()))
        self.line = line


def _yaml(raw: str) -> Any:
    import yaml

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return yaml.load(raw, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise _Broken(getattr(error, "problem", None) or "not valid YAML", mark.line + 1 if mark else 1) from error
    except (RecursionError, ValueError, TypeError) as error:
        raise _Broken("not valid YAML", 1) from error


def _toml(raw: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(raw)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _Broken(str(error) or "not valid TOML", 1) from error


def _text(value: Any) -> str | None:
    """A scalar as one line of text; None for nothing, lists and tables."""
    if isinstance(value, (str, int, float, date, time)) and not isinstance(value, bool):
        return " ".join((value.isoformat() if isinstance(value, datetime) else str(value)).split()) or None
    return None


def _first(values: Mapping[str, Any], *names: str) -> str | None:
    return next((found for name in names if (found := _text(values.get(name)))), None)


def _tags(value: Any) -> list[str]:
    """A list, or a text with commas or spaces between the tags; `#` before a tag is no part of it."""
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    tags = map(_text, value if isinstance(value, list) else [])
    return [name for tag in tags if tag and (name := tag.lstrip("#").strip())]


# -- sections --------------------------------------------------------------------------------------------------------


def _sections(lines: list[str]) -> Iterator[Section]:
    heading, start = None, 0
    for first, after, title in _headings(lines):
        yield Section(heading, _body(lines[start:first]))
        heading, start = title, after
    yield Section(heading, _body(lines[start:]))


def _body(lines: list[str]) -> str:
    """The lines without the blank ones around them; the first keeps its indentation, which may make it code."""
    shown = [at for at, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[shown[0] : shown[-1] + 1]).rstrip() if shown else ""


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """(first line, line after it, text) of every heading that is not part of a list or a quotation."""
    tokens = _blocks().parse("\n".join(lines))
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield token.map[0], token.map[1], _plain(tokens[at + 1].content)


def _plain(inline: str) -> str:
    """The text of a heading as it is read: without its marks, links and HTML."""
    children = (child for token in _inlines().parseInline(inline) for child in token.children or ())
    return " ".join("".join(_shown(child) for child in children).split())


def _shown(token: Any) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return token.content if token.type in ("text", "code_inline", "image") else ""


@cache
def _blocks() -> Any:
    """Only the blocks are needed, and only of headings the text in them: a tenth of the work of a whole parse."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@cache
def _inlines() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
