"""Claude Code: what expected.json does not show."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, collect
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters._claude_text import prompt
from erstwhile.adapters.base import Reread
from erstwhile.adapters.claude_code import ClaudeCode
from erstwhile.model import Root, Source, Title

FIXTURES = Path(__file__).parent.parent / "fixtures/claude-code"
SESSION = "5b1f7c52-3c1e-4c8e-9b7a-0d5a0c0ffee1"
ADAPTER = ClaudeCode()


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "message": message, **more}


def assistant(uuid: str, parent: str | None, answer: str, *blocks: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"id": answer, "role": "assistant", "model": "claude-x", "content": content}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "message": message, **more}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": {"command": name}}


def outcome(name: str, text: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": text, **more}]


def attachment(uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "attachment": more}


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.writelines(json.dumps(r).encode() + b"\n" for r in records)
    return path


def read(path: Path, earlier: Collected | None = None) -> Collected:
    """What the file gives; with `earlier`, what reading on from there gives."""
    return collect(ADAPTER.read(Source(ADAPTER.name, str(path), ""), earlier.resume if earlier else None), earlier)


def texts(got: Collected, session: str = SESSION) -> list[tuple[str, str | None]]:
    return [(i.text, i.state) for i in got.sessions[f"claude-code:{session}"].items]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "projects/-home-dev-shop" / f"{SESSION}.jsonl"


# -- the tree ----------------------------------------------------------------------------------------------------------


def test_results_of_parallel_calls_are_siblings_and_not_abandoned(file: Path) -> None:
    write(
        file,
        user("u1", None, "write two files"),
        assistant("a1", "u1", "m1", call("one")),
        assistant("a2", "a1", "m1", call("two")),
        user("r1", "a1", outcome("one", "first written")),
        attachment("h1", "r1", type="hook_success"),
        user("r2", "a2", outcome("two", "second written")),
        assistant("a3", "r2", "m2", "both written"),
    )
    assert {state for _, state in texts(read(file))} == {None}


def test_a_question_asked_again_abandons_everything_after_the_first_one(file: Path) -> None:
    write(
        file,
        user("u1", None, "start"),
        assistant("a1", "u1", "m1", "started"),
        user("u2", "a1", "delete it"),
        assistant("a2", "u2", "m2", call("rm")),
        user("r2", "a2", outcome("rm", "gone")),
        attachment("q2", "r2", type="queued_command", prompt="stop that", commandMode="prompt"),
        attachment("x", "a1", type="environment"),
        user("u3", "x", "keep it"),
        assistant("a3", "u3", "m3", "kept"),
    )
    gone = {"delete it", 'Bash {"command":"rm"}', "gone", "stop that"}
    assert {text for text, state in texts(read(file)) if state == "abandoned"} == gone


def test_a_branch_that_was_taken_up_again_is_the_live_one(file: Path) -> None:
    write(
        file,
        user("u1", None, "start"),
        assistant("a1", "u1", "m1", "first answer"),
        assistant("b1", "u1", "m2", "second answer"),
        user("u2", "a1", "go on with the first"),
    )
    assert [t for t, state in texts(read(file)) if state] == ["second answer"]


def test_a_compaction_is_no_fork(file: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None}
    write(
        file,
        user("u1", None, "start"),
        assistant("a1", "u1", "m1", "started"),
        boundary | {"logicalParentUuid": "a1"},
        user(
            "s", "c", "This session is being continued from a previous conversation: all of it", isCompactSummary=True
        ),
        assistant("a2", "s", "m2", "going on"),
    )
    got = read(file)
    assert {state for _, state in texts(got)} == {None}
    assert [i.kind for i in got.sessions[f"claude-code:{SESSION}"].items].count("summary") == 1


def test_a_side_chain_inside_the_main_file_stays_and_is_not_abandoned(file: Path) -> None:
    write(
        file,
        user("u1", None, "look around"),
        assistant("a1", "u1", "m1", call("task")),
        user("s1", None, "Warmup", isSidechain=True),
        assistant("s2", "s1", "m2", "ready", isSidechain=True),
        user("r1", "a1", outcome("task", "looked")),
        assistant("a2", "r1", "m3", "nothing there"),
    )
    assert {state for _, state in texts(read(file))} == {None}


def test_reading_on_takes_only_the_new_records(file: Path) -> None:
    write(file, user("u1", None, "first"), assistant("a1", "u1", "m1", "one", call("ls")))
    before = read(file)
    write(file, assistant("a2", "a1", "m1", call("pwd")), user("r1", "a1", outcome("ls", "x", is_error=True)))
    after = read(file, before)
    items = after.sessions[f"claude-code:{SESSION}"].items
    assert [(i.index, i.kind, i.tool) for i in items[3:]] == [(1, "tool_input", "Bash"), (2, "tool_error", "Bash")]
    assert len(json.dumps(after.resume)) < 2000


def test_reading_on_after_the_user_went_back_is_refused(file: Path) -> None:
    write(file, user("u1", None, "first"), assistant("a1", "u1", "m1", "one"), user("u2", "a1", "second"))
    before = read(file)
    write(file, user("u3", "a1", "instead"))
    with pytest.raises(Reread):
        read(file, before)
    assert texts(read(file)) == [("first", None), ("one", None), ("second", "abandoned"), ("instead", None)]


def test_a_record_written_twice_is_kept_once(file: Path) -> None:
    """C22, ctxrs/ctx #663."""
    question = user("u1", None, "only once")
    write(file, question, question, assistant("a1", "u1", "m1", "yes"))
    assert texts(read(file)) == [("only once", None), ("yes", None)]


