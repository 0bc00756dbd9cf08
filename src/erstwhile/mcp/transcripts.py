"""Stretches of a session as a reply: long texts cut, all of it below the cap, every cut marked with how to read on."""

from __future__ import annotations

import re
from typing import NamedTuple

from erstwhile import render
from erstwhile.mcp.framing import CAP, NOTICE, TITLE, clean, framed, one_line, weight
from erstwhile.mcp.tool import Reply
from erstwhile.model import MessageView, Note, PartView, SessionInfo, Transcript
from erstwhile.snippet import visible

AROUND = 2500
"""Room kept for the border and the lines around it."""
ONE = 30_000
"""Characters of a text when it is asked for alone."""

RESULTS = ("tool_output", "tool_error")

_HEADING = re.compile(r"^(?=\[(?:\d+ |tool |section|reasoning|summary|text|cut))", re.MULTILINE)


class Lengths(NamedTuple):
    """Where texts are cut."""

    text: int = 2000
    arguments: int = 1200


class Page(NamedTuple):
    """Messages that fit, of those that were asked for."""

    messages: tuple[MessageView, ...]
    before: int
    """How many were left out before them, and after them."""
    after: int


# -- cutting -----------------------------------------------------------------------------------------------------------


def page(found: Transcript, centre: int, lengths: Lengths) -> Page:
    """The messages around position `centre` that fit, with their texts cut."""
    room = CAP - AROUND - weight(render.session(_titled(found.session)))
    short = [_slim(_shortened(message, lengths), room) for message in found.messages]
    weights = [weight(render.message(message)) + 2 for message in short]
    if not short:
        return Page((), 0, 0)
    first, last = centre, centre + 1
    room -= weights[centre]
    growing = True
    while growing:
        growing = False
        if last < len(short) and weights[last] <= room:
            room, last, growing = room - weights[last], last + 1, True
        if first > 0 and weights[first - 1] <= room:
            room, first, growing = room - weights[first - 1], first - 1, True
    return Page(tuple(short[first:last]), first, len(short) - last)


def _shortened(message: MessageView, lengths: Lengths) -> MessageView:
    return message._replace(parts=tuple(_cut(part, message.message_index, lengths) for part in message.parts))


def _cut(part: PartView, index: int, lengths: Lengths) -> PartView:
    text = visible(part.text, keep_lines=True).strip()
    limit = lengths.arguments if part.kind == "tool_input" else lengths.text
    if part.tool and part.kind == "tool_input":  # the name is indexed with the arguments; here it stands in the heading
        text = text.removeprefix(part.tool).lstrip()
    if len(text) > limit:
        text = text[:limit] + _mark(limit, len(text), index, limit < ONE)
    return part._replace(text=text)


def _mark(shown: int, length: int, index: int, more: bool) -> str:
    way = f"session_read with start={index} count=1 shows more" if more else "`erst show` prints all of it"
    return f"... [cut: {shown:,} of {length:,} characters; {way}]"


def _slim(message: MessageView, room: int) -> MessageView:
    """The message without the parts that do not fit: a message may hold a hundred calls, and JSON may double a text."""
    kept: list[PartView] = []
    for number, part in enumerate(message.parts):
        size = weight(render.part(part))
        if not kept and size > room:
            length = len(part.text) * (room - 300) // size
            part = part._replace(text=part.text[:length] + _mark(length, len(part.text), message.message_index, False))
            size = weight(render.part(part))
        if size > room - 300 and kept:
            left = len(message.parts) - number
            mark = f"\n... [cut: {left} more parts of this message; `erst show` prints them]"
            kept[-1] = kept[-1]._replace(text=kept[-1].text + mark)
            break
        kept.append(part)
        room -= size + 2
    return message._replace(parts=tuple(kept))


# -- showing -----------------------------------------------------------------------------------------------------------


def reply(session: SessionInfo, shown: Page, before: str, after: list[str], notes: list[Note], **more: object) -> Reply:
    """The messages between a line before and lines after, and the same as data."""
    body = "\n\n".join(block(message) for message in shown.messages)
    text = "\n".join([before, "", framed(body), *after]) if body else "\n".join([before, "", *after])
    data = render.transcript(Transcript(_titled(session), shown.messages))
    return Reply(text, clean(data | {"notes": [note._asdict() for note in notes], "notice": NOTICE} | more))


def _titled(session: SessionInfo) -> SessionInfo:
    return session._replace(title=one_line(session.title, TITLE) or None)


def block(message: MessageView) -> str:
    """One message under its heading `[42 user]`; calls and results are named."""
    lines, states = [_heading(message)], {part.state for part in message.parts}
    if len(states) == 1:
        lines += _state(message.parts[0])
    labelled = False
    for number, part in enumerate(message.parts):
        label = _label(part, message.role if number == 0 else "")
        if label or labelled:
            lines.append(label or "[text]")
        labelled = labelled or bool(label)
        lines += _state(part) if len(states) > 1 else []
        lines.append(_HEADING.sub(" ", part.text))  # a line of recalled text must not look like one of ours
    return "\n".join(lines).rstrip()


def _heading(message: MessageView) -> str:
    first = message.parts[0]
    result = f" {one_line(first.tool) or '?'} result" if message.role == "tool" and first.kind in RESULTS else ""
    return f"[{message.message_index} {one_line(message.role)}{result}]"


def _label(part: PartView, role: str) -> str:
    """What kind of text it is, where the heading does not say so. `role` is empty but for a message's first part."""
    if part.kind == "tool_input":
        return f"[tool call: {one_line(part.tool) or '?'}]"
    if part.kind in RESULTS:
        return "" if role == "tool" else f"[tool result: {one_line(part.tool) or '?'}]"
    if part.kind == "document":
        return f"[section: {one_line(part.heading)}]" if part.heading else ""
    return f"[{part.kind}]" if part.kind in ("reasoning", "summary") else ""


def _state(part: PartView) -> list[str]:
    return [f"({part.state.replace('_', ' ')})"] if part.state else []
