"""OpenCode's messages and parts, from its database or its JSON files: the same objects in both."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Session, Skipped, Unknown
from ._parts import said
from ._sqlite import ask, columns, fetched, json_of, select
from .base import ODD, compact, decode, fields, items, listing, odd, regular, seconds, text_of
from .opencode import Tree

MAX_FILE = 64 << 20
ROLES = frozenset(("user", "assistant"))
SILENT = frozenset(("file", "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction"))
"""Known parts without text of the conversation."""
HEAD = ("parent_id", "directory", "title", "revert", "model", "time_created", "time_updated", "time_archived")


# -- the database ------------------------------------------------------------------------------------------------------


def stored(path: str, native: str) -> Iterator[Event]:
    """The session `native` of the database. Raises SourceError."""
    row, keys, others = ask(path, lambda db: _looked_up(db, native))
    yield from (Unknown(f"session_message {kind}") for kind in others)
    try:
        revert = fields(json_of(row["revert"]))
    except ValueError:
        revert = {}
    info = {
        "parentID": row["parent_id"],
        "directory": row["directory"],
        "title": row["title"],
        "time": {"created": row["time_created"], "archived": row["time_archived"]},
    }
    conversation = Conversation(native, info, revert)
    yield conversation.head
    for key, rows in fetched(path, keys, _message):
        if rows is None:
            conversation.index += 1
            yield Skipped(None, f"message {key} is too long")
        elif rows:
            yield from conversation.message(key, _decoded(rows[0]), ((r["id"], _decoded(r)) for r in rows[1:]))
    yield conversation.head


def _looked_up(db: sqlite3.Connection, native: str) -> tuple[sqlite3.Row, list[str], list[str]]:
    chosen = select(db, "session", ("id",), HEAD)
    row = db.execute(f"SELECT {chosen} FROM session WHERE id = ?", (native,)).fetchone()
    if row is None:
        raise SourceError(f"no session {native} any more")
    order = select(db, "message", ("id",), ("time_created",))
    found = db.execute(f"SELECT {order} FROM message WHERE session_id = ? ORDER BY 2, 1", (native,))
    keys = [str(key[0]) for key in found]
    others: list[str] = []
    if not keys and "session_id" in columns(db, "session_message"):
        others = [str(r[0]) for r in db.execute("SELECT type FROM session_message WHERE session_id = ?", (native,))]
    return row, keys, others


def _message(db: sqlite3.Connection, key: str) -> list[sqlite3.Row]:
    """The message's row and those of its parts, in order."""
    found = db.execute("SELECT id, data FROM message WHERE id = ?", (key,)).fetchall()
    return found + db.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (key,)).fetchall()


def _decoded(row: sqlite3.Row) -> dict[str, Any] | str:
    try:
        return fields(json_of(row["data"]))
    except ValueError:
        return f"{row['id']} is not valid JSON"


# -- the tree of files -------------------------------------------------------------------------------------------------


def written(tree: Tree) -> Iterator[Event]:
    """The session whose files `tree` names. Raises SourceError."""
    info = _file(tree.info)
    if isinstance(info, str):
        raise SourceError(f"cannot read {tree.info}: {info}")
    conversation = Conversation(tree.native, info, fields(info.get("revert")))
    yield conversation.head
    found = [(native, _file(path)) for native, path in _below(tree.messages)]
    for native, message in sorted(found, key=lambda pair: (_created(pair[1]), pair[0])):
        inline = items(message.get("parts")) if isinstance(message, dict) else []
        parts = [(str(fields(part).get("id")), fields(part)) for part in inline]
        files = _below(os.path.join(tree.parts, native))
        yield from conversation.message(native, message, parts or ((name, _file(path)) for name, path in files))
    yield conversation.head


def _created(message: dict[str, Any] | str) -> float:
    return seconds(fields(message.get("time")).get("created")) or 0.0 if isinstance(message, dict) else 0.0


def _below(folder: str) -> list[tuple[str, str]]:
    """(id, path) of the JSON files in the folder, by id."""
    try:
        entries = listing(folder)
    except OSError:
        return []
    return [(e.name.removesuffix(".json"), e.path) for e in entries if e.name.endswith(".json")]


