"""What strangers leave on disk: it costs only itself, is named, and loses nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from erstwhile.library import Library

NATIVE = "11111111-1111-4111-8111-111111111111"


def row(uuid: str, text: str, **more: Any) -> str:
    record = {"type": "user", "uuid": uuid, "timestamp": "2026-11-03T08:00:00Z", "cwd": "/home/u/p"}
    return json.dumps({**record, "message": {"role": "user", "content": text}, **more}) + "\n"


def write(path: Path, *rows: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(rows), encoding="utf-8")
    return path


def found(library: Library, words: str) -> list[str]:
    return [hit.session_id for hit in library.search(words, scope="global", group="none").hits]


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.fixture
def log(claude: Path) -> Path:
    return claude / "projects" / "-p" / f"{NATIVE}.jsonl"


def opened(tmp_path: Path, *roots: Path) -> Library:
    return Library(data=tmp_path / "erst", roots={"claude-code": [str(root) for root in roots]})


def test_two_sub_agents_of_one_name_and_first_prompt_are_both_found(tmp_path: Path, claude: Path, log: Path) -> None:
    """C23"""
    write(log, row("a", "main"))
    beside = log.with_suffix("") / "subagents"
    write(beside / "agent-abc.jsonl", row("b1", "Review the code"), row("b2", "applefruit"))
    write(beside / "workflows" / "run" / "agent-abc.jsonl", row("c1", "Review the code"), row("c2", "bananafruit"))
    with opened(tmp_path, claude) as library:
        one, other = found(library, "+applefruit"), found(library, "+bananafruit")
    assert len(one) == len(other) == 1
    assert one != other


def test_a_session_that_lies_in_two_roots_stays_with_the_longer_one_until_that_goes(
    tmp_path: Path, claude: Path
) -> None:
    twice = [root / "projects" / "-p" / f"{NATIVE}.jsonl" for root in (claude, tmp_path / "other")]
    write(twice[0], row("1", "one"), row("2", "two", parentUuid="1"))
    write(twice[1], row("1", "one"), row("2", "two", parentUuid="1"), row("3", "three", parentUuid="2"))
    with opened(tmp_path, claude, tmp_path / "other") as library:
        assert found(library, "two") == [NATIVE]
        skipped = [source.skipped for source in library.sources() if source.path == str(twice[0])]
        assert skipped[0][0].reason == f"the same session as {twice[1]}"
        with twice[0].open("a", encoding="utf-8") as file:
            file.write(row("9", "newestline", parentUuid="2"))
        assert len(found(library, "newestline")) == 1
        twice[1].unlink()
        assert len(found(library, "newestline")) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no FIFOs")
def test_a_side_file_that_is_a_fifo_or_a_link_out_of_the_root_is_not_opened(
    tmp_path: Path, claude: Path, log: Path
) -> None:
    write(log, row("a", "main"))
    for name in ("fifo", "link"):
        write(log.with_suffix("") / "subagents" / f"agent-{name}.jsonl", row(name, f"word{name}"))
    os.mkfifo(log.with_suffix("") / "subagents" / "agent-fifo.meta.json")
    outside = write(tmp_path / "outside.json", json.dumps({"description": "outsidetitle"}))
    (log.with_suffix("") / "subagents" / "agent-link.meta.json").symlink_to(outside)
    with opened(tmp_path, claude) as library:
        assert found(library, "wordfifo") == ["agent-fifo"]
        assert found(library, "outsidetitle") == []


def test_outputs_behind_a_linked_folder_are_not_read(tmp_path: Path, claude: Path, log: Path) -> None:
    write(tmp_path / "outside" / "big.txt", "outsideword")
    stub = "<persisted-output>\nFull output saved to: /x/tool-results/big.txt\n</persisted-output>"
    block = {"type": "tool_result", "tool_use_id": "t", "content": stub}
    write(log, row("a", "main"), row("r", "", message={"role": "user", "content": [block]}))
    log.with_suffix("").mkdir()
    (log.with_suffix("") / "tool-results").symlink_to(tmp_path / "outside")
    with opened(tmp_path, claude) as library:
        assert found(library, "outsideword") == []


NESTED = '{"type":"assistant","message":{"content":[{"type":"tool_use","input":' + "[" * 985 + "]" * 985 + "}]}}"


@pytest.mark.parametrize("odd", ['{"type":["x"]}', NESTED], ids=["unhashable type", "deep nesting"])
def test_a_record_of_an_odd_shape_costs_only_itself(tmp_path: Path, claude: Path, log: Path, odd: str) -> None:
    write(log, row("a", "goodword"), odd + "\n", row("b", "afterword", parentUuid="a"))
    with opened(tmp_path, claude) as library:
        assert found(library, "+goodword") == found(library, "+afterword") == [NATIVE]


def test_a_thousand_broken_lines_are_counted_and_not_all_remembered(tmp_path: Path, claude: Path, log: Path) -> None:
    write(log, row("a", "goodword"), "broken\n" * 1000)
    with opened(tmp_path, claude) as library:
        assert found(library, "goodword") == [NATIVE]
        skipped = library.sources()[0].skipped
    assert (skipped[0].line, skipped[-1].reason) == (2, "900 more could not be read")
    assert len(skipped) == 101


def test_a_secret_in_a_title_or_a_branch_is_not_kept_anywhere(tmp_path: Path, claude: Path, log: Path) -> None:
    """C40"""
    secret = "gh" + "p_" + "aB3dE5gH7jK9" * 3
    title = json.dumps({"type": "custom-title", "customTitle": f"deploy with {secret}"}) + "\n"
    write(log, row("a", "hello", gitBranch=f"fix/{secret}"), title)
    with opened(tmp_path, claude) as library:
        shown = library.search("hello", scope="global").hits[0]
    assert shown.title == "deploy with [redacted:github-token]"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "erst").rglob("*") if path.is_file())
    assert secret.encode() not in kept


def test_an_index_with_a_damaged_file_answers_from_the_store_and_is_built_anew(
    tmp_path: Path, claude: Path, log: Path
) -> None:
    """C36"""
    write(log, *(row(f"u{n}", f"needle{n} common", parentUuid=f"u{n - 1}" if n else None) for n in range(300)))
    with opened(tmp_path, claude) as library:
        library.sync()
    folder = next((tmp_path / "erst").glob("lexical-*"))
    for path in folder.iterdir():
        if path.suffix in (".fast", ".idx", ".term", ".store"):
            path.write_bytes(b"\0" * len(path.read_bytes()))
    with opened(tmp_path, claude) as library:
        assert library.search("needle7", scope="global", sync=False).hits[0].snippet == "needle7 common"
        library.sync()
        assert library.search("needle7", scope="global").hits[0].snippet == "needle7 common"
    assert next((tmp_path / "erst").glob("lexical-*[0-9]")).is_dir()


def test_http_gives_no_character_raw_that_turns_a_readers_screen(tmp_path: Path, claude: Path, log: Path) -> None:
    from starlette.testclient import TestClient

    from erstwhile.config import load
    from erstwhile.http import app

    write(log, row("a", "before \u202e\u009b31m\u200b after"))
    with opened(tmp_path, claude) as library, TestClient(app(library, load()), "http://127.0.0.1:8377") as client:
        given = client.get("/api/around", params={"session": NATIVE, "message_index": 0})
    assert not {"\u202e", "\u009b", "\u200b"} & set(given.text)
    assert given.json()["messages"][0]["parts"][0]["text"] == "before \u202e\u009b31m\u200b after"
