"""Codex: what expected.json does not show."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, Conversation, collect
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters._codex_items import own_words, says_failed
from erstwhile.adapters.base import Reread
from erstwhile.adapters.codex import Codex
from erstwhile.errors import SourceError
from erstwhile.model import Root, Source, Title

FIXTURES = Path(__file__).parent.parent / "fixtures/codex/home/.codex"
PARENT = "019f5c5a-eb02-7ff0-90af-653b66eba9f4"
CHILD = "019f5c60-0000-7aaa-8bbb-0123456789ab"
NAME = f"rollout-2026-11-02T10-00-00-{CHILD}.jsonl"
ADAPTER = Codex()


def line(kind: str, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-02T09:00:00.000Z", "type": kind, "payload": payload, **more}


def meta(native: str = CHILD, **more: Any) -> dict[str, Any]:
    return line("session_meta", {"id": native, "cwd": "/home/dev/shop", "source": "cli", **more})


def item(kind: str, **more: Any) -> dict[str, Any]:
    return line("response_item", {"type": kind, **more})


def said(role: str, text: str) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def event(kind: str, **more: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **more})


def call(name: str, tool: str = "shell") -> dict[str, Any]:
    return item("function_call", name=tool, arguments="{}", call_id=name)


def outcome(name: str, output: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=name, output=output)


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.writelines(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)
    return path


def read(path: Path, earlier: Collected | None = None) -> Collected:
    """What the file gives; with `earlier`, what reading on from there gives."""
    return collect(ADAPTER.read(Source(ADAPTER.name, str(path), ""), earlier.resume if earlier else None), earlier)


def only(got: Collected) -> Conversation:
    (session,) = got.sessions.values()
    return session


def shown(got: Collected) -> list[tuple[str, str]]:
    return [(i.kind, i.text) for i in only(got).items]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sessions/2026/11/02" / NAME


# -- what failed -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nx", True),
        ("Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nx", False),
        ("Exit code: 127\nWall time: 0.1 seconds\nOutput:\nnot found", True),
        ("Exit code: 0\nOutput:\nExit code: 1", False),
        ('{"output":"boom","metadata":{"exit_code":2,"duration_seconds":0.1}}', True),
        ('{"output":"\\"exit_code\\":2","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ('{"metadata":{"exit_code":2},"output":"' + "x" * 500 + '"}', True),
        ('{"output":"apply_patch verification failed: no such line","metadata":{}}', True),
        ("apply_patch verification failed: Failed to find expected lines", True),
        ("execution error: Io(Os)", True),
        ("aborted by user after 3.1s", True),
        ("the words: exited with code nothing", False),
        ("def test(): assert exit_code == 1", False),
        ("", False),
    ],
)
def test_an_output_says_itself_whether_its_tool_failed(text: str, failed: bool) -> None:
    assert says_failed(text) is failed


@pytest.mark.parametrize(
    "end",
    [
        event("exec_command_end", call_id="c1", exit_code=1),
        event("patch_apply_end", call_id="c1", success=False),
        event("mcp_tool_call_end", call_id="c1", result={"Err": "refused"}),
        event("mcp_tool_call_end", call_id="c1", result={"Ok": {"content": [], "isError": True}}),
        event("item_completed", item={"type": "McpToolCall", "id": "c1", "status": "failed"}),
    ],
)
def test_an_event_on_either_side_of_the_output_makes_it_an_error(file: Path, end: dict[str, Any]) -> None:
    write(file, meta(), said("user", "go"), call("c1"), end, outcome("c1", "no sign"), said("assistant", "hm"))
    other = write(file.with_name("rollout-b.jsonl"), meta(), call("c1"), outcome("c1", "no sign"), end)
    assert ("tool_error", "no sign") in shown(read(file))
    assert ("tool_error", "no sign") in shown(read(other))


def test_an_event_that_makes_an_output_of_the_last_read_an_error_asks_for_another_read(file: Path) -> None:
    before = read(write(file, meta(), said("user", "go"), call("c1"), outcome("c1", "no sign")))
    assert shown(before)[-1] == ("tool_output", "no sign")
    write(file, event("exec_command_end", call_id="c1", exit_code=1))
    with pytest.raises(Reread):
        read(file, before)
    assert shown(read(file))[-1] == ("tool_error", "no sign")


def test_parallel_outputs_keep_their_tools_and_their_order(file: Path) -> None:
    write(file, meta(), call("c1", "one"), call("c2", "two"), outcome("c2", "second"), outcome("c1", "first"))
    items = only(read(file)).items
    assert [(i.index, i.tool, i.text) for i in items[2:]] == [(2, "two", "second"), (3, "one", "first")]


def test_an_older_output_object_tells_its_success(file: Path) -> None:
    write(file, meta(), call("c1"), outcome("c1", {"content": "denied", "success": False}))
    assert shown(read(file))[-1] == ("tool_error", "denied")


# -- whose words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\nx",
        "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>x</user_instructions>",
        "<turn_aborted>\nx",
        "<user_shell_command>\nls",
        "<skill>\n<name>x</name>",
        "<subagent_notification>{}",
    ],
)
def test_what_the_host_writes_as_the_user_is_not_the_users(file: Path, text: str) -> None:
    got = read(write(file, meta(), said("developer", "<permissions instructions>"), said("user", text)))
    assert only(got).items == []
    assert only(got).count == 2


def test_only_the_request_is_kept_of_a_prompt_from_the_ide() -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix a.py\n"
    assert own_words([{"type": "input_text", "text": text}]) == "fix a.py"
    assert own_words("what does <skill> in a prompt mean") == "what does <skill> in a prompt mean"


def test_an_image_gives_a_mark_and_never_its_bytes(file: Path) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8"}
    write(file, meta(), item("message", role="user", content=[{"type": "input_text", "text": "see"}, image]))
    write(file, item("image_generation_call", result="aGVsbG8", revised_prompt="a cat", id="ig_1"))
    assert shown(read(file)) == [("user_text", "see\n[image]"), ("tool_input", "image_generation a cat")]


# -- history -----------------------------------------------------------------------------------------------------------


def test_a_fork_that_replays_its_parent_keeps_its_own_id(file: Path) -> None:
    """C20, agentsview #643."""
    talk = [said("user", "one"), said("assistant", "two"), said("user", "three"), said("assistant", "four")]
    got = read(write(file, meta(), meta(PARENT), *talk, said("user", "five")))
    head = only(got).head
    assert (head.id, head.parent, head.relation) == (f"codex:{CHILD}", f"codex:{PARENT}", "fork")
    assert [t for _, t in shown(got)] == ["one", "two", "three", "four", "five"]


