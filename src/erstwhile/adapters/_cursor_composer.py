"""Chats of the Cursor editor: `composerData:<id>` with its `bubbleId:<id>:<bubble>` rows, and the older chat tabs.

The databases also hold tokens and keys: only the keys named here are read, and of a value only the fields named here.
"""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Session, Skipped, Unknown
from ._cursor_text import folder, prompt
from ._parts import said
from ._sqlite import ask, columns, fetched, json_of
from .base import ODD, compact, fields, items, listing, odd, regular, seconds, side_object, text_of
from .cursor import COMPOSER, STATE, WORKSPACES

COMPOSERS = "composer.composerData"
TABS = "workbench.panel.aichat.view.aichat.chatdata"
USER, ASSISTANT = 1, 2
MAX_FILE = 1 << 20


def composer(path: str, native: str) -> Iterator[Event]:
    """The chat `native` of the editor's database; nothing when it is empty. Raises SourceError."""
    value, header = ask(path, lambda db: _looked_up(db, native))
    try:
        data = fields(json_of(value))
    except ValueError as error:
        raise SourceError(f"{COMPOSER}{native} in {path} is not valid JSON") from error
    listed = [text_of(fields(h).get("bubbleId")) for h in items(data.get("fullConversationHeadersOnly"))]
    inline = [fields(bubble) for bubble in items(data.get("conversation"))]
    if not listed and not inline:
        return
    head = _head(native, data, header)
    if head.cwd is None:
        user = os.path.dirname(os.path.dirname(path))
        head = head._replace(cwd=_workspace(user, native, text_of(header.get("workspaceId"))))
    yield head
    bubbles = (
        _bubbles(path, native, [b for b in listed if b]) if listed else ((str(n), b) for n, b in enumerate(inline))
    )
    index = 0
    for index, (name, bubble) in enumerate(bubbles, 1):
        if isinstance(bubble, str):
            yield Skipped(None, bubble)
            continue
        head = head._replace(cwd=head.cwd or _cwd(bubble))
        try:
            yield from _message(index - 1, bubble, text_of(bubble.get("bubbleId")) or name)
        except ODD as error:
            yield Skipped(None, f"bubble {name}: {odd(0, error).reason}")
    yield head._replace(messages=index)


def _looked_up(db: sqlite3.Connection, native: str) -> tuple[object, dict[str, Any]]:
    """The chat's value, and its row in the newer index of chats."""
    row = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (COMPOSER + native,)).fetchone()
    if row is None:
        raise SourceError(f"no chat {native} any more")
    wanted = columns(db, "composerHeaders") & {"workspaceId", "isArchived", "isSubagent"}
    if not wanted or "composerId" not in columns(db, "composerHeaders"):
        return row[0], {}
    chosen = f"SELECT {', '.join(sorted(wanted))} FROM composerHeaders WHERE composerId = ?"
    found = db.execute(chosen, (native,)).fetchone()
    return row[0], dict(found) if found else {}


def _head(native: str, data: dict[str, Any], header: dict[str, Any]) -> Session:
    identifier = fields(fields(data.get("workspaceIdentifier")).get("uri"))
    parent = text_of(fields(data.get("subagentInfo")).get("parentComposerId"))
    return Session(
        f"cursor:{native}",
        title=text_of(data.get("name")),
        cwd=text_of(identifier.get("fsPath")),
        model=text_of(fields(data.get("modelConfig")).get("modelName")),
        started=seconds(data.get("createdAt")),
        ended=seconds(data.get("lastUpdatedAt")),
        parent=f"cursor:{parent}" if parent else None,
        relation="subagent" if parent or header.get("isSubagent") == 1 else None,
        archived=data.get("isArchived") is True or header.get("isArchived") == 1,
    )


def _bubbles(path: str, native: str, names: list[str]) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """The bubbles in the order of the headers; an empty one for a header that has none."""

    def fetch(db: sqlite3.Connection, name: str) -> list[sqlite3.Row]:
        key = f"bubbleId:{native}:{name}"
        return db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchall()

    for name, rows in fetched(path, names, fetch):
        if rows is None:
            yield name, f"bubble {name} is too long"
            continue
        try:
            yield name, fields(json_of(rows[0]["value"])) if rows else {}
        except ValueError:
            yield name, f"bubble {name} is not valid JSON"


