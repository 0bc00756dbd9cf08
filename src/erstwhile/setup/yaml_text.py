"""YAML: our entry is put in and taken out as lines of a block, or inside the brackets of a flow.

The parser gives every value's place in the text; nothing is written back by it, so comments, anchors and tags stay.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from .places import NAME, Broken, CannotEdit, Entry, Look, Place, line_start, newline

PLAIN = re.compile(r"[A-Za-z/][\w/.-]*")
WORDS = frozenset("true false yes no on off null y n".split())
"""What YAML does not read as a text."""
ROW = f"mcp-{NAME}"


class YamlMap(Place):
    """A map of servers by name, under one key of the outermost map."""

    format = "YAML"

    def __init__(self, key: str) -> None:
        self.key = key

    def look(self, text: str) -> Look:
        root = _compose(text)
        if root is None:
            return Look(None, repr(([], [])))
        servers = self._servers(root)
        inner = servers[1].value if servers and isinstance(servers[1], yaml.MappingNode) else []
        ours = [value for key, value in inner if key.value == NAME]
        rest = [(plain(key), plain(value)) for key, value in root.value if key.value != self.key]
        others = [(plain(key), plain(value)) for key, value in inner if key.value != NAME]
        return Look(_built(ours[0]) if ours else None, repr((rest, others)))

    def insert(self, text: str, entry: Entry) -> str:
        root, end = _compose(text), newline(text)
        servers = self._servers(root) if root else None
        if root and root.flow_style:
            raise CannotEdit("its outermost map is written in brackets")
        if servers is None:
            return _appended(text, end.join([f"{self.key}:", *_block({NAME: entry}, "  ")]))
        key, value = servers
        if isinstance(value, yaml.MappingNode) and value.flow_style:
            return _in_flow(text, value, f"{json.dumps(NAME)}: {json.dumps(entry, ensure_ascii=False)}")
        column = value.value[0][0].start_mark.column if value.value else 2
        at = _line_end(text, key.end_mark.index)
        lines = end.join(_block({NAME: entry}, " " * column))
        return text[:at] + lines + end + text[at:] if text[:at].endswith("\n") else text + end + lines

    def delete(self, text: str) -> str:
        servers = self._servers(_compose(text))
        assert servers
        key, value = servers
        index = next(i for i, (name, _) in enumerate(value.value) if name.value == NAME)
        name, entry = value.value[index]
        if value.flow_style:
            return _out_of_flow(text, [k.start_mark.index for k, _ in value.value], index, entry)
        alone = len(value.value) == 1 and "#" not in text[key.end_mark.index : name.start_mark.index]
        stop = _leaf_end(entry)
        new = _without_lines(text, (key if alone else name).start_mark.index, stop)
        # Where the text had no last line end, the line before may want the one that it has now: it may end a `|` block.
        return self.first(
            (new, new + newline(text), _without_lines(text, name.start_mark.index, stop)), self.look(text).rest
        )

    def _servers(self, root: Any) -> tuple[Any, Any] | None:
        if not isinstance(root, yaml.MappingNode):
            raise CannotEdit("its outermost value is not a map")
        places = [(key, value) for key, value in root.value if key.value == self.key]
        if len(places) > 1:
            raise CannotEdit(f"{self.key} stands in it twice, again in line {places[1][0].start_mark.line + 1}")
        found = places[0] if places else None
        if found and not isinstance(found[1], yaml.MappingNode) and not _null(found[1]):
            raise CannotEdit(f"{self.key} in line {found[0].start_mark.line + 1} is not a map")
        return found


class YamlRows(Place):
    """A list of rows, of which one `insert`s ours."""

    format = "YAML"

    def look(self, text: str) -> Look:
        root = _compose(text)
        if root is not None and not isinstance(root, yaml.SequenceNode):
            raise CannotEdit("its outermost value is not a list")
        entry: Any = None
        rest: list[Any] = []
        for row in root.value if root else []:
            items = _inserted(row)
            ours = [item for item in items if _id(item) == ROW]
            entry = entry if entry is not None or not ours else _built(ours[0])
            if not ours:
                rest.append(plain(row))
            elif others := [plain(item) for item in items if item not in ours]:
                rest.append(others)
        return Look(entry, repr(rest))

    def insert(self, text: str, entry: Entry) -> str:
        root = _compose(text)
        if root is not None and root.flow_style:
            return _in_flow(text, root, json.dumps({"insert": [entry]}, ensure_ascii=False))
        indent = " " * (root.start_mark.column if root else 0)
        inner = _block(entry, indent + "      ")
        inner[0] = f"{indent}    - {inner[0].lstrip()}"
        return _appended(text, newline(text).join([f"{indent}- insert:", *inner]))

    def delete(self, text: str) -> str:
        root = _compose(text)
        assert root
        for index, row in enumerate(root.value):
            items = _inserted(row)
            for item in items:
                if _id(item) != ROW:
                    continue
                if root.flow_style:
                    new = _out_of_flow(text, [r.start_mark.index for r in root.value], index, row)
                elif len(items) == 1:
                    new = _without_lines(text, row.start_mark.index, _leaf_end(row))
                else:
                    new = _without_lines(text, item.start_mark.index, _leaf_end(item))
                # DSH does not start when the file holds comments alone.
                return new if _compose(new) is not None or self.empty(new) else _appended(new, "[]")
        raise CannotEdit("its row was not found")


def plain(node: Any) -> Any:
    """A value with its tags, in a form that can be compared; nothing is built from it."""
    if isinstance(node, yaml.MappingNode):
        return [(plain(key), plain(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    return node.tag, node.value


def _compose(text: str) -> Any:
    """The outermost value; None when there is none. Raises Broken."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        plain(root) if root else None
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Broken(mark.line + 1 if mark else 1, error.problem or "not YAML") from error
    except yaml.YAMLError as error:
        raise Broken(1, " ".join(str(error).split())) from error
    except RecursionError as error:
        raise Broken(1, "nested too deeply") from error


