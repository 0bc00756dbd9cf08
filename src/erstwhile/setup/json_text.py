"""JSON as agents' settings are written: with comments, trailing commas and a byte order mark where somebody put them.

Every value comes with its place in the text, so that an entry can be put in or taken out and no other byte moves.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .places import NAME, Broken, CannotEdit, Entry, Look, Place, line_at, newline

TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
COMMENT_TO_END = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=\r?\n))")
LINE_RESTS = re.compile(r"[ \t]*(?://|/\*[^\r\n]*?\*/[ \t]*\r?\n|\r?\n|\Z)")
"""What may be joined to the line before: a value behind it could end up in that line's comment."""
STRINGS = json.JSONDecoder()
DEEPEST = 200


class Member(NamedTuple):
    """`"key": value` of an object."""

    key: str
    start: int
    node: Node


class Node(NamedTuple):
    """A value, and where it stands."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()
    """Of an object."""


class JsonPlace(Place):
    """An object of servers by name, under one key of the outermost object."""

    format = "JSON"

    def __init__(self, key: str) -> None:
        self.key = key

    def look(self, text: str) -> Look:
        if _blank(text):
            return Look(None, repr({}))
        root = parse(text)
        servers = self._servers(text, root)
        rest = dict(root.value)
        inner: dict[str, Any] = dict(servers.node.value) if servers else {}
        entry = inner.pop(NAME, None)
        rest.pop(self.key, None)
        return Look(entry, repr((sorted(rest.items()), inner)) if rest or inner else repr({}))

    def insert(self, text: str, entry: Entry) -> str:
        if _blank(text):
            return text + json.dumps({self.key: {NAME: entry}}, indent=2, ensure_ascii=False) + "\n"
        root = parse(text)
        servers = self._servers(text, root)
        if servers is None:
            return _insert(text, root, root, self.key, {NAME: entry})
        return _insert(text, root, servers.node, NAME, entry)

    def delete(self, text: str) -> str:
        root = parse(text)
        servers = self._servers(text, root)
        assert servers
        index = max(i for i, member in enumerate(servers.node.members) if member.key == NAME)
        member = servers.node.members[index]
        around = text[servers.node.start + 1 : member.start] + text[member.node.end : servers.node.end - 1]
        if len(servers.node.members) == 1 and not around.strip(" \t\r\n,"):
            return _cut(text, root, root.members.index(servers))
        return _cut(text, servers.node, index)

    def _servers(self, text: str, root: Node) -> Member | None:
        """The member of that key. Raises CannotEdit when it is no object."""
        if not isinstance(root.value, dict):
            raise CannotEdit("its outermost value is not an object")
        places = [member for member in root.members if member.key == self.key]
        if len(places) > 1:
            raise CannotEdit(f'"{self.key}" stands in it twice, again in line {line_at(text, places[1].start)}')
        found = places[0] if places else None
        if found and not isinstance(found.node.value, dict):
            raise CannotEdit(f'"{self.key}" in line {line_at(text, found.start)} is not an object')
        return found


# -- reading -----------------------------------------------------------------------------------------------------------


def parse(text: str) -> Node:
    """The outermost value. Raises Broken."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise Broken(line_at(text, _skip(text, node.end)), "something stands behind the end")
    return node


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise Broken(line_at(text, at), "nested too deeply")
    first = text[at : at + 1]
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        return _array(text, at, depth)
    if first == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    scalar = SCALAR.match(text, at)
    if not scalar:
        raise Broken(line_at(text, at), "a value is missing" if first else "it ends too early")
    return Node(at, scalar.end(), json.loads(scalar[0]))


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise Broken(line_at(text, at), "a key in quotation marks is missing" if text[at:] else "it ends too early")
        key, end = _string(text, at)
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise Broken(line_at(text, colon), "a colon is missing")
        node = _value(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(key, at, node))
        at = _next(text, node.end, "}")
    return Node(start, at + 1, {member.key: member.node.value for member in members}, tuple(members))


def _array(text: str, start: int, depth: int) -> Node:
    values: list[Any] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        node = _value(text, at, depth + 1)
        values.append(node.value)
        at = _next(text, node.end, "]")
    return Node(start, at + 1, values)


def _next(text: str, at: int, closing: str) -> int:
    """Where the next one begins, or the closing bracket stands."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise Broken(line_at(text, at), f"a comma or {closing} is missing")
    return at


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        return STRINGS.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise Broken(line_at(text, error.pos), error.msg) from error


def _skip(text: str, at: int) -> int:
    """The next position that is neither space nor comment."""
    found = TRIVIA.match(text, at)
    return found.end() if found else at


def _blank(text: str) -> bool:
    return not text.lstrip("\ufeff").strip()


# -- writing -----------------------------------------------------------------------------------------------------------


def _insert(text: str, root: Node, node: Node, key: str, value: Any) -> str:
    """The text with a last member more, written as its neighbours are."""
    end, unit = newline(text), _unit(text, root)
    own = _indent(text, node.start)
    if node.members:
        before = text[_line(text, node.members[0].start) : node.members[0].start]
        spread = not before.strip() and "\n" in text[node.start : node.members[0].start]
        inner = before if spread else ""
    else:
        spread = "\n" in text.strip() or (node is root and not root.members)
        inner = own + unit
    member = _rendered(key, value, unit, inner, end) if spread else json.dumps(key) + ": " + _compact(value)
    gap = end + inner if spread else " "
    if not node.members:
        inside = text[node.start + 1 : node.end - 1]
        closing = "" if not spread or "\n" in inside else end + own
        cut = node.start + 1 + (len(inside) - len(inside.lstrip(" \t")) if "\n" not in inside else 0)
        return text[:cut] + (gap if spread else "") + member + closing + text[cut:]
    last = node.members[-1].node.end
    comma = _comma(text, last)
    at = last if comma is None else comma + 1
    after = COMMENT_TO_END.match(text, at) if spread else None
    put = after.end() if after else at
    if comma is not None:
        return text[:put] + gap + member + "," + text[put:]
    return text[:at] + "," + text[at:put] + gap + member + text[put:]


def _cut(text: str, node: Node, index: int) -> str:
    """The text without one member, and without the comma and the line that were its own."""
    member = node.members[index]
    comma = _comma(text, member.node.end)
    end = member.node.end if comma is None else comma + 1
    start = member.start
    while start and text[start - 1] in " \t":
        start -= 1
    if start and text[start - 1] == "\n" and LINE_RESTS.match(text, end):
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    head, tail = text[:start], text[end:]
    if comma is None and index:
        before = _comma(text, node.members[index - 1].node.end)
        assert before is not None
        head = text[:before] + text[before + 1 : start]
    if len(node.members) == 1 and not (text[node.start + 1 : start] + text[end : node.end - 1]).strip():
        head, tail = text[: node.start + 1], text[node.end - 1 :]
    return head + tail


def _comma(text: str, at: int) -> int | None:
    at = _skip(text, at)
    return at if text[at : at + 1] == "," else None


def _rendered(key: str, value: Any, unit: str, inner: str, end: str) -> str:
    lines = json.dumps({key: value}, indent=unit, ensure_ascii=False).split("\n")[1:-1]
    return (end + inner).join(line.removeprefix(unit) for line in lines)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unit(text: str, root: Node) -> str:
    """What one level is indented by."""
    if not root.members:
        return "  "
    before = text[_line(text, root.members[0].start) : root.members[0].start]
    return before if before and not before.strip() else "  "


def _indent(text: str, position: int) -> str:
    """The spaces that the line of a position begins with."""
    line = text[_line(text, position) : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1
