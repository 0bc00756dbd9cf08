"""Gemini CLI: what expected.json does not show."""

from __future__ import annotations

import json
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, Conversation, collect
from growth import cut, facts, growing, lines, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters.gemini_cli import GeminiCli
from erstwhile.errors import SourceError
from erstwhile.model import Root

GEMINI = GeminiCli()
NATIVE = "7d0e6c1a-5f5f-4d4d-8c8c-0a0b0c0d0e0f"
HEADER = {"sessionId": NATIVE, "projectHash": "h", "startTime": "2026-11-03T08:00:00Z", "kind": "main"}
CONTEXT = "<session_context>\nThis is the Gemini CLI.\nToday is Tuesday.\n</session_context>"


def user(key: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-11-03T08:01:00Z", "type": "user", "content": content, **more}


def gemini(key: str, content: Any = "", **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-11-03T08:02:00Z", "type": "gemini", "content": content, "model": "g", **more}


def ran(name: str, output: Any = None, status: str = "success") -> dict[str, Any]:
    response = {"functionResponse": {"id": name, "name": "shell", "response": output}}
    made = {"id": name, "name": "shell", "args": {"command": name}, "status": status}
    return made if output is None else {**made, "result": [response]}


def chat(folder: Path, name: str = "session-2026-11-03T08-00-7d0e6c1a.jsonl") -> Path:
    path = folder / "tmp" / "shop" / "chats" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def collected(folder: Path, *records: Any) -> Collected:
    chat(folder).write_bytes(lines([HEADER, *records]))
    return whole(GEMINI, chat(folder))


def read(folder: Path, *records: Any) -> Conversation:
    (session,) = collected(folder, *records).sessions.values()
    return session


def texts(session: Conversation) -> list[str]:
    return [i.text for i in session.items]


def test_a_message_that_grows_is_read_on_and_one_that_changes_is_read_again(tmp_path: Path) -> None:
    pieces = [
        lines([HEADER, user("u", "q")]),
        lines([gemini("g", thoughts=[{"subject": "S", "description": "d"}])]),
        lines([gemini("g", "said", thoughts=[{"subject": "S", "description": "d"}])]),
        lines(
            [
                gemini(
                    "g", "said", thoughts=[{"subject": "S", "description": "d"}], toolCalls=[ran("ls", {"output": "o"})]
                )
            ]
        ),
        lines([{"$set": {"lastUpdated": "2026-11-03T09:00:00Z", "summary": "Title"}}]),
    ]
    got, again = growing(GEMINI, chat(tmp_path), pieces)
    session = got.sessions[f"gemini-cli:{NATIVE}"]
    assert texts(session) == ["q", "S: d", "said", 'shell {"command":"ls"}', "o"]
    assert (session.head.title, session.count, again) == ("Title", 2, 0)
    changed, again = growing(GEMINI, chat(tmp_path), [*pieces, lines([gemini("g", "other")])])
    assert texts(changed.sessions[f"gemini-cli:{NATIVE}"]) == ["q", "other"]
    assert again == 1


@pytest.mark.parametrize(
    ("operation", "left"),
    [
        ({"$rewindTo": "u2"}, ["one", "two"]),
        ({"$rewindTo": "u1"}, []),
        ({"$rewindTo": "nobody"}, []),
        ({"$set": {"messages": [user("n", "new")]}}, ["new"]),
        (user("u1", "edited"), ["edited", "two", "three"]),
    ],
)
def test_what_an_operation_takes_away_is_gone_also_when_it_comes_later(
    tmp_path: Path, operation: dict[str, Any], left: list[str]
) -> None:
    said = [HEADER, user("u1", "one"), gemini("g1", "two"), user("u2", "three")]
    got, again = growing(GEMINI, chat(tmp_path), [lines(said), lines([operation]), lines([user("z", "last")])])
    assert texts(got.sessions[f"gemini-cli:{NATIVE}"]) == [*left, "last"]
    assert again == 1


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        (CONTEXT, None),
        (f"{CONTEXT}\nand now?", "and now?"),
        ("This is the Gemini CLI. We are setting up the context for our chat.\nToday is Tuesday.", None),
        ("@a.py what?\n--- Content from referenced files ---\nprint()\n--- End of content ---", "@a.py what?"),
        (["what?", {"text": "\n--- Content from referenced files ---"}, {"text": "\n--- End of content ---"}], "what?"),
        ("what?\n<hook_context>hook</hook_context>", "what?"),
        ("/compress", None),
        ("/etc/nginx is what?", "/etc/nginx is what?"),
        (
            "why does it print --- Content from referenced files ---?",
            "why does it print --- Content from referenced files ---?",
        ),
        ("what is a <session_context> for?", "what is a <session_context> for?"),
        ("is </hook_context> closed by </hook_context>", "is </hook_context> closed by </hook_context>"),
        ([{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "iVBOR"}}], "look\n[image/png]"),
    ],
)
def test_what_the_host_adds_is_taken_off_where_it_adds_it(tmp_path: Path, content: Any, typed: str | None) -> None:
    session = read(tmp_path, user("u", content), gemini("g", "answer"))
    assert texts(session) == [*([typed] if typed else []), "answer"]


