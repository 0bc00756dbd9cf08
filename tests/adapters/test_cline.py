"""Cline, Roo Code and Kilo Code: what expected.json does not show."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, Conversation, collect
from growth import whole

from erstwhile.adapters.cline import Cline
from erstwhile.adapters.kilo_code import KiloCode
from erstwhile.adapters.roo_code import RooCode
from erstwhile.errors import SourceError
from erstwhile.model import Root

CLINE = Cline()
ASKED = "<task>\nwhy is it slow?\n</task>"
DETAILS = "<environment_details>\n# Current Working Directory (/home/dev/shop) Files\na.py\n</environment_details>"


def task(folder: Path, api: Any = None, window: Any = None, native: str = "1793693700000", **beside: Any) -> Path:
    """Writes a task; the path of its conversation."""
    below = folder / "tasks" / native
    below.mkdir(parents=True, exist_ok=True)
    files = {"api_conversation_history": api, "ui_messages": window, **beside}
    for name, value in files.items():
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            (below / f"{name}.json").write_text(text, encoding="utf-8")
    return below / "api_conversation_history.json"


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def read(folder: Path, *rows: Any) -> Conversation:
    (session,) = whole(CLINE, task(folder, list(rows))).sessions.values()
    return session


def said(session: Conversation) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in session.items]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([ASKED, DETAILS], ["why is it slow?"]),
        ([f"{ASKED}\n\n<file_content path='a.py'>\nx = 1\n</file_content>\n\n{DETAILS}"], ["why is it slow?"]),
        (["[TASK RESUMPTION] x", "New instructions for task continuation:\n<user_message>go</user_message>"], ["go"]),
        (["[ERROR] You did not use a tool in your previous response!"], []),
        (["[ask_followup_question for 'Where?'] Result:", "<answer>\nin tests\n</answer>"], ["in tests"]),
        (["[write_to_file for 'a.py'] Result:", "The user denied this operation.\n<feedback>\nuse b.py\n</feedback>"],
         ["use b.py"]),
    ],
)  # fmt: skip
def test_only_the_person_s_words_are_theirs(tmp_path: Path, texts: list[str], words: list[str]) -> None:
    session = read(tmp_path, user(*texts), answer("done"))
    assert [text for kind, text in said(session) if kind == "user_text"] == words


def test_tags_of_the_host_in_a_person_s_sentence_stay(tmp_path: Path) -> None:
    asked = "what is <environment_details> for, and [ERROR] You did not use a tool?"
    session = read(tmp_path, user(f"<task>\n{asked}\n</task>", DETAILS))
    assert said(session) == [("user_text", asked)]


def test_calls_in_tags_are_tools_and_other_tags_are_text(tmp_path: Path) -> None:
    text = "See <b>this</b>:\n<html>\n</html>\n<read_file>\n<path>a.py</path>\n</read_file>"
    session = read(tmp_path, user(ASKED), answer(text))
    assert said(session)[1:] == [
        ("assistant_text", "See <b>this</b>:\n<html>\n</html>"),
        ("tool_input", "read_file a.py"),
    ]
    assert session.items[-1].tool == "read_file"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Command executed with exit code 0.\nOutput:\nok", "tool_output"),
        ("Command executed with exit code 2.\nOutput:\nbad", "tool_error"),
        ("The tool execution failed with the following error:\n<error>\nx\n</error>", "tool_error"),
        ("Errors are described below", "tool_output"),
    ],
)
def test_a_result_in_text_is_an_error_when_it_says_so_at_its_beginning(tmp_path: Path, text: str, kind: str) -> None:
    session = read(tmp_path, user("[execute_command for 'make'] Result:", text))
    assert said(session) == [(kind, text)]
    assert session.items[0].tool == "execute_command"
    assert session.items[0].role == "tool"


def test_folder_and_times_come_from_what_stands_beside_the_messages(tmp_path: Path) -> None:
    window = [
        {"ts": 1793693700000, "type": "say", "say": "task", "text": "why is it slow?"},
        {"ts": 1793693709000, "type": "say", "say": "completion_result", "text": "cold cache"},
    ]
    done = answer("<attempt_completion>\n<result>\ncold cache\n</result>\n</attempt_completion>")
    (session,) = whole(CLINE, task(tmp_path, [user(ASKED, DETAILS), done], window)).sessions.values()
    assert session.head.cwd == "/home/dev/shop"
    assert [item.time for item in session.items] == [1793693700, 1793693709]


def test_without_a_list_of_tasks_there_is_no_title(tmp_path: Path) -> None:
    assert read(tmp_path, user(ASKED)).head.title is None


def test_a_cut_conversation_without_a_window_is_an_error_so_that_the_earlier_version_stays(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not valid JSON"):
        whole(CLINE, task(tmp_path, '[{"role":"user"'))


def test_odd_records_cost_only_themselves_and_unknown_ones_are_counted(tmp_path: Path) -> None:
    odd = {"role": "user", "content": [{"type": "hologram"}, 7]}
    path = task(tmp_path, [7, {"role": "critic"}, odd, {"role": "assistant", "content": 3}, answer("done")])
    got = whole(CLINE, path)
    (session,) = got.sessions.values()
    assert said(session) == [("assistant_text", "done")]
    assert got.unknown == {"role None": 1, "role critic": 1, "block hologram": 1, "block None": 1}
    assert session.count == 5


def test_the_list_of_tasks_is_watched_with_the_tasks_just_written_only(tmp_path: Path) -> None:
    old, new = task(tmp_path, [user(ASKED)], native="1"), task(tmp_path, [user(ASKED)], native="2")
    listed = tmp_path / "state" / "taskHistory.json"
    listed.parent.mkdir()
    listed.write_text("[]")
    os.utime(old, (1e9, 1e9))

    def stamps() -> dict[str, str]:
        return {source.path: source.stamp for source in CLINE.sources(Root(str(tmp_path)))}

    before = stamps()
    listed.write_text('[{"id": "2", "task": "slow"}]')
    after = stamps()
    assert before[str(old)] == after[str(old)]
    assert before[str(new)] != after[str(new)]


@pytest.mark.parametrize("below", ["", "data", "data/tasks"])
def test_a_home_its_data_and_its_tasks_are_roots(tmp_path: Path, below: str) -> None:
    task(tmp_path / "data", [user(ASKED)])
    found = list(CLINE.sources(Root(str(tmp_path / below))))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("adapter", "folder"), [(RooCode(), "rooveterinaryinc.roo-cline"), (KiloCode(), "kilocode.kilo-code")]
)
def test_agents_made_from_cline_have_their_own_storage_and_name(adapter: Cline, folder: str, home: Path) -> None:
    environ = {"HOME": str(home), "CLINE_DIR": "/elsewhere"}
    storage = home / ".config" / "Code" / "User" / "globalStorage" / folder
    assert str(storage) in adapter.homes(environ)
    assert "/elsewhere" not in adapter.homes(environ)
    task(storage, [user(ASKED)])
    (source,) = adapter.sources(Root(str(storage)))
    got: Collected = collect(adapter.read(source))
    assert list(got.sessions) == [f"{adapter.name}:1793693700000"]


def test_cline_s_variables_move_its_home_and_not_the_editors(home: Path) -> None:
    found = CLINE.homes({"HOME": str(home), "CLINE_DIR": "/c", "CLINE_DATA_DIR": "/d"})
    assert found[:2] == ["/d", "/c"]
    assert str(home / ".cline") not in found
    assert any("saoudrizwan.claude-dev" in path for path in found)
