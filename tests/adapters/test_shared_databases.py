"""What holds for every agent that keeps its sessions in a database of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from collect import collect
from databases import Owner, contents

from erstwhile.adapters import ADAPTERS
from erstwhile.errors import SourceError
from erstwhile.library import Library
from erstwhile.model import Root, Source

FIXTURES = Path(__file__).parent.parent / "fixtures"


class Case(NamedTuple):
    """An agent's fixture database, a session in it, statements that change that session, and a table it needs."""

    agent: str
    home: str
    database: str
    session: str
    changes: tuple[str, ...]
    table: str


OPENCODE = "ses_5a00cc003ffeCCCCCCCCCCCCCC"
CASES = (
    Case(
        "opencode",
        "home-sqlite/.local/share/opencode",
        "opencode.db",
        OPENCODE,
        (
            f"INSERT INTO message VALUES ('msg_9', '{OPENCODE}', 9999999999999, 9, '{{\"role\": \"user\"}}')",
            f"INSERT INTO part VALUES ('p', 'msg_9', '{OPENCODE}', 9, 9, json_object('type', 'text', 'text', 'ibex'))",
            "UPDATE message SET time_updated = 10 WHERE id = 'msg_9'",
            f"UPDATE session SET title = 'ibex' WHERE id = '{OPENCODE}'",
        ),
        "part",
    ),
    Case(
        "goose",
        "home/.local/share/goose/sessions",
        "sessions.db",
        "20261103_1",
        (
            (
                "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
                ' VALUES (\'20261103_1\', \'user\', \'[{"type": "text", "text": "ibex"}]\', 1793693700)'
            ),
            "UPDATE sessions SET name = 'ibex' WHERE id = '20261103_1'",
        ),
        "messages",
    ),
    Case(
        "crush",
        "home/dev/shop/.crush",
        "crush.db",
        "5c5c5c5c-0001",
        (
            (
                "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)"
                ' VALUES (\'m9\', \'5c5c5c5c-0001\', \'user\', \'[{"type": "text", "data": {"text": "ib"}}]\', 1, 1)'
            ),
            'UPDATE messages SET parts = \'[{"type": "text", "data": {"text": "ibex"}}]\' WHERE id = \'m9\'',
            "UPDATE sessions SET title = 'ibex' WHERE id = '5c5c5c5c-0001'",
        ),
        "messages",
    ),
    Case(
        "hermes",
        "home/.hermes",
        "state.db",
        "20261104_090000_bbbbbb",
        (
            (
                "INSERT INTO messages (session_id, role, content, timestamp)"
                " VALUES ('20261104_090000_bbbbbb', 'user', 'ibex', 1793693701)"
            ),
            "UPDATE sessions SET title = 'ibex' WHERE id = '20261104_090000_bbbbbb'",
        ),
        "messages",
    ),
    Case(
        "cursor",
        "home/.config/Cursor/User",
        "globalStorage/state.vscdb",
        "c0c0c0c0-1111-4222-8333-555555555555",
        (
            (
                'INSERT INTO cursorDiskKV SELECT key, json_set(value, \'$.conversation[2]\', json(\'{"type": 1, "text":'
                " \"ibex\"}')) FROM cursorDiskKV WHERE key = 'composerData:c0c0c0c0-1111-4222-8333-555555555555'"
            ),
        ),
        "cursorDiskKV",
    ),
)


@pytest.fixture(params=CASES, ids=lambda case: case.agent)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def copied(case: Case, tmp_path: Path) -> Path:
    """A copy of the fixture's home."""
    shutil.copytree(FIXTURES / case.agent / case.home, tmp_path / "copied")
    return tmp_path / "copied"


def adapter(case: Case) -> Any:
    return next(a for a in ADAPTERS if a.name == case.agent)


def stamps(case: Case, copied: Path) -> dict[str, str]:
    return {s.path: s.stamp for s in adapter(case).sources(Root(str(copied)))}


def read(case: Case, path: str) -> list[str]:
    (session,) = collect(adapter(case).read(Source(case.agent, path, ""))).sessions.values()
    return [item.text for item in session.items]


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_only_a_session_that_changed_gets_another_stamp(case: Case, copied: Path, mode: str) -> None:
    path = copied / case.database
    with Owner(path) as owner:
        assert owner(f"PRAGMA journal_mode = {mode}") == [[mode]]
        known = stamps(case, copied)
        for change in case.changes:
            assert owner(change) == []
            now = stamps(case, copied)
            assert {p for p in now if now[p] != known.get(p)} == {f"{path}#{case.session}"}, change
            known = now
        assert "ibex" in read(case, f"{path}#{case.session}")


def test_listing_and_reading_leave_a_live_database_as_it_is(case: Case, copied: Path) -> None:
    with Owner(copied / case.database) as owner:
        owner("PRAGMA journal_mode = WAL")
        owner("CREATE TABLE unfinished (x)")
        owner("BEGIN IMMEDIATE")
        owner("INSERT INTO unfinished VALUES (1)")
        before = contents(copied)
        for path in stamps(case, copied):
            collect(adapter(case).read(Source(case.agent, path, "")))
        assert contents(copied) == before
        assert owner("COMMIT") == []


def test_a_missing_table_is_named(case: Case, copied: Path) -> None:
    with Owner(copied / case.database) as owner:
        owner(f"DROP TABLE {case.table}")
    assert str(copied / case.database) in stamps(case, copied)
    with pytest.raises(SourceError, match=f"no table {case.table}: written by a version"):
        collect(adapter(case).read(Source(case.agent, str(copied / case.database), "")))


def test_a_session_that_is_gone_by_now_is_named(case: Case, copied: Path) -> None:
    with pytest.raises(SourceError, match=r"no (session|chat) nobody any more"):
        collect(adapter(case).read(Source(case.agent, f"{copied / case.database}#nobody", "")))


def test_a_broken_database_is_a_failed_source_and_its_sessions_stay(case: Case, copied: Path, tmp_path: Path) -> None:
    path = copied / case.database
    with Library(data=tmp_path / "erst", roots={case.agent: [Root(str(copied))]}) as library:
        assert library.sync().failed == 0
        before = {s.session: s.archived for s in library.sessions().sessions}
        whole = path.read_bytes()
        path.write_bytes(b"x" * len(whole))
        report = library.sync()
        assert report.failed == 1
        assert [p for p, _ in report.failures] == [str(path)]
        assert {s.session: s.archived for s in library.sessions().sessions} == before
        path.write_bytes(whole)
        assert library.sync().failed == 0
        assert {s.session: s.archived for s in library.sessions().sessions} == before
        assert str(path) not in {s.path for s in library.sources() if s.state == "failed"}