# -- reading in pieces -------------------------------------------------------------------------------------------------

TRANSCRIPTS = [p for p in sorted((FIXTURES / "home/.claude/projects").rglob("*.jsonl")) if p.name != "journal.jsonl"]


def in_pieces(data: bytes, cuts: list[int], path: Path) -> Collected:
    """The file read each time it has grown to the next cut; a refused tail starts over."""
    got: Collected | None = None
    path.write_bytes(b"")
    for start, end in zip([0, *cuts], [*cuts, len(data)]):
        with path.open("ab") as file:
            file.write(data[start:end])
        try:
            got = read(path, got)
        except Reread:
            got = read(path)
    assert got is not None
    return got


def tree(steps: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """Records of the given kinds, each after the one `back` records before it, with every kind of predecessor."""
    made: list[dict[str, Any]] = []
    for n, (kind, back) in enumerate(steps):
        parent = made[-back]["uuid"] if 0 < back <= len(made) else None
        uuid, text = f"r{n}", f"text {n}"
        if kind == "user":
            made.append(user(uuid, parent, text))
        elif kind == "result":
            made.append(user(uuid, parent, outcome(str(n), text)))
        elif kind == "queued":
            made.append(attachment(uuid, parent, type="queued_command", prompt=text))
        elif kind == "link":
            made.append(attachment(uuid, parent, type="environment"))
        elif kind == "again" and made:
            made.append(made[-back] if 0 < back <= len(made) else made[0])
        else:
            made.append(assistant(uuid, parent, f"m{n if kind == 'new' else n // 3}", text))
    return made


STEP = st.tuples(
    st.sampled_from(["user", "new", "more", "result", "queued", "link", "again"]),
    st.sampled_from([1, 1, 1, 1, 2, 3, 5, 0]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(STEP, min_size=2, max_size=14), st.integers(1, 12), st.integers(1, 12))
def test_any_tree_read_in_pieces_gives_what_one_read_gives(steps: list[tuple[str, int]], one: int, two: int) -> None:
    lines = [json.dumps(record).encode() + b"\n" for record in tree(steps)]
    cuts = sorted(sum(map(len, lines[:n])) for n in (one, two))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{SESSION}.jsonl")
        pieces, once = in_pieces(b"".join(lines), cuts, path), read(path)
    assert pieces.sessions == once.sessions


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_read_in_pieces_gives_what_one_read_gives(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(TRANSCRIPTS)).read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), min_size=1, max_size=2)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{SESSION}.jsonl")
        pieces, once = in_pieces(whole, cuts, path), read(path)
    assert pieces.sessions == once.sessions
    assert pieces.skipped == once.skipped
    assert pieces.unknown == once.unknown


# -- text --------------------------------------------------------------------------------------------------------------


QUOTED = "<system-reminder>x</system-reminder>"
MODEL = """<command-name>/model</command-name>
            <command-message>model</command-message>
            <command-args>opus</command-args>"""
