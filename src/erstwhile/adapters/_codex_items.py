"""What a Codex response item says: its kind, text and tool, whose words it holds, and whether a tool failed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .base import compact, fields, items, text_of

INJECTED = (
    "INSTRUCTIONS",
    "apps_instructions",
    "collaboration_mode",
    "environment_context",
    "environments_instructions",
    "hook_prompt",
    "model_switch",
    "permissions instructions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "skill",
    "skills_instructions",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_instructions",
    "user_shell_command",
)
"""The tags around what the host writes in the user's name. It fills a text of its own with it, from end to end."""

OUTPUTS = frozenset(
    ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output")
)
SILENT = frozenset(
    """compaction compaction_summary context_compaction ghost_snapshot other tool_search_output
    additional_tools""".split()
)
"""Items that hold nothing a person could read."""

RECORD_LENGTH = 16
"""Shorter ids are counters of one session (`call_1`), not names that are unique for the agent."""

_GUIDE = "# AGENTS.md instructions"
_OPENED = re.compile(rf"<({'|'.join(INJECTED)})(?:\s[^<>\n]*)?>")
_CLOSED = re.compile(rf"</({'|'.join(INJECTED)})>\Z")
_IDE = "# Context from my IDE setup:"
_IDE_REQUEST = re.compile(r"^## My request for Codex:\s*", re.MULTILINE)
_CWD = re.compile(r"<cwd>(.*?)</cwd>|^\s*Current working directory:\s*(.+?)\s*$", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"Process exited with code (-?\d+)|^Exit code: (-?\d+)", re.MULTILINE)
_EXIT_JSON = re.compile(r'"exit_code"\s*:\s*(-?\d+)')
_FAILURES = (
    "aborted by user",
    "apply_patch verification failed",
    "collab spawn failed",
    "exec_command failed",
    "execution error",
    "failed to parse function arguments",
    "Script failed",
    "tool call error",
    "unsupported call",
    "write_stdin failed",
)


class Piece(NamedTuple):
    """An item as one part would say it; `text` may be empty."""

    role: str
    kind: str
    text: str
    tool: str | None = None


def piece(item: dict[str, Any]) -> Piece | None:
    """The item that is neither a user message nor an output, as a Piece; None for a type not known."""
    kind = item.get("type")
    if kind == "message":
        role = item.get("role")
        if role == "assistant":
            return Piece("assistant", "assistant_text", "\n".join(_texts(item.get("content"))))
        return Piece("user" if role == "user" else "system", "", "")
    if kind == "reasoning":
        return Piece("assistant", "reasoning", "\n\n".join(_texts(item.get("summary"))))
    if kind in SILENT:
        return Piece("system", "", "")
    call = _call(kind, item)
    return Piece("assistant", "tool_input", f"{call[0]} {call[1]}".rstrip(), call[0]) if call else None


def _call(kind: object, item: dict[str, Any]) -> tuple[str, str] | None:
    """The tool and what it was asked."""
    action = fields(item.get("action"))
    if kind == "function_call":
        arguments = item.get("arguments")
        return _name(item), arguments if isinstance(arguments, str) else compact(arguments)
    if kind == "custom_tool_call":
        given = item.get("input")
        return _name(item), given if isinstance(given, str) else compact(given)
    if kind == "local_shell_call":
        return "local_shell", " ".join(map(str, items(action.get("command"))))
    if kind == "web_search_call":
        asked = [action.get(k) for k in ("query", "url", "pattern")]
        asked += items(action.get("queries")) if not action.get("query") else []
        return "web_search", " ".join(a for a in asked if isinstance(a, str))
    if kind == "tool_search_call":
        return "tool_search", compact(item.get("arguments") or item.get("query") or {})
    if kind == "image_generation_call":  # `result` is the image itself
        return "image_generation", text_of(item.get("revised_prompt")) or ""
    return None


def _name(item: dict[str, Any]) -> str:
    name, space = text_of(item.get("name")) or "tool", text_of(item.get("namespace"))
    return f"{space.rstrip('_')}__{name}" if space else name


def _texts(content: object) -> Iterator[str]:
    """The texts of a content list; an image gives a mark in place of its bytes."""
    if isinstance(content, str):
        yield content
    for part in map(fields, items(content)):
        text = part.get("text")
        if isinstance(text, str):
            yield text
        elif part.get("type") in ("input_image", "image", "local_image", "input_file"):
            yield f"[{part.get('filename') or str(part.get('type')).removeprefix('input_')}]"


def own_words(content: object) -> str:
    """What the person wrote in a user message; empty when the host wrote all of it."""
    return "\n".join(filter(None, (_own(text) for text in _texts(content)))).strip("\n")


def _own(text: str) -> str:
    head = text.lstrip()
    if is_injected(head):
        return ""
    if head.startswith(_IDE) and (found := _IDE_REQUEST.search(head)):
        return head[found.end() :]
    return text


def is_injected(text: str) -> bool:
    """Whether a text that does not begin with white space is the host's.

    A person may begin with such a tag, to ask about it: then words follow in the same line, or behind the closing tag.
    """
    if text.startswith(_GUIDE):
        text = text.partition("\n")[2].lstrip()
    opened = _OPENED.match(text)
    if opened is None:
        return False
    text = text.rstrip()
    if _CLOSED.search(text, max(0, len(text) - 60)):
        return True
    return f"</{opened[1]}>" not in text and text[opened.end() : opened.end() + 1] in ("\n", "\r", "<", "{", "")


