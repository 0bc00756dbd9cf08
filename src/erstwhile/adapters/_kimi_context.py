"""One context of Kimi CLI on its way to events: what the model saw, one message a line, as OpenAI's chats are.

Read only where there is no `wire.jsonl`, which keeps what compaction takes from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model import Event, Message, Part, Resume, Unknown
from ._kimi_home import KINDS, call, cli_head, pieces, texts
from ._parts import said
from .base import ODD, JsonLines, fields, items, odd, text_of


class Context:
    """One file."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.lines = JsonLines(path, since)
        since = since or {}
        self.next: int = since.get("next", 0)
        self.calls: dict[str, str] = dict(fields(since.get("calls")))

    def events(self) -> Iterator[Event]:
        unknown: list[str] = []
        shown = False
        for line, row in self.lines:
            try:
                role, parts = self._message(row)
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
                continue
            if role is None:
                name = str(row.get("role"))
                if not name.startswith("_"):  # Kimi's own bookkeeping
                    unknown.append(f"role {name}")
                continue
            if not shown:
                shown = True
                yield cli_head(self.lines.path, self.next)
            self.next += 1
            if parts:
                yield Message(self.next - 1, role, None, tuple(parts))
        if self.next:
            yield cli_head(self.lines.path, self.next)
        yield from (Unknown(kind) for kind in unknown)
        yield from self.lines.skipped
        yield Resume({**self.lines.state, "next": self.next, "calls": self.calls})

    def _message(self, row: dict[str, Any]) -> tuple[str | None, list[Part]]:
        """The role and parts of a message; no role for what is none."""
        role, content = row.get("role"), row.get("content")
        if role == "system":
            return role, []
        if role == "user":
            return role, said("user_text", "\n".join(t for k, t in pieces(content) if k == "text" and not _noted(t)))
        if role == "assistant":
            parts = [Part(KINDS[kind], text) for kind, text in pieces(content) if text.strip()]
            for one in items(row.get("tool_calls")):
                function = fields(fields(one).get("function"))
                if name := text_of(function.get("name")):
                    self.calls[str(fields(one).get("id"))] = name
                parts += call(function.get("name"), function.get("arguments"))
            return role, parts
        if role == "tool":
            text = texts(content)
            failed = text.startswith(("<system>ERROR", "<system>Error"))
            tool = self.calls.get(str(row.get("tool_call_id")))
            return role, said("tool_error" if failed else "tool_output", text, tool)
        return None, []


def _noted(text: str) -> bool:
    """Whether a part of a prompt is Kimi's note to the model, which is a part of its own."""
    return text.startswith(("<system>", "<system-reminder>")) and text.rstrip().endswith(
        ("</system>", "</system-reminder>")
    )
