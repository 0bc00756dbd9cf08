"""What can be wrong with files: the user's, which cost only themselves, and ours, which get one clear sentence each."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import homes
import pytest

from erstwhile.documents import LIMIT
from erstwhile.errors import StoreError
from erstwhile.library import Library
from erstwhile.model import Skipped, SourceStatus
from erstwhile.store.migrations import MIGRATIONS

NATIVE = "0199aaaa-0000-7000-8000-00000000000"


def opened(base: Path) -> Library:
    return Library(data=base / "erst", roots=homes.roots(base))


def status(library: Library, file: Path) -> SourceStatus:
    return next(s for s in library.sources() if s.path == str(file))


# -- the user's files --------------------------------------------------------------------------------------------------


def test_a_broken_line_costs_only_itself_and_is_named(tmp_path: Path) -> None:
    """C26"""
    native = NATIVE + "1"
    pieces = homes.records("claude-code", native, [f"walrus {n}" for n in range(5)])
    file = homes.write(tmp_path, "claude-code", native, [])
    homes.append(file, *pieces[:3], b'{"type":"user","message":{"content":"wal\n', *pieces[3:])
    with opened(tmp_path) as library:
        assert library.search("walrus", group="none", limit=20).total.count == 5
        assert status(library, file)[2:6] == ("partial", 1, 5, (Skipped(4, "not valid JSON"),))


def test_a_broken_zstd_frame_costs_only_what_follows_it_in_its_file(tmp_path: Path) -> None:
    native = NATIVE + "1"
    pieces = homes.records("dsh", native, ["walrus 0", "walrus 1", "walrus 2"])
    file = homes.write(tmp_path, "dsh", native, [])
    file.write_bytes(b"".join([*pieces[:2], b"\x28\xb5\x2f\xfd broken", *pieces[2:]]))
    homes.write(tmp_path, "dsh", NATIVE + "2", ["another walrus"])
    with opened(tmp_path) as library:
        assert {h.session_id for h in library.search("walrus").hits} == {native, NATIVE + "2"}
        assert status(library, file).state == "partial"
        assert status(library, file).skipped[0].reason.startswith("broken zstd frame")


@pytest.mark.skipif(os.geteuid() == 0, reason="platform: root may read every file")
def test_an_unreadable_file_costs_only_itself(tmp_path: Path) -> None:
    file = homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    homes.write(tmp_path, "codex", NATIVE + "2", ["two walrus"])
    file.chmod(0)
    with opened(tmp_path) as library:
        answer = library.search("walrus")
        assert ([h.session_id for h in answer.hits], answer.coverage.failed) == ([NATIVE + "2"], 1)
        assert [note.code for note in answer.notes] == ["source_failed"]
        assert "Permission denied" in (status(library, file).reason or "")
        file.chmod(0o600)
        assert library.search("walrus").total.count == 2
        assert status(library, file).state == "ok"


def test_a_database_of_titles_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    database = tmp_path / "codex" / "state_5.sqlite"
    database.write_bytes(b"this is no database " * 100)
    with opened(tmp_path) as library:
        answer = library.search("walrus")
        assert (answer.total.count, answer.coverage.failed) == (1, 1)
        [note] = answer.notes
        assert note.code == "source_failed"
        assert str(database) in note.text
        assert status(library, database)[2] == "failed"
        assert "not a database" in (status(library, database).reason or "")
        assert [path for path, _ in library.sync().failures] == [str(database)]


def test_a_failed_reread_keeps_the_previous_version_searchable(tmp_path: Path) -> None:
    file = homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    oldest = file.with_suffix(".json")  # Codex's oldest form: one object, which cannot be read in part
    file.rename(oldest)
    oldest.write_bytes(homes.line({"session": {"id": NATIVE + "1", "timestamp": homes.iso(homes.START)}, "items": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one walrus"}]}]}))  # fmt: skip
    with opened(tmp_path) as library:
        assert library.search("walrus").total.count == 1
        oldest.unlink()
        oldest.mkdir()
        assert library.search("walrus").total.count == 1


def test_the_agents_files_are_left_as_they_were(home: Path) -> None:
    for agent in homes.AGENTS:
        for root in homes.fixture_roots()[agent]:
            target = home / agent / Path(root.path).parent.name
            subprocess.run(["cp", "-a", f"{root.path}/.", str(target)], check=False)
    (home / "logs").mkdir()
    for agent, native in ((a, NATIVE + "1") for a in homes.AGENTS):
        homes.write(home / "logs", agent, native, ["a walrus"], title="A title")
    before = homes.tree(home)
    with Library(data=home / "erst", roots={**homes.roots(home / "logs")}) as library:
        library.sync()
        library.search("walrus")
    with Library(data=home / "erst2", roots=homes.fixture_roots()) as library:
        library.sync()
        library.search("walrus")
    assert {p: f for p, f in homes.tree(home).items() if "/erst" not in p} == before


def test_a_message_is_cut_into_documents_and_shown_whole(tmp_path: Path) -> None:
    """C19"""
    long = (
        "\n\n".join(f"paragraph {n} " + "words and more words " * 20 for n in range(60)) + " the walrus " + "z" * 5000
    )
    homes.write(tmp_path, "codex", NATIVE + "1", ["short", long, "  keeps its spaces"])
    with opened(tmp_path) as library:
        shown = [m.parts[0].text for m in library.show(f"codex:{NATIVE}1").messages]
        assert shown == ["short", long, "  keeps its spaces"]
        assert [m.parts[0].text for m in library.around(f"codex:{NATIVE}1", 1, 0, 0).messages] == [long]
        [hit] = library.search("walrus", group="none").hits
        assert (hit.message_index, hit.ordinal) == (1, 1)
        assert len(hit.snippet) <= 240
        assert "walrus" in hit.snippet
    documents = homes.dump(tmp_path / "erst")["documents"]
    pieces = [(row[4], row[-1]) for row in sorted(documents, key=lambda r: r[1]) if row[2] == 1]
    assert "".join(text for _, text in pieces) == long
    assert [number for number, _ in pieces] == list(range(len(pieces)))
    assert max(len(text) for _, text in pieces) <= LIMIT
    assert all(text.endswith("\n\n") for _, text in pieces[:10])


# -- our files ---------------------------------------------------------------------------------------------------------


def test_what_is_written_is_the_owners_alone(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    old = os.umask(0)
    try:
        with opened(tmp_path) as library:
            library.sync()
            library.search("walrus")
            made = [tmp_path / "erst", *(tmp_path / "erst").rglob("*")]
            modes = {str(p.relative_to(tmp_path)): oct(p.stat().st_mode & 0o777) for p in made}
    finally:
        os.umask(old)
    assert {n: m for n, m in modes.items() if m != ("0o700" if (tmp_path / n).is_dir() else "0o600")} == {}


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "erst").mkdir()
    with closing(sqlite3.connect(tmp_path / "erst" / "store.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.execute("INSERT INTO theirs VALUES (1)")
        other.commit()
    before = homes.tree(tmp_path / "erst")
    with pytest.raises(StoreError, match=r"store.db is a database of another program; erstwhile leaves it alone"):
        opened(tmp_path)
    assert homes.tree(tmp_path / "erst") == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "erst").mkdir()
    (tmp_path / "erst" / "store.db").write_text("dear diary, " * 1000, encoding="utf-8")
    before = homes.tree(tmp_path / "erst")
    with pytest.raises(StoreError, match=r"store.db is not a readable erstwhile store .* it was left as it is"):
        opened(tmp_path)
    assert homes.tree(tmp_path / "erst") == before


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "erst" / "store.db")) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(StoreError, match=rf"written by a newer erstwhile \(schema {len(MIGRATIONS) + 1}\); update"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "erst"):
        with pytest.raises(StoreError, match=r"cannot use .*file.*Set ERST_HOME to a folder you can write"):
            Library(data=folder, roots={})
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_a_store_that_another_program_locks_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    with opened(tmp_path) as library:
        library.sync()
        homes.write(tmp_path, "codex", NATIVE + "2", ["two walrus"])
        library._db.execute("PRAGMA busy_timeout = 1")  # pyright: ignore[reportPrivateUsage]
        with closing(sqlite3.connect(tmp_path / "erst" / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"is locked by another program; try again when it is done"):
                library.sync()
            assert library.search("walrus", sync=False).total.count == 1
        library.sync()
        assert library.search("walrus", sync=False).total.count == 2


FILLING = """
import resource, signal, sys
from erstwhile.errors import StoreError
from erstwhile.library import Library
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Library(data=sys.argv[1], roots={"codex": [sys.argv[2]]}) as library:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    try:
        library.sync()
    except StoreError as error:
        print("StoreError", error)
    print(library.search("walrus", sync=False).total.count)
"""


def test_a_full_disk_is_one_clear_sentence_and_nothing_is_lost(tmp_path: Path) -> None:
    assert resource.RLIMIT_FSIZE is not None
    homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    with opened(tmp_path) as library:
        library.sync()
    homes.write(tmp_path, "codex", NATIVE + "2", [f"another walrus {n} " + "and more words " * 60 for n in range(600)])
    command = [sys.executable, "-c", FILLING, str(tmp_path / "erst"), str(tmp_path / "codex")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    error, found = ran.stdout.splitlines()
    assert error.startswith("StoreError")
    assert "disk" in error
    assert "full" in error
    assert (found, ran.stderr) == ("1", "")
    with opened(tmp_path) as library:
        library.sync()
        assert library.search("walrus", sync=False).total.count == 2
