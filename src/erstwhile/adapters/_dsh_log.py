"""A DSH event log -> events of the model: surface messages in file order, tool calls once, what was replaced marked.

An event's place in the log is its `seq`. The surface is what the agent's model sees: messages are appended to it, and a
message may replace a range of it (a compaction does). `Log` keeps what a later read needs to go on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..model import Event, Mark, Message, Part, RawRecord, Resume, Session, Skipped, Source, Unknown
from .base import ODD, JsonLines, Reread, ZstdLines, compact, fields, items, odd, seconds, text_of

SURFACE = frozenset(("user/message", "assistant/message", "tool/result", "system/message", "developer/message"))
PACKED = frozenset(("text-chunks", "reasoning-chunks", "tool-call-chunks"))
SILENT = frozenset(
    (
        "session",
        "turn/start",
        "turn/end",
        "step/start",
        "step/end",
        "assistant/chunk",
        "assistant/attempt",
        "compaction/start",
        "compaction/end",
        "request/context",
        "subagent/descriptor",
        "todo/write",
    )
)
"""Known types without text of the conversation: brackets, streams of what comes whole later, failed attempts."""
START: dict[str, Any] = {
    "id": None,
    "cwd": None,
    "started": None,
    "parent": None,
    "relation": None,
    "title": None,
    "model": None,
    "seq": 0,  # the one that is due; None behind a line that could not be read
    "seed": 0,  # v0: seqs below it are the parent's
    "next": 0,  # message index
    "speaker": 0,  # index of the last assistant message
    "inherited": 0,  # messages below it are the parent's
    "surface": [],  # [seq, message index]
    "calls": {},  # call id: [tool, message index, arguments until it is given, time, record], until its result comes
}
"""What is known before the first line."""


def read(source: Source, since: dict[str, Any] | None) -> Iterator[Event]:
    """The log's events, from the resume state on if there is one. Raises Reread."""
    if since and since.get("early", True):
        raise Reread(source.path)  # calls were given before their own event came: a full read orders them otherwise
    lines = JsonLines if source.path.endswith(".jsonl") else ZstdLines
    rows = lines(source.path, since["lines"] if since else None)
    log = Log(source, since["log"] if since else None)
    damaged = 0
    for line, row in rows:
        if len(rows.skipped) > damaged:
            damaged = len(rows.skipped)
            log.lost()
        try:
            yield from log.add(line, row)
        except ODD as error:
            rows.skipped.append(odd(line, error))
    early = list(log.uncalled())
    yield from early
    yield from rows.skipped
    yield from log.head()
    if log.given:
        yield Resume({"lines": rows.state, "log": log.state, "early": bool(early)})


def records(source: Source) -> Iterator[RawRecord]:
    """Every line of the log, with the message that it is."""
    log = Log(source, None)
    for line, row in (JsonLines if source.path.endswith(".jsonl") else ZstdLines)(source.path):
        before = log.state["next"]
        try:
            for _ in log.add(line, row):
                pass
        except ODD:
            pass
        index = before if log.state["next"] > before else None
        yield RawRecord(index, str(row.get("type")) if index is not None else None, line, row)


