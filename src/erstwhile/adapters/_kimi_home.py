"""What Kimi's homes say of a session beside its log: title, folder, parent, whether it is archived."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..errors import SourceError
from ..model import Part, Session
from ._listing import stamp_of
from ._whole_file import whole_file
from .base import compact, fields, items, regular, text_of
from .kimi_cli import META, STATE


def cli_head(log: str, messages: int) -> Session:
    """The head of the Kimi CLI session or sub-agent whose log lies at `log`."""
    folder = os.path.dirname(log)
    if os.path.basename(log) not in ("wire.jsonl", "context.jsonl"):  # a flat file in the project's folder
        native = os.path.basename(log).removesuffix(".jsonl")
        return Session(f"kimi-cli:{native}", cwd=_cwd(folder), messages=messages)
    above = os.path.dirname(folder)
    if os.path.basename(above) != "subagents":
        state = object_in(os.path.join(folder, STATE))
        return Session(
            f"kimi-cli:{os.path.basename(folder)}",
            title=text_of(state.get("custom_title")),
            cwd=_cwd(above),
            archived=state.get("archived") is True,
            messages=messages,
        )
    parent, meta = os.path.dirname(above), object_in(os.path.join(folder, META))
    launch = fields(meta.get("launch_spec"))
    return Session(
        f"kimi-cli:{os.path.basename(folder)}",
        title=text_of(meta.get("description")),
        cwd=_cwd(os.path.dirname(parent)),
        model=text_of(launch.get("effective_model")) or text_of(launch.get("model_override")),
        parent=f"kimi-cli:{os.path.basename(parent)}",
        relation="subagent",
        archived=object_in(os.path.join(parent, STATE)).get("archived") is True,
        messages=messages,
    )


def object_in(path: str) -> dict[str, Any]:
    """The object in a side file; an empty one where it cannot be read."""
    try:
        return whole_file(path) if regular(path) else {}
    except SourceError:
        return {}


def _cwd(project: str) -> str | None:
    """The folder whose hash names the project's; Kimi lists the folders in which it was started."""
    listed = os.path.join(os.path.dirname(os.path.dirname(project)), "kimi.json")
    return _folders(listed, stamp_of(listed)).get(os.path.basename(project))


@lru_cache(maxsize=4)
def _folders(listed: str, _stamp: str) -> dict[str, str]:
    """The listed folders by the name that Kimi gives theirs."""
    from hashlib import md5

    found: dict[str, str] = {}
    for row in items(object_in(listed).get("work_dirs")):
        path, kaos = text_of(fields(row).get("path")), fields(row).get("kaos")
        if path:
            name = md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
            found[name if kaos in (None, "local") else f"{kaos}_{name}"] = path
    return found


# -- values that all three logs have -----------------------------------------------------------------------------------


def texts(content: object) -> str:
    """The text of a content: a string, or parts of which images are left out."""
    return content if isinstance(content, str) else "\n".join(text for kind, text in pieces(content) if kind == "text")


def pieces(content: object) -> Iterator[tuple[str, str]]:
    """(text or think, its text) of each part of a content."""
    if isinstance(content, str):
        yield "text", content
    for part in items(content):
        part = fields(part)
        kind = part.get("type")
        if kind in ("text", "think") and (text := text_of(part.get(kind))):
            yield kind, text


KINDS = {"text": "assistant_text", "think": "reasoning"}


def call(name: object, given: object) -> list[Part]:
    """A tool call; its arguments are JSON text or a value."""
    tool = text_of(name)
    if tool is None:
        return []
    return [Part("tool_input", f"{tool} {given if isinstance(given, str) else compact(given)}", tool)]
