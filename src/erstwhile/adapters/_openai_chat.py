"""One file of OpenAI-style chats on its way to events, and the parts of one such message. Knows no other agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..model import Event, Message, Part, Resume, Session, Skipped, Unknown
from ._whole_file import whole_value
from .base import ODD, JsonLines, Reread, compact, decode, fields, items, odd, seconds, text_of

ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
PROMPTS = ("system", "developer")
"""Roles of what the program says to the model; counted, never searched."""
SAID = {"user": "user_text", "assistant": "assistant_text"}
TEXTS = ("text", "input_text", "output_text", "refusal")
REMEMBERED_CALLS = 512


class ChatLines(JsonLines):
    """Lines that are a message, a conversation, or a bare list of messages, which is given as a conversation."""

    def _other(self, value: object) -> dict[str, Any] | None:
        return {"messages": value} if isinstance(value, list) else super()._other(value)


class Chat:
    """One file; the messages that stand on lines of their own are one session, named by the file."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.path = path
        if since is not None and path.endswith(".json"):
            raise Reread(path)
        self.lines = ChatLines(path, since)
        since = since or {}
        self.next: int = since.get("next", 0)
        self.model: str | None = since.get("model")
        self.calls: dict[str, str] = dict(fields(since.get("calls")))
        self.taken: set[str] = set(items(since.get("taken")))
        self.unknown: list[str] = []

    def events(self) -> Iterator[Event]:
        if self.path.endswith(".json"):
            yield from self._whole()
            return
        open_session = False
        for line, row in self.lines:
            try:
                messages = _messages(row)
                if messages is not None:
                    conversation = list(self._conversation(row, messages, line))
                    open_session = False
                    yield from conversation
                elif (message := self._message(row)) is not None:
                    if not open_session:
                        yield self._session()
                        open_session = True
                    yield message
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
        if self.next:
            yield self._session()
        yield from (Unknown(kind) for kind in self.unknown)
        yield from self.lines.skipped
        kept = {"next": self.next, "model": self.model, "calls": self.calls, "taken": sorted(self.taken)}
        yield Resume({**self.lines.state, **kept})

    def _session(self) -> Session:
        return Session(f"openai-chat:{self.path}", model=self.model, messages=self.next)

    def _message(self, row: dict[str, Any]) -> Message | None:
        """The message of a line; None when it is none, or has no parts."""
        if not isinstance(row.get("role"), str):
            self.unknown.append(str(row.get("type") or "no role"))
            return None
        if row["role"] not in ROLES and row["role"] not in PROMPTS:
            self.unknown.append(f"role {row['role']}")
        self.model = self.model or text_of(row.get("model"))
        self.next += 1
        return _message(row, self.next - 1, self.calls)

    # -- conversations -------------------------------------------------------------------------------------------------

    def _conversation(self, row: dict[str, Any], messages: list[Any], number: int) -> Iterator[Event]:
        """The session that one line holds, or one member of a JSON list."""
        calls: dict[str, str] = {}
        more = fields(row.get("metadata"))
        found = [m for m in (_message(fields(one), i, calls) for i, one in enumerate(messages)) if m]
        said = {key: text_of(row.get(key)) or text_of(more.get(key)) for key in ("title", "cwd", "model")}
        models = (text_of(fields(one).get("model")) for one in messages)
        yield Session(
            f"openai-chat:{self._name(row, number)}",
            title=said["title"],
            cwd=said["cwd"],
            model=said["model"] or next(filter(None, models), None),
            started=seconds(row.get("created_at") or row.get("timestamp")),
            messages=len(messages),
        )
        yield from found

    def _name(self, row: dict[str, Any], number: int) -> str:
        """The conversation's own id, else its place. A plain number names a row of a data set, not a conversation."""
        own = text_of(row.get("id"))
        if own is None or own.isdecimal() or own in self.taken:
            return f"{self.path}#{number}"
        self.taken.add(own)
        return own

    # -- one JSON value ------------------------------------------------------------------------------------------------

    def _whole(self) -> Iterator[Event]:
        conversations = _conversations(whole_value(self.path))
        if not conversations:
            yield Skipped(None, "holds no chat messages")
        for number, row in enumerate(conversations, 1):
            try:
                yield from list(self._conversation(row, _messages(row) or [], number))
            except ODD as error:
                yield odd(number, error)


