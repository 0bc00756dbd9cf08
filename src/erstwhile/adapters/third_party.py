"""Loads the adapters of other packages, and keeps what goes wrong in them from costing anything but themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..errors import ErstError, SourceError
from ..history import Session
from ..model import Event, Root, Source
from ..values import TYPE_CHECKING, Any
from . import ADAPTERS
from .base import Adapter, Reread
from .installed import EntryPoint, Installed

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


def load(found: Iterable[EntryPoint]) -> Installed:
    """Our adapters and those that the entry points name, with why each of the others cannot be used."""
    adapters = list(ADAPTERS)
    faults: list[tuple[str, str]] = []
    absent: set[str] = set()
    for entry in found:
        where = f"adapter {entry.name} of {entry.package}"
        try:
            if any(adapter.name == entry.name for adapter in ADAPTERS):
                raise SourceError("there is an agent of this name already")
            adapters.append(ThirdParty(_instance(entry), where))
        except (SourceError, OSError) as error:
            faults.append((where, str(error)))
            absent.add(entry.name)
    ours = {adapter.name for adapter in ADAPTERS}
    return Installed(tuple(adapters), tuple(faults), frozenset(absent - ours))


def _instance(entry: EntryPoint) -> Adapter:
    """The adapter that the entry point names: an instance of Adapter, or a class of such."""
    found = _guarded(lambda: _imported(entry.value))
    if not isinstance(found, Adapter):
        raise SourceError(f"{entry.value} is no Adapter")
    if found.name != entry.name:
        raise SourceError(f"it calls itself {found.name!r}; the entry point must have the same name")
    return found


def _imported(value: str) -> object:
    from importlib import import_module

    module, _, path = value.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found() if isinstance(found, type) else found


def _guarded(work: Callable[[], T]) -> T:
    """What somebody else's code gives; its faults as SourceError. Those that mean something to us stay as they are."""
    try:
        return work()
    except (ErstError, Reread, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise SourceError(f"{type(error).__name__}: {error}") from error


class ThirdParty(Adapter):
    """An adapter of another package, of which every fault names it."""

    def __init__(self, adapter: Adapter, where: str) -> None:
        self.adapter, self.where = adapter, where
        self.name, self.roots, self.env, self.more_env = adapter.name, adapter.roots, adapter.env, adapter.more_env
        self.formats, self.also, self.file_roots = adapter.formats, adapter.also, adapter.file_roots
        _guarded(lambda: adapter.homes({}))

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        try:
            return list(_guarded(lambda: self.adapter.homes(environ)))
        except (SourceError, OSError):
            return super().homes(environ)

    def sources(self, root: Root) -> Iterable[Source]:
        for source in self._each(lambda: self.adapter.sources(root)):
            if getattr(source, "agent", None) != self.name:
                raise SourceError(f"{self.where}: gave a source that is not its own: {source!r:.100}")
            yield source

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        for event in self._each(lambda: self.adapter.read(source, since)):
            if isinstance(event, Session) and not event.id.startswith(f"{self.name}:"):
                raise SourceError(f"{self.where}: gave a session that is not its own: {event.id!r:.100}")
            yield event

    def _each(self, work: Callable[[], Iterable[T]]) -> Iterator[T]:
        try:
            values = iter(_guarded(work))
            while (value := _guarded(lambda: next(values, None))) is not None:
                yield value
        except SourceError as error:
            raise SourceError(f"{self.where}: {error}") from error

    def slug(self, folder: str) -> str | None:
        try:
            return _guarded(lambda: self.adapter.slug(folder))
        except (SourceError, OSError):  # asked in a search, which goes on without it
            return None

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return _guarded(lambda: self.adapter.resume(native, cwd))
