"""Reads GitHub Copilot CLI: `session-state/<id>/events.jsonl` with a `workspace.yaml` beside it, older
`session-state/<id>.jsonl`, and the oldest `history-session-state/session_<id>_<time>.json`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._listing import entries, file_source, stamp_of
from .base import Adapter, listing

if TYPE_CHECKING:
    from ..model import Event

EVENTS = "events.jsonl"
WORKSPACE = "workspace.yaml"
STATE, HISTORY = "session-state", "history-session-state"


class CopilotCli(Adapter):
    name = "copilot-cli"
    roots = ("~/.copilot",)
    env = "COPILOT_HOME"
    formats = "`events.jsonl` with `workspace.yaml`, older `.jsonl` and `.json`"

    def sources(self, root: Root) -> Iterable[Source]:
        home = os.path.normpath(root.path)
        stores = [os.path.join(home, STATE), os.path.join(home, HISTORY)]
        there = [store for store in stores if os.path.isdir(store)]
        for store in there or [home]:
            yield from self._store(store, root, not there)

    def _store(self, folder: str, root: Root, required: bool) -> Iterator[Source]:
        for entry in listing(folder) if required else entries(folder):
            if entry.is_dir(follow_symlinks=False):
                yield from self._session(entry.path, root)
            elif entry.name.endswith(".jsonl") or (entry.name.startswith("session_") and entry.name.endswith(".json")):
                source = file_source(self.name, entry, root)
                if source is not None:
                    yield source

    def _session(self, folder: str, root: Root) -> Iterator[Source]:
        for entry in entries(folder):
            if entry.name == EVENTS:
                source = file_source(self.name, entry, root, beside=stamp_of(os.path.join(folder, WORKSPACE)))
                if source is not None:
                    yield source

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        if source.path.endswith(".json"):
            from ._copilot_history import history

            yield from history(source.path)
        else:
            from ._copilot_events import EventLog

            yield from EventLog(source.path, since).events()

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["copilot", "--resume", native]
