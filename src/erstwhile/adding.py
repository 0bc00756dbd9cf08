"""Which folders may be added to a library, and what adding and removing one comes to. Reads no document itself."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping

from . import catalogue
from .adapters.base import Adapter
from .adapters.markdown import SUFFIXES, Markdown
from .errors import NotFound, UsageError
from .listings import Added
from .model import Root, Skipped
from .snippet import visible
from .store import added
from .store.added import Folder, below

NOTES = Markdown.name


def checked(
    folder: str, name: str | None, agent: str | None, adapters: Mapping[str, Adapter], roots: Mapping[str, list[Root]]
) -> Folder:
    """The folder as it will be kept; `roots` are the folders that are read already, by agent. Raises UsageError and
    NotFound."""
    agent = agent or NOTES
    if agent not in adapters:
        raise UsageError(f"unknown agent {agent!r}: use one of {', '.join(adapters)}")
    if name is not None and agent != NOTES:
        raise UsageError("only a collection of notes has a name; leave --name or --agent out")
    path = _folder(folder)
    _apart(path, agent, roots.get(agent, []))
    collection = _name(path, name, roots.get(agent, [])) if agent == NOTES else None
    _filled(adapters[agent], Root(path, None, collection))
    return Folder(agent, path, collection)


def _folder(folder: str) -> str:
    if not folder.strip() or "\0" in folder:
        raise UsageError("which folder? Name one that exists")
    path = os.path.abspath(os.path.expanduser(folder))
    if not os.path.exists(path):
        raise NotFound(f"there is no folder {path}")
    if not os.path.isdir(path):
        raise UsageError(f"{path} is not a folder; add the folder that holds it")
    return path


def _apart(path: str, agent: str, roots: Iterable[Root]) -> None:
    """A file is read once: no folder is added twice, or inside another one of the same agent."""
    here = os.path.realpath(path)
    for root in roots:
        there, called = os.path.realpath(root.path), _called(root) if agent == NOTES else root.path
        if here == there:
            raise UsageError(f"{path} was added already, as {called}" if agent == NOTES else f"{path} is read already")
        if below(here, there):
            raise UsageError(f"{path} lies in {called}, which is read already")
        if agent == NOTES and below(there, here):
            raise UsageError(f"{called} lies in {path}; remove it first, or add other folders")


def _called(root: Root) -> str:
    return f"the collection {root.collection or os.path.basename(root.path)} ({root.path})"


def _name(path: str, name: str | None, roots: Iterable[Root]) -> str:
    chosen = os.path.basename(path) if name is None else name.strip()
    if not chosen:
        raise UsageError("the collection needs a name: --name NAME")
    if any(mark in chosen for mark in '/\\"') or visible(chosen) != chosen or len(chosen) > 100:
        raise UsageError(f"{visible(chosen)[:100]!r} cannot be the name of a collection: choose a plain word by --name")
    for root in roots:
        if (root.collection or os.path.basename(root.path)).casefold() == chosen.casefold():
            raise UsageError(f"there is {_called(root)} already; choose another name by --name")
    return chosen


def _filled(adapter: Adapter, root: Root) -> None:
    try:
        found = any(source.excluded is None for source in adapter.sources(root))
    except OSError as error:
        raise UsageError(f"cannot list {root.path}: {error.strerror or error}") from error
    if not found:
        kind = f"Markdown file ({', '.join(SUFFIXES)})" if adapter.name == NOTES else f"log of {adapter.name}"
        raise UsageError(f"there is no {kind} in {root.path}")


def named(folders: Iterable[Folder], asked: str) -> Folder:
    """The added folder that a collection's name or a path means. Raises NotFound and UsageError."""
    known = list(folders)
    found = [one for one in known if one.collection and one.collection.casefold() == asked.casefold()]
    if not found and asked and "\0" not in asked:
        path = os.path.abspath(os.path.expanduser(asked))
        places = {path, os.path.realpath(path)}
        found = [one for one in known if places & {one.path, os.path.realpath(one.path)}]
    if len(found) > 1:
        raise UsageError(f"{asked} was added for {' and '.join(one.agent for one in found)}; name one by --agent")
    if not found:
        names = [one.collection or one.path for one in known]
        raise NotFound(f"{asked!r} was not added; {_listed(names)}")
    return found[0]


def collection(name: str, roots: Iterable[Root]) -> Root:
    """The root of a collection. Raises NotFound."""
    known = [root._replace(collection=root.collection or os.path.basename(root.path)) for root in roots]
    for root in known:
        if (root.collection or "").casefold() == name.casefold():
            return root
    raise NotFound(f"no collection {name!r}; {_listed([root.collection or '' for root in known])}")


def _listed(names: list[str]) -> str:
    return f"there are {', '.join(names)}" if names else "nothing was; `erst add DIR` adds a folder of notes"


def report(db: sqlite3.Connection, folder: Folder, waiting: bool = False) -> Added:
    """What the library holds of a folder."""
    statuses = [one for one in catalogue.sources(db) if one.agent == folder.agent and below(one.path, folder.path)]
    held = added.holding(db, folder.agent, [one.path for one in statuses])
    skipped = [(one.path, fault) for one in statuses for fault in one.skipped]
    skipped += [(one.path, Skipped(None, one.reason)) for one in statuses if one.reason]
    return Added(folder.agent, folder.path, folder.collection, held.files, held.documents, tuple(skipped), waiting)