def _built(node: Any) -> Any:
    """The value itself; a text that says so where it holds what only its program can build."""
    try:
        return yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError:
        return "a value with a tag"


def _inserted(row: Any) -> list[Any]:
    """What a row inserts, when it does nothing else."""
    if not isinstance(row, yaml.MappingNode) or len(row.value) != 1:
        return []
    key, value = row.value[0]
    return list(value.value) if key.value == "insert" and isinstance(value, yaml.SequenceNode) else []


def _id(item: Any) -> Any:
    pairs = item.value if isinstance(item, yaml.MappingNode) else []
    return next((value.value for key, value in pairs if key.value == "id"), None)


def _null(node: Any) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


# -- writing -----------------------------------------------------------------------------------------------------------


def _block(entry: Entry, indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in entry.items():
        if isinstance(value, dict) and value:
            lines += [f"{indent}{_scalar(key)}:", *_block(value, indent + "  ")]
        else:
            lines.append(f"{indent}{_scalar(key)}: {_scalar(value)}")
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.isascii() and value.lower() not in WORDS:
        return value
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _appended(text: str, lines: str) -> str:
    """The lines behind the end of the text. A text without a last line end gets none there either."""
    end = newline(text)
    if not text.lstrip("\ufeff"):
        return text + lines + end
    return text + lines + end if text.endswith("\n") else text + end + lines


def _without_lines(text: str, start: int, stop: int) -> str:
    """The text without the lines from one position to another."""
    start, stop = line_start(text, start), _line_end(text, stop)
    head, tail = text[:start], text[stop:]
    return head.removesuffix(newline(text)) if not tail and not text.endswith("\n") else head + tail


def _line_end(text: str, position: int) -> int:
    """Where the next line begins."""
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _leaf_end(node: Any) -> int:
    """Where a value's text ends; a block's own mark stands behind the comments that follow it."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return node.end_mark.index
    last = node.value[-1]
    return _leaf_end(last[1] if isinstance(last, tuple) else last)


def _in_flow(text: str, node: Any, item: str) -> str:
    """The text with an item more before the closing bracket."""
    at = node.end_mark.index - 1
    while text[at - 1] in " \t\r\n":
        at -= 1
    comma = "" if not node.value or text[at - 1] == "," else ", "
    return text[:at] + comma + item + text[at:]


def _out_of_flow(text: str, starts: list[int], index: int, value: Any) -> str:
    stop = value.end_mark.index
    if index:
        before = text.rindex(",", 0, starts[index])
        return text[:before] + text[stop:]
    if len(starts) > 1:
        return text[: starts[0]] + text[starts[1] :]
    return text[: starts[0]] + text[stop:]