def test_a_review_is_a_subagent_of_the_session_it_names(file: Path) -> None:
    head = only(read(write(file, meta(source={"subagent": "review"}, session_id=PARENT), said("user", "x")))).head
    assert (head.id, head.parent, head.relation) == (f"codex:{CHILD}", f"codex:{PARENT}", "subagent")


def test_a_rollback_marks_the_last_turns_and_what_followed_them(file: Path) -> None:
    write(file, meta(), said("user", "one"), said("assistant", "1"), said("user", "two"), said("assistant", "2"))
    before = read(write(file, said("user", "<turn_aborted>"), said("user", "three"), said("assistant", "3")))
    write(file, event("thread_rolled_back", num_turns=2), said("user", "four"))
    for got in (read(file), read(file, before)):
        states = {i.text: i.state for i in only(got).items}
        assert [t for t, state in states.items() if state == "rolled_back"] == ["two", "2", "three", "3"]


def test_a_compaction_gives_its_summary_and_no_second_copy_of_the_messages(file: Path) -> None:
    again = [said("user", "one")["payload"]]
    compacted = line("compacted", {"message": "We talked.", "replacement_history": again})
    got = read(write(file, meta(), said("user", "one"), compacted, said("user", "two")))
    assert shown(got) == [("user_text", "one"), ("summary", "We talked."), ("user_text", "two")]
    assert [i.index for i in only(got).items] == [0, 0, 1]


def test_a_file_of_ui_events_only_is_read_from_them(file: Path) -> None:
    write(file, meta(), event("user_message", message="why"), event("agent_reasoning", text="hm"))
    before = read(write(file, event("agent_message", message="because")))
    expected = [("user_text", "why"), ("reasoning", "hm"), ("assistant_text", "because")]
    assert shown(before) == expected
    assert only(before).count == 3
    write(file, event("user_message", message="and now"))
    assert shown(read(file, before)) == [*expected, ("user_text", "and now")]
    write(file, said("user", "an item after all"))
    with pytest.raises(Reread):
        read(file, before)
    assert shown(read(file)) == [("user_text", "an item after all")]


def test_a_file_of_completed_items_only_is_read_from_them(file: Path) -> None:
    run = {"type": "CommandExecution", "command": ["ls", "-l"], "exit_code": 2, "aggregated_output": "none"}
    for done in (
        {"type": "UserMessage", "content": [{"type": "text", "text": "list"}]},
        {"type": "Reasoning", "summary_text": ["first", "second"]},
        run,
        {"type": "AgentMessage", "content": [{"type": "Text", "text": "empty"}]},
    ):
        write(file, event("item_completed", item=done))
    assert shown(read(file)) == [
        ("user_text", "list"),
        ("reasoning", "first\n\nsecond"),
        ("tool_input", "exec_command ls -l"),
        ("tool_error", "none"),
        ("assistant_text", "empty"),
    ]


