"""Messages between Cline and the model, taken apart: what the person wrote, what the host wrapped around it, tools that
are called in tags or as blocks, and their results. Pure."""

from __future__ import annotations

import re
from typing import Any

from ..model import Part
from ._parts import said
from .base import compact, fields, items, text_of

ERROR = re.compile(
    r"Error\b|\[ERROR\]|The tool execution failed|Missing value for required parameter|Invalid JSON argument"
    r"|Command (?:executed|failed|execution)[^\n]*(?:not successful|exit code:? (?!0\b)-?\d+)"
    r"|Command executed in terminal[^\n]*\n?[^\n]*Exit code: (?!0\b)-?\d+"
)
"""How the text of a result begins that tells of a failure; results in tags have no field for it."""
PERSON = ("task", "feedback", "user_message", "answer")
"""Tags around what the person wrote."""
HOST = (
    "<environment_details>",
    "<explicit_instructions",
    "[ERROR] You did not use a tool",
    "[TASK RESUMPTION]",
    "[NOTE] Some previous conversation history",
    "# task_progress",
    "# TODO LIST",
    "The user has provided feedback on the results.",
    "New message to respond to with plan_mode_respond",
    "New instructions for task continuation",
    "You seem to be having trouble proceeding.",
)
"""How a block begins that the host wrote; what the person said stands in it in tags."""
DENIED = ("The user denied this operation", "[The user denied", "The user provided feedback", "The user rejected")
ANSWERED = frozenset("attempt_completion ask_followup_question plan_mode_respond plan_mode_response new_task".split())
"""Tools whose result is what the person answers."""
SPOKEN = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
    "plan_mode_response": "response",
}
"""Tools by which the model speaks to the person, and the argument it does so in."""
TOOLS = frozenset(
    """access_mcp_resource apply_diff ask_followup_question attempt_completion browser_action codebase_search condense
    edit_file execute_command fetch_instructions generate_image insert_content list_code_definition_names list_files
    load_mcp_documentation new_rule new_task plan_mode_respond plan_mode_response read_file replace_in_file
    report_bug run_slash_command search_and_replace search_files switch_mode update_todo_list use_mcp_tool web_fetch
    web_search write_to_file""".split()
)
"""Names that are tools when they stand as tags in an answer; any other tag is text."""
_WRAPPED = re.compile(rf"<({'|'.join(PERSON)})>(.*?)</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(\w+)(?: for '.*?'| to '.*?')?[^\]\n]*\] Result:[ \t]*\n*", re.DOTALL)
_THINKING = re.compile(r"\s*<thinking>(.*?)</thinking>", re.DOTALL)
_CALL = re.compile(rf"^<({'|'.join(sorted(TOOLS))})>(.*?)^\s*</\1>", re.DOTALL | re.MULTILINE)
_ARGUMENT = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+?)\) Files$", re.MULTILINE)


def folder_in(text: str) -> str | None:
    """The folder that a block of details names."""
    found = _FOLDER.search(text) if "<environment_details>" in text else None
    return found[1] if found else None


def without_details(text: str) -> str:
    """The text without the host's block of details, which is the last thing in it and begins on a line of its own."""
    text = text.strip()
    if text.endswith("</environment_details>"):
        start = text.rfind("<environment_details>\n")
        if start == 0 or (start > 0 and text[start - 1] == "\n"):
            return text[:start].strip()
    return text


