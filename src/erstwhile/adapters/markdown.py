"""Markdown notes that the user added: each file is a session, each section by nearest heading a message of its own.

A folder of them is a collection. Hidden folders and installed packages are not walked, links are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..errors import SourceError
from ..model import Root, Skipped, Source
from ..values import TYPE_CHECKING, Any, NamedTuple
from .base import Adapter, listing, seconds

if TYPE_CHECKING:
    from ..model import Event

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
UNWALKED = ("node_modules", "__pycache__")
DEEPEST = 40
LARGEST = 64 << 20
"""A larger file is named and not read: no note, but a dump that happens to be called one."""


class Markdown(Adapter):
    name = "markdown"
    also = "the folders you add"
    formats = "Markdown notes and site content, by section; front matter in YAML or TOML"
    follows = True

    def sources(self, root: Root) -> Iterable[Source]:
        folder = root.path.rstrip("/\\") or root.path
        collection = root.collection or os.path.basename(os.path.abspath(folder))
        return _below(folder, _Where(os.path.realpath(folder), root.role), f"{collection}/", DEEPEST)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        # Reading needs the parser, listing does not, and every search lists.
        from ..history import Message, Part, Session
        from ._markdown_text import note

        data = _bytes(source.path)
        text, fault = _decoded(data)
        if fault:
            yield fault
        if text is None:
            return
        found = note(text)
        yield from found.faults
        collection, _, relative = (source.native or os.path.basename(source.path)).partition("/")
        path, suffix = os.path.splitext(relative)
        created = seconds(found.created)
        changed = seconds(found.changed) or created or source.mtime
        yield Session(
            id=f"{self.name}:{source.native}",
            title=found.title or os.path.basename(path) or suffix,
            started=created or changed,
            ended=changed,
            collection=collection,
            slug=found.slug or path,
            lends=found.lends or None,
            content=_hash(data),
        )
        for index, section in enumerate(found.sections):
            yield Message(index, "user", changed, (Part("document", section.text, heading=section.heading),))

    def content(self, source: Source) -> int:
        return _hash(_bytes(source.path))


# -- listing -----------------------------------------------------------------------------------------------------------


class _Where(NamedTuple):
    """What the walk of one root knows everywhere."""

    top: str
    """The root with its links resolved."""
    role: str | None


def _below(folder: str, where: _Where, native: str, depth: int) -> Iterator[Source]:
    """The Markdown files below a folder, whose ids begin with `native`; what looks like one and must not be read is
    excluded, with the reason."""
    for entry in listing(folder):
        name = entry.name
        if name.startswith(".") or name in UNWALKED:
            continue
        wanted = name.lower().endswith(SUFFIXES)
        if entry.is_symlink():
            if wanted or entry.is_dir():
                yield _excluded(entry.path, _link(entry.path, where.top))
        elif entry.is_dir(follow_symlinks=False):
            yield from _within(entry.path, where, f"{native}{name}/", depth)
        elif wanted:
            yield from _file(entry, where, native + name)


def _within(folder: str, where: _Where, native: str, depth: int) -> Iterator[Source]:
    if not depth:
        yield _excluded(folder, "more folders inside each other than are walked")
        return
    try:
        yield from _below(folder, where, native, depth - 1)
    except OSError as error:
        if not isinstance(error, FileNotFoundError):  # else it went while the folder above was listed
            yield _excluded(folder, f"cannot be listed: {error.strerror or error}")


def _file(entry: os.DirEntry[str], where: _Where, native: str) -> Iterator[Source]:
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:  # gone between listing and stat
        return
    if not entry.is_file(follow_symlinks=False):
        yield _excluded(entry.path, "not a regular file")
    elif stat.st_size > LARGEST:
        yield _excluded(entry.path, f"larger than {LARGEST >> 20} MB")
    else:
        size, changed = stat.st_size, stat.st_mtime_ns
        yield Source("markdown", entry.path, f"{size}:{changed}", size, changed / 1e9, role=where.role, native=native)


def _link(path: str, top: str) -> str:
    """Why a link is not followed."""
    target = os.path.realpath(path)
    if not os.path.exists(target):
        return "a link to nothing"
    inside = (target + os.sep).startswith(top.rstrip(os.sep) + os.sep)
    return "a link inside the folder; what it leads to is read where it lies" if inside else "a link out of the folder"


def _excluded(path: str, reason: str) -> Source:
    return Source("markdown", path, "", excluded=reason)


# -- reading -----------------------------------------------------------------------------------------------------------


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error


def _decoded(data: bytes) -> tuple[str | None, Skipped | None]:
    """The text of a file, and what is wrong with it; None when it is no text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), None
    if b"\0" in data:
        return None, Skipped(None, "not text: it holds NUL bytes")
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8", "replace"), Skipped(line, "not UTF-8; the bytes that are no text were replaced")


def _hash(data: bytes) -> int:
    """A signed 64-bit hash, as SQLite keeps numbers."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