def test_the_oldest_json_files_are_read_too(tmp_path: Path) -> None:
    items = [said("user", "why")["payload"], said("assistant", "because")["payload"]]
    header = {"id": CHILD, "timestamp": "2025-05-01T10:00:00.000Z", "instructions": ""}
    path = tmp_path / f"rollout-2025-05-01-{CHILD}.json"
    path.write_text(json.dumps({"session": header, "items": items}), encoding="utf-8")
    got = read(path)
    assert shown(got) == [("user_text", "why"), ("assistant_text", "because")]
    assert only(got).head.started == 1746093600.0
    assert got.resume is None


def test_a_bare_file_takes_its_folder_from_the_environment_message(file: Path) -> None:
    context = "<environment_context>\nCurrent working directory: /home/dev/my lab\nApproval policy: never\n"
    bare = [{"id": CHILD, "timestamp": "2025-08-20T12:00:00.000Z"}, said("user", context)["payload"]]
    head = only(read(write(file, *bare, said("user", "x")["payload"]))).head
    assert (head.cwd, head.id) == ("/home/dev/my lab", f"codex:{CHILD}")


def test_a_renamed_thread_has_its_new_title_and_unknown_records_are_counted(file: Path) -> None:
    write(file, meta(), said("user", "x"), event("thread_name_updated", thread_id=CHILD, thread_name="New name"))
    got = read(write(file, line("sparkle", {}), item("sparkle_call"), line("world_state", {})))
    assert only(got).head.title == "New name"
    assert got.unknown == {"sparkle": 1, "sparkle_call": 1}
    assert only(got).count == 2


# -- reading in pieces -------------------------------------------------------------------------------------------------

ROLLOUTS = sorted(FIXTURES.rglob("rollout-*.jsonl"))


def in_pieces(data: bytes, cuts: list[int], path: Path) -> Collected:
    """The file read each time it has grown to the next cut; a refused tail starts over."""
    got: Collected | None = None
    for start, end in zip([0, *cuts], [*cuts, len(data)]):
        with path.open("ab") as file:
            file.write(data[start:end])
        try:
            got = read(path, got)
        except Reread:
            got = read(path)
    assert got is not None
    return got


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_read_in_pieces_gives_what_one_read_gives(data: st.DataObject) -> None:
    original = data.draw(st.sampled_from(ROLLOUTS))
    whole = original.read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), min_size=1, max_size=2)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, original.name)
        pieces, once = in_pieces(whole, cuts, path), read(path)
    assert pieces.sessions == once.sessions
    assert pieces.skipped == once.skipped
    assert pieces.unknown == once.unknown


def record(kind: str, name: str) -> dict[str, Any]:
    return {
        "user": said("user", f"asked {name}"),
        "host": said("user", "<environment_context><cwd>/x</cwd></environment_context>"),
        "assistant": said("assistant", f"answered {name}"),
        "call": call(name, "exec"),
        "output": outcome(name, f"printed {name}"),
        "failed": event("exec_command_end", call_id=name, exit_code=1),
        "completed": event("item_completed", item={"type": "CommandExecution", "id": f"x{name}", "exit_code": 1}),
        "back": event("thread_rolled_back", num_turns=1),
        "compacted": line("compacted", {"message": f"summary {name}"}),
        "twin": event("user_message", message=f"asked {name}"),
        "model": line("turn_context", {"model": f"gpt-{name}"}),
        "meta": meta(f"s{name}"),
    }[kind]


KINDS = ["user", "host", "assistant", "call", "output", "output", "failed", "completed", "back", "compacted", "twin"]
STEP = st.tuples(st.sampled_from([*KINDS, "model", "meta"]), st.sampled_from("abc"))


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, min_size=2, max_size=14), st.integers(0, 12), st.integers(1, 12))
def test_any_records_read_in_pieces_give_what_one_read_gives(steps: list[tuple[str, str]], one: int, two: int) -> None:
    lines = [json.dumps(record(*step)).encode() + b"\n" for step in steps]
    cuts = sorted(sum(map(len, lines[:n])) for n in (one, two))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        pieces, once = in_pieces(b"".join(lines), cuts, path), read(path)
    assert pieces.sessions == once.sessions


def test_a_compressed_file_is_always_read_whole() -> None:
    (path,) = FIXTURES.rglob("*.zst")
    assert read(path).resume is None
    with pytest.raises(Reread):
        list(ADAPTER.read(Source(ADAPTER.name, str(path), ""), {"offset": 0, "line": 0}))


