"""One Codex rollout file on its way to events. Knows the records of all eras, not where the files lie."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from ..model import Event, Mark, Message, Part, RawRecord, Resume, Session, Unknown
from ._codex_files import model_beside, opened
from ._codex_items import OUTPUTS, folder_of, from_event, output, own_words, piece, record_id, title_of, verdict
from .base import ODD, JsonLines, Reread, fields, items, odd, seconds, text_of

SKIPPED_TYPES = frozenset(
    """inter_agent_communication inter_agent_communication_metadata realtime_item retained_context security_risk_score
    token_usage_record world_state""".split()
)
HELD = 32
"""So many outputs wait for an event that tells how they ended; events come next to them, before or after."""
REMEMBERED_CALLS = 512
REMEMBERED_TURNS = 1000
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Held(NamedTuple):
    """An output that is not given yet."""

    call: str
    index: int
    time: float | None
    part: Part


class Rollout:
    """Reads the file once; `events` reads it again from its UI events when it turns out to hold no response items."""

    def __init__(self, path: str, since: dict[str, Any] | None = None, from_events: bool = False) -> None:
        self.path = path
        self.since = since
        self.lines = opened(path, since)
        since = since or {}
        self.from_events = from_events or since.get("mode") == "events"
        self.from_items = since.get("mode") == "items"
        self.twins = False
        """Something came that is a message if there are no response items."""
        self.early: list[tuple[dict[str, Any], dict[str, Any]]] = []
        """Summaries from before the first response item."""
        self.next: int = since.get("next", 0)
        self.head: dict[str, Any] = dict(fields(since.get("head")))
        self.calls: dict[str, str] = dict(fields(since.get("calls")))
        """Tool names of the calls that have no output yet."""
        self.failed: dict[str, bool] = dict(fields(since.get("failed")))
        self.turns: list[int] = list(items(since.get("turns")))
        self.given: dict[str, bool] = dict(fields(since.get("given")))
        """The outputs that the last read had to give (are they errors?) although an event may still follow them."""
        self.held: list[Held] = []
        self.unknown: list[str] = []

    def events(self) -> Iterator[Event]:
        shown = False
        for event in self._conversation():
            if not shown:
                yield self._session()
                shown = True
            yield event
        if self.twins and not self.from_events and not self.from_items:
            yield from Rollout(self.path, self.since, from_events=True).events()
            return
        if self.next:
            if "model" not in self.head and "parent" in self.head:
                self._keep("model", model_beside(self.path, self.head["parent"]))
            yield self._session()
        yield from (Unknown(kind) for kind in self.unknown)
        yield from self.lines.skipped
        if type(self.lines) is JsonLines:
            yield Resume({**self.lines.state, **self._state()})

    def records(self) -> Iterator[RawRecord]:
        for line, record in self.lines:
            before = self.next
            try:
                for _ in self._record(record):
                    pass
            except ODD:
                pass
            index = before if self.next > before else None
            payload = fields(record.get("payload")) or record
            role = text_of(payload.get("role")) or text_of(payload.get("type"))
            yield RawRecord(index, role if index is not None else None, line, record)

    def _state(self) -> dict[str, Any]:
        return {
            "mode": "events" if self.from_events else "items" if self.from_items else None,
            "next": self.next,
            "head": self.head,
            "calls": self.calls,
            "failed": self.failed,
            "turns": self.turns,
            "given": self.given,
        }

    # -- records -------------------------------------------------------------------------------------------------------

    def _conversation(self) -> Iterator[Message | Mark]:
        for line, record in self.lines:
            try:
                yield from self._record(record)
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
        given = self.given | {h.call: h.part.kind == "tool_error" for h in self.held}
        yield from self._release()
        self.given = given

    def _record(self, record: dict[str, Any]) -> Iterator[Message | Mark]:
        payload = record.get("payload")
        if isinstance(payload, dict):
            yield from self._wrapped(record, cast("dict[str, Any]", payload))
        elif "record_type" in record or "payload" in record:
            return
        elif "type" in record:
            yield from self._item(record, record)
        else:
            self._bare_header(record)

    def _wrapped(self, record: dict[str, Any], payload: dict[str, Any]) -> Iterator[Message | Mark]:
        kind = record.get("type")
        if kind == "response_item":
            yield from self._item(payload, record)
        elif kind == "event_msg":
            yield from self._event(payload, record)
        elif kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._keep("model", payload.get("model"))
        elif kind == "compacted":
            yield from self._compacted(payload, record)
        elif kind not in SKIPPED_TYPES:
            self.unknown.append(str(kind))

    def _item(self, item: dict[str, Any], record: dict[str, Any]) -> Iterator[Message]:
        if self.from_events:
            if self.since:
                raise Reread(self.path)
            return
        self.from_items = True
        self._identify()
        while self.early:
            yield from self._compacted(*self.early.pop(0))
        index, self.next = self.next, self.next + 1
        time = seconds(record.get("timestamp"))
        if item.get("type") in OUTPUTS:
            yield from self._hold(item, record, index, time)
            return
        yield from self._release()
        said = piece(item)
        if said is None:
            self.unknown.append(str(item.get("type")))
        elif said.role == "user":
            yield from self._user(item, record, index, time)
        else:
            if said.kind == "tool_input" and isinstance(call := item.get("call_id"), str):
                _remember(self.calls, call, said.tool or "")
            if said.text.strip():
                yield Message(index, said.role, time, (self._part(said.kind, said.text, said.tool, item, record),))

    def _user(self, item: dict[str, Any], record: dict[str, Any], index: int, time: float | None) -> Iterator[Message]:
        content = item.get("content")
        if "cwd" not in self.head:
            self._keep("cwd", folder_of(content))
        if (text := own_words(content)).strip():
            self._turn(index)
            yield Message(index, "user", time, (self._part("user_text", text, None, item, record),))

    def _part(self, kind: str, text: str, tool: str | None, item: dict[str, Any], record: dict[str, Any]) -> Part:
        ordinal, start = record.get("ordinal"), self.head.get("start")
        inherited = isinstance(ordinal, int) and isinstance(start, int) and ordinal < start
        return Part(kind, text, tool, "inherited" if inherited else None, record_id(item))

    def _compacted(self, payload: dict[str, Any], record: dict[str, Any]) -> Iterator[Message]:
        """The summary that took the place of older messages: no response item, so a part of the one before it."""
        yield from self._release()
        text = text_of(payload.get("message"))
        if text and not self.from_items and not self.from_events:
            self.early.append((payload, record))
            self.twins = True
        elif text:
            self.next = max(self.next, 1)
            self._identify()
            part = self._part("summary", text, None, {}, record)
            yield Message(self.next - 1, "system", seconds(record.get("timestamp")), (part,))

    # -- outputs and what events tell about them -----------------------------------------------------------------------

    def _hold(self, item: dict[str, Any], record: dict[str, Any], index: int, time: float | None) -> Iterator[Message]:
        call = str(item.get("call_id"))
        text, failed = output(item.get("output"))
        failed = self.failed.pop(call, False) or failed
        part = self._part("tool_error" if failed else "tool_output", text, self.calls.pop(call, None), item, record)
        self.held.append(Held(call, index, time, part))
        if len(self.held) + len(self.given) > HELD:
            if self.given:
                del self.given[next(iter(self.given))]
            else:
                yield from _messages([self.held.pop(0)])

    def _release(self) -> Iterator[Message]:
        """The held outputs; what follows cannot tell about them any more."""
        held, self.held, self.given = self.held, [], {}
        return _messages(held)

    def _ended(self, name: str, guess: bool) -> None:
        """A call failed. In code mode the event's id is not the call's, so it is the call that is still open."""
        for place, held in reversed(list(enumerate(self.held))):
            if held.call == name:
                self.held[place] = held._replace(part=held.part._replace(kind="tool_error"))
                return
        if name in self.given:
            if not self.given[name]:
                raise Reread(self.path)
            return
        if name not in self.calls and guess and self.calls:
            name = next((c for c in reversed(self.calls) if self.calls[c] == "exec"), next(reversed(self.calls)))
        if name in self.calls:
            _remember(self.failed, name, True)

    # -- events --------------------------------------------------------------------------------------------------------

    def _event(self, event: dict[str, Any], record: dict[str, Any]) -> Iterator[Message | Mark]:
        kind = event.get("type")
        if kind == "thread_rolled_back":
            yield from self._release()
            yield from self._rolled_back(event.get("num_turns"))
        elif kind == "thread_name_updated":
            if event.get("thread_id") in (None, self.head.get("id")):
                self._keep("title", title_of(text_of(event.get("thread_name")) or ""))
        elif kind == "thread_settings_applied":
            self._keep("model", event.get("model") or fields(event.get("thread_settings")).get("model"))
        elif self.from_events:
            yield from self._said(event, record)
        elif (ended := verdict(event)) and ended[1]:
            self._ended(ended[0], guess=kind == "item_completed")
        if not self.from_items and not self.from_events and not self.twins:
            self.twins = any(p.text for p in from_event(event))

    def _said(self, event: dict[str, Any], record: dict[str, Any]) -> Iterator[Message]:
        for said in from_event(event):
            if said.text.strip():
                self._identify()
                if said.role == "user":
                    self._turn(self.next)
                self.next += 1
                part = self._part(said.kind, said.text, said.tool, {}, record)
                yield Message(self.next - 1, said.role, seconds(record.get("timestamp")), (part,))

    def _rolled_back(self, count: object) -> Iterator[Mark]:
        """Marks the last `count` user turns and everything that followed them."""
        if isinstance(count, int) and count > 0 and self.turns:
            gone = self.turns[-count:]
            del self.turns[-count:]
            yield Mark(tuple(range(gone[0], self.next)), "rolled_back")

    def _turn(self, index: int) -> None:
        self.turns.append(index)
        del self.turns[:-REMEMBERED_TURNS]

    # -- the head ------------------------------------------------------------------------------------------------------

    def _keep(self, key: str, value: object) -> None:
        if text := text_of(value):
            self.head[key] = text

    def _bare_header(self, record: dict[str, Any]) -> None:
        """The first line of a file whose items have no envelope, and so no times of their own."""
        if "id" not in self.head and (native := text_of(record.get("id"))):
            self.head["id"] = native
            self.head["started"] = seconds(record.get("timestamp"))
            self._keep("branch", fields(record.get("git")).get("branch"))

    def _meta(self, payload: dict[str, Any]) -> None:
        """Only the first one is the session's own; further ones are those of the sessions that a fork replays."""
        head = self.head
        native = text_of(payload.get("id")) or text_of(payload.get("session_id"))
        self._keep("id", head.get("id") or native)
        if native and native != head["id"]:
            if "parent" not in head:
                head |= {"parent": native, "relation": "fork"}
            return
        for key, value in (("cwd", payload.get("cwd")), ("branch", fields(payload.get("git")).get("branch"))):
            if key not in head:
                self._keep(key, value)
        if isinstance(start := payload.get("subagent_history_start_ordinal"), int):
            head.setdefault("start", start)
        parent, relation = _lineage(payload)
        if parent and parent != native and "parent" not in head:
            head |= {"parent": parent, "relation": relation}

    def _identify(self) -> None:
        """From the first message on the session has its id: the file name's when the first line is lost."""
        if "id" not in self.head:
            name = os.path.basename(self.path)
            found = _UUID.search(name)
            self.head["id"] = found[0] if found else name.partition(".")[0]

    def _session(self) -> Session:
        head = self.head
        parent = head.get("parent")
        return Session(
            id=f"codex:{head['id']}",
            title=head.get("title"),
            cwd=head.get("cwd"),
            branch=head.get("branch"),
            model=head.get("model"),
            started=head.get("started"),
            parent=f"codex:{parent}" if parent else None,
            relation=head.get("relation"),
            archived="archived_sessions" in self.path.replace("\\", "/").split("/"),
            messages=self.next,
        )


def records(path: str) -> Iterator[RawRecord]:
    """Every record of the file, with the message that it is."""
    first = Rollout(path)
    for _ in first.events():
        pass
    yield from Rollout(path, None, first.twins and not first.from_items).records()


def _lineage(payload: dict[str, Any]) -> tuple[str | None, str]:
    """The native id of the session that this one came from, and how."""
    origin = fields(payload.get("source")).get("subagent")
    spawn = fields(fields(origin).get("thread_spawn"))
    parent = text_of(spawn.get("parent_thread_id")) or text_of(payload.get("parent_thread_id"))
    forked = text_of(payload.get("forked_from_id"))
    if origin is not None or parent or payload.get("thread_source") == "subagent":
        return parent or forked or text_of(payload.get("session_id")), "subagent"  # session_id: the root's
    return forked, "fork"


def _messages(held: list[Held]) -> Iterator[Message]:
    return (Message(h.index, "tool", h.time, (h.part,)) for h in held if h.part.text.strip())


def _remember(into: dict[str, Any], key: str, value: object) -> None:
    into[key] = value
    if len(into) > REMEMBERED_CALLS:
        del into[next(iter(into))]