def _message(index: int, bubble: dict[str, Any], record: str) -> Iterator[Event]:
    kind = bubble.get("type")
    if kind == USER:
        role, parts = "user", said("user_text", prompt(bubble.get("text")))
    elif kind == ASSISTANT:
        role, parts = "assistant", said("reasoning", fields(bubble.get("thinking")).get("text"))
        parts += said("assistant_text", bubble.get("text")) + _tool(fields(bubble.get("toolFormerData")))
    else:
        if kind is not None:
            yield Unknown(f"bubble {kind}")
        return
    if parts:
        yield Message(index, role, seconds(bubble.get("createdAt")), tuple(p._replace(record=record) for p in parts))


def _tool(data: dict[str, Any]) -> list[Part]:
    """A call and its result."""
    name = text_of(data.get("name"))
    if name is None:
        return []
    given = _text(data.get("rawArgs")) or _text(data.get("params")) or ""
    parts = said("tool_input", f"{name} {given}".rstrip(), name)
    fault, result = _fault(data.get("error")), _text(data.get("result"))
    if fault or data.get("status") in ("error", "cancelled"):
        return parts + said("tool_error", fault or result, name)
    return parts + said("tool_output", result, name)


def _fault(error: object) -> str | None:
    """What an error says; it is JSON in text that holds it for the person and for the model."""
    if isinstance(error, str):
        try:
            error = json_of(error)
        except ValueError:
            return text_of(error)
    texts = (fields(error).get(f"{who}VisibleErrorMessage") for who in ("client", "model"))
    return next(filter(None, map(text_of, texts)), None) or (_text(error) if error else None)


def _text(value: object) -> str | None:
    return text_of(value) if value is None or isinstance(value, str) else compact(value)


# -- workspaces --------------------------------------------------------------------------------------------------------


def old_chats(path: str) -> Iterator[Event]:
    """The chats of the older panel, which a workspace's database keeps in one value. Raises SourceError."""
    value = ask(path, lambda db: _item(db, TABS))
    try:
        tabs = items(fields(json_of(value)).get("tabs"))
    except ValueError:
        yield Skipped(None, f"{TABS} is not valid JSON")
        return
    cwd = _folder(os.path.dirname(path))
    for tab in map(fields, tabs):
        native, bubbles = text_of(tab.get("tabId")), items(tab.get("bubbles"))
        if native is None or not bubbles:
            continue
        ended = seconds(tab.get("lastSendTime"))
        yield Session(f"cursor:{native}", text_of(tab.get("chatTitle")), cwd, ended=ended, messages=len(bubbles))
        for index, bubble in enumerate(map(fields, bubbles)):
            is_user = bubble.get("type") == "user"
            text = text_of(bubble.get("text")) or text_of(bubble.get("rawText"))
            if parts := said("user_text" if is_user else "assistant_text", text):
                yield Message(index, "user" if is_user else "assistant", None, tuple(parts))


def _cwd(bubble: dict[str, Any]) -> str | None:
    return next(filter(None, map(folder, items(bubble.get("workspaceUris")))), None)


def _workspace(user: str, native: str, identifier: str | None) -> str | None:
    """The folder of the workspace that holds the chat."""
    workspaces = os.path.join(user, WORKSPACES)
    if identifier:
        return _folder(os.path.join(workspaces, os.path.basename(identifier)))
    try:
        entries = listing(workspaces)
    except OSError:
        return None
    for entry in entries:
        path = os.path.join(entry.path, STATE)
        if not entry.is_dir(follow_symlinks=False) or not regular(path):
            continue
        stat = os.stat(path)
        if native in _composers(path, (stat.st_size, stat.st_mtime_ns)):
            return _folder(entry.path)
    return None


@functools.lru_cache(512)
def _composers(path: str, _stamp: tuple[int, int]) -> frozenset[str]:
    """The ids of the chats that a workspace lists, asked once while its database stays as it is."""
    try:
        listed = items(fields(json_of(ask(path, lambda db: _item(db, COMPOSERS)))).get("allComposers"))
    except (SourceError, ValueError):
        return frozenset()
    return frozenset(str(fields(one).get("composerId")) for one in listed)


def _item(db: sqlite3.Connection, key: str) -> object:
    """One value of ItemTable, which also holds what must never be read."""
    if "value" not in columns(db, "ItemTable"):
        return None
    row = db.execute("SELECT value FROM ItemTable WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def _folder(workspace: str) -> str | None:
    """The folder that a workspace stands for."""
    return folder(side_object(os.path.join(workspace, "workspace.json"), MAX_FILE).get("folder"))