class Log:
    """What the events read so far have come to; `state` is all of it, as JSON values."""

    def __init__(self, source: Source, state: dict[str, Any] | None) -> None:
        self._source = source
        self.given = False
        self.state: dict[str, Any] = _copy(state or START)

    # -- the head ------------------------------------------------------------------------------------------------------

    def head(self) -> Iterator[Event]:
        """The head as far as it is known; none of a log that has not even one whole line."""
        state = self.state
        if state["id"] is None:
            return
        self.given = True
        parent = state["parent"]
        yield Session(
            id=f"dsh:{state['id']}",
            title=state["title"],
            cwd=state["cwd"],
            model=state["model"],
            started=state["started"],
            parent=f"dsh:{parent}" if parent else None,
            relation=state["relation"],
            archived=self._source.role == "archive",
            origin=self._source.role,
            messages=state["next"],
        )

    def _open(self, header: dict[str, Any]) -> None:
        """Takes the header, or does without: then the folder's name is the id."""
        state = self.state
        state["id"] = str(header.get("id") or _decoded(os.path.basename(os.path.dirname(self._source.path))))
        state["cwd"] = text_of(header.get("cwd"))
        state["started"] = seconds(header.get("createdAt"))
        state["parent"] = text_of(header.get("parentSession"))
        if header.get("origin") == "subagent":
            state["relation"] = "subagent"
        elif state["parent"]:
            state["relation"] = "fork"
        seed = header.get("seedLength")
        state["seed"] = seed if isinstance(seed, int) else 0

    # -- events --------------------------------------------------------------------------------------------------------

    def lost(self) -> None:
        """A line could not be read: which seq comes next is not known."""
        self.state["seq"] = None

    def add(self, line: int, row: dict[str, Any]) -> Iterator[Event]:
        """The events of one line of the log."""
        if self.state["id"] is None:
            self._open(row if row.get("type") == "session" else {})
        if not self.given:
            yield from self.head()
        kind = row.get("type")
        if kind == "session":
            return
        due, first, after = self._counted(row)
        if due is not None and first != due:
            yield Skipped(line, f"seq {first} where {due} was due")
            if first < due:  # a record written twice
                return
        self.state["seq"] = after
        if kind in PACKED or kind in SILENT:
            return
        data = fields(row.get("data"))
        if kind in SURFACE or kind == "steering/message":
            yield from self._surface(str(kind), row, data)
        elif kind == "tool/call":
            yield from self._called(data, seconds(row.get("time")))
        elif kind == "session/title":
            # A fallback is the first question cut short: no title, and what shows then is the question itself.
            if fields(data.get("source")).get("kind") != "fallback":
                self.state["title"] = text_of(data.get("title")) or self.state["title"]
        elif kind == "request/header":
            config = fields(fields(data.get("header")).get("config"))
            self.state["model"] = text_of(config.get("model")) or self.state["model"]
        elif kind == "session/end-seed":
            if data.get("inherited") is True:
                yield from self._seeded()
        elif row.get("ignorable") is not True:
            yield Unknown(str(kind))

    def _counted(self, row: dict[str, Any]) -> tuple[int | None, int, int]:
        """(the seq that is due, if known, the row's first, the one after its last). A packed row takes several."""
        packed = row.get("type") in PACKED
        due, seq = self.state["seq"], row.get("seq0" if packed else "seq")
        if not isinstance(seq, int):
            return None, 0, due
        data = fields(row.get("data"))
        taken = max(len(items(data.get("texts", data.get("args")))), len(items(data.get("dt"))) + 1) if packed else 1
        return due, seq, seq + taken

    def _seeded(self) -> Iterator[Event]:
        """All messages so far are copies of the parent's; that outweighs their place on the surface."""
        before, self.state["inherited"] = self.state["inherited"], self.state["next"]
        if self.state["next"] > 0:
            yield from _marked(range(before, self.state["next"]), "inherited")

    # -- messages ------------------------------------------------------------------------------------------------------

    def _surface(self, kind: str, row: dict[str, Any], data: dict[str, Any]) -> Iterator[Event]:
        state = self.state
        results = _results(data) if kind == "tool/result" else []
        if kind != "tool/result":
            yield from self.uncalled()
        for call, _ in results:
            yield from self.uncalled(call)
        index, seq, time = state["next"], row.get("seq"), seconds(row.get("time"))
        state["next"] += 1
        if isinstance(seq, int) and seq < state["seed"]:
            state["inherited"] = state["next"]
        operation = fields(row.get("surfaceOp"))
        if kind in SURFACE:
            yield from self._placed(seq, index, operation)
        if kind == "assistant/message":
            yield from self._message(index, "assistant", time, self._said(index, time, data))
        elif kind == "tool/result":
            yield from self._message(index, "tool", time, [self._named(call, part) for call, part in results])
        elif kind in ("user/message", "steering/message"):
            yield from self._message(index, "user", time, _asked(data, operation.get("op") == "replace"))

    def _message(self, index: int, role: str, time: float | None, parts: list[Part]) -> Iterator[Event]:
        state = "inherited" if index < self.state["inherited"] else None
        if parts:
            yield Message(index, role, time, tuple(part._replace(state=state) for part in parts))

    def _placed(self, seq: object, index: int, operation: dict[str, Any]) -> Iterator[Event]:
        """Puts a message on the surface; marks what it replaces there."""
        surface: list[list[Any]] = self.state["surface"]
        first, after = _range(surface, operation)
        gone = surface[first:after]
        surface[first:after] = [[seq, index]]
        yield from _marked((i for _, i in gone if i >= self.state["inherited"]), "shadowed")

    def _said(self, index: int, time: float | None, data: dict[str, Any]) -> list[Part]:
        """The parts of an assistant message. Its tool calls wait for their own event, which comes later."""
        message = fields(data.get("message")) or data
        origin = fields(message.get("source")) or fields(message.get("provenance"))
        self.state["model"] = text_of(origin.get("model")) or self.state["model"]
        self.state["speaker"] = index
        record = text_of(message.get("id"))
        parts: list[Part] = []
        for block in _blocks(message.get("content")):
            kind = {"text": "assistant_text", "reasoning": "reasoning"}.get(str(block.get("type")))
            if block.get("type") == "tool-call":
                call = [text_of(block.get("name")) or "", index, _arguments(block), time, record]
                self.state["calls"][str(block.get("id"))] = call
            elif kind and (text := text_of(block.get("text"))):
                parts.append(Part(kind, text, record=record))
        return parts

    # -- tools ---------------------------------------------------------------------------------------------------------

    def _called(self, data: dict[str, Any], time: float | None) -> Iterator[Event]:
        """The one place where a call becomes a part: its own event, unless it was given without it before."""
        calls: dict[str, list[Any]] = self.state["calls"]
        name, said = text_of(data.get("name")) or "", str(data.get("callId"))
        if said not in calls:
            self.state["next"] = max(self.state["next"], 1)
            calls[said] = [name, self.state["speaker"], "", time, None]
        call = calls[said]
        if call[2] is not None:
            call[0], call[2] = name or call[0], _arguments(data) or call[2]
            yield from self._call(call)

    def uncalled(self, only: str | None = None) -> Iterator[Event]:
        """The calls (or the one) that an assistant message announced and that no event of their own followed."""
        for said, call in self.state["calls"].items():
            if call[2] is not None and only in (None, said):
                yield from self._call(call)

    def _call(self, call: list[Any]) -> Iterator[Event]:
        name, index, arguments, time, record = call
        call[2] = None
        if text := f"{name} {arguments}".strip():
            yield from self._message(index, "assistant", time, [Part("tool_input", text, name or None, None, record)])

    def _named(self, call: str, part: Part) -> Part:
        """The result with the name of the tool, whose call is now over."""
        over = self.state["calls"].pop(call, None)
        return part._replace(tool=over[0] or None) if over else part


