"""Every adapter gives exactly what the expected.json beside its fixtures says."""

from __future__ import annotations

import functools
import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, Conversation, Item, collect, merge

from erstwhile.adapters.base import Adapter, seconds
from erstwhile.model import SCOPES, Root, Source

FIXTURES = Path(__file__).parent.parent / "fixtures"
AGENTS = {
    "aider": "Aider",
    "openai-chat": "OpenaiChat",
    "reasonix": "Reasonix",
    "dsh": "Dsh",
    "claude-code": "ClaudeCode",
    "cline": "Cline",
    "codex": "Codex",
    "copilot-cli": "CopilotCli",
    "crush": "Crush",
    "cursor": "Cursor",
    "gemini-cli": "GeminiCli",
    "goose": "Goose",
    "hermes": "Hermes",
    "kimi-cli": "KimiCli",
    "markdown": "Markdown",
    "opencode": "OpenCode",
    "pi": "Pi",
    "qwen-code": "QwenCode",
}
RELATIONS = {"subtask": "subagent", "inline": "subagent", "compression": "compaction", "compacted": ""}


class Found:
    """One agent's fixtures read whole: its expected.json, sources and sessions."""

    def __init__(self, agent: str) -> None:
        module = importlib.import_module("erstwhile.adapters." + agent.replace("-", "_"))
        self.adapter: Adapter = getattr(module, AGENTS[agent])()
        self.folder = FIXTURES / agent
        self.expected: dict[str, Any] = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
        roots = [Root(str(path)) for root in self.expected["roots"] for path in folders(self.folder, root["path"])]
        self.listed: list[Source] = [s for root in roots for s in self.adapter.sources(root)]
        readable = [s for s in self.listed if not s.hidden and not s.excluded]
        self.sources: list[tuple[Source, Collected]] = [(s, collect(self.adapter.read(s))) for s in readable]
        # An id that names a file names one of the fake file system here.
        merged = merge(c for _, c in self.sources)
        self.sessions = {key.replace(f"{self.folder}{os.sep}", ""): session for key, session in merged.items()}

    def session(self, native: str) -> Conversation:
        return self.sessions[f"{self.adapter.name}:{native}"]


def folders(base: Path, named: str) -> list[Path]:
    """The folders that a root's path means, which may be a pattern or name a file in the folder."""
    paths = sorted(base.glob(named)) if "*" in named else [base / named]
    return [path.parent if path.is_file() else path for path in paths]


@functools.cache
def found(agent: str) -> Found:
    return Found(agent)


def expectations() -> list[Any]:
    """(agent, expected session) for every session of every fixture that is there."""
    cases: list[Any] = []
    for agent in AGENTS:
        path = FIXTURES / agent / "expected.json"
        sessions = json.loads(path.read_text(encoding="utf-8"))["sessions"] if path.exists() else []
        shown = [s for s in sessions if s.get("visibility") != "hidden"]
        cases += [pytest.param(agent, s, id=f"{agent}-{s['id']}") for s in shown]
    return cases


@pytest.mark.parametrize(("agent", "expected"), expectations())
def test_a_fixture_session_is_read_as_expected(agent: str, expected: dict[str, Any]) -> None:
    session = found(agent).session(expected["id"])
    assert head(session, expected) == head_expected(agent, expected)
    assert len(session.items) == len(expected["items"]), [(i.kind, i.text[:60]) for i in session.items]
    for got, want in zip(session.items, expected["items"], strict=True):
        assert (got.ordinal, got.kind, got.tool) == (want["ordinal"], want["kind"], want["tool"]), want
        assert got.text.startswith(want["starts_with"]), want
        assert got.index == want["native"].get("message_index", got.index), want
        assert got.state in states(want["native"]), want
    counts = {kind: sum(i.kind == kind for i in session.items) for kind in expected["counts"]}
    assert counts == expected["counts"]
    assert next((i.text for i in session.items if i.kind == "user_text"), None) == expected["first_user_text"]
    assert sorted({i.tool for i in session.items if i.tool}) == expected["tool_names"]
    assert all(i.index < session.count for i in session.items)


