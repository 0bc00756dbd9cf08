"""Reads Aider: `.aider.chat.history.md` in each project, which have no common home, so the user names their folders.

A file holds many sessions, one below another. What is inside is read by `_aider_history`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, listing, regular

if TYPE_CHECKING:
    from ..model import Event

HISTORY = ".aider.chat.history.md"
DEPTH = 4
"""How far below a root projects are looked for: a source tree may hold a million files."""
NO_PROJECTS = frozenset("node_modules venv env __pycache__ target build dist vendor site-packages".split())
"""Folders that are never entered, nor is any whose name starts with a dot."""


class Aider(Adapter):
    name = "aider"
    env = "AIDER_CHAT_HISTORY_FILE"
    formats = f"`{HISTORY}` in each project below the folders you add"
    also = "the folders you add"
    file_roots = True

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """The one file that Aider's variable names; every project has its own otherwise."""
        moved = os.path.expanduser(environ.get("AIDER_CHAT_HISTORY_FILE") or "")
        return [moved] if os.path.isabs(moved) else []

    def sources(self, root: Root) -> Iterable[Source]:
        paths = _histories(root.path) if os.path.isdir(root.path) else [root.path]
        for path in paths:
            if not regular(path):
                yield Source(self.name, path, "", role=root.role, excluded="a link, or not a regular file")
                continue
            stat = os.lstat(path)
            stamp = f"{stat.st_size}:{stat.st_mtime_ns}"
            yield Source(self.name, path, stamp, stat.st_size, stat.st_mtime, role=root.role)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._aider_history import History  # listing happens on every search, reading does not

        yield from History(source.path, since).events()


def _histories(folder: str, depth: int = DEPTH) -> Iterator[str]:
    """The histories in a folder and below. Aider writes to the root of a repository, so below one lies none; only the
    folder that the user named is entered all the same, when it has no history of its own."""
    entries = listing(folder)
    names = {e.name for e in entries}
    if HISTORY in names:
        yield os.path.join(folder, HISTORY)
    if ".git" in names and (HISTORY in names or depth < DEPTH):
        return
    for entry in entries if depth else ():
        if entry.name.startswith(".") or entry.name in NO_PROJECTS or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            yield from _histories(entry.path, depth - 1)
        except OSError:  # a folder that may not be entered costs only itself
            continue
