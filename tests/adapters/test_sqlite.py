"""Databases of running agents are read without their noticing."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from databases import Owner, contents

from erstwhile.adapters._sqlite import PAGE, Row, ask, columns, fetched, select, sources, split
from erstwhile.errors import SourceError
from erstwhile.model import Root


def words(db: sqlite3.Connection) -> list[Any]:
    return [row[0] for row in db.execute("SELECT word FROM notes ORDER BY rowid")]


def listed(db: sqlite3.Connection) -> Iterator[Row]:
    select(db, "notes", ("word",))
    yield from (Row(word, (word,)) for word in words(db))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent" / "notes.db"


@pytest.fixture
def owner(path: Path) -> Iterator[Owner]:
    path.parent.mkdir()
    with Owner(path) as owner:
        owner("CREATE TABLE notes (word TEXT)")
        yield owner


@pytest.fixture
def wal(owner: Owner) -> Owner:
    assert owner("PRAGMA journal_mode = WAL") == [["wal"]]
    owner("INSERT INTO notes VALUES ('walrus')")
    return owner


def test_a_log_with_an_open_transaction_is_read_and_every_file_stays_as_it_is(path: Path, wal: Owner) -> None:
    wal("BEGIN IMMEDIATE")
    wal("INSERT INTO notes VALUES ('unfinished')")
    before = contents(path.parent)
    assert len(before) == 3
    assert ask(str(path), words) == ["walrus"]
    assert contents(path.parent) == before
    assert wal("COMMIT") == []
    assert ask(str(path), words) == ["walrus", "unfinished"]


def test_an_owner_writes_while_its_log_is_being_read(path: Path, wal: Owner) -> None:
    def question(db: sqlite3.Connection) -> list[Any]:
        rows = db.execute("SELECT word FROM notes")
        first = rows.fetchone()
        assert wal("INSERT INTO notes VALUES ('later')") == []
        return [first[0], *(row[0] for row in rows)]

    assert ask(str(path), question) == ["walrus"]


def test_reading_holds_nothing_between_two_questions(path: Path, wal: Owner) -> None:
    rows = fetched(
        str(path), [1, 1], lambda db, key: db.execute("SELECT * FROM notes WHERE rowid = ?", (key,)).fetchall()
    )
    next(rows)
    assert wal("PRAGMA wal_checkpoint(TRUNCATE)") == [[0, 0, 0]]
    assert wal("PRAGMA journal_mode = DELETE") == [["delete"]]
    assert [key for key, _ in rows] == [1]


def test_the_log_that_a_crash_left_is_read_and_not_repaired(path: Path, wal: Owner) -> None:
    wal.kill()
    before = contents(path.parent)
    assert ask(str(path), words) == ["walrus"]
    assert contents(path.parent) == before


def test_a_log_without_its_shared_memory_is_read_from_a_copy(path: Path, wal: Owner, tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    copy.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", copy / f"notes.db{suffix}")
    before = contents(copy)
    assert ask(str(copy / "notes.db"), words) == ["walrus"]
    assert contents(copy) == before


def test_a_database_in_wal_mode_without_a_log_gets_no_files_beside_it(path: Path, wal: Owner) -> None:
    wal("PRAGMA wal_checkpoint(TRUNCATE)")
    wal.kill()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    assert ask(str(path), words) == ["walrus"]
    assert os.listdir(path.parent) == ["notes.db"]


def test_a_folder_that_cannot_be_written_is_read(path: Path, wal: Owner) -> None:
    wal("BEGIN IMMEDIATE")
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert ask(str(path), words) == ["walrus"]
        assert len(os.listdir(path.parent)) == 3
    finally:
        path.parent.chmod(0o755)


def test_an_owner_without_a_log_commits_while_it_is_being_read(path: Path, owner: Owner) -> None:
    owner("INSERT INTO notes VALUES ('walrus')")
    seen: list[list[Any]] = []

    def question(db: sqlite3.Connection) -> list[Any]:
        rows = db.execute("SELECT word FROM notes")
        rows.fetchone()
        if not seen:
            assert owner("INSERT INTO notes VALUES ('later')") == []
        seen.append(words(db))
        return seen[-1]

    assert ask(str(path), question) == ["walrus", "later"]
    assert len(seen) == 2, "the first answer was of a database that changed meanwhile"


def test_an_open_transaction_without_a_log_is_read_as_before_it(path: Path, owner: Owner) -> None:
    owner("INSERT INTO notes VALUES ('walrus')")
    owner("BEGIN IMMEDIATE")
    owner("INSERT INTO notes VALUES ('unfinished')")
    before = contents(path.parent)
    assert ask(str(path), words) == ["walrus"]
    assert contents(path.parent) == before
    assert owner("COMMIT") == []


def test_a_half_written_database_is_named_and_left_to_its_owner(path: Path, owner: Owner) -> None:
    owner.kill()
    Path(f"{path}-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504))
    with pytest.raises(SourceError, match="being written"):
        ask(str(path), words)
    assert len(os.listdir(path.parent)) == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not a database at all", "file is not a database"),
        (b"SQLite format 3\0" + b"\xff" * 4096, "file is not|malformed"),
    ],
)
def test_a_broken_database_is_one_source_that_says_why(path: Path, content: bytes, reason: str) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    (source,) = sources("agent", Root(str(path.parent)), str(path), listed)
    assert (source.path, source.excluded) == (str(path), None)
    with pytest.raises(SourceError, match=f"notes.db: .*({reason})"):
        ask(str(path), lambda db: list(listed(db)))


def test_a_link_is_listed_and_not_opened(path: Path, owner: Owner, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(path)
    (source,) = sources("agent", Root(str(tmp_path)), str(tmp_path / "link.db"), listed)
    assert source.excluded == "a symbolic link"


def test_what_a_table_lacks_is_null_or_named(path: Path, owner: Owner) -> None:
    assert ask(str(path), lambda db: select(db, "notes", ("word",), ("tone",), "n.")) == "n.word, NULL AS tone"
    assert ask(str(path), lambda db: columns(db, "letters")) == set()
    with pytest.raises(SourceError, match="no table letters: written by a version"):
        ask(str(path), lambda db: select(db, "letters", ("word",)))
    with pytest.raises(SourceError, match="table notes has no id, tone: written by a version"):
        ask(str(path), lambda db: select(db, "notes", ("id", "word", "tone")))


def test_rows_come_in_pages_that_are_bounded(path: Path, owner: Owner) -> None:
    owner(f"INSERT INTO notes SELECT zeroblob({PAGE // 4}) FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9))")
    asked: list[int] = []

    def fetch(db: sqlite3.Connection, key: int) -> list[sqlite3.Row]:
        asked.append(key)
        return db.execute("SELECT word FROM notes WHERE rowid = ?", (key,)).fetchall()

    rows = fetched(str(path), range(1, 10), fetch)
    next(rows)
    assert asked == [1, 2, 3, 4]
    assert [key for key, _ in rows] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_a_value_that_is_too_long_costs_only_itself(path: Path, owner: Owner) -> None:
    owner("INSERT INTO notes VALUES ('walrus'), (zeroblob(70000000)), ('okapi')")
    found = fetched(
        str(path), [1, 2, 3], lambda db, key: db.execute("SELECT word FROM notes WHERE rowid = ?", (key,)).fetchall()
    )
    assert [rows and rows[0][0] for _, rows in found] == ["walrus", None, "okapi"]


def test_text_with_nul_and_broken_utf_8_is_kept(path: Path, owner: Owner) -> None:
    owner("INSERT INTO notes VALUES (CAST(X'610062FF' AS TEXT))")
    assert ask(str(path), words) == ["a\0b\ufffd"]


def test_a_path_may_hold_the_sign_that_parts_it_from_the_id(tmp_path: Path) -> None:
    folder = tmp_path / "C#" / "100%?"
    folder.mkdir(parents=True)
    path = folder / "notes.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (word TEXT)")
        db.execute("INSERT INTO notes VALUES ('a#b')")
        db.commit()
    (source,) = sources("agent", Root(str(folder)), str(path), listed)
    assert source.path == f"{path}#a#b"
    assert split(source.path) == (str(path), "a#b")
    assert split(str(path)) == (str(path), None)
