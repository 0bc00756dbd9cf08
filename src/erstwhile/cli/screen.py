"""Where a command writes: the two streams, and what the terminal behind them can do."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from ..values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TextIO

NARROW, WIDE, PIPED = 40, 120, 100
"""Columns: never fewer, never more (long lines read badly), and where there is no terminal."""


class Screen(NamedTuple):
    """stdout for the answer, stderr for talk."""

    out: TextIO
    err: TextIO
    colour: bool = False
    width: int = PIPED
    interactive: bool = False
    """Somebody sits in front of it: progress may be shown."""
    now: float = 0.0
    """Seconds since 1970."""

    def answer(self, text: str) -> None:
        """Writes what was asked for."""
        self.out.write(text)

    def talk(self, text: str) -> None:
        """Writes a line to the person, beside the answer."""
        self.out.flush()
        self.err.write(text + "\n")


def standard(environ: Mapping[str, str]) -> Screen:
    """The process's own streams. Whatever the locale, a character that cannot be written never ends the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")  # pyright: ignore
    terminal = sys.stdout.isatty()
    colour = terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    if colour and os.name == "nt":
        os.system("")  # wakes the console's own handling of colour codes
    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()  # pyright: ignore
    return Screen(sys.stdout, sys.stderr, colour, _width(environ, terminal), interactive, time.time())


def _width(environ: Mapping[str, str], terminal: bool) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isdigit():
        width = int(columns)
    elif terminal:
        try:
            width = os.get_terminal_size(sys.stdout.fileno()).columns
        except (OSError, ValueError):
            width = PIPED
    else:
        width = PIPED
    return max(NARROW, min(width or PIPED, WIDE))
