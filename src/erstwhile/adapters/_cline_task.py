"""One task of Cline or of an agent made from it, on its way to events: which of its files is read, and its head.

What stands in a message is taken apart by `_cline_text` (for the model) and `_cline_window` (for the person).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Session, Skipped, Unknown
from ._cline_text import Conversation, folder_in
from ._cline_window import Window
from ._listing import stamp_of
from ._whole_file import whole_value
from .base import ODD, fields, items, odd, regular, seconds, text_of
from .cline import API, WINDOWS, task_lists


class Task:
    """One task's folder, whose name is the session's id."""

    def __init__(self, agent: str, folder: str) -> None:
        self.agent, self.folder = agent, folder
        self.native = os.path.basename(folder)
        self.skipped: list[Skipped] = []
        self.unknown: list[str] = []

    def events(self) -> Iterator[Event]:
        shown = self._window()
        rows, error = _array(os.path.join(self.folder, API))
        if rows is None and shown is None:
            raise error or SourceError(f"cannot read {self.folder}: no conversation in it")
        if error and os.path.lexists(os.path.join(self.folder, API)):
            self.skipped.append(Skipped(None, f"{error}; read from what the window showed"))
        window = Window(shown or [])
        messages = self._window_messages(window) if rows is None else self._messages(rows, window)
        yield self._head(rows if rows is not None else shown or [], window)
        yield from messages
        yield from (Unknown(kind) for kind in self.unknown)
        yield from self.skipped

    def _window(self) -> list[Any] | None:
        for name in WINDOWS:
            path = os.path.join(self.folder, name)
            if regular(path):
                rows, error = _array(path)
                if error:
                    self.skipped.append(Skipped(None, str(error)))
                return rows
        return None

    def _messages(self, rows: list[Any], window: Window) -> Iterator[Message]:
        conversation = Conversation(self.unknown)
        for index, row in enumerate(rows):
            try:
                role, parts = conversation.message(fields(row))
                if parts:
                    time = seconds(fields(row).get("ts")) or window.time(index, parts)
                    yield Message(index, role, time, tuple(parts))
            except ODD as error:
                self.skipped.append(odd(index + 1, error))

    def _window_messages(self, window: Window) -> Iterator[Message]:
        for index in range(len(window.rows)):
            try:
                message = window.message(index, self.unknown)
                if message is not None:
                    yield message
            except ODD as error:
                self.skipped.append(odd(index + 1, error))

    # -- the head ------------------------------------------------------------------------------------------------------

    def _head(self, rows: list[Any], window: Window) -> Session:
        item = self._item()
        meta = _object(os.path.join(self.folder, "task_metadata.json"))
        models = [text_of(fields(use).get("model_id")) for use in items(meta.get("model_usage"))]
        parent = text_of(item.get("parentTaskId"))
        return Session(
            f"{self.agent}:{self.native}",
            title=text_of(item.get("task")),
            cwd=text_of(item.get("cwdOnTaskInitialization")) or text_of(item.get("workspace")) or _folder(rows),
            model=next((m for m in reversed(models) if m), None) or text_of(item.get("modelId")),
            started=window.started or (seconds(int(self.native)) if self.native.isdecimal() else None),
            ended=window.ended,
            parent=f"{self.agent}:{parent}" if parent else None,
            relation="subagent" if parent else None,
            messages=len(rows),
        )

    def _item(self) -> dict[str, Any]:
        """What the list of tasks says of this one; Roo's own file in the task's folder comes first."""
        own = _object(os.path.join(self.folder, "history_item.json"))
        for path in () if own else task_lists(os.path.dirname(self.folder)):
            if stamp := stamp_of(path):
                own = own or _listed(path, stamp).get(self.native, {})
        return own


@lru_cache(maxsize=4)
def _listed(path: str, _stamp: str) -> dict[str, dict[str, Any]]:
    """The listed tasks by id. All tasks of a home are read one after another, and each asks."""
    if not regular(path):
        return {}
    try:
        value = whole_value(path)
    except SourceError:
        return {}
    rows = value if isinstance(value, list) else items(fields(value).get("entries"))
    return {str(fields(row).get("id")): fields(row) for row in rows}


def _array(path: str) -> tuple[list[Any] | None, SourceError | None]:
    """The file's records; None, and why, when there are none to read."""
    if not regular(path):
        return None, SourceError(f"cannot read {path}: no such file, or not a regular one")
    try:
        value = whole_value(path)
    except SourceError as error:
        return None, error
    if isinstance(value, list):
        return value, None
    return None, SourceError(f"cannot read {path}: a JSON {type(value).__name__}, not an array")


def _object(path: str) -> dict[str, Any]:
    try:
        return fields(whole_value(path)) if regular(path) else {}
    except SourceError:
        return {}


def _folder(rows: list[Any]) -> str | None:
    """The folder that the first message tells the model it works in."""
    for row in rows[:1]:
        content = fields(row).get("content")
        texts = [content] if isinstance(content, str) else [fields(block).get("text") for block in items(content)]
        for text in texts:
            if isinstance(text, str) and (found := folder_in(text)):
                return found
    return None
