"""Copilot CLI: what expected.json does not show."""

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

from erstwhile.adapters.copilot_cli import CopilotCli
from erstwhile.errors import SourceError
from erstwhile.model import Root

COPILOT = CopilotCli()
NATIVE = "4c5e9a9e-1234-4abc-9def-0000000000a1"


def event(kind: str, number: int = 0, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-11-03T08:00:00Z", "parentId": None}


def asked(text: Any, **more: Any) -> dict[str, Any]:
    return event("user.message", content=text, **more)


def answered(text: Any, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event("assistant.message", content=text, toolRequests=list(calls), **more)


def call(name: str, tool: str = "bash") -> dict[str, Any]:
    return {"toolCallId": name, "name": tool, "arguments": {"command": name}}


def log(folder: Path) -> Path:
    path = folder / "session-state" / NATIVE / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read(folder: Path, *events: dict[str, Any]) -> Conversation:
    log(folder).write_bytes(lines(events))
    (session,) = whole(COPILOT, log(folder)).sessions.values()
    return session


def parts(session: Conversation) -> list[tuple[int, str, str]]:
    return [(i.index, i.kind, i.text) for i in session.items]


def test_reasoning_before_its_answer_is_told_once_and_belongs_to_it(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        asked("q"),
        event("assistant.reasoning", content="hm"),
        answered("a", reasoningText="hm"),
        event("assistant.reasoning", content="lost"),
        asked("q2"),
        answered("b", reasoningText="other"),
    )
    assert parts(session) == [
        (0, "user_text", "q"),
        (1, "reasoning", "hm"),
        (1, "assistant_text", "a"),
        (2, "reasoning", "lost"),
        (3, "user_text", "q2"),
        (4, "reasoning", "other"),
        (4, "assistant_text", "b"),
    ]
    assert session.count == 5


def test_a_call_is_told_once_and_one_that_no_answer_requested_too(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        answered("", call("ls")),
        event("tool.execution_start", toolCallId="ls", toolName="bash", arguments={"command": "ls"}),
        event("tool.user_requested", toolCallId="mine", toolName="bash", arguments={"command": "pwd"}),
        event("tool.execution_start", toolCallId="mine", toolName="bash", arguments={"command": "pwd"}),
        event("tool.execution_complete", toolCallId="mine", success=True, result="/p"),
        event("tool.execution_complete", toolCallId="ls", success=False, result={"content": "denied"}),
    )
    assert [(i.role, i.kind, i.tool, i.text) for i in session.items] == [
        ("assistant", "tool_input", "bash", 'bash {"command":"ls"}'),
        ("user", "tool_input", "bash", 'bash {"command":"pwd"}'),
        ("tool", "tool_output", "bash", "/p"),
        ("tool", "tool_error", "bash", "denied"),
    ]


def test_only_what_a_person_wrote_is_the_users(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        asked("typed", source="user", transformedContent="<reminder>x</reminder> typed"),
        asked("Base directory for this skill", source="skill-pdf"),
        asked("go on", source="autopilot"),
        event("skill.invoked", content="skill text"),
        event("system.message", content="You are Copilot"),
        asked("why is <reminder> in my prompt?"),
    )
    assert parts(session) == [(0, "user_text", "typed"), (3, "user_text", "why is <reminder> in my prompt?")]


def test_what_was_attached_leaves_its_name(tmp_path: Path) -> None:
    attached = [{"type": "file", "path": "/p/shot.png"}, {"type": "blob", "displayName": "pasted", "data": "iVBOR"}, 7]
    assert parts(read(tmp_path, asked("look", attachments=attached))) == [
        (0, "user_text", "look\n[shot.png]\n[pasted]")
    ]


def test_a_rewind_takes_back_the_messages_from_its_event_on(tmp_path: Path) -> None:
    events = [
        {**asked("one"), "id": "a"},
        {**event("assistant.turn_start"), "id": "b"},
        answered("two"),
        event("session.snapshot_rewind", upToEventId="b", eventsRemoved=2),
        asked("three"),
    ]
    got, again = growing(COPILOT, log(tmp_path), [lines([e]) for e in events])
    session = got.sessions[f"copilot-cli:{NATIVE}"]
    assert [(i.text, i.state) for i in session.items] == [("one", None), ("two", "rolled_back"), ("three", None)]
    assert again == 1


@pytest.mark.parametrize(
    ("yaml", "title"),
    [
        ("name: Typed name\nsummary: made up\n", "Typed name"),
        ("summary: |-\n  First line\n  second\nid: x\n", "First line\nsecond"),
        ("summary: >-\n  Folded\n  text\n", "Folded text"),
        ('summary: "quoted: \\"yes\\""\n', 'quoted: "yes"'),
        ("summary: 'it''s'\n", "it's"),
        ("summary: null\nname: ~\n", "changed"),
        ("summary: [broken\n\x00: : :\n- x\n", "changed"),
        ("", "changed"),
    ],
)
def test_the_title_is_the_workspaces_else_the_last_one_told(tmp_path: Path, yaml: str, title: str) -> None:
    log(tmp_path).with_name("workspace.yaml").write_text(yaml, encoding="utf-8")
    session = read(tmp_path, asked("q"), event("session.title_changed", title="changed"))
    assert session.head.title == title


def test_a_new_title_beside_the_log_changes_the_stamp(tmp_path: Path) -> None:
    log(tmp_path).write_bytes(b"")
    (before,) = COPILOT.sources(Root(str(tmp_path)))
    log(tmp_path).with_name("workspace.yaml").write_text("name: x\n", encoding="utf-8")
    (after,) = COPILOT.sources(Root(str(tmp_path)))
    assert before.stamp != after.stamp


def test_a_record_of_an_odd_shape_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    odd: list[Any] = [
        asked(7),
        answered({"text": "x"}),
        {**answered("x"), "data": {"content": "x", "toolRequests": 7}},
        {**answered("x"), "data": {"content": "x", "toolRequests": [7]}},
        {**asked("x"), "data": "text"},
        {**asked("x"), "type": ["user.message"]},
        event("tool.execution_complete", toolCallId="x", result=[1]),
        event("session.compaction_complete", summaryContent=7),
        event("assistant.reasoning", content=["x"]),
    ]
    log(tmp_path).write_bytes(lines([asked("before"), *odd, asked("after")]))
    got = whole(COPILOT, log(tmp_path))
    (session,) = got.sessions.values()
    assert [i.text for i in session.items] == ["before", "after"]
    assert [s.line for s in got.skipped] == list(range(2, 11))


def test_unknown_events_are_counted(tmp_path: Path) -> None:
    log(tmp_path).write_bytes(lines([asked("x"), event("assistant.telepathy"), event("assistant.telepathy"), {"x": 1}]))
    assert whole(COPILOT, log(tmp_path)).unknown == {"assistant.telepathy": 2, "None": 1}


OLDEST = {
    "sessionId": "old",
    "startTime": "2025-10-08T21:10:16.398Z",
    "chatMessages": [
        {"role": "system", "content": "You are Copilot"},
        {
            "role": "user",
            "content": "<current_datetime>now</current_datetime>\n\nadd servers\n\n<reminder>x</reminder>",
        },
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "done"}]},
        7,
        {"role": "user", "content": "what is a <reminder>?"},
    ],
}


