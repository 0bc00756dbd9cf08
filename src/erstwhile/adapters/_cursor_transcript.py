"""Transcripts of Cursor's agent: lines `{role, message: {content}}` without times or results, or older plain text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from ..errors import SourceError
from ..model import Event, Message, Part, Resume, Session, Source, Unknown
from ._cursor_text import prompt
from ._parts import said
from .base import ODD, JsonLines, Reread, compact, fields, items, listing, odd, text_of
from .cursor import SUBAGENTS, encoded

MAX_TEXT = 64 << 20
SILENT = frozenset(("image", "redacted_thinking"))
_SPEAKER = re.compile(r"^(user|assistant):[ \t]*$", re.MULTILINE)


def transcript(source: Source, since: dict[str, Any] | None) -> Iterator[Event]:
    """The session of a transcript. Raises SourceError and Reread."""
    folder, name = os.path.split(source.path)
    parent = os.path.basename(os.path.dirname(folder)) if os.path.basename(folder) == SUBAGENTS else None
    head = Session(
        f"cursor:{os.path.splitext(name)[0]}",
        cwd=_cwd(source.slug) if source.slug else None,
        parent=f"cursor:{parent}" if parent else None,
        relation="subagent" if parent else None,
    )
    if name.endswith(".jsonl"):
        yield from _lines(source.path, head, since)
    elif since is not None:
        raise Reread(source.path)
    else:
        yield from _text(source.path, head)


def _lines(path: str, head: Session, since: dict[str, Any] | None) -> Iterator[Event]:
    index = int(since["index"]) if since else 0
    lines = JsonLines(path, since)
    yield head
    for line, row in lines:
        role = row.get("role")
        if role not in ("user", "assistant"):
            yield Unknown(f"line of role {role}")
            continue
        try:
            yield from _message(index, role, fields(row.get("message")).get("content"))
        except ODD as error:
            yield odd(line, error)
        index += 1
    yield from lines.skipped
    yield head._replace(messages=index)
    yield Resume({**lines.state, "index": index})


def _message(index: int, role: str, content: object) -> Iterator[Event]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else map(fields, items(content))
    parts: list[Part] = []
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            text = block.get("text")
            parts += said("user_text", prompt(text)) if role == "user" else said("assistant_text", text)
        elif kind == "thinking":
            parts += said("reasoning", block.get("thinking"))
        elif kind == "tool_use":
            name = text_of(block.get("name")) or "tool"
            given = block.get("input")
            parts += said("tool_input", f"{name} {compact(given)}" if given is not None else name, name)
        elif kind not in SILENT:
            yield Unknown(f"content {kind}")
    if parts:
        yield Message(index, role, None, tuple(parts))


def _text(path: str, head: Session) -> Iterator[Event]:
    """The older form: a line `user:` or `assistant:` and then what was said."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_TEXT).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    pieces = _SPEAKER.split(text)
    if len(pieces) == 1:
        yield Unknown("transcript of an unknown form")
        return
    yield head._replace(messages=len(pieces) // 2)
    for index, (role, words) in enumerate(zip(pieces[1::2], pieces[2::2], strict=True)):
        told = prompt(words.strip()) if role == "user" else words.strip()
        if parts := said(f"{role}_text", told):
            yield Message(index, role, None, tuple(parts))


def _cwd(slug: str) -> str:
    """The folder that a project folder's name stands for: the existing one that is encoded so, else a guess."""
    return _existing(os.sep, slug) or "/" + slug.replace("-", "/")


def _existing(folder: str, slug: str) -> str | None:
    try:
        entries = [e for e in listing(folder) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return None
    for entry in entries:
        name = encoded(entry.name)
        if name and slug == name:
            return entry.path
        if name and slug.startswith(f"{name}-") and (found := _existing(entry.path, slug[len(name) + 1 :])):
            return found
    return None
