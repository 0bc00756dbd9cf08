"""From a directory entry to a source, for agents that keep one session a file. Stat only; opens nothing."""

from __future__ import annotations

import os

from ..model import Root, Source
from .base import listing


def file_source(
    agent: str, entry: os.DirEntry[str], root: Root, slug: str | None = None, beside: str = ""
) -> Source | None:
    """The source that a session's file is, with `beside` (see `stamp_of`) in its stamp; None when it is gone.

    Links, devices and FIFOs are listed, but must not be opened.
    """
    if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
        reason = "a link" if entry.is_symlink() else "not a regular file"
        return Source(agent, entry.path, "", slug=slug, role=root.role, excluded=reason)
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:  # gone between listing and stat
        return None
    stamp = f"{stat.st_size}:{stat.st_mtime_ns}" + (f":{beside}" if beside else "")
    return Source(agent, entry.path, stamp, stat.st_size, stat.st_mtime, slug=slug, role=root.role)


def stamp_of(path: str) -> str:
    """What changes when the file does; empty when there is none."""
    try:
        stat = os.stat(path, follow_symlinks=False)
    except (OSError, ValueError):
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"


def entries(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder below the root; none when it cannot be listed, which costs only itself."""
    try:
        return listing(folder)
    except OSError:
        return []


def folders(folder: str) -> list[os.DirEntry[str]]:
    """The real folders in one below the root."""
    return [e for e in entries(folder) if e.is_dir(follow_symlinks=False)]
