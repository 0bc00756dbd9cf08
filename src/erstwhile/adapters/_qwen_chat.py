"""One Qwen Code chat file on its way to events: an envelope much like Claude Code's around contents as the Gemini API
knows them. Knows the records, not where the files lie."""

from __future__ import annotations

import os
from typing import Any

from ..errors import SourceError
from ..model import Message, Part, Session
from ._gemini_parts import answer, outcome, parts_of, text_in, typed
from ._log import ChainedLog
from .base import JsonLines, fields, regular, seconds, side_object, text_of

SILENT = frozenset(
    """agent_bootstrap agent_retry agent_session_ready at_command attribution_snapshot background_task_completed
    branch_checkpoint chat_compression cron file_history_snapshot goal_runtime goal_state goal_turn_end
    managed_session_commit_v1 managed_session_event_v1 managed_session_header_v1 notification omni_recall
    realtime_message rewind session_approval_mode session_artifact_event session_artifact_snapshot
    session_execution_engine session_model session_notes session_source session_sources_snapshot slash_command
    turn_result ui_telemetry user_text_elements""".split()
)
"""Subtypes of system records without text of the conversation, or with copies of it."""

ASKED = frozenset(("mid_turn_user_message", "agent_launch_prompt"))
"""Subtypes of user records that are questions; every other is the host's."""
MAX_META = 1 << 20


class QwenChat(ChainedLog):
    """One chat file."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        super().__init__(path, since)
        folder, name = os.path.split(path)
        self.stem = name.removesuffix(".jsonl")
        self.folder = folder
        self.owner = os.path.basename(folder) if self.stem.startswith("agent-") else None
        """The session whose sub-agent's file this is."""

    # -- the head ------------------------------------------------------------------------------------------------------

    def session(self) -> Session:
        head = self.head
        parent, relation = self._origin()
        return Session(
            id=f"qwen-code:{self.owner}.{self.stem}" if self.owner else f"qwen-code:{self.stem}",
            title=head.get("title") or (self._description() if self.owner else None),
            cwd=head.get("cwd"),
            branch=head.get("branch"),
            model=head.get("model") or (self._first_model(head["forked"]) if "forked" in head else None),
            parent=f"qwen-code:{parent}" if parent else None,
            relation=relation if parent else None,
            messages=self.next,
        )

    def _origin(self) -> tuple[str | None, str]:
        if self.owner:
            return self.owner, "subagent"
        if "forked" in self.head:
            return self.head["forked"], "fork"
        return self.head.get("parent"), "subagent"

    def _description(self) -> str | None:
        return text_of(side_object(os.path.join(self.folder, f"{self.stem}.meta.json"), MAX_META).get("description"))

    def _first_model(self, origin: str) -> str | None:
        """The model of the session that this one was forked from, as long as it has no answer of its own.

        Its first answer tells: the file only grows, so that does not change any more.
        """
        path = os.path.join(self.folder, f"{os.path.basename(origin)}.jsonl")
        if not regular(path):
            return None
        models = (text_of(record.get("model")) for _, record in JsonLines(path) if record.get("type") == "assistant")
        try:
            return next(filter(None, models), None)
        except SourceError:
            return None

    def _envelope(self, record: dict[str, Any]) -> None:
        """Keep what the records say about the session: the first folder, the last branch, where it came from."""
        head = self.head
        if "cwd" not in head and (cwd := text_of(record.get("cwd"))):
            head["cwd"] = cwd
        if branch := text_of(record.get("gitBranch")):
            head["branch"] = branch
        if "forkedFrom" in record and (forked := text_of(fields(record["forkedFrom"]).get("sessionId"))):
            head.setdefault("forked", forked)

    # -- records -------------------------------------------------------------------------------------------------------

    def event(self, record: dict[str, Any], unknown: list[str]) -> Message | None:
        """The message that a record is; None for every other one."""
        key = text_of(record.get("uuid"))
        if key and key in self.chain:  # written twice
            return None
        message = self._message(record.get("type"), record, unknown)
        beside = not self.owner and (record.get("isSidechain") is True or bool(record.get("agentId")))
        if key and not beside:  # a sub-agent's records in its parent's file are a chain of their own
            self.chain.add(key, text_of(record.get("parentUuid")), None if message is None else message.index)
        if message is not None:
            self._envelope(record)
            self.next += 1
        return message

    def _message(self, kind: object, record: dict[str, Any], unknown: list[str]) -> Message | None:
        time = seconds(record.get("timestamp"))
        if kind == "assistant":
            if model := text_of(record.get("model")):
                self.head["model"] = model
            return Message(self.next, "assistant", time, tuple(answer(_content(record), _copied(record))))
        if kind == "tool_result":
            return Message(self.next, "tool", time, _results(_content(record), record))
        if kind == "user":
            return Message(self.next, "user", time, self._asked(record))
        if kind == "system":
            self._system(record, unknown)
        else:
            unknown.append(str(kind))
        return None

    def _asked(self, record: dict[str, Any]) -> tuple[Part, ...]:
        """What a person (or, for a sub-agent, its parent) asked; nothing when the record is the host's."""
        subtype = record.get("subtype")
        content = _content(record)
        if subtype is not None and subtype not in ASKED:
            return ()
        if record.get("provenance") not in (None, "real_user") and not self.owner:
            return ()
        shown = text_of(fields(record.get("systemPayload")).get("displayText"))
        text = typed(shown or text_in(content), True)
        return (Part("user_text", text, record=_copied(record)),) if text.strip() else ()

    def _system(self, record: dict[str, Any], unknown: list[str]) -> None:
        subtype, payload = record.get("subtype"), record.get("systemPayload")
        if subtype == "custom_title":
            self._title(fields(payload))
        elif subtype == "parent_session":
            self.head["parent"] = text_of(fields(payload).get("parentSessionId"))
        elif subtype not in SILENT:
            unknown.append(f"system {subtype}")

    def _title(self, payload: dict[str, Any]) -> None:
        """The last title, but none that was made up takes the place of one that was given."""
        given = payload.get("titleSource") != "auto"
        if (title := text_of(payload.get("customTitle"))) and (given or not self.head.get("given")):
            self.head["title"], self.head["given"] = title, given


def _content(record: dict[str, Any]) -> list[dict[str, Any]]:
    message = record.get("message")
    if message is not None and not isinstance(message, dict):
        raise TypeError("message")
    return parts_of((message or {}).get("parts"))


def _copied(record: dict[str, Any]) -> str | None:
    """The id of the record, or of the one that a fork copied it from."""
    copied = text_of(fields(record["forkedFrom"]).get("messageUuid")) if "forkedFrom" in record else None
    return copied or text_of(record.get("uuid"))


def _results(content: list[dict[str, Any]], record: dict[str, Any]) -> tuple[Part, ...]:
    told, key = fields(record.get("toolCallResult")), _copied(record)
    failed = told.get("status") in ("error", "cancelled")
    parts: list[Part] = []
    for response in (fields(part["functionResponse"]) for part in content if "functionResponse" in part):
        text = outcome(response.get("response")) or text_of(told.get("resultDisplay")) or ""
        if text.strip():
            kind = "tool_error" if failed or "error" in fields(response.get("response")) else "tool_output"
            parts.append(Part(kind, text, text_of(response.get("name")), record=key))
    return tuple(parts)
