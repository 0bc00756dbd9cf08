"""Pi: what expected.json does not show."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from collect import Conversation, collect
from growth import cut, facts, growing, lines, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.adapters.base import Reread
from erstwhile.adapters.pi import Pi
from erstwhile.model import Root, Source

PI = Pi()
FOLDER = "--home-dev-shop--"
NAME = "2026-11-03T08-00-00-000Z_0a1b2c3d-0000-4000-8000-aaaaaaaaaaaa.jsonl"
NATIVE = "0a1b2c3d-0000-4000-8000-aaaaaaaaaaaa"
HEADER = {"type": "session", "version": 3, "id": NATIVE, "timestamp": "2026-11-03T08:00:00Z", "cwd": "/home/dev/shop"}


class Tree:
    """A session under construction; each entry follows the last one unless told otherwise."""

    def __init__(self, **header: Any) -> None:
        self.rows: list[dict[str, Any]] = [{**HEADER, **header}]
        self.leaf: str | None = None

    def add(self, kind: str, parent: str | None = "leaf", **more: Any) -> str:
        key = f"{len(self.rows):08x}"
        above = self.leaf if parent == "leaf" else parent
        row = {"type": kind, "id": key, "parentId": above, "timestamp": f"2026-11-03T08:{len(self.rows) % 60:02}:00Z"}
        self.rows.append({**row, **more})
        self.leaf = key
        return key

    def said(self, role: str, content: Any, parent: str | None = "leaf", **more: Any) -> str:
        return self.add("message", parent, message={"role": role, "content": content, **more})

    def read(self, folder: Path) -> Conversation:
        (session,) = whole(PI, self.write(folder)).sessions.values()
        return session

    def write(self, folder: Path) -> Path:
        path = folder / NAME
        path.write_bytes(lines(self.rows))
        return path


def texts(session: Conversation) -> list[tuple[str, str | None]]:
    return [(i.text, i.state) for i in session.items]


def test_an_answer_that_was_asked_for_again_abandons_the_earlier_one_and_what_followed_it(tmp_path: Path) -> None:
    tree = Tree()
    question = tree.said("user", "why?")
    tree.said("assistant", [{"type": "text", "text": "because"}])
    tree.said("user", "no")
    tree.said("assistant", [{"type": "text", "text": "better"}], question)
    assert texts(tree.read(tmp_path)) == [
        ("why?", None),
        ("because", "abandoned"),
        ("no", "abandoned"),
        ("better", None),
    ]


def test_going_on_from_a_left_branch_makes_it_live_again(tmp_path: Path) -> None:
    tree = Tree()
    question = tree.said("user", "why?")
    first = tree.said("assistant", [{"type": "text", "text": "because"}])
    tree.said("assistant", [{"type": "text", "text": "better"}], question)
    tree.said("user", "the first was right", first)
    got, again = growing(PI, tmp_path / NAME, [lines([row]) for row in tree.rows])
    assert texts(got.sessions[f"pi:{NATIVE}"])[1:3] == [("because", None), ("better", "abandoned")]
    assert again == 2


def test_a_damaged_line_does_not_abandon_what_came_before_it(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("user", "why?")
    tree.said("assistant", [{"type": "text", "text": "because"}])
    tree.said("user", "thanks")
    path = tree.write(tmp_path)
    rows = path.read_bytes().split(b"\n")
    rows[2] = rows[2][:40]
    path.write_bytes(b"\n".join(rows))
    got = whole(PI, path)
    assert texts(got.sessions[f"pi:{NATIVE}"]) == [("why?", None), ("thanks", None)]
    assert [s.line for s in got.skipped] == [3]


def test_a_session_of_the_first_version_without_ids_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / NAME
    rows = [{"type": "message", "message": {"role": "user", "content": t}} for t in ("one", "two")]
    compacted = {"type": "compaction", "summary": "both", "firstKeptEntryIndex": 1}
    path.write_bytes(
        lines([{"type": "session", "id": "old", "cwd": "/p", "branchedFrom": f"/x/{NAME}"}, *rows, compacted])
    )
    (session,) = whole(PI, path).sessions.values()
    assert [(i.kind, i.text, i.state) for i in session.items] == [
        ("user_text", "one", None),
        ("user_text", "two", None),
        ("summary", "both", None),
    ]
    assert (session.head.id, session.head.parent, session.head.relation) == ("pi:old", f"pi:{NATIVE}", "fork")


def test_copies_in_a_fork_have_the_records_of_their_originals_and_other_sessions_have_not(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("user", "same")
    original = tree.read(tmp_path).items[0].record
    fork = Tree(id="fork", parentSession=f"C:\\Users\\dev\\{NAME}")
    fork.rows.append(tree.rows[1])
    copied = fork.read(tmp_path)
    assert copied.items[0].record == original
    assert copied.head.parent == f"pi:{NATIVE}"
    other = Tree(id="other")
    other.rows.append({**tree.rows[1], "timestamp": "2026-11-09T00:00:00Z"})
    assert other.read(tmp_path).items[0].record != original


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        ('<skill name="review" location="/s/SKILL.md">\nRead all.\n</skill>\n\nthe parser', "/skill:review the parser"),
        ('<skill name="review" location="/s/SKILL.md">\nRead all.\n</skill>', "/skill:review"),
        ('<file name="/p/a.py">\nprint()\n</file>\nwhat is this?', "what is this?"),
        ('what does <file name="x"> mean?', 'what does <file name="x"> mean?'),
        ('<file name="x"> is never closed', '<file name="x"> is never closed'),
        ("<skill>s are in capitals\n</skill>", "<skill>s are in capitals\n</skill>"),
    ],
)
def test_a_skill_and_files_are_taken_off_where_pi_puts_them(tmp_path: Path, content: str, typed: str) -> None:
    tree = Tree()
    tree.said("user", [{"type": "text", "text": content}])
    assert [i.text for i in tree.read(tmp_path).items] == [typed]


def test_words_of_an_extension_are_no_ones(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("hookMessage", "reminder", display=True)
    tree.said("custom", "reminder", display=True)
    tree.add("custom_message", content="reminder", display=True)
    tree.said("user", "question")
    session = tree.read(tmp_path)
    assert [(i.index, i.text) for i in session.items] == [(3, "question")]
    assert session.count == 4


def test_a_command_of_the_persons_own_that_failed_is_an_error(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("bashExecution", None, command="ls /x", output="no such file", exitCode=2)
    assert [(i.kind, i.text, i.tool) for i in tree.read(tmp_path).items] == [
        ("tool_input", "bash ls /x", "bash"),
        ("tool_error", "no such file", "bash"),
    ]


def test_a_record_of_an_odd_shape_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("user", "before")
    for content in (7, [7], {"type": "text"}, None):
        tree.said("assistant", content)
    for role in ("user", "toolResult"):
        tree.said(role, 7)
    tree.said("branchSummary", None, summary=["x"])
    tree.add("message", message="text")
    tree.add("compaction", summary=7)
    tree.said("user", "after")
    got = whole(PI, tree.write(tmp_path))
    (session,) = got.sessions.values()
    assert texts(session) == [("before", None), ("after", None)]
    assert [s.line for s in got.skipped] == list(range(3, 12))


def test_unknown_types_and_roles_are_counted(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("user", "x")
    tree.add("teleport")
    tree.said("oracle", "y")
    tree.add("label", targetId="1", label="z")
    assert whole(PI, tree.write(tmp_path)).unknown == {"teleport": 1, "message oracle": 1}


def test_a_session_without_a_word_is_none(tmp_path: Path) -> None:
    tree = Tree()
    tree.add("model_change", provider="p", modelId="m")
    assert whole(PI, tree.write(tmp_path)).sessions == {}


def test_sessions_lie_in_project_folders_or_where_session_dir_puts_them(tmp_path: Path) -> None:
    for folder in (f"agent/sessions/{FOLDER}", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / NAME).write_bytes(b"")
    (tmp_path / f"agent/sessions/{FOLDER}/link.jsonl").symlink_to(tmp_path / "elsewhere" / NAME)
    sources = {Path(s.path).name: s for s in PI.sources(Root(str(tmp_path / "agent")))}
    assert sources[NAME].slug == FOLDER == PI.slug("/home/dev/shop")
    assert sources["link.jsonl"].excluded == "a link"
    assert [Path(s.path).name for s in PI.sources(Root(str(tmp_path / "elsewhere")))] == [NAME]


def test_the_agents_own_variable_moves_it_and_its_own_command_goes_on() -> None:
    assert PI.homes({"HOME": "/home/dev"}) == ["/home/dev/.pi/agent"]
    assert PI.homes({"HOME": "/home/dev", "PI_CODING_AGENT_DIR": "/srv/pi"}) == ["/srv/pi"]
    assert PI.resume(NATIVE, None) == ["pi", "--session", NATIVE]
    assert PI.slug("C:\\dev\\shop") == "--C--dev-shop--"


def test_a_file_that_pi_migrated_is_read_again(tmp_path: Path) -> None:
    tree = Tree()
    tree.said("user", "one")
    path = tree.write(tmp_path)
    state = whole(PI, path).resume
    path.write_bytes(path.read_bytes().replace(b'"version": 3', b'"version": 4'))
    with pytest.raises(Reread):
        collect(PI.read(Source("pi", str(path), ""), state))


STEPS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "toolResult", "title", "custom", "summary"]), st.integers(0, 9)),
    max_size=12,
)


def planted(steps: list[tuple[str, int]]) -> Tree:
    tree = Tree()
    keys: list[str] = []
    for kind, back in steps:
        parent = keys[-back] if 6 < back <= len(keys) else "leaf"
        if kind == "title":
            keys.append(tree.add("session_info", parent, name=f"t{back}"))
        elif kind == "custom":
            keys.append(tree.add("custom", parent))
        elif kind == "summary":
            keys.append(tree.add("compaction", parent, summary=f"s{back}"))
        else:
            keys.append(tree.said(kind, [{"type": "text", "text": f"{kind} {len(keys)}"}], parent, model="m"))
    return tree


@settings(max_examples=50, deadline=None)
@given(steps=STEPS, places=st.lists(st.integers(0, 5000), max_size=4))
def test_reading_while_it_grows_gives_what_one_read_gives(steps: list[tuple[str, int]], places: list[int]) -> None:
    tree = planted(steps)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        got, _ = growing(PI, path, cut(lines(tree.rows), places))
        assert facts(got) == facts(whole(PI, path))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "type", "role"]), inner, max_size=2)
    ),
    max_leaves=5,
)
FIELDS = ["type", "id", "parentId", "timestamp", "message", "summary", "name", "cwd", "parentSession", "modelId"]
TYPES = st.sampled_from(["session", "message", "compaction", "session_info", "model_change", "branch_summary"])


def test_a_header_behind_a_message_makes_no_second_session(tmp_path: Path) -> None:
    path = tmp_path / NAME
    said = {"type": "message", "id": "a", "message": {"role": "user", "content": "still found"}}
    path.write_bytes(lines([said, {"type": "session", "id": "another", "cwd": "/home/dev/shop"}]))
    (session,) = whole(PI, path).sessions.values()
    assert session.items[-1].text == "still found"


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON | TYPES, max_size=6), max_size=5))
def test_no_shape_is_more_than_a_skipped_record(rows: list[dict[str, Any]]) -> None:
    good = {"type": "message", "id": "good", "message": {"role": "user", "content": "still found"}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_bytes(lines([*rows, good]))
        (session,) = whole(PI, path).sessions.values()
    assert session.items[-1].text == "still found"
