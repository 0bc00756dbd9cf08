"""DeepSeek-Reasonix: one session is a `.jsonl` of whole messages, rewritten at every save, with side files beside it.

Layout of a home: `sessions/`, `sessions/subagents/`, `projects/<slug>/sessions/`, `archive/`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, listing

if TYPE_CHECKING:
    from ..model import Event, RawRecord

SUFFIX = ".jsonl"
"""Of a transcript; its name without it is the session's id."""
NOT_TRANSCRIPTS = (".events.jsonl", ".conflicts.jsonl", ".guardian.jsonl")
SIDE_FILES = (".jsonl.meta", ".meta.json", ".events.jsonl", ".cleanup-pending.json")
META, SUB_META, EVENTS, CLEANUP = SIDE_FILES
SUBAGENTS = "subagents"
NAME = r"(\d{8}-\d{6})(?:\.\d+)?(?:-(.+?))?(?:-recovery-[0-9a-fA-F]{8,})?"
"""A session's id, `20261103-081500.123456789-deepseek-v4-flash`: when it began (UTC) and the model."""


class Reasonix(Adapter):
    name = "reasonix"
    roots = ("~/.reasonix", "~/.config/reasonix", "~/Library/Application Support/reasonix")
    env = "REASONIX_HOME"
    aside = tuple(f"*{suffix}" for suffix in NOT_TRANSCRIPTS)
    formats = "`ID.jsonl` with its side files, `ID.events.jsonl`"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        homes = super().homes(environ)
        if not environ.get("REASONIX_HOME"):
            moved = (environ.get(name) for name in ("XDG_CONFIG_HOME", "APPDATA"))
            homes += [os.path.join(folder, "reasonix") for folder in moved if folder]
        return list(dict.fromkeys(homes))

    def sources(self, root: Root) -> Iterable[Source]:
        for folder in _folders(root):
            try:
                entries = {e.name: e for e in listing(folder.path)}
            except OSError:  # a project without sessions
                continue
            pending = {n.removesuffix(CLEANUP) for n in entries if n.endswith(CLEANUP)}
            yield from _sources(folder, entries, pending)
            below = entries.get(SUBAGENTS)
            if below is not None and below.is_dir(follow_symlinks=False):
                yield from _subagents(folder._replace(path=below.path), pending)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        # Reading needs decoders and patterns, listing does not, and every search lists.
        from ._reasonix_session import read

        return read(source)

    def slug(self, folder: str) -> str | None:
        return re.sub(r"[/\\:]", "-", folder)

    def records(self, source: Source) -> Iterator[RawRecord]:
        from ._reasonix_session import records

        yield from records(source)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        named = re.fullmatch(NAME, native)  # sub-agents and archives have other names and cannot be continued
        return ["reasonix", "--resume", native] if named and named[2] else None


# -- listing -----------------------------------------------------------------------------------------------------------


def _folders(root: Root) -> Iterator[Source]:
    """The transcript folders that `root` means: itself, those of a home, of a projects folder or of one project.

    Each as a source that says what holds for the sources in it.
    """
    entries = listing(root.path)
    below = {e.name for e in entries if e.is_dir(follow_symlinks=False)}
    home = below & {"sessions", "projects", "archive"}
    slug = _slug_of(root.path)
    if not home or any(_is_transcript(e.name) for e in entries):
        yield _folder(root.path, slug, root.role)
        if root.role:
            return
    if "sessions" in home:
        yield _folder(os.path.join(root.path, "sessions"), slug, root.role)
    if "projects" in home:
        yield from _projects(os.path.join(root.path, "projects"), root.role)
    if "archive" in home:
        yield _folder(os.path.join(root.path, "archive"), slug, root.role)
    if not home and os.path.basename(os.path.normpath(root.path)) == "projects":
        yield from _projects(root.path, root.role)


def _folder(path: str, slug: str | None, role: str | None) -> Source:
    return Source(Reasonix.name, path, "", slug=slug, role=role)


def _projects(folder: str, role: str | None) -> Iterator[Source]:
    try:
        entries = listing(folder)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield _folder(os.path.join(entry.path, "sessions"), entry.name, role)


def _slug_of(path: str) -> str | None:
    """The slug when the path is `projects/<slug>` or `projects/<slug>/sessions`."""
    parts = os.path.abspath(path).split(os.sep)
    if parts[-1] == "sessions":
        parts.pop()
    return parts[-1] if len(parts) > 1 and parts[-2] == "projects" else None


def _is_transcript(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.endswith(NOT_TRANSCRIPTS)


def _stems(entries: Mapping[str, os.DirEntry[str]]) -> Iterator[tuple[str, str]]:
    """(name without suffix, file name) of each session: its transcript, or its event log where there is none."""
    for name in entries:
        if _is_transcript(name):
            yield name.removesuffix(SUFFIX), name
        elif name.endswith(EVENTS) and name.removesuffix(EVENTS) + SUFFIX not in entries:
            yield name.removesuffix(EVENTS), name


def _sources(folder: Source, entries: Mapping[str, os.DirEntry[str]], hidden: set[str]) -> Iterator[Source]:
    for stem, name in _stems(entries):
        source = _source(folder, entries, stem, name)
        if source is not None:
            yield source._replace(hidden=True, stamp=source.stamp + " hidden") if stem in hidden else source


def _source(folder: Source, entries: Mapping[str, os.DirEntry[str]], stem: str, name: str) -> Source | None:
    entry = entries[name]
    source = folder._replace(path=entry.path)
    try:
        if not entry.is_file(follow_symlinks=False):
            if entry.is_dir():
                return None
            why = "a symbolic link" if entry.is_symlink() else "not a regular file"
            return source._replace(stamp="excluded", excluded=why)
        stat = entry.stat(follow_symlinks=False)
        size, mtime, stamp = stat.st_size, stat.st_mtime, [f"{stat.st_size}:{stat.st_mtime_ns}"]
        for suffix in SIDE_FILES:
            side = entries.get(stem + suffix)
            if side is not None and side is not entry and side.is_file(follow_symlinks=False):
                stat = side.stat(follow_symlinks=False)
                stamp.append(f"{suffix}:{stat.st_size}:{stat.st_mtime_ns}")
                if suffix == EVENTS:
                    size, mtime = size + stat.st_size, max(mtime, stat.st_mtime)
    except OSError:  # gone between listing and stat
        return None
    return source._replace(stamp=" ".join(stamp), size=size, mtime=mtime)


def _subagents(folder: Source, pending: set[str]) -> Iterator[Source]:
    try:
        entries = {e.name: e for e in listing(folder.path)}
    except OSError:
        return
    hidden = {n.removesuffix(CLEANUP) for n in entries if n.endswith(CLEANUP)}
    if pending or hidden:
        hidden |= _orphaned(folder.path, entries, pending | hidden)
    yield from _sources(folder, entries, hidden)


def _orphaned(folder: str, entries: Mapping[str, os.DirEntry[str]], pending: set[str]) -> set[str]:
    """The sub-agents whose parent, or its parent, is being deleted. The only listing that opens files."""
    from ._reasonix_session import parent_of, read_meta

    parents = {stem: parent_of(read_meta(os.path.join(folder, stem))) for stem, _ in _stems(entries)}
    found: set[str] = set()
    grown = True
    while grown:
        children = {stem for stem, parent in parents.items() if parent in pending | found}
        grown = not children <= found
        found |= children
    return found
