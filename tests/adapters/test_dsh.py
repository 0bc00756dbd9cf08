"""DSH: where sessions lie, which generation counts, and what of an event log is conversation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, Conversation, collect
from hypothesis import given, settings
from hypothesis import strategies as st
from test_base import append, packed

from erstwhile.adapters.base import Reread
from erstwhile.adapters.dsh import Dsh
from erstwhile.model import Root, Source

DSH = Dsh()
FIXTURES = Path(__file__).parent.parent / "fixtures" / "dsh"


class Log:
    """A log under construction: a header and events with running seqs."""

    def __init__(self, version: int = 0, **header: Any) -> None:
        self.rows: list[dict[str, Any]] = [
            {"type": "session", "version": version, "id": "s1", "createdAt": 1793700000000, "cwd": "/p", **header}
        ]
        self.seq = 0

    def add(self, type: str, data: dict[str, Any] | None = None, **more: Any) -> int:  # noqa: A002 - the field's name
        row = {"type": type, "seq": self.seq, "time": 1793700000000 + self.seq, "data": data or {}, **more}
        self.rows.append(row)
        self.seq = row["seq"] + 1
        return row["seq"]

    def user(self, text: str, kind: str = "user", op: Any = "append", **message: Any) -> int:
        data = {"role": "user", "content": [block(text)], "source": {"kind": kind}, **message}
        return self.add("user/message", data, surfaceOp=op)

    def said(self, *blocks: dict[str, Any], **message: Any) -> int:
        message = {"role": "assistant", "content": list(blocks), "source": {"kind": "model", "model": "m"}, **message}
        return self.add("assistant/message", {"message": message}, surfaceOp="append")

    def called(self, call: str, name: str = "bash", arguments: Any = "{}") -> int:
        return self.add("tool/call", {"callId": call, "name": name, "arguments": arguments})

    def result(self, call: str, text: str, error: bool = False) -> int:
        answer = {"type": "tool-result", "toolCallId": call, "content": [block(text)], "isError": error}
        return self.add("tool/result", {"message": {"role": "user", "content": [answer]}}, surfaceOp="append")

    @property
    def lines(self) -> list[str]:
        return [json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows]

    def read(self, folder: Path) -> Conversation:
        return only(self.collect(folder))

    def collect(self, folder: Path) -> Collected:
        return collect(DSH.read(self.source(folder)))

    def source(self, folder: Path, lines: list[str] | None = None) -> Source:
        path = folder / "session.jsonl"
        path.write_text("".join(self.lines if lines is None else lines), encoding="utf-8")
        return Source("dsh", str(path), "")


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(name: str, arguments: Any = "{}", tool: str = "bash") -> dict[str, Any]:
    return {"type": "tool-call", "id": name, "name": tool, "arguments": arguments}


def only(collected: Collected) -> Conversation:
    (session,) = collected.sessions.values()
    return session


def shape(session: Conversation) -> list[tuple[int, str, str, str | None]]:
    return [(i.index, i.kind, i.text, i.state) for i in session.items]


# -- sources -----------------------------------------------------------------------------------------------------------


def paths(root: Path | str, role: str | None = None) -> list[str]:
    return [s.path for s in DSH.sources(Root(str(root), role))]


def test_a_home_its_sessions_a_project_and_a_session_folder_are_all_roots() -> None:
    home = FIXTURES / "home" / ".dsh"
    everything = paths(home)
    assert len(everything) == 3
    assert paths(home / "sessions") == everything
    shop = home / "sessions" / "--home-dev-shop--"
    assert paths(shop) == [p for p in everything if p.startswith(str(shop) + os.sep)]
    assert paths(os.path.dirname(everything[0])) == everything[:1]
    slugs = [s.slug for s in DSH.sources(Root(str(home)))]
    assert slugs == ["--home-dev-my~0020site--", "--home-dev-shop--", "--home-dev-shop--"]
    assert [s.slug for s in DSH.sources(Root(str(shop), "project"))] == ["--home-dev-shop--"] * 2
    assert [s.slug for s in DSH.sources(Root(os.path.dirname(everything[0])))] == slugs[:1]
    assert {s.role for s in DSH.sources(Root(str(shop), "project"))} == {"project"}


def test_the_highest_generation_of_a_session_counts(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "--p--" / "s1"
    folder.mkdir(parents=True)
    for name in ("session.jsonl.zstd", "session.v3.jsonl", "session.v10.jsonl.zstd", "session.v9.jsonl.zstd"):
        (folder / name).write_bytes(b"")
    for name in ("session.lock", "session.v11.jsonl.zstd.tmp", "session.vX.jsonl", "other.jsonl"):
        (folder / name).write_bytes(b"")
    assert paths(tmp_path) == [str(folder / "session.v10.jsonl.zstd")]


def test_of_a_plain_and_a_packed_log_the_one_written_last_counts(tmp_path: Path) -> None:
    folder = tmp_path / "--p--" / "s1"
    folder.mkdir(parents=True)
    for second, name in enumerate(("session.jsonl.zstd", "session.jsonl")):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (second, second))
    assert paths(tmp_path) == [str(folder / "session.jsonl")]


def test_a_stamp_changes_with_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "--p--" / "s1"
    folder.mkdir(parents=True)
    log = Log()
    log.user("a")
    log.source(folder)
    (before,) = DSH.sources(Root(str(tmp_path)))
    append(folder / "session.jsonl", "{}\n")
    (after,) = DSH.sources(Root(str(tmp_path)))
    assert before.stamp != after.stamp
    assert after.size == before.size + 3


def test_a_linked_log_is_listed_as_excluded_and_a_linked_folder_is_not_entered(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "session.jsonl").write_bytes(b"")
    folder = tmp_path / "root" / "--p--" / "s1"
    folder.mkdir(parents=True)
    os.symlink(outside / "session.jsonl", folder / "session.jsonl")
    os.symlink(outside, tmp_path / "root" / "--p--" / "s2")
    (source,) = DSH.sources(Root(str(tmp_path / "root")))
    assert source.excluded == "a symbolic link"


def test_a_missing_root_is_an_error_of_that_root(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        list(DSH.sources(Root(str(tmp_path / "none"))))


def test_the_home_moves_with_its_variable() -> None:
    assert DSH.homes({"HOME": "/home/dev"}) == ["/home/dev/.dsh"]
    assert DSH.homes({"HOME": "/home/dev", "DSH_HOME": "/data/dsh"}) == ["/data/dsh"]


@pytest.mark.parametrize(
    ("folder", "slug"),
    [
        ("/home/dev/my site", "--home-dev-my~0020site--"),
        ("/home//dev/a-b_c.d", "--home-dev-a-b_c.d--"),
        (r"C:\src\app", "--C-src-app--"),
        ("/home/dev/数据😀", "--home-dev-~6570~636E~D83D~DE00--"),
        ("/", "--root--"),
    ],
)
def test_a_project_folder_is_encoded_forward(folder: str, slug: str) -> None:
    assert DSH.slug(folder) == slug


def test_a_session_is_continued_by_its_id() -> None:
    assert DSH.resume("session-1", "/p") == ["dsh", "--resume", "session-1"]


# -- the surface -------------------------------------------------------------------------------------------------------


def test_every_surface_message_has_an_index_and_only_what_was_said_has_parts(tmp_path: Path) -> None:
    log = Log(version=4)
    log.add("system/message", {"message": {"content": [block("system")]}}, surfaceOp="append")
    log.add("developer/message", {"message": {"content": [block("developer")]}}, surfaceOp="append")
    log.user("AGENTS", "plugin")
    log.user("ask")
    log.said({"type": "reasoning", "text": "think"}, block("answer"))
    session = log.read(tmp_path)
    assert shape(session) == [
        (3, "user_text", "ask", None),
        (4, "reasoning", "think", None),
        (4, "assistant_text", "answer", None),
    ]
    assert session.count == 5
    assert session.head.model == "m"
    assert session.items[0].time == 1793700000.003


def test_a_replacement_shadows_a_range_and_a_plugins_one_is_a_summary(tmp_path: Path) -> None:
    log = Log(version=3)
    a, b, c = log.user("a"), log.user("b"), log.user("c")
    log.user("sum", "plugin", op={"op": "replace", "startSeq": a, "endSeq": b})
    log.user("edited", op={"op": "replace", "start": c, "end": c})
    log.user("next")
    assert [(i.text, i.kind, i.state) for i in log.read(tmp_path).items] == [
        ("a", "user_text", "shadowed"),
        ("b", "user_text", "shadowed"),
        ("c", "user_text", "shadowed"),
        ("sum", "summary", None),
        ("edited", "user_text", None),
        ("next", "user_text", None),
    ]


def test_a_summary_that_stands_before_kept_messages_is_replaced_with_them(tmp_path: Path) -> None:
    log = Log()
    a, b = log.user("a"), log.user("b")
    first = log.user("one", "plugin", op={"op": "replace", "start": a, "end": a})
    log.user("two", "plugin", op={"op": "replace", "start": first, "end": b})
    states = {i.text: i.state for i in log.read(tmp_path).items}
    assert states == {"a": "shadowed", "b": "shadowed", "one": "shadowed", "two": None}


def test_a_call_is_given_once_with_the_message_that_made_it(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.said(block("I run it."), call("c1", '{"x":1}'))
    log.called("c1", arguments='{"x":1}')
    log.result("c1", "boom", error=True)
    session = log.read(tmp_path)
    assert [(i.index, i.kind, i.text, i.tool) for i in session.items[1:]] == [
        (1, "assistant_text", "I run it.", None),
        (1, "tool_input", 'bash {"x":1}', "bash"),
        (2, "tool_error", "boom", "bash"),
    ]


def test_a_call_without_its_own_event_is_taken_from_the_message(tmp_path: Path) -> None:
    log = Log()
    log.said(call("c1"), call("c2", {"deep": [1]}))
    log.result("c2", "out")
    log.user("next")
    log.said(call("c3"))
    assert [(i.index, i.kind, i.text) for i in log.read(tmp_path).items] == [
        (0, "tool_input", 'bash {"deep":[1]}'),
        (1, "tool_output", "out"),
        (0, "tool_input", "bash {}"),
        (2, "user_text", "next"),
        (3, "tool_input", "bash {}"),
    ]


def test_a_call_of_no_message_is_kept(tmp_path: Path) -> None:
    log = Log()
    log.called("x1", "grep", '{"pattern":"a"}')
    log.result("x1", "hit")
    assert [(i.index, i.kind, i.tool) for i in log.read(tmp_path).items] == [
        (0, "tool_input", "grep"),
        (1, "tool_output", "grep"),
    ]


def test_the_oldest_shapes_are_read(tmp_path: Path) -> None:
    log = Log()
    log.add("user/message", {"content": "plain"})
    log.add("steering/message", {"content": [block("steer")]})
    log.add("assistant/message", {"content": [block("flat"), call("c1")], "provenance": {"model": "old"}})
    log.add("tool/result", {"callId": "c1", "content": "text", "isError": True})
    log.add("tool/result", {"callId": "c9", "content": [], "error": {"name": "Tool", "code": "GONE"}})
    session = log.read(tmp_path)
    assert [(i.kind, i.text) for i in session.items] == [
        ("user_text", "plain"),
        ("user_text", "steer"),
        ("assistant_text", "flat"),
        ("tool_input", "bash {}"),
        ("tool_error", "text"),
        ("tool_error", "Tool GONE"),
    ]
    assert session.head.model == "old"


def test_a_message_of_only_an_image_gives_its_media_type_and_no_bytes(tmp_path: Path) -> None:
    log = Log()
    image = {"type": "image", "attachment": {"id": "a", "mimeType": "image/png"}, "data": "QUJD"}
    log.add("user/message", {"content": [image], "source": {"kind": "user"}}, surfaceOp="append")
    assert [i.text for i in log.read(tmp_path).items] == ["[image/png]"]


# -- copies ------------------------------------------------------------------------------------------------------------


def test_a_seeded_v0_fork_inherits_what_lies_below_its_seed(tmp_path: Path) -> None:
    log = Log(parentSession="s0", seedLength=2)
    a = log.user("a", id="m1")
    log.said(block("b"), id="m2")
    log.user("c", id="m3")
    log.user("sum", "plugin", op={"op": "replace", "start": a, "end": a + 2})
    session = log.read(tmp_path)
    assert (session.head.parent, session.head.relation) == ("dsh:s0", "fork")
    assert [(i.text, i.state, i.record) for i in session.items] == [
        ("a", "inherited", "m1"),
        ("b", "inherited", "m2"),
        ("c", "shadowed", "m3"),
        ("sum", None, None),
    ]


def test_a_later_fork_inherits_up_to_the_last_end_of_its_seed(tmp_path: Path) -> None:
    log = Log(version=3, parentSession="s0", isSeeded=True)
    for text in ("a", "b"):
        log.user(text)
        log.add("session/end-seed", {"inherited": True})
    log.user("c")
    log.add("session/end-seed", {"inherited": False})
    assert [i.state for i in log.read(tmp_path).items] == ["inherited", "inherited", None]


def test_a_subagent_is_told_from_a_fork(tmp_path: Path) -> None:
    head = Log(origin="subagent", parentSession="s0", delegationDepth=1).read(tmp_path).head
    assert (head.parent, head.relation) == ("dsh:s0", "subagent")


# -- titles, damage ----------------------------------------------------------------------------------------------------


def test_the_last_title_wins_and_a_first_question_cut_short_is_none(tmp_path: Path) -> None:
    log = Log()
    log.user("why?")
    log.add("session/title", {"title": "why", "source": {"kind": "fallback"}})
    assert log.read(tmp_path).head.title is None
    log.add("session/title", {"title": "A", "source": {"kind": "provider"}})
    log.add("session/title", {"title": "B", "source": {"kind": "user"}})
    assert log.read(tmp_path).head.title == "B"


def test_packed_rows_take_their_seqs(tmp_path: Path) -> None:
    log = Log()
    log.user("a")
    log.rows.append({"type": "text-chunks", "seq0": 1, "time0": 1, "data": {"dt": [1, 1], "texts": ["x", "y", "z"]}})
    log.rows.append({"type": "tool-call-chunks", "seq0": 4, "data": {"dt": [], "args": ["{}"]}})
    log.seq = 5
    log.user("b")
    collected = log.collect(tmp_path)
    assert collected.skipped == []
    assert [i.text for i in only(collected).items] == ["a", "b"]


def test_a_gap_in_the_seqs_is_reported_and_what_follows_is_read(tmp_path: Path) -> None:
    log = Log()
    log.user("a")
    log.seq = 5
    log.user("b")
    collected = log.collect(tmp_path)
    assert [(s.line, s.reason) for s in collected.skipped] == [(3, "seq 5 where 1 was due")]
    assert [i.text for i in only(collected).items] == ["a", "b"]


def test_a_repeated_record_is_kept_once(tmp_path: Path) -> None:  # C22, ctxrs/ctx #663
    log = Log()
    log.user("a")
    log.rows.append(log.rows[-1])
    log.user("b")
    collected = log.collect(tmp_path)
    assert [i.text for i in only(collected).items] == ["a", "b"]
    assert [s.line for s in collected.skipped] == [3]


def test_a_broken_line_costs_only_itself_and_one_report(tmp_path: Path) -> None:  # C26
    log = Log()
    for text in "abcd":
        log.user(text)
    lines = log.lines
    lines[2] = lines[2][:20] + "\n"
    collected = collect(DSH.read(log.source(tmp_path, lines)))
    assert [i.text for i in only(collected).items] == ["a", "c", "d"]
    assert [s.line for s in collected.skipped] == [3]


def test_unknown_events_are_counted_unless_the_writer_says_they_may_be_ignored(tmp_path: Path) -> None:
    log = Log()
    log.add("new/thing")
    log.add("new/thing")
    log.add("third-party/thing", ignorable=True)
    assert log.collect(tmp_path).unknown == {"new/thing": 2}


def test_a_log_without_its_header_is_named_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "--p--" / "~501F~7528~0020x~002F1"
    folder.mkdir(parents=True)
    log = Log()
    log.user("a")
    collected = collect(DSH.read(log.source(folder, ["garbage\n", *log.lines[1:]])))
    assert [(s.head.id, len(s.items)) for s in collected.sessions.values()] == [("dsh:借用 x/1", 1)]


def test_an_empty_log_gives_no_session(tmp_path: Path) -> None:
    assert collect(DSH.read(Log().source(tmp_path, []))).sessions == {}


# -- two reads ---------------------------------------------------------------------------------------------------------


def conversation() -> Log:
    """A log with everything that a second read must remember."""
    log = Log(parentSession="s0", seedLength=1)
    a = log.user("a 登录")
    log.add("session/title", {"title": "T1", "source": {"kind": "provider"}})
    log.said({"type": "reasoning", "text": "think"}, block("run"), call("c1"), call("c2"))
    log.called("c1")
    log.result("c1", "one")
    log.called("c2")
    log.result("c2", "two", error=True)
    log.rows.append({"type": "text-chunks", "seq0": log.seq, "data": {"dt": [1], "texts": ["x", "y"]}})
    log.seq += 2
    log.user("sum", "plugin", op={"op": "replace", "start": a, "end": log.seq - 3})
    log.add("new/thing")
    log.said(block("b"), call("c3"))
    log.user("next")
    log.called("c3")
    log.add("session/title", {"title": "T2", "source": {"kind": "user"}})
    log.add("session/end-seed", {"inherited": True})
    log.said(call("c4"))
    return log


def in_two(source: Source, rest: bytes) -> tuple[Collected, bool]:
    """What two reads give with `rest` appended between them, and whether the second was a full one."""
    first = collect(DSH.read(source))
    append(Path(source.path), rest)
    if first.resume is None:
        return collect(DSH.read(source)), True
    kept = json.loads(json.dumps(first.resume))
    try:
        second = collect(DSH.read(source, first.resume), first)
    except Reread:
        return collect(DSH.read(source)), True
    assert first.resume == kept, "a read must not change the state it was given"
    return second, False


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, len("".join(conversation().lines).encode())))
def test_a_log_read_in_two_goes_is_the_log_read_in_one(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    log = conversation()
    whole = "".join(log.lines).encode()
    source = log.source(folder)
    full = collect(DSH.read(source))
    (folder / "session.jsonl").write_bytes(whole[:cut])
    got, _ = in_two(source, whole[cut:])
    assert (got.sessions, got.skipped, got.unknown) == (full.sessions, full.skipped, full.unknown)
    assert got.resume == full.resume


def test_a_packed_log_can_be_cut_at_every_frame(tmp_path: Path) -> None:
    lines = conversation().lines
    frames = [packed(line) for line in lines]
    source = Source("dsh", str(tmp_path / "session.jsonl.zstd"), "")
    Path(source.path).write_bytes(b"".join(frames))
    full = collect(DSH.read(source))
    resumed = 0
    for cut in range(len(frames) + 1):
        Path(source.path).write_bytes(b"".join(frames[:cut]))
        got, again = in_two(source, b"".join(frames[cut:]))
        assert (got.sessions, got.unknown, got.resume) == (full.sessions, full.unknown, full.resume)
        resumed += not again
    assert resumed >= len(frames) - 5  # but for the empty file and for calls whose own event was still to come
