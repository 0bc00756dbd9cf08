"""Reads Pi: one `.jsonl` file a session under `sessions/--<folder>--/`, a tree of entries with a header before them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._listing import entries, file_source
from .base import Adapter, listing

if TYPE_CHECKING:
    from ..model import Event

_CODED = str.maketrans("/\\:", "---")


class Pi(Adapter):
    name = "pi"
    roots = ("~/.pi/agent",)
    env = "PI_CODING_AGENT_DIR"
    formats = "`ID.jsonl`, a tree"

    def sources(self, root: Root) -> Iterable[Source]:
        home = os.path.normpath(root.path)
        sessions = os.path.join(home, "sessions")
        return self._below(sessions if os.path.isdir(sessions) else home, root)

    def _below(self, folder: str, root: Root) -> Iterator[Source]:
        """The sessions in `folder` (where `--session-dir` puts them) and in the projects' folders below it."""
        for entry in listing(folder):
            inside = entries(entry.path) if entry.is_dir(follow_symlinks=False) else [entry]
            for file in inside:
                if file.name.endswith(".jsonl") and not file.is_dir(follow_symlinks=False):
                    slug = os.path.basename(os.path.dirname(file.path))
                    source = file_source(self.name, file, root, slug)
                    if source is not None:
                        yield source

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._pi_session import PiSession

        yield from PiSession(source.path, since).events()

    def slug(self, folder: str) -> str | None:
        return f"--{folder[1:] if folder[:1] in ('/', chr(92)) else folder}--".translate(_CODED)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["pi", "--session", native]
