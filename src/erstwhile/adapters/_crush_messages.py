"""Crush's messages: rows whose `parts` are a JSON list of `{type, data}`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Session, Skipped, Unknown
from ._parts import said
from ._sqlite import ask, fetched, json_of, select
from .base import ODD, fields, items, odd, seconds, text_of

ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
SILENT = frozenset(("image_url", "binary", "finish"))
HEAD = ("title", "parent_session_id", "created_at")
MESSAGE = ("id", "model", "created_at", "is_summary_message")


def session(path: str, native: str, cwd: str | None) -> Iterator[Event]:
    """The session `native` of the database, which belongs to the project `cwd`. Raises SourceError."""
    row, keys = ask(path, lambda db: _looked_up(db, native))
    parent = text_of(row["parent_session_id"])
    head = Session(
        f"crush:{native}",
        title=text_of(row["title"]),
        cwd=cwd,
        started=seconds(row["created_at"]),
        parent=f"crush:{parent}" if parent else None,
        relation="subagent" if parent else None,
    )
    yield head
    for index, (key, rows) in enumerate(fetched(path, keys, _message)):
        if rows is None:
            yield Skipped(None, f"message in row {key} is too long")
        for row in rows or ():
            head = head._replace(model=text_of(row["model"]) or head.model)
            try:
                yield from _events(index, row)
            except ODD as error:
                yield Skipped(None, f"message {row['id']}: {odd(0, error).reason}")
    yield head._replace(messages=len(keys))


def _looked_up(db: sqlite3.Connection, native: str) -> tuple[sqlite3.Row, list[int]]:
    chosen = select(db, "sessions", ("id",), HEAD)
    row = db.execute(f"SELECT {chosen} FROM sessions WHERE id = ?", (native,)).fetchone()
    if row is None:
        raise SourceError(f"no session {native} any more")
    select(db, "messages", ("session_id", "role", "parts"))
    keys = [key[0] for key in db.execute("SELECT rowid FROM messages WHERE session_id = ? ORDER BY rowid", (native,))]
    return row, keys


def _message(db: sqlite3.Connection, key: int) -> list[sqlite3.Row]:
    chosen = select(db, "messages", ("role", "parts"), MESSAGE)
    return db.execute(f"SELECT {chosen} FROM messages WHERE rowid = ?", (key,)).fetchall()


def _events(index: int, row: sqlite3.Row) -> Iterator[Event]:
    role = ROLES.get(row["role"])
    if role is None:
        yield Unknown(f"message of role {row['role']}")
        return
    text = "summary" if row["is_summary_message"] == 1 else f"{role}_text"
    parts: list[Part] = []
    for number, item in enumerate(map(fields, items(json_of(row["parts"])))):
        kind = item.get("type")
        found = _parts(str(kind), fields(item.get("data")), text)
        if found is None:
            yield Unknown(f"part {kind}")
        parts += [part._replace(record=f"{row['id']}.{number}") for part in found or ()]
    if parts and role != "system":
        yield Message(index, role, seconds(row["created_at"]), tuple(parts))


def _parts(kind: str, data: dict[str, Any], text: str) -> list[Part] | None:
    """None for a type that is not known."""
    if kind == "text":
        return said(text if text in ("user_text", "summary") else "assistant_text", data.get("text"))
    if kind == "reasoning":
        return said("reasoning", data.get("thinking"))
    if kind == "tool_call":
        name = text_of(data.get("name")) or "tool"
        return said("tool_input", f"{name} {text_of(data.get('input')) or ''}".rstrip(), name)
    if kind == "tool_result":
        failed = data.get("is_error") is True
        return said("tool_error" if failed else "tool_output", data.get("content"), text_of(data.get("name")))
    if kind == "shell_command":  # typed by the person
        failed = data.get("exit_code") not in (0, None)
        command = text_of(data.get("command"))
        typed = said("tool_input", f"shell {command}", "shell") if command else []
        return typed + said("tool_error" if failed else "tool_output", data.get("output"), "shell")
    return [] if kind in SILENT else None