REVIEW = """<command-message>review is running…</command-message>
<command-name>/review</command-name>
<command-args>PR 7</command-args>"""


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("plain", "plain"),
        ("a < b and b > c", "a < b and b > c"),
        ("why\n<system-reminder>\nx\n</system-reminder>", "why"),
        (f"{QUOTED}\n\nwhy", "\nwhy"),
        (f"{QUOTED} is in my log, why?", f"{QUOTED} is in my log, why?"),
        (f"what does {QUOTED} do", f"what does {QUOTED} do"),
        (f"it ends in {QUOTED}", f"it ends in {QUOTED}"),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>", ""),
        ("<bash-input>git push</bash-input>", "git push"),
        ("<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>", ""),
        ("<local-command-stdout>Set model</local-command-stdout>", ""),
        ("<task-notification>\n<id>1</id>\n</task-notification>", ""),
        (MODEL, ""),
        (REVIEW, "/review PR 7"),
        ("<command-message>commit</command-message>\n<command-name>/commit</command-name>", "/commit"),
        ("[Request interrupted by user for tool use]", ""),
        ("Stop hook feedback:\n- tests fail", ""),
        ("Caveat: The messages below were generated by the user while running local commands. DO NOT respond", ""),
        ("<unclosed> <system-reminder> tag", "<unclosed> <system-reminder> tag"),
    ],
)
def test_only_what_the_person_wrote_is_kept_of_a_prompt(written: str, kept: str) -> None:
    assert prompt(written) == kept


def test_host_notes_give_no_parts_and_errors_of_the_service_do(file: Path) -> None:
    write(
        file,
        user("u1", None, "go"),
        assistant("a1", "u1", "m1", "API Error: 529 overloaded", isApiErrorMessage=True),
        assistant("a2", "a1", "m2", "No response requested."),
        user("u2", "a2", "injected", isMeta=True),
        user("u3", "u2", [{"type": "text", "text": "done"}], origin={"kind": "task-notification"}),
    )
    got = read(file)
    assert texts(got) == [("go", None), ("API Error: 529 overloaded", None)]
    assert got.sessions[f"claude-code:{SESSION}"].count == 5


