"""One wire of Kimi CLI on its way to events: what the window was told, in pieces that are joined here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..model import Event, Message, Part, Resume, Unknown
from ._kimi_home import KINDS, call, cli_head, texts
from ._parts import said
from .base import ODD, JsonLines, Reread, fields, odd, seconds, text_of

SILENT = frozenset(
    """ApprovalRequest ApprovalRequestResolved ApprovalResponse BtwBegin BtwEnd CompactionBegin CompactionEnd
    HookRequest HookResolved HookTriggered MCPLoadingBegin MCPLoadingEnd MCPStatusSnapshot Notification PlanDisplay
    QuestionRequest QuestionResponse StatusUpdate StepBegin StepInterrupted StepRetry ToolCallRequest TurnEnd""".split()
)
"""Types that hold no conversation of their own."""
PIECES = {"text", "think"}


class Open(NamedTuple):
    """A part whose next piece may still come: whose it is, its kind, and what came so far."""

    owner: str
    kind: str
    name: str
    texts: list[str]


class Wire:
    """One file. What is open when a read ends was given as whole; if it goes on, the file is read anew."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.lines = JsonLines(path, since)
        since = since or {}
        self.next: int = since.get("next", 0)
        self.answering: bool = since.get("answering", False)
        """Whether the last message is an answer that further parts belong to."""
        self.calls: dict[str, str] = dict(fields(since.get("calls")))
        self.left: list[str] = list(since.get("left") or ())
        """Owner and kind of the part that was open when the last read ended."""
        self.open: Open | None = None
        self.time: float | None = None
        self.unknown: list[str] = []

    def events(self) -> Iterator[Event]:
        shown = False
        for line, row in self.lines:
            try:
                found = list(self._record(row))
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
                continue
            for message in found:
                if not shown:
                    shown = True
                    yield cli_head(self.lines.path, self.next)
                yield message
        left = [self.open.owner, self.open.kind] if self.open else self.left
        if self.open and not shown:
            yield cli_head(self.lines.path, self.next)
        yield from self._close()
        if self.next:
            yield cli_head(self.lines.path, self.next)
        yield from (Unknown(kind) for kind in self.unknown)
        yield from self.lines.skipped
        kept = {"next": self.next, "answering": self.answering, "calls": self.calls, "left": left}
        yield Resume({**self.lines.state, **kept})

    def _record(self, row: dict[str, Any]) -> Iterator[Message]:
        if row.get("type") == "metadata":
            return
        message, time = fields(row.get("message")), seconds(row.get("timestamp"))
        kind, payload, owner = message.get("type"), fields(message.get("payload")), ""
        if kind == "SubagentEvent":
            event = fields(payload.get("event"))
            owner = str(payload.get("agent_id") or payload.get("parent_tool_call_id") or "agent")
            kind, payload = event.get("type"), fields(event.get("payload"))
            if kind in ("TurnBegin", "SteerInput"):  # the task is an argument of the call that set it
                return
        yield from self._event(kind, payload, owner, time)

    def _event(self, kind: object, payload: dict[str, Any], owner: str, time: float | None) -> Iterator[Message]:
        if kind == "ContentPart":
            piece = payload.get("type")
            if piece in PIECES and isinstance(text := payload.get(piece), str):
                yield from self._piece(Open(owner, KINDS[piece], "", [text]), time)
        elif kind == "ToolCall":
            function = fields(payload.get("function"))
            name = text_of(function.get("name")) or ""
            self.calls[str(payload.get("id"))] = name
            yield from self._close()
            yield from self._piece(Open(owner, "tool_input", name, [str(function.get("arguments") or "")]), time)
        elif kind == "ToolCallPart":
            yield from self._piece(Open(owner, "tool_input", "", [str(payload.get("arguments_part") or "")]), time)
        elif kind in ("TurnBegin", "SteerInput"):
            yield from self._whole("user", said("user_text", texts(payload.get("user_input"))), time)
        elif kind == "ToolResult":
            yield from self._whole("tool", self._result(payload), time)
        elif kind == "StepBegin" and not owner:
            yield from self._close()
            self.answering, self.left = False, []
        elif kind not in SILENT:
            self.unknown.append(str(kind))

    def _piece(self, piece: Open, time: float | None) -> Iterator[Message]:
        """Joins a piece to the open part, or closes that and opens another one."""
        if self.open and (self.open.owner, self.open.kind) == (piece.owner, piece.kind) and not piece.name:
            self.open.texts.extend(piece.texts)
            return
        if self.open is None and self.left == [piece.owner, piece.kind] and not piece.name:
            raise Reread(self.lines.path)
        yield from self._close()
        self.left = []
        if piece.kind == "tool_input" and not piece.name:
            return  # a piece of a call that is not there
        self.open, self.time = piece, time
        if not self.answering:
            self.answering = True
            self.next += 1

    def _close(self) -> Iterator[Message]:
        if self.open is not None:
            part, text = self.open, "".join(self.open.texts)
            self.open = None
            parts = call(part.name, text) if part.kind == "tool_input" else said(part.kind, text)
            if parts:
                yield Message(self.next - 1, "assistant", self.time, tuple(parts))

    def _whole(self, role: str, parts: list[Part], time: float | None) -> Iterator[Message]:
        yield from self._close()
        self.answering, self.left = False, []
        self.next += 1
        if parts:
            yield Message(self.next - 1, role, time, tuple(parts))

    def _result(self, payload: dict[str, Any]) -> list[Part]:
        value = fields(payload.get("return_value"))
        text = "\n".join(t for t in (texts(value.get("message")), texts(value.get("output"))) if t.strip())
        kind = "tool_error" if value.get("is_error") is True else "tool_output"
        return said(kind, text, self.calls.get(str(payload.get("tool_call_id"))) or None)
