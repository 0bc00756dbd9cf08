"""Goose: every session in one database, `sessions.db`, and older ones as `<id>.jsonl` beside it.

The import into the database leaves the old files behind, so a session that is in both is read from the database.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, listing, seconds, walk

if TYPE_CHECKING:
    import sqlite3

    from ..model import Event
    from ._sqlite import Row

DATABASE = "sessions.db"
FOLDERS = ("sessions", os.path.join("data", "sessions"))
"""Where the sessions lie below a home."""
MESSAGE = 2_000
"""Bytes that a message comes to, about."""


class Goose(Adapter):
    name = "goose"
    roots = (
        "~/.local/share/goose/sessions",
        "~/Library/Application Support/Block/goose/sessions",
        "~/Library/Application Support/Block.block.goose/sessions",
    )
    env = "GOOSE_PATH_ROOT"
    formats = "`sessions.db`, the older `ID.jsonl`"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        moved = environ.get("GOOSE_PATH_ROOT") or ""
        if os.path.isabs(moved):
            return [os.path.join(moved, FOLDERS[1])]
        homes = super().homes({k: v for k, v in environ.items() if k != "GOOSE_PATH_ROOT"})
        data = environ.get("XDG_DATA_HOME") or ""
        roaming = environ.get("APPDATA") or ""
        homes += [os.path.join(data, "goose", "sessions")] if os.path.isabs(data) else []
        homes += [os.path.join(roaming, "Block", "goose", "data", "sessions")] if roaming else []
        return list(dict.fromkeys(homes))

    def sources(self, root: Root) -> Iterable[Source]:
        from ._sqlite import sources

        names = {e.name for e in listing(root.path)}
        below = [os.path.join(root.path, f) for f in FOLDERS]
        folder = root.path if DATABASE in names else next(filter(os.path.isdir, below), root.path)
        stored = list(sources(self.name, root, os.path.join(folder, DATABASE), rows))
        yield from stored
        taken = {s.path.rpartition("#")[2] for s in stored}
        for entry in walk(folder, lambda name: name.endswith(".jsonl"), depth=0):
            if entry.name.removesuffix(".jsonl") not in taken:
                yield Source(self.name, entry.path, entry.stamp, entry.size, entry.mtime_ns / 1e9, role=root.role)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._goose_messages import legacy, session
        from ._sqlite import check, split

        path, native = split(source.path)
        if native is not None:
            return session(path, native)
        if path.endswith(".jsonl"):
            return legacy(path)
        check(path, rows)
        return iter(())

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["goose", "session", "--resume", "--session-id", native]


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """The sessions that have messages. A message that changes is a new row, and all of them when many change."""
    from ._sqlite import Row, newest, select

    wanted = ("updated_at", "name", "description", "session_type", "archived_at", "parent_session_id")
    chosen = select(db, "sessions", ("id",), wanted, "s.")
    select(db, "messages", ("id", "session_id"))
    for row in db.execute(
        f"SELECT {chosen}, m.last, m.count FROM sessions s"
        f" JOIN {newest(db, 'sessions', 'messages')} m ON m.session_id = s.id WHERE m.last IS NOT NULL"
    ):
        yield Row(
            str(row["id"]),
            tuple(row)[1:],
            row["count"] * MESSAGE,
            seconds(utc(row["updated_at"])),
            row["session_type"] == "hidden",
        )


def utc(value: object) -> object:
    """A time of the database, text without its zone, as text with it."""
    return f"{value}+00:00" if isinstance(value, str) and not value.endswith("Z") and "+" not in value else value
