"""Reads Qwen Code: one `.jsonl` file a session below `projects/<slug>/chats/`, its sub-agents below
`projects/<slug>/subagents/<session>/`, and the older chats that are as Gemini CLI's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._gemini_files import chats
from ._listing import entries, file_source, folders, stamp_of
from .base import Adapter, listing

if TYPE_CHECKING:
    from ..model import Event

CHATS, SUBAGENTS, PROJECTS, OLDER = "chats", "subagents", "projects", "tmp"


class QwenCode(Adapter):
    name = "qwen-code"
    roots = ("~/.qwen",)
    env = "QWEN_RUNTIME_DIR"
    more_env = ("QWEN_HOME",)
    formats = "`chats/ID.jsonl`, sub-agents, the older `.json`"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """`QWEN_RUNTIME_DIR` moves the sessions alone, `QWEN_HOME` everything."""
        moved = environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME")
        return [os.path.expanduser(moved)] if moved else super().homes(environ)

    def sources(self, root: Root) -> Iterable[Source]:
        home = os.path.normpath(root.path)
        older = os.path.join(home, OLDER)
        projects = os.path.join(home, PROJECTS)
        if os.path.isdir(projects):
            for project in listing(projects):
                if project.is_dir(follow_symlinks=False):
                    yield from self._project(project.path, root)
        else:
            listing(home)  # an unreadable root is an error
            yield from self._project(home, root)
        if os.path.isdir(older):
            yield from chats(self.name, root, older)

    def _project(self, folder: str, root: Root) -> Iterator[Source]:
        slug = os.path.basename(folder)
        own = os.path.join(folder, CHATS)
        for entry in entries(own if os.path.isdir(own) else folder):
            yield from self._source(entry, root, slug)
        for session in folders(os.path.join(folder, SUBAGENTS)):
            for entry in entries(session.path):
                beside = entry.path.removesuffix(".jsonl") + ".meta.json"
                yield from self._source(entry, root, slug, stamp_of(beside))

    def _source(self, entry: os.DirEntry[str], root: Root, slug: str, beside: str = "") -> Iterator[Source]:
        if entry.name.endswith(".jsonl") and not entry.is_dir(follow_symlinks=False):
            source = file_source(self.name, entry, root, slug, beside)
            if source is not None:
                yield source

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        if os.path.basename(source.path).startswith("session-"):
            from ._gemini_chat import Chat
            from ._gemini_files import parent_of, project_of

            chat = Chat(self.name, source.path, since)
            chat.cwd, chat.parent = project_of(source.path), parent_of(source.path)
            yield from chat.log() if source.path.endswith(".jsonl") else chat.file()
        else:
            from ._qwen_chat import QwenChat

            yield from QwenChat(source.path, since).events()

    def slug(self, folder: str) -> str | None:
        return re.sub(r"[^A-Za-z0-9]", "-", folder)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return None if "." in native else ["qwen", "--resume", native]