def _copy(state: dict[str, Any]) -> dict[str, Any]:
    """The state, to be changed without changing the one that the caller may have to come back to."""
    calls = {said: list(call) for said, call in state["calls"].items()}
    return {**state, "surface": list(state["surface"]), "calls": calls}


def _marked(indexes: Iterable[int], state: str) -> Iterator[Event]:
    marked = tuple(indexes)
    if marked:
        yield Mark(marked, state)


def _range(surface: list[list[Any]], operation: dict[str, Any]) -> tuple[int, int]:
    """Where on the surface an operation puts its message: [first, after) is what it replaces.

    By place where both ends are found, because a summary stands before older messages that it left, else by seq.
    """
    start = operation.get("start", operation.get("startSeq"))
    end = operation.get("end", operation.get("endSeq"))
    if operation.get("op") == "replace" and isinstance(start, int) and isinstance(end, int):
        ends = [place for place, (seq, _) in enumerate(surface) if seq in (start, end)]
        between = [p for p, (seq, _) in enumerate(surface) if isinstance(seq, int) and start <= seq <= end]
        places = ends if len(ends) == len({start, end}) else between
        if places:
            return places[0], places[-1] + 1
    return len(surface), len(surface)


def _blocks(content: object) -> list[dict[str, Any]]:
    """The content as blocks; old logs also have plain text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else [fields(b) for b in items(content)]


def _text(content: object) -> str | None:
    """The text of the blocks; without any, what stands for their attachments."""
    blocks = _blocks(content)
    texts = filter(None, (text_of(b.get("text")) for b in blocks))
    return "\n".join(texts) or "\n".join(filter(None, map(_attachment, blocks))) or None


def _attachment(block: dict[str, Any]) -> str | None:
    media = text_of(fields(block.get("attachment")).get("mimeType"))
    return f"[{media}]" if media else None


def _arguments(call: dict[str, Any]) -> str:
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments)


def _asked(data: dict[str, Any], replaces: bool) -> list[Part]:
    """What a person typed. Of what a plugin wrote in the user's name only the summary of a compaction counts."""
    message = data if "content" in data else fields(data.get("message"))
    kind = fields(message.get("source")).get("kind", "user")
    text = _text(message.get("content"))
    if text is None or (kind != "user" and not replaces):
        return []
    return [Part("user_text" if kind == "user" else "summary", text, record=text_of(message.get("id")))]


def _results(data: dict[str, Any]) -> list[tuple[str, Part]]:
    """(call id, part) of each result: blocks in a message up to v3, a message of its own in v4, flat in the oldest."""
    message = fields(data.get("message")) or data
    blocks = [b for b in _blocks(message.get("content")) if b.get("type") == "tool-result"] or [message]
    error = fields(data.get("error"))
    found: list[tuple[str, Part]] = []
    for block in blocks:
        failed = block.get("isError") is True or bool(error)
        named = " ".join(filter(None, (text_of(error.get("name")), text_of(error.get("code")))))
        text = _text(block.get("content")) or named
        call = block.get("toolCallId", block.get("callId", data.get("callId")))
        if text:
            part = Part("tool_error" if failed else "tool_output", text, record=text_of(message.get("id")))
            found.append((str(call), part))
    return found


def _decoded(segment: str) -> str:
    """The id that a folder name encodes, for a log that lost its header."""
    units = re.sub(r"~([0-9A-F]{4})", lambda m: chr(int(m[1], 16)), segment)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
