"""Hermes: what expected.json does not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from collect import Collected, collect
from databases import write

from erstwhile.adapters.hermes import Hermes
from erstwhile.model import Root

SCHEMA = """
CREATE TABLE schema_version (version INTEGER);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model_config TEXT, parent_session_id TEXT, end_reason TEXT,
    hidden INTEGER, started_at REAL);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, active INTEGER,
    compacted INTEGER, display_order INTEGER);
"""
ADAPTER = Hermes()


def database(home: Path, *messages: Any, config: str = "{}", version: int = 30, hidden: int = 0) -> Path:
    """One session `s` with messages of (role, content, active, compacted, display order)."""
    rows: list[Any] = [("schema_version", version), ("sessions", "s", "cli", config, "p", None, hidden, 1.5)]
    rows += [("messages", n, "s", *(*message, 1, 0, None)[:5]) for n, message in enumerate(messages)]
    return write(home / "state.db", SCHEMA, *rows)


def read(home: Path) -> Collected:
    (source,) = ADAPTER.sources(Root(str(home)))
    return collect(ADAPTER.read(source))


def shown(home: Path) -> list[tuple[str, str]]:
    (session,) = read(home).sessions.values()
    return [(i.kind, i.text) for i in session.items]


def test_a_note_before_the_words_is_dropped_and_one_among_them_stays(tmp_path: Path) -> None:
    database(tmp_path, ("user", "[System note: be quick]\n\nhello"), ("user", "what is [System note: x]?"))
    assert shown(tmp_path) == [("user_text", "hello"), ("user_text", "what is [System note: x]?")]


def test_a_row_that_a_compaction_copied_is_shown_once(tmp_path: Path) -> None:
    database(tmp_path, ("user", "again", 0, 1, 7), ("user", "again", 1, 0, 7), ("user", "gone", 0, 0, 8))
    assert shown(tmp_path) == [("user_text", "again")]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('{"output": "fine", "exit_code": 0, "error": null}', "tool_output"),
        ('{"error": "no such file"}', "tool_error"),
        ("Error: no such file", "tool_error"),
        ("{not json", "tool_output"),
        ("no Error here", "tool_output"),
    ],
)
def test_a_result_says_itself_whether_it_failed(tmp_path: Path, content: str, kind: str) -> None:
    database(tmp_path, ("tool", content))
    assert shown(tmp_path) == [(kind, content)]


@pytest.mark.parametrize("mark", ["\x00", "\x01"])
def test_content_in_pieces_is_joined_and_images_are_left_out(tmp_path: Path, mark: str) -> None:
    pieces = '[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"b"}]'
    database(tmp_path, ("user", f"{mark}json:{pieces}"))
    assert shown(tmp_path) == [("user_text", "a\nb")]


@pytest.mark.parametrize(
    ("config", "relation"),
    [('{"_branched_from": "p"}', "fork"), ('{"_delegate_from": "p"}', "subagent"), ("{torn", None), ("{}", None)],
)
def test_the_link_to_a_parent_has_the_kind_that_the_configuration_tells(
    tmp_path: Path, config: str, relation: str | None
) -> None:
    database(tmp_path, ("user", "hello"), config=config)
    (session,) = read(tmp_path).sessions.values()
    assert (session.head.parent, session.head.relation) == ("hermes:p", relation)


def test_a_newer_version_and_an_unknown_role_are_named(tmp_path: Path) -> None:
    database(tmp_path, ("oracle", "hm"), ("user", "hello"), version=31)
    assert read(tmp_path).unknown == {"schema version 31": 1, "message of role oracle": 1}


def test_a_hidden_session_is_not_found(tmp_path: Path) -> None:
    database(tmp_path, ("user", "hello"), hidden=1)
    assert [s.hidden for s in ADAPTER.sources(Root(str(tmp_path)))] == [True]


def test_the_command_that_continues_a_session() -> None:
    assert ADAPTER.resume("20261103_081500_a1b2c3", None) == ["hermes", "--resume", "20261103_081500_a1b2c3"]
