"""Aider: what expected.json does not show."""

from __future__ import annotations

import tempfile
from pathlib import Path

from collect import Conversation
from growth import cut, facts, growing, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile import Library
from erstwhile.adapters.aider import HISTORY, Aider
from erstwhile.model import Root

AIDER = Aider()
HEAD = "\n# aider chat started at 2026-11-03 08:15:00\n\n"


def read(folder: Path, text: str) -> list[Conversation]:
    path = folder / HISTORY
    path.write_text(text, encoding="utf-8")
    return list(whole(AIDER, path).sessions.values())


def said(session: Conversation) -> list[tuple[str, str]]:
    return [(item.role, item.text) for item in session.items]


PIECES = st.sampled_from(
    [
        "\n#### why is it slow?  \n",
        "#### and how?  \n",
        "> Tokens: 2k sent.  \n",
        "\nThe cache is cold.\n\n",
        "> a\nb\n",
        "```\n",
        "> quoted\n",
        "#### shown\n",
        "c  \n",
        HEAD,
        "\n",
        "plain\n",
        "no newline",
        "数据",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=12), st.lists(st.integers(0, 400), max_size=4))
def test_a_history_that_grows_reads_as_it_does_whole(pieces: list[str], places: list[int]) -> None:
    data = (HEAD + "".join(pieces)).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / HISTORY
        got, _ = growing(AIDER, path, cut(data, places))
        assert facts(got) == facts(whole(AIDER, path))


def test_a_new_turn_is_read_without_the_turns_before_it(tmp_path: Path) -> None:
    path = tmp_path / HISTORY
    _, again = growing(AIDER, path, [(HEAD + "#### one  \n\nanswer\n\n").encode(), b"#### two  \n\nmore\n\n"])
    assert again == 0


def test_an_answer_may_show_the_marks_in_a_code_fence(tmp_path: Path) -> None:
    (session,) = read(tmp_path, HEAD + "#### how?  \n\nSo:\n```md\n#### Title\n> quoted\n```\ndone\n\n#### thanks  \n")
    assert said(session) == [
        ("user", "how?"),
        ("assistant", "So:\n```md\n#### Title\n> quoted\n```\ndone"),
        ("user", "thanks"),
    ]


def test_a_fence_that_was_never_closed_ends_with_the_next_line_of_aider(tmp_path: Path) -> None:
    (session,) = read(tmp_path, HEAD + "#### how?  \n\n```py\nx = 1\n\n> Tokens: 2k  \n\n#### next  \n")
    assert [role for role, _ in said(session)] == ["user", "assistant", "tool", "user"]


def test_all_lines_of_one_output_are_the_tool_s(tmp_path: Path) -> None:
    (session,) = read(tmp_path, HEAD + "> first\nsecond\nthird  \n\nThe answer.\n")
    assert said(session) == [("tool", "first\nsecond\nthird"), ("assistant", "The answer.")]


def test_two_sessions_of_the_same_second_are_two(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + "#### one  \n" + HEAD + "#### two  \n")
    assert [said(session) for session in found] == [[("user", "one")], [("user", "two")]]


def test_projects_below_a_folder_are_found_without_entering_what_no_project_is_in(tmp_path: Path) -> None:
    wanted = [tmp_path / "org" / "repo", tmp_path / "plain" / "sub", tmp_path]
    hidden = [tmp_path / "org" / "repo" / "inner", tmp_path / "node_modules" / "x", tmp_path / ".cache"]
    (tmp_path / "org" / "repo" / ".git").mkdir(parents=True)
    for folder in [*wanted, *hidden]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / HISTORY).write_text(HEAD)
    found = {source.path for source in AIDER.sources(Root(str(tmp_path)))}
    assert found == {str(folder / HISTORY) for folder in wanted}


def test_the_file_that_the_variable_names_is_found_and_searched(tmp_path: Path) -> None:
    history = tmp_path / "talk.md"
    history.write_text(HEAD + "#### why does the walrus leak?  \n")
    assert AIDER.homes({"AIDER_CHAT_HISTORY_FILE": str(history)}) == [str(history)]
    with Library(data=":memory:", roots={"aider": [str(history)]}) as library:
        (hit,) = library.search("walrus").hits
    assert (hit.agent, hit.session_path) == ("aider", str(history))