class Conversation:
    """Takes messages in order; knows which tools were called, to name their results."""

    def __init__(self, unknown: list[str]) -> None:
        self.unknown = unknown
        self.calls: dict[str, str] = {}
        self.awaited: str | None = None
        """The tool whose result the next text is, where its name stands in a text before."""

    def message(self, row: dict[str, Any]) -> tuple[str, list[Part]]:
        """The role and parts of one record."""
        if row.get("type") == "reasoning":
            return "assistant", said("reasoning", _plain(row.get("text") or row.get("summary") or row.get("content")))
        content = row.get("content")
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else [fields(b) for b in items(content)]
        )
        if row.get("isTruncationMarker"):
            return "system", []
        if row.get("isSummary"):
            return "assistant", said("summary", _plain(content))
        role = row.get("role")
        if role not in ("user", "assistant"):
            self.unknown.append(f"role {role}")
            return "system", []
        self.awaited = None
        parts = said("reasoning", row.get("reasoning_content")) if role == "assistant" else []
        for block in blocks:
            parts += self._answer(block) if role == "assistant" else self._input(block)
        results = parts and all(part.kind.startswith("tool_") for part in parts)
        return ("tool" if role == "user" and results else role), parts

    # -- what the model wrote ------------------------------------------------------------------------------------------

    def _answer(self, block: dict[str, Any]) -> list[Part]:
        kind = block.get("type")
        if kind == "text":
            return _answered(str(block.get("text") or ""))
        if kind in ("reasoning", "thinking"):
            return said("reasoning", _plain(block.get("text") or block.get("thinking") or block.get("summary")))
        if kind == "tool_use":
            return self._called(block)
        if kind not in ("image", "redacted_thinking", "thoughtSignature", "document"):
            self.unknown.append(f"block {kind}")
        return []

    def _called(self, block: dict[str, Any]) -> list[Part]:
        name = text_of(block.get("name"))
        if name is None:
            return []
        if isinstance(block.get("id"), str):
            self.calls[block["id"]] = name
        given = block.get("input")
        if spoken := text_of(fields(given).get(SPOKEN.get(name, ""))):
            return said("assistant_text", spoken)
        return said("tool_input", f"{name} {given if isinstance(given, str) else compact(given)}", name)

    # -- what the model was told ---------------------------------------------------------------------------------------

    def _input(self, block: dict[str, Any]) -> list[Part]:
        kind = block.get("type")
        if kind == "tool_result":
            return _result(_plain(block.get("content")), self._tool(block), block.get("is_error") is True)
        if kind == "text":
            return self._told(without_details(str(block.get("text") or "")))
        if kind not in ("image", "document"):
            self.unknown.append(f"block {kind}")
        return []

    def _tool(self, block: dict[str, Any]) -> str | None:
        return text_of(block.get("name")) or self.calls.get(str(block.get("tool_use_id")))

    def _told(self, text: str) -> list[Part]:
        """The parts of a text: a result that a heading announces, the person's words in their tags, or plain words."""
        if not text:
            return []
        if heading := _RESULT.match(text):
            self.awaited = heading[1]
            text = text[heading.end() :].strip()
            return _result(text, self.awaited, False) if text else []
        if text.startswith(HOST):
            return _wrapped(text)
        if _WRAPPED.match(text):
            return _wrapped(text)
        if self.awaited and not text.startswith("<"):
            return _result(text, self.awaited, False)
        return said("user_text", text)


def _result(text: str, tool: str | None, failed: bool) -> list[Part]:
    """What a tool gave, or what the person said instead."""
    text = without_details(text)
    if tool in ANSWERED or text.startswith((*DENIED, *HOST)):
        if words := _wrapped(text):
            return words
        if tool in ANSWERED and not failed:
            return [] if text.startswith(HOST) else said("tool_output", text, tool)
    return said("tool_error" if failed or ERROR.match(text) else "tool_output", text, tool)


def _wrapped(text: str) -> list[Part]:
    """What the person wrote in a text of the host. Files that were mentioned stand outside the tags."""
    return [part for found in _WRAPPED.finditer(text) for part in said("user_text", found[2].strip())]


def _answered(text: str) -> list[Part]:
    """An answer in which thoughts and tool calls are tags."""
    parts: list[Part] = []
    if thought := _THINKING.match(text):
        parts += said("reasoning", thought[1].strip())
        text = text[thought.end() :]
    at = 0
    for call in _CALL.finditer(text):
        parts += said("assistant_text", text[at : call.start()].strip())
        parts += _tagged(call[1], call[2])
        at = call.end()
    return parts + said("assistant_text", text[at:].strip())


def _tagged(name: str, inside: str) -> list[Part]:
    """A call in tags, as the tool's name, its first argument, and the others by name."""
    given = {found[1]: found[2] for found in _ARGUMENT.finditer(inside)}
    if spoken := text_of(given.get(SPOKEN.get(name, ""))):
        return said("assistant_text", spoken.strip())
    given.pop("requires_approval", None)
    first, *others = given.items() if given else [("", inside.strip())]
    return said("tool_input", "\n".join([f"{name} {first[1]}", *(f"{k}: {v}" for k, v in others)]), name)


def _plain(content: object) -> str:
    """The text of a content: a string, or blocks of which images are left out."""
    if isinstance(content, str):
        return content
    texts = (block if isinstance(block, str) else fields(block).get("text") for block in items(content))
    return "\n".join(text for text in texts if isinstance(text, str) and text)