def test_a_context_in_the_middle_of_a_chat_is_the_persons_own(tmp_path: Path) -> None:
    assert texts(read(tmp_path, user("u", "first"), user("v", CONTEXT))) == ["first", CONTEXT]


def test_the_summary_of_a_compressed_chat_is_one_and_outcomes_in_it_are_told_once(tmp_path: Path) -> None:
    snapshot = "<state_snapshot>\nGoal: quote the path\n</state_snapshot>"
    answer = {"functionResponse": {"id": "ls", "name": "shell", "response": {"output": "o"}}}
    lone = {"functionResponse": {"id": "pwd", "name": "shell", "response": {"error": "denied"}}}
    messages = [
        user("s", [{"text": snapshot}]),
        gemini("k", "Got it. Thanks for the additional context!"),
        gemini(
            "g",
            [{"text": "run"}, {"functionCall": {"id": "ls", "name": "shell"}}],
            toolCalls=[ran("ls", {"output": "o"})],
        ),
        user("r", [answer]),
        user("r2", [lone]),
    ]
    session = read(tmp_path, user("old", "gone"), {"$set": {"messages": messages}})
    assert [(i.kind, i.text) for i in session.items] == [
        ("summary", snapshot),
        ("assistant_text", "run"),
        ("tool_input", 'shell {"command":"ls"}'),
        ("tool_output", "o"),
        ("tool_error", "denied"),
    ]


def test_a_cancelled_call_is_an_error_and_one_without_a_result_only_a_call(tmp_path: Path) -> None:
    calls = [ran("a", {"error": "stopped"}, "cancelled"), ran("b"), {**ran("c"), "resultDisplay": "shown"}]
    session = read(tmp_path, gemini("g", toolCalls=calls))
    assert [i.kind for i in session.items] == ["tool_input", "tool_error", "tool_input", "tool_input", "tool_output"]


def test_notices_are_no_messages(tmp_path: Path) -> None:
    notices = [{"id": k, "type": k, "content": "notice"} for k in ("info", "error", "warning")]
    session = read(tmp_path, user("u", "q"), *notices, gemini("g", "a"))
    assert [(i.index, i.text) for i in session.items] == [(0, "q"), (1, "a")]


def test_a_record_of_an_odd_shape_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    odd = [
        user("a", 7),
        user("b", [7]),
        user("c", [{"text": 7}]),
        user("d", "x", displayContent=7),
        gemini("e", {"text": ["x"]}),
        gemini("f", "x", toolCalls=[{"name": "n", "result": 7}]),
        {"$set": 7},
        {"$set": {"messages": 7}},
        {"id": "g", "type": ["user"]},
    ]
    got = collected(tmp_path, user("u", "before"), *odd, user("v", "after"))
    (session,) = got.sessions.values()
    assert texts(session) == ["before", "after"]
    assert [s.line for s in got.skipped] == list(range(3, 12))


def test_unknown_types_and_operations_are_counted(tmp_path: Path) -> None:
    got = collected(tmp_path, user("u", "x"), {"id": "y", "type": "telepathy"}, {"$undo": 1})
    assert got.unknown == {"telepathy": 1, "$undo": 1}


def test_a_chat_in_which_nobody_said_anything_is_no_session(tmp_path: Path) -> None:
    assert collected(tmp_path, user("u", "/help"), {"id": "i", "type": "info", "content": "x"}).sessions == {}


RECORD = {**HEADER, "summary": "Old title", "messages": [user("u", "q"), 7, {**gemini("g", "a"), "id": None}]}


def test_an_older_chat_is_one_record(tmp_path: Path) -> None:
    path = chat(tmp_path, "session-2025-08-01T08-00-7d0e6c1a.json")
    path.write_text(json.dumps(RECORD), encoding="utf-8")
    got = whole(GEMINI, path)
    session = got.sessions[f"gemini-cli:{NATIVE}"]
    assert (session.head.title, session.head.model, texts(session)) == ("Old title", "g", ["q", "a"])
    assert [s.reason for s in got.skipped] == ["message 2: a record of an odd shape (TypeError)"]


@pytest.mark.parametrize("data", [b'{"messages": [', b"[]", b""])
def test_an_older_chat_caught_half_written_is_an_error_so_that_the_last_version_stays(
    tmp_path: Path, data: bytes
) -> None:
    path = chat(tmp_path, "session-old.json")
    path.write_bytes(data)
    with pytest.raises(SourceError):
        whole(GEMINI, path)


def listed(home: Path) -> list[str]:
    return [Path(s.path).name for s in GEMINI.sources(Root(str(home)))]


