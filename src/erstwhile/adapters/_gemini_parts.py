"""Contents as the Gemini API knows them (a string, a part, a list of parts), which Gemini CLI and Qwen Code record, and
what a person wrote in them without what the host adds. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..model import Part
from .base import compact, fields, text_of

REFERENCED, REFERENCED_END = "--- Content from referenced files ---", "--- End of content ---"
ACKNOWLEDGED = frozenset(("Got it. Thanks for the context!", "Got it. Thanks for the additional context!"))
"""Answers that the host puts into the model's mouth after its own first messages."""
_CONTEXT = ("session_context", "system-reminder")
_SNAPSHOT = "state_snapshot"
_SETUP = " We are setting up the context for our chat"


def parts_of(content: object) -> list[dict[str, Any]]:
    """The parts; raises TypeError for what is no content."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"text": content}]
    found = content if isinstance(content, list) else [content]
    parts: list[dict[str, Any]] = []
    for part in found:
        if not isinstance(part, (str, dict)):
            raise TypeError("content")
        parts.append({"text": part} if isinstance(part, str) else part)
    return parts


def text_in(parts: list[dict[str, Any]]) -> str:
    """The parts' texts, with the marks of what came with them, without thoughts."""
    if len(parts) == 1 and isinstance(text := parts[0].get("text"), str) and "thought" not in parts[0]:
        return text.strip("\n")
    return "".join(_text(part) for part in parts if not part.get("thought")).strip("\n")


def answer(parts: list[dict[str, Any]], record: str | None, told: Collection[object] = ()) -> list[Part]:
    """The parts of an answer: what was thought, what was said, what tools were asked but those that are `told`."""
    thoughts = "".join(_text(part) for part in parts if part.get("thought"))
    found = [Part("reasoning", thoughts, record=record)] if thoughts.strip() else []
    said = text_in(parts)
    if said.strip() and said not in ACKNOWLEDGED:
        found.append(Part("assistant_text", said, record=record))
    for asked in (fields(part["functionCall"]) for part in parts if "functionCall" in part):
        if not asked.get("id") or asked.get("id") not in told:
            found.append(call(asked.get("name"), asked.get("args"), record))
    return found


def _text(part: dict[str, Any]) -> str:
    text = part.get("text")
    if text is not None:
        if not isinstance(text, str):
            raise TypeError("text")
        return text
    if media := part.get("inlineData") or part.get("fileData"):
        media = fields(media)
        named = text_of(media.get("displayName")) or text_of(media.get("fileUri")) or text_of(media.get("mimeType"))
        return f"\n[{named or 'file'}]"
    if code := text_of(fields(part.get("executableCode")).get("code")):
        return f"\n{code}\n"
    return text_of(fields(part.get("codeExecutionResult")).get("output")) or ""


def typed(text: str, first: bool) -> str:
    """What the person wrote: without the host's context, which stands in front of everything (`first` says that this
    text does), without the contents of the files it names, and without what hooks added behind it."""
    if first:
        text = _without_context(text)
    text = _without_hooks(text)
    at = 0 if text.startswith(REFERENCED) else text.find(f"\n{REFERENCED}") + 1
    if (at or text.startswith(REFERENCED)) and text.rstrip().endswith(REFERENCED_END):
        text = text[:at]
    return text.strip("\n")


def _without_context(text: str) -> str:
    if text.startswith("This is ") and _SETUP in text[:120]:
        return ""
    for tag in _CONTEXT:
        while text.lstrip().startswith(f"<{tag}>"):
            _, closed, text = text.partition(f"</{tag}>")
            if not closed:
                return ""
            text = text.lstrip("\n")
    return text


def _without_hooks(text: str) -> str:
    while text.rstrip().endswith("</hook_context>"):
        start = text.rfind("<hook_context>")
        if start < 0 or (start and text[start - 1] != "\n"):
            break
        text = text[:start].rstrip("\n")
    return text


def snapshot(text: str) -> bool:
    """Whether a text is the summary that the host puts in the place of what it compressed."""
    text = text.strip()
    return text.startswith(f"<{_SNAPSHOT}>") and text.endswith(f"</{_SNAPSHOT}>")


def call(name: object, arguments: object, record: str | None) -> Part:
    """What a tool was asked."""
    tool = text_of(name) or "tool"
    return Part("tool_input", f"{tool} {compact(arguments)}", tool, record=record)


def outcome(response: object) -> str:
    """The text of a `functionResponse.response`: its output, its error, or all of it."""
    if isinstance(response, str):
        return response
    known = fields(response)
    for name in ("error", "output", "content", "result"):
        value = known.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, (dict, list)) and value:
            return compact(value)
    return compact(response) if response and not known.keys() <= {"error", "output", "content", "result"} else ""
