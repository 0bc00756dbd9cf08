"""Which adapters other installed packages offer, by the entry point group `erstwhile.adapters`, and all that there are.

Runs on every search. `importlib.metadata` would cost twice what a whole Python start does, and looking into every
package's `entry_points.txt` 1 ms for 70 of them; so what was found is remembered with the times of the folders that
packages are installed in, and a search only compares these. Loading is `third_party`'s, and happens only when there is
something to load.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from ..values import NamedTuple
from . import ADAPTERS, Adapter

GROUP = "[erstwhile.adapters]"
METADATA = (".dist-info", ".egg-info")
MEMORY = "adapters"
"""File in the data folder: the folders and their times on the first line, then an entry point a line."""


class EntryPoint(NamedTuple):
    """One line of a package's entry points: the agent's name, `module:object`, and the package with its version."""

    name: str
    value: str
    package: str


class Installed(NamedTuple):
    """Every adapter there is, and which could not be loaded."""

    adapters: tuple[Adapter, ...]
    faults: tuple[tuple[str, str], ...]
    """(adapter and package, reason)."""
    absent: frozenset[str]
    """Agents whose adapter is installed and could not be loaded: that their logs are not listed means nothing."""


def installed(folder: str | None = None) -> Installed:
    """Our own adapters and those of other packages. `folder` is the data folder, to remember in."""
    found = entry_points(folder)
    if not found:
        return Installed(ADAPTERS, (), frozenset())
    from .third_party import load

    return load(found)


def every() -> tuple[Adapter, ...]:
    """All adapters that can be loaded."""
    return installed().adapters


def named(agent: str) -> Adapter | None:
    """The adapter of an agent; other packages are asked only when it is none of ours."""
    return next((a for adapters in (lambda: ADAPTERS, every) for a in adapters() if a.name == agent), None)


def entry_points(folder: str | None = None) -> list[EntryPoint]:
    """The entry points of other packages, from memory where nothing was installed or removed since."""
    places = list(_places())
    key = repr(places)
    remembered = _recall(folder, key) if folder else None
    if remembered is not None:
        return remembered
    found = {entry.name: entry for path, _ in reversed(places) for entry in _offered(path)}
    if folder:
        _remember(folder, key, found.values())
    return list(found.values())


def _places() -> Iterator[tuple[str, int]]:
    """The folders from which packages are imported, with the time of the last change in each.

    The folder a program was started in is not one, though Python may put it there.
    """
    try:
        here = os.getcwd()
    except OSError:  # it was deleted
        here = ""
    for path in dict.fromkeys(sys.path):
        if path and path != here:
            try:
                stat = os.stat(path)
            except OSError:
                continue
            yield path, stat.st_mtime_ns


def _offered(place: str) -> Iterator[EntryPoint]:
    """The entry points of the packages in a folder."""
    try:
        with os.scandir(place) as found:
            names = sorted(e.name for e in found if e.name.endswith(METADATA))
    except OSError:  # a zip file, for instance
        return
    for name in names:
        try:
            with open(os.path.join(place, name, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        if GROUP in text:
            package = name.rpartition(".")[0].replace("-", " ")
            yield from (EntryPoint(agent, value, package) for agent, value in _pairs(text))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of the lines in our group."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line
        elif group == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield name.strip(), value.partition("[")[0].strip()


# -- memory ------------------------------------------------------------------------------------------------------------


def _recall(folder: str, key: str) -> list[EntryPoint] | None:
    """What was found when the folders were as `key` says; None when that is not known."""
    try:
        with open(os.path.join(folder, MEMORY), encoding="utf-8") as file:
            first, *lines = file.read().splitlines()
    except (OSError, ValueError):
        return None
    rows = [line.split("\t") for line in lines]
    return [EntryPoint(*row) for row in rows] if first == key and all(len(row) == 3 for row in rows) else None


def _remember(folder: str, key: str, found: Iterable[EntryPoint]) -> None:
    path = os.path.join(folder, MEMORY)
    beside = f"{path}.{os.getpid()}"
    try:
        with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join([key, *("\t".join(entry) for entry in found)]))
        os.replace(beside, path)
    except (OSError, ValueError):  # a folder that cannot be written: we look again next time
        return
