"""One recorded chat of Gemini CLI (or of Qwen Code when it was still a copy of it) on its way to events.

A `.jsonl` file is a log of operations: a later record with the same id replaces the earlier one in its place,
`$rewindTo` removes, `$set` changes the head or all messages. So nothing is certain before the end of the file is read;
what is held until then are the parts, not the records. The older `.json` file is one record with the same messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from zlib import crc32

from ..model import Event, Message, Part, Resume, Session, Skipped, Unknown
from ._gemini_parts import answer, call, outcome, parts_of, snapshot, text_in, typed
from ._whole_file import whole_file
from .base import ODD, JsonLines, Reread, fields, items, odd, seconds, text_of

ANSWERS = frozenset(("gemini", "qwen", "assistant", "model"))
NOTICES = frozenset(("info", "error", "warning"))
"""What the screen showed besides the conversation."""
HEAD = frozenset(("sessionId", "summary", "startTime", "lastUpdated", "directories", "kind", "projectHash"))
HOST_COMMANDS = frozenset(
    """about agents auth bashes bug chat clear commands compress copy corgi dir directory docs editor exit extensions
    footer help hooks ide init mcp memory model new oncall permissions plan policies privacy profile quit restore resume
    rewind settings setup-github shells shortcuts skills stats summary tasks terminal-setup theme tools upgrade usage
    vim voice""".split()
)
"""Commands that the host itself carries out; a custom command is a question to the agent, recorded as its text."""


class Chat:
    """The messages of one chat as far as they are known; `events` reads and gives them."""

    def __init__(self, agent: str, path: str, since: dict[str, Any] | None = None) -> None:
        self.agent, self.path = agent, path
        self.partial = since is not None
        self.lines = JsonLines(path, since)
        since = since or {}
        self.head: dict[str, Any] = dict(fields(since.get("head")))
        self.stem = os.path.basename(path).removesuffix(".jsonl").removesuffix(".json")
        self.native = text_of(self.head.get("sessionId")) or self.stem
        self.model: str | None = since.get("model")
        self.earlier: frozenset[str] = frozenset(items(since.get("ids")))
        self.last: list[Any] = items(since.get("last"))
        """Of the last message: its id, index, and the number and digest of its parts. It may grow yet."""
        self.base: int = since.get("next", 0)
        self.shown: bool = since.get("shown", False)
        self.messages: dict[str, Message | None] = {}
        """By record id in order; None for notices. `index` is set when they are given."""
        self.answered: set[str] = set()
        """Calls whose outcome a message holds, which compressed histories repeat as messages of their own."""
        self.unknown: list[str] = []
        self.cwd: str | None = None
        self.parent: str | None = None

    # -- reading -------------------------------------------------------------------------------------------------------

    def log(self) -> Iterator[Event]:
        """The events of a `.jsonl` file."""
        for line, record in self.lines:
            try:
                self._operation(line, record)
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
        yield from self._events()
        yield from (Unknown(kind) for kind in self.unknown)
        yield from self.lines.skipped
        yield Resume(self._state())

    def file(self) -> Iterator[Event]:
        """The events of a `.json` file. Raises SourceError."""
        record = whole_file(self.path)
        self._facts(record)
        skipped: list[Skipped] = []
        for number, message in enumerate(items(record.get("messages")), 1):
            try:
                self._message(f"#{number}", message)
            except ODD as error:
                skipped.append(Skipped(None, f"message {number}: {odd(0, error).reason}"))
        yield from self._events()
        yield from (Unknown(kind) for kind in self.unknown)
        yield from skipped

    def _operation(self, line: int, record: dict[str, Any]) -> None:
        if "$rewindTo" in record:
            self._rewind(record["$rewindTo"])
        elif isinstance(record.get("id"), str) or "type" in record:
            self._message(f"#{line}", record)
        elif "$set" in record:
            changes = record["$set"]
            if not isinstance(changes, dict):
                raise TypeError("$set")
            self._facts(changes)
            if "messages" in changes:
                self._replace(changes["messages"])
        elif not HEAD.isdisjoint(record):
            self._facts(record)
        else:
            self.unknown.append(",".join(sorted(record))[:60])

    def _rewind(self, key: object) -> None:
        """Remove that message and all after it; all, when it is not there."""
        if self.partial:
            raise Reread(self.path)
        keys = list(self.messages)
        start = keys.index(key) if isinstance(key, str) and key in self.messages else 0
        for gone in keys[start:]:
            del self.messages[gone]

    def _replace(self, messages: object) -> None:
        if not isinstance(messages, list):
            raise TypeError("messages")
        if self.partial:
            raise Reread(self.path)
        self.messages, self.answered = {}, set()
        fault: Exception | None = None
        for number, message in enumerate(messages):
            try:
                self._message(f"#set{number}", message)
            except ODD as error:
                fault = error
        if fault is not None:
            raise fault

    def _facts(self, record: dict[str, Any]) -> None:
        for name in record.keys() & HEAD:
            if record[name] is not None:
                self.head[name] = record[name]
        if "sessionId" in record:
            native = text_of(self.head.get("sessionId")) or self.stem
            if self.partial and self.base and self.native != native:
                raise Reread(self.path)
            self.native = native

    # -- messages ------------------------------------------------------------------------------------------------------

    def _message(self, unnamed: str, record: Any) -> None:
        """Add the message, or put it in the place of the one with its id."""
        if not isinstance(record, dict):
            raise TypeError("message")
        key = text_of(record.get("id")) or unnamed
        kind, time = record.get("type"), seconds(record.get("timestamp"))
        if key in self.earlier and (not self.last or key != self.last[0] or kind in NOTICES):
            raise Reread(self.path)
        if kind == "user":
            self.messages[key] = Message(0, "user", time, self._asked(record, key))
        elif kind in ANSWERS:
            self.messages[key] = Message(0, "assistant", time, self._answered(record, key))
            self.model = text_of(record.get("model")) or self.model
        elif kind in NOTICES:
            self.messages[key] = None
        else:
            self.unknown.append(str(kind))

    def _leading(self, key: str) -> bool:
        """Whether nothing was said before this message: there the host puts its context."""
        if self.shown:
            return False
        for before, message in self.messages.items():
            if before == key:
                return True
            if message is not None and message.parts:
                return False
        return True

    def _asked(self, record: dict[str, Any], key: str) -> tuple[Part, ...]:
        shown = record.get("displayContent")
        content = parts_of(record.get("content"))
        leading = self._leading(key)
        parts = self._outcomes(content, key)
        text = text_in(content if shown is None else parts_of(shown))
        if leading and snapshot(text):
            return (*parts, Part("summary", text.strip(), record=self._record(key)))
        text = typed(text, leading)
        command = text[1:].split(None, 1)[:1] if text.startswith("/") else []
        if text.strip() and not (command and command[0] in HOST_COMMANDS):
            parts.append(Part("user_text", text, record=self._record(key)))
        return tuple(parts)

    def _outcomes(self, content: list[dict[str, Any]], key: str) -> list[Part]:
        """Outcomes of calls that stand in the user's message, as the API has them."""
        parts: list[Part] = []
        for response in (fields(part["functionResponse"]) for part in content if "functionResponse" in part):
            if self.partial:
                raise Reread(self.path)
            if str(response.get("id")) not in self.answered and (text := outcome(response.get("response"))).strip():
                failed = "error" in fields(response.get("response"))
                tool = text_of(response.get("name"))
                parts.append(Part("tool_error" if failed else "tool_output", text, tool, record=self._record(key)))
        return parts

    def _answered(self, record: dict[str, Any], key: str) -> tuple[Part, ...]:
        own, content = self._record(key), parts_of(record.get("content"))
        calls = [fields(c) for c in items(record.get("toolCalls"))]
        parts = [Part("reasoning", text, record=own) for text in map(_thought, items(record.get("thoughts"))) if text]
        parts += answer(content, own, {c.get("id") for c in calls})
        for made in calls:
            parts += self._called(made, own)
        return tuple(parts)

    def _called(self, made: dict[str, Any], own: str) -> list[Part]:
        parts = [call(made.get("name"), made.get("args"), own)]
        result = made.get("result")
        content = parts_of(result)
        responses = [fields(part["functionResponse"]).get("response") for part in content if "functionResponse" in part]
        texts = [*map(outcome, responses), text_in(content)]
        text = "\n".join(t for t in texts if t.strip()) or (text_of(made.get("resultDisplay")) or "")
        if isinstance(made.get("id"), str) and result is not None:
            self.answered.add(made["id"])
        if text.strip():
            failed = made.get("status") in ("error", "cancelled")
            parts.append(Part("tool_error" if failed else "tool_output", text, parts[0].tool, record=own))
        return parts

    # -- giving --------------------------------------------------------------------------------------------------------

    def _record(self, key: str) -> str:
        """Ids need not be unique beyond their chat."""
        return f"{self.native}/{key}"

    def _events(self) -> Iterator[Event]:
        told = [(key, message) for key, message in self.messages.items() if message is not None]
        fresh: list[Message] = []
        if told and self.last and told[0][0] == self.last[0]:
            fresh.append(self._grown(told.pop(0)[1]))
        elif any(key == self.last[0] for key, _ in told if self.last):
            raise Reread(self.path)
        fresh += [m._replace(index=self.base + n) for n, (_, m) in enumerate(told)]
        if told:
            key, message = told[-1]
            self.last = [key, self.base + len(told) - 1, len(message.parts), _digest(message, len(message.parts))]
        self.base += len(told)
        self.shown = self.shown or any(m.parts for m in fresh)
        if self.shown:
            yield self._session()
            yield from (m for m in fresh if m.parts)

    def _grown(self, message: Message) -> Message:
        """What the last message of the earlier read has got since; a Reread when it also lost something."""
        key, index, count, digest = self.last
        if _digest(message, count) != digest:
            raise Reread(self.path)
        self.last = [key, index, len(message.parts), _digest(message, len(message.parts))]
        return message._replace(index=index, parts=message.parts[count:])

    def _session(self) -> Session:
        head = self.head
        directories = [d for d in items(head.get("directories")) if isinstance(d, str)]
        return Session(
            id=f"{self.agent}:{self.native}",
            title=text_of(head.get("summary")),
            cwd=self.cwd or next(iter(directories), None),
            model=self.model,
            started=seconds(head.get("startTime")),
            ended=seconds(head.get("lastUpdated")),
            parent=f"{self.agent}:{self.parent}" if self.parent else None,
            relation="subagent" if self.parent else None,
            messages=self.base,
        )

    def _state(self) -> dict[str, Any]:
        ids = [*self.earlier, *(key for key in self.messages if key not in self.earlier)]
        own = {"head": self.head, "model": self.model, "ids": ids, "last": self.last}
        return {**self.lines.state, **own, "next": self.base, "shown": self.shown}


def _thought(thought: object) -> str:
    known = fields(thought)
    return ": ".join(filter(None, (text_of(known.get("subject")), text_of(known.get("description")))))


def _digest(message: Message, count: int) -> int:
    """Of its time and its first parts."""
    crc = crc32(f"{message.role} {message.time} {min(count, len(message.parts))}".encode())
    for part in message.parts[:count]:
        crc = crc32(f"{part.kind}\0{part.tool}\0{part.record}\0{part.text}\0".encode(), crc)
    return crc
