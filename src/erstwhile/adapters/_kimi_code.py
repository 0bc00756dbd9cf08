"""One agent's wire of Kimi Code on its way to events: the context as it grew, with what was taken back.

A turn that was undone and the copy at the start of a side question are known only from later records, so a file that
holds such records is looked through before it is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Resume, Session, Unknown
from ._kimi_home import KINDS, call, object_in, pieces, texts
from ._parts import said
from .base import ODD, JsonLines, Reread, fields, items, odd, seconds, text_of
from .kimi_cli import STATE

SILENT = frozenset(
    """agent config goal hook llm mcp metadata permission plan plan_mode profile session skill status step swarm task
    todo tool tools trace turn usage""".split()
)
"""What the types begin with that hold no conversation of their own; of `context.` all are named."""
UNDO, CLEAR = "context.undo", "context.clear"
SILENT_CONTEXT = frozenset((UNDO, CLEAR, "context.set_system_prompt", "context.update_token_count"))
SILENT_EVENTS = frozenset(("step.begin", "step.end", "step.interrupted", "step.retry"))
BTW = "btw"


class Agent:
    """One file: the session itself (`main`), or one that its agent started."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.path = path
        self.agent = os.path.basename(os.path.dirname(path))
        self.folder = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        self.since = since
        self.lines = JsonLines(path, since)
        since = since or {}
        self.next: int = since.get("next", 0)
        self.answering: bool = since.get("answering", False)
        self.calls: dict[str, str] = dict(fields(since.get("calls")))
        self.first: str = since.get("first", "")
        """The beginning of the first prompt, from which Kimi makes a title when it has no better one."""
        self.unknown: list[str] = []
        self.undone: list[tuple[int, int]] = []
        """First and last line of each turn that was taken back."""
        self.copied = 0
        """The last line of the copy that a side question begins with."""
        self.looked = 0
        """The last line that was looked through."""

    def events(self) -> Iterator[Event]:
        state = object_in(os.path.join(self.folder, STATE))
        about = fields(fields(state.get("agents")).get(self.agent))
        forked = text_of(about.get("forkedFrom"))
        if self.since is None:
            self._look_through()
        shown = False
        for line, row in self.lines:
            if line > self.looked and (_is(row, UNDO) or _is_aside(row)):
                if self.since is not None:
                    raise Reread(self.path)
                raise SourceError(f"cannot read {self.path}: it is being written")
            try:
                message = self._record(row, line)
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
                continue
            if message is not None:
                if not shown:
                    shown = True
                    yield self._head(state, about, forked)
                yield message
        if self.next:
            yield self._head(state, about, forked)
        yield from (Unknown(kind) for kind in self.unknown)
        yield from self.lines.skipped
        kept = {"next": self.next, "answering": self.answering, "calls": self.calls, "first": self.first}
        yield Resume({**self.lines.state, **kept})

    def _look_through(self) -> None:
        """Finds what was taken back or is a copy."""
        if not _mentions(self.path, (b'"context.undo"', b'"btw"')):
            return
        turns: list[int] = []
        for line, row in JsonLines(self.path):
            self.looked = line
            if _is_aside(row):
                self.copied = line
            elif row.get("type") == "context.append_message" and _by_user(fields(row.get("message"))):
                turns.append(line)
            elif _is(row, CLEAR):
                turns.clear()
            elif _is(row, UNDO) and turns:
                count = row.get("count")
                gone = turns[-count:] if isinstance(count, int) and count > 0 else turns[-1:]
                del turns[-len(gone) :]
                self.undone.append((gone[0], line))

    def _head(self, state: dict[str, Any], about: dict[str, Any], forked: str | None) -> Session:
        native = os.path.basename(self.folder)
        cwd = text_of(state.get("cwd")) or text_of(state.get("workDir"))
        archived = state.get("archived") is True
        if self.agent == "main":
            title = self._title(state)
            return Session(f"kimi-cli:{native}", title, cwd, archived=archived, messages=self.next)
        above = forked or text_of(about.get("parentAgentId")) or "main"
        return Session(
            f"kimi-cli:{native}/{self.agent}",
            cwd=cwd,
            parent=f"kimi-cli:{native}" + ("" if above == "main" else f"/{above}"),
            relation="fork" if forked else "subagent",
            archived=archived,
            messages=self.next,
        )

    def _title(self, state: dict[str, Any]) -> str | None:
        """The recorded title, unless it is only the start of the first prompt."""
        title = text_of(state.get("title"))
        words = " ".join((title or "").split()).rstrip(".… ")
        made = not state.get("isCustomTitle") and " ".join(self.first.split()).startswith(words)
        return None if made else title

    # -- records -------------------------------------------------------------------------------------------------------

    def _record(self, row: dict[str, Any], line: int) -> Message | None:
        kind, time = str(row.get("type")), seconds(row.get("time"))
        hidden = line <= self.copied or any(start <= line <= end for start, end in self.undone)
        if kind == "context.append_message":
            role, parts = self._message(fields(row.get("message")))
            return self._new(role, [] if hidden else parts, time)
        if kind == "context.append_loop_event":
            return self._event(fields(row.get("event")), time, hidden)
        if kind == "context.apply_compaction":
            return self._new("system", said("summary", row.get("summary")), time)
        if kind not in SILENT_CONTEXT and kind.partition(".")[0] not in SILENT:
            self.unknown.append(kind)
        return None

    def _new(self, role: str, parts: list[Part], time: float | None) -> Message | None:
        """A message of its own, which ends the answer before it."""
        self.answering = False
        self.next += 1
        return Message(self.next - 1, role, time, tuple(parts)) if parts else None

    def _event(self, event: dict[str, Any], time: float | None, hidden: bool) -> Message | None:
        kind = event.get("type")
        if kind == "content.part":
            parts = [Part(KINDS[k], text) for k, text in pieces([event.get("part")])]
        elif kind == "tool.call":
            parts = self._called(event.get("toolCallId"), event.get("name"), event.get("args"))
        elif kind == "tool.result":
            return self._new("tool", [] if hidden else self._result(event), time)
        else:
            if kind in SILENT_EVENTS:
                self.answering = self.answering and kind != "step.begin"
            else:
                self.unknown.append(f"event {kind}")
            return None
        if not self.answering:
            self.answering = True
            self.next += 1
        return Message(self.next - 1, "assistant", time, tuple(parts)) if parts and not hidden else None

    def _message(self, message: dict[str, Any]) -> tuple[str, list[Part]]:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            if not _by_user(message):
                return "user", []
            text = texts(content)
            self.first = self.first or text[:500]
            return "user", said("user_text", text)
        if role == "assistant":
            parts = [Part(KINDS[kind], text) for kind, text in pieces(content)]
            for one in items(message.get("toolCalls")):
                one = fields(one)
                function = fields(one.get("function")) or one
                given = function["arguments"] if "arguments" in function else function.get("args")
                parts += self._called(one.get("id") or one.get("toolCallId"), function.get("name"), given)
            return "assistant", parts
        if role == "tool":
            tool = self.calls.get(str(message.get("toolCallId")))
            kind = "tool_error" if message.get("isError") is True else "tool_output"
            return "tool", said(kind, texts(content), tool)
        if role != "system":
            self.unknown.append(f"role {role}")
        return "system", []

    def _called(self, native: object, name: object, given: object) -> list[Part]:
        if isinstance(native, str) and isinstance(name, str):
            self.calls[native] = name
        return call(name, given)

    def _result(self, event: dict[str, Any]) -> list[Part]:
        result = fields(event.get("result"))
        kind = "tool_error" if result.get("isError") is True else "tool_output"
        return said(kind, texts(result.get("output")), self.calls.get(str(event.get("toolCallId"))))


def _is(row: dict[str, Any], kind: str) -> bool:
    return row.get("type") == kind


def _is_aside(row: dict[str, Any]) -> bool:
    """Whether it is the note that a side question begins with; what is before it is a copy."""
    origin = fields(fields(row.get("message")).get("origin"))
    return origin.get("variant") == BTW or (origin.get("kind") == "system_trigger" and origin.get("name") == BTW)


def _by_user(message: dict[str, Any]) -> bool:
    """Whether a message of the user's role is the person's, or the task of a sub-agent, and not the program's."""
    origin = fields(message.get("origin"))
    kind, name = origin.get("kind"), origin.get("name") or origin.get("variant")
    if message.get("role") != "user":
        return False
    return kind in (None, "user") or (kind == "system_trigger" and name == "subagent")


def _mentions(path: str, words: tuple[bytes, ...]) -> bool:
    """Whether the file holds one of the words, without decoding it."""
    tail = b""
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                if any(word in tail + block for word in words):
                    return True
                tail = block[-32:]
    except OSError:
        return False  # the reading that follows says why
    return False
