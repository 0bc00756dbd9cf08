"""A transcript -> Markdown that shows the same text everywhere: recorded text can neither open nor close our blocks."""

from __future__ import annotations

from collections.abc import Iterator

from .model import MessageView, PartView, Transcript
from .render import utc
from .snippet import visible


def transcript(value: Transcript) -> str:
    """The session's head as a list of facts, then a heading a message."""
    session = value.session
    facts = {
        "session": session.session,
        "project": session.project,
        "branch": session.branch,
        "model": session.model,
        "started": utc(session.started),
        "ended": utc(session.ended),
        "parent": session.parent,
    }
    lines = [f"# {_line(session.title or session.session)}", ""]
    lines += (f"- {name}: {_code(fact)}" for name, fact in facts.items() if fact)
    for message in value.messages:
        lines += _message(message)
    return "\n".join(lines) + "\n"


def _message(value: MessageView) -> Iterator[str]:
    if not value.parts:
        return
    time = f" · {said}" if (said := utc(value.time)) else ""
    yield f"\n## {value.message_index} {value.role}{time}"
    for part in value.parts:
        yield ""
        yield from _part(part)


def _part(value: PartView) -> Iterator[str]:
    text = visible(value.text.rstrip(), keep_lines=True)
    if value.kind == "document" and value.heading:
        yield f"### {_line(value.heading)}"
        yield ""
    if value.kind in ("user_text", "assistant_text", "summary", "document") and not value.state:
        yield text
        return
    label = " ".join(word for word in (value.kind.replace("_", " "), value.tool, value.state) if word)
    fence = "`" * max(3, _longest_run(text) + 1)
    yield f"*{_line(label)}*"
    yield ""
    yield f"{fence}text\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    """The longest run of backticks, so that a fence can be longer."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _line(text: str) -> str:
    return visible(text).replace("*", "\\*").replace("_", "\\_").replace("`", "\\`")


def _code(text: str) -> str:
    return f"`{visible(text).replace('`', chr(39))}`"
