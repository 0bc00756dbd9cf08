"""Copies are one hit, families are linked, and equal text of strangers stays apart: on real files, through Library."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import homes
import pytest
from conftest import Erst

from erstwhile.library import Library
from erstwhile.model import Hit, Root

A = "0199aaaa-0000-7000-8000-00000000000a"
B = "0199aaaa-0000-7000-8000-00000000000b"
C = "0199aaaa-0000-7000-8000-00000000000c"
TALK = ["walrus one", "heard the walrus", "walrus two", "heard it again"]
Found = list[tuple[str, int, int]]


def opened(base: Path, *agents: str) -> Library:
    return Library(data=":memory:", roots=homes.roots(base, *agents))


def places(library: Library, query: str = "walrus", **filters: Any) -> Found:
    """(session id, message index, copies) of every hit by place."""
    asked = {"scope": "global", "group": "none", "limit": 100} | filters
    return sorted((hit.session_id, hit.message_index, hit.copies) for hit in library.search(query, **asked).hits)


def sessions(library: Library, query: str = "walrus", **filters: Any) -> list[str]:
    return [hit.session_id for hit in library.search(query, scope="global", **filters).hits]


def codex(base: Path, native: str, texts: list[str], start: int = homes.START, **meta: Any) -> Path:
    """A Codex session whose header says more."""
    file = homes.write(base, "codex", native, texts, start=start)
    first, *rest = file.read_bytes().splitlines(keepends=True)
    record = json.loads(first)
    record["payload"] |= meta
    file.write_bytes(homes.line(record) + b"".join(rest))
    return file


def fork(base: Path, native: str, parent: str, texts: list[str], start: int = homes.START) -> Path:
    """A Codex fork of old: its own header, its parent's, and everything said so far, which nothing marks. (C20)"""
    file = codex(base, native, texts, start)
    lines = file.read_bytes().splitlines(keepends=True)
    lines.insert(1, homes.records("codex", parent, [])[0])
    file.write_bytes(b"".join(lines))
    return file


def claude_file(base: Path, native: str, lines: list[bytes]) -> Path:
    file = homes.path(base, "claude-code", native)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(lines))
    return file


def subagent(base: Path, parent: str, name: str, texts: list[str], start: int = homes.START) -> Path:
    """A sub-agent of a Claude Code session, in a file of its own below it."""
    file = homes.path(base, "claude-code", parent).with_suffix("") / "subagents" / f"agent-{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        homes.claude(f"agent-{name}", n, text, start=start, sessionId=parent, isSidechain=True, agentId=name)
        for n, text in enumerate(texts)
    ]
    file.write_bytes(b"".join(lines))
    return file


# -- forks, resumed sessions, archives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [("parent", "fork"), ("fork", "parent")])
@pytest.mark.parametrize("restamped", [False, True])
def test_a_fork_that_marks_nothing_keeps_its_id_and_its_parents_messages_are_one_hit_each(
    tmp_path: Path, order: tuple[str, ...], restamped: bool
) -> None:
    """C20, agentsview #643: whichever file is read first, and whether or not the copies keep their times."""
    start = homes.START + 9000 * restamped
    with opened(tmp_path, "codex") as library:
        for which in order:
            if which == "parent":
                homes.write(tmp_path, "codex", A, TALK)
            else:
                fork(tmp_path, B, A, [*TALK, "a walrus of its own"], start)
            library.sync()
        assert places(library) == [(A, 0, 2), (A, 1, 2), (A, 2, 2), (B, 4, 1)]
        assert sorted(sessions(library)) == [A, B]
        head = library.show(B).session
        assert (head.session_id, head.parent, head.relation) == (B, f"codex:{A}", "fork")


