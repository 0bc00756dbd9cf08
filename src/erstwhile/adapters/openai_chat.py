"""Reads plain OpenAI-style chats, which lie anywhere: the user names their folders or files.

Three shapes: one message a line (the file is the session), one conversation a line, and one JSON value that holds
messages or conversations. What is inside a file is read by `_openai_chat`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, walk

if TYPE_CHECKING:
    from ..model import Event

SUFFIXES = (".jsonl", ".ndjson", ".json")


class OpenaiChat(Adapter):
    name = "openai-chat"
    formats = "`.jsonl` of messages or of conversations, `.json`"
    also = "the folders you add"
    file_roots = True

    def sources(self, root: Root) -> Iterable[Source]:
        folder, name = (root.path, "") if os.path.isdir(root.path) else os.path.split(root.path)
        for entry in walk(folder, (lambda n: n == name) if name else _is_chat, 0 if name else 12):
            yield Source(self.name, entry.path, entry.stamp, entry.size, entry.mtime_ns / 1e9, role=root.role)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._openai_chat import Chat  # listing happens on every search, reading does not

        yield from Chat(source.path, since).events()


def _is_chat(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.startswith(".")
