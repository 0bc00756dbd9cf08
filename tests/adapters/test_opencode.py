"""OpenCode: what expected.json does not show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, collect
from databases import write

from erstwhile.adapters.opencode import OpenCode
from erstwhile.model import Root, Source

FIXTURES = Path(__file__).parent.parent / "fixtures/opencode"
SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, revert TEXT,
    time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
"""
ADAPTER = OpenCode()


def database(home: Path, *parts: Any, role: str = "user", revert: Any = None) -> Path:
    """One session `s` in which each of `parts` is a message `m<n>` with the part `p<n>`."""
    rows: list[Any] = [("session", "s", None, "/home/dev/shop", "t", revert and json.dumps(revert), 1, 2, None)]
    for n, part in enumerate(parts):
        rows.append(("message", f"m{n}", "s", n, n, json.dumps({"role": role})))
        rows.append(("part", f"p{n}", f"m{n}", "s", part if isinstance(part, str) else json.dumps(part)))
    return write(home / "opencode.db", SCHEMA, *rows)


def read(home: Path) -> Collected:
    (source,) = ADAPTER.sources(Root(str(home)))
    return collect(ADAPTER.read(source))


def shown(got: Collected) -> list[tuple[str, str]]:
    (session,) = got.sessions.values()
    return [(i.kind, i.text) for i in session.items]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_a_session_in_both_stores_is_listed_once_and_one_only_in_the_tree_too(tmp_path: Path) -> None:
    home = tmp_path / "opencode"
    shutil.copytree(FIXTURES / "home-json/.local/share/opencode", home)
    shutil.copytree(FIXTURES / "home-sqlite/.local/share/opencode", home, dirs_exist_ok=True)
    listed = [Path(s.path).name.removesuffix(".json") for s in ADAPTER.sources(Root(str(home)))]
    assert sorted(listed) == [
        "opencode.db#ses_5a00cc003ffeCCCCCCCCCCCCCC",
        "opencode.db#ses_5a00dd004ffeDDDDDDDDDDDDDD",
        "ses_4f21aa001ffeAAAAAAAAAAAAAA",
        "ses_4f21bb002ffeBBBBBBBBBBBBBB",
    ]


def test_the_oldest_tree_with_a_folder_for_each_project_is_read(tmp_path: Path) -> None:
    base = tmp_path / "project" / "home-dev-shop" / "storage" / "session"
    files = {
        "info/ses_1.json": {"title": "old", "time": {"created": 1_750_000_000_000}},
        "message/ses_1/msg_1.json": {"role": "user", "time": {"created": 1_750_000_000_000}},
        "part/ses_1/msg_1/prt_1.json": text("where is the vicuna?"),
    }
    for name, value in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(json.dumps(value), encoding="utf-8")
    assert shown(read(tmp_path)) == [("user_text", "where is the vicuna?")]


def test_a_new_message_in_the_tree_changes_the_stamp_of_its_session_alone(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "home-json/.local/share/opencode", tmp_path / "tree")
    before = {s.path: s.stamp for s in ADAPTER.sources(Root(str(tmp_path / "tree")))}
    messages = tmp_path / "tree/storage/message/ses_4f21bb002ffeBBBBBBBBBBBBBB"
    (messages / "msg_9.json").write_text('{"role": "user"}', encoding="utf-8")
    after = {s.path: s.stamp for s in ADAPTER.sources(Root(str(tmp_path / "tree")))}
    changed = [Path(path).name for path in after if after[path] != before[path]]
    assert changed == ["ses_4f21bb002ffeBBBBBBBBBBBBBB.json"]


def test_a_revert_to_a_part_keeps_what_came_before_it(tmp_path: Path) -> None:
    path = database(tmp_path, text("one"), text("two"), text("three"), revert={"messageID": "m1", "partID": "p1b"})
    write(path, "", ("part", "p1b", "m1", "s", json.dumps(text("taken back"))))
    assert shown(read(tmp_path)) == [("user_text", "one"), ("user_text", "two")]


def test_a_broken_or_unknown_part_costs_only_itself(tmp_path: Path) -> None:
    database(tmp_path, text("one"), "{torn", {"type": "hologram"}, text("two"))
    got = read(tmp_path)
    assert shown(got) == [("user_text", "one"), ("user_text", "two")]
    assert [s.reason for s in got.skipped] == ["p1 is not valid JSON"]
    assert got.unknown == {"part hologram": 1}


@pytest.mark.parametrize(("exit_code", "kind"), [(0, "tool_output"), (1, "tool_error"), (None, "tool_output")])
def test_a_command_that_ended_badly_is_an_error(tmp_path: Path, exit_code: int | None, kind: str) -> None:
    state = {"status": "completed", "input": {}, "output": "out", "metadata": {"exit": exit_code}}
    database(tmp_path, {"type": "tool", "tool": "bash", "state": state}, role="assistant")
    assert shown(read(tmp_path)) == [("tool_input", "bash {}"), (kind, "out")]


def test_the_home_follows_the_variables(tmp_path: Path) -> None:
    assert ADAPTER.homes({"HOME": "/h"}) == ["/h/.local/share/opencode"]
    assert ADAPTER.homes({"HOME": "/h", "XDG_DATA_HOME": "/x"}) == ["/x/opencode"]
    assert ADAPTER.homes({"HOME": "/h", "OPENCODE_DB": "/y/z.db"}) == ["/h/.local/share/opencode", "/y"]
    shutil.move(database(tmp_path, text("one")), tmp_path / "z.db")
    assert shown(read(tmp_path)) == [("user_text", "one")]


def test_the_command_that_continues_a_session() -> None:
    assert ADAPTER.resume("ses_1", None) == ["opencode", "--session", "ses_1"]
    assert (
        list(ADAPTER.read(Source("opencode", str(FIXTURES / "home-sqlite/.local/share/opencode/opencode.db"), "")))
        == []
    )
