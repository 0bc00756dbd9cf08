"""Reads OpenAI Codex: rollout files under `sessions/` and `archived_sessions/`, and the titles kept beside them.

A title changes without its rollout, so the two files that hold titles are sources of their own. What is inside a
rollout is read by `_codex_rollout`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, Entry, JsonLines, listing, text_of, walk

if TYPE_CHECKING:
    import sqlite3

    from ..model import Event, RawRecord

FOLDERS = ("sessions", "archived_sessions")
INDEX = "session_index.jsonl"
_HOME_FILES = frozenset((INDEX, "config.toml", "auth.json", "history.jsonl"))


class Codex(Adapter):
    name = "codex"
    roots = ("~/.codex",)
    env = "CODEX_HOME"
    aside = ("history.jsonl", "rollout-*.jsonl.zst")
    """What was typed; and the packed copy of a rollout, which is read where the plain one is missing."""
    more_env = ("CODEX_SQLITE_HOME",)
    formats = (
        "`rollout-*.jsonl`, `.jsonl.zst`, the older `.json`; titles from `session_index.jsonl` and `state_N.sqlite`"
    )

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """Codex's home, and the folder of its state database where that was moved."""
        homes = super().homes(environ)
        moved = environ.get("CODEX_SQLITE_HOME")
        return homes + [m for m in [os.path.expanduser(moved)] if m not in homes] if moved else homes

    def sources(self, root: Root) -> Iterable[Source]:
        names = {e.name for e in listing(root.path)}
        folders = [os.path.join(root.path, f) for f in FOLDERS if f in names]
        titles = self._titles(root, names)
        if not folders and not titles and not _HOME_FILES & names:
            folders = [root.path]
        best: dict[str, tuple[tuple[bool, bool], Entry]] = {}
        for folder in folders:
            for entry in walk(folder, _is_rollout) if os.path.isdir(folder) else ():
                name = entry.name.removesuffix(".zst")
                # One session may be there twice while it is compressed or archived: the plain file wins.
                rank = (entry.name.endswith(".zst"), "archived_sessions" in entry.path)
                if name not in best or rank < best[name][0]:
                    best[name] = rank, entry
        return [*titles, *(self._source(entry, root, entry.stamp) for _, entry in best.values())]

    def _titles(self, root: Root, names: set[str]) -> list[Source]:
        """The title index, and the newest state database."""
        states = sorted((number, n) for n in names if (number := _state(n)) is not None)
        found: list[Source] = []
        for name in [INDEX] * (INDEX in names) + [name for _, name in states[-1:]]:
            entries = [_entry(os.path.join(root.path, n)) for n in (name, f"{name}-wal")]
            if entries[0]:
                stamp = "+".join(e.stamp for e in entries if e)
                found.append(self._source(entries[0], root, stamp))
        return found

    def _source(self, entry: Entry, root: Root, stamp: str) -> Source:
        return Source(self.name, entry.path, stamp, entry.size, entry.mtime_ns / 1e9, role=root.role)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        name = os.path.basename(source.path)
        if name == INDEX:
            yield from _index_titles(source.path)
        elif _state(name) is not None:
            yield from _state_titles(source.path)
        else:
            from ._codex_rollout import Rollout  # listing happens on every search, reading does not

            yield from Rollout(source.path, since).events()

    def records(self, source: Source) -> Iterator[RawRecord]:
        if source.path.endswith((".jsonl", ".zst", ".json")) and os.path.basename(source.path) != INDEX:
            from ._codex_rollout import records

            yield from records(source.path)
        else:
            yield from super().records(source)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["codex", "resume", native]


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst", ".json"))


def _state(name: str) -> int | None:
    """The number of a state database's name; None for any other name."""
    number = name.removeprefix("state_").removesuffix(".sqlite")
    return int(number) if number.isdecimal() and name == f"state_{number}.sqlite" else None


def _entry(path: str) -> Entry | None:
    """The regular file at `path`, or None."""
    try:
        stat = os.lstat(path)
    except OSError:
        return None
    return Entry(path, os.path.basename(path), stat.st_size, stat.st_mtime_ns) if os.path.isfile(path) else None


def _index(lines: JsonLines) -> dict[str, str]:
    """Session id -> title; the last entry of an id wins."""
    from ._codex_items import title_of

    named: dict[str, str] = {}
    for _, row in lines:
        native, title = text_of(row.get("id")), title_of(text_of(row.get("thread_name")) or "")
        if native and title:
            named[native] = title
    return named


def _index_titles(path: str) -> Iterator[Event]:
    from ..model import Title  # what adapters produce is loaded by whoever reads, not by every search

    lines = JsonLines(path)
    yield from (Title(title, session=f"codex:{native}") for native, title in _index(lines).items())
    yield from lines.skipped


def _state_titles(path: str) -> Iterator[Event]:
    """Titles of the sessions that the title index does not name.

    A title that is only the start of the first question is none, and where the table does not keep the question one
    cannot tell.
    """
    from ..model import Title
    from ._codex_items import title_of

    rows = _threads(path)
    indexes = {os.path.join(home, INDEX) for home in [os.path.dirname(path), *(_home(r[3]) for r in rows)] if home}
    named = {native for index in indexes if os.path.isfile(index) for native in _index(JsonLines(index))}
    for native, title, first, _ in rows:
        words = (title_of(title) or "").rstrip(".… \n")
        if native not in named and words and not " ".join(first.split()).startswith(" ".join(words.split())):
            yield Title(title.strip(), session=f"codex:{native}")


def _threads(path: str) -> list[tuple[str, str, str, str]]:
    """(id, title, first question, rollout path) of each thread; raises SourceError."""
    from ._sqlite import ask, columns

    wanted = ("id", "title", "first_user_message", "rollout_path")

    def question(db: sqlite3.Connection) -> list[Any]:
        if not columns(db, "threads").issuperset(wanted):
            return []
        return db.execute("SELECT id, title, first_user_message, rollout_path FROM threads ORDER BY id").fetchall()

    return [(i, t, f, p or "") for i, t, f, p in ask(path, question) if all(isinstance(v, str) for v in (i, t, f))]


def _home(rollout: str) -> str:
    """The folder above `sessions` in a rollout's path: the state database may lie elsewhere than the title index."""
    found = re.match(r"(.+)[/\\](?:archived_)?sessions[/\\]", rollout)
    return found[1] if found else ""
