"""Where Gemini CLI (and Qwen Code, when it was still a copy of it) keeps chats: `tmp/<project>/chats/session-*.jsonl`
or older `.json`, sub-agents in `chats/<session>/`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._listing import entries, file_source, stamp_of
from .base import decode, fields, listing, regular, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

CHATS = "chats"
PROJECT = ".project_root"
REGISTERS = ("projects.json", "trustedFolders.json")
MAX_FILE = 1 << 20


def chats(agent: str, root: Root, folder: str) -> Iterator[Source]:
    """The chats in `folder`: one that holds projects' folders, a project's own, or one of chats. Raises OSError."""
    found = listing(folder)
    names = {entry.name for entry in found}
    if CHATS in names:
        yield from _project(agent, root, folder)
    elif os.path.basename(folder) == CHATS or any(name.startswith("session-") for name in names):
        yield from _chats(agent, root, folder, found, "")
    else:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from _project(agent, root, entry.path)


def _project(agent: str, root: Root, folder: str) -> Iterator[Source]:
    inside = os.path.join(folder, CHATS)
    if os.path.isdir(inside) and not os.path.islink(inside):
        yield from _chats(agent, root, inside, entries(inside), stamp_of(os.path.join(folder, PROJECT)))


def _chats(
    agent: str, root: Root, folder: str, found: Iterable[os.DirEntry[str]], beside: str, slug: str | None = None
) -> Iterator[Source]:
    """The chats in one folder, and below those in the folders of their sub-agents."""
    slug = slug or os.path.basename(os.path.dirname(folder))
    inside = list(found)
    names = {entry.name for entry in inside}
    for entry in inside:
        if entry.is_dir(follow_symlinks=False):
            if os.path.basename(folder) == CHATS:
                yield from _chats(agent, root, entry.path, entries(entry.path), beside, slug)
        elif entry.name.endswith(".jsonl") or (entry.name.endswith(".json") and f"{entry.name}l" not in names):
            source = file_source(agent, entry, root, slug, beside)
            if source is not None:
                yield source


def parent_of(path: str) -> str | None:
    """The session whose sub-agent's chat the file is."""
    above, name = os.path.split(os.path.dirname(path))
    return name if os.path.basename(above) == CHATS else None


def project_of(path: str) -> str | None:
    """The folder that a chat's project stands for; None when nobody says."""
    folder = os.path.dirname(path)
    while os.path.basename(folder) != CHATS:
        folder, name = os.path.split(folder)
        if not name:
            return None
    project = os.path.dirname(folder)
    if own := _first_line(os.path.join(project, PROJECT)):
        return own
    home, name = os.path.dirname(os.path.dirname(project)), os.path.basename(project)
    if own := _first_line(os.path.join(home, "history", name, PROJECT)):
        return own
    return _registered(home, name)


def _registered(home: str, name: str) -> str | None:
    """The registered folder with that short name, or the one whose hash the name is."""
    from hashlib import sha256

    for register in REGISTERS:
        known = _object(os.path.join(home, register))
        for path, short in fields(known.get("projects", known)).items():
            if short == name or sha256(path.encode("utf-8", "replace")).hexdigest() == name:
                return path
    return None


def _object(path: str) -> dict[str, Any]:
    try:
        return fields(decode(_bytes(path)))
    except ValueError:
        return {}


def _first_line(path: str) -> str | None:
    return text_of(_bytes(path).decode("utf-8-sig", "replace").strip())


def _bytes(path: str) -> bytes:
    """Its first MAX_FILE bytes; empty when there is no such file."""
    if not regular(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_FILE)
    except OSError:
        return b""
