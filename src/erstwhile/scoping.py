"""Turns a query's scope and filters into conditions on what the store holds, and says which scope was meant."""

from __future__ import annotations

import os
import sqlite3

from .filters import Filter
from .model import Query
from .places import place, project_of
from .store import reading
from .values import NamedTuple


class Scoped(NamedTuple):
    scope: str
    filter: Filter
    place: str | None
    """The asked or current project, for telling its hits from others."""


def scoped(db: sqlite3.Connection, query: Query, default: str) -> Scoped:
    """The query's filter in its scope. `default` is a scope, or auto: the current project when it has sessions."""
    scope = query.scope or ("project" if query.project else default)
    narrow = _narrow(db, query)
    if scope == "auto":
        here = _in_project(db, narrow, _here(), exactly=False)
        scope = "project" if reading.has_sessions(db, here._replace(kinds=(), roles=(), tools=())) else "global"
    if scope == "project" or query.project:
        narrow = _in_project(db, narrow, query.project or _here(), exactly=query.project is not None)
    if scope == "archive":
        narrow = narrow._replace(archived=True)
    return Scoped(scope, narrow, narrow.place)


def _here() -> str:
    """The current folder; the root when it was deleted under the process."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.abspath(os.sep)


def _narrow(db: sqlite3.Connection, query: Query) -> Filter:
    sessions: tuple[int, ...] | None = None
    if query.sessions:
        found = {number for name in query.sessions for number, _ in reading.session_ids(db, name)}
        sessions = tuple(sorted(found)) or (-1,)
    return Filter(
        agents=query.agents,
        kinds=query.kinds,
        roles=query.roles,
        tools=query.tools,
        sessions=sessions,
        since=query.since,
        until=query.until,
        subagents=query.subagents,
    )


def _in_project(db: sqlite3.Connection, narrow: Filter, folder: str, exactly: bool) -> Filter:
    """The filter within a folder: the folder itself when it was named and holds sessions, else the project it lies
    in."""
    asked = os.path.abspath(os.path.expanduser(folder)) if "\\" not in folder and folder[1:2] != ":" else folder
    if exactly:
        within = _within(db, narrow, asked)
        if reading.has_sessions(db, Filter(place=within.place, slugs=within.slugs)):
            return within
    return _within(db, narrow, project_of(asked))


def _within(db: sqlite3.Connection, narrow: Filter, folder: str) -> Filter:
    slugs: tuple[tuple[str, str], ...] = ()
    if agents := reading.unplaced_agents(db):
        from .adapters import ADAPTERS

        slugs = tuple((a.name, slug) for a in ADAPTERS if a.name in agents and (slug := a.slug(folder)))
    return narrow._replace(place=place(folder), slugs=slugs)
