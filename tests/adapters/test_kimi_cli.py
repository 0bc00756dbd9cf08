"""Kimi CLI and Kimi Code: what expected.json does not show."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from collect import Conversation
from growth import cut, facts, growing, lines, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters.kimi_cli import KimiCli
from erstwhile.model import Root

KIMI = KimiCli()


def wire(kind: str, time: float = 1793693700.5, **payload: Any) -> dict[str, Any]:
    return {"timestamp": time, "message": {"type": kind, "payload": payload}}


def text(value: str) -> dict[str, Any]:
    return wire("ContentPart", type="text", text=value)


ASKED = wire("TurnBegin", user_input="why is it slow?")
CALLED = wire("ToolCall", id="c1", function={"name": "Shell", "arguments": '{"command":'})
REST = wire("ToolCallPart", arguments_part='"ls"}')
RESULT = wire("ToolResult", tool_call_id="c1", return_value={"is_error": False, "output": "a.py", "message": ""})


def inner(agent: str, event: dict[str, Any]) -> dict[str, Any]:
    return wire("SubagentEvent", agent_id=agent, event=event["message"])


WIRE = st.sampled_from(
    [
        ASKED,
        text("The "),
        text("cache"),
        wire("ContentPart", type="think", think="Hm."),
        CALLED,
        REST,
        RESULT,
        wire("StepBegin", n=1),
        wire("StatusUpdate"),
        wire("Brandnew"),
        inner("a1", text("inside")),
        inner("a1", ASKED),
    ]
)


def said(role: str, value: str, **origin: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": value}]}
    return {"type": "context.append_message", "message": message | ({"origin": origin} if origin else {}), "time": 5}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **more}, "time": 1793700000000}


def part(value: str) -> dict[str, Any]:
    return event("content.part", part={"type": "text", "text": value})


UNDO = {"type": "context.undo", "count": 1}
ASIDE = said("user", "aside", kind="injection", variant="btw")
CODE = st.sampled_from(
    [
        said("user", "one"),
        said("user", "two", kind="user"),
        said("user", "note", kind="injection"),
        part("answer"),
        event("tool.call", toolCallId="c", name="Bash", args={"command": "ls"}),
        event("step.begin"),
        event("new.thing"),
        event("tool.result", toolCallId="c", result={"output": "a.py"}),
        UNDO,
        {"type": "context.clear"},
        ASIDE,
    ]
)


def agent(folder: Path, name: str = "main", state: Any = None) -> Path:
    """The log of an agent of Kimi Code."""
    session = folder / "sessions" / "wd_shop_a7ea4127353a" / "session_6b6b6b6b-0000-4000-8000-0000000000c1"
    path = session / "agents" / name / "wire.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if state is not None:
        (session / "state.json").write_text(json.dumps(state), encoding="utf-8")
    return path


def read(path: Path, *rows: dict[str, Any]) -> Conversation:
    path.write_bytes(lines(rows))
    (session,) = whole(KIMI, path).sessions.values()
    return session


def texts(session: Conversation) -> list[str]:
    return [item.text for item in session.items]


@settings(max_examples=60, deadline=None)
@given(st.lists(WIRE, max_size=9), st.lists(st.integers(0, 1500), max_size=4))
def test_a_wire_that_grows_reads_as_it_does_whole(rows: list[Any], places: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions" / "p" / "s" / "wire.jsonl"
        got, _ = growing(KIMI, path, cut(lines(rows), places))
        assert facts(got) == facts(whole(KIMI, path))


@settings(max_examples=60, deadline=None)
@given(st.lists(CODE, max_size=9), st.lists(st.integers(0, 1500), max_size=4))
def test_a_log_of_kimi_code_that_grows_reads_as_it_does_whole(rows: list[Any], places: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = agent(Path(folder))
        got, _ = growing(KIMI, path, cut(lines(rows), places))
        assert facts(got) == facts(whole(KIMI, path))


def test_pieces_of_an_answer_are_joined_over_what_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "p" / "s" / "wire.jsonl"
    path.parent.mkdir(parents=True)
    session = read(path, ASKED, text("The "), wire("StatusUpdate"), text("cache."), CALLED, REST, RESULT, text("Done."))
    assert texts(session) == ["why is it slow?", "The cache.", 'Shell {"command":"ls"}', "a.py", "Done."]
    assert [item.index for item in session.items] == [0, 1, 1, 2, 3]


def test_a_turn_that_was_taken_back_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [said("user", "one"), part("first"), said("user", "two"), part("second"), UNDO, said("user", "three")]
    session = read(agent(tmp_path), *rows)
    assert texts(session) == ["one", "first", "three"]
    assert [item.index for item in session.items] == [0, 1, 4]


def test_what_was_cleared_cannot_be_taken_back(tmp_path: Path) -> None:
    session = read(agent(tmp_path), said("user", "one"), {"type": "context.clear"}, UNDO, part("answer"))
    assert texts(session) == ["one", "answer"]


def test_only_what_the_person_or_the_parent_wrote_is_a_prompt(tmp_path: Path) -> None:
    reminder = "<system-reminder>what is this?</system-reminder>"
    rows = [
        said("user", reminder, kind="injection", variant="x"),
        said("user", "a skill", kind="skill_activation"),
        said("user", f"my log says {reminder}", kind="user"),
        said("user", "list the files", kind="system_trigger", name="subagent"),
    ]
    assert texts(read(agent(tmp_path), *rows)) == [f"my log says {reminder}", "list the files"]


def test_a_note_of_kimi_is_a_part_of_its_own_and_a_quoted_one_is_the_person_s(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    note, quoted = "<system>CHECKPOINT 0</system>", "why does it print <system>CHECKPOINT 0</system> here?"
    parts = [{"type": "text", "text": note}, {"type": "text", "text": "go on"}]
    rows = [{"role": "user", "content": note}, {"role": "user", "content": parts}, {"role": "user", "content": quoted}]
    assert texts(read(path, *rows)) == ["go on", quoted]


@pytest.mark.parametrize(
    ("state", "title"),
    [
        ({"title": "Uploader", "isCustomTitle": True}, "Uploader"),
        ({"title": "why is it slow? …"}, None),
        ({"title": "why is it slow?", "isCustomTitle": True}, "why is it slow?"),
        ({"title": "Cold caches"}, "Cold caches"),
        ({}, None),
    ],
)
def test_a_title_that_is_only_the_first_prompt_is_none(tmp_path: Path, state: Any, title: str | None) -> None:
    assert read(agent(tmp_path, state=state), said("user", "why is it slow? It was not")).head.title == title


def test_unknown_types_are_counted_and_odd_records_named(tmp_path: Path) -> None:
    path = agent(tmp_path)
    odd = {"type": "context.append_message", "message": {"role": "user", "content": 3}}
    rows = [said("user", "one"), {"type": "context.rewrite"}, {"type": "llm.request"}, {"type": "weather"}, odd, 7]
    path.write_bytes(lines(rows))
    got = whole(KIMI, path)
    assert got.unknown == {"context.rewrite": 1, "weather": 1}
    assert [s.line for s in got.skipped] == [6]


def test_a_session_whose_deletion_is_listed_is_hidden_until_it_is_listed_again(tmp_path: Path) -> None:
    path = agent(tmp_path)
    path.write_bytes(lines([said("user", "one")]))
    name = "session_6b6b6b6b-0000-4000-8000-0000000000c1"
    index = tmp_path / "session_index.jsonl"

    def hidden() -> bool:
        (source,) = KIMI.sources(Root(str(tmp_path)))
        return source.hidden

    index.write_bytes(lines([{"sessionId": name, "workDir": "/p"}, {"sessionId": name, "deleted": True}]))
    assert hidden()
    index.write_bytes(index.read_bytes() + lines([{"sessionId": name, "workDir": "/p"}]))
    assert not hidden()


def test_each_of_the_two_homes_has_its_variable(home: Path) -> None:
    assert KIMI.homes({"HOME": str(home)}) == [str(home / ".kimi"), str(home / ".kimi-code")]
    assert KIMI.homes({"HOME": str(home), "KIMI_CODE_HOME": "/k"}) == [str(home / ".kimi"), "/k"]
    assert KIMI.homes({"HOME": str(home), "KIMI_SHARE_DIR": "/s"}) == ["/s", str(home / ".kimi-code")]


def test_only_whole_sessions_can_be_continued() -> None:
    assert KIMI.resume("6b6b6b6b-0000-4000-8000-0000000000c1", None)
    assert KIMI.resume("a1b2c3d4", None) is None
    assert KIMI.resume("session_6b6b6b6b-0000-4000-8000-0000000000c1/agent-1", None) is None
