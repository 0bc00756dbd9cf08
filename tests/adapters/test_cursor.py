"""Cursor: what expected.json does not show."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, collect
from databases import write
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters._cursor_store import wire
from erstwhile.adapters._cursor_text import folder, prompt
from erstwhile.adapters.cursor import Cursor
from erstwhile.model import Root

CHAT = "0a0b0c0d-1111-4222-8333-444444444444"
STORE = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);"
STATE = "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);"
HEADERS = "CREATE TABLE composerHeaders (composerId TEXT, workspaceId TEXT, lastUpdatedAt INTEGER, isSubagent INTEGER);"
ADAPTER = Cursor()


def field(number: int, value: bytes) -> bytes:
    """A length-delimited field; all lengths here are below 128."""
    return bytes([number << 3 | 2, len(value)]) + value


def blob(data: bytes) -> tuple[str, str, bytes]:
    return "blobs", hashlib.sha256(data).hexdigest(), data


def store(home: Path, *messages: dict[str, Any], root: bool = True) -> Path:
    """The store of a chat whose root lists the first message and a node that lists the others."""
    blobs = [blob(json.dumps(m).encode()) for m in messages]
    node = blob(b"".join(field(1, bytes.fromhex(b[1])) for b in blobs[1:]))
    top = blob(
        b"".join(field(1, bytes.fromhex(b[1])) for b in (*blobs[:1], node)) + field(9, b"file:///home/dev/my%20shop")
    )
    meta = {"name": "stored", "latestRootBlobId": top[1] if root else "gone", "createdAt": 1_793_693_900_000}
    path = home / "chats" / ("0" * 32) / CHAT / "store.db"
    return write(
        path, STORE, ("meta", "0", json.dumps(meta).encode().hex()), *reversed(blobs) if root else blobs, node, top
    )


def editor(home: Path, *bubbles: Any, script: str = STATE, **data: Any) -> Path:
    """The editor's database with one chat."""
    headers = [{"bubbleId": f"b{n}"} for n in range(len(bubbles))]
    rows = [
        ("cursorDiskKV", f"bubbleId:{CHAT}:b{n}", b if isinstance(b, str) else json.dumps(b))
        for n, b in enumerate(bubbles)
    ]
    value = json.dumps({"fullConversationHeadersOnly": headers, **data})
    return write(home / "globalStorage/state.vscdb", script, ("cursorDiskKV", f"composerData:{CHAT}", value), *rows)


def transcript(home: Path, name: str, *rows: Any) -> Path:
    path = home / "projects" / "home-dev-shop" / "agent-transcripts" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}


def read(home: Path) -> Collected:
    (source,) = ADAPTER.sources(Root(str(home)))
    return collect(ADAPTER.read(source))


def shown(got: Collected) -> list[tuple[str, str]]:
    (session,) = got.sessions.values()
    return [(i.kind, i.text) for i in session.items]


MESSAGES = (
    {"role": "user", "content": "<user_info>OS</user_info><user_query>check the hook</user_query>"},
    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "Shell", "args": {"x": 1}}]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "result": "broken", "isError": True}]},
)


@pytest.mark.parametrize("root", [True, False])
def test_a_store_gives_its_messages_in_the_order_of_its_nodes_or_as_they_were_written(
    tmp_path: Path, root: bool
) -> None:
    store(tmp_path, *MESSAGES, root=root)
    got = read(tmp_path)
    assert shown(got) == [("user_text", "check the hook"), ("tool_input", 'Shell {"x":1}'), ("tool_error", "broken")]
    head = got.sessions[f"cursor:{CHAT}"].head
    assert (head.title, head.cwd, head.started) == ("stored", "/home/dev/my shop" if root else None, 1_793_693_900.0)


def test_a_conversation_with_a_transcript_is_not_read_from_its_store_too(tmp_path: Path) -> None:
    store(tmp_path, *MESSAGES)
    path = transcript(tmp_path, f"{CHAT}/{CHAT}.jsonl", user("hello"))
    assert [s.path for s in ADAPTER.sources(Root(str(tmp_path)))] == [str(path)]


def test_a_transcript_is_read_on_from_where_it_ended(tmp_path: Path) -> None:
    path = transcript(tmp_path, f"{CHAT}.jsonl", user("one"))
    (source,) = ADAPTER.sources(Root(str(tmp_path)))
    first = collect(ADAPTER.read(source))
    transcript(tmp_path, path.name, user("two"))
    assert shown(collect(ADAPTER.read(source, first.resume), first)) == [("user_text", "one"), ("user_text", "two")]
    assert shown(read(tmp_path)) == shown(first)


