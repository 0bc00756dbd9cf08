"""Which files a tool call touches, from its text; and the one form in which paths are kept and asked for. Pure.

A call's text is the tool's name and its arguments as the agent wrote them: JSON, a patch, or a shell command. Nothing
is looked up on disk: what was touched may be long gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .places import place
from .values import NamedTuple

ARGUMENTS = (
    "file_?paths?|paths?|filename|file_?names?|files?|notebook_?path|absolute_?path|relative_?(?:workspace_)?path"
    "|target_?(?:file|path)|(?:old|new|src|source|dest|destination)_?(?:file|path)|abs_?path"
)
"""Names under which agents' tools take paths, case ignored: `filePath`, `notebook_path`, `TargetFile`."""
_QUOTED = r'"((?:[^"\\]|\\.)*+)"'
_NAMED = re.compile(rf'(?<!\\)"(?:{ARGUMENTS})"\s*:\s*(?:{_QUOTED}|\[((?:\s*{_QUOTED}\s*,?)*+)\])', re.I)
_ONE = re.compile(_QUOTED)
_PATCHED = re.compile(
    r"(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?<![^\n])(?:---|\+\+\+) (?:[ab]/)?"
    r"|(?<=\\n)(?:---|\+\+\+) (?:[ab]/)?)([^\n\"\t]+?)(?=\\n|\\r|\\t|[\n\r\"\t]|\Z)"
)
_COMMAND = re.compile(r'\\?"?\b(?:cmd|command|script)\\?"?\s*:\s*\[?\s*([\'"](?:[^\\\n]|\\[^n])*)', re.I)
_WORD = re.compile(r"[^\s\"'`,;|&<>(){}\[\]=]+")
_FILE = re.compile(
    r"(?:[\w.@+~-]*/)+[\w.@+~-]+|[\w.@+-]*\w\.(?:[ch]|[ch]pp|cc|cs|css|csv|go|html?|ini|ipynb|java|jsx?"
    r"|json|jsonl|kt|lock|log|lua|md|mjs|php|proto|py|pyi|rb|rs|scss|sh|sql|swift|toml|tsx?|txt|vue|xml|ya?ml|zig)"
)
LONGEST = 1000
"""Characters of a path; what is longer is no path."""
FIRST = 400
"""Characters of a shell command that are looked at: its files come first, a heredoc's text behind them."""
MOST = 200
"""Paths of one call that are kept."""


class Touched(NamedTuple):
    """A path as it is kept: in lower case, so that every spelling finds it."""

    path: str
    name: str
    """Its last part."""


def paths(text: str) -> tuple[str, ...]:
    """The paths in the text of a tool call, as they stand there, each once."""
    return tuple(dict.fromkeys(filter(_plausible, _found(text))))[:MOST]


def _found(text: str) -> Iterator[str]:
    if '"' in text:
        for match in _NAMED.finditer(text):
            if match[1] is not None:
                yield _unescaped(match[1])
            else:
                yield from map(_unescaped, _ONE.findall(match[2]))
    if "*** " in text or "+++ " in text:
        yield from (match[1].strip() for match in _PATCHED.finditer(text))
    for command in _COMMAND.finditer(text):
        for word in _WORD.findall(_unescaped(command[1][:FIRST])):
            if _FILE.fullmatch(word) and "://" not in word:
                yield word


def _unescaped(text: str) -> str:
    r"""A JSON text's characters: `C:\\src` is `C:\src`."""
    if "\\" not in text:
        return text
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return re.sub(r"\\([\\\"/])", r"\1", text)


def _plausible(path: str) -> bool:
    return 0 < len(path) <= LONGEST and path.strip("./~\\ ") != "" and "://" not in path and path != "/dev/null"


def touched(path: str, cwd: str | None) -> Touched:
    """The path as it is kept: absolute where the session's folder is known, forward slashes, no `.` or `..`."""
    form = place(path.strip())
    if not _absolute(form) and not form.startswith("~") and cwd:
        form = f"{place(cwd)}/{form}"
    form = _straight(form).lower()
    return Touched(form, form.rpartition("/")[2])


def asked(path: str, home: str | None = None) -> str:
    """A path of a question in the form that `touched` gives, without a folder of its own before it."""
    form = place(path.strip())
    if form == "~" or form.startswith("~/"):
        form = place(home) + form[1:] if home else form
    return _straight(form).lower()


def _absolute(form: str) -> bool:
    return form.startswith("/") or form[1:2] == ":"


def _straight(form: str) -> str:
    if "./" not in form and "//" not in form and not form.endswith("/."):
        return form
    parts: list[str] = []
    for part in form.split("/"):
        if part == ".." and parts and parts[-1] not in ("", ".."):
            parts.pop()
        elif part not in (".", "") or not parts:
            parts.append(part)
    return "/".join(part for at, part in enumerate(parts) if part != "." or at) or "/"