def title_of(text: str) -> str | None:
    """A title; None when it is only how an injected text begins: titles are cut, so it need not be closed."""
    head = text.strip()
    return None if not head or head.startswith(_GUIDE) or _OPENED.match(head) else head


def folder_of(content: object) -> str | None:
    """The working folder that an `<environment_context>` message names: old files hold it nowhere else."""
    for text in _texts(content):
        if text.lstrip().startswith("<environment_context>") and (found := _CWD.search(text)):
            return (found[1] or found[2]).strip() or None
    return None


def output(value: object) -> tuple[str, bool]:
    """The text of a tool's output in any of its shapes, and whether it says that the tool failed."""
    whole = fields(value)
    inner = whole.get("content", whole.get("output")) if whole else value
    text = inner if isinstance(inner, str) else "".join(_texts(inner))
    if not text and whole:
        text = compact(whole)
    return text, whole.get("success") is False or says_failed(text)


def says_failed(text: str) -> bool:
    """Whether an output reports a failure: an exit code in its head or in its JSON frame, or the host's own words."""
    head = text[:400]
    if head.startswith(('{"output"', '{"metadata"')):
        code = _EXIT_JSON.search(text, max(0, len(text) - 200)) or _EXIT_JSON.match(head[13:].lstrip("{: "))
        return (code is not None and code[1] != "0") or head.startswith('{"output":"apply_patch verification failed')
    if "code" in head and (code := _EXIT.search(head)) is not None:
        return (code[1] or code[2]) != "0"
    return head.startswith(_FAILURES)


def verdict(event: dict[str, Any]) -> tuple[str, bool] | None:
    """(id, failed) from an event that tells how a call ended; None from any other."""
    kind = event.get("type")
    if kind == "item_completed":
        return _item_verdict(fields(event.get("item")))
    if kind == "exec_command_end":
        failed = event.get("exit_code") not in (None, 0)
    elif kind == "patch_apply_end":
        failed = event.get("success") is False
    elif kind == "mcp_tool_call_end":
        answer = fields(event.get("result"))
        failed = "Err" in answer or fields(answer.get("Ok")).get("isError") is True
    else:
        return None
    return str(event.get("call_id")), failed


def _item_verdict(item: dict[str, Any]) -> tuple[str, bool] | None:
    if item.get("type") not in ("CommandExecution", "FileChange", "McpToolCall"):
        return None
    failed = item.get("status") in ("failed", "declined") or item.get("exit_code") not in (None, 0)
    return str(item.get("id")), failed or bool(item.get("error"))


def record_id(item: dict[str, Any]) -> str | None:
    """The item's own name where it is one: the same in a fork's copy of it."""
    call = item.get("call_id")
    name = f"{call}:output" if call and item.get("type") in OUTPUTS else call or item.get("id")
    return name if isinstance(name, str) and len(name) >= RECORD_LENGTH else None


def from_event(event: dict[str, Any]) -> list[Piece]:
    """What a UI event says, for the files that hold no response items."""
    kind = event.get("type")
    if kind == "user_message":
        return [Piece("user", "user_text", _own(text_of(event.get("message")) or ""))]
    if kind == "agent_message":
        return [Piece("assistant", "assistant_text", text_of(event.get("message")) or "")]
    if kind == "agent_reasoning":
        return [Piece("assistant", "reasoning", text_of(event.get("text")) or "")]
    return _from_item(fields(event.get("item"))) if kind == "item_completed" else []


def _from_item(item: dict[str, Any]) -> list[Piece]:
    kind = item.get("type")
    if kind == "UserMessage":
        return [Piece("user", "user_text", own_words(item.get("content")))]
    if kind in ("AgentMessage", "Plan"):
        text = "\n".join(_texts(item.get("content"))) or text_of(item.get("text")) or ""
        return [Piece("assistant", "assistant_text", text)]
    if kind == "Reasoning":
        summary = item.get("summary_text")
        return [Piece("assistant", "reasoning", summary if isinstance(summary, str) else "\n\n".join(items(summary)))]
    failed = _item_verdict(item)
    answer = "tool_error" if failed and failed[1] else "tool_output"
    if kind == "CommandExecution":
        command = " ".join(map(str, items(item.get("command"))))
        printed = text_of(item.get("aggregated_output")) or ""
        return _tool("exec_command", command, answer, printed)
    if kind == "McpToolCall":
        name = f"{item.get('server')}__{item.get('tool')}"
        said = item.get("error") or item.get("result")
        return _tool(name, compact(item.get("arguments")), answer, output(said)[0] if said else "")
    if kind == "FileChange":
        return _tool("apply_patch", compact(item.get("changes")), answer, "")
    if kind == "WebSearch":
        return _tool("web_search", text_of(item.get("query")) or "", answer, "")
    return []


def _tool(name: str, asked: str, answer: str, said: str) -> list[Piece]:
    call = Piece("assistant", "tool_input", f"{name} {asked}".rstrip(), name)
    return [call, Piece("tool", answer, said, name)] if said else [call]
