"""Reading and writing other programs' files: through links, whole or not at all, with a copy of what was there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from tempfile import mkstemp

BACKUP = ".erst-backup"


class Changed(Exception):
    """Somebody else wrote the file meanwhile."""


def read(path: str) -> bytes | None:
    """The bytes of a file; None when it does not exist. Raises OSError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def backups(path: str) -> list[tuple[str, bytes]]:
    """The copies of a file that were kept beside it, the newest first."""
    kept: list[tuple[str, bytes]] = []
    for name in _names(os.path.realpath(path)):
        content = read(name)
        if content is None:
            return kept[::-1]
        kept.append((name, content))
    return kept


def replace(path: str, old: bytes | None, new: bytes, keep: bool = True) -> str | None:
    """Puts `new` in the place of `old`, keeping a copy of that; returns the copy's path if one was made. A link stays a
    link, the file keeps its mode, and a new one is the user's alone. Raises OSError, and Changed when the file does not
    hold `old` any more."""
    real = os.path.realpath(path)
    os.makedirs(os.path.dirname(real), exist_ok=True)
    mode = None if old is None else stat.S_IMODE(os.stat(real).st_mode)
    kept = _keep(real, old, mode) if keep and old is not None and mode is not None else None
    handle, temporary = mkstemp(prefix=".erst-", dir=os.path.dirname(real))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        if read(real) != old:
            raise Changed
        os.replace(temporary, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return kept


def _keep(real: str, content: bytes, mode: int) -> str | None:
    """Writes a copy beside the file; None when there is one of this content. Never overwrites an older one."""
    for name in _names(real):
        try:
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        except FileExistsError:
            if read(name) == content:
                return None
            continue
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        return name
    raise AssertionError("names do not end")


def _names(real: str) -> Iterator[str]:
    return (f"{real}{BACKUP}{number or ''}" for number in count())
