"""`erst doctor`: what is lost is named, and a format that drifts is noticed; one test for each kind of drift."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import homes
import pytest
from conftest import Erst

from erstwhile.library import Library
from erstwhile.model import Finding, Root

NATIVE = "0199aaaa-0000-7000-8000-000000000001"
TALK = ["one walrus", "an otter", "two walrus", "a heron"]


def findings(library: Library) -> list[tuple[str, str]]:
    return [(one.code, one.text) for one in library.doctor().findings]


def opened(base: Path, *agents: str) -> Library:
    return Library(data=base / "erst", roots=homes.roots(base, *agents))


def test_a_healthy_history_has_no_finding(tmp_path: Path) -> None:
    for agent in homes.AGENTS:
        homes.write(tmp_path, agent, NATIVE, TALK)
    with opened(tmp_path) as library:
        checkup = library.doctor()
        assert checkup.findings == ()
        assert {one.agent: one.messages for one in checkup.sources} == dict.fromkeys(homes.AGENTS, 4)


def test_the_fixtures_hold_only_the_faults_that_were_put_there() -> None:
    agents = [file.parent.name for file in homes.FIXTURES.glob("*/expected.json") if file.parent.name != "markdown"]
    roots = {
        agent: [
            Root(str(path))
            for r in homes.expected(agent)["roots"]
            for path in homes.FIXTURES.glob(f"{agent}/{r['path']}")
        ]
        for agent in agents
    }
    with Library(data=":memory:", roots=roots) as library:
        found = {(one.code, one.agent) for one in library.doctor().findings if one.code != "skipped"}
        assert found == {("unknown_type", "cursor")}


def test_a_broken_line_is_named_with_its_file_and_number(tmp_path: Path) -> None:
    """C26"""
    good = homes.records("claude-code", NATIVE, TALK)
    file = homes.write(tmp_path, "claude-code", NATIVE, TALK)
    file.write_bytes(b"".join([*good[:2], b'{"type": "user", "mess\n', *good[2:]]))
    with opened(tmp_path, "claude-code") as library:
        assert library.doctor().findings == (
            Finding("skipped", "claude-code", str(file), "line 3 was skipped: not valid JSON"),
        )
        assert library.sources()[0].messages == 4


def test_a_source_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    home = tmp_path / "codex"
    homes.write(tmp_path, "codex", NATIVE, TALK)
    (home / "state_5.sqlite").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    with opened(tmp_path, "codex") as library:
        ((code, text),) = findings(library)
        assert code == "failed"
        assert text.endswith("what was read before stays")


def test_record_types_nobody_knows_are_one_finding_each_with_their_number(tmp_path: Path) -> None:
    for number in (1, 2):
        native = NATIVE[:-1] + str(number)
        file = homes.write(tmp_path, "claude-code", native, TALK)
        homes.append(file, *[homes.line({"type": "hologram", "uuid": f"h{n}", "sessionId": native}) for n in range(3)])
    with opened(tmp_path, "claude-code") as library:
        ((code, text),) = findings(library)
        assert code == "unknown_type"
        assert text.startswith("record type 'hologram' is not known (6 times, here and 1 more)")


def test_a_source_that_gives_far_less_than_it_did_is_a_finding(tmp_path: Path) -> None:
    """An agent that rewrites its files in a new shape: they stay as large, and nothing is read any more."""
    file = homes.write(tmp_path, "codex", NATIVE, TALK * 5)
    with opened(tmp_path, "codex") as library:
        assert findings(library) == []
        file.write_bytes(file.read_bytes().replace(b'"message"', b'"utterance"'))
        codes = dict(findings(library))
        assert codes["low_yield"] == "gave 0 documents now and 20 before, though it did not shrink as much"


def test_a_source_that_was_cut_short_by_its_agent_is_no_finding(tmp_path: Path) -> None:
    file = homes.write(tmp_path, "codex", NATIVE, TALK * 5)
    with opened(tmp_path, "codex") as library:
        library.sync()
        file.write_bytes(b"".join(homes.records("codex", NATIVE, TALK)))
        assert findings(library) == []


def test_a_source_that_grows_without_a_new_document_is_a_finding(tmp_path: Path) -> None:
    file = homes.write(tmp_path, "claude-code", NATIVE, TALK)
    with opened(tmp_path, "claude-code") as library:
        library.sync()
        homes.append(file, *[homes.line({"type": "user", "said": "x" * 1000}) for _ in range(300)])
        assert any(code == "low_yield" and "without a new document" in text for code, text in findings(library))


def test_a_source_that_never_gave_anything_is_a_finding(tmp_path: Path) -> None:
    file = homes.path(tmp_path, "claude-code", NATIVE)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"".join(homes.line({"kind": "turn", "said": "x" * 1000}) for _ in range(80)))
    with opened(tmp_path, "claude-code") as library:
        assert any(code == "low_yield" and text.startswith("gave nothing") for code, text in findings(library))


@pytest.mark.parametrize(
    ("agent", "moved"),
    [
        ("claude-code", "chats/2026/11/one.jsonl"),
        ("codex", "threads/one.jsonl.zst"),
        ("dsh", "sessions/one/turns.ndjson"),
        ("reasonix", "v2/one.jsonl"),
    ],
)
def test_logs_in_a_place_that_nobody_reads_are_a_finding(tmp_path: Path, agent: str, moved: str) -> None:
    """An agent that keeps its logs elsewhere from one version to the next."""
    old = homes.write(tmp_path, agent, NATIVE, TALK)
    new = tmp_path / agent / moved
    new.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(old, new)
    with opened(tmp_path, agent) as library:
        ((code, text),) = findings(library)
        assert (code, text) == ("unclaimed", f"holds files that no adapter reads: {new.name}")


def test_the_command_says_it_in_words_and_by_its_exit_status(sample: Path, erst: Erst) -> None:
    ran = erst("doctor")
    assert ran.status == 0, ran.out
    assert ran.out.rstrip().endswith("Nothing is wrong.")
    stray = sample / ".claude" / "elsewhere" / "stray.jsonl"
    stray.parent.mkdir()
    stray.write_text('{"type": "user"}\n')
    ran = erst("doctor", "--json")
    assert ran.status == 1
    shape = json.loads(ran.out)
    assert [(one["code"], one["agent"], one["path"]) for one in shape["findings"]] == [
        ("unclaimed", "claude-code", str(stray.parent))
    ]
    assert {"agent", "path", "state", "sessions", "messages", "skipped", "unknown"} <= set(shape["sources"][0])
