"""Crush: a database in each project, `.crush/crush.db`, and a list of the projects in the user's data folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, fields, items, listing, seconds, side_object, text_of

if TYPE_CHECKING:
    import sqlite3

    from ..model import Event
    from ._sqlite import Row

DATABASE, FOLDER, PROJECTS = "crush.db", ".crush", "projects.json"
HELPER = "title-"
"""Starts the id of the session in which a title is made up."""
MAX_PROJECTS = 4 << 20
MESSAGE = 2_000


class Crush(Adapter):
    name = "crush"
    roots = ("~/.local/share/crush",)
    env = "CRUSH_GLOBAL_DATA"
    formats = "`crush.db`"
    also = "`.crush` of each project in its list"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        homes = super().homes(environ)
        if not environ.get("CRUSH_GLOBAL_DATA"):
            moved = (environ.get(name) or "" for name in ("XDG_DATA_HOME", "LOCALAPPDATA"))
            homes += [os.path.join(folder, "crush") for folder in moved if os.path.isabs(folder)]
        return list(dict.fromkeys(homes))

    def sources(self, root: Root) -> Iterable[Source]:
        """Of the projects that a data folder lists, of a project, or of a project's `.crush` folder."""
        from ._sqlite import sources

        names = {e.name for e in listing(root.path)}
        folders = [root.path] if DATABASE in names else []
        folders += [os.path.join(root.path, FOLDER)] if FOLDER in names else []
        folders += [data for data, _ in _projects(root.path)] if PROJECTS in names else []
        for folder in dict.fromkeys(map(os.path.normpath, folders)):
            yield from sources(self.name, root, os.path.join(folder, DATABASE), rows)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._crush_messages import session
        from ._sqlite import check, split

        path, native = split(source.path)
        if native is None:
            check(path, rows)
            return iter(())
        return session(path, native, self._project(os.path.dirname(path)))

    def _project(self, folder: str) -> str | None:
        """The project whose data folder it is; only a moved one has to be looked up."""
        if os.path.basename(folder) == FOLDER:
            return os.path.dirname(folder)
        listed = (pair for home in self.homes(os.environ) for pair in _projects(home))
        return next((project for data, project in listed if os.path.normpath(data) == folder), None)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return None if "$$" in native else ["crush", "--session", native]


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """The sessions that have messages. The last message grows in place, within one second of its time stamp too."""
    from ._sqlite import Row, newest, select

    wanted = ("updated_at", "title", "parent_session_id", "message_count")
    chosen = select(db, "sessions", ("id",), wanted, "s.")
    last = select(db, "messages", ("parts",), ("updated_at", "finished_at"), "l.")
    for row in db.execute(
        f"SELECT {chosen}, m.last, m.count, {last.replace('l.parts', 'length(CAST(l.parts AS BLOB))', 1)}"
        f" FROM sessions s JOIN {newest(db, 'sessions', 'messages')} m ON m.session_id = s.id"
        " JOIN messages l ON l.rowid = m.last"
    ):
        if not str(row["id"]).startswith(HELPER):
            yield Row(str(row["id"]), tuple(row)[1:], row["count"] * MESSAGE, seconds(row["updated_at"]))


def _projects(home: str) -> list[tuple[str, str]]:
    """(data folder, project) of each project in the list that lies in `home`."""
    listed = items(side_object(os.path.join(home, PROJECTS), MAX_PROJECTS).get("projects"))
    found: list[tuple[str, str]] = []
    for entry in map(fields, listed):
        project = text_of(entry.get("path"))
        if project and os.path.isabs(project):
            found.append((os.path.join(project, text_of(entry.get("data_dir")) or FOLDER), project))
    return found
