"""Hermes: one database a profile, `state.db` in its home and `profiles/<name>/state.db` below it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, listing, seconds

if TYPE_CHECKING:
    import sqlite3

    from ..model import Event
    from ._sqlite import Row

DATABASE, PROFILES = "state.db", "profiles"
MESSAGE = 2_000
FACTS = (
    "started_at",
    "ended_at",
    "end_reason",
    "title",
    "model",
    "cwd",
    "git_branch",
    "parent_session_id",
    "message_count",
    "rewind_count",
    "last_activity_at",
    "archived",
    "hidden",
)
"""What a session's row tells of a change; `rewind_count` grows when messages are taken back."""


class Hermes(Adapter):
    name = "hermes"
    roots = ("~/.hermes",)
    env = "HERMES_HOME"
    formats = "`state.db`, `profiles/NAME/state.db`"

    def sources(self, root: Root) -> Iterable[Source]:
        from ._sqlite import sources

        folders = [root.path]
        profiles = os.path.join(root.path, PROFILES)
        if any(e.name == PROFILES and e.is_dir(follow_symlinks=False) for e in listing(root.path)):
            folders += [e.path for e in listing(profiles) if e.is_dir(follow_symlinks=False)]
        for folder in folders:
            yield from sources(self.name, root, os.path.join(folder, DATABASE), rows)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._hermes_messages import session
        from ._sqlite import check, split

        path, native = split(source.path)
        if native is None:
            check(path, rows)
            return iter(())
        return session(path, native)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["hermes", "--resume", native]


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """The sessions that have messages."""
    from ._sqlite import Row, newest, select

    chosen = select(db, "sessions", ("id",), FACTS, "s.")
    select(db, "messages", ("id", "session_id"))
    for row in db.execute(
        f"SELECT {chosen}, m.last, m.count FROM sessions s"
        f" JOIN {newest(db, 'sessions', 'messages')} m ON m.session_id = s.id WHERE m.last IS NOT NULL"
    ):
        time = seconds(row["last_activity_at"]) or seconds(row["ended_at"]) or seconds(row["started_at"])
        yield Row(str(row["id"]), tuple(row)[1:], row["count"] * MESSAGE, time, row["hidden"] == 1)
