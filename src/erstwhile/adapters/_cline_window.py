"""What Cline's window showed: times for the messages to the model, and the conversation itself where those are lost."""

from __future__ import annotations

from typing import Any

from ..model import Message, Part
from ._parts import said
from .base import compact, decode, fields, seconds, text_of

USER, ANSWER, CALL, OUTPUT, FAULT = "user_text", "assistant_text", "tool_input", "tool_output", "tool_error"
KINDS = {
    "task": USER, "user_feedback": USER, "user_feedback_diff": USER,
    "text": ANSWER, "completion_result": ANSWER, "followup": ANSWER, "plan_mode_respond": ANSWER,
    "reasoning": "reasoning",
    "tool": CALL, "command": CALL, "browser_action_launch": CALL, "browser_action": CALL, "use_mcp_server": CALL,
    "mcp_server_response": OUTPUT, "command_output": OUTPUT, "browser_action_result": OUTPUT,
    "error": FAULT, "diff_error": FAULT, "clineignore_error": FAULT, "rooignore_error": FAULT,
    "condense_context": "summary",
}  # fmt: skip
"""What each `say` and `ask` brings; the others listed below bring nothing."""
SILENT = frozenset(
    """api_req_started api_req_finished api_req_retried api_req_retry_delayed api_req_deleted api_req_failed
    api_req_rate_limit_wait auto_approval_max_req_reached checkpoint_created checkpoint_saved codebase_search_result
    completion_result_retry condense condense_context_error deleted_api_reqs error_retry generate_explanation hook
    hook_status hook_output_stream image info load_mcp_documentation mcp_notification mcp_server_request_started
    mistake_limit_reached new_task report_bug resume_completed_task resume_task shell_integration_warning
    shell_integration_warning_with_suggestion sliding_window_truncation subtask_result summarize_task task_progress
    user_edit_todos""".split()
)
TOOLS = {"command": "execute_command", "browser_action_launch": "browser_action", "use_mcp_server": "use_mcp_tool"}
ROLES = {USER: "user", OUTPUT: "tool", FAULT: "tool"}


class Window:
    """The rows of one file; `time` is asked in the order of the messages to the model."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows: list[dict[str, Any]] = [fields(row) for row in rows]
        times = [time for row in self.rows if (time := seconds(row.get("ts")))]
        self.started, self.ended = (min(times), max(times)) if times else (None, None)
        self._at = 0
        self._time = self.started
        self._texts = [str(row.get("text") or "").strip() for row in self.rows]

    def time(self, index: int, parts: list[Part]) -> float | None:
        """When the message was shown: the time of the next row that says what one of its parts says, else the last."""
        said = {part.text.strip() for part in parts}
        for at in range(self._at, len(self.rows)):
            if self._texts[at] in said and self._texts[at]:
                self._at, self._time = at + 1, seconds(self.rows[at].get("ts")) or self._time
                break
        return self._time

    def message(self, index: int, unknown: list[str]) -> Message | None:
        """The row as a message; None for one that says nothing of its own."""
        row = self.rows[index]
        name = row.get("say") if row.get("type") == "say" else row.get("ask")
        kind = KINDS.get(str(name))
        if kind is None and name not in SILENT:
            unknown.append(f"{row.get('type')} {name}")
        if kind is None or row.get("partial") is True:
            return None
        if name == "text" and not any(self._texts[:index]):
            kind = USER  # older versions showed the task as any text
        parts = _parts(str(name), kind, row, self._texts[index])
        return Message(index, ROLES.get(kind, "assistant"), seconds(row.get("ts")), tuple(parts)) if parts else None


def _parts(name: str, kind: str, row: dict[str, Any], text: str) -> list[Part]:
    if kind == "summary":
        return said(kind, fields(row.get("contextCondense")).get("summary"))
    inside = _json(text)
    if name in ("followup", "plan_mode_respond"):
        return said(kind, text_of(inside.get("question")) or text_of(inside.get("response")) or text)
    if kind != CALL:
        return said(kind, text)
    tool = text_of(inside.get("tool")) or TOOLS.get(name, name)
    given = {key: value for key, value in inside.items() if key != "tool"}
    return said(kind, f"{tool} {compact(given) if given else text}", tool) if text else []


def _json(text: str) -> dict[str, Any]:
    try:
        return fields(decode(text.encode("utf-8", "replace"))) if text.startswith("{") else {}
    except ValueError:
        return {}
