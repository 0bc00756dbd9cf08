"""Hermes's messages, as Hermes itself shows them: live ones and those a compaction put away, not those taken back."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Session, Skipped, Unknown
from ._parts import said
from ._sqlite import ask, columns, fetched, json_of, select
from .base import ODD, fields, items, odd, seconds, text_of

SCHEMA = 30
"""The newest schema that this was written for."""
ROLES = frozenset(("user", "assistant", "tool"))
SILENT = frozenset(("system", "session_meta", "developer"))
HEAD = tuple("source model model_config parent_session_id started_at ended_at title cwd git_branch archived".split())
MESSAGE = tuple(
    """content tool_call_id tool_calls tool_name timestamp reasoning reasoning_content active compacted
    _compressed_summary display_kind display_order""".split()
)
PACKED = ("\x00json:", "\x01json:")
"""Starts content that is a list of pieces."""
SUMMARY = "[CONTEXT COMPACTION"
_NOTE = re.compile(r"\A\s*\[System note:[^\]]*\]\s*")
"""What Hermes puts before a person's words."""


def session(path: str, native: str) -> Iterator[Event]:
    """The session `native` of the database. Raises SourceError."""
    row, ended_by, keys, version = ask(path, lambda db: _looked_up(db, native))
    if version > SCHEMA:
        yield Unknown(f"schema version {version}")
    head = _head(row, ended_by)
    yield head
    shown = Shown()
    for index, (key, rows) in enumerate(fetched(path, keys, _message)):
        if rows is None:
            yield Skipped(None, f"message {key} is too long")
        for row in rows or ():
            try:
                yield from shown.events(index, row)
            except ODD as error:
                yield Skipped(None, f"message {key}: {odd(0, error).reason}")
    yield head._replace(messages=len(keys))


def _looked_up(db: sqlite3.Connection, native: str) -> tuple[sqlite3.Row, object, list[int], int]:
    chosen = select(db, "sessions", ("id",), HEAD)
    row = db.execute(f"SELECT {chosen} FROM sessions WHERE id = ?", (native,)).fetchone()
    if row is None:
        raise SourceError(f"no session {native} any more")
    ended_by = None
    if "end_reason" in columns(db, "sessions"):
        found = db.execute("SELECT end_reason FROM sessions WHERE id = ?", (row["parent_session_id"],)).fetchone()
        ended_by = found[0] if found else None
    select(db, "messages", ("id", "session_id", "role"))
    keys = [key[0] for key in db.execute("SELECT id FROM messages WHERE session_id = ? ORDER BY id", (native,))]
    version = 0
    if "version" in columns(db, "schema_version"):
        version = db.execute("SELECT max(version) FROM schema_version").fetchone()[0]
    return row, ended_by, keys, version if isinstance(version, int) else 0


def _message(db: sqlite3.Connection, key: int) -> list[sqlite3.Row]:
    chosen = select(db, "messages", ("id", "role"), MESSAGE)
    return db.execute(f"SELECT {chosen} FROM messages WHERE id = ?", (key,)).fetchall()


def _head(row: sqlite3.Row, ended_by: object) -> Session:
    try:
        config = fields(json_of(row["model_config"]))
    except ValueError:
        config = {}
    links = ("_delegate_from", "_branched_from", "_reset_from")
    parent = text_of(row["parent_session_id"]) or next(filter(None, (text_of(config.get(k)) for k in links)), None)
    return Session(
        f"hermes:{row['id']}",
        title=text_of(row["title"]),
        cwd=text_of(row["cwd"]),
        branch=text_of(row["git_branch"]),
        model=text_of(row["model"]),
        started=seconds(row["started_at"]),
        ended=seconds(row["ended_at"]),
        parent=f"hermes:{parent}" if parent else None,
        relation=_relation(row, config, ended_by),
        archived=row["archived"] == 1,
    )


def _relation(row: sqlite3.Row, config: dict[str, Any], ended_by: object) -> str | None:
    if config.get("_delegate_from") or row["source"] == "subagent":
        return "subagent"
    if config.get("_branched_from"):
        return "fork"
    return "compaction" if ended_by == "compression" else None


class Shown:
    """Turns rows into messages; remembers what a row that was copied by a compaction was a copy of."""

    def __init__(self) -> None:
        self._orders: set[object] = set()
        self._tools: dict[str, str] = {}

    def events(self, index: int, row: sqlite3.Row) -> Iterator[Event]:
        role = row["role"]
        if role not in ROLES:
            if role not in SILENT:
                yield Unknown(f"message of role {role}")
            return
        if not self._is_shown(row):
            return
        if parts := tuple(self._parts(role, row)):
            yield Message(index, role, seconds(row["timestamp"]), parts)

    def _is_shown(self, row: sqlite3.Row) -> bool:
        if row["active"] == 0 and row["compacted"] != 1:
            return False
        if row["display_kind"] is not None and row["_compressed_summary"] != 1:
            return False
        order = row["display_order"]
        if order is None:
            return True
        again = order in self._orders
        self._orders.add(order)
        return not again

    def _parts(self, role: str, row: sqlite3.Row) -> Iterator[Part]:
        text = _content(row["content"])
        if role == "tool":
            tool = text_of(row["tool_name"]) or self._tools.get(str(row["tool_call_id"]))
            yield from said("tool_error" if _failed(text) else "tool_output", text, tool)
        elif role == "user":
            summary = row["_compressed_summary"] == 1 or (text or "").startswith(SUMMARY)
            yield from said("summary", text) if summary else said("user_text", _NOTE.sub("", text or ""))
        else:
            yield from said("reasoning", text_of(row["reasoning_content"]) or row["reasoning"])
            yield from said("summary" if row["_compressed_summary"] == 1 else "assistant_text", text)
            yield from self._calls(row["tool_calls"])

    def _calls(self, calls: object) -> Iterator[Part]:
        for call in map(fields, items(json_of(calls))):
            function = fields(call.get("function"))
            name = text_of(function.get("name")) or "tool"
            self._tools[str(call.get("id"))] = name
            yield from said("tool_input", f"{name} {text_of(function.get('arguments')) or ''}".rstrip(), name)


def _content(value: object) -> str | None:
    """The text of a content column; of a list of pieces that of its text pieces."""
    if not isinstance(value, str) or not value.startswith(PACKED):
        return text_of(value)
    pieces = json_of(value.partition("json:")[2])
    if isinstance(pieces, str):
        return pieces
    texts = (text_of(fields(piece).get("text")) for piece in items(pieces))
    return "\n".join(filter(None, texts))


def _failed(text: str | None) -> bool:
    """Whether a tool's result says that it failed; Hermes keeps no flag."""
    if text is None or text.startswith("Error"):
        return text is not None
    if not text.startswith("{"):
        return False
    try:
        result = fields(json_of(text))
    except ValueError:
        return False
    return bool(result.get("error")) or result.get("exit_code") not in (0, None)
