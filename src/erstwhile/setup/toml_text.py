"""TOML: our entry is a table of its own, put behind the end of the text and taken out again with its lines."""

from __future__ import annotations

import json
import re
import tomllib
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from .places import NAME, Broken, CannotEdit, Entry, Look, Place, newline

HEADER = re.compile(r"^[ \t]*\[", re.M)
LINE = re.compile(r"[^\n]*(?:\n|\Z)")
QUIET = re.compile(r"[ \t]*(?:#.*)?(?:\r?\n)?\Z")
AT_LINE = re.compile(r"\(at line (\d+)")
BEGINNING, REST = r"(?:^|(?<=\ufeff))[ \t]*", r"[ \t]*(?:#.*)?\r?$"
"""Of a line with a header."""
BARE = re.compile(r"[A-Za-z0-9_-]+")


class TomlPlace(Place):
    """A text in which our entry has a header. What a line means depends on the strings and brackets around it, so
    lines are only guesses here: the parser's word about the text without them decides."""

    format = "TOML"

    def __init__(self, key: str) -> None:
        self.key = key

    def look(self, text: str) -> Look:
        try:
            return self.split(tomllib.loads(text.removeprefix("\ufeff")))
        except tomllib.TOMLDecodeError as error:
            found = AT_LINE.search(str(error))
            line = int(found[1]) if found else text.count("\n") + 1
            raise Broken(line, re.sub(r" \(at .*", "", str(error))) from error
        except RecursionError as error:
            raise Broken(1, "nested too deeply") from error

    @abstractmethod
    def split(self, data: dict[str, Any]) -> Look:
        """Our entry, and the rest."""

    @abstractmethod
    def lines(self, entry: Entry) -> list[str]:
        """Our entry as a table with its header."""

    @abstractmethod
    def heads(self) -> str:
        """What our header's line looks like, as a pattern."""

    def insert(self, text: str, entry: Entry) -> str:
        end = newline(text)
        block = end.join(self.lines(entry))
        if not text.lstrip("\ufeff"):
            return text + block + end
        return text + end + block + end if text.endswith("\n") else text + end + end + block

    def delete(self, text: str) -> str:
        guesses = (_without(text, start, stop) for start, stop in self._guesses(text))
        return self.first(guesses, self.look(text).rest)

    def _guesses(self, text: str) -> Iterator[tuple[int, int]]:
        for head in re.finditer(self.heads(), text, re.M):
            for stop in [*(found.start() for found in HEADER.finditer(text, head.end())), len(text)]:
                yield head.start(), _trimmed(text, head.start(), stop)
        for line in re.finditer(
            rf"^[ \t]*(?:{self.key}[ \t]*\.[ \t]*)?[\"']?{NAME}[\"']?[ \t]*=.*(?:\n|\Z)", text, re.M
        ):
            yield line.start(), line.end()


class TomlTable(TomlPlace):
    """`[key.erstwhile]`."""

    def split(self, data: dict[str, Any]) -> Look:
        servers = data.pop(self.key, {})
        if not isinstance(servers, dict):
            raise CannotEdit(f"{self.key} is not a table")
        entry = servers.pop(NAME, None)
        return Look(entry, repr((data, servers)))

    def lines(self, entry: Entry) -> list[str]:
        return [f"[{self.key}.{NAME}]", *_pairs(entry)]

    def heads(self) -> str:
        key, name = (rf"[ \t]*[\"']?{word}[\"']?[ \t]*" for word in (self.key, NAME))
        return rf"{BEGINNING}\[{key}\.{name}\]{REST}"


class TomlTables(TomlPlace):
    """`[[key]]` with our name as `name`."""

    def split(self, data: dict[str, Any]) -> Look:
        tables = data.pop(self.key, [])
        if not isinstance(tables, list):
            raise CannotEdit(f"{self.key} is not a list of tables")
        ours = [table for table in tables if isinstance(table, dict) and table.get("name") == NAME]
        others = [table for table in tables if table not in ours]
        return Look(ours[0] if ours else None, repr((data, others)))

    def lines(self, entry: Entry) -> list[str]:
        return [f"[[{self.key}]]", *_pairs(entry)]

    def heads(self) -> str:
        return rf"{BEGINNING}\[\[[ \t]*[\"']?{self.key}[\"']?[ \t]*\]\]{REST}"


def _pairs(entry: Entry) -> Iterator[str]:
    for key, value in entry.items():
        yield f"{_key(key)} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(_pairs(value)) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | int | float | str):  # JSON's forms of these are TOML's, but for one control code
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _value(key)


def _trimmed(text: str, start: int, stop: int) -> int:
    """The end of the last line of a block that says something: what comments on the next block stays with it."""
    end = start
    for line in LINE.finditer(text, start, stop):
        if line[0] and not QUIET.match(line[0]):
            end = line.end()
    return end


def _without(text: str, start: int, stop: int) -> str:
    """The text without a block, and without the empty line that was put before it."""
    head, tail = text[:start], text[stop:]
    end = newline(text)
    if head.endswith(end + end):
        head = head.removesuffix(end)
    if not tail and not text.endswith("\n"):
        head = head.removesuffix(end)
    return head + tail
