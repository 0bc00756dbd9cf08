"""Qwen Code: what expected.json does not show."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from collect import Conversation, collect
from growth import cut, facts, growing, lines, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters.qwen_code import QwenCode
from erstwhile.model import Root

QWEN = QwenCode()
NATIVE = "a1a1a1a1-2222-4333-8444-555555555555"


class Chat:
    """A chat under construction; each record follows the last one unless told otherwise."""

    def __init__(self, native: str = NATIVE) -> None:
        self.native = native
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, parts: Any = None, parent: str | None = "last", **more: Any) -> str:
        key = f"u{len(self.rows)}"
        above = self.last if parent == "last" else parent
        row = {"uuid": key, "parentUuid": above, "sessionId": self.native, "type": kind, "cwd": "/home/dev/shop"}
        self.rows.append(
            {**row, "timestamp": "2026-11-03T08:00:00Z", **({"message": {"parts": parts}} if parts else {}), **more}
        )
        self.last = key
        return key

    def asked(self, text: str, parent: str | None = "last", **more: Any) -> str:
        return self.add("user", [{"text": text}], parent, **more)

    def answered(self, text: str, parent: str | None = "last", **more: Any) -> str:
        return self.add("assistant", [{"text": text}], parent, **more)

    def write(self, folder: Path) -> Path:
        path = chat(folder, self.native)
        path.write_bytes(lines(self.rows))
        return path

    def read(self, folder: Path) -> Conversation:
        (session,) = whole(QWEN, self.write(folder)).sessions.values()
        return session


def chat(folder: Path, native: str = NATIVE) -> Path:
    path = folder / "projects" / "-home-dev-shop" / "chats" / f"{native}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def texts(session: Conversation) -> list[tuple[str, str | None]]:
    return [(i.text, i.state) for i in session.items]


def test_what_was_rewound_is_abandoned_also_when_the_rewind_comes_later(tmp_path: Path) -> None:
    log = Chat()
    log.asked("one")
    first = log.answered("two")
    log.asked("three")
    log.answered("four")
    log.add("system", None, first, subtype="rewind", systemPayload={"truncatedCount": 2})
    log.asked("five")
    got, again = growing(QWEN, chat(tmp_path), [lines([row]) for row in log.rows])
    assert texts(got.sessions[f"qwen-code:{NATIVE}"]) == [
        ("one", None),
        ("two", None),
        ("three", "abandoned"),
        ("four", "abandoned"),
        ("five", None),
    ]
    assert again == 1


def test_records_of_a_sub_agent_in_its_parents_file_do_not_abandon_the_parents(tmp_path: Path) -> None:
    log = Chat()
    question = log.asked("one")
    log.rows.append({**log.rows[0], "uuid": "s1", "parentUuid": None, "isSidechain": True, "agentId": "explore-1"})
    log.answered("two", question)
    assert [state for _, state in texts(log.read(tmp_path))] == [None, None, None]


@pytest.mark.parametrize(
    ("record", "typed"),
    [
        ({"text": "expanded", "systemPayload": {"displayText": "typed"}}, "typed"),
        ({"text": "typed", "provenance": "real_user"}, "typed"),
        ({"text": "typed while it worked", "subtype": "mid_turn_user_message"}, "typed while it worked"),
        ({"text": "go on with the goal", "provenance": "goal_runtime"}, None),
        ({"text": "it is noon", "subtype": "cron"}, None),
        ({"text": "done", "subtype": "background_task_completed"}, None),
        ({"text": "<system-reminder>plan mode</system-reminder>\ntyped"}, "typed"),
        ({"text": "@a what?\n--- Content from referenced files ---\nx\n--- End of content ---"}, "@a what?"),
        ({"text": "what is <system-reminder>x</system-reminder>?"}, "what is <system-reminder>x</system-reminder>?"),
    ],
)
def test_only_what_a_person_wrote_is_the_users(tmp_path: Path, record: dict[str, Any], typed: str | None) -> None:
    log = Chat()
    log.asked(**record)
    log.answered("answer")
    assert [t for t, _ in texts(log.read(tmp_path))] == [*([typed] if typed else []), "answer"]


def test_a_title_that_was_given_stays_and_one_that_was_made_up_does_not(tmp_path: Path) -> None:
    log = Chat()
    log.asked("q")

    def titled(*titles: tuple[str, str | None]) -> str | None:
        for title, source in titles:
            log.add("system", subtype="custom_title", systemPayload={"customTitle": title, "titleSource": source})
        return log.read(tmp_path).head.title

    assert titled(("first", "auto"), ("second", "auto")) == "second"
    assert titled(("given", "manual"), ("made up", "auto")) == "given"
    assert titled(("older client", None)) == "older client"


def test_copies_in_a_fork_have_the_records_of_their_originals(tmp_path: Path) -> None:
    log = Chat()
    log.asked("same")
    fork = Chat("fork")
    fork.asked("same", uuid="other", forkedFrom={"sessionId": NATIVE, "messageUuid": "u0"})
    assert log.read(tmp_path).items[0].record == fork.read(tmp_path).items[0].record == "u0"


def test_a_fork_has_its_own_model_as_soon_as_it_has_an_answer(tmp_path: Path) -> None:
    log = Chat()
    log.asked("q")
    log.answered("a", model="of-the-origin")
    log.write(tmp_path)
    fork = Chat("fork")
    fork.asked("q", forkedFrom={"sessionId": NATIVE, "messageUuid": "u0"})
    assert fork.read(tmp_path).head.model == "of-the-origin"
    fork.answered("a", model="its-own")
    assert fork.read(tmp_path).head.model == "its-own"
    alone = Chat("alone")
    alone.asked("q", forkedFrom={"sessionId": "../../gone", "messageUuid": "u0"})
    assert alone.read(tmp_path).head.model is None


def test_an_outcome_has_its_tool_and_its_failure(tmp_path: Path) -> None:
    def response(name: str, value: Any) -> list[dict[str, Any]]:
        return [{"functionResponse": {"id": name, "name": name, "response": value}}]

    log = Chat()
    log.add("tool_result", response("a", {"output": "fine"}))
    log.add("tool_result", response("b", {"error": "no"}))
    log.add("tool_result", response("c", {"output": "stopped"}), toolCallResult={"status": "cancelled"})
    log.add("tool_result", response("d", {"output": ""}), toolCallResult={"resultDisplay": "shown"})
    log.add("tool_result", response("e", {"rows": [1]}))
    assert [(i.role, i.kind, i.tool, i.text) for i in log.read(tmp_path).items] == [
        ("tool", "tool_output", "a", "fine"),
        ("tool", "tool_error", "b", "no"),
        ("tool", "tool_error", "c", "stopped"),
        ("tool", "tool_output", "d", "shown"),
        ("tool", "tool_output", "e", '{"rows":[1]}'),
    ]


def test_a_sub_agents_file_is_a_session_under_its_parent(tmp_path: Path) -> None:
    log = Chat()
    log.add("system", subtype="agent_bootstrap", agentId="explore-1", isSidechain=True)
    log.asked("find it", subtype="agent_launch_prompt", provenance="system", agentId="explore-1", isSidechain=True)
    log.answered("found", agentId="explore-1", isSidechain=True)
    folder = tmp_path / "projects/-home-dev-shop/subagents" / NATIVE
    folder.mkdir(parents=True)
    (folder / "agent-explore-1.jsonl").write_bytes(lines(log.rows))
    (before,) = QWEN.sources(Root(str(tmp_path)))
    (folder / "agent-explore-1.meta.json").write_text(json.dumps({"description": "Explore"}), encoding="utf-8")
    (source,) = QWEN.sources(Root(str(tmp_path)))
    (session,) = collect(QWEN.read(source)).sessions.values()
    assert [(i.kind, i.text, i.state) for i in session.items] == [
        ("user_text", "find it", None),
        ("assistant_text", "found", None),
    ]
    assert session.head.id == f"qwen-code:{NATIVE}.agent-explore-1"
    assert (session.head.title, session.head.parent, session.head.relation) == (
        "Explore",
        f"qwen-code:{NATIVE}",
        "subagent",
    )
    assert before.stamp != source.stamp
    assert QWEN.resume(session.head.id.removeprefix("qwen-code:"), None) is None


def test_a_session_that_another_one_started_names_it(tmp_path: Path) -> None:
    log = Chat()
    log.add("system", subtype="parent_session", systemPayload={"parentSessionId": "p"})
    log.asked("q")
    head = log.read(tmp_path).head
    assert (head.parent, head.relation) == ("qwen-code:p", "subagent")


def test_a_record_of_an_odd_shape_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    log = Chat()
    log.asked("before")
    for parts in (7, [7], [{"text": 7}]):
        for kind in ("user", "assistant"):
            log.add(kind, parts)
    log.add("tool_result", [7])
    log.add("user", message="text")
    log.add("system", subtype=["x"])
    log.asked("after")
    got = whole(QWEN, log.write(tmp_path))
    (session,) = got.sessions.values()
    assert texts(session) == [("before", None), ("after", None)]
    assert [s.line for s in got.skipped] == list(range(2, 11))


def test_unknown_types_and_subtypes_are_counted(tmp_path: Path) -> None:
    log = Chat()
    log.asked("x")
    log.add("oracle")
    log.add("system", subtype="teleport")
    log.add("system", subtype="ui_telemetry")
    assert whole(QWEN, log.write(tmp_path)).unknown == {"oracle": 1, "system teleport": 1}


def test_the_older_chats_are_read_as_gemini_wrote_them(tmp_path: Path) -> None:
    path = tmp_path / "tmp" / str(QWEN.slug("/x")) / "chats" / "session-2025-09-01T08-00-a1a1a1a1.json"
    path.parent.mkdir(parents=True)
    messages = [{"id": "1", "type": "user", "content": "q"}, {"id": "2", "type": "qwen", "content": "a", "model": "q3"}]
    path.write_text(json.dumps({"sessionId": "old", "messages": messages}), encoding="utf-8")
    chat(tmp_path).write_bytes(b"")
    assert [Path(s.path).name for s in QWEN.sources(Root(str(tmp_path)))] == [f"{NATIVE}.jsonl", path.name]
    session = whole(QWEN, path).sessions["qwen-code:old"]
    assert ([t for t, _ in texts(session)], session.head.model) == (["q", "a"], "q3")


def test_the_agents_own_variables_move_it_and_its_own_command_goes_on() -> None:
    assert QWEN.homes({"HOME": "/home/dev"}) == ["/home/dev/.qwen"]
    assert QWEN.homes({"HOME": "/home/dev", "QWEN_HOME": "/srv/q"}) == ["/srv/q"]
    assert QWEN.homes({"HOME": "/home/dev", "QWEN_HOME": "/srv/q", "QWEN_RUNTIME_DIR": "/run/q"}) == ["/run/q"]
    assert QWEN.resume(NATIVE, None) == ["qwen", "--resume", NATIVE]
    assert QWEN.slug("/home/dev/数据 平台") == "-home-dev------"


def test_a_folder_of_chats_can_be_a_root_of_its_own(tmp_path: Path) -> None:
    folder = chat(tmp_path).parent
    chat(tmp_path).write_bytes(b"")
    for root in (folder, folder.parent):
        assert [s.path for s in QWEN.sources(Root(str(root)))] == [str(chat(tmp_path))]


KINDS = st.sampled_from(["user", "assistant", "tool_result", "title", "system", "sidechain", "new"])


@settings(max_examples=50, deadline=None)
@given(
    steps=st.lists(st.tuples(KINDS, st.integers(0, 9)), max_size=12),
    places=st.lists(st.integers(0, 6000), max_size=4),
)
def test_reading_while_it_grows_gives_what_one_read_gives(steps: list[tuple[str, int]], places: list[int]) -> None:
    log = Chat()
    for kind, back in steps:
        parent = log.rows[-back]["uuid"] if 6 < back <= len(log.rows) else "last"
        if kind == "title":
            log.add("system", None, parent, subtype="custom_title", systemPayload={"customTitle": f"t{back}"})
        elif kind == "sidechain":
            last = log.last
            log.asked(f"s{back}", None, isSidechain=True, agentId="a")
            log.last = last
        elif kind == "tool_result":
            log.add(kind, [{"functionResponse": {"name": "n", "response": {"output": "o"}}}], parent)
        else:
            log.add(kind, [{"text": f"{kind} {back}"}], parent, model="m", gitBranch=f"b{back}")
    with tempfile.TemporaryDirectory() as folder:
        path = chat(Path(folder))
        got, _ = growing(QWEN, path, cut(lines(log.rows), places))
        assert facts(got) == facts(whole(QWEN, path))


JSON = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4) | st.lists(st.integers(), max_size=2)
SHAPE = JSON | st.dictionaries(
    st.sampled_from(["parts", "text", "sessionId", "displayText", "functionCall", "status"]),
    JSON | st.lists(st.dictionaries(st.sampled_from(["text", "functionCall", "functionResponse"]), JSON), max_size=2),
    max_size=3,
)
FIELDS = ["type", "uuid", "parentUuid", "message", "subtype", "systemPayload", "toolCallResult", "forkedFrom", "model"]
TYPES = st.sampled_from(["user", "assistant", "tool_result", "system"])


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(st.dictionaries(st.sampled_from(FIELDS), SHAPE | TYPES, max_size=6), max_size=5))
def test_no_shape_is_more_than_a_skipped_record(rows: list[dict[str, Any]]) -> None:
    good = {"type": "user", "uuid": "good", "message": {"parts": [{"text": "still found"}]}}
    with tempfile.TemporaryDirectory() as folder:
        path = chat(Path(folder))
        path.write_bytes(lines([*rows, good]))
        (session,) = whole(QWEN, path).sessions.values()
    assert session.items[-1].text == "still found"
