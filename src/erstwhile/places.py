"""Folders as projects: which project a folder belongs to, and the one form in which folders are compared."""

from __future__ import annotations

import os
import sys


def place(folder: str) -> str:
    """`folder` in the form that is compared: forward slashes, no trailing slash, and lower case where the platform's
    file names (or the path's own drive letter) ignore case."""
    path = folder.replace("\\", "/")
    path = path.rstrip("/") or "/"
    drive = len(path) > 1 and path[1] == ":"
    return path.lower() if drive or sys.platform in ("win32", "darwin") else path


def ancestors(path: str) -> list[str]:
    """A place and the places above it, the root excepted: `/home/dev/shop`, `/home/dev`, `/home`."""
    found = []
    while path and path != "/":
        found.append(path)
        path = path.rpartition("/")[0]
    return found


def project_of(folder: str) -> str:
    """The git root of `folder`, else `folder` itself. Only looks; a recorded folder need not exist any more."""
    here = os.path.normpath(folder) if os.path.isabs(folder) else folder
    current = here
    while os.path.isabs(current):
        if os.path.exists(os.path.join(current, ".git")):
            return current
        above = os.path.dirname(current)
        if above == current:
            break
        current = above
    return here


class Projects:
    """project_of with a memory, for an index run: (project, place) of a recorded folder."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}

    def __call__(self, cwd: str | None) -> tuple[str | None, str | None]:
        if not cwd:
            return None, None
        if cwd not in self._known:
            project = project_of(cwd)
            self._known[cwd] = (project, place(project))
        return self._known[cwd]
