"""Reasonix: which files are sessions, what an event log replays to, what of a message a person or a model said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, Conversation, collect

from erstwhile.adapters._reasonix_prefixes import LEADING, SYNTHETIC, typed
from erstwhile.adapters._reasonix_values import JsonValues
from erstwhile.adapters.reasonix import Reasonix
from erstwhile.model import Root, Source

REASONIX = Reasonix()
FIXTURES = Path(__file__).parent.parent / "fixtures" / "reasonix"
ID = "20261103-081500.123456789-deepseek-v4"
STEER = (
    "[Mid-turn steer queued by the user. Do not treat this as a new task; use it only as additional guidance for the "
    "current task after completing the current step.]"
)


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def write(path: Path, *values: Any) -> Path:
    """The values as Go's encoder writes them, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path, **source: Any) -> Collected:
    return collect(REASONIX.read(Source("reasonix", str(path), "", **source)))


def only(collected: Collected) -> Conversation:
    (session,) = collected.sessions.values()
    return session


def texts(collected: Collected) -> list[tuple[int, str, str]]:
    return [(i.index, i.kind, i.text) for i in only(collected).items]


def said(*messages: dict[str, Any], folder: Path) -> list[tuple[int, str, str]]:
    return texts(read(write(folder / f"{ID}.jsonl", *messages)))


# -- sources -----------------------------------------------------------------------------------------------------------


