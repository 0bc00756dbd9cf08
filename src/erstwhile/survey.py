"""What lies on disk against what the store knows: lists every root, compares stamps, reads no session.

Runs on every search, so it loads nothing that reading would need.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from .adapters.base import Adapter, file_of
from .errors import SourceError
from .model import Root, Source
from .store import reading
from .values import NamedTuple


class Survey(NamedTuple):
    sources: int
    changed: list[Source]
    """New, grown, rewritten or failed before; the newest first."""
    gone: list[tuple[str, str]]
    back: list[tuple[str, str]]
    hidden: list[tuple[str, str]]
    excluded: list[Source]
    failures: list[tuple[str, str]]
    """(path, reason) of roots that could not be listed."""
    away: tuple[str, ...] = ()
    """Roots that are not there, each with the separator behind it."""

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.changed or self.gone or self.back or self.hidden or self.excluded)


def survey(
    db: sqlite3.Connection,
    adapters: Iterable[tuple[Adapter, list[Root]]],
    exclude: tuple[str, ...] = (),
    full: bool = False,
    absent: frozenset[str] = frozenset(),
) -> Survey:
    """What changed since the store was written; everything when `full`. `exclude` holds globs of paths,
    `absent` agents whose sources cannot be listed at all, and so have not gone."""
    known = reading.stamps(db)
    found = Survey(0, [], [], [], [], [], [])
    listed: dict[tuple[str, str], Source] = {}
    away: list[str] = []
    adapters = list(adapters)
    for source in _listed(adapters, found.failures, away):
        key = (source.agent, source.path)
        if key in listed:
            continue
        listed[key] = source
        stamp, state = known.get(key, ("", ""))
        reason = source.excluded or excluded(source.path, exclude)
        if source.hidden:
            if key in known:
                found.hidden.append(key)
        elif reason:
            if state != "excluded":
                found.excluded.append(source._replace(excluded=reason))
        elif full or stamp != source.stamp or state == "excluded":
            found.changed.append(source)
        elif state == "vanished":
            found.back.append(key)
    # what lies below a root that cannot be listed has not gone: the disk may only be away
    blind = tuple(path.rstrip("/\\") + os.sep for path, _ in found.failures)
    lost = tuple(path.rstrip("/\\") + os.sep for path in away)
    follows = {adapter.name for adapter, _ in adapters if adapter.follows}
    for key, (_, state) in known.items():
        if (
            key not in listed
            # what vanished with a whole folder that follows the user goes when the folder is back without it
            and key[0] not in absent
            and (state != "vanished" or (key[0] in follows and not key[1].startswith(lost or ("\0",))))
            and not key[1].startswith(blind or ("\0",))
            and not _unseen(key[1])
            and not _within(key, listed)
        ):
            found.gone.append(key)
    if found.gone:  # who has the same session has to bring it now
        due = {(source.agent, source.path) for source in found.changed}
        found.changed.extend(listed[key] for key in reading.twins_of(db, found.gone) - due if key in listed)
    found.changed.sort(key=lambda source: -source.mtime)
    return found._replace(sources=len(listed), away=lost)


def divide(db: sqlite3.Connection, found: Survey, small: int) -> tuple[Survey, int]:
    """The survey without the sources that bring more than `small` bytes, and how many of these are worth an indexer.

    One that has failed as it stands is not: `erst index` tries it again, not every search."""
    sizes, known = reading.sizes(db), reading.stamps(db)
    kept: list[Source] = []
    late = 0
    for source in found.changed:
        key = (source.agent, source.path)
        if source.size - sizes.get(key, 0) <= small:
            kept.append(source)
        elif known.get(key) != (f"failed {source.stamp}", "failed"):
            late += 1
    return found._replace(changed=kept), late


def _listed(
    adapters: Iterable[tuple[Adapter, list[Root]]], failures: list[tuple[str, str]], away: list[str]
) -> Iterator[Source]:
    for adapter, roots in adapters:
        for root in roots:
            if not adapter.file_roots and os.path.exists(root.path) and not os.path.isdir(root.path):
                failures.append((root.path, "not a folder"))
                continue
            try:
                yield from adapter.sources(root)
            except FileNotFoundError:
                away.append(root.path)
            except OSError as error:
                failures.append((root.path, error.strerror or str(error)))
            except SourceError as error:
                failures.append((root.path, str(error)))


def _unseen(path: str) -> bool:
    """Whether a source that was not listed lies in a folder that may not be entered: no sign that it has gone."""
    try:
        os.lstat(file_of(path))
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _within(key: tuple[str, str], listed: Mapping[tuple[str, str], Source]) -> bool:
    """Whether it is a session of a database that could not be asked, and so was listed as one source."""
    agent, path = key
    at = path.rfind("#")
    return at > 0 and (agent, path[:at]) in listed


def excluded(path: str, patterns: tuple[str, ...]) -> str | None:
    """Why the configuration keeps a path from being read, or None."""
    if not patterns:
        return None
    from fnmatch import fnmatch

    return "excluded by configuration" if any(fnmatch(path, pattern) for pattern in patterns) else None
