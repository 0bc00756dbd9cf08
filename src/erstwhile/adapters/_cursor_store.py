"""The store of one chat of Cursor's command line: JSON messages by their hash, and protobuf nodes with their order."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..model import Event, Message, Part, Session, Skipped, Unknown
from ._cursor_text import folder, prompt
from ._parts import said
from ._sqlite import ask, fetched, json_of, select
from .base import ODD, compact, fields, items, odd, seconds, text_of

DEPTH = 4
"""How deep nodes may lie in each other."""
ORDER, WORKSPACE = 1, 9
"""Fields of the root: ids of messages or nodes, and the URI of the workspace."""
SILENT = frozenset(("image", "file", "redacted-reasoning", "source"))


def store(path: str) -> Iterator[Event]:
    """The session of the store. Raises SourceError."""
    meta, root, keys = ask(path, _looked_up)
    if not keys:
        yield Unknown("store without messages that can be read")
        return
    head = Session(
        f"cursor:{os.path.basename(os.path.dirname(path))}",
        title=text_of(meta.get("name")),
        cwd=next((folder(v.decode("utf-8", "replace")) for f, v in wire(root) if f == WORKSPACE), None),
        model=text_of(meta.get("lastUsedModel")),
        started=seconds(meta.get("createdAt")),
        messages=len(keys),
    )
    yield head
    tools: dict[str, str] = {}
    for index, (key, rows) in enumerate(fetched(path, keys, _blob)):
        if rows is None:
            yield Skipped(None, f"message {key} is too long")
        try:
            yield from (e for row in rows or () for e in _message(index, fields(json_of(row["data"])), tools, key))
        except ODD as error:
            yield Skipped(None, f"message {key}: {odd(0, error).reason}")


# -- order -------------------------------------------------------------------------------------------------------------


def _looked_up(db: sqlite3.Connection) -> tuple[dict[str, Any], bytes, list[str]]:
    """What the store says of itself, its root, and the ids of its messages in order."""
    select(db, "blobs", ("id", "data"))
    select(db, "meta", ("key", "value"))
    meta = _meta(db)
    latest = text_of(meta.get("latestRootBlobId")) or ""
    root = _data(db, latest)
    keys = list(_ordered(db, root, 0, {latest}))
    if not keys:  # without a root that can be read: as they were written
        keys = [str(r[0]) for r in db.execute("SELECT id FROM blobs WHERE substr(data, 1, 1) = X'7B' ORDER BY rowid")]
    return meta, root, keys


def _meta(db: sqlite3.Connection) -> dict[str, Any]:
    row = db.execute("SELECT value FROM meta WHERE key = '0'").fetchone()
    try:
        return fields(json_of(bytes.fromhex(row[0]))) if row else {}
    except (ValueError, TypeError):
        return {}


def _ordered(db: sqlite3.Connection, node: bytes, depth: int, seen: set[str]) -> Iterator[str]:
    """The ids of the messages that `node` lists, through nodes that list others."""
    for field, value in wire(node):
        key = value.hex()
        if field != ORDER or len(value) != 32 or key in seen:
            continue
        first = _data(db, key, "substr(data, 1, 1)")
        if first == b"{":
            yield key
        elif first and depth < DEPTH:
            yield from _ordered(db, _data(db, key), depth + 1, seen | {key})


def _data(db: sqlite3.Connection, key: str, what: str = "data") -> bytes:
    row = db.execute(f"SELECT {what} FROM blobs WHERE id = ?", (key,)).fetchone()
    value = row[0] if row else b""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _blob(db: sqlite3.Connection, key: str) -> list[sqlite3.Row]:
    return db.execute("SELECT data FROM blobs WHERE id = ?", (key,)).fetchall()


def wire(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(field, value) of the length-delimited fields of a protobuf message, as far as it is one."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = _varint(data, at)
            if at + size > len(data):
                return
            yield tag >> 3, data[at : at + size]
            at += size
        else:
            return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, where it ends)."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return value, at


# -- messages ----------------------------------------------------------------------------------------------------------


def _message(index: int, message: dict[str, Any], tools: dict[str, str], record: str) -> Iterator[Event]:
    role, content = message.get("role"), message.get("content")
    if role == "system":
        return
    if role not in ("user", "assistant", "tool"):
        yield Unknown(f"message of role {role}")
        return
    parts: list[Part] = []
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else map(fields, items(content)):
        found = _parts(block, role, tools)
        if found is None:
            yield Unknown(f"content {block.get('type')}")
        parts += [part._replace(record=record) for part in found or ()]
    if parts:
        yield Message(index, role, None, tuple(parts))


def _parts(block: dict[str, Any], role: str, tools: dict[str, str]) -> list[Part] | None:
    """None for a type that is not known. `tools` has the name of each call, for its result."""
    kind, text = block.get("type"), block.get("text")
    call = str(block.get("toolCallId"))
    if kind == "text":
        return said("user_text", prompt(text)) if role == "user" else said("assistant_text", text)
    if kind == "reasoning":
        return said("reasoning", text)
    if kind == "tool-call":
        tools[call] = name = text_of(block.get("toolName")) or "tool"
        given = block.get("args", block.get("input"))
        return said("tool_input", f"{name} {given if isinstance(given, str) else compact(given)}", name)
    if kind == "tool-result":
        result = block.get("result", block.get("output"))
        text = result if result is None or isinstance(result, str) else compact(result)
        failed = block.get("isError") is True
        return said("tool_error" if failed else "tool_output", text, text_of(block.get("toolName")) or tools.get(call))
    return [] if kind in SILENT else None
