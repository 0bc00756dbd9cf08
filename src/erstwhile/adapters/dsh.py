"""DeepSeek Harness: one folder a session, holding an append-only event log, usually zstd-compressed.

Layout: `$DSH_HOME/sessions/--<project key>--/<encoded id>/session[.vN].jsonl[.zstd]`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from .base import Adapter, listing

if TYPE_CHECKING:
    from ..model import Event, RawRecord

NO_PROJECT = "_no-cwd"
LONGEST_KEY = 251
SUFFIXES = (".jsonl", ".jsonl.zstd", ".jsonl.zst")


class Dsh(Adapter):
    name = "dsh"
    roots = ("~/.dsh",)
    env = "DSH_HOME"
    aside = tuple(f"session{version}{suffix}" for version in ("", ".v*") for suffix in SUFFIXES)
    """Generations that a migration left behind: of each session the highest is read, whatever its number."""
    formats = "`session.jsonl`, `session.vN.jsonl`, each also `.zstd`"

    def sources(self, root: Root) -> Iterable[Source]:
        sessions = os.path.join(root.path, "sessions")
        base = sessions if os.path.isdir(sessions) and not os.path.islink(sessions) else root.path
        entries = listing(base)
        own = _source(entries, root, _key(os.path.basename(os.path.dirname(os.path.abspath(base)))))
        if own is not None:  # the root is the folder of one session
            yield own
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry, root, _key(os.path.basename(os.path.abspath(base))))

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        # Reading needs the decoders, listing does not, and every search lists.
        from ._dsh_log import read

        return read(source, since)

    def slug(self, folder: str) -> str | None:
        key = re.sub(r"[/\\:]+", "-", folder).lstrip("-")
        key = "".join(c if re.match(r"[A-Za-z0-9._-]", c) else _escaped(c) for c in key)
        return f"--{key[:LONGEST_KEY] or 'root'}--"

    def records(self, source: Source) -> Iterator[RawRecord]:
        from ._dsh_log import records

        yield from records(source)

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return ["dsh", "--resume", native]


def _escaped(character: str) -> str:
    """`~XXXX` for each UTF-16 unit."""
    units = character.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"~{units[at : at + 4]}" for at in range(0, len(units), 4))


def _key(name: str) -> str | None:
    """The folder name if it is one of a project."""
    return name if name == NO_PROJECT or (name.startswith("--") and name.endswith("--")) else None


def _below(folder: os.DirEntry[str], root: Root, slug: str | None) -> Iterator[Source]:
    """The session that lies in `folder`, or in the folders of this project folder."""
    try:
        entries = listing(folder.path)
    except OSError:
        return
    own = _source(entries, root, slug)
    if own is not None:
        yield own
        return
    for entry in entries if slug is None else ():
        if entry.is_dir(follow_symlinks=False):
            try:
                source = _source(listing(entry.path), root, _key(folder.name))
            except OSError:
                continue
            if source is not None:
                yield source


def _source(entries: list[os.DirEntry[str]], root: Root, slug: str | None) -> Source | None:
    """The session of one folder: its highest generation, the others being what a migration left behind; of two forms of
    one generation the one written last."""
    found: list[tuple[int, int, str, os.DirEntry[str]]] = []
    for entry in entries:
        version = _version(entry.name)
        try:
            if version is not None and not entry.is_dir(follow_symlinks=False):
                found.append((version, entry.stat(follow_symlinks=False).st_mtime_ns, entry.name, entry))
        except OSError:  # gone between listing and stat
            continue
    if not found:
        return None
    entry = max(found)[-1]
    source = Source(Dsh.name, entry.path, "excluded", slug=slug, role=root.role)
    if not entry.is_file(follow_symlinks=False):
        return source._replace(excluded="a symbolic link" if entry.is_symlink() else "not a regular file")
    stat = entry.stat(follow_symlinks=False)
    return source._replace(stamp=f"{stat.st_size}:{stat.st_mtime_ns}", size=stat.st_size, mtime=stat.st_mtime)


def _version(name: str) -> int | None:
    """The format version that a log's name tells: `session.jsonl.zstd` is 0, `session.v3.jsonl` is 3."""
    if not name.startswith("session."):
        return None
    for suffix in SUFFIXES:
        generation = name[len("session") :].removesuffix(suffix)
        if not generation:
            return 0
        if generation.startswith(".v") and generation[2:].isdecimal() and name.endswith(suffix):
            return int(generation[2:])
    return None
