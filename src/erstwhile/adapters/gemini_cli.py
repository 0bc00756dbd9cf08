"""Reads Gemini CLI: one chat a file below `tmp/<project>/chats/`, a log of operations (`.jsonl`) or one older record
(`.json`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._gemini_files import chats
from .base import Adapter

if TYPE_CHECKING:
    from ..model import Event


class GeminiCli(Adapter):
    name = "gemini-cli"
    roots = ("~/.gemini", "~/.cache/.gemini")
    env = "GEMINI_CLI_HOME"
    formats = "`chats/*.jsonl`, the older `.json`"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """The variable moves the home folder that `.gemini` lies in."""
        homes = super().homes(environ)
        return [os.path.join(h, ".gemini") for h in homes] if environ.get("GEMINI_CLI_HOME") else homes

    def sources(self, root: Root) -> Iterable[Source]:
        home = os.path.normpath(root.path)
        projects = os.path.join(home, "tmp")
        return chats(self.name, root, projects if os.path.isdir(projects) else home)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._gemini_chat import Chat
        from ._gemini_files import parent_of, project_of

        chat = Chat(self.name, source.path, since)
        chat.cwd, chat.parent = project_of(source.path), parent_of(source.path)
        yield from chat.log() if source.path.endswith(".jsonl") else chat.file()

    def slug(self, folder: str) -> str | None:
        """Of the older folders; newer ones have a registered short name and say themselves what they stand for."""
        from hashlib import sha256

        return sha256(folder.encode("utf-8", "replace")).hexdigest()

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        # Only whole sessions have such an id; sub-agents are named by their call.
        return ["gemini", "--resume", native] if len(native) == 36 and native.count("-") == 4 else None
