"""One event log of Copilot CLI on its way to events of ours. Knows the records and the file beside them, not where
they lie."""

from __future__ import annotations

import os
from typing import Any
from zlib import crc32

from ..model import Mark, Message, Part, Session
from ._copilot_workspace import workspace
from ._log import Log
from .base import Reread, compact, fields, items, seconds, text_of
from .copilot_cli import EVENTS, WORKSPACE

SILENT = frozenset(
    """abort assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.fusion_phase_started
    assistant.idle assistant.intent assistant.message_delta assistant.message_start assistant.reasoning_delta
    assistant.server_tool_progress assistant.streaming_delta assistant.tool_call_delta assistant.turn_end
    assistant.turn_retry assistant.turn_start assistant.usage auto_mode_switch.completed auto_mode_switch.requested
    capabilities.changed command.completed command.execute command.queued commands.changed elicitation.completed
    elicitation.requested exit_plan_mode.completed exit_plan_mode.requested external_tool.completed
    external_tool.requested hook.end hook.progress hook.start mcp.headers_refresh_completed
    mcp.headers_refresh_required mcp.oauth_completed mcp.oauth_required model.call_failure model.call_finished
    pending_messages.modified permission.completed permission.requested sampling.completed sampling.requested
    session.auto_mode_resolved session.autopilot_objective_changed session.background_tasks_changed
    session.binary_asset session.canvas.closed session.canvas.opened session.canvas.registry_changed
    session.compaction_start session.context_cleared session.custom_agents_updated session.custom_notification
    session.error session.extensions.attachments_pushed session.extensions_loaded session.fusion_completed
    session.fusion_resolved session.fusion_route_failed session.fusion_route_started session.handoff session.idle
    session.info session.import_legacy session.managed_settings_enforced session.managed_settings_resolved
    session.mcp_server_status_changed session.mcp_servers_loaded session.mode_changed session.mode_notice_delivered
    session.permissions_changed session.plan_changed session.remote_steerable_changed session.schedule_cancelled
    session.schedule_created session.schedule_rearmed session.session_limits_changed session.shutdown
    session.skills_loaded session.task_complete session.todos_changed session.tools_updated session.truncation
    session.usage_checkpoint session.usage_info session.warning session.workspace_file_changed
    session_limits_exhausted.completed session_limits_exhausted.requested skill.invoked subagent.completed
    subagent.configured subagent.deselected subagent.failed subagent.selected subagent.started system.message
    system.notification tool.execution_partial_result tool.execution_progress tool.search_activated
    user_input.completed user_input.requested""".split()
)
"""Events without text of the conversation: the host's notices, prompts and injected texts, and what repeats others."""

STARTS = frozenset(("session.start", "session.resume", "session.context_changed"))
CALLS = frozenset(("tool.execution_start", "tool.user_requested"))
TYPED = (None, "", "user")
"""Sources of a `user.message` that a person wrote; others are skills, schedules, agents and the like."""
REMEMBERED_CALLS = 512


