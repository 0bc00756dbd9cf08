"""Crush: what expected.json does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from collect import Collected, collect
from databases import write

from erstwhile.adapters.crush import Crush
from erstwhile.model import Root

SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER);
"""
ADAPTER = Crush()


def database(folder: Path, *parts: Any, role: str = "user", time: int = 1_793_693_700) -> Path:
    """One session `s` with a message for each of `parts`."""
    rows: list[Any] = [("sessions", "s", None, "t", time, time)]
    rows += [("messages", f"m{n}", "s", role, json.dumps([part]), time) for n, part in enumerate(parts)]
    return write(folder / "crush.db", SCHEMA, *rows)


def read(root: Path) -> Collected:
    (source,) = ADAPTER.sources(Root(str(root)))
    return collect(ADAPTER.read(source))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "data": {"text": words}}


def test_a_project_that_moved_its_data_is_found_by_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database(tmp_path / "elsewhere", text("hello"))
    projects = {
        "projects": [{"path": "/home/dev/shop", "data_dir": str(tmp_path / "elsewhere")}, {"path": "relative"}, 7]
    }
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "projects.json").write_text(json.dumps(projects), encoding="utf-8")
    monkeypatch.setenv("CRUSH_GLOBAL_DATA", str(tmp_path / "data"))
    (session,) = read(tmp_path / "data").sessions.values()
    assert session.head.cwd == "/home/dev/shop"


@pytest.mark.parametrize("root", ["shop", "shop/.crush"])
def test_a_project_and_its_data_folder_are_roots(tmp_path: Path, root: str) -> None:
    database(tmp_path / "shop" / ".crush", text("hello"))
    (session,) = read(tmp_path / root).sessions.values()
    assert session.head.cwd == str(tmp_path / "shop")


def test_a_list_that_cannot_be_read_hides_no_database_beside_it(tmp_path: Path) -> None:
    database(tmp_path, text("hello"))
    (tmp_path / "projects.json").write_text("{torn", encoding="utf-8")
    assert read(tmp_path).sessions


def test_milliseconds_are_told_from_seconds(tmp_path: Path) -> None:
    database(tmp_path, text("hello"), time=1_793_693_700_000)
    (session,) = read(tmp_path).sessions.values()
    assert (session.head.started, session.items[0].time) == (1_793_693_700.0, 1_793_693_700.0)


def test_unknown_and_broken_parts_are_named_and_cost_only_themselves(tmp_path: Path) -> None:
    path = database(tmp_path, {"type": "hologram", "data": {}}, text("torn"), text("kept"))
    write(path, "UPDATE messages SET parts = '[torn' WHERE id = 'm1'")
    got = read(tmp_path)
    assert got.unknown == {"part hologram": 1}
    assert [s.reason.partition(":")[0] for s in got.skipped] == ["message m1"]
    assert [i.text for s in got.sessions.values() for i in s.items] == ["kept"]


def test_a_session_of_its_own_can_be_continued_and_one_of_a_tool_not() -> None:
    assert ADAPTER.resume("5c5c", None) == ["crush", "--session", "5c5c"]
    assert ADAPTER.resume("m1$$t1", None) is None
