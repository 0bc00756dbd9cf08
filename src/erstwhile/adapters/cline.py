"""Reads Cline, and the agents that were made from it: one folder a task under `tasks/`.

The conversation with the model is one JSON file, what the window showed another; both are rewritten whole. The list of
tasks lies beside `tasks/`. What is inside a task is read by `_cline_task`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._listing import entries, folders, stamp_of
from .base import Adapter, listing

if TYPE_CHECKING:
    from ..model import Event

API = "api_conversation_history.json"
WINDOWS = ("ui_messages.json", "claude_messages.json")
"""What the window showed; the second name is the older one."""
FILES = (API, *WINDOWS, "history_item.json", "task_metadata.json")
TASK_LISTS = (("state", "taskHistory.json"), ("tasks", "_index.json"))
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
SETTLED = 60 * 1_000_000_000
"""The list of tasks is written just after a task's own files: until it is this much newer, it is watched with them."""


class Cline(Adapter):
    name = "cline"
    roots = ("~/.cline",)
    env = "CLINE_DIR"
    more_env = ("CLINE_DATA_DIR",)
    aside = FILES
    """A task is claimed by one of its files; the others are read with it."""
    formats = "`tasks/ID/api_conversation_history.json`, `ui_messages.json`, the list of tasks"
    also = "`saoudrizwan.claude-dev` in the `globalStorage` of VS Code, VSCodium, Cursor and Windsurf"
    extension = "saoudrizwan.claude-dev"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """The command line's home and the extension's storage in each editor."""
        homes = super().homes(environ)
        data = environ.get("CLINE_DATA_DIR")
        return [*([os.path.expanduser(data)] if data and self.env else []), *homes, *self._storages(environ)]

    def _storages(self, environ: Mapping[str, str]) -> Iterator[str]:
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        bases = [
            environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
            os.path.join(home, "Library", "Application Support"),
            environ.get("APPDATA") or "",
        ]
        users = [os.path.join(base, editor, "User") for base in bases if base for editor in EDITORS]
        users += [os.path.join(home, f".{name}", "data", "User") for name in ("vscode-server", "cursor-server")]
        yield from (os.path.join(user, "globalStorage", self.extension) for user in users)

    def sources(self, root: Root) -> Iterable[Source]:
        for folder in _task_folders(root.path):
            listed = _newest(folder)
            for task in folders(folder):
                source = self._task(task.path, root, listed)
                if source is not None:
                    yield source

    def _task(self, folder: str, root: Root, listed: tuple[int, str]) -> Source | None:
        """One task, named by the file of its conversation, or by what the window showed where there is none."""
        stamps: list[str] = []
        size = newest = 0
        found: list[str] = []
        for entry in entries(folder):
            if entry.name not in FILES or not entry.is_file(follow_symlinks=False):
                continue
            try:
                stat = entry.stat(follow_symlinks=False)
            except OSError:  # gone between listing and stat
                continue
            found.append(entry.name)
            stamps.append(f"{entry.name}:{stat.st_size}:{stat.st_mtime_ns}")
            size, newest = size + stat.st_size, max(newest, stat.st_mtime_ns)
        main = next((name for name in (API, *WINDOWS) if name in found), None)
        if main is None:
            return None
        if listed[0] - newest < SETTLED:
            stamps.append(listed[1])
        path = os.path.join(folder, main)
        return Source(self.name, path, " ".join(stamps), size, newest / 1e9, role=root.role)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._cline_task import Task  # listing happens on every search, reading does not

        return Task(self.name, os.path.dirname(source.path)).events()


def _task_folders(path: str) -> Iterator[str]:
    """The folders of tasks that a root means: itself, or that of a storage or of a home."""
    names = {e.name for e in listing(path)}
    if os.path.basename(os.path.normpath(path)) == "tasks":
        yield path
    for below in ("tasks", os.path.join("data", "tasks")):
        if below.split(os.sep)[0] in names and os.path.isdir(inner := os.path.join(path, below)):
            yield inner


def task_lists(tasks: str) -> list[str]:
    """Where the list of the tasks in a folder may lie."""
    return [os.path.join(os.path.dirname(os.path.normpath(tasks)), *names) for names in TASK_LISTS]


def _newest(tasks: str) -> tuple[int, str]:
    """When the list of tasks was written last, in nanoseconds, and its stamp."""
    stamps = [stamp for stamp in map(stamp_of, task_lists(tasks)) if stamp]
    return max((int(stamp.partition(":")[2]) for stamp in stamps), default=0), "+".join(stamps)
