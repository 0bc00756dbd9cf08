"""The session that asks: what it still has before its eyes is left out and counted, everything else is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import homes
import pytest
from conftest import Erst
from test_envelope import DOORS

from erstwhile.library import Library
from erstwhile.model import Answer

NATIVE = {
    "claude-code": "0199aaaa-0000-7000-8000-000000000001",
    "codex": "0199bbbb-0000-7000-8000-000000000001",
    "dsh": "session-0199cccc-0000-7000-8000-000000000001",
    "reasonix": "20260921-133320.000000001-m",
}
OLD, NEW = "a walrus before the compaction", "a walrus after the compaction"
SUMMARY = "summary: they spoke of animals"


def claude(base: Path) -> None:
    native = NATIVE["claude-code"]
    file = homes.write(base, "claude-code", native, [OLD, "yes"])
    summary = {"isCompactSummary": True, "message": {"role": "user", "content": SUMMARY}}
    homes.append(file, homes.claude(native, 2, SUMMARY, **summary), homes.claude(native, 3, NEW))


def codex(base: Path) -> None:
    native = NATIVE["codex"]
    opening, *pieces = homes.records("codex", native, [OLD, "yes", NEW])
    file = homes.write(base, "codex", native, [OLD])
    compacted = {"message": SUMMARY, "replacement_history": []}
    summary = homes.line({"timestamp": homes.iso(homes.START + 90), "type": "compacted", "payload": compacted})
    file.write_bytes(b"".join([opening, *pieces[:2], summary, pieces[2]]))


def reasonix(base: Path) -> None:
    """The live list is rewritten; the archive keeps what it was, the message that stayed included."""
    native = NATIVE["reasonix"]
    homes.write(base, "reasonix", native, [f"<compaction-summary>\n{SUMMARY}\n</compaction-summary>", NEW])
    archive = base / "reasonix" / "archive" / "20260921-140000.000000000.jsonl"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"".join(homes.records("reasonix", "", [OLD, NEW])))


COMPACTED: dict[str, Callable[[Path], None]] = {"claude-code": claude, "codex": codex, "reasonix": reasonix}


def ask(base: Path, text: str = "walrus", **filters: Any) -> Answer:
    with Library(data=":memory:", roots=homes.roots(base)) as library:
        return library.search(text, **{"scope": "global", "group": "none", "limit": 100, **filters})


def said(answer: Answer) -> list[str]:
    return [hit.snippet for hit in answer.hits]


def hidden(answer: Answer) -> list[int | None]:
    return [note.count for note in answer.notes if note.code == "hidden_current_session"]


@pytest.mark.parametrize("agent", homes.AGENTS)
def test_what_the_asking_session_sees_is_hidden_and_counted_and_shown_when_asked_for(
    agent: str, tmp_path: Path
) -> None:
    """C16"""
    file = homes.write(tmp_path, agent, NATIVE[agent], ["walrus one", "walrus two", "an otter"])
    homes.write(tmp_path, "codex", "0199bbbb-0000-7000-8000-000000000009", ["walrus of another session"])
    for name in (f"{agent}:{NATIVE[agent]}", NATIVE[agent], str(file)):
        answer = ask(tmp_path, current_session=name)
        assert said(answer) == ["walrus of another session"]
        assert hidden(answer) == [2], "an otter would not have been found anyway"
    everything = ask(tmp_path, current_session=NATIVE[agent], include_current=True)
    assert (len(everything.hits), hidden(everything)) == (3, [])
    assert hidden(ask(tmp_path, "walrus kind:assistant_text", current_session=NATIVE[agent])) == [1]


@pytest.mark.parametrize("agent", COMPACTED)
def test_what_was_said_before_a_compaction_stays_findable(agent: str, tmp_path: Path) -> None:
    """C16"""
    COMPACTED[agent](tmp_path)
    answer = ask(tmp_path, current_session=f"{agent}:{NATIVE[agent]}")
    assert said(answer) == [OLD]
    assert hidden(answer)
    assert said(ask(tmp_path, "animals", current_session=NATIVE[agent])) == []


def test_text_that_the_agent_no_longer_shows_itself_is_not_in_its_context(tmp_path: Path) -> None:
    """C16: DSH marks what a compaction replaced."""
    native = "session-compacted"
    file = homes.write(tmp_path, "dsh", native, [OLD, "yes"])
    summary = {"id": "s", "role": "user", "content": [{"type": "text", "text": SUMMARY}], "source": {"kind": "plugin"}}
    facts = {"type": "user/message", "seq": 2, "time": (homes.START + 120) * 1000, "data": summary}
    homes.append(file, homes.frame(facts | {"surfaceOp": {"op": "replace", "startSeq": 0, "endSeq": 1}}))
    assert said(ask(tmp_path, current_session=f"dsh:{native}")) == [OLD]


def test_the_sub_agents_of_the_asking_session_are_hidden_unless_they_ended_before_its_compaction(
    tmp_path: Path,
) -> None:
    """C16"""
    claude(tmp_path)
    native = NATIVE["claude-code"]
    below = homes.path(tmp_path, "claude-code", native).with_suffix("") / "subagents"
    below.mkdir(parents=True)
    for name, start in (("a1", homes.START + 30), ("a2", homes.START + 150)):
        more = {"isSidechain": True, "agentId": name, "start": start}
        text = homes.claude(native, 0, f"walrus helper {name}", **more)
        (below / f"agent-{name}.jsonl").write_bytes(text)
    assert set(said(ask(tmp_path, current_session=native))) == {OLD, "walrus helper a1"}
    assert hidden(ask(tmp_path, current_session=native)) == [2]
    assert len(ask(tmp_path, current_session=native, include_current=True).hits) == 4
    assert set(said(ask(tmp_path, current_session="agent-a2"))) == {OLD, NEW, "walrus helper a1"}


def test_a_copy_of_what_the_asking_session_sees_is_hidden_in_the_session_it_was_forked_from(tmp_path: Path) -> None:
    parent, fork = NATIVE["codex"], NATIVE["codex"][:-1] + "2"
    homes.write(tmp_path, "codex", parent, ["walrus shared", "walrus only there"])
    opening, *pieces = homes.records("codex", parent, ["walrus shared", "walrus only there"])
    own, *_ = homes.records("codex", fork, [])
    own = own.replace(b'"originator"', f'"forked_from_id":"{parent}","originator"'.encode())
    file = homes.path(tmp_path, "codex", fork)
    file.write_bytes(b"".join([own, opening, pieces[0]]))
    assert said(ask(tmp_path, current_session=fork)) == ["walrus only there"]


def test_a_long_asking_session_does_not_crowd_out_the_others(tmp_path: Path) -> None:
    """C16, C17"""
    homes.write(tmp_path, "claude-code", NATIVE["claude-code"], ["walrus walrus"] * 900)
    homes.write(tmp_path, "codex", NATIVE["codex"], ["one walrus among many other words " * 9])
    answer = ask(tmp_path, current_session=NATIVE["claude-code"], group="session")
    assert [hit.agent for hit in answer.hits] == ["codex"]


@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_the_asking_session(door: str, home: Path, erst: Erst) -> None:
    """C16: the same as the library, whose other properties are tested above."""
    (home / ".claude").mkdir()
    (home / "claude-code").symlink_to(home / ".claude")
    claude(home)
    homes.write(home, "claude-code", NATIVE["claude-code"][:-1] + "2", ["a walrus elsewhere"])
    with Library() as library:
        library.sync()
    seen = DOORS[door](erst, "walrus", NATIVE["claude-code"])
    assert len(seen.hits) == 2
    assert seen.notes["hidden_current_session"][1] == 1


@pytest.mark.parametrize(
    ("variable", "agent"), [("CLAUDE_CODE_SESSION_ID", "claude-code"), ("CODEX_THREAD_ID", "codex")]
)
@pytest.mark.parametrize("door", ["terminal", "history", "session_search"])
def test_an_agent_says_in_the_environment_which_session_asks(
    variable: str, agent: str, door: str, home: Path, erst: Erst, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C16. A server over HTTP and a library are asked by others than who started them: there it is a parameter."""
    folder = {"claude-code": ".claude", "codex": ".codex"}[agent]
    (home / folder).mkdir()
    (home / agent).symlink_to(home / folder)
    homes.write(home, agent, NATIVE[agent], ["walrus one"])
    homes.write(home, agent, NATIVE[agent][:-1] + "2", ["walrus two"])
    with Library() as library:
        library.sync()
    monkeypatch.setenv(variable, NATIVE[agent])
    seen = DOORS[door](erst, "walrus", None)
    assert (seen.hits, seen.notes["hidden_current_session"][1]) == ([NATIVE[agent][:-1] + "2"], 1)
