"""Goose: what expected.json does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from collect import Collected, collect
from databases import write

from erstwhile.adapters.goose import Goose
from erstwhile.model import Root

SCHEMA = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp REAL);
"""
ADAPTER = Goose()


def database(folder: Path, *messages: tuple[str, Any], version: int = 5, time: int = 1_793_693_700) -> Path:
    """One session `20261103_1` of an older version, without a name, with messages of (role, content)."""
    rows: list[Any] = [("schema_version", version), ("sessions", "20261103_1", "old words", "/home/dev/shop", "", "")]
    rows += [("messages", n, "20261103_1", role, json.dumps(c), time) for n, (role, c) in enumerate(messages)]
    return write(folder / "sessions.db", SCHEMA, *rows)


def read(folder: Path) -> Collected:
    (source,) = ADAPTER.sources(Root(str(folder)))
    return collect(ADAPTER.read(source))


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def test_an_imported_session_is_read_from_the_database_alone(tmp_path: Path) -> None:
    database(tmp_path, ("user", text("in the database")))
    line = json.dumps({"role": "user", "created": 1, "content": text("left behind")})
    for name in ("20261103_1", "20250101_1"):
        (tmp_path / f"{name}.jsonl").write_text(
            f'{{"working_dir": "/w", "description": "d"}}\n{line}\n', encoding="utf-8"
        )
    listed = [Path(s.path).name for s in ADAPTER.sources(Root(str(tmp_path)))]
    assert listed == ["sessions.db#20261103_1", "20250101_1.jsonl"]


def test_an_older_version_gives_its_description_as_title_and_milliseconds_as_time(tmp_path: Path) -> None:
    database(tmp_path, ("user", text("hello")), time=1_793_693_700_000)
    (session,) = read(tmp_path).sessions.values()
    assert (session.head.title, session.items[0].time) == ("old words", 1_793_693_700.0)


def test_a_newer_version_is_named_and_read(tmp_path: Path) -> None:
    database(tmp_path, ("user", text("hello")), ("user", [{"type": "hologram"}]), version=99)
    got = read(tmp_path)
    assert got.unknown == {"schema version 99": 1, "content hologram": 1}
    assert [i.text for s in got.sessions.values() for i in s.items] == ["hello"]


def test_a_message_that_is_not_json_costs_only_itself(tmp_path: Path) -> None:
    path = database(tmp_path, ("user", text("one")), ("user", text("two")))
    write(path, "UPDATE messages SET content_json = '[torn' WHERE id = 0")
    got = read(tmp_path)
    assert [s.reason.partition(":")[0] for s in got.skipped] == ["message 0"]
    assert [i.text for s in got.sessions.values() for i in s.items] == ["two"]


def test_the_home_follows_the_variables() -> None:
    assert ADAPTER.homes({"HOME": "/h", "GOOSE_PATH_ROOT": "/g"}) == ["/g/data/sessions"]
    assert "/h/.local/share/goose/sessions" in ADAPTER.homes({"HOME": "/h", "GOOSE_PATH_ROOT": "relative"})
    assert "/x/goose/sessions" in ADAPTER.homes({"HOME": "/h", "XDG_DATA_HOME": "/x"})


def test_a_home_above_the_folder_of_sessions_is_accepted(tmp_path: Path) -> None:
    database(tmp_path / "sessions", ("user", text("hello")))
    assert read(tmp_path).sessions