class EventLog(Log):
    """One log of events."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        super().__init__(path, since)
        folder, name = os.path.split(path)
        self.native = os.path.basename(folder) if name == EVENTS else name.removesuffix(".jsonl")
        self.beside = os.path.join(folder, WORKSPACE) if name == EVENTS else None
        self.partial = since is not None
        since = since or {}
        self.thought: int | None = since.get("thought")
        """Digest of reasoning that came before its answer: it is the beginning of message `next`."""
        self.calls: dict[str, str] = dict(fields(since.get("calls")))
        self.places: dict[str, int] = {}
        """The message that came next at each event of this read, for rewinds."""

    @property
    def state(self) -> dict[str, Any]:
        return {**super().state, "thought": self.thought, "calls": self.calls}

    def session(self) -> Session:
        head = self.head
        beside = workspace(self.beside) if self.beside else {}
        return Session(
            id=f"copilot-cli:{self.native}",
            title=beside.get("name") or beside.get("summary") or head.get("title"),
            cwd=head.get("cwd") or beside.get("cwd"),
            branch=head.get("branch") or beside.get("branch"),
            model=head.get("model"),
            started=head.get("started"),
            messages=self.next + (self.thought is not None),
        )

    # -- records -------------------------------------------------------------------------------------------------------

    def event(self, record: dict[str, Any], unknown: list[str]) -> Message | Mark | None:
        kind = record.get("type")
        if kind in SILENT:
            self._place(record)
            return None
        data = record.get("data", {})
        if not isinstance(data, dict):
            raise TypeError("data")
        if kind == "session.snapshot_rewind":
            return self._rewound(data)
        self._place(record)
        return self._message(kind, data, record, unknown)

    def _message(
        self, kind: object, data: dict[str, Any], record: dict[str, Any], unknown: list[str]
    ) -> Message | None:
        time, key = seconds(record.get("timestamp")), record.get("id")
        key = f"{self.native}/{key}" if isinstance(key, str) else None
        if kind == "assistant.message":
            return self._answer(data, time, key)
        if kind == "assistant.reasoning":
            return self._reasoning(data, time, key)
        if kind == "user.message":
            return self._new("user", time, _typed(data, key) if data.get("source") in TYPED else [])
        if kind == "tool.execution_complete":
            return self._new("tool", time, self._outcome(data, key))
        if kind in CALLS:  # repeats the answer's request, unless the person or a sub-agent called
            part = self._call(data.get("toolCallId"), data.get("toolName"), data.get("arguments"), key)
            return self._new("assistant" if kind == "tool.execution_start" else "user", time, [part]) if part else None
        if kind == "session.compaction_complete":
            summary = _text(data.get("summaryContent"))
            return self._new("system", time, [Part("summary", summary, record=key)]) if summary else None
        self._facts(kind, data, time, unknown)
        return None

    def _facts(self, kind: object, data: dict[str, Any], time: float | None, unknown: list[str]) -> None:
        """What an event says about the session: the first folder and branch, the last model and title."""
        head = self.head
        if kind in STARTS:
            if kind == "session.start" and (started := seconds(data.get("startTime")) or time):
                head.setdefault("started", started)
            context = fields(data.get("context")) or data
            for name in ("cwd", "branch"):
                if value := text_of(context.get(name)):
                    head.setdefault(name, value)
            if model := text_of(data.get("selectedModel")):
                head["model"] = model
        elif kind == "session.model_change":
            head["model"] = text_of(data.get("newModel")) or head.get("model")
        elif kind == "session.title_changed":
            head["title"] = text_of(data.get("title")) or head.get("title")
        else:
            unknown.append(str(kind))

    def _place(self, record: dict[str, Any]) -> None:
        if isinstance(key := record.get("id"), str):
            self.places[key] = self.next

    def _rewound(self, data: dict[str, Any]) -> Mark | None:
        """The messages from an event on were taken back."""
        place = self.places.get(str(data.get("upToEventId")))
        if place is None:
            if self.partial:
                raise Reread(self.lines.path)
            return None
        self._close()
        return Mark(tuple(range(place, self.next)), "rolled_back") if place < self.next else None

    def _close(self) -> None:
        """Reasoning that no answer followed is a message of its own."""
        if self.thought is not None:
            self.thought = None
            self.next += 1

    def _new(self, role: str, time: float | None, parts: list[Part]) -> Message:
        self._close()
        self.next += 1
        return Message(self.next - 1, role, time, tuple(parts))

    def _reasoning(self, data: dict[str, Any], time: float | None, key: str | None) -> Message | None:
        text = _text(data.get("content"))
        if not text:
            return None
        self._close()
        self.thought = crc32(text.encode())
        return Message(self.next, "assistant", time, (Part("reasoning", text, record=key),))

    def _answer(self, data: dict[str, Any], time: float | None, key: str | None) -> Message:
        thought, said = _text(data.get("reasoningText")), _text(data.get("content"))
        requests = data.get("toolRequests") or []
        if not isinstance(requests, list) or not all(isinstance(r, dict) for r in requests):
            raise TypeError("toolRequests")
        parts: list[Part] = []
        if thought and crc32(thought.encode()) != self.thought:
            parts.append(Part("reasoning", thought, record=key))
        if said:
            parts.append(Part("assistant_text", said, record=key))
        for request in requests:
            part = self._call(request.get("toolCallId"), request.get("name"), request.get("arguments"), key)
            parts += [part] if part else []
        if model := text_of(data.get("model")):
            self.head.setdefault("model", model)
        self.thought = None
        self.next += 1
        return Message(self.next - 1, "assistant", time, tuple(parts))

    def _call(self, call: object, name: object, arguments: object, key: str | None) -> Part | None:
        """The call, unless it was told before."""
        tool = text_of(name) or "tool"
        if isinstance(call, str):
            if call in self.calls:
                return None
            self.calls[call] = tool
            if len(self.calls) > REMEMBERED_CALLS:
                del self.calls[next(iter(self.calls))]
        written = arguments if isinstance(arguments, str) else compact(arguments)
        return Part("tool_input", f"{tool} {written}", tool, record=key)

    def _outcome(self, data: dict[str, Any], key: str | None) -> list[Part]:
        tool = self.calls.get(str(data.get("toolCallId"))) or text_of(data.get("toolName"))
        failed = data.get("success") is False
        found = data.get("error") if failed and data.get("error") else data.get("result")
        if isinstance(found, dict):
            found = found.get("message") or found.get("content") or found.get("detailedContent")
        text = _text(found)
        return [Part("tool_error" if failed else "tool_output", text, tool, record=key)] if text else []


def _text(value: object) -> str:
    """`value` if it is text and not blank; raises TypeError for what is no text."""
    if value is not None and not isinstance(value, str):
        raise TypeError("no text")
    return value if value and value.strip() else ""


def _typed(data: dict[str, Any], key: str | None) -> list[Part]:
    """What the person wrote (`transformedContent` is that with the host's additions), and what was attached to it."""
    named = [fields(a) for a in items(data.get("attachments"))]
    marks = [text_of(a.get("displayName")) or os.path.basename(text_of(a.get("path")) or "") for a in named]
    text = "\n".join(filter(None, [_text(data.get("content")), *(f"[{mark}]" for mark in marks if mark)]))
    return [Part("user_text", text, record=key)] if text else []
