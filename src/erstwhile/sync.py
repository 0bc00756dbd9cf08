"""Brings the store up to date with what a survey found: read, replace, index.

Knows no format and no ranking. One source's fault costs only that source: it is recorded with its reason, the old
version stays, and it is tried again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from .adapters.base import Adapter, Reread
from .documents import documents
from .errors import ErstError, StoreError
from .indexing import catch_up
from .model import Event, Mark, Message, Report, Session, Skipped, Source, Title, Unknown
from .places import Projects
from .store import sources as known_sources
from .store.rebuilding import drop_staged
from .store.writing import STAGED, Overtaken, SourceWriter
from .survey import Survey
from .values import TYPE_CHECKING

if TYPE_CHECKING:
    from .lexical_contract import Index

COMMIT_EVERY = 30_000
"""New documents after which a long run commits the lexical index, so that the tail that searches score stays short."""


class Progress(NamedTuple):
    """How far a run is."""

    done_bytes: int
    total_bytes: int
    done_sources: int
    total_sources: int
    messages: int


class Indexer:
    """One run's tools: writes what a survey found."""

    def __init__(self, db: sqlite3.Connection, index: Index, adapters: Iterable[Adapter], keep: bool = True) -> None:
        self.db, self.index, self.keep = db, index, keep
        self.by_name = {adapter.name: adapter for adapter in adapters}
        self.projects = Projects()
        self.fresh: dict[int, str] = {}

    def run(
        self,
        survey: Survey,
        deadline: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Writes what the survey found; with a `deadline` (monotonic seconds) it stops there and counts what is
        pending."""
        drop_staged(self.db)
        self._settle(survey)
        report = Report(survey.sources, failures=tuple(survey.failures), vanished=len(survey.gone))
        total = sum(source.size for source in survey.changed)
        done = since_commit = 0
        for number, source in enumerate(survey.changed):
            if deadline is not None and time.monotonic() > deadline:
                report = report._replace(pending=len(survey.changed) - number)
                break
            new, fault = self._one(source)
            since_commit += new
            done += source.size
            report = report._replace(
                read=report.read + (fault is None),
                failed=report.failed + (fault is not None),
                messages=report.messages + new,
                failures=report.failures + (((source.path, fault),) if fault else ()),
            )
            if since_commit >= COMMIT_EVERY:
                catch_up(self.db, self.index, self.fresh)
                since_commit = 0
            if progress:
                progress(Progress(done, total, number + 1, len(survey.changed), report.messages))
        catch_up(self.db, self.index, self.fresh, lazily=deadline is not None)
        return report

    def catch_up(self) -> None:
        """Tells the index what the store has changed."""
        catch_up(self.db, self.index, self.fresh)

    def _settle(self, survey: Survey) -> None:
        """What needs no reading: sources that went, came back, are being deleted, or must not be read."""
        gone = self._follow(survey) if survey.gone else []
        if kept := [key for key in gone if not self._followed(key, survey)]:
            known_sources.vanish(self.db, kept, self.keep)
        if left := [key for key in gone if self._followed(key, survey)]:
            known_sources.vanish(self.db, left, False)
        if survey.back:
            known_sources.appear(self.db, survey.back)
        if survey.hidden:
            known_sources.remove(self.db, survey.hidden)
        for source in survey.excluded:
            known_sources.set_excluded(self.db, source, source.excluded or "")

    def _followed(self, key: tuple[str, str], survey: Survey) -> bool:
        """Whether what is gone was deleted from a folder that is the truth; the folder itself may only be away."""
        agent, path = key
        adapter = self.by_name.get(agent)
        return adapter is not None and adapter.follows and not path.startswith(survey.away or ("\0",))

    def _follow(self, survey: Survey) -> list[tuple[str, str]]:
        """Gives the sources that were renamed their new names, known by their bytes; returns those that are gone."""
        lost = known_sources.contents(self.db, [key for key in survey.gone if self._followed(key, survey)])
        sizes = {(agent, size) for agent, size, _ in lost}
        moved: set[tuple[str, str]] = set()
        for source in survey.changed:
            if source.native is None or (source.agent, source.size) not in sizes:
                continue
            if known_sources.known(self.db, source) is not None:
                continue
            try:
                content = self.by_name[source.agent].content(source)
            except ErstError:  # it is named when it is read
                continue
            old = lost.pop((source.agent, source.size, content), None) if content is not None else None
            if old is not None:
                known_sources.move(self.db, old, source)
                moved.add((source.agent, old))
        return [key for key in survey.gone if key not in moved]

    def _one(self, source: Source) -> tuple[int, str | None]:
        """Reads and writes one source; (new documents, why it failed)."""
        try:
            return self._write(source), None
        except Overtaken:
            return 0, None
        except (StoreError, KeyboardInterrupt, MemoryError):
            raise
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - one source's fault costs only that source
            reason = str(error) if isinstance(error, ErstError) else f"{type(error).__name__}: {error}"
            known_sources.set_failed(self.db, source, reason)
            return 0, reason

    def _write(self, source: Source) -> int:
        known = known_sources.known(self.db, source)
        since = known.resume if known else None
        try:
            return self._consume(source, known, since)
        except Reread:
            return self._consume(source, known, None)

    def _consume(self, source: Source, known: known_sources.Known | None, since: dict[str, object] | None) -> int:
        from .masking import masked  # its rules are compiled by whoever reads a source, not by every search

        writer = SourceWriter(self.db, source, known, since is not None, self.projects)
        try:
            for event in masked(self.by_name[source.agent].read(source, since)):
                self._event(writer, event)
        except Exception:
            writer.withdraw()
            raise
        new = writer.finish()
        self.fresh.update(writer.fresh)
        return new

    def _event(self, writer: SourceWriter, event: Event) -> None:
        if isinstance(event, Message):
            pieces = documents(event, writer.ordinal)
            while some := list(islice(pieces, STAGED)):  # the writer stages what a single message of 60 MB brings
                writer.message(event.index, some, 0)
            writer.message(event.index, [], len(event.parts))
        elif isinstance(event, Session):
            writer.session(event)
        elif isinstance(event, Mark):
            writer.mark(event.indexes, event.state)
        elif isinstance(event, Title):
            writer.titles.append(event)
        elif isinstance(event, Skipped):
            writer.skipped.append(event)
        elif isinstance(event, Unknown):
            writer.unknown[event.type] = writer.unknown.get(event.type, 0) + 1
        else:
            writer.resume = event.state