def listed(root: Path | str, role: str | None = None) -> dict[str, Source]:
    return {os.path.relpath(s.path, root): s for s in REASONIX.sources(Root(str(root), role))}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A home with a session in every place."""
    home = tmp_path / ".reasonix"
    for path in (
        f"sessions/{ID}.jsonl",
        "sessions/subagents/sa_1.jsonl",
        f"projects/-p/sessions/{ID}-x.jsonl",
        "projects/-p/sessions/subagents/sa_2.jsonl",
        "archive/20261103-082500.000000000.jsonl",
    ):
        write(home / path, user("a"))
    return home


def test_a_home_lists_the_sessions_of_every_place(state: Path) -> None:
    found = listed(state)
    assert set(found) == {
        f"sessions/{ID}.jsonl",
        "sessions/subagents/sa_1.jsonl",
        f"projects/-p/sessions/{ID}-x.jsonl",
        "projects/-p/sessions/subagents/sa_2.jsonl",
        "archive/20261103-082500.000000000.jsonl",
    }
    assert {p for p, s in found.items() if s.slug} == {p for p in found if p.startswith("projects")}
    origins = {p: only(collect(REASONIX.read(s))).head for p, s in found.items()}
    assert {(p.split("/")[0], h.origin, h.archived) for p, h in origins.items()} == {
        ("sessions", "global", False),
        ("projects", "project", False),
        ("archive", "archive", True),
    }


@pytest.mark.parametrize(
    ("folder", "count"),
    [
        ("sessions", 2),
        ("projects", 2),
        ("projects/-p", 2),
        ("projects/-p/sessions", 2),
        ("archive", 1),
        ("sessions/subagents", 1),
    ],
)
def test_any_folder_of_transcripts_is_a_root(state: Path, folder: str, count: int) -> None:
    found = listed(state / folder)
    assert len(found) == count
    assert {s.slug for s in found.values()} == {"-p" if "projects" in folder else None}
    whole = {s.path: s for s in listed(state).values()}
    for source in found.values():
        head = only(collect(REASONIX.read(source))).head
        assert head == only(collect(REASONIX.read(whole[source.path]))).head


def test_three_folders_with_roles_are_reasonixs_own_search_options(tmp_path: Path) -> None:
    for role in ("project", "global", "archive"):
        write(tmp_path / role[0] / f"{ID}.jsonl", user("a"))
        write(tmp_path / role[0] / "subagents" / "sa_1.jsonl", user("a"))
        sources = listed(tmp_path / role[0], role).values()
        heads = [only(collect(REASONIX.read(source))).head for source in sources]
        assert [(s.role, h.origin, h.archived) for s, h in zip(sources, heads, strict=True)] == [
            (role, role, role == "archive")
        ] * 2


def test_side_files_are_not_sessions_and_change_the_stamp(state: Path) -> None:
    stem = state / "sessions" / ID
    stamps = {listed(state)[f"sessions/{ID}.jsonl"].stamp}
    for suffix in (".jsonl.meta", ".events.jsonl", ".cleanup-pending.json"):
        write(Path(f"{stem}{suffix}"), {})
        stamps.add(listed(state)[f"sessions/{ID}.jsonl"].stamp)
        os.utime(f"{stem}{suffix}", ns=(1, 1))
        stamps.add(listed(state)[f"sessions/{ID}.jsonl"].stamp)
    assert len(stamps) == 7
    for suffix in (".conflicts.jsonl", ".guardian.jsonl", ".jsonl.lock", ".goal-state.json", ".events.jsonl.damaged"):
        write(Path(f"{stem}{suffix}"), {})
    write(Path(f"{stem}.ckpt/0001/x.jsonl"), {})
    assert len(listed(state)) == 5


def test_a_subagents_meta_is_in_its_stamp(state: Path) -> None:
    before = listed(state)["sessions/subagents/sa_1.jsonl"].stamp
    write(state / "sessions/subagents/sa_1.meta.json", {"parentSession": ID})
    assert listed(state)["sessions/subagents/sa_1.jsonl"].stamp != before


def test_a_session_being_deleted_is_hidden_with_its_subagents_and_theirs(state: Path) -> None:
    below = state / "sessions" / "subagents"
    write(below / "sa_1.meta.json", {"parentSession": ID})
    write(below / "sa_11.jsonl", user("a"))
    write(below / "sa_11.meta.json", {"parentSession": "sa_1"})
    write(below / "sa_2.jsonl", user("a"))
    write(below / "sa_2.meta.json", {"parentSession": "another"})
    visible = listed(state)
    write(state / "sessions" / f"{ID}.cleanup-pending.json", {"operation": "delete"})
    hidden = {p: s for p, s in listed(state).items() if s.hidden}
    assert set(hidden) == {f"sessions/{ID}.jsonl", "sessions/subagents/sa_1.jsonl", "sessions/subagents/sa_11.jsonl"}
    assert all(s.stamp != visible[p].stamp for p, s in hidden.items())


def test_an_event_log_without_checkpoint_is_a_session(tmp_path: Path) -> None:
    path = write(tmp_path / f"{ID}.events.jsonl", replaced(1, user("a")))
    (source,) = listed(tmp_path).values()
    assert source.path == str(path)
    collected = collect(REASONIX.read(source))
    assert only(collected).head.id == f"reasonix:{ID}"
    assert texts(collected) == [(0, "user_text", "a")]


def test_links_are_excluded_and_not_followed_as_side_files(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.jsonl", user("outside"))
    folder = tmp_path / "sessions"
    write(folder / f"{ID}.jsonl", user("a"))
    os.symlink(outside, folder / "linked.jsonl")
    os.symlink(write(tmp_path / "log", replaced(1, user("outside"))), folder / f"{ID}.events.jsonl")
    os.symlink(write(tmp_path / "meta", {"custom_title": "outside"}), folder / f"{ID}.jsonl.meta")
    os.symlink(tmp_path, folder / "subagents")
    found = listed(folder)
    assert {p: s.excluded for p, s in found.items()} == {f"{ID}.jsonl": None, "linked.jsonl": "a symbolic link"}
    session = only(collect(REASONIX.read(found[f"{ID}.jsonl"])))
    assert (session.head.title, [i.text for i in session.items]) == (None, ["a"])


def test_a_missing_root_is_an_error_of_that_root(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        listed(tmp_path / "none")


def test_homes_are_the_variable_or_every_place_of_older_versions() -> None:
    assert REASONIX.homes({"HOME": "/h", "REASONIX_HOME": "/r"}) == ["/r"]
    assert REASONIX.homes({"HOME": "/h", "XDG_CONFIG_HOME": "/x", "APPDATA": "/a"}) == [
        "/h/.reasonix",
        "/h/.config/reasonix",
        "/h/Library/Application Support/reasonix",
        "/x/reasonix",
        "/a/reasonix",
    ]


def test_a_slug_and_a_resume_command_are_reasonixs_own() -> None:
    assert REASONIX.slug("/home/dev/my shop") == "-home-dev-my shop"
    assert REASONIX.slug(r"C:\src\app") == "C--src-app"
    assert REASONIX.resume(ID, "/p") == ["reasonix", "--resume", ID]
    assert REASONIX.resume("sa_7f3e21c0", "/p") is None
    assert REASONIX.resume("20261103-082500.000000000", "/p") is None


def test_listing_loads_no_decoder() -> None:
    code = (
        "import sys\nfrom erstwhile.adapters import dsh, reasonix\nfrom erstwhile.model import Root\n"
        f"assert list(reasonix.Reasonix().sources(Root({str(FIXTURES / 'home/.reasonix/archive')!r})))\n"
        f"assert list(dsh.Dsh().sources(Root({str(FIXTURES.parent / 'dsh/home/.dsh')!r})))\n"
        "print(*sorted({'json', 'orjson', 'backports.zstd', 'erstwhile.adapters._reasonix_messages',"
        " 'erstwhile.adapters._dsh_log'} & set(sys.modules)))"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    assert done.stdout.strip() == ""


# -- the head ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meta", "title"),
    [
        ({"custom_title": "C", "topic_title": "T", "name": "N", "preview": "P"}, "C"),
        ({"custom_title": " ", "topic_title": "T", "name": "N", "preview": "P"}, "T"),
        ({"name": "N", "preview": "P"}, "N"),
        ({"preview": "P"}, None),
    ],
)
def test_titles_have_an_order_and_the_preview_is_none(tmp_path: Path, meta: dict[str, Any], title: str | None) -> None:
    path = write(tmp_path / f"{ID}.jsonl", user("a"))
    write(tmp_path / f"{ID}.jsonl.meta", meta)
    assert only(read(path)).head.title == title


def test_without_meta_the_file_name_tells_start_and_model(tmp_path: Path) -> None:
    path = write(tmp_path / f"{ID}.jsonl", {"role": "system", "content": "s"}, user("a"))
    head = only(read(path, mtime=9.0)).head
    assert (head.started, head.model, head.cwd, head.ended, head.messages) == (
        1793693700.0,
        "deepseek-v4",
        None,
        9.0,
        2,
    )
    assert only(read(write(tmp_path / f"{ID}.jsonl", user("a", createdAt=1793693700500)), mtime=9.0)).head.ended is None


@pytest.mark.parametrize("meta", ["", "{", "[]", '{"model":5,"created_at":"0001-01-01T00:00:00Z"}', "\xff"])
def test_a_broken_meta_is_as_none(tmp_path: Path, meta: str) -> None:
    path = write(tmp_path / f"{ID}.jsonl", user("a"))
    (tmp_path / f"{ID}.jsonl.meta").write_bytes(meta.encode("latin-1"))
    assert only(read(path)).head.model == "deepseek-v4"


def test_a_fork_inherits_the_messages_before_its_index(tmp_path: Path) -> None:
    path = write(tmp_path / f"{ID}.jsonl", user("a"), user("b"), user("c"))
    write(tmp_path / f"{ID}.jsonl.meta", {"parent_id": "old", "fork_turn": 1, "fork_message_index": 2})
    session = only(read(path))
    assert (session.head.parent, session.head.relation) == ("reasonix:old", "fork")
    assert [i.state for i in session.items] == ["inherited", "inherited", None]


def test_a_recovery_copy_is_a_resume_of_its_original(tmp_path: Path) -> None:
    path = write(tmp_path / f"{ID}-recovery-0123456789abcdef.jsonl", user("a"))
    head = only(read(path)).head
    assert (head.parent, head.relation, head.model) == (f"reasonix:{ID}", "resume", "deepseek-v4")


# -- values not lines --------------------------------------------------------------------------------------------------


def values(path: Path) -> tuple[list[tuple[int, Any]], list[int | None]]:
    found = JsonValues(str(path), ("role",))
    return [(line, value.get("n", value)) for line, value in found], [s.line for s in found.skipped]


@pytest.mark.parametrize(
    ("text", "expected", "damaged"),
    [
        ('{"n":1}{"n":2} {"n":3}\n{"n":4}\n', [(1, 1), (1, 2), (1, 3), (2, 4)], []),
        ('{\n "n": 1\n}\n{"n":2}\n', [(1, 1), (4, 2)], []),
        ('{"n":1}{\n"n":2}\n{"n":3}', [(1, 1), (1, 2), (3, 3)], []),
        ('\ufeff{"n":1}\r\n\r\n{"n":2}\r\n', [(1, 1), (3, 2)], []),
        ('{"n":1}\n{"role":"user","n":\n{"role":"user","n":3}\n{"n":4}\n', [(1, 1), (3, 3), (4, 4)], [2]),
        ('{"n":1}\n{"n":"torn\n{"n":3}\n', [(1, 1), (3, 3)], [2]),
        ('{"n":1} garbage\n{"n":2}\n', [(1, 1), (2, 2)], [1]),
        ('{"n":1}\n{"n":2', [(1, 1)], [2]),
        ('{"n":1}\n{"n":2}', [(1, 1), (2, 2)], []),
        ('{"n":1}\n[7]\n"x"\n{"n":2}\n', [(1, 1), (4, 2)], [2, 3]),
        ('{"n":"\\ud800"}{"n":"\\u0000"}\n', [(1, "\ufffd"), (1, "\0")], []),
        ("{" * 5000 + "\n" + '{"role":"user","n":2}\n', [(2, 2)], [1]),
        ("", [], []),
    ],
)
def test_a_stream_of_values_keeps_what_is_good(
    tmp_path: Path, text: str, expected: list[Any], damaged: list[int]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(text.encode("utf-8"))
    assert values(path) == (expected, damaged)


def test_an_over_long_value_is_named_and_the_next_one_is_read(tmp_path: Path) -> None:
    found = JsonValues(str(write(tmp_path / "x", {"n": 1}, {"n": "x" * 500}, {"n": 3})), ("role",))
    found.longest = 200
    assert [line for line, _ in found] == [1, 3]
    assert [s.line for s in found.skipped] == [2]


# -- event logs --------------------------------------------------------------------------------------------------------


def replaced(revision: int, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"schema_version": 1, "type": "replace", "revision": revision, "messages": messages, **more}


def appended(revision: int, index: int, *messages: dict[str, Any], base: int | None = None) -> dict[str, Any]:
    before = revision - 1 if base is None else base
    return {**replaced(revision, *messages), "type": "append", "base_revision": before, "message_index": index}


def logged(folder: Path, *records: Any) -> Collected:
    """A session with an older checkpoint and this event log."""
    write(folder / f"{ID}.events.jsonl", *records)
    return read(write(folder / f"{ID}.jsonl", user("checkpoint")))


def test_a_log_of_lists_is_replayed_and_beats_the_checkpoint(tmp_path: Path) -> None:
    got = logged(
        tmp_path,
        replaced(1, user("old")),
        appended(2, 1, user("gone")),
        replaced(3, user("a"), user("b")),
        appended(4, 2, user("c")),
        appended(5, 1, user("B")),
    )
    assert texts(got) == [(0, "user_text", "a"), (1, "user_text", "B")]
    assert got.skipped == []


def test_a_log_of_lists_stops_at_a_gap_in_its_revisions(tmp_path: Path) -> None:
    got = logged(tmp_path, replaced(1, user("a")), appended(4, 1, user("b"), base=3), appended(5, 2, user("c")))
    assert texts(got) == [(0, "user_text", "a")]
    assert [s.line for s in got.skipped] == [2]


def test_a_log_of_lists_stops_at_a_gap_in_its_messages(tmp_path: Path) -> None:
    got = logged(tmp_path, replaced(1, user("a")), appended(2, 5, user("b")))
    assert texts(got) == [(0, "user_text", "a")]
    assert [s.line for s in got.skipped] == [2]


def test_a_log_of_lists_stops_at_damage(tmp_path: Path) -> None:
    got = logged(tmp_path, replaced(1, user("a")), '{"schema_version":1,"ty', appended(2, 1, user("b")))
    assert texts(got) == [(0, "user_text", "a")]
    assert [s.line for s in got.skipped] == [2]


@pytest.mark.parametrize(
    "record", [{"schema_version": 9, "type": "x"}, {"type": "replace"}, {"schema_version": 1}, "garbage", ""]
)
def test_a_foreign_file_in_the_place_of_the_log_is_ignored(tmp_path: Path, record: Any) -> None:
    got = logged(tmp_path, record)
    assert texts(got) == [(0, "user_text", "checkpoint")]
    assert got.skipped == []


def entry(type: str, **more: Any) -> dict[str, Any]:  # noqa: A002 - the field's name
    return {"schema_version": 2, "type": type, **more}


def node(name: str, parent: str, text: str, head: str = "main", role: str = "user", at: int = 0) -> dict[str, Any]:
    message = {"id": name, "role": role, "content": text}
    return entry("message", id=name, parent=parent, head=head, msgs=[message], at=f"2026-11-04T09:00:{at:02d}Z")


LINE = (entry("log"), node("s", "", "sys", role="system"), node("a", "s", "A"), node("b", "a", "B", at=1))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ((), ["A", "B"]),
        ((entry("rewind", head="main", to="a"),), ["A"]),
        ((entry("rewind", head="main", to="a"), node("c", "a", "C")), ["A", "C"]),
        # Without a select the head that was active last is shown; a select beats it until its head is retired.
        ((entry("fork", head="main", new_head="h", **{"from": "a"}), node("c", "a", "C", "h", at=9)), ["A", "C"]),
        ((entry("fork", head="main", new_head="h", **{"from": "a"}), entry("select", head="main")), ["A", "B"]),
        (
            (entry("fork", new_head="h", **{"from": "a"}), entry("select", head="h"), entry("retire", head="h")),
            ["A", "B"],
        ),
        ((entry("patch", target="a", msgs=[user("patched")]),), ["patched", "B"]),
        (
            (entry("redact", targets={"a": [user("[redacted]")]}), entry("patch", target="a", msgs=[user("patched")])),
            ["[redacted]", "B"],
        ),
        ((node("b", "a", "again"),), ["A", "B"]),  # an id once given stays
        ((node("x", "lost", "X", at=9),), ["X"]),  # its parent was rotated away
        ((node("b2", "b", "loop"), entry("rewind", to="b2")), ["A", "B", "loop"]),
    ],
)
def test_a_graph_shows_the_chain_of_its_head(tmp_path: Path, entries: tuple[Any, ...], expected: list[str]) -> None:
    got = logged(tmp_path, *LINE, *entries)
    assert [i.text for i in only(got).items] == expected
    assert (got.skipped, got.unknown) == ([], {})


def test_a_system_override_takes_the_place_of_the_system_message(tmp_path: Path) -> None:
    override = entry("system", head="main", msgs=[{"role": "system", "content": "new"}])
    assert texts(logged(tmp_path, *LINE, override)) == [(1, "user_text", "A"), (2, "user_text", "B")]
    rootless = node("a", "", "A"), override
    assert texts(logged(tmp_path, *rootless)) == [(1, "user_text", "A")]


def test_a_graph_loses_only_what_hung_on_a_broken_entry(tmp_path: Path) -> None:
    got = logged(tmp_path, *LINE, '{"schema_version":2,"type":"mess', node("c", "b", "C", at=5), entry("future"))
    assert [i.text for i in only(got).items] == ["A", "B", "C"]
    assert [s.line for s in got.skipped] == [5]
    assert got.unknown == {"event log: future": 1}


def test_redacted_text_is_not_found_through_any_file_of_the_session(tmp_path: Path) -> None:
    write(tmp_path / f"{ID}.events.jsonl", *LINE, entry("redact", targets={"b": [user("[redacted]")]}))
    got = read(write(tmp_path / f"{ID}.jsonl", user("A"), user("B")))
    assert [i.text for i in only(got).items] == ["A", "[redacted]"]


def test_a_message_of_a_graph_has_the_time_of_its_entry(tmp_path: Path) -> None:
    assert [i.time for i in only(logged(tmp_path, *LINE)).items] == [1793782800.0, 1793782801.0]


def test_the_name_of_the_shown_head_is_a_title_when_the_meta_has_none(tmp_path: Path) -> None:
    named = entry("rename", head="main", name="named")
    assert only(logged(tmp_path, *LINE, named)).head.title == "named"
    write(tmp_path / f"{ID}.jsonl.meta", {"topic_title": "T"})
    assert only(logged(tmp_path, *LINE, named)).head.title == "T"


# -- messages ----------------------------------------------------------------------------------------------------------


def test_what_was_typed_is_preferred_to_what_was_sent(tmp_path: Path) -> None:
    assert said(
        user("<memory-update>x</memory-update>\nsent", raw_content="typed"),
        user("typed", provider_content="<memory-update>x</memory-update>\ntyped"),
        user("<hook-context a=1>x</hook-context>\ntyped", raw_content=" "),
        user("not a person", origin="host", raw_content="not a person"),
        folder=tmp_path,
    ) == [(0, "user_text", "typed"), (1, "user_text", "typed"), (2, "user_text", "typed")]


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"content": " Error: x"}, "tool_error"),
        ({"content": "blocked: x"}, "tool_error"),
        ({"content": "cat: y: Permission denied"}, "tool_error"),
        ({"content": "an error: no"}, "tool_output"),
        ({"content": "fine", "tool_execution": {"exitCode": 2}}, "tool_error"),
        ({"content": "fine", "tool_execution": {"state": "failed"}}, "tool_error"),
        ({"content": "Error: only quoted", "tool_execution": {"exitCode": 0, "state": "completed"}}, "tool_output"),
        ({"content": "Error: x", "tool_execution": {"kind": "shell"}}, "tool_error"),
        ({"content": "  "}, None),
    ],
)
def test_a_tool_error_is_told_by_its_run_or_its_words(tmp_path: Path, result: dict[str, Any], kind: str | None) -> None:
    got = said({"role": "tool", "name": "bash", **result}, folder=tmp_path)
    assert [k for _, k, _ in got] == [kind] * (kind is not None)


def test_calls_reasoning_and_results_become_parts_with_their_tool(tmp_path: Path) -> None:
    calls = [
        {"id": "c1", "name": "bash", "arguments": '{"command": not json'},
        {"id": "c2", "name": "list", "arguments": {"a": [1]}},
        {"id": "c3", "name": "now"},
    ]
    path = write(
        tmp_path / f"{ID}.jsonl",
        {
            "role": "assistant",
            "content": "text",
            "reasoning_content": "why",
            "thinking_blocks": [{"thinking": "why"}],
            "tool_calls": calls,
        },
        {
            "role": "assistant",
            "thinking_blocks": [{"thinking": "b1", "signature": "c2ln"}, {"text": "b2"}, {"data": "ZW5j"}],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "out"},
    )
    assert [(i.index, i.kind, i.text, i.tool) for i in only(read(path)).items] == [
        (0, "reasoning", "why", None),
        (0, "assistant_text", "text", None),
        (0, "tool_input", 'bash {"command": not json', "bash"),
        (0, "tool_input", 'list {"a":[1]}', "list"),
        (0, "tool_input", "now", "now"),
        (1, "reasoning", "b1\nb2", None),
        (2, "tool_output", "out", "list"),
    ]


def test_images_are_named_and_their_bytes_are_not_read(tmp_path: Path) -> None:
    images = ["data:image/png;base64,QUJDREVG", "/home/dev/shots/login page.png", 5]
    assert said(user("look", images=images), user("", images=images[:1]), folder=tmp_path) == [
        (0, "user_text", "look\n[image image/png]\n[image login page.png]"),
        (1, "user_text", "[image image/png]"),
    ]


def test_notes_of_the_program_itself_are_kept_and_an_unapplied_steer_is_what_a_person_typed(tmp_path: Path) -> None:
    note = {
        "role": "tool",
        "name": "__reasonix_local_only__",
        "tool_call_id": "__reasonix_local_only__",
        "local_only": True,
    }
    assert said(
        {**note, "content": f"{STEER}\nUse plan B"}, {**note, "content": "turn cancelled"}, folder=tmp_path
    ) == [
        (0, "user_text", "Use plan B"),
        (1, "tool_output", "turn cancelled"),
    ]


def test_only_ids_that_are_unique_by_themselves_are_records(tmp_path: Path) -> None:
    path = write(tmp_path / f"{ID}.jsonl", user("a", id="m1"), user("b", id="01JBX3Q8T5ZKJ4"), user("c", id="0" * 16))
    assert [i.record for i in only(read(path)).items] == [None, None, "0" * 16]


def test_odd_values_are_survived(tmp_path: Path) -> None:
    got = read(
        write(
            tmp_path / f"{ID}.jsonl",
            {"role": "user", "content": 5, "images": "x"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [None, {"id": 1}, {"name": 7}],
                "reasoning_content": {},
            },
            {"role": "robot", "content": "x"},
            {"role": "user", "content": [{"type": "text", "text": "blocks"}], "createdAt": "soon"},
        )
    )
    assert texts(got) == [(3, "user_text", "blocks")]
    assert got.unknown == {"message of role robot": 1}
    assert only(got).count == 4


# -- what a person typed -----------------------------------------------------------------------------------------------


def contract(request: str) -> str:
    value = json.dumps({"planner_ir": {"source_event": request}})
    return f"<memory-compiler-execution>\n{value}\n</memory-compiler-execution>"


@pytest.mark.parametrize("tag", LEADING)
@pytest.mark.parametrize("attributes", ["", ' a="1" b'])
def test_a_leading_block_is_taken_off(tag: str, attributes: str) -> None:
    assert typed(f"\n <{tag}{attributes}>\nx\n</{tag}>\n\ntyped") == "typed"
    assert typed(f"<{tag}>x</{tag}>") is None
    assert typed(f"<{tag}>never closed\ntyped") == f"<{tag}>never closed\ntyped"
    assert typed(f"<{tag}s>x</{tag}s>typed") == f"<{tag}s>x</{tag}s>typed"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "<memory-update>a</memory-update>\n<background-jobs>b</background-jobs>\n[Plan mode: read only.]\n\ntyped",
            "typed",
        ),
        ("[Plan mode: read only.]\n\n<hook-context>b</hook-context>\ntyped [x]", "typed [x]"),
        ("typed\n\n<execution-policy a=1>\nx\n</execution-policy>\n", "typed"),
        ("typed\n<memory-recall>\nx\n</memory-recall>\n\n<delivery-runtime>\nx\n</delivery-runtime>", "typed"),
        ("what does <memory-update>x</memory-update> mean?", "what does <memory-update>x</memory-update> mean?"),
        ("explain <memory-recall>x</memory-recall>", "explain <memory-recall>x</memory-recall>"),
        ("typed [Plan mode: x] more", "typed [Plan mode: x] more"),
        ('Referenced context:\n\n<file path="a b.py">\n1 x\n</file>\n<image src=1>y</image>\n\ntyped', "typed"),
        ("Referenced context: is a phrase I use", "Referenced context: is a phrase I use"),
        (contract("typed"), "typed"),
        (contract("<memory-update>x</memory-update>\ntyped"), "typed"),
        (contract(contract("typed")), "typed"),
        ("<memory-compiler-execution>{broken</memory-compiler-execution>", None),
        ('<memory-compiler-execution>{"source_event":"typed"}</memory-compiler-execution>', "typed"),
        ("# Reasonix executor handoff\n\nOriginal task:\ntyped\n\nPlanner output:\n1. x", "typed"),
        (
            "# Reasonix executor handoff\n\nOriginal task:\n<active-goal>x</active-goal>\ntyped\n\nPlanner output:\nx",
            "typed",
        ),
        (f"{STEER}\nuse plan B", "use plan B"),
        (f"<response-language>de</response-language>\n{STEER}\nuse plan B", "use plan B"),
        (f"hey {STEER}\nx", f"hey {STEER}\nx"),
        (f"{STEER}\nA tool failed. Use read-only diagnosis as needed", None),
        ("   ", None),
        ("typed", "typed"),
    ],
)
def test_what_the_program_adds_is_taken_off_only_where_it_adds_it(content: str, text: str | None) -> None:
    assert typed(content) == text


@pytest.mark.parametrize("prefix", SYNTHETIC)
def test_a_message_that_the_program_wrote_itself_is_nobodys_text(prefix: str) -> None:
    assert typed(f"<background-jobs>x</background-jobs>\n{prefix} and so on") is None
    assert typed(f"I read: {prefix}") == f"I read: {prefix}"


def test_contracts_in_contracts_are_unwrapped() -> None:
    text = "deep"
    for _ in range(10):
        text = contract(text)
    assert typed(text) == "deep"
