"""Reasonix's event log `<id>.events.jsonl`, replayed into the message list that the agent itself would show.

Two passes keep one record in memory at a time: the first decides which messages of which records stand, the second
reads them. Schema 1 is a list that records replace and extend, schema 2 a graph of messages with named heads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..model import Event, Skipped, Unknown
from ._reasonix_values import JsonValues
from .base import fields, items, seconds, text_of

SCHEMAS = (1, 2)
MAIN = "main"


class Slot(NamedTuple):
    """Where one message of the final list stands: the record (counted from 0) and its position there, or itself."""

    record: int
    position: int = 0
    value: dict[str, Any] | None = None
    time: float | None = None


class Replay(NamedTuple):
    """The final list, the name of its head, and what was wrong on the way."""

    slots: list[Slot]
    name: str | None
    events: list[Event]


def replay(path: str) -> Replay | None:
    """The message list that the log ends with; None when the file is not a log that we know."""
    values = JsonValues(path, ("schema_version",))
    records = _records(values)
    first = next(records, None)
    schema = first[2].get("schema_version") if first else None
    if first is None or schema not in SCHEMAS or not isinstance(first[2].get("type"), str):
        return None
    plan = _List(values) if schema == 1 else _Graph(values)
    for number, line, record in chain([first], records):
        if not plan.add(number, line, record):
            break
    # Schema 1 means nothing after damage; a graph only loses what hung on it.
    skipped = values.skipped[:1] if schema == 1 else values.skipped
    slots = plan.slots()
    return None if slots is None else Replay(slots, plan.name(), [*skipped, *plan.events])


def messages(path: str, slots: list[Slot]) -> Iterator[tuple[int, dict[str, Any], float | None]]:
    """(index, message, time of its record) of each slot in order."""
    wanted: dict[int, list[int]] = {}
    ready: dict[int, dict[str, Any]] = {}
    for index, slot in enumerate(slots):
        if slot.value is None:
            wanted.setdefault(slot.record, []).append(index)
        else:
            ready[index] = slot.value
    following = 0
    for number, _, record in _records(JsonValues(path, ("schema_version",))):
        for index in wanted.get(number, ()):
            listed = items(record.get("messages", record.get("msgs")))
            position = slots[index].position
            ready[index] = fields(listed[position]) if position < len(listed) else {}
        while following in ready:
            yield following, ready.pop(following), slots[following].time
            following += 1
    for index in sorted(ready):
        yield index, ready[index], slots[index].time


def _records(values: JsonValues) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for number, (line, record) in enumerate(values):
        yield number, line, record


class _List:
    """Schema 1: `replace` sets the list, `append` adds to it at an index. A gap or damage ends the replay."""

    def __init__(self, values: JsonValues) -> None:
        self.events: list[Event] = []
        self._values = values
        self._slots: list[Slot] | None = None
        self._revision: int | None = None

    def add(self, number: int, line: int, record: dict[str, Any]) -> bool:
        if self._values.skipped:
            return False
        kind = record.get("type")
        listed = items(record.get("messages"))
        if kind not in ("replace", "append"):
            self.events.append(Unknown(f"event log: {kind}"))
            return True
        if kind == "append" and not self._follows(record):
            self.events.append(Skipped(line, "a gap in the revisions of the event log"))
            return False
        slots = self._slots = self._slots or []
        start = record.get("message_index") if kind == "append" else 0
        del slots[start if isinstance(start, int) else len(slots) :]
        slots.extend(Slot(number, position) for position in range(len(listed)))
        revision = record.get("revision")
        self._revision = revision if isinstance(revision, int) else None
        return True

    def _follows(self, record: dict[str, Any]) -> bool:
        """Whether an append fits behind what was replayed; a field that is absent is not held against it."""
        if self._slots is None:
            return False
        base, start = record.get("base_revision"), record.get("message_index", 0)
        known = self._revision is None or not isinstance(base, int) or base == self._revision
        return known and (not isinstance(start, int) or 0 <= start <= len(self._slots))

    def slots(self) -> list[Slot] | None:
        return self._slots

    def name(self) -> str | None:
        return None


class _Head:
    def __init__(self, name: str | None = None, leaf: str = "", system: dict[str, Any] | None = None) -> None:
        self.name, self.leaf, self.system, self.retired = name, leaf, system, False
        self.active: tuple[float, int] = (0.0, -1)


class _Node(NamedTuple):
    parent: str
    slot: Slot


class _Graph:
    """Schema 2: messages name their parent, heads point into the graph, patches and redactions lie over messages."""

    def __init__(self, values: JsonValues) -> None:
        self.events: list[Event] = []
        self._values = values
        self._nodes: dict[str, _Node] = {}
        self._heads: dict[str, _Head] = {MAIN: _Head()}
        self._patches: dict[str, dict[str, Any]] = {}
        self._redactions: dict[str, dict[str, Any]] = {}
        self._selected: str | None = None
        self._rooted_system: set[str] = set()

    def add(self, number: int, line: int, record: dict[str, Any]) -> bool:
        kind = record.get("type")
        at = seconds(record.get("at"))
        head = self._head(record.get("head"))
        if kind == "message":
            self._message(number, line, record, at)
        elif kind == "patch":
            self._patches[str(record.get("target"))] = _only(record.get("msgs"))
        elif kind == "redact":
            for target, value in fields(record.get("targets")).items():
                self._redactions[target] = _only(value)
        elif kind == "system":
            head.system = _only(record.get("msgs"))
        elif kind == "fork":
            new, leaf = text_of(record.get("new_head")), text_of(record.get("from")) or ""
            if new and new not in self._heads:
                self._heads[new] = _Head(text_of(record.get("name")), leaf, head.system)
                self._heads[new].active = (at or 0.0, number)
        elif kind == "rewind":
            head.leaf, head.active = text_of(record.get("to")) or "", (at or 0.0, number)
        elif kind == "select":
            self._selected = text_of(record.get("head")) or MAIN
        elif kind == "rename":
            head.name = text_of(record.get("name"))
        elif kind == "retire":
            head.retired = True
        elif kind not in ("log", "turn_begin", "turn_end", "compaction", "writer", "checkpoint"):
            self.events.append(Unknown(f"event log: {kind}"))
        return True

    def _message(self, number: int, line: int, record: dict[str, Any], at: float | None) -> None:
        name = text_of(record.get("id"))
        message = _only(record.get("msgs"))
        if name is None or not message:
            self.events.append(Skipped(line, "a message of the event log without id or text"))
            return
        head = self._head(record.get("head"))
        if name not in self._nodes:
            if message.get("role") == "system":
                self._rooted_system.add(name)
            self._nodes[name] = _Node(text_of(record.get("parent")) or "", Slot(number, time=at))
            head.leaf, head.active = name, (at or 0.0, number)

    def _head(self, name: object) -> _Head:
        return self._heads.setdefault(text_of(name) or MAIN, _Head())

    def _shown(self) -> _Head:
        """The last selected head while it lives, else the live one that was active last, else any."""
        selected = self._heads.get(self._selected or "")
        if selected and not selected.retired:
            return selected
        live = [h for h in self._heads.values() if not h.retired] or list(self._heads.values())
        return max(live, key=lambda h: h.active)

    def name(self) -> str | None:
        return self._shown().name

    def slots(self) -> list[Slot] | None:
        head = self._shown()
        chain = self._chain(head.leaf)
        slots = [self._overlaid(name) for name in chain]
        if head.system:
            override = Slot(-1, value=head.system)
            slots = [override, *slots[1:]] if chain and chain[0] in self._rooted_system else [override, *slots]
        return slots

    def _chain(self, leaf: str) -> list[str]:
        chain: dict[str, None] = {}
        while leaf in self._nodes and leaf not in chain:
            chain[leaf] = None
            leaf = self._nodes[leaf].parent
        return list(reversed(chain))

    def _overlaid(self, name: str) -> Slot:
        value = self._redactions.get(name, self._patches.get(name))
        slot = self._nodes[name].slot
        return slot if value is None else slot._replace(value={"id": name, **value})


def _only(value: object) -> dict[str, Any]:
    """The one message of a list of one."""
    listed = items(value)
    return fields(listed[0]) if listed else fields(value)
