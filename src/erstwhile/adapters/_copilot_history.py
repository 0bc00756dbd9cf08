"""The oldest sessions of Copilot CLI: one JSON file with the messages as they were sent to the model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..model import Event, Message, Part, Session, Skipped
from ._whole_file import whole_file
from .base import ODD, compact, fields, items, odd, seconds, text_of

INJECTED = ("current_datetime", "reminder", "system_reminder")
"""Blocks that the host puts before and after what the person wrote."""


def history(path: str) -> Iterator[Event]:
    """The file's session and its messages; raises SourceError when it cannot be read."""
    record = whole_file(path)
    native = text_of(record.get("sessionId")) or os.path.basename(path).removesuffix(".json")
    messages = items(record.get("chatMessages"))
    started = seconds(record.get("startTime"))
    tools: dict[str, str] = {}
    yielded = False
    for index, message in enumerate(messages):
        try:
            role, parts = _message(message, tools)
        except ODD as error:
            yield Skipped(None, f"message {index}: {odd(0, error).reason}")
            continue
        if not parts:
            continue
        if not yielded:
            yield Session(f"copilot-cli:{native}", started=started, messages=len(messages))
            yielded = True
        yield Message(index, role, None, tuple(parts))


def _message(message: Any, tools: dict[str, str]) -> tuple[str, list[Part]]:
    if not isinstance(message, dict):
        raise TypeError("message")
    role, text = message.get("role"), _text(message.get("content"))
    if role == "user":
        return "user", _parts("user_text", typed(text))
    if role == "tool":
        return "tool", _parts("tool_output", text, tools.get(str(message.get("tool_call_id"))))
    if role != "assistant":
        return "system", []
    parts = _parts("assistant_text", text)
    for call in map(fields, items(message.get("tool_calls"))):
        function = fields(call.get("function"))
        name, arguments = text_of(function.get("name")) or "tool", function.get("arguments")
        tools[str(call.get("id"))] = name
        written = arguments if isinstance(arguments, str) else compact(arguments)
        parts.append(Part("tool_input", f"{name} {written}", name))
    return "assistant", parts


def _parts(kind: str, text: str, tool: str | None = None) -> list[Part]:
    return [Part(kind, text, tool)] if text.strip() else []


def _text(content: Any) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    texts = (fields(block).get("text") for block in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def typed(text: str) -> str:
    """What the person wrote, without the host's whole blocks before and after it."""
    changed = True
    while changed:
        changed = False
        text = text.strip()
        for tag in INJECTED:
            if text.startswith(f"<{tag}>") and (end := text.find(f"</{tag}>")) > 0:
                text, changed = text[end + len(tag) + 3 :].lstrip(), True
            if text.endswith(f"</{tag}>") and (start := text.rfind(f"\n<{tag}>")) > 0:
                text, changed = text[:start].rstrip(), True
    return text
