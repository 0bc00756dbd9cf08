"""One Reasonix session -> its head and its messages, out of the transcript or its event log and the meta beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..model import Event, Message, RawRecord, Session, Source, Unknown
from ._reasonix_events import messages, replay
from ._reasonix_messages import ROLES, Messages
from ._reasonix_prefixes import title_of
from ._reasonix_values import JsonValues
from .base import decode, fields, seconds, text_of
from .reasonix import EVENTS, META, NAME, SUB_META, SUBAGENTS, SUFFIX, Reasonix

MAX_META = 4 << 20


def read(source: Source) -> Iterator[Event]:
    """The session's events. The file is rewritten at every save, so there is nothing to resume from."""
    stem = source.path.removesuffix(EVENTS).removesuffix(SUFFIX)
    log = replay(stem + EVENTS) if _regular(stem + EVENTS) else None
    if log is None and source.path.endswith(EVENTS):
        yield Unknown("event log of an unknown schema")
        return
    meta = read_meta(stem)
    head = _head(source, os.path.basename(stem), meta)
    if log is not None and head.title is None:
        head = head._replace(title=log.name)
    yield head
    values = JsonValues(source.path, ("role",))
    plain = ((index, message, None) for index, (_, message) in enumerate(values))
    parted, count, timed, copied = Messages(), 0, False, _copied(head, meta)
    for index, message, at in messages(stem + EVENTS, log.slots) if log is not None else plain:
        count = index + 1
        role = text_of(message.get("role")) or ""
        if role not in ROLES:
            yield Unknown(f"message of role {role}")
        time = seconds(message.get("createdAt")) or at
        timed = timed or time is not None
        state = "inherited" if index < copied else None
        if parts := tuple(part._replace(state=state) for part in parted.parts(message)):
            yield Message(index, role, time, parts)
    yield from values.skipped if log is None else log.events
    ended = head.ended if head.ended is not None or timed else source.mtime or None
    yield head._replace(ended=ended, messages=count)


def records(source: Source) -> Iterator[RawRecord]:
    """Every message of the list that the agent shows: what it redacted stays redacted."""
    stem = source.path.removesuffix(EVENTS).removesuffix(SUFFIX)
    log = replay(stem + EVENTS) if _regular(stem + EVENTS) else None
    if log is not None:
        for index, message, _ in messages(stem + EVENTS, log.slots):
            yield RawRecord(index, text_of(message.get("role")), None, message)
    elif not source.path.endswith(EVENTS):
        for index, (line, message) in enumerate(JsonValues(source.path, ("role",))):
            yield RawRecord(index, text_of(message.get("role")), line, message)


def _regular(path: str) -> bool:
    """Whether a file lies there itself; a link might lead out of the root."""
    return os.path.isfile(path) and not os.path.islink(path)


def read_meta(stem: str) -> dict[str, Any]:
    """The side file that describes the session; empty where there is none that can be read."""
    for suffix in (META, SUB_META):
        path = stem + suffix
        if _regular(path):
            try:
                with open(path, "rb") as file:
                    return fields(decode(file.read(MAX_META)))
            except (OSError, ValueError):
                continue
    return {}


def parent_of(meta: Mapping[str, Any]) -> str | None:
    """The native id of the session that the meta names as its parent."""
    parent = text_of(meta.get("parentSession")) or text_of(meta.get("parent_id"))
    return os.path.basename(parent.replace("\\", "/")).removesuffix(SUFFIX) if parent else None


def _head(source: Source, native: str, meta: Mapping[str, Any]) -> Session:
    """What the file name, its folder and its meta say of the session."""
    is_subagent = os.path.basename(os.path.dirname(source.path)) == SUBAGENTS
    origin = source.role or _origin(source)
    parent, relation = _lineage(native, meta, is_subagent)
    if origin == "archive" and relation is None:
        relation = "compaction"
    given = () if is_subagent else ("topic_title", "name")
    titled = None if is_subagent else text_of(meta.get("custom_title"))
    named = re.fullmatch(NAME, native)
    return Session(
        id=f"{Reasonix.name}:{native}",
        title=titled or next(filter(None, (title_of(text_of(meta.get(name))) for name in given)), None),
        cwd=text_of(meta.get("workspace_root")) or text_of(meta.get("workspaceRoot")),
        model=text_of(meta.get("model")) or (named[2] if named else None),
        started=_started(named, meta),
        ended=seconds(meta.get("updated_at")) or seconds(meta.get("updatedAt")),
        parent=f"{Reasonix.name}:{parent}" if parent else None,
        relation=relation,
        archived=origin == "archive",
        origin=origin,
    )


def _origin(source: Source) -> str | None:
    folder = os.path.dirname(source.path)
    name = os.path.basename(os.path.dirname(folder) if os.path.basename(folder) == SUBAGENTS else folder)
    if name == "archive":
        return "archive"
    return "project" if source.slug else "global" if name == "sessions" else None


def _lineage(native: str, meta: Mapping[str, Any], is_subagent: bool) -> tuple[str | None, str | None]:
    """(native id of the session it came from, how)."""
    parent = parent_of(meta)
    recovery = re.fullmatch(r"(.+)-recovery-[0-9a-fA-F]{8,}", native)
    if is_subagent:
        return parent, "subagent"
    if recovery:
        return recovery[1], "resume"
    if parent and parent != native:
        return parent, "resume" if meta.get("recovered") is True else "fork"
    return None, None


def _started(named: re.Match[str] | None, meta: Mapping[str, Any]) -> float | None:
    recorded = seconds(meta.get("created_at")) or seconds(meta.get("createdAt"))
    if named is None:
        return recorded
    try:
        return datetime.strptime(named[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return recorded


def _copied(head: Session, meta: Mapping[str, Any]) -> int:
    """How many messages at the start are the parent's."""
    index = meta.get("fork_message_index")
    return index if head.relation == "fork" and isinstance(index, int) else 0