def test_only_chats_are_listed_and_of_a_migrated_one_only_the_new_file(tmp_path: Path) -> None:
    for name in ("session-a.json", "session-a.jsonl", "session-b.json", "session-c.jsonl.unreadable-17"):
        chat(tmp_path, name).write_bytes(b"{}")
    chat(tmp_path, "session-d.jsonl.tmp-99").write_bytes(b"")
    (tmp_path / "tmp/shop/logs.json").write_bytes(b"[]")
    (tmp_path / "tmp/shop/checkpoint-x.json").write_bytes(b"[]")
    (tmp_path / "tmp/shop/chats/session-l.jsonl").symlink_to("/etc/hostname")
    assert listed(tmp_path) == ["session-a.jsonl", "session-b.json", "session-l.jsonl"]
    assert listed(tmp_path / "tmp/shop/chats") == listed(tmp_path / "tmp/shop") == listed(tmp_path / "tmp")
    linked = [s for s in GEMINI.sources(Root(str(tmp_path))) if s.excluded]
    assert [s.excluded for s in linked] == ["a link"]


def test_a_project_is_told_by_its_marker_the_register_or_the_hash_of_a_registered_path(tmp_path: Path) -> None:
    collected(tmp_path, user("u", "q"))
    session = f"gemini-cli:{NATIVE}"
    assert whole(GEMINI, chat(tmp_path)).sessions[session].head.cwd is None
    (tmp_path / "trustedFolders.json").write_text(json.dumps({"/home/dev/lab": "TRUST_FOLDER"}), encoding="utf-8")
    (tmp_path / "projects.json").write_text(json.dumps({"projects": {"/home/dev/shop": "shop"}}), encoding="utf-8")
    assert whole(GEMINI, chat(tmp_path)).sessions[session].head.cwd == "/home/dev/shop"
    hashed = tmp_path / "tmp" / sha256(b"/home/dev/lab").hexdigest()
    (tmp_path / "tmp/shop").rename(hashed)
    (source,) = GEMINI.sources(Root(str(tmp_path)))
    assert collect(GEMINI.read(source)).sessions[session].head.cwd == "/home/dev/lab"
    assert source.slug == GEMINI.slug("/home/dev/lab")
    (hashed / ".project_root").write_text("/home/dev/moved\n", encoding="utf-8")
    (marked,) = GEMINI.sources(Root(str(tmp_path)))
    assert collect(GEMINI.read(marked)).sessions[session].head.cwd == "/home/dev/moved"
    assert marked.stamp != source.stamp


def test_the_agents_own_variable_moves_the_home_folder_and_its_own_command_goes_on() -> None:
    assert GEMINI.homes({"HOME": "/home/dev"}) == ["/home/dev/.gemini", "/home/dev/.cache/.gemini"]
    assert GEMINI.homes({"HOME": "/home/dev", "GEMINI_CLI_HOME": "/srv/g"}) == ["/srv/g/.gemini"]
    assert GEMINI.resume(NATIVE, None) == ["gemini", "--resume", NATIVE]
    assert GEMINI.resume("sub-9911", None) is None


def rewound(key: str) -> dict[str, Any]:
    return {"$rewindTo": key}


def replaced(key: str) -> dict[str, Any]:
    return {"$set": {"messages": [user(key, "kept")]}}


def titled(title: str) -> dict[str, Any]:
    return {"$set": {"summary": title}}


def noticed(key: str) -> dict[str, Any]:
    return {"id": key, "type": "info"}


def worked(key: str, calls: int) -> dict[str, Any]:
    return gemini(key, "said", toolCalls=[ran("x", {"output": "o"})] * calls)


KEYS = st.sampled_from(["a", "b", "c", "d"])
STEPS = st.lists(
    st.one_of(
        st.builds(user, KEYS, st.sampled_from(["one", "two", CONTEXT, "/help"])),
        st.builds(gemini, KEYS, st.sampled_from(["", "said"])),
        st.builds(worked, KEYS, st.integers(0, 2)),
        st.builds(rewound, KEYS),
        st.builds(replaced, KEYS),
        st.builds(titled, st.sampled_from(["t", "u"])),
        st.builds(noticed, KEYS),
        st.just({"sessionId": "another"}),
        st.just({"$new": 1}),
    ),
    max_size=10,
)


@settings(max_examples=50, deadline=None)
@given(steps=STEPS, places=st.lists(st.integers(0, 5000), max_size=4))
def test_reading_while_it_grows_gives_what_one_read_gives(steps: list[dict[str, Any]], places: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = chat(Path(folder))
        got, _ = growing(GEMINI, path, cut(lines([HEADER, *steps]), places))
        assert facts(got) == facts(whole(GEMINI, path))


JSON = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4) | st.lists(st.integers(), max_size=2)
SHAPE = JSON | st.dictionaries(
    st.sampled_from(["text", "messages", "functionCall", "inlineData", "id"]), JSON, max_size=3
)
FIELDS = [
    "id",
    "type",
    "content",
    "displayContent",
    "thoughts",
    "toolCalls",
    "timestamp",
    "$set",
    "sessionId",
    "summary",
]


@settings(max_examples=50, deadline=None)
@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from(FIELDS),
            SHAPE | st.lists(SHAPE, max_size=2) | st.sampled_from(["user", "gemini"]),
            max_size=6,
        ),
        max_size=5,
    )
)
def test_no_shape_is_more_than_a_skipped_record(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = read(Path(folder), *rows, user("good", "still found"))
    assert session.items[-1].text == "still found"
