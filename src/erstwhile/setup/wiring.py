"""Wires agents to our MCP server, and takes them off again: what is to be done to which file, and doing it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from typing import NamedTuple

from ..config import expand
from . import files, skill
from .agents import AGENTS, Agent
from .entry import Server, covers, merged, ours, server
from .places import Broken, CannotEdit, Entry

Environ = Mapping[str, str]


class Outcome(NamedTuple):
    """What was done for one agent."""

    agent: str
    said: str
    """One line for people."""
    found: bool = True
    failed: bool = False
    """Something was left alone that the user has to look at."""
    diffs: Mapping[str, str] = {}
    """What would be changed, by file."""


class Change(NamedTuple):
    """What is to be done to one file, or why nothing is."""

    path: str
    said: str
    old: bytes | None = None
    new: bytes | None = None
    """The same as `old` when nothing is to be done; None deletes the file."""
    failed: bool = False
    subject: str = ""
    """What the sentence is about; nothing for the server itself."""

    @property
    def needed(self) -> bool:
        return self.old != self.new


def connect(names: Sequence[str], environ: Environ, dry: bool = False) -> list[Outcome]:
    """Adds the server and the skill to the agents of these names that are installed, or to all that are."""
    wanted = server(environ)
    return [_connect(agent, wanted, environ, dry) for agent in _chosen(names)]


def disconnect(names: Sequence[str], environ: Environ, dry: bool = False) -> list[Outcome]:
    """Takes the server and the skill out of them again."""
    chosen = _chosen(names)
    return [_disconnect(agent, chosen, environ, dry) for agent in chosen]


def _chosen(names: Sequence[str]) -> list[Agent]:
    return [agent for agent in AGENTS if agent.name in names or not names]


def _connect(agent: Agent, wanted: Server, environ: Environ, dry: bool) -> Outcome:
    found = agent.found(environ)
    if found is None:
        return _absent(agent, environ)
    config = _addition(agent, wanted, environ)
    changes = [config] if config.failed else [config, _taught(agent, environ)]
    return _carried_out(agent, found, changes, agent.next, environ, dry)


def _disconnect(agent: Agent, chosen: Iterable[Agent], environ: Environ, dry: bool) -> Outcome:
    found = agent.found(environ)
    if found is None:
        return _absent(agent, environ)
    config = _removal(agent, environ)
    changes = [config] if config.failed else [config, _untaught(agent, chosen, environ)]
    return _carried_out(agent, found, changes, agent.next, environ, dry)


def _absent(agent: Agent, environ: Environ) -> Outcome:
    missing = [_short(agent.home(environ), environ), *(f"{name} on PATH" for name in agent.programs)]
    return Outcome(agent.name, f"not found: there is no {', no '.join(missing)}", found=False)


# -- the configuration -------------------------------------------------------------------------------------------------


def _addition(agent: Agent, wanted: Server, environ: Environ) -> Change:
    path = agent.file(environ)
    short, form = _short(path, environ), agent.form(wanted)
    try:
        old = files.read(path)
        text = _text(old)
        present = agent.place.look(text).entry
        if present is not None and not ours(present):
            return _left(path, f"{short} has an entry erstwhile that does not start erst; it was left alone", old)
        if present is not None and covers(present, form):
            return Change(path, f"already in {short}", old, old)
        new = agent.place.added(text, form if present is None else merged(present, form))
    except (Broken, CannotEdit, OSError) as problem:
        return _left(path, f"{_fault(short, problem)}; {_by_hand(form)}")
    return Change(path, f"{'added to' if present is None else 'brought up to date in'} {short}", old, new.encode())


def _removal(agent: Agent, environ: Environ) -> Change:
    path = agent.file(environ)
    short = _short(path, environ)
    try:
        old = files.read(path)
        text = _text(old)
        present = agent.place.look(text).entry
        if present is None:
            return Change(path, f"not in {short}", old, old)
        if not ours(present):
            return Change(path, f"the entry erstwhile in {short} does not start erst; it was left alone", old, old)
        new = _original(agent, path, text, present)
    except (Broken, CannotEdit, OSError) as problem:
        return _left(path, f"{_fault(short, problem)}; take its entry out by hand")
    return Change(path, f"taken out of {short}", old, new)


def _original(agent: Agent, path: str, text: str, present: Entry) -> bytes | None:
    """What the file is without our entry: what it was before, byte for byte, if nothing else has changed since then."""
    kept = files.backups(path)
    for _, content in kept:
        with suppress(Broken, CannotEdit, UnicodeDecodeError):
            before = content.decode()
            if agent.place.look(before).entry is None and agent.place.added(before, present) == text:
                return content
    new = agent.place.removed(text)
    return None if not kept and agent.place.empty(new) else new.encode()


def _text(content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise Broken(content.count(b"\n", 0, error.start) + 1 if content else 1, "not UTF-8 text") from error


def _left(path: str, said: str, content: bytes | None = None) -> Change:
    return Change(path, said, content, content, failed=True)


def _fault(short: str, problem: Exception) -> str:
    if isinstance(problem, Broken):
        return f"{short}, line {problem.line}: {problem.reason}; it was left alone: mend it and run this again"
    if isinstance(problem, OSError):
        return f"{short}: {problem.strerror or problem}; it was left alone"
    return f"{short} was left alone: {problem}"


def _by_hand(form: Entry) -> str:
    return f"or add by hand: {json.dumps(form, ensure_ascii=False)}"


# -- the skill ---------------------------------------------------------------------------------------------------------


def _taught(agent: Agent, environ: Environ) -> Change:
    path = skill.path(agent.skills(environ))
    short, new = _short(path, environ), skill.text()
    try:
        old = files.read(path)
    except OSError as error:
        return _left(path, f"{short}: {error.strerror or error}")
    if old is None or (old != new and skill.unchanged(old)):
        return Change(path, f"written to {short}", old, new, subject="skill ")
    return Change(path, "" if old == new else f"{short} is not as erst wrote it and was left alone", old, old)


def _untaught(agent: Agent, chosen: Iterable[Agent], environ: Environ) -> Change:
    """Deletes the skill, unless the user changed it or another agent that stays connected reads the same file."""
    path = skill.path(agent.skills(environ))
    short = _short(path, environ)
    try:
        old = files.read(path)
    except OSError as error:
        return _left(path, f"{short}: {error.strerror or error}")
    if old is None:
        return Change(path, "")
    if not skill.unchanged(old):
        return Change(path, f"{short} is not as erst wrote it and was left alone", old, old)
    others = [one for one in AGENTS if one not in chosen and skill.path(one.skills(environ)) == path]
    users = [one.name for one in others if _connected(one, environ)]
    if users:
        return Change(path, f"{short} stays for {', '.join(users)}", old, old)
    return Change(path, f"deleted: {short}", old, None, subject="skill ")


def _connected(agent: Agent, environ: Environ) -> bool:
    try:
        return ours(agent.place.look(_text(files.read(agent.file(environ)))).entry)
    except (Broken, CannotEdit, OSError):
        return False


# -- doing it ----------------------------------------------------------------------------------------------------------


def _carried_out(
    agent: Agent, found: str, changes: Sequence[Change], then: str, environ: Environ, dry: bool
) -> Outcome:
    done: list[str] = []
    failed, diffs = any(change.failed for change in changes), dict[str, str]()
    for change in changes:
        said = change.subject + change.said
        if change.needed and dry:
            diffs[change.path] = _diff(change)
            said = f"{change.subject}would be {change.said}"
        elif change.needed:
            try:
                _apply(change)
            except OSError as error:
                said, failed = f"{_short(change.path, environ)} cannot be written: {error.strerror or error}", True
            except files.Changed:
                said, failed = f"{_short(change.path, environ)} was written by another program; run this again", True
        done += [said] if said else []
        if failed:
            break
    if not failed and not dry and any(change.needed for change in changes):
        done.append(then)
    return Outcome(agent.name, f"{'; '.join(done)} (found {_short(found, environ)})", failed=failed, diffs=diffs)


def _apply(change: Change) -> None:
    """Raises OSError, or Changed."""
    if change.new is not None:
        files.replace(change.path, change.old, change.new, keep=not change.path.endswith("SKILL.md"))
        return
    os.unlink(os.path.realpath(change.path))
    if change.path.endswith("SKILL.md"):
        with suppress(OSError):  # somebody put another file beside it
            os.rmdir(os.path.dirname(change.path))


def _diff(change: Change) -> str:
    old, new = ((content or b"").decode("utf-8", "replace") for content in (change.old, change.new))
    names = "/dev/null" if change.old is None else change.path, "/dev/null" if change.new is None else change.path
    lines = unified_diff(_lines(old), _lines(new), *names)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _short(path: str, environ: Environ) -> str:
    home = expand("~", environ)
    return "~" + path[len(home) :] if home and path.startswith(home + os.sep) else path
