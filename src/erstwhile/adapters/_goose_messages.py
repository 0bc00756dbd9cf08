"""Goose's messages, from rows of its database or lines of its older files, as parts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Session, Skipped, Unknown
from ._parts import said
from ._sqlite import ask, columns, fetched, json_of, select
from .base import ODD, JsonLines, compact, fields, items, odd, seconds, text_of
from .goose import utc

SCHEMA = 16
"""The newest schema that this was written for."""
SILENT = frozenset(
    (
        "image",
        "document",
        "redactedThinking",
        "systemNotification",
        "contextLengthExceeded",
        "summarizationRequested",
        "toolConfirmationRequest",
        "actionRequired",
    )
)
"""Known content without text of the conversation."""
HEAD = (
    "name",
    "description",
    "session_type",
    "working_dir",
    "created_at",
    "provider_name",
    "model_config_json",
    "archived_at",
    "parent_session_id",
)
MESSAGE = ("message_id", "created_timestamp", "timestamp", "metadata_json")


def session(path: str, native: str) -> Iterator[Event]:
    """The session `native` of the database. Raises SourceError."""
    head, keys, version = ask(path, lambda db: _looked_up(db, native))
    if version > SCHEMA:
        yield Unknown(f"schema version {version}")
    yield _head(head)
    blocks = Blocks()
    for index, (key, rows) in enumerate(fetched(path, keys, _message)):
        if rows is None:
            yield Skipped(None, f"message {key} is too long")
        for row in rows or ():
            try:
                if fields(_json(row["metadata_json"])).get("userVisible") is False:
                    continue
                time = seconds(row["created_timestamp"]) or seconds(utc(row["timestamp"]))
                yield from blocks.message(index, row["role"], time, json_of(row["content_json"]), row["message_id"])
            except ODD as error:
                yield Skipped(None, f"message {key}: {odd(0, error).reason}")
    yield _head(head)._replace(messages=len(keys))


def legacy(path: str) -> Iterator[Event]:
    """The session of one older file: a line about it, then its messages."""
    native = os.path.basename(path).removesuffix(".jsonl")
    lines = JsonLines(path)
    blocks, index = Blocks(), 0
    head = Session(f"goose:{native}")
    for line, row in lines:
        if "role" not in row:
            if line == 1:
                head = head._replace(title=text_of(row.get("description")), cwd=text_of(row.get("working_dir")))
                yield head
            continue
        if index == 0 and head.cwd is None:
            yield head
        try:
            yield from blocks.message(index, row["role"], seconds(row.get("created")), row.get("content"), None)
        except ODD as error:
            yield odd(line, error)
        index += 1
    yield from lines.skipped
    if index:
        yield head._replace(messages=index)


# -- the database ------------------------------------------------------------------------------------------------------


def _looked_up(db: sqlite3.Connection, native: str) -> tuple[sqlite3.Row, list[int], int]:
    chosen = select(db, "sessions", ("id",), HEAD)
    head = db.execute(f"SELECT {chosen} FROM sessions WHERE id = ?", (native,)).fetchone()
    if head is None:
        raise SourceError(f"no session {native} any more")
    select(db, "messages", ("id", "session_id", "role", "content_json"))
    keys = [row[0] for row in db.execute("SELECT id FROM messages WHERE session_id = ? ORDER BY id", (native,))]
    return head, keys, _version(db)


def _version(db: sqlite3.Connection) -> int:
    if "version" not in columns(db, "schema_version"):
        return 0
    version = db.execute("SELECT max(version) FROM schema_version").fetchone()[0]
    return version if isinstance(version, int) else 0


def _message(db: sqlite3.Connection, key: int) -> list[sqlite3.Row]:
    chosen = select(db, "messages", ("role", "content_json"), MESSAGE)
    return db.execute(f"SELECT {chosen} FROM messages WHERE id = ?", (key,)).fetchall()


def _head(row: sqlite3.Row) -> Session:
    try:
        model = text_of(fields(_json(row["model_config_json"])).get("model_name"))
    except ValueError:
        model = None
    parent = text_of(row["parent_session_id"])
    return Session(
        f"goose:{row['id']}",
        title=text_of(row["name"]) or text_of(row["description"]),
        cwd=text_of(row["working_dir"]),
        model="/".join(filter(None, (text_of(row["provider_name"]), model))) or None if model else None,
        started=seconds(utc(row["created_at"])),
        parent=f"goose:{parent}" if parent else None,
        relation="subagent" if row["session_type"] == "sub_agent" else None,
        archived=row["archived_at"] is not None,
    )


def _json(value: object) -> Any:
    return json_of(value) if isinstance(value, (str, bytes)) else None


# -- content -----------------------------------------------------------------------------------------------------------


class Blocks:
    """Turns content into parts; remembers the tool of each call until its result comes."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}

    def message(self, index: int, role: object, time: float | None, content: object, record: object) -> Iterator[Event]:
        """The message's parts, or the content types that nobody has seen."""
        parts: list[Part] = []
        for number, block in enumerate(map(fields, items(content))):
            kind = block.get("type")
            found = self._parts(str(kind), block, role == "assistant")
            if found is None:
                yield Unknown(f"content {kind}")
            own = f"{record}.{number}" if text_of(record) else None
            parts += [part._replace(record=own) for part in found or ()]
        if parts:
            results = all(part.kind in ("tool_output", "tool_error") for part in parts)
            speaker = "assistant" if role == "assistant" else "user"
            yield Message(index, "tool" if results else speaker, time, tuple(parts))

    def _parts(self, kind: str, block: dict[str, Any], assistant: bool) -> list[Part] | None:
        """None for a type that is not known."""
        if kind == "text":
            return said("assistant_text" if assistant else "user_text", block.get("text"))
        if kind == "thinking":
            return said("reasoning", block.get("thinking"))
        if kind in ("toolRequest", "frontendToolRequest"):
            return self._call(block)
        if kind == "toolResponse":
            return self._result(block)
        if kind == "error":
            return said("tool_error", block.get("message"))
        return [] if kind in SILENT else None

    def _call(self, block: dict[str, Any]) -> list[Part]:
        call = fields(block.get("toolCall"))
        value = fields(call.get("value"))
        name = text_of(value.get("name"))
        if name is None:
            return said("tool_error", call.get("error"))
        self._tools[str(block.get("id"))] = name
        arguments = value.get("arguments")
        return said("tool_input", f"{name} {compact(arguments)}" if arguments is not None else name, name)

    def _result(self, block: dict[str, Any]) -> list[Part]:
        name = self._tools.pop(str(block.get("id")), None)
        result = fields(block.get("toolResult"))
        if result.get("status") == "error":
            return said("tool_error", result.get("error"), name)
        value = result.get("value")
        failed = fields(value).get("isError") is True
        texts = [text_of(fields(item).get("text")) for item in items(fields(value).get("content", value))]
        # The same text comes once for the model and once for the person.
        text = "\n".join(dict.fromkeys(filter(None, texts)))
        return said("tool_error" if failed else "tool_output", text, name)
