"""The progress bar of an index run, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..library import Library
from ..model import Added, Report
from ..sync import Progress
from .screen import Screen

T = TypeVar("T")
Advance = Callable[[Progress], None]


def indexed(library: Library, screen: Screen, full: bool = False) -> Report:
    """Brings the library up to date, with a bar where somebody watches."""
    return _shown("Reading your agents' logs", screen, lambda advance: library.sync(full=full, progress=advance))


def added(library: Library, screen: Screen, folder: str, name: str | None, agent: str | None) -> Added:
    """Adds a folder, with a bar likewise."""
    return _shown("Reading the folder", screen, lambda advance: library.add(folder, name, agent, advance))


def _shown(what: str, screen: Screen, work: Callable[[Advance | None], T]) -> T:
    if not screen.interactive:
        return work(None)
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[messages]:,} messages"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(file=screen.err), transient=True) as bar:
        task = bar.add_task("", total=None, messages=0)

        def advance(done: Progress) -> None:
            bar.update(task, total=max(done.total_bytes, 1), completed=done.done_bytes, messages=done.messages)

        return work(advance)
