"""Plain OpenAI-style chats: what expected.json does not show."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from growth import cut, facts, growing, lines, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile import Library
from erstwhile.adapters.openai_chat import OpenaiChat

CHAT = OpenaiChat()
HELLO = {"role": "user", "content": "why is it slow?"}
REPLY = {"role": "assistant", "content": "the cache is cold", "model": "gpt-x", "created_at": 1793693700}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}],
}


def result(content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c1", "content": content}


ROWS = st.sampled_from(
    [
        HELLO,
        REPLY,
        CALL,
        result("fine"),
        {"messages": [HELLO, REPLY]},
        {"id": "conv-1", "messages": [HELLO]},
        [HELLO],
        {"role": "system", "content": "be brief"},
        {"role": "critic"},
        {"type": "event"},
        7,
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, max_size=8), st.lists(st.integers(0, 900), max_size=4))
def test_a_chat_that_grows_reads_as_it_does_whole(rows: list[Any], places: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.jsonl"
        got, again = growing(CHAT, path, cut(lines(rows), places))
        assert facts(got) == facts(whole(CHAT, path))
        assert again == 0


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Error: no such file", "tool_error"),
        ('{"error": "no such file"}', "tool_error"),
        ('{"is_error": true, "text": "x"}', "tool_error"),
        ('{"error": null, "rows": 3}', "tool_output"),
        ("An Error is nothing here", "tool_output"),
    ],
)
def test_a_result_that_says_it_failed_is_an_error_of_the_tool_that_was_called(
    tmp_path: Path, content: str, kind: str
) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(lines([CALL, result(content)]))
    (session,) = whole(CHAT, path).sessions.values()
    assert (session.items[-1].kind, session.items[-1].tool) == (kind, "bash")


@pytest.mark.parametrize(
    ("value", "sessions"),
    [
        ([HELLO, REPLY], 1),
        ({"messages": [HELLO, REPLY], "title": "Slow"}, 1),
        ([{"id": "a-1", "messages": [HELLO]}, [REPLY], {"name": "no chat"}], 2),
        ({"name": "package", "version": "1"}, 0),
    ],
)
def test_one_json_value_holds_a_conversation_or_several_or_says_that_it_holds_none(
    tmp_path: Path, value: Any, sessions: int
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    got = whole(CHAT, path)
    assert len(got.sessions) == sessions
    assert bool(got.skipped) == (sessions == 0)


def test_rows_of_a_data_set_that_are_only_numbered_stay_apart(tmp_path: Path) -> None:
    for name, text in (("one", "about walrus"), ("two", "about lemur")):
        row = {"id": "1", "messages": [{"role": "user", "content": text}]}
        (tmp_path / f"{name}.jsonl").write_bytes(lines([row]))
    with Library(data=":memory:", roots={"openai-chat": [str(tmp_path)]}) as library:
        found = {hit.session for word in ("walrus", "lemur") for hit in library.search(word).hits}
    assert found == {f"openai-chat:{tmp_path / name}.jsonl#1" for name in ("one", "two")}


def test_records_of_odd_shapes_cost_only_themselves_and_are_named(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(lines([HELLO, 7, {"role": "user", "content": {"a": 1}}, {"role": "critic"}, REPLY]) + b"{oops\n")
    got = whole(CHAT, path)
    (session,) = got.sessions.values()
    assert [item.text for item in session.items] == [HELLO["content"], REPLY["content"]]
    assert [(s.line, s.reason) for s in got.skipped] == [(2, "a JSON int, not an object"), (6, "not valid JSON")]
    assert got.unknown == {"role critic": 1}


def test_another_agent_s_log_gives_no_session_and_its_types_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(lines([{"type": "user", "message": {"role": "user", "content": "hello"}}] * 2))
    got = whole(CHAT, path)
    assert (got.sessions, got.unknown) == ({}, {"user": 2})


def test_a_picture_s_bytes_are_not_searched(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0"}}
    path.write_bytes(lines([{"role": "user", "content": [{"type": "text", "text": "look"}, picture]}]))
    (session,) = whole(CHAT, path).sessions.values()
    assert [item.text for item in session.items] == ["look"]
