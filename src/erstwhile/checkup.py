"""What of a user's history may be missing: faults of sources, and signs that an agent has changed its format.

A format drifts silently: its files stay readable and give less. So each source's yield is compared with its own past,
record types that no adapter knows are counted, and files that look like logs and that nobody claims are named.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch

from .adapters.base import Adapter, file_of
from .catalogue import sources
from .model import Checkup, Finding, Root, SourceStatus
from .store import reading
from .survey import excluded

LOGS = (".jsonl", ".ndjson", ".jsonl.zst", ".jsonl.zstd", ".jsonl.gz")
"""Suffixes of logs, wherever they lie below a home; others count only beside a file that is claimed."""
NAMED = 5
"""Unclaimed files of one folder that are named; of more, only how many there are."""
WALKED = 200_000
"""Files below one root that are looked at."""
SILENT = 64_000
"""Bytes in which any agent would have written a message."""


def checkup(
    db: sqlite3.Connection, adapters: Iterable[tuple[Adapter, list[Root]]], exclude: tuple[str, ...] = ()
) -> Checkup:
    """Every source, and the findings, those that cost most first."""
    found = tuple(sources(db))
    findings = [*_faults(found), *_low_yields(db), *_unclaimed(adapters, exclude), *_unknown(found)]
    return Checkup(found, tuple(findings))


# -- sources -----------------------------------------------------------------------------------------------------------


def _faults(found: Iterable[SourceStatus]) -> Iterator[Finding]:
    for one in found:
        if one.state == "failed":
            yield Finding("failed", one.agent, one.path, f"cannot be read: {one.reason}; what was read before stays")
        for skipped in one.skipped:
            place = f"line {skipped.line} was skipped: " if skipped.line else ""
            yield Finding("skipped", one.agent, one.path, f"{place}{skipped.reason}")


def _unknown(found: Iterable[SourceStatus]) -> Iterator[Finding]:
    """One finding a type, not one a source: a new version of an agent writes it everywhere."""
    counts: Counter[tuple[str, str]] = Counter()
    holders: dict[tuple[str, str], list[str]] = {}
    for one in found:
        for name, times in one.unknown.items():
            counts[one.agent, name] += times
            holders.setdefault((one.agent, name), []).append(one.path)
    for (agent, name), times in counts.most_common():
        paths = holders[agent, name]
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
        text = f"record type {name!r} is not known ({times:,} times, here{more}): erstwhile may be too old for it"
        yield Finding("unknown_type", agent, paths[0], text)


def _low_yields(db: sqlite3.Connection) -> Iterator[Finding]:
    for agent, path, size, documents, best, then, titles in reading.yields(db):
        if best == 0:
            if size > SILENT and not titles:
                yield Finding("low_yield", agent, path, f"gave nothing, though it holds {size:,} bytes")
        elif 2 * documents < best and 2 * size > then:
            text = f"gave {documents:,} documents now and {best:,} before, though it did not shrink as much"
            yield Finding("low_yield", agent, path, text)
        elif size - then > max(4 * SILENT, then // 2):
            yield Finding("low_yield", agent, path, f"grew by {size - then:,} bytes without a new document")


# -- what nobody claims ------------------------------------------------------------------------------------------------


def _unclaimed(adapters: Iterable[tuple[Adapter, list[Root]]], exclude: tuple[str, ...]) -> Iterator[Finding]:
    places = [(adapter, root) for adapter, roots in adapters for root in roots if os.path.isdir(root.path)]
    claimed: set[str] = set()
    for adapter, root in places:
        try:
            claimed.update(file_of(source.path) for source in adapter.sources(root))
        except OSError as error:
            yield Finding("unreadable_root", adapter.name, root.path, f"cannot be listed: {error.strerror}")
    for adapter, root in places:
        for folder, names in _strangers(adapter, root.path, claimed, exclude):
            some = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
            yield Finding("unclaimed", adapter.name, folder, f"holds files that no adapter reads: {some}")


def _strangers(
    adapter: Adapter, root: str, claimed: set[str], exclude: tuple[str, ...]
) -> Iterator[tuple[str, list[str]]]:
    """Folders below `root` with the names of the files in them that look like logs and are not claimed."""
    beside = {(os.path.dirname(path), os.path.splitext(path)[1]) for path in claimed}
    looked = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in (".git", "node_modules"))
        looked += len(names)
        strange = [
            name
            for name in sorted(names)
            if (name.endswith(LOGS) or (folder, os.path.splitext(name)[1]) in beside)
            and _strange(adapter, os.path.join(folder, name), claimed, exclude)
        ]
        if strange:
            yield folder, strange
        if looked > WALKED:
            return


def _strange(adapter: Adapter, path: str, claimed: set[str], exclude: tuple[str, ...]) -> bool:
    """Whether a file that looks like a log is not claimed, not known to be something else, and not empty."""
    if path in claimed or excluded(path, exclude) or any(fnmatch(os.path.basename(path), a) for a in adapter.aside):
        return False
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False