def _messages(row: dict[str, Any]) -> list[Any] | None:
    """The messages of a conversation; None for anything else."""
    found = row.get("messages")
    return found if isinstance(found, list) and _are_messages(found) else None


def _are_messages(values: list[Any]) -> bool:
    return any(isinstance(fields(value).get("role"), str) for value in values)


def _conversations(value: object) -> list[dict[str, Any]]:
    """The conversations of a JSON value: itself, a list of messages, or a list of conversations."""
    if isinstance(value, list) and _are_messages(value):
        return [{"messages": value}]
    members: Iterable[Any] = value if isinstance(value, list) else [value]
    rows = ({"messages": m} if isinstance(m, list) else fields(m) for m in members)
    return [row for row in rows if _messages(row) is not None]


# -- messages ----------------------------------------------------------------------------------------------------------


def _message(row: dict[str, Any], index: int, calls: dict[str, str]) -> Message | None:
    """One message, `calls` being the names of the tools called so far; None when nothing of it is to be found."""
    role = ROLES.get(str(row.get("role")))
    if role is None:
        return None
    parts = _result(row, calls) if role == "tool" else _said(row, role, calls)
    time = seconds(row.get("created_at") or row.get("timestamp"))
    return Message(index, role, time, tuple(parts)) if parts else None


def _said(row: dict[str, Any], role: str, calls: dict[str, str]) -> list[Part]:
    parts: list[Part] = []
    if thought := text_of(row.get("reasoning_content")) or text_of(row.get("reasoning")):
        parts.append(Part("reasoning", thought))
    said = filter(None, (content_text(row.get("content")), text_of(row.get("refusal"))))
    if text := "\n".join(said):
        parts.append(Part(SAID[role], text))
    for call in items(row.get("tool_calls")):
        call = fields(call)
        parts += _call(fields(call.get("function")) or fields(call.get("custom")), call.get("id"), calls)
    return parts + _call(fields(row.get("function_call")), None, calls)


def _call(function: dict[str, Any], native: object, calls: dict[str, str]) -> list[Part]:
    name = text_of(function.get("name"))
    if name is None:
        return []
    if isinstance(native, str):
        calls[native] = name
        while len(calls) > REMEMBERED_CALLS:
            del calls[next(iter(calls))]
    given = function["arguments"] if "arguments" in function else function.get("input")
    return [Part("tool_input", f"{name} {given if isinstance(given, str) else compact(given)}", name)]


def _result(row: dict[str, Any], calls: dict[str, str]) -> list[Part]:
    content = row.get("content")
    text = content_text(content) or (compact(content) if isinstance(content, dict) and content else "")
    name = text_of(row.get("name")) or calls.get(str(row.get("tool_call_id")))
    return [Part("tool_error" if _failed(text) else "tool_output", text, name)] if text else []


def _failed(text: str) -> bool:
    """Whether a tool's result says that it failed: the format has no field for it."""
    if text.startswith("Error"):
        return True
    if not text.startswith("{") or ('"error"' not in text and '"is_error"' not in text):
        return False
    try:
        said = fields(decode(text.encode("utf-8", "replace")))
    except ValueError:
        return False
    return bool(said.get("error")) or said.get("is_error") is True


def content_text(content: object) -> str:
    """The text of a message's content: a string, or parts of which images and audio are left out."""
    if isinstance(content, str):
        return content if content.strip() else ""
    found: list[str] = []
    for part in items(content):
        if isinstance(part, str):
            found.append(part)
        elif fields(part).get("type") in TEXTS:
            kind = str(part["type"])
            found.append(text_of(part.get("text")) or text_of(part.get(kind)) or "")
    return "\n".join(filter(None, found))
