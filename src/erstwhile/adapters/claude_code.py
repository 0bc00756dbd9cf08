"""Reads Claude Code: one `.jsonl` file a session under `projects/<slug>/`, sub-agents in files of their own below it.

Format: records of type user and assistant with an envelope (uuid, parentUuid, sessionId, cwd, gitBranch), among many
kinds of host records. An answer is split over several lines with one `message.id`.
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

NOT_TRANSCRIPTS = ("journal.jsonl", "history.jsonl")


class ClaudeCode(Adapter):
    name = "claude-code"
    roots = ("~/.claude", "~/.config/claude")
    env = "CLAUDE_CONFIG_DIR"
    aside = NOT_TRANSCRIPTS
    formats = "`projects/SLUG/ID.jsonl`, sub-agents below it"

    def sources(self, root: Root) -> Iterable[Source]:
        home = os.path.normpath(root.path)
        projects = os.path.join(home, "projects")
        return self._below(projects if os.path.isdir(projects) else home, root, "", 12)

    def _below(self, folder: str, root: Root, slug: str, depth: int) -> Iterator[Source]:
        """The transcripts in `folder` and below. `slug` is empty until a session's own folder is entered."""
        entries = listing(folder)
        names = {e.name for e in entries}
        spill = _modified(os.path.join(folder, "tool-results")) if "tool-results" in names else ""
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                own = slug or (os.path.basename(folder) if _is_session(entry.name, names) else "")
                if depth and entry.name != "tool-results":
                    yield from _unless_gone(self._below(entry.path, root, own, depth - 1))
            elif entry.name.endswith(".jsonl") and entry.name not in NOT_TRANSCRIPTS:
                source = self._source(entry, root, slug or os.path.basename(folder), names, spill)
                if source is not None:
                    yield source

    def _source(self, entry: os.DirEntry[str], root: Root, slug: str, names: set[str], spill: str) -> Source | None:
        if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
            reason = "a link" if entry.is_symlink() else "not a regular file"
            return Source(self.name, entry.path, "", slug=slug, role=root.role, excluded=reason)
        stem = entry.name.removesuffix(".jsonl")
        try:
            stat = entry.stat(follow_symlinks=False)
        except OSError:  # gone between listing and stat
            return None
        stamp = f"{stat.st_size}:{stat.st_mtime_ns}"
        if f"{stem}.meta.json" in names:
            stamp += ":" + _modified(os.path.join(os.path.dirname(entry.path), f"{stem}.meta.json"))
        if stem in names:
            spill = _modified(os.path.join(os.path.dirname(entry.path), stem, "tool-results"))
        stamp += f":{spill}" if spill else ""
        return Source(self.name, entry.path, stamp, stat.st_size, stat.st_mtime, slug=slug, role=root.role)

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        from ._claude_transcript import Transcript  # listing happens on every search, reading does not

        yield from Transcript(source.path, since).events()

    def slug(self, folder: str) -> str | None:
        return re.sub(r"[^A-Za-z0-9]", "-", folder)

    def records(self, source: Source) -> Iterator[RawRecord]:
        from ._claude_transcript import Transcript

        yield from Transcript(source.path, None).records()

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        return None if native.startswith("agent-") else ["claude", "--resume", native]


def _is_session(name: str, names: set[str]) -> bool:
    """Whether a folder is the one beside a transcript (or what is left of it) and not a project's."""
    return f"{name}.jsonl" in names or (len(name) == 36 and name.count("-") == 4)


def _modified(path: str) -> str:
    try:
        stat = os.stat(path, follow_symlinks=False)
    except OSError:
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"


def _unless_gone(sources: Iterator[Source]) -> Iterator[Source]:
    """The sources of a folder below the root; none when it cannot be listed, which costs only itself."""
    try:
        yield from sources
    except OSError:
        return