def test_an_image_gives_its_media_type_and_never_its_bytes(file: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8" * 100}}
    write(
        file,
        user("u1", None, [image]),
        assistant("a1", "u1", "m1", call("shot")),
        user("r1", "a1", outcome("shot", [{"type": "text", "text": "taken"}, image])),
    )
    assert [t for t, _ in texts(read(file))] == ["[image/png]", 'Bash {"command":"shot"}', "taken\n[image/png]"]


def stub(path: str) -> str:
    saved = f"Output too large (52.3KB). Full output saved to: {path}"
    return f"<persisted-output>\n{saved}\n\nPreview (first 2KB):\nline 1\n</persisted-output>"


def test_a_spilled_output_is_read_from_the_sessions_own_folder(file: Path) -> None:
    saved = file.with_suffix("") / "tool-results/toolu_big.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text("line 1\nthe needle\n", encoding="utf-8")
    elsewhere = f"/home/other/.claude/projects/-x/{SESSION}/tool-results/toolu_big.txt"
    write(file, user("u1", None, "go"), user("r1", "u1", outcome("big", stub(elsewhere))))
    assert texts(read(file))[1] == ("line 1\nthe needle\n", None)


@pytest.mark.parametrize(
    "path", ["tool-results/../../secret.txt", "/etc/hostname", "tool-results/link.txt", "tool-results/"]
)
def test_a_spilled_output_outside_the_sessions_folder_is_not_read(file: Path, path: str) -> None:
    folder = file.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    for secret in (file.parent / "secret.txt", file.with_suffix("") / "secret.txt"):
        secret.write_text("secret", encoding="utf-8")
    (folder / "link.txt").symlink_to(file.parent / "secret.txt")
    write(file, user("u1", None, "go"), user("r1", "u1", outcome("big", stub(path))))
    assert texts(read(file))[1][0].startswith("<persisted-output>")


def test_broken_lines_and_lone_surrogates_cost_only_themselves(file: Path) -> None:
    """C26, C27: claude-code-log #139, claude-code-trace #66."""
    write(file, user("u1", None, "before \udcb2 after"), assistant("a1", "u1", "m1", "one"))
    with file.open("ab") as lines:
        lines.write(b'{"type":"user","mess\n')
    write(file, user("u2", "a1", "two"), {"type": "sparkle", "uuid": "z"})
    got = read(file)
    assert [t for t, _ in texts(got)] == ["before \ufffd after", "one", "two"]
    assert [s.line for s in got.skipped] == [3]
    assert got.unknown == {"sparkle": 1}


# -- heads -------------------------------------------------------------------------------------------------------------


def test_a_summary_of_another_file_titles_the_session_that_holds_its_last_record(file: Path) -> None:
    write(file, {"type": "summary", "summary": "Old talk", "leafUuid": "elsewhere"})
    got = read(file)
    assert got.titles == [Title("Old talk", record="elsewhere")]
    assert not got.sessions


def test_old_resumed_copies_and_branches_name_their_parent(file: Path) -> None:
    old = "11111111-2222-4333-8444-555555555555"
    write(file, user("u1", None, "go") | {"sessionId": old}, user("u2", "u1", "on"))
    head = read(file).sessions[f"claude-code:{SESSION}"].head
    assert (head.parent, head.relation) == (f"claude-code:{old}", "resume")
    branch = write(
        file.with_name("b.jsonl"), user("u1", None, "go", forkedFrom={"sessionId": old, "messageUuid": "u1"})
    )
    head = read(branch).sessions["claude-code:b"].head
    assert (head.parent, head.relation) == (f"claude-code:{old}", "fork")


def test_an_old_subagent_file_in_the_project_folder_belongs_to_the_session_it_names(file: Path) -> None:
    path = write(
        file.with_name("agent-0b1c2d3e.jsonl"), user("s1", None, "Warmup", isSidechain=True, agentId="0b1c2d3e")
    )
    session = read(path).sessions["claude-code:agent-0b1c2d3e"]
    assert (session.head.parent, session.head.relation) == (f"claude-code:{SESSION}", "subagent")
    assert [i.text for i in session.items] == ["Warmup"]


def test_subagents_of_one_parent_are_sessions_of_their_own(file: Path) -> None:
    """C23, cass #142."""
    below = file.with_suffix("") / "subagents"
    found = [read(write(below / f"agent-{n}.jsonl", user("s1", None, f"task {n}", agentId=n))) for n in ("aa", "bb")]
    assert [list(f.sessions) for f in found] == [["claude-code:agent-aa"], ["claude-code:agent-bb"]]


# -- listing -----------------------------------------------------------------------------------------------------------


def test_a_root_may_be_the_home_the_projects_or_one_project() -> None:
    home = FIXTURES / "home/.claude"
    for root, count in ((home, 6), (home / "projects", 6), (home / "projects/-home-dev-shop", 5)):
        sources = list(ADAPTER.sources(Root(str(root), "project")))
        assert len(sources) == count, root
        assert {s.role for s in sources} == {"project"}
        assert {s.slug for s in sources} <= {"-home-dev-shop", "-home-dev----lab"}


def test_a_subagent_lies_in_its_projects_folder_however_deep() -> None:
    sources = ADAPTER.sources(Root(str(FIXTURES / "home/.claude")))
    assert {s.slug for s in sources if "subagents" in s.path} == {"-home-dev-shop"}


def test_side_files_change_the_stamp(tmp_path: Path, file: Path) -> None:
    agent = write(file.with_suffix("") / "subagents/agent-aa.jsonl", user("s1", None, "go"))
    write(file, user("u1", None, "go"))

    def stamps() -> dict[str, str]:
        return {os.path.basename(s.path): s.stamp for s in ADAPTER.sources(Root(str(tmp_path)))}

    first = stamps()
    agent.with_suffix(".meta.json").write_text('{"description": "Audit"}', encoding="utf-8")
    (file.with_suffix("") / "tool-results").mkdir()
    second = stamps()
    assert all(first[name] != second[name] for name in (file.name, agent.name))
    assert read(agent).sessions["claude-code:agent-aa"].head.title == "Audit"


def test_a_link_is_listed_but_not_for_reading(tmp_path: Path, file: Path) -> None:
    outside = write(tmp_path / "outside.jsonl", user("u1", None, "secret"))
    file.parent.mkdir(parents=True)
    file.symlink_to(outside)
    assert [s.excluded for s in ADAPTER.sources(Root(str(tmp_path / "projects")))] == ["a link"]


def test_the_agents_variable_moves_its_home() -> None:
    assert ADAPTER.homes({"HOME": "/home/dev"}) == ["/home/dev/.claude", "/home/dev/.config/claude"]
    assert ADAPTER.homes({"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": "/srv/claude"}) == ["/srv/claude"]


def test_a_project_folder_is_encoded_forward() -> None:
    """C39."""
    assert ADAPTER.slug("/home/u/my-app.v2_x") == "-home-u-my-app-v2-x"
    assert ADAPTER.slug("C:\\src\\my-app") == "C--src-my-app"


def test_a_session_can_be_continued_and_a_subagent_cannot() -> None:
    assert ADAPTER.resume(SESSION, "/home/dev") == ["claude", "--resume", SESSION]
    assert ADAPTER.resume("agent-a9f31c2d", None) is None
