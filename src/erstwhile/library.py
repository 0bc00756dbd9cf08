"""Class Library: everything a door may call. It keeps the store, the index and the settings together and does no work
itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager

from .answering import SNIPPET, Context, answer
from .config import AgentSettings, Config, load
from .errors import UsageError
from .indexes import Indexes
from .lexical_types import Damaged
from .lock import IndexerLock
from .model import Answer, Coverage, Query, Root
from .store import open_database, reading, snapshot
from .store.connection import mapped
from .text import VERSION
from .values import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Self

    from .adapters import Adapter
    from .adapters.installed import Installed
    from .model import (
        Added,
        Checkup,
        RawTranscript,
        Report,
        ResumeCommand,
        SessionPage,
        SourceStatus,
        Stats,
        Transcript,
    )
    from .survey import Survey
    from .sync import Indexer, Progress

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

BUDGET = 0.2
"""Seconds a search may spend on reading what changed; longer work goes on in a detached indexer."""
SMALL = 2_000_000
"""Bytes of one source that a search reads itself at most."""


class Library:
    """One user's history, indexed. Safe to share between threads; any number of processes may open the same folder.

    `data` is the folder (default: the configuration's ERST_HOME) or ":memory:", which writes nothing. `roots`
    replaces the configured folders by explicit ones, by agent. Raises StoreError when the folder cannot be used.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        roots: Mapping[str, Sequence[Root | str]] | None = None,
        config: Config | None = None,
    ) -> None:
        self.config = config or load()
        self.folder = os.fspath(data) if data is not None else self.config.home
        self.in_memory = self.folder == ":memory:"
        self._roots = roots
        self._mutex = _mutex()
        self._pending = 0
        self._listed: int | None = None
        self._synced = False
        self._db = open_database(self.folder)
        self._lock = IndexerLock(None if self.in_memory else self.folder)
        self._indexes = Indexes(None if self.in_memory else self.folder)

    # -- asking --------------------------------------------------------------------------------------------------------

    def search(self, query: str | Query, *, sync: bool = True, width: int = SNIPPET, **filters: Any) -> Answer:
        """The answer to a question; `filters` are fields of Query. Refreshes first, within a budget, unless `sync` is
        false.

        Snippets have at most `width` characters.
        Raises UsageError for a question that cannot be asked, StaleCursor for a page that is gone.
        """
        if unknown := sorted(set(filters) - set(Query._fields)):
            raise UsageError(f"unknown filter {unknown[0]!r}: use one of {', '.join(Query._fields)}")
        asked = (Query(query) if isinstance(query, str) else query)._replace(**filters)
        return self._asked(
            sync, lambda: answer(self._db, self._indexes.current, asked, self._context()._replace(snippet=width))
        )

    def sessions(self, query: Query | None = None, *, sync: bool = True) -> SessionPage:
        """A page of the sessions that fit the query's filters, newest first (scope global by default); with words in
        the query, the sessions it finds, best first."""
        from . import catalogue

        asked = query or Query()
        return self._asked(sync, lambda: catalogue.sessions(self._db, self._indexes.current, asked, self._context()))

    def around(
        self, session: str, message_index: int, before: int = 3, after: int = 3, *, sync: bool = True
    ) -> Transcript:
        """The messages around one. Raises NotFound, or Refused for a path outside the known roots."""
        from . import catalogue

        with self._opened(sync):
            return catalogue.around(self._db, session, message_index, before, after)

    def show(
        self, session: str, start: int = 0, count: int | None = None, kinds: tuple[str, ...] = (), *, sync: bool = True
    ) -> Transcript:
        """A session, or `count` messages of it from index `start` on. Raises NotFound, Refused."""
        from . import catalogue

        with self._opened(sync):
            return catalogue.show(self._db, session, start, count, kinds)

    def raw(self, session: str, *, sync: bool = True) -> RawTranscript:
        """A session with the records of the agent's own file, injected ones too; secrets masked. Raises NotFound, also
        when the file is gone, and Refused."""
        from . import catalogue

        with self._opened(sync):
            return catalogue.raw(self._db, session)

    def resume(self, session: str) -> ResumeCommand:
        """The agent's own command that continues the session. Raises NotFound, also when the agent has none."""
        from . import catalogue

        with self._opened(False):
            return catalogue.resume(self._db, session)

    def sources(self, *, sync: bool = True) -> list[SourceStatus]:
        """Every source with its state, counts and faults."""
        from . import catalogue

        with self._opened(sync):
            return catalogue.sources(self._db)

    def doctor(self) -> Checkup:
        """Every source, and signs of what is lost: faults, unknown record types, yields that fell, files that no
        adapter claims."""
        from . import checkup

        with self._opened(True):
            return checkup.checkup(self._db, self._adapters(self._installed()), self.config.index.exclude)

    def coverage(self) -> Coverage:
        """How much is indexed, as of the last refresh."""
        with self._opened(False):
            return reading.coverage(self._db, self._pending, self._listed)

    def stats(self) -> Stats:
        from . import catalogue

        with self._opened(False):
            return catalogue.stats(self._db, self.folder, self._pending)

    # -- indexing ------------------------------------------------------------------------------------------------------

    def sync(
        self,
        full: bool = False,
        budget: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        wait_seconds: float = 10.0,
    ) -> Report:
        """Reads what changed on disk, all of it or within `budget` seconds. When another process indexes, it waits
        for up to `wait_seconds`, then reports everything as pending."""
        from .model import Report

        with self._mutex, mapped(self.folder):
            if not self._lock.acquire(wait_seconds):
                found = self._survey(full)
                self._pending = len(found.changed)
                return Report(found.sources, pending=self._pending, failures=tuple(found.failures))
            try:
                deadline = None if budget is None else time.monotonic() + budget
                report = self._run(lambda: self._survey(full), full, deadline, progress)
            finally:
                self._lock.release()
            self._pending, self._synced = report.pending, True
            return report

    def _run(
        self,
        look: Callable[[], Survey],
        full: bool = False,
        deadline: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Writes what `look` finds; the caller holds the lock."""
        self._renew(full)
        try:
            return self._indexer().run(look(), deadline, progress)
        except Damaged:
            self._indexes.set_aside()
            self._indexes.rebuild(self._db)
            return self._indexer().run(look(), deadline, progress)

    def _renew(self, full: bool) -> None:
        """Before a run, under the lock: what a killed run left half done, and what another version has written."""
        from .store.rebuilding import drop_staged, retokenise
        from .store.touched import catch_up_touched

        drop_staged(self._db)
        retokenise(self._db)
        catch_up_touched(self._db)
        self._indexes.refresh()
        if full or self._indexes.due(self._db):
            self._indexes.rebuild(self._db)

    def _refresh(self) -> None:
        """What a search does first: small changes at once, the rest in a detached indexer. A library in memory or over
        explicit roots has no such indexer, so its first refresh reads everything."""
        attached = self.in_memory or self._roots is not None
        if attached and not self._synced:
            self.sync()
            return
        from .model import Report
        from .survey import divide

        found = self._survey()
        self._indexes.refresh()
        renew = not attached and (self._indexes.due(self._db) or self._outdated())
        if found.quiet and not renew:
            self._pending = 0
            return
        small, late = (found, 0) if attached else divide(self._db, found, SMALL)
        if not self._lock.acquire():
            self._pending = len(found.changed)
            return
        try:
            report = self._indexer().run(small, None if attached else time.monotonic() + BUDGET)
        except Damaged:
            self._indexes.set_aside()
            report, renew = Report(pending=len(small.changed)), not attached
        finally:
            self._lock.release()
        self._pending = report.pending + late
        if self._pending or renew:
            from .detached import spawn

            spawn(self.folder)

    def _outdated(self) -> bool:
        return reading.tokenizer(self._db) != str(VERSION) or reading.calls_unread(self._db)

    def _survey(self, full: bool = False) -> Survey:
        from .survey import survey

        known = self._installed()
        adapters = self._adapters(known)
        found = survey(self._db, adapters, self.config.index.exclude, full, known.absent)
        found.failures.extend(known.faults)
        if self._roots is None:  # default homes may be missing, folders that the user named may not
            named = [root.path for _, roots in adapters for root in roots]
            found.failures.extend((path, "no such folder") for path in named if not os.path.lexists(path))
        self._listed = found.sources
        return found

    def _indexer(self) -> Indexer:
        from .sync import Indexer

        keep = self.config.index.policy == "keep"
        return Indexer(self._db, self._indexes.current, self._installed().adapters, keep)

    def _installed(self) -> Installed:
        from .adapters.installed import installed

        return installed(None if self.in_memory else self.folder)

    def _adapters(self, known: Installed) -> list[tuple[Adapter, list[Root]]]:
        named = {adapter.name: adapter for adapter in known.adapters}
        if self._roots is None:
            roots = self.config.roots(known.adapters)
        else:
            roots = {name: [Root(r) if isinstance(r, str) else r for r in given] for name, given in self._roots.items()}
        for agent, root in reading.added(self._db):
            if agent in named and self.config.agents.get(agent, AgentSettings()).enabled:
                roots.setdefault(agent, []).append(root)
        if unknown := sorted(set(roots) - set(named)):
            raise UsageError(f"unknown agent {unknown[0]!r}: use one of {', '.join(named)}")
        return [(named[name], given) for name, given in roots.items()]

    # -- added folders -------------------------------------------------------------------------------------------------

    def add(
        self,
        folder: str | os.PathLike[str],
        name: str | None = None,
        agent: str | None = None,
        progress: Callable[[Progress], None] | None = None,
        wait_seconds: float = 10.0,
    ) -> Added:
        """Adds a folder of Markdown notes as a collection, or with `agent` a further root of that agent, and reads it.
        Raises UsageError and NotFound for one that cannot be added."""
        from . import adding
        from .store import added
        from .survey import survey

        with self._mutex, mapped(self.folder):
            adapters = self._adapters_by_name()
            chosen = adding.checked(os.fspath(folder), name, agent, adapters, self._roots_by_name())
            added.add(self._db, chosen)
            if not self._lock.acquire(wait_seconds):
                return adding.report(self._db, chosen, waiting=True)
            listed = [(adapters[chosen.agent], [Root(chosen.path, None, chosen.collection)])]
            try:
                self._run(
                    lambda: survey(self._db, listed, self.config.index.exclude)._replace(gone=[]), progress=progress
                )
            finally:
                self._lock.release()
            return adding.report(self._db, chosen)

    def remove(self, asked: str | os.PathLike[str], agent: str | None = None, wait_seconds: float = 10.0) -> Added:
        """Takes an added folder out again, by a collection's name or its path, with what was read there; the files stay
        as they are. Returns what that was. Raises NotFound."""
        from . import adding
        from .store import added

        with self._mutex, mapped(self.folder):
            folders = [one for one in added.folders(self._db) if agent in (None, one.agent)]
            chosen = adding.named(folders, os.fspath(asked))
            if not self._lock.acquire(wait_seconds):
                raise UsageError("another process is indexing; nothing was removed, try again when it is done")
            try:
                others = [root.path for root in self._roots_by_name().get(chosen.agent, [])]
                held = added.drop(self._db, chosen, [path for path in others if path != chosen.path])
                self._indexes.refresh()
                self._indexer().catch_up()
            finally:
                self._lock.release()
            return adding.report(self._db, chosen)._replace(files=held.files, documents=held.documents)

    def added(self) -> list[Added]:
        """The folders that were added, with what the library holds of each."""
        from . import adding
        from .store import added

        with self._opened(False):
            return [adding.report(self._db, folder) for folder in added.folders(self._db)]

    def only(self, collection: str) -> Library:
        """A library of that collection alone, in memory: whatever it is asked, it holds nothing else. Raises
        NotFound."""
        from . import adding

        with self._mutex, mapped(self.folder):
            root = adding.collection(collection, self._roots_by_name().get(adding.NOTES, []))
        return Library(":memory:", {adding.NOTES: [root]}, self.config)

    def _adapters_by_name(self) -> dict[str, Adapter]:
        return {adapter.name: adapter for adapter in self._installed().adapters}

    def _roots_by_name(self) -> dict[str, list[Root]]:
        return {adapter.name: roots for adapter, roots in self._adapters(self._installed())}

    # -- life ----------------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self, sync: bool) -> Generator[None]:
        with self._mutex, mapped(self.folder):
            if sync:
                self._refresh()
            self._indexes.refresh()
            with snapshot(self._db):
                yield

    def _asked(self, sync: bool, question: Callable[[], T]) -> T:
        """The answer to a question. Over a damaged index it is asked again without one, and the index is built anew."""
        with self._opened(sync):
            try:
                return question()
            except Damaged:
                self._indexes.set_aside()
                found = question()
        if not self.in_memory and self._roots is None:
            from .detached import spawn

            spawn(self.folder)
        return found

    def _context(self) -> Context:
        return Context(self.config, self._pending, self._listed)

    def interrupt(self) -> None:
        """Stops a running question from another thread; it then raises StoreError."""
        self._db.interrupt()

    def close(self) -> None:
        with self._mutex:
            self._lock.release()
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _mutex() -> Any:
    from threading import RLock

    return RLock()