def test_a_subagents_transcript_names_its_parent(tmp_path: Path) -> None:
    transcript(tmp_path, f"{CHAT}/subagents/child.jsonl", user("one"))
    (session,) = read(tmp_path).sessions.values()
    assert (session.head.id, session.head.parent, session.head.relation) == (
        "cursor:child",
        f"cursor:{CHAT}",
        "subagent",
    )


def test_a_transcript_in_plain_text_is_read(tmp_path: Path) -> None:
    path = transcript(tmp_path, f"{CHAT}.txt")
    path.write_text("user:\n<user_query>\nhello\n</user_query>\n\nassistant:\nHi: fine.\n", encoding="utf-8")
    assert shown(read(tmp_path)) == [("user_text", "hello"), ("assistant_text", "Hi: fine.")]


def test_the_index_of_chats_gives_the_stamp_the_workspace_and_the_kind(tmp_path: Path) -> None:
    editor(tmp_path, {"type": 1, "text": "hello"}, script=STATE + HEADERS)
    write(tmp_path / "globalStorage/state.vscdb", "", ("composerHeaders", CHAT, "w1", 1_793_693_700_000, 1))
    (tmp_path / "workspaceStorage" / "w1").mkdir(parents=True)
    remote = '{"folder": "vscode-remote://wsl%2Bubuntu/home/dev/shop"}'
    (tmp_path / "workspaceStorage" / "w1" / "workspace.json").write_text(remote, encoding="utf-8")
    (source,) = ADAPTER.sources(Root(str(tmp_path)))
    assert source.mtime == 1_793_693_700.0
    (session,) = collect(ADAPTER.read(source)).sessions.values()
    assert (session.head.cwd, session.head.relation) == ("/home/dev/shop", "subagent")


def test_a_chat_that_knows_no_folder_gets_that_of_the_workspace_that_lists_it(tmp_path: Path) -> None:
    editor(tmp_path, {"type": 1, "text": "hello"})
    listed = json.dumps({"allComposers": [{"composerId": CHAT}]})
    folder = tmp_path / "workspaceStorage" / "w1"
    write(folder / "state.vscdb", STATE, ("ItemTable", "composer.composerData", listed))
    (folder / "workspace.json").write_text('{"folder": "file:///c%3A/dev/shop"}', encoding="utf-8")
    chat = next(s for s in ADAPTER.sources(Root(str(tmp_path))) if "#" in s.path)
    (session,) = collect(ADAPTER.read(chat)).sessions.values()
    assert session.head.cwd == "c:/dev/shop"


def test_a_missing_or_broken_bubble_costs_only_itself(tmp_path: Path) -> None:
    path = editor(tmp_path, {"type": 1, "text": "one"}, "{torn", {"type": 9}, "null", {"type": 2, "text": "two"})
    write(path, f"DELETE FROM cursorDiskKV WHERE key = 'bubbleId:{CHAT}:b3'")
    got = read(tmp_path)
    assert shown(got) == [("user_text", "one"), ("assistant_text", "two")]
    assert [s.reason for s in got.skipped] == ["bubble b1 is not valid JSON"]
    assert got.unknown == {"bubble 9": 1}


def test_an_empty_chat_is_no_session(tmp_path: Path) -> None:
    editor(tmp_path)
    assert read(tmp_path).sessions == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<user_query>\nwhy?\n</user_query>", "why?"),
        ("<system_reminder>no</system_reminder>\n<user_query>why?</user_query>", "why?"),
        ("<user_query>what is <user_query> for?</user_query>", "what is <user_query> for?"),
        ("<user_query>why?</user_query>\n<system_reminder>no</system_reminder>", "why?"),
        ("<system_reminder>only the host</system_reminder>", ""),
        (
            "what does <system_reminder>x</system_reminder> mean?",
            "what does <system_reminder>x</system_reminder> mean?",
        ),
        ("plain", "plain"),
    ],
)
def test_only_the_persons_words_are_kept(text: str, words: str) -> None:
    assert prompt(text) == words


def test_a_uri_without_a_folder_gives_none() -> None:
    assert [folder(uri) for uri in (None, 7, "shop", "file://[", "untitled:x")] == [None] * 5
    assert folder("file:///") == "/"


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_can_be_taken_for_a_node(data: bytes) -> None:
    assert all(len(value) <= len(data) for _, value in wire(data))


def test_a_chat_of_the_command_line_can_be_continued_and_one_of_the_editor_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ADAPTER.resume(CHAT, None) is None
    store(tmp_path / ".cursor", *MESSAGES)
    assert ADAPTER.resume(CHAT, None) == ["cursor-agent", "--resume", CHAT]


def test_a_projects_folder_is_named_as_cursor_names_it() -> None:
    assert ADAPTER.slug("/home/dev/my_shop.js") == "home-dev-my-shop-js"