def test_what_a_fork_says_itself_in_the_same_words_is_a_hit_of_its_own(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", A, [*TALK, "no", "what now", "run the walrus", "done"])
    fork(tmp_path, B, A, [*TALK, "stop", "stopped", "well?", "well", "run the walrus", "done", "run the walrus"])
    with opened(tmp_path, "codex") as library:
        assert places(library, '"run the walrus"') == [(A, 6, 1), (B, 8, 1), (B, 10, 1)]


def test_a_fork_of_a_fork_is_a_copy_of_the_first_owner(tmp_path: Path) -> None:
    for order in ((A, B, C), (C, B, A), (B, C, A), (B, A, C)):
        base = tmp_path / "-".join(name[-1] for name in order)
        with opened(base, "codex") as library:
            for native in order:
                if native == A:
                    homes.write(base, "codex", A, TALK)
                elif native == B:
                    fork(base, B, A, [*TALK, "walrus three"])
                else:
                    fork(base, C, B, [*TALK, "walrus three", "walrus four"])
                library.sync()
            expected = [(A, 0, 3), (A, 1, 3), (A, 2, 3), (B, 4, 2), (C, 5, 1)]
            assert places(library) == expected, order


def test_two_forks_of_a_session_that_is_gone_are_one_hit(tmp_path: Path) -> None:
    fork(tmp_path, B, A, TALK)
    fork(tmp_path, C, A, [*TALK, "walrus three"])
    with opened(tmp_path, "codex") as library:
        assert places(library) == [(B, 0, 2), (B, 1, 2), (B, 2, 2), (C, 4, 1)]


def test_a_fork_that_was_read_before_its_parent_grew_is_linked_when_it_has(tmp_path: Path) -> None:
    parent = homes.write(tmp_path, "codex", A, TALK[:1])
    fork(tmp_path, B, A, TALK[:1])
    with opened(tmp_path, "codex") as library:
        library.sync()
        homes.append(parent, *homes.records("codex", A, TALK)[2:])
        homes.append(tmp_path / parent.relative_to(tmp_path).parent / f"rollout-2026-09-21T13-33-20-{B}.jsonl", b"")
        library.sync()
        fork(tmp_path, B, A, [*TALK, "walrus three"])
        assert places(library) == [(A, 0, 2), (A, 1, 2), (A, 2, 2), (B, 4, 1)]


def test_a_resumed_superset_is_one_group_with_the_earliest_owner_as_its_face(tmp_path: Path) -> None:
    """C21, clawdi #81: all lines again under a new session id, and two more."""
    lines = homes.records("claude-code", A, TALK)
    claude_file(tmp_path, A, lines)
    copied = [line.replace(A.encode(), B.encode()) for line in lines]
    more = [homes.claude(A, 4, "walrus three", sessionId=B), homes.claude(A, 5, "heard", sessionId=B)]
    claude_file(tmp_path, B, [*copied, *more])
    with opened(tmp_path, "claude-code") as library:
        assert places(library) == [(A, 0, 2), (A, 1, 2), (A, 2, 2), (B, 4, 1)]
        assert [child.session for child in library.show(A).session.children] == [f"claude-code:{B}"]


def test_a_record_with_a_new_predecessor_in_a_copy_is_the_same_record(tmp_path: Path) -> None:
    lines = homes.records("claude-code", A, TALK)
    claude_file(tmp_path, A, lines)
    moved = [json.loads(line) | {"sessionId": B, "parentUuid": None} for line in lines]
    claude_file(tmp_path, B, [homes.line(record) for record in moved])
    with opened(tmp_path, "claude-code") as library:
        assert places(library) == [(A, 0, 2), (A, 1, 2), (A, 2, 2)]


def test_a_record_that_stands_twice_in_a_file_is_kept_once(tmp_path: Path) -> None:
    """C22, ctx #663; also when it was written again with another predecessor, in a later read."""
    lines = homes.records("claude-code", A, TALK)
    again = homes.line(json.loads(lines[2]) | {"parentUuid": homes.claude_uuid(A, 0)})
    file = claude_file(tmp_path, A, [*lines[:3], lines[2]])
    with opened(tmp_path, "claude-code") as library:
        library.sync()
        homes.append(file, lines[3], again)
        assert places(library) == [(A, 0, 1), (A, 1, 1), (A, 2, 1)]
        assert not any(source.skipped for source in library.sources())


def test_a_compactions_archive_finds_the_session_that_it_was_folded_from(tmp_path: Path) -> None:
    live, other, archive = (f"2026092{n}-133320.000000001-m" for n in (1, 2, 3))
    homes.write(tmp_path, "reasonix", live, ["the summary of it", *TALK[2:]])
    homes.write(tmp_path, "reasonix", other, ["yes", "heard it again", "walrus two"])
    folder = tmp_path / "reasonix" / "archive"
    folder.mkdir()
    (folder / f"{archive}.jsonl").write_bytes(b"".join(homes.records("reasonix", archive, TALK)))
    with opened(tmp_path, "reasonix") as library:
        assert places(library) == [(live, 1, 2), (other, 2, 1), (archive, 0, 1), (archive, 1, 1)]
        assert library.show(archive).session.parent == f"reasonix:{live}"
        assert [c.relation for c in library.show(live).session.children] == ["compaction"]


def test_a_recovery_file_is_a_copy_of_its_original(tmp_path: Path) -> None:
    native = "20260921-133320.000000001-m"
    homes.write(tmp_path, "reasonix", native, [*TALK, "walrus three"])
    homes.write(tmp_path, "reasonix", f"{native}-recovery-0123456789abcdef", TALK)
    with opened(tmp_path, "reasonix") as library:
        assert places(library) == [(native, 0, 2), (native, 1, 2), (native, 2, 2), (native, 4, 1)]


# -- one session in two places -----------------------------------------------------------------------------------------


def two_homes(base: Path, agent: str) -> dict[str, list[Root]]:
    return {agent: [Root(str(base / "one" / agent)), Root(str(base / "two" / agent))]}


@pytest.mark.parametrize("agent", homes.AGENTS)
def test_a_synced_copy_is_the_same_session_counted_once_in_every_number(tmp_path: Path, agent: str) -> None:
    for name in ("one", "two"):
        homes.write(tmp_path / name, agent, A, TALK)
    with Library(data=":memory:", roots=two_homes(tmp_path, agent)) as library:
        assert places(library) == [(A, 0, 2), (A, 1, 2), (A, 2, 2)]
        answer = library.search("walrus", scope="global")
        assert (answer.total.count, answer.coverage.sessions, answer.coverage.documents) == (1, 1, 4)
        assert {(s.state, s.sessions) for s in library.sources()} == {("ok", 1), ("ok", 0)}
        given_way = next(s for s in library.sources() if not s.sessions)
        assert [entry.reason for entry in given_way.skipped] == [
            f"the same session as {next(s.path for s in library.sources() if s.sessions)}"
        ]


@pytest.mark.parametrize("agent", homes.AGENTS)
def test_of_two_copies_the_fuller_one_is_shown_and_either_may_go_on_or_go(tmp_path: Path, agent: str) -> None:
    one = homes.write(tmp_path / "one", agent, A, TALK)
    two = homes.write(tmp_path / "two", agent, A, TALK[:2])
    with Library(data=":memory:", roots=two_homes(tmp_path, agent)) as library:
        assert (places(library)[-1], library.show(A).session.session_path) == ((A, 2, 2), str(one))
        homes.write(tmp_path / "two", agent, A, [*TALK, "walrus three"])
        assert (places(library)[-1], library.show(A).session.session_path) == ((A, 4, 2), str(two))
        homes.append(one, *homes.records(agent, A, [*TALK, "walrus three", "on", "walrus four"])[-3:])
        assert (places(library)[-1], library.show(A).session.session_path) == ((A, 6, 2), str(one))
        one.unlink()
        library.sync()
        assert (places(library)[-1], library.show(A).session.session_path) == ((A, 4, 1), str(two))
        assert not library.show(A).session.archived
        two.unlink()
        library.sync()
        assert library.show(A).session.archived
        assert library.coverage().documents == 5


def test_copies_that_went_different_ways_are_both_there_and_share_what_they_share(tmp_path: Path) -> None:
    homes.write(tmp_path / "one", "codex", A, [*TALK, "walrus at home"])
    homes.write(tmp_path / "two", "codex", A, [*TALK, "walrus at work"])
    with Library(data=":memory:", roots=two_homes(tmp_path, "codex")) as library:
        for _ in range(2):
            hits = library.search("walrus", scope="global", group="none").hits
            by_text = {hit.snippet: (hit.session_id == A, hit.copies) for hit in hits}
            assert {by_text["walrus at home"][0], by_text["walrus at work"][0]} == {True, False}
            assert by_text["walrus one"] == (True, 2)
            assert len(hits) == 5
            library.sync(full=True)


def test_a_migrated_store_that_kept_more_of_the_tools_is_the_same_session(tmp_path: Path) -> None:
    homes.write(tmp_path / "one", "codex", A, TALK)
    file = homes.write(tmp_path / "two", "codex", A, TALK)
    call = {"type": "function_call_output", "call_id": "c1", "output": "walrus printed"}
    homes.append(file, homes.line({"timestamp": homes.iso(homes.START), "type": "response_item", "payload": call}))
    with Library(data=":memory:", roots=two_homes(tmp_path, "codex")) as library:
        assert places(library) == [(A, 0, 2), (A, 1, 2), (A, 2, 2), (A, 4, 2)]
        assert library.coverage().sessions == 1


def test_a_very_long_copy_takes_over_from_a_shorter_one(tmp_path: Path) -> None:
    long = [f"walrus number{n}" for n in range(4100)]
    old = homes.write(tmp_path / "one", "codex", A, long[:2])
    homes.write(tmp_path / "two", "codex", A, long)
    os.utime(old, (2e9, 2e9))  # the newest is read first
    with Library(data=":memory:", roots=two_homes(tmp_path, "codex")) as library:
        assert places(library, "number4099") == [(A, 4099, 2)]
        assert (library.coverage().documents, library.coverage().sessions) == (4100, 1)


# -- answers -----------------------------------------------------------------------------------------------------------


def test_equal_text_in_unrelated_sessions_is_never_merged(tmp_path: Path) -> None:
    for agent in homes.AGENTS:
        for native in (A, B):
            homes.write(tmp_path, agent, native, TALK)
    with opened(tmp_path) as library:
        found = places(library)
        assert len(found) == 24
        assert {copies for *_, copies in found} == {1}


def test_a_copy_takes_no_second_place_and_pages_neither_lack_nor_repeat_a_hit(tmp_path: Path) -> None:
    """However many copies there are, more than are scored at a time, among them and behind them."""
    homes.write(tmp_path, "codex", A, TALK)
    for number in range(150):
        fork(tmp_path, f"0199bbbb-0000-7000-8000-{number:012x}", A, [*TALK, f"walrus of fork {number}"])
    homes.write(tmp_path, "codex", C, ["another walrus"])
    with opened(tmp_path, "codex") as library:
        seen: list[Hit] = []
        cursor = None
        while True:
            answer = library.search("walrus", scope="global", group="none", limit=40, cursor=cursor, sync=not seen)
            seen += answer.hits
            if (cursor := answer.next_cursor) is None:
                break
        spots = [(hit.session_id, hit.message_index) for hit in seen]
        assert len(spots) == len(set(spots)) == answer.total.count == 154
        assert {hit.copies for hit in seen if hit.session_id == A} == {151}
        grouped = library.search("walrus", scope="global", limit=100, sync=False)
        assert len({hit.session for hit in grouped.hits}) == len(grouped.hits) == 100
        assert next(hit.copies for hit in grouped.hits if hit.session_id == A) == 151


def test_within_a_filter_the_copy_that_fits_is_the_face(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", A, TALK)
    fork(tmp_path, B, A, [*TALK, "walrus three"])
    with opened(tmp_path, "codex") as library:
        assert places(library, sessions=(B,)) == [(B, 0, 1), (B, 1, 1), (B, 2, 1), (B, 4, 1)]


def test_what_the_asking_session_copied_is_hidden_in_its_original_too(tmp_path: Path) -> None:
    """C16: it has these words before its eyes; what its parent went on to say it has not."""
    homes.write(tmp_path, "codex", A, [*TALK, "walrus elsewhere"])
    fork(tmp_path, B, A, [*TALK, "no walrus here"])
    with opened(tmp_path, "codex") as library:
        assert places(library, current_session=B) == [(A, 4, 1)]
        assert len(places(library, current_session=B, include_current=True)) == 5


# -- families ----------------------------------------------------------------------------------------------------------


def family(base: Path) -> None:
    homes.write(base, "claude-code", A, ["look for the walrus, all of you, in every corner", "they looked"])
    for number in range(6):
        subagent(base, A, f"aa0{number}", ["look for the walrus", f"nothing in corner {number}"], homes.START + 100)
    subagent(base, A, "bb01", ["fetch the narwhal", "the walrus bathes with the narwhal"], homes.START + 200)


def test_subagents_are_found_below_their_parents_own_turns_and_can_be_left_out_or_asked_for(tmp_path: Path) -> None:
    """C24, episodic-memory #42 and #128: their files are shorter, newer and denser, and still come second."""
    family(tmp_path)
    with opened(tmp_path, "claude-code") as library:
        for group in ("session", "none"):
            hits = library.search('"look for the walrus"', scope="global", group=group).hits
            assert hits[0].session_id == A
            assert [hit.parent for hit in hits[1:]] == [f"claude-code:{A}"] * 6
        assert A not in sessions(library, subagents="only")
        assert sessions(library, subagents="no") == [A]


def test_a_subagent_that_alone_holds_what_was_asked_is_first(tmp_path: Path) -> None:
    family(tmp_path)
    with opened(tmp_path, "claude-code") as library:
        assert sessions(library, "walrus narwhal")[0] == "agent-bb01"


def test_a_parent_with_nothing_to_say_is_not_lifted(tmp_path: Path) -> None:
    homes.write(tmp_path, "claude-code", A, ["a long morning of other things and one bathes", "and more"])
    subagent(tmp_path, A, "bb01", ["the walrus bathes", "it does"])
    homes.write(tmp_path, "claude-code", B, ["where the walrus bathes at noon", "here"])
    with opened(tmp_path, "claude-code") as library:
        assert sessions(library, "walrus bathes")[-1] == A


def test_files_that_share_their_parents_id_are_sessions_of_their_own(tmp_path: Path) -> None:
    """C23, cass #142: the same agent name below two parents, the same indexes."""
    for parent, word in ((A, "otter"), (B, "badger")):
        homes.write(tmp_path, "claude-code", parent, ["go", "gone"])
        subagent(tmp_path, parent, "aa01", [f"a walrus and an {word}", word])
    with opened(tmp_path, "claude-code") as library:
        hits = library.search("walrus", scope="global").hits
        assert len({hit.session for hit in hits}) == 2
        assert {hit.parent for hit in hits} == {f"claude-code:{A}", f"claude-code:{B}"}
        assert {hit.copies for hit in hits} == {1}


def test_a_parent_names_its_children_and_they_name_it_at_every_door(
    home: Path, erst: Erst, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude-code"))
    family(home)
    assert erst("index").status == 0
    listed = json.loads(erst("sessions", "--json").out)["sessions"]
    parent = next(one for one in listed if one["session_id"] == A)
    assert len(parent["children"]) == 7
    assert parent["children"][0] == {
        "session": "claude-code:agent-aa00",
        "relation": "subagent",
        "title": "look for the walrus",
    }
    for child in parent["children"]:
        shown = json.loads(erst("show", child["session"], "--json").out)["session"]
        assert (shown["parent"], "children" in shown) == (parent["session"], False)
    assert "7 sub-agents" in erst("sessions").out
    assert "claude-code:agent-bb01 (subagent), fetch the narwhal" in erst("show", A).out
    assert {hit["parent"] for hit in _hits(erst, "--subagents", "only")} == {parent["session"]}
    assert {hit["parent"] for hit in _hits(erst, "--subagents", "no")} == {None}


def _hits(erst: Erst, *options: str) -> list[dict[str, Any]]:
    return json.loads(erst("search", "walrus", "--json", "--scope", "global", *options).out)["hits"]


@pytest.mark.parametrize("agent", homes.AGENTS)
def test_the_fixtures_duplicates_are_one_hit_with_two_copies(tmp_path: Path, agent: str) -> None:
    shutil.copytree(homes.FIXTURES / agent, tmp_path / agent)
    with Library(data=":memory:", roots=homes.fixture_roots()) as library:
        for duplicate in homes.expected(agent)["duplicates"]:
            if all("-" in where and " " not in where for where in duplicate["occurs_in"]):
                words = f'"{duplicate["text_contains"]}"'
                hits = library.search(words, scope="global", group="none", agents=(agent,), limit=100).hits
                copied = [hit for hit in hits if hit.copies > 1]
                assert {hit.session_id in duplicate["occurs_in"][0] for hit in copied} == {True}, duplicate
                assert {hit.copies for hit in copied} == {2}
