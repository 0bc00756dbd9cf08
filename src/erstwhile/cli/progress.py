"""The progress bar of an index run, on a terminal only."""

from __future__ import annotations

from ..library import Library
from ..model import Report
from ..sync import Progress
from .screen import Screen


def indexed(library: Library, screen: Screen, full: bool = False) -> Report:
    """Brings the library up to date, with a bar where somebody watches."""
    if not screen.interactive:
        return library.sync(full=full)
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("Reading your agents' logs"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[messages]:,} messages"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(file=screen.err), transient=True) as bar:
        task = bar.add_task("", total=None, messages=0)

        def advance(done: Progress) -> None:
            bar.update(task, total=max(done.total_bytes, 1), completed=done.done_bytes, messages=done.messages)

        return library.sync(full=full, progress=advance)
