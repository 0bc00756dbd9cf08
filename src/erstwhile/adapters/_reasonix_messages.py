"""One Reasonix message -> its parts: which kind, which tool, and whether a tool failed."""

from __future__ import annotations

import os
from typing import Any

from ..model import Part
from ._reasonix_prefixes import typed
from .base import compact, fields, items, text_of

ROLES = frozenset(("system", "developer", "user", "assistant", "tool"))
LOCAL_ONLY = "__reasonix_local_only__"
"""Stands for a tool where the program keeps a note of its own between the messages."""
FAILED = frozenset(("failed", "error", "errored", "denied", "blocked", "timeout", "timed_out", "cancelled", "canceled"))
GLOBAL_ID = 16
"""Ids from this length on are unique by themselves; `m1` is not."""


class Messages:
    """Turns messages into parts, in order; remembers the tools that were called for results without a name."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}

    def parts(self, message: dict[str, Any]) -> tuple[Part, ...]:
        """The parts of one message; none for what no person or model said."""
        role = message.get("role")
        if message.get("origin") == "host":
            return ()
        if role == "user":
            found = _user(message)
        elif role == "assistant":
            found = self._assistant(message)
        elif role == "tool":
            found = self._tool(message)
        else:
            return ()
        record = text_of(message.get("id"))
        record = record if record and len(record) >= GLOBAL_ID else None
        return tuple(part._replace(record=record) for part in found)

    def _assistant(self, message: dict[str, Any]) -> list[Part]:
        texts = (("reasoning", _reasoning(message)), ("assistant_text", _content(message)))
        parts = [Part(kind, text) for kind, text in texts if text]
        for call in map(fields, items(message.get("tool_calls"))):
            name = text_of(call.get("name")) or ""
            self._calls[str(call.get("id"))] = name
            arguments = call.get("arguments")
            raw = arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments)
            if text := f"{name} {raw}".strip():
                parts.append(Part("tool_input", text, name or None))
        return parts

    def _tool(self, message: dict[str, Any]) -> list[Part]:
        text = _content(message)
        name = text_of(message.get("name")) or self._calls.get(str(message.get("tool_call_id"))) or None
        if not text:
            return []
        if name == LOCAL_ONLY:
            steered = typed(text)
            return [Part("user_text", steered)] if steered and steered != text.strip() else [Part("tool_output", text)]
        return [Part("tool_error" if _failed(message, text) else "tool_output", text, name)]


def _user(message: dict[str, Any]) -> list[Part]:
    raw, content = text_of(message.get("raw_content")), _content(message)
    if raw is None and text_of(message.get("provider_content")):
        raw = content  # written when `content` was what was typed and `provider_content` what was sent
    text = raw.strip() if raw else typed(content) if content else None
    if content and raw is None and text is None:
        return []
    shown = "\n".join(filter(None, [text, *map(_image, items(message.get("images")))]))
    return [Part("user_text", shown)] if shown else []


def _content(message: dict[str, Any]) -> str | None:
    """The message's text; blocks instead of a string were seen in no version, but cost nothing to read."""
    content = message.get("content")
    if isinstance(content, list):
        return text_of("\n".join(filter(None, (text_of(fields(b).get("text")) for b in content))))
    return text_of(content)


def _reasoning(message: dict[str, Any]) -> str | None:
    """The readable reasoning, once: newer versions write it a second time in signed blocks."""
    for name in ("reasoning_content", "reasoning"):
        if text := text_of(message.get(name)):
            return text
    for name in ("thinking_blocks", "reasoning_details"):
        blocks = map(fields, items(message.get(name)))
        texts = [text_of(b.get("thinking")) or text_of(b.get("text")) or text_of(b.get("summary")) for b in blocks]
        if text := "\n".join(filter(None, texts)):
            return text
    return None


def _image(image: object) -> str | None:
    """What stands for an image: its media type or its file name, never its bytes."""
    if not isinstance(image, str) or not image:
        return None
    if image.startswith("data:"):
        return f"[image {image[5:85].partition(';')[0].partition(',')[0]}]"
    return f"[image {os.path.basename(image[:4096].replace(chr(92), '/'))}]"


def _failed(message: dict[str, Any], text: str) -> bool:
    """What the run said of itself, else the words by which Reasonix's own search tells an error."""
    execution = fields(message.get("tool_execution"))
    code, state = execution.get("exitCode"), execution.get("state")
    if isinstance(code, int) or isinstance(state, str):
        return bool(code) or str(state).lower() in FAILED
    lowered = text.strip().lower()
    return lowered.startswith(("error:", "blocked:")) or "permission denied" in lowered
