"""OpenCode: databases `opencode*.db`, and the tree of JSON files that it wrote before.

The migration leaves the tree behind, so a session that is in a database is not read from the tree.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any, NamedTuple
from .base import Adapter, listing, seconds

if TYPE_CHECKING:
    import sqlite3

    from ..model import Event
    from ._sqlite import Row

MESSAGE = 4_000
"""Bytes that a message with its parts comes to, about."""


class Tree(NamedTuple):
    """Where one session of the JSON tree lies."""

    info: str
    messages: str
    """The folder of its messages, `<message>.json`."""
    parts: str
    """The folder of the folders of their parts, `<message>/<part>.json`."""

    @property
    def native(self) -> str:
        return os.path.basename(self.info).removesuffix(".json")


class OpenCode(Adapter):
    name = "opencode"
    roots = ("~/.local/share/opencode",)
    more_env = ("OPENCODE_DB",)
    formats = "`opencode*.db`, the older tree of JSON files"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """The data folder, and the folder of the database where that was moved."""
        data = environ.get("XDG_DATA_HOME") or ""
        homes = [os.path.join(data, "opencode")] if os.path.isabs(data) else super().homes(environ)
        moved = environ.get("OPENCODE_DB") or ""
        return homes + ([os.path.dirname(moved)] if os.path.isabs(moved) else [])

    def sources(self, root: Root) -> Iterable[Source]:
        from ._sqlite import sources

        names = [e.name for e in listing(root.path) if e.name.endswith(".db")]
        named = [name for name in names if name.startswith("opencode")]
        taken: set[str] = set()
        for name in named or names:
            for source in sources(self.name, root, os.path.join(root.path, name), rows):
                taken.add(source.path.rpartition("#")[2])
                yield source
        for tree in trees(root.path):
            if tree.native not in taken:
                yield from _source(root, tree)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._opencode_messages import stored, written
        from ._sqlite import check, split

        path, native = split(source.path)
        if native is not None:
            return stored(path, native)
        if path.endswith(".json"):
            return written(tree_of(path))
        check(path, rows)
        return iter(())

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["opencode", "--session", native]


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """The sessions that have messages.

    A turn ends with new parts or with a change of its last message, so the newest of both tell whether there is more.
    """
    from ._sqlite import Row, newest, select

    wanted = ("time_updated", "time_archived", "title", "parent_id", "revert")
    chosen = select(db, "session", ("id",), wanted, "s.")
    select(db, "message", ("id", "session_id", "data"))
    select(db, "part", ("id", "session_id", "message_id", "data"))
    last = select(db, "message", (), ("time_updated",), "l.").replace("time_updated", "time_updated AS touched")
    last = last.replace("NULL AS time_updated AS touched", "NULL AS touched")
    for row in db.execute(
        f"SELECT {chosen}, m.count, m.last, {last}, p.last AS part FROM session s"
        f" JOIN {newest(db, 'session', 'message')} m ON m.session_id = s.id JOIN message l ON l.rowid = m.last"
        f" LEFT JOIN {newest(db, 'session', 'part', counted=False)} p ON p.session_id = s.id"
    ):
        yield Row(str(row["id"]), tuple(row)[1:], row["count"] * MESSAGE, seconds(row["time_updated"]))


# -- the tree of files -------------------------------------------------------------------------------------------------


def trees(home: str) -> Iterator[Tree]:
    """The sessions of the JSON tree, and those of the older trees with one folder a project."""
    storage = os.path.join(home, "storage")
    for project in _folders(os.path.join(storage, "session")):
        for info in _files(project):
            yield tree_of(info)
    for project in _folders(os.path.join(home, "project")):
        for info in _files(os.path.join(project, "storage", "session", "info")):
            yield tree_of(info)


def tree_of(info: str) -> Tree:
    """The session whose file `info` is."""
    folder, name = os.path.split(info)
    native = name.removesuffix(".json")
    above = os.path.dirname(folder)
    if os.path.basename(folder) == "info":
        return Tree(info, os.path.join(above, "message", native), os.path.join(above, "part", native))
    storage = os.path.dirname(above)
    return Tree(info, os.path.join(storage, "message", native), os.path.join(storage, "part"))


def _source(root: Root, tree: Tree) -> Iterator[Source]:
    """The session, its stamp made of its file and of its last message."""
    messages = _names(tree.messages)
    if not messages:
        return
    last = max(messages)
    looked_at = (
        tree.info,
        tree.messages,
        os.path.join(tree.messages, last),
        os.path.join(tree.parts, last.removesuffix(".json")),
    )
    stats = [stat for path in looked_at if (stat := _stat(path))]
    stamp = "+".join(f"{stat.st_size}:{stat.st_mtime_ns}" for stat in stats)
    mtime = max(stat.st_mtime for stat in stats)
    yield Source(OpenCode.name, tree.info, stamp, len(messages) * MESSAGE, mtime, role=root.role)


def _folders(path: str) -> list[str]:
    try:
        return [e.path for e in listing(path) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _files(path: str) -> list[str]:
    try:
        return [e.path for e in listing(path) if e.name.endswith(".json") and e.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return []


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None
