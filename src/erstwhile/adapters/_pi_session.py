"""One Pi session file on its way to events: a header, then entries that name their parent. Knows the records, not
where the files lie."""

from __future__ import annotations

import os
import re
from typing import Any

from ..model import Message, Part, Session
from ._log import ChainedLog
from .base import compact, seconds, text_of

SILENT = frozenset(("thinking_level_change", "custom", "label", "context_transform", "ephemeral"))
"""Entries without text of the conversation."""
_STEM = re.compile(r"\d{4}-\d\d-\d\dT[\d-]*Z_(.+)", re.DOTALL)


class PiSession(ChainedLog):
    """One session file."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        super().__init__(path, since)
        self.head.setdefault("id", native_of(path))

    def session(self) -> Session:
        head = self.head
        parent = head.get("parent")
        return Session(
            id=f"pi:{head['id']}",
            title=head.get("title"),
            cwd=head.get("cwd"),
            model=head.get("model"),
            started=head.get("started"),
            parent=f"pi:{parent}" if parent else None,
            relation="fork" if parent else None,
            messages=self.next,
        )

    def event(self, record: dict[str, Any], unknown: list[str]) -> Message | None:
        """The message that an entry is; None for every other one."""
        kind = record.get("type")
        if kind == "session":
            self._header(record)
            return None
        key = text_of(record.get("id"))
        if key and key in self.chain:  # written twice
            return None
        message = self._message(kind, record, unknown)
        if key:  # the first version had none, and no branches
            self.chain.add(key, text_of(record.get("parentId")), None if message is None else message.index)
        if message is not None:
            self.next += 1
        return message

    def _header(self, record: dict[str, Any]) -> None:
        """The facts of the header. A second one, from a file that was glued together, changes nothing."""
        head = self.head
        if head.get("headed"):
            return
        head["headed"] = True
        if not self.shown:  # a header behind the first message renames nothing that was given already
            head["id"] = text_of(record.get("id")) or head["id"]
        if cwd := text_of(record.get("cwd")):
            head["cwd"] = cwd
        if started := seconds(record.get("timestamp")):
            head["started"] = started
        if parent := text_of(record.get("parentSession")) or text_of(record.get("branchedFrom")):
            head["parent"] = native_of(parent)
        self._model(record.get("provider"), record.get("modelId"))

    def _model(self, provider: object, model: object) -> None:
        if name := text_of(model):
            self.head["model"] = f"{provider}/{name}" if text_of(provider) else name

    def _message(self, kind: object, record: dict[str, Any], unknown: list[str]) -> Message | None:
        record_id = _record(record)
        if kind == "message":
            body = record.get("message", {})
            if not isinstance(body, dict):
                raise TypeError("message")
            time = seconds(body.get("timestamp")) or seconds(record.get("timestamp"))
            return self._said(body, time, record_id, unknown)
        if kind == "compaction" or kind == "branch_summary":
            summary = _parts("summary", record.get("summary"), record_id)
            return Message(self.next, "system", seconds(record.get("timestamp")), summary)
        if kind == "custom_message":  # an extension's words to the model, not the person's
            return Message(self.next, "system", seconds(record.get("timestamp")), ())
        if kind == "session_info":
            self.head["title"] = text_of(record.get("name"))
        elif kind == "model_change":
            self._model(record.get("provider"), record.get("modelId"))
        elif kind not in SILENT:
            unknown.append(str(kind))
        return None

    def _said(self, body: dict[str, Any], time: float | None, record: str | None, unknown: list[str]) -> Message | None:
        role = body.get("role")
        if role == "user":
            return Message(self.next, "user", time, _parts("user_text", typed(_text(body.get("content"))), record))
        if role == "assistant":
            self._model(body.get("provider"), body.get("model"))
            return Message(self.next, "assistant", time, _answer(body.get("content"), record))
        if role == "toolResult":
            kind = "tool_error" if body.get("isError") is True else "tool_output"
            tool = text_of(body.get("toolName")) or "tool"
            return Message(self.next, "tool", time, _parts(kind, _text(body.get("content")), record, tool))
        if role == "bashExecution":  # typed by the person with `!`
            return Message(self.next, "user", time, _executed(body, record))
        if role == "branchSummary" or role == "compactionSummary":
            return Message(self.next, "system", time, _parts("summary", body.get("summary"), record))
        if role != "custom" and role != "hookMessage":  # an extension's words, as in `custom_message`
            unknown.append(f"message {role}")
            return None
        return Message(self.next, "system", time, ())


def native_of(path: str) -> str:
    """The session's id in the name of its file."""
    stem = os.path.basename(path.replace("\\", "/")).removesuffix(".jsonl")
    named = _STEM.fullmatch(stem)
    return named[1] if named else stem


def _record(record: dict[str, Any]) -> str | None:
    """An entry's own id has only 8 digits; together with its time it is one entry's, also in the copies of a fork."""
    key, time = record.get("id"), record.get("timestamp")
    return f"{key}@{time}" if isinstance(key, str) and isinstance(time, str) else None


def _parts(kind: str, text: object, record: str | None, tool: str | None = None) -> tuple[Part, ...]:
    if text is not None and not isinstance(text, str):
        raise TypeError(kind)
    return (Part(kind, text, tool, record=record),) if text and text.strip() else ()


def _text(content: object) -> str:
    """The text of a content that is a string or a list of text and image blocks; of images alone, their media types."""
    if isinstance(content, str) or content is None:
        return content or ""
    if not isinstance(content, list):
        raise TypeError("content")
    texts: list[str] = []
    images: list[str] = []
    for block in content:
        if not isinstance(block, dict):
            raise TypeError("block")
        if isinstance(text := block.get("text"), str):
            texts.append(text)
        elif block.get("type") == "image":
            images.append(f"[{text_of(block.get('mimeType')) or 'image'}]")
    return "\n".join(texts or images)


def _answer(content: object, record: str | None) -> tuple[Part, ...]:
    """The parts of an answer, in its order."""
    if isinstance(content, str):
        return _parts("assistant_text", content, record)
    if not isinstance(content, list):
        raise TypeError("content")
    parts: list[Part] = []
    for block in content:
        if not isinstance(block, dict):
            raise TypeError("block")
        kind = block.get("type")
        if kind == "text":
            parts += _parts("assistant_text", block.get("text"), record)
        elif kind == "thinking":
            parts += _parts("reasoning", block.get("thinking"), record)
        elif kind == "toolCall":
            name = text_of(block.get("name")) or "tool"
            parts.append(Part("tool_input", f"{name} {compact(block.get('arguments'))}", name, record=record))
    return tuple(parts)


def _executed(body: dict[str, Any], record: str | None) -> tuple[Part, ...]:
    failed = body.get("cancelled") is True or body.get("exitCode") not in (0, None)
    command = text_of(body.get("command")) or ""
    output = _parts("tool_error" if failed else "tool_output", body.get("output"), record, "bash")
    return (Part("tool_input", f"bash {command}", "bash", record=record), *output)


def typed(text: str) -> str:
    """What the person wrote: Pi puts files given on its command line before the text, and the text of a skill in the
    place of `/skill:name`."""
    while text.startswith('<file name="'):
        end = text.find("</file>")
        if end < 0:
            return text
        text = text[end + 7 :].lstrip("\n")
    if text.startswith('<skill name="') and (end := text.find("\n</skill>")) > 0:
        name = text[13 : text.find('"', 13)]
        return f"/skill:{name} {text[end + 9 :].strip()}".rstrip()
    return text