# -- listing and titles ------------------------------------------------------------------------------------------------


def listed(root: Path) -> list[str]:
    return sorted(Path(s.path).relative_to(root).as_posix() for s in ADAPTER.sources(Root(str(root))))


def test_a_session_that_is_there_plain_compressed_and_archived_is_listed_once(tmp_path: Path, file: Path) -> None:
    """C31, deja #3640."""
    write(file, meta())
    for name in (f"sessions/2026/11/02/{NAME}.zst", f"archived_sessions/{NAME}.zst", f"archived_sessions/{NAME}"):
        write(tmp_path / name, meta())
    write(tmp_path / f"archived_sessions/{NAME.replace(CHILD, PARENT)}.zst", meta())
    write(tmp_path / f"sessions/2026/11/02/{NAME}.tmp", meta())
    write(tmp_path / "worktrees/sessions" / NAME.replace(CHILD, "x"), meta())
    assert listed(tmp_path) == [f"archived_sessions/{NAME.replace(CHILD, PARENT)}.zst", f"sessions/2026/11/02/{NAME}"]


def test_a_root_may_be_the_home_or_any_folder_of_rollouts() -> None:
    counts = {
        FIXTURES: 7,
        FIXTURES / "sessions": 4,
        FIXTURES / "sessions/2026/11": 3,
        FIXTURES / "archived_sessions": 1,
    }
    for root, count in counts.items():
        sources = list(ADAPTER.sources(Root(str(root), "archive")))
        assert len(sources) == count, root
        assert {(s.role, s.slug) for s in sources} == {("archive", None)}


def test_an_empty_home_has_no_sources(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    write(tmp_path / "worktrees/x" / NAME, meta())
    assert listed(tmp_path) == []


def state(path: Path, *threads: tuple[str, str, str, str]) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE threads (id TEXT, title TEXT, first_user_message TEXT, rollout_path TEXT)")
        database.executemany("INSERT INTO threads VALUES (?, ?, ?, ?)", threads)
        database.commit()
    return path


def test_the_database_titles_only_what_the_index_does_not_and_never_by_the_question(tmp_path: Path) -> None:
    home, other = tmp_path / "a home", tmp_path / "50% #other?"
    index = write(home / "session_index.jsonl", {"id": "a", "thread_name": "Old"}, {"id": "a", "thread_name": "Named"})
    other.mkdir()
    path = state(
        other / "state_5.sqlite",
        ("a", "From the database", "why", f"{home}/sessions/2026/11/02/{NAME}"),
        ("b", "A real title", "why", ""),
        ("c", "why does it fail…", "why does\nit fail on Tuesdays", ""),
    )
    assert read(index).titles == [Title("Named", session="codex:a")]
    assert read(path).titles == [Title("A real title", session="codex:b")]


def test_reading_a_database_leaves_nothing_beside_it_and_sees_what_its_journal_holds(tmp_path: Path) -> None:
    path = state(tmp_path / "state_5.sqlite", ("a", "One title", "why", ""))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
    read(path)
    assert [p.name for p in tmp_path.glob("state_5*")] == ["state_5.sqlite"]
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE threads SET title = 'Another title'")
        database.commit()
        assert read(path).titles == [Title("Another title", session="codex:a")]


def test_a_database_that_is_none_is_an_error_of_its_source_only(tmp_path: Path) -> None:
    (tmp_path / "state_7.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with pytest.raises(SourceError, match="state_7"):
        read(tmp_path / "state_7.sqlite")


def test_the_newest_database_is_listed_and_its_journal_changes_its_stamp(tmp_path: Path) -> None:
    for name in ("state_4.sqlite", "state_12.sqlite", "state_x.sqlite"):
        (tmp_path / name).touch()
    (source,) = ADAPTER.sources(Root(str(tmp_path)))
    assert Path(source.path).name == "state_12.sqlite"
    (tmp_path / "state_12.sqlite-wal").write_bytes(b"x")
    (changed,) = ADAPTER.sources(Root(str(tmp_path)))
    assert changed.stamp != source.stamp


def test_the_agents_variables_move_its_home_and_its_database() -> None:
    assert ADAPTER.homes({"HOME": "/home/dev"}) == ["/home/dev/.codex"]
    moved = {"HOME": "/home/dev", "CODEX_HOME": "/srv/codex", "CODEX_SQLITE_HOME": "/srv/db"}
    assert ADAPTER.homes(moved) == ["/srv/codex", "/srv/db"]


def test_a_session_can_be_continued() -> None:
    assert ADAPTER.resume(PARENT, "/home/dev") == ["codex", "resume", PARENT]
