"""Reads Kimi CLI and its successor Kimi Code, which keep different files under homes of the same shape.

Kimi CLI: `sessions/<md5 of the folder>/<session>/wire.jsonl`, else `context.jsonl`, and sub-agents below. Kimi Code:
`sessions/wd_…/session_…/agents/<agent>/wire.jsonl`. What is inside is read by `_kimi_wire`, `_kimi_context` and
`_kimi_code`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..model import Root, Source
from ..values import TYPE_CHECKING, Any
from ._listing import entries, file_source, folders, stamp_of
from .base import Adapter, listing, regular

if TYPE_CHECKING:
    from ..model import Event

LOGS = ("wire.jsonl", "context.jsonl")
"""The whole log, and what the model saw of it, which is all that the oldest sessions have."""
STATE, META, INDEX = "state.json", "meta.json", "session_index.jsonl"
MAX_INDEX = 32 << 20


class KimiCli(Adapter):
    name = "kimi-cli"
    roots = ("~/.kimi", "~/.kimi-code")
    env = "KIMI_SHARE_DIR"
    aside = ("context.jsonl", "session_index.jsonl")
    """What is read where there is no `wire.jsonl`; and a list of sessions."""
    more_env = ("KIMI_CODE_HOME",)
    formats = "`wire.jsonl`, `context.jsonl`; Kimi Code's `agents/ID/wire.jsonl`"

    def homes(self, environ: Mapping[str, str]) -> list[str]:
        """Kimi CLI's home and Kimi Code's; each has a variable of its own."""
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        named = zip(("KIMI_SHARE_DIR", "KIMI_CODE_HOME"), self.roots, strict=True)
        return [os.path.expanduser(environ.get(name) or "") or root.replace("~", home, 1) for name, root in named]

    def sources(self, root: Root) -> Iterable[Source]:
        names = {e.name for e in listing(root.path)}
        home = root.path if "sessions" in names else os.path.dirname(os.path.normpath(root.path))
        sessions = os.path.join(root.path, "sessions") if "sessions" in names else root.path
        deleted = _deleted(os.path.join(home, INDEX))
        for project in folders(sessions):
            for entry in entries(project.path):
                if not entry.is_dir(follow_symlinks=False):
                    if entry.name.endswith(".jsonl"):  # before sessions were folders
                        yield from _some(file_source(self.name, entry, root, project.name))
                elif os.path.isdir(agents := os.path.join(entry.path, "agents")):
                    for source in self._agents(agents, entry.path, root):
                        yield source._replace(hidden=True) if entry.name in deleted else source
                else:
                    yield from self._session(entry.path, root, project.name)

    def _session(self, folder: str, root: Root, slug: str) -> Iterator[Source]:
        """A session of Kimi CLI and its sub-agents, which are archived with it."""
        state = stamp_of(os.path.join(folder, STATE))
        yield from _some(self._log(folder, root, slug, state))
        for agent in folders(os.path.join(folder, "subagents")):
            meta = stamp_of(os.path.join(agent.path, META))
            yield from _some(self._log(agent.path, root, slug, f"{state}+{meta}"))

    def _log(self, folder: str, root: Root, slug: str, beside: str) -> Source | None:
        logs = {e.name: e for e in entries(folder) if e.name in LOGS}
        entry = next((logs[name] for name in LOGS if name in logs), None)
        return file_source(self.name, entry, root, slug, beside) if entry else None

    def _agents(self, agents: str, session: str, root: Root) -> Iterator[Source]:
        state = stamp_of(os.path.join(session, STATE))
        for agent in folders(agents):
            for entry in entries(agent.path):
                if entry.name == LOGS[0]:
                    yield from _some(file_source(self.name, entry, root, beside=state))

    def read(self, source: Source, since: dict[str, Any] | None = None) -> Iterator[Event]:
        # Reading needs decoders, listing does not, and every search lists.
        if os.path.basename(os.path.dirname(os.path.dirname(source.path))) == "agents":
            from ._kimi_code import Agent

            return Agent(source.path, since).events()
        if os.path.basename(source.path) == LOGS[0]:
            from ._kimi_wire import Wire

            return Wire(source.path, since).events()
        from ._kimi_context import Context

        return Context(source.path, since).events()

    def slug(self, folder: str) -> str | None:
        from hashlib import md5

        return md5(folder.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()

    def resume(self, native: str, cwd: str | None) -> list[str] | None:
        whole = len(native.removeprefix("session_")) == 36 and native.count("-") == 4  # sub-agents have other names
        return ["kimi", "--session", native] if whole else None


def _some(source: Source | None) -> Iterator[Source]:
    if source is not None:
        yield source


def _deleted(index: str) -> set[str]:
    """The sessions that Kimi Code's list says are deleted; their files may still be there."""
    if not regular(index):
        return set()
    try:
        with open(index, "rb") as file:
            data = file.read(MAX_INDEX)
    except OSError:
        return set()
    found: set[str] = set()
    for line in data.split(b"\n") if b'"deleted"' in data else ():
        if b'"sessionId"' in line:
            # A later line without the mark would mean that the session was made again.
            name = line.partition(b'"sessionId"')[2].partition(b'"')[2].partition(b'"')[0].decode("utf-8", "replace")
            gone = b'"deleted":true' in line.replace(b" ", b"")
            found = found | {name} if gone else found - {name}
    return found