def head(session: Conversation, expected: dict[str, Any]) -> dict[str, Any]:
    got = session.head
    every = {
        "title": got.title,
        # A project that is known by where its logs lie is in the fake file system here.
        "cwd": got.cwd and got.cwd.removeprefix(str(FIXTURES / got.id.partition(":")[0])),
        "git_branch": got.branch,
        "model": got.model,
        "parent_id": got.parent,
        "relation": got.relation,
        "archived": got.archived,
        "source": got.origin,
        "started_at": got.started if got.started is not None else min(times(session.items), default=None),
        "ended_at": got.ended if got.ended is not None else max(times(session.items), default=None),
    }
    return {k: every[k] for k in head_expected("", expected)}


def times(items: list[Item]) -> list[float]:
    return [i.time for i in items if i.time is not None]


def head_expected(agent: str, expected: dict[str, Any]) -> dict[str, Any]:
    """The facts of the session's head that its expectation names, in the product's words."""
    want = {k: expected[k] for k in ("title", "cwd", "git_branch", "model") if k in expected}
    want["parent_id"] = f"{agent}:{expected['parent_id']}" if expected.get("parent_id") else None
    relation = (expected.get("relation") or "").split("-")[0].split(" ")[0]
    if (expected.get("relation") or "").startswith("resume copy"):
        # Claude Code stamps the copied records with the new session id, so one file alone cannot show where they come
        # from; the library links the copies by Part.record.
        want["parent_id"], relation = None, ""
    want["relation"] = RELATIONS.get(relation, relation) or None
    want["archived"] = expected.get("visibility") in ("archived", "archive")
    if expected.get("source") in SCOPES:
        want["source"] = expected["source"]
    return want | {k: seconds(expected[k].split(" (")[0]) for k in ("started_at", "ended_at") if k in expected}


def states(native: dict[str, Any]) -> set[str | None]:
    """The states that the part at `native` may have. DSH's log-only tool calls go with the message that made them."""
    if native.get("inherited"):
        return {"inherited"}
    if native.get("rolled_back"):
        return {"rolled_back"}
    if native.get("branch") == "abandoned":
        return {"abandoned"}
    return {"shadowed": {"shadowed"}, "log-only": {None, "shadowed"}}.get(native.get("surface", ""), {None})


def there() -> list[str]:
    return [agent for agent in AGENTS if (FIXTURES / agent / "expected.json").exists()]


@pytest.mark.parametrize("agent", there())
def test_a_fixture_gives_no_other_sessions(agent: str) -> None:
    expected = {f"{agent}:{s['id']}" for s in found(agent).expected["sessions"] if s.get("visibility") != "hidden"}
    assert set(found(agent).sessions) == expected


@pytest.mark.parametrize("agent", there())
def test_a_fixture_answers_its_queries_at_the_named_place(agent: str) -> None:
    for query in found(agent).expected["queries"]:
        item = found(agent).session(query["session_id"]).items[query["ordinal"]]
        assert item.kind == query["kind"]
        assert query["must_contain"] in item.text


@pytest.mark.parametrize("agent", there())
def test_a_fixture_gives_no_text_that_must_not_be_found(agent: str) -> None:
    texts = [i.text for s in found(agent).sessions.values() for i in s.items]
    texts += [s.head.title or "" for s in found(agent).sessions.values()]
    for forbidden in found(agent).expected["must_not_match"]:
        assert not [t for t in texts if forbidden["query"] in t], forbidden


@pytest.mark.parametrize("agent", there())
def test_a_fixture_reports_its_damage_and_nothing_else(agent: str) -> None:
    damaged: dict[str, list[int | None]] = {}
    for warning in found(agent).expected["warnings_expected"]:
        damaged.setdefault(owner(agent, warning["path"]), []).append(warning["line"])
    reported = {s.path: [e.line for e in c.skipped] for s, c in found(agent).sources if c.skipped}
    assert reported == damaged


def owner(agent: str, path: str) -> str:
    """The source that a damaged file belongs to: itself, or the one whose side file it is."""
    whole = str(found(agent).folder / path)
    stems = [(os.path.splitext(s.path.partition("#")[0])[0], s.path) for s in found(agent).listed]
    beside = [(stem, p) for stem, p in stems if whole == p or whole.startswith(stem)]
    naming = [("", s.path) for s, c in found(agent).sources for e in c.skipped if os.path.basename(whole) in e.reason]
    return max(beside or naming)[1]
