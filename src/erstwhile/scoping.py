"""Turns a query's scope and filters into conditions on what the store holds, and says which scope was meant."""

from __future__ import annotations

import os
import sqlite3

from .errors import UsageError
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
    query = _one_project(query)
    scope = query.scope or ("project" if query.project or query.projects else default)
    narrow = _narrow(db, query)
    if query.projects:
        narrow = narrow._replace(sessions=_both(narrow.sessions, _of_projects(db, query.projects)))
        if query.project is None:
            return Scoped(scope, _archived(narrow, scope), None)
    if query.project and _is_name(query.project):
        narrow = narrow._replace(sessions=_both(narrow.sessions, reading.sessions_of_project(db, query.project)))
        return Scoped(query.scope or "global", _archived(narrow, query.scope), None)
    here = _here()
    if scope == "auto":
        inside = here is not None and _has_sessions(db, project_of(here))
        scope = "project" if inside else "global"
    if scope == "project" or query.project:
        folder = query.project or here
        if folder is None:
            raise UsageError("the current folder was deleted: name a project, or use scope global")
        narrow = _in_project(db, narrow, folder, exactly=query.project is not None)
    return Scoped(scope, _archived(narrow, scope), narrow.place)


def _one_project(query: Query) -> Query:
    """The query with its only project in `project`, or several alternatives in `projects`. Where a door has said which
    folder scope project means, `projects` only narrow it."""
    if query.project and query.projects and query.scope != "project":
        return query._replace(project=None, projects=(query.project, *query.projects))
    if query.project is None and len(query.projects) == 1:
        return query._replace(project=query.projects[0], projects=())
    return query


def _of_projects(db: sqlite3.Connection, projects: tuple[str, ...]) -> tuple[int, ...]:
    """The sessions of any of the projects; (-1,) when there are none."""
    found: set[int] = set()
    for project in projects:
        if _is_name(project):
            found.update(reading.sessions_of_project(db, project))
        else:
            found.update(reading.fitting_sessions(db, _in_project(db, Filter(), project, exactly=True)))
    return tuple(sorted(found - {-1})) or (-1,)


def _has_sessions(db: sqlite3.Connection, project: str) -> bool:
    within = _within(db, Filter(), project)
    return reading.has_project(db, within.place or "", within.slugs)


def _archived(narrow: Filter, scope: str | None) -> Filter:
    return narrow._replace(archived=True) if scope == "archive" else narrow


def _is_name(project: str) -> bool:
    """Whether a project is named by its last folder alone, as in `project:shop`."""
    return not any(mark in project for mark in "/\\~:") and project not in (".", "..") and not os.path.isdir(project)


def _both(some: tuple[int, ...] | None, others: tuple[int, ...]) -> tuple[int, ...]:
    return others if some is None else tuple(sorted(set(some) & set(others))) or (-1,)


def _here() -> str | None:
    """The current folder; None when it was deleted under the process."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _narrow(db: sqlite3.Connection, query: Query) -> Filter:
    sessions: tuple[int, ...] | None = None
    if query.sessions:
        found = {number for name in query.sessions for number, _ in reading.session_ids(db, name)}
        sessions = tuple(sorted(found)) or (-1,)
    if query.titles:
        sessions = _both(sessions, reading.titled_sessions(db, query.titles))
    if query.files:
        from .store.touched import touching_sessions  # most searches name no file

        sessions = _both(sessions, touching_sessions(db, query.files))
    return Filter(
        agents=query.agents,
        kinds=query.kinds,
        roles=query.roles,
        tools=query.tools,
        collections=_collections(db, query.collections),
        sessions=sessions,
        since=query.since,
        until=query.until,
        subagents=query.subagents,
    )


def _collections(db: sqlite3.Connection, asked: tuple[str, ...]) -> tuple[str, ...]:
    """The collections of these names, whatever their case; the names as given when there are none."""
    wanted = {name.casefold() for name in asked}
    return tuple(name for name in reading.collections(db) if name.casefold() in wanted) or asked if asked else ()


def _in_project(db: sqlite3.Connection, narrow: Filter, folder: str, exactly: bool) -> Filter:
    """The filter within a folder: the folder itself when it was named and holds sessions, else the project it lies
    in."""
    asked = os.path.abspath(os.path.expanduser(folder)) if "\\" not in folder and folder[1:2] != ":" else folder
    if exactly:
        within = _within(db, narrow, asked)
        if reading.has_sessions(db, Filter(place=within.place, slugs=within.slugs, everywhere=False)):
            return within
    return _within(db, narrow, project_of(asked))


def _within(db: sqlite3.Connection, narrow: Filter, folder: str) -> Filter:
    slugs: tuple[tuple[str, str], ...] = ()
    if agents := reading.unplaced_agents(db):
        from .adapters.installed import named

        known = [adapter for agent in sorted(agents) if (adapter := named(agent))]
        slugs = tuple((a.name, slug) for a in known if (slug := a.slug(folder)))
    return narrow._replace(place=place(folder), slugs=slugs)