def test_the_oldest_sessions_are_one_file_each(tmp_path: Path) -> None:
    path = tmp_path / "history-session-state" / "session_old_1759957816398.json"
    path.parent.mkdir()
    path.write_text(json.dumps(OLDEST), encoding="utf-8")
    (source,) = COPILOT.sources(Root(str(tmp_path)))
    got = whole(COPILOT, Path(source.path))
    assert [(i.index, i.kind, i.tool, i.text) for i in got.sessions["copilot-cli:old"].items] == [
        (1, "user_text", None, "add servers"),
        (2, "tool_input", "bash", "bash {}"),
        (3, "tool_output", "bash", "done"),
        (5, "user_text", None, "what is a <reminder>?"),
    ]
    assert [s.reason for s in got.skipped] == ["message 4: a record of an odd shape (TypeError)"]


@pytest.mark.parametrize("data", [b'{"chatMessages": [', b"[]", b""])
def test_an_oldest_session_that_is_no_object_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "session_old_1.json"
    path.write_bytes(data)
    with pytest.raises(SourceError):
        whole(COPILOT, path)


def test_the_agents_own_variable_moves_it_and_its_own_command_goes_on() -> None:
    assert COPILOT.homes({"HOME": "/home/dev"}) == ["/home/dev/.copilot"]
    assert COPILOT.homes({"HOME": "/home/dev", "COPILOT_HOME": "/srv/c"}) == ["/srv/c"]
    assert COPILOT.resume(NATIVE, None) == ["copilot", "--resume", NATIVE]


STEPS = st.lists(
    st.sampled_from(
        [
            asked("q"),
            event("assistant.reasoning", content="hm"),
            answered("a", reasoningText="hm"),
            answered("b", call("c1"), call("c2", "view")),
            event("tool.execution_start", toolCallId="c1", toolName="bash", arguments={}),
            event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "out"}),
            event("session.start", selectedModel="m", context={"cwd": "/p", "branch": "b"}),
            event("session.model_change", newModel="n"),
            event("session.compaction_complete", summaryContent="s"),
            event("future.event"),
        ]
    ),
    max_size=12,
)


@settings(max_examples=50, deadline=None)
@given(steps=STEPS, places=st.lists(st.integers(0, 5000), max_size=4))
def test_reading_while_it_grows_gives_what_one_read_gives(steps: list[dict[str, Any]], places: list[int]) -> None:
    numbered = [{**step, "id": f"e{n}"} for n, step in enumerate(steps)]
    with tempfile.TemporaryDirectory() as folder:
        path = log(Path(folder))
        got, again = growing(COPILOT, path, cut(lines(numbered), places))
        assert facts(got) == facts(whole(COPILOT, path))
    assert again == 0


JSON = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4) | st.lists(st.integers(), max_size=2)
KNOWN = st.sampled_from(
    """assistant.message assistant.reasoning session.model_change session.snapshot_rewind session.start
    session.title_changed tool.execution_complete tool.execution_start user.message""".split()
)
DATA = st.dictionaries(
    st.sampled_from(["content", "toolRequests", "toolCallId", "result", "error", "context", "attachments", "title"]),
    JSON | st.dictionaries(st.sampled_from(["cwd", "content", "message"]), JSON, max_size=2),
    max_size=4,
)


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries({"type": KNOWN | JSON, "data": DATA | JSON, "id": JSON}), max_size=5))
def test_no_shape_is_more_than_a_skipped_record(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = read(Path(folder), *rows, asked("still found"))
    assert session.items[-1].text == "still found"
