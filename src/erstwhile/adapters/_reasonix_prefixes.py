"""What a person typed, out of a Reasonix user message: the blocks that the program puts before and behind it taken off.

Each is taken off only where Reasonix puts it, since people quote such tags in their own sentences.
"""

from __future__ import annotations

import json
import re

from .base import fields, text_of

LEADING = (
    "response-language",
    "reasoning-language",
    "memory-update",
    "background-jobs",
    "active-goal",
    "autoresearch-runtime",
    "hook-context",
    "capability-route",
    "interrupted-turn-recovery",
    "execution-policy",
)
TRAILING = ("execution-policy", "memory-recall", "delivery-runtime")
SYNTHETIC = (
    "Plan approved — plan mode is off",
    "Plan approved - plan mode is off",
    "Host final-answer readiness check failed",
    "Host final-answer readiness check:",
    "Host progress check:",
    "Host progress redirect",
    "[Mid-turn notice from the host runtime",
    "You are already in the executor phase",
    "The previous assistant response was interrupted while a tool call",
    "The previous assistant response was interrupted during streaming",
    "The previous assistant response was interrupted before visible",
    "The previous assistant response finished without any visible answer",
    "上一条助手回复在工具调用流式输出期间被中断",
    "上一条助手回复在流式输出期间被中断",
    "上一条助手回复在完成可见答案文本前被流式中断",
    "上一条助手回复结束时没有任何可见答案文本",
    "<compaction-summary>",
    "<context-checkpoint>",
    "<session-context version=",
    "Summary of the later conversation (compacted",
    "Summary of earlier conversation (compacted",
    "Summary of the conversation (compacted",
    "Continue pursuing the active goal.",
    "Continue pursuing the active goal:",
    "The agent signaled goal completion and all tasks are marked done.",
    "A tool failed. Use read-only diagnosis",
    "The tool timed out or hit a transient execution limit.",
)
"""How messages begin that the program writes in the user's name."""
DEPTH = 24
"""How often an execution contract may hold another one; Reasonix stops there too."""

_LEADING = re.compile(rf"\s*<({'|'.join(LEADING)})(?:\s[^>]*)?>")
_BEHIND = re.compile(r"[^\S\n]*(?:\n|\Z|[<\[])")
"""What follows a block of the program: the end of its line, or the next thing that the program puts there."""
_CONTRACT = re.compile(r"\s*<memory-compiler-execution>\s*")
_CONTRACT_END = re.compile(r".*?</memory-compiler-execution>", re.DOTALL)
_PLAN_MODE = re.compile(r"\s*\[Plan mode[^\]]*\]\s*")
_REFERENCED = re.compile(r"\s*Referenced context:\s*")
_REFERENCE = re.compile(r"\s*<(file|dir|resource|image)(?:\s[^>]*)?>")
_HANDOFF = re.compile(r"\s*#+ [^\n]*executor handoff[ \t]*\n", re.IGNORECASE)
_STEER = re.compile(r"\s*\[Mid-turn steer queued by the user\.[^\]\n]*\][ \t]*\n?")


def typed(content: str) -> str | None:
    """What the person typed; None when the whole message is the program's own."""
    text = content
    for _ in range(DEPTH):
        stripped = _unwrapped(text)
        if stripped == text:
            break
        text = stripped
    text = text.strip()
    return None if not text or text.startswith(SYNTHETIC) else text


def title_of(text: str | None) -> str | None:
    """A title; None when it is only how a text of the program begins: titles are cut, so a block need not be closed."""
    return None if text is None or _LEADING.match(text) or text.startswith(SYNTHETIC) else text


def _unwrapped(text: str) -> str:
    """The text with one layer of each kind of wrapping taken off."""
    text = text[_behind(_LEADING, text, 0, _BEHIND) :]
    if match := _CONTRACT.match(text):
        text = _task_of_contract(text, match.end())
    if match := _PLAN_MODE.match(text):
        text = text[match.end() :]
    if match := _HANDOFF.match(text):
        text = _task_of_handoff(text)
    if match := _STEER.match(text):
        text = text[match.end() :]
    if (match := _REFERENCED.match(text)) and (end := _behind(_REFERENCE, text, match.end())) > match.end():
        text = text[end:]
    return _without_trailing(text)


def _behind(opening: re.Pattern[str], text: str, at: int, behind: re.Pattern[str] | None = None) -> int:
    """Where the whole blocks that stand at `at`, one after the other, have ended; each is followed by `behind`."""
    while match := opening.match(text, at):
        closing = f"</{match[1]}>"
        end = text.find(closing, match.end())
        if end < 0 or (behind and not behind.match(text, end + len(closing))):
            break
        at = end + len(closing)
    return at


def _task_of_contract(text: str, at: int) -> str:
    """The request inside the contract, which stands in place of the whole message, and what follows the contract.

    Decoded before its end is looked for, because the request may hold a contract, closing tag and all.
    """
    try:
        contract, at = json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        contract = None
    end = _CONTRACT_END.match(text, at)
    if end is None:
        return text
    decoded = fields(contract)
    request = text_of(fields(decoded.get("planner_ir")).get("source_event")) or text_of(decoded.get("source_event"))
    return (request or "") + text[end.end() :]


def _task_of_handoff(text: str) -> str:
    """The task that a handoff repeats between the planner's and the executor's words."""
    _, found, task = text.partition("Original task:")
    return task.partition("Planner output:")[0] if found else text


def _without_trailing(text: str) -> str:
    stop = len(text)
    while True:
        end = stop
        while end and text[end - 1].isspace():
            end -= 1
        start = next((at for tag in TRAILING if (at := _opened(text, tag, end)) is not None), None)
        if start is None:
            return text[:stop]
        stop = start


def _opened(text: str, tag: str, end: int) -> int | None:
    """Where the block of that tag begins that ends at `end` and has its lines for itself; None without one."""
    if not text.endswith(f"</{tag}>", 0, end):
        return None
    start = text.rfind(f"<{tag}", 0, end)
    whole = start >= 0 and text[start + len(tag) + 1] in "> \n\t"
    return start if whole and (start == 0 or text[start - 1] == "\n") else None
