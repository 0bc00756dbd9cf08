"""The folders that the user added: collections of notes, and further roots of other agents."""

from __future__ import annotations

import os
import sqlite3

from ..values import NamedTuple
from .connection import transaction
from .reading import added
from .sources import remove


class Folder(NamedTuple):
    agent: str
    path: str
    collection: str | None


class Holding(NamedTuple):
    """What the library holds of a folder."""

    files: int
    documents: int


def folders(db: sqlite3.Connection) -> list[Folder]:
    """Every added folder by agent and path."""
    return [Folder(agent, root.path, root.collection) for agent, root in added(db)]


def add(db: sqlite3.Connection, folder: Folder) -> None:
    with transaction(db):
        db.execute("INSERT INTO added VALUES (?, ?, ?)", folder)


def drop(db: sqlite3.Connection, folder: Folder, kept: list[str]) -> Holding:
    """Takes a folder out, with what was read below it and does not lie below one of the `kept` folders too; returns
    what that was."""
    held = [
        path
        for (path,) in db.execute("SELECT path FROM sources WHERE agent = ?", (folder.agent,)).fetchall()
        if below(path, folder.path) and not any(below(path, other) for other in kept)
    ]
    found = holding(db, folder.agent, held)
    remove(db, [(folder.agent, path) for path in held])
    with transaction(db):
        db.execute("DELETE FROM added WHERE agent = ? AND path = ?", (folder.agent, folder.path))
    return found


def holding(db: sqlite3.Connection, agent: str, paths: list[str]) -> Holding:
    """How many of the files hold sessions, and how many documents these have."""
    files = documents = 0
    for path in paths:
        count = db.execute(
            "SELECT count(*), coalesce(sum(s.documents), 0) FROM sessions s JOIN sources o ON o.id = s.source"
            " WHERE o.agent = ? AND o.path = ? AND s.live",
            (agent, path),
        ).fetchone()
        files += bool(count[0])
        documents += count[1]
    return Holding(files, documents)


def below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/\\") + os.sep)
