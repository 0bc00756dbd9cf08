"""Cursor: chats of the editor in its state databases, transcripts of its agent, and the stores of its command line.

A conversation may lie in more than one of them under the same id; of a transcript and a store the transcript is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, Entry, listing, regular, seconds, walk

if TYPE_CHECKING:
    import sqlite3

    from ..model import Event
    from ._sqlite import Row

STATE, STORE = "state.vscdb", "store.db"
WORKSPACES = "workspaceStorage"
TRANSCRIPTS, SUBAGENTS = "agent-transcripts", "subagents"
COMPOSER = "composerData:"
CHAT = 20_000
"""Bytes that a chat comes to, about."""


class Cursor(Adapter):
    name = "cursor"
    roots = ("~/.config/Cursor/User", "~/Library/Application Support/Cursor/User", "~/.cursor")
    formats = "`state.vscdb`, agent transcripts, `store.db` of the command line"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        roaming = environ.get("APPDATA") or ""
        return super().homes(environ) + ([os.path.join(roaming, "Cursor", "User")] if roaming else [])

    def sources(self, root: Root) -> Iterable[Source]:
        """Of the editor's `User` folder or the one above, of `~/.cursor`, or of its `projects` or `chats`."""
        names = {e.name for e in listing(root.path)}
        user = os.path.join(root.path, "User") if "User" in names else root.path
        yield from self._databases(root, user)
        yield from self._transcripts(root, os.path.join(root.path, "projects") if "projects" in names else root.path)

    def _databases(self, root: Root, user: str) -> Iterator[Source]:
        from ._sqlite import sources, whole

        yield from sources(self.name, root, os.path.join(user, "globalStorage", STATE), rows)
        for folder in _folders(os.path.join(user, WORKSPACES)):
            path = os.path.join(folder.path, STATE)
            if regular(path):
                yield whole(self.name, root, path)

    def _transcripts(self, root: Root, projects: str) -> Iterator[Source]:
        found: set[str] = set()
        for project in _folders(projects):
            try:
                entries = list(walk(os.path.join(project.path, TRANSCRIPTS), _is_transcript, depth=3))
            except OSError:
                continue
            for entry in _best(entries):
                found.add(os.path.splitext(entry.name)[0])
                mtime = entry.mtime_ns / 1e9
                yield Source(self.name, entry.path, entry.stamp, entry.size, mtime, project.name, root.role)
        yield from self._stores(root, found)

    def _stores(self, root: Root, taken: set[str]) -> Iterator[Source]:
        from ._sqlite import whole

        chats = os.path.join(root.path, "chats")
        for project in _folders(chats if os.path.isdir(chats) else root.path):
            for chat in _folders(project.path) if re.fullmatch("[0-9a-f]{32}", project.name) else ():
                path = os.path.join(chat.path, STORE)
                if chat.name not in taken and regular(path):
                    yield whole(self.name, root, path)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._sqlite import check, split

        path, native = split(source.path)
        folder, name = os.path.split(path)
        if native is not None:
            from ._cursor_composer import composer

            return composer(path, native)
        if name == STORE:
            from ._cursor_store import store

            return store(path)
        if name != STATE:
            from ._cursor_transcript import transcript

            return transcript(source, since)
        if os.path.basename(os.path.dirname(folder)) == WORKSPACES:
            from ._cursor_composer import old_chats

            return old_chats(path)
        check(path, rows)
        return iter(())

    def slug(self, folder: str) -> str | None:
        return encoded(folder)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        """The command line's own; a chat of the editor cannot be continued by a command."""
        chats = _folders(os.path.expanduser("~/.cursor/chats"))
        known = any(os.path.isfile(os.path.join(folder.path, native, STORE)) for folder in chats)
        return ["cursor-agent", "--resume", native] if known else None


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """The editor's chats. Each time that Cursor writes one it gets another rowid, or other headers in place of the old.

    Reads no value that the newer index of chats makes unnecessary: there may be gigabytes of them.
    """
    from ._sqlite import Row, columns, select

    select(db, "cursorDiskKV", ("key", "value"))
    dated = {"composerId", "lastUpdatedAt"} <= columns(db, "composerHeaders")
    updated = "h.lastUpdatedAt" if dated else "NULL"
    headers = " LEFT JOIN composerHeaders h ON h.composerId = substr(k.key, 14)" if dated else ""
    for key, row, updated_at, size in db.execute(
        f"SELECT k.key, k.rowid, {updated}, CASE WHEN {updated} IS NULL THEN length(CAST(k.value AS BLOB)) END"
        f" FROM cursorDiskKV k{headers} WHERE k.key >= 'composerData:' AND k.key < 'composerData;'"
    ):
        yield Row(str(key).removeprefix(COMPOSER), (row, updated_at, size), size or CHAT, seconds(updated_at))


def encoded(folder: str) -> str:
    """A project's path as Cursor names its folder: `/home/dev/shop` is `home-dev-shop`."""
    return re.sub("[^A-Za-z0-9]+", "-", folder).strip("-")


def _is_transcript(name: str) -> bool:
    return name.endswith((".jsonl", ".txt"))


def _best(entries: list[Entry]) -> Iterator[Entry]:
    """Of a transcript that is there as lines and as text, the lines."""
    lines = {e.path.removesuffix(".jsonl") for e in entries if e.name.endswith(".jsonl")}
    yield from (e for e in entries if e.name.endswith(".jsonl") or e.path.removesuffix(".txt") not in lines)


def _folders(path: str) -> list[os.DirEntry[str]]:
    try:
        return [e for e in listing(path) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