def _file(path: str) -> dict[str, Any] | str:
    """The object in the file, or why there is none."""
    name = os.path.basename(path)
    if not regular(path):
        return f"{name} is not a regular file"
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
        return fields(decode(data)) if len(data) <= MAX_FILE else f"{name} is too long"
    except OSError as error:
        return f"{name}: {error.strerror or error}"
    except ValueError:
        return f"{name} is not valid JSON"


# -- messages ----------------------------------------------------------------------------------------------------------


class Conversation:
    """Turns messages with their parts, in order, into events; the head knows the model once they have been read."""

    def __init__(self, native: str, info: dict[str, Any], revert: dict[str, Any]) -> None:
        times = fields(info.get("time"))
        parent = text_of(info.get("parentID"))
        self._head = Session(
            f"opencode:{native}",
            title=text_of(info.get("title")),
            cwd=text_of(info.get("directory")),
            started=seconds(times.get("created")),
            parent=f"opencode:{parent}" if parent else None,
            relation="subagent" if parent else None,
            archived=bool(times.get("archived")),
        )
        self._message, self._part = text_of(revert.get("messageID")), text_of(revert.get("partID"))
        self._undone = False
        self.index = 0

    @property
    def head(self) -> Session:
        return self._head._replace(messages=self.index) if self.index else self._head

    def message(
        self, native: str, message: dict[str, Any] | str, parts: Iterator[tuple[str, Any]] | list[tuple[str, Any]]
    ) -> Iterator[Event]:
        """The message's events. What `session.revert` took back is left out, as OpenCode leaves it out."""
        index = self.index
        self.index += 1
        if isinstance(message, str):
            yield Skipped(None, message)
            return
        role = message.get("role")
        if role not in ROLES:
            yield Unknown(f"message of role {role}")
            return
        reverted = native == self._message
        if self._undone or (reverted and self._part is None):
            self._undone = True
            return
        self._model(message)
        time = seconds(fields(message.get("time")).get("created"))
        kept: list[Part] = []
        for name, part in parts:
            if reverted and name == self._part:
                break
            if isinstance(part, str):
                yield Skipped(None, part)
                continue
            try:
                found = _parts(part, role, message.get("summary") is True)
            except ODD as error:
                yield Skipped(None, f"{name}: {odd(0, error).reason}")
                continue
            if found is None:
                yield Unknown(f"part {part.get('type')}")
            kept += [one._replace(record=name) for one in found or ()]
        self._undone = reverted
        if kept:
            yield Message(index, role, time, tuple(kept))

    def _model(self, message: dict[str, Any]) -> None:
        named = fields(message.get("model")) or message
        provider, model = text_of(named.get("providerID")), text_of(named.get("modelID"))
        if model:
            self._head = self._head._replace(model=f"{provider}/{model}" if provider else model)


def _parts(part: dict[str, Any], role: str, summary: bool) -> list[Part] | None:
    """What a part says; None for a type that is not known."""
    kind = part.get("type")
    if kind == "text":
        if part.get("synthetic") or part.get("ignored"):
            return []
        return said("user_text" if role == "user" else "summary" if summary else "assistant_text", part.get("text"))
    if kind == "reasoning":
        return said("reasoning", part.get("text"))
    if kind == "tool":
        return _tool(part)
    if kind == "subtask":
        return said("tool_input", part.get("prompt"), text_of(part.get("agent")) or "task")
    return [] if kind in SILENT else None


def _tool(part: dict[str, Any]) -> list[Part]:
    """A call and, once it has ended, its result."""
    name = text_of(part.get("tool")) or "tool"
    state = fields(part.get("state"))
    given, status = state.get("input"), state.get("status")
    parts = said("tool_input", f"{name} {compact(given)}" if given is not None else name, name)
    if status == "error":
        return parts + said("tool_error", state.get("error"), name)
    if status == "pending":
        return parts if given else []
    failed = fields(state.get("metadata")).get("exit") not in (0, None)
    return parts + said("tool_error" if failed else "tool_output", state.get("output"), name)
