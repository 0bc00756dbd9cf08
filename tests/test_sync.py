"""Indexing what changes on disk: read on, read again, gone, moved, back; and several processes at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path

import homes
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from erstwhile.config import IndexSettings, load
from erstwhile.library import SMALL, Library
from erstwhile.lock import IndexerLock

NATIVE = "0199aaaa-0000-7000-8000-00000000000"
NATIVES = dict.fromkeys(homes.AGENTS, NATIVE + "1") | {"reasonix": "20260921-133320.000000001-deepseek-v4-flash"}
every_agent = pytest.mark.parametrize("agent", homes.AGENTS)
appending = pytest.mark.parametrize("agent", homes.APPENDED)


def opened(base: Path, policy: str = "keep") -> Library:
    config = load()._replace(index=IndexSettings(policy=policy))
    return Library(data=base / "erst", roots=homes.roots(base), config=config)


def found(library: Library, query: str) -> list[tuple[str, int]]:
    """(session id, message index) of the hits, searched as people do: with a refresh first."""
    answer = library.search(query, scope="global", group="none", sort="oldest")
    return [(hit.session_id, hit.message_index) for hit in answer.hits]


def as_if_new(base: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a library that reads everything for the first time stores."""
    with tempfile.TemporaryDirectory() as folder, Library(data=folder, roots=homes.roots(base)) as library:
        library.sync()
        return homes.dump(Path(folder))


# -- growing files -----------------------------------------------------------------------------------------------------


@every_agent
def test_what_was_appended_is_found_by_the_next_search(tmp_path: Path, agent: str) -> None:
    """C30"""
    native = NATIVES[agent]
    homes.write(tmp_path, agent, native, ["one walrus"])
    with opened(tmp_path) as library:
        assert found(library, "walrus") == [(native, 0)]
        homes.write(tmp_path, agent, native, ["one walrus", "an otter", "two walrus"])
        assert found(library, "walrus") == [(native, 0), (native, 2)]
        assert found(library, "otter") == [(native, 1)]
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


@appending
@pytest.mark.parametrize("kept", [1, 40, -3, -1])
def test_a_record_cut_in_the_middle_is_found_once_when_it_is_whole(tmp_path: Path, agent: str, kept: int) -> None:
    """C25"""
    native = NATIVES[agent]
    *before, last = homes.records(agent, native, ["one otter", "a walrus 登录超时", "later, a walrus 登录超时"])
    file = homes.path(tmp_path, agent, native)
    file.parent.mkdir(parents=True)
    homes.append(file, *before, last[:kept])
    with opened(tmp_path) as library:
        # a whole value without its newline counts; so does what a frame without its last bytes still gives
        assert len(found(library, "walrus")) == (2 if kept == -1 or (agent, kept) == ("dsh", -3) else 1)
        homes.append(file, last[kept:])
        assert found(library, "walrus") == [(native, 1), (native, 2)]
        assert found(library, "登录超时") == [(native, 1), (native, 2)]
        homes.append(file, homes.records(agent, native, ["", "", "", "the third walrus"])[-1])
        assert found(library, "walrus") == [(native, 1), (native, 2), (native, 3)]
        assert [(s.state, s.skipped) for s in library.sources()] == [("ok", ())]
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


def test_a_line_appended_a_second_ago_to_a_months_old_session_is_found_by_the_next_search(tmp_path: Path) -> None:
    native, old = NATIVE + "1", homes.START - 180 * 86_400
    file = homes.write(tmp_path, "claude-code", native, ["an old question", "an old answer"], start=old)
    for number in range(2, 6):
        homes.write(tmp_path, "claude-code", NATIVE + str(number), ["something newer"])
    os.utime(file, (old, old))
    with opened(tmp_path) as library:
        assert found(library, "walrus") == []
        homes.append(file, homes.claude(native, 2, "the walrus, after half a year", start=old))
        os.utime(file, (old + 1, old + 1))
        assert found(library, "walrus") == [(native, 2)]


def test_a_title_that_comes_later_is_shown_and_found(tmp_path: Path) -> None:
    native = NATIVE + "1"
    homes.write(tmp_path, "codex", native, ["how long is it", "a metre"])
    with opened(tmp_path) as library:
        assert library.search("metre").hits[0].title == "how long is it"
        title = homes.line({"id": native, "thread_name": "Walrus tusks"})
        homes.append(tmp_path / "codex" / "session_index.jsonl", title)
        assert library.search("metre").hits[0].title == "Walrus tusks"
        assert [session for session, _ in found(library, "tusks")] == [native]
        library.sync()
        assert [session for session, _ in found(library, "tusks")] == [native]
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


# -- files that are not only appended to -------------------------------------------------------------------------------


@every_agent
@pytest.mark.parametrize("how", ["in place", "by rename"])
def test_a_rewritten_file_is_read_again_whole(tmp_path: Path, agent: str, how: str) -> None:
    native = NATIVES[agent]
    file = homes.write(tmp_path, agent, native, ["one walrus", "two otters", "three seals"])
    with opened(tmp_path) as library:
        assert found(library, "walrus") == [(native, 0)]
        kept = file.with_name("kept")
        file.rename(kept)
        homes.write(tmp_path, agent, native, ["one heron", "two otters", "three seals", "four gulls"])
        if how == "in place":
            new = file.read_bytes()
            kept.replace(file)
            file.write_bytes(new)
        else:
            kept.unlink()
        assert found(library, "walrus") == []
        assert found(library, "heron") == [(native, 0)]
        assert found(library, "otters") == [(native, 1)]
        assert found(library, "gulls") == [(native, 3)]
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


@every_agent
def test_what_was_cut_off_a_file_is_found_no_more(tmp_path: Path, agent: str) -> None:
    native = NATIVES[agent]
    homes.write(tmp_path, agent, native, ["one walrus", "two otters", "three seals"])
    with opened(tmp_path) as library:
        library.sync()
        homes.write(tmp_path, agent, native, ["one walrus"])
        assert found(library, "otters seals") == []
        assert found(library, "walrus") == [(native, 0)]
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


@every_agent
def test_a_deleted_log_stays_searchable_and_counts_as_archived(tmp_path: Path, agent: str) -> None:
    """C37"""
    native = NATIVES[agent]
    file = homes.write(tmp_path, agent, native, ["one walrus"])
    with opened(tmp_path) as library:
        library.sync()
        file.unlink()
        answer = library.search("walrus", scope="global")
        assert [(hit.session_id, hit.archived) for hit in answer.hits] == [(native, True)]
        assert [note.code for note in answer.notes] == ["archived_only"]
        assert library.search("walrus", scope="archive").total.count == 1
        assert [s.state for s in library.sources() if s.path == str(file)] == ["vanished"]
        assert library.show(f"{agent}:{native}").messages[0].parts[0].text == "one walrus"


@every_agent
def test_a_deleted_log_is_forgotten_under_the_policy_follow(tmp_path: Path, agent: str) -> None:
    file = homes.write(tmp_path, agent, NATIVES[agent], ["one walrus"])
    with opened(tmp_path, "follow") as library:
        library.sync()
        file.unlink()
        assert found(library, "walrus") == []
        assert [s for s in library.sources() if s.path == str(file)] == []
        assert library.sessions().total == 0


@every_agent
def test_a_log_that_comes_back_is_not_archived_any_more(tmp_path: Path, agent: str) -> None:
    native = NATIVES[agent]
    file = homes.write(tmp_path, agent, native, ["one walrus"])
    with opened(tmp_path) as library:
        library.sync()
        away = file.rename(tmp_path / "away")
        assert library.search("walrus", scope="archive").total.count == 1
        away.rename(file)
        answer = library.search("walrus", scope="global")
        assert [(hit.session_id, hit.archived) for hit in answer.hits] == [(native, False)]
        assert library.search("walrus", scope="archive").total.count == 0
        file.rename(tmp_path / "away")
        library.sync()
        homes.write(tmp_path, agent, native, ["one walrus", "back with an otter"])
        assert found(library, "walrus otter") == [(native, 0), (native, 1)]
        assert library.search("walrus", scope="archive").total.count == 0


def test_a_codex_session_that_is_archived_stays_one_session(tmp_path: Path) -> None:
    """C31"""
    native = NATIVE + "1"
    file = homes.write(tmp_path, "codex", native, ["one walrus", "an answer"])
    with opened(tmp_path) as library:
        library.sync()
        (tmp_path / "codex" / "archived_sessions").mkdir()
        moved = file.rename(tmp_path / "codex" / "archived_sessions" / file.name)
        answer = library.search("walrus", scope="global")
        assert [(h.session_id, h.archived, h.session_path) for h in answer.hits] == [(native, True, str(moved))]
        assert library.sessions().total == 1
        assert [(s.path, s.state) for s in library.sources()] == [(str(moved), "ok")]
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


def test_a_root_that_cannot_be_listed_takes_nothing_away(tmp_path: Path) -> None:
    native = NATIVE + "1"
    homes.write(tmp_path, "codex", native, ["one walrus"])
    with opened(tmp_path) as library:
        library.sync()
        (tmp_path / "codex").rename(tmp_path / "away")
        (tmp_path / "codex").write_text("a file where the home was", encoding="utf-8")
        report = library.sync()
        assert [path for path, _ in report.failures] == [str(tmp_path / "codex")]
        assert library.search("walrus", scope="archive").total.count == 0
        assert found(library, "walrus") == [(native, 0)]


# -- any history -------------------------------------------------------------------------------------------------------

TEXTS = st.sampled_from(["alpha", "beta gamma", "登录超时", "", "  ", "long " * 600, "a\u2028b 😀", "src/lib/i18n.ts"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(homes.AGENTS),
        st.sampled_from(["append", "append", "cut", "complete", "rewrite", "shorten", "replace", "title"]),
        st.lists(TEXTS, min_size=1, max_size=3),
        st.integers(0, 999),
        st.booleans(),
    ),
    min_size=1,
    max_size=10,
)


class Disk:
    """One session an agent, changed as agents and accidents change them; each change has its own modification time."""

    def __init__(self, base: Path) -> None:
        self.base, self.clock = base, count(homes.START)
        self.said: dict[str, list[str]] = {agent: [] for agent in homes.AGENTS}
        self.titles: dict[str, str] = {}

    def change(self, agent: str, what: str, texts: list[str], number: int) -> None:
        said = self.said[agent]
        if what == "append":
            said += texts
        elif what == "rewrite" and said:
            said[number % len(said)] = texts[0]
        elif what == "shorten":
            del said[number % (len(said) + 1) :]
        elif what == "title":
            self.titles[agent] = f"Title {number % 3}"
            if agent == "codex":
                self._codex_title()
        data = b"".join(homes.records(agent, NATIVES[agent], said, title=self.titles.get(agent)))
        if what == "cut":
            data = data[: len(data) * number // 999]
        self._put(homes.path(self.base, agent, NATIVES[agent]), data, what == "replace")
        if agent == "reasonix" and agent in self.titles:
            meta = json.dumps({"workspace_root": homes.SHOP, "topic_title": self.titles[agent]})
            self._put(Path(f"{homes.path(self.base, agent, NATIVES[agent])}.meta"), meta.encode(), False)

    def _codex_title(self) -> None:
        file = self.base / "codex" / "session_index.jsonl"
        old = file.read_bytes() if file.exists() else b""
        new = homes.line({"id": NATIVES["codex"], "thread_name": self.titles["codex"]})
        self._put(file, old + new, False)

    def _put(self, file: Path, data: bytes, replaced: bool) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        target = file.with_name("new") if replaced else file
        target.write_bytes(data)
        target.replace(file)
        time = next(self.clock)
        os.utime(file, (time, time))


@given(steps=STEPS)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_reading_on_gives_what_reading_everything_anew_gives(
    steps: list[tuple[str, str, list[str], int, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        disk = Disk(base)
        with opened(base) as library:
            for agent, what, texts, number, sync in steps:
                disk.change(agent, what, texts, number)
                if sync:
                    library.sync(budget=600)
            library.sync(budget=600)
        with Library(data=base / "fresh", roots=homes.roots(base)) as fresh:
            fresh.sync(budget=600)
        got, expected = homes.dump(base / "erst"), homes.dump(base / "fresh")
        for table, rows in expected.items():
            assert got[table] == rows, table


# -- large sources -----------------------------------------------------------------------------------------------------


def many(number: int, words: str = "walrus") -> list[str]:
    return [f"{words} number {n}" for n in range(number)]


def test_a_source_too_large_to_hold_is_written_as_one_change(tmp_path: Path) -> None:
    native = NATIVE + "1"
    file = homes.write(tmp_path, "codex", native, many(4200))
    with opened(tmp_path) as library:
        library.sync(budget=600)
        assert library.sessions().sessions[0].counts == {"user_text": 2100, "assistant_text": 2100}
        homes.append(file, *homes.records("codex", native, many(8400))[4201:])
        library.sync(budget=600)
        assert library.sessions().sessions[0].counts == {"user_text": 4200, "assistant_text": 4200}
        library.sync()
        assert library.search("walrus 8399", sync=False).hits[0].message_index == 8399
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


def test_a_large_tail_that_turns_out_to_need_a_whole_read_is_read_once(tmp_path: Path) -> None:
    """The last record branches off the first one, which only a whole read can place."""
    native = NATIVE + "1"
    texts = many(4300)
    file = homes.write(tmp_path, "claude-code", native, texts[:100])
    with opened(tmp_path) as library:
        library.sync(budget=600)
        tail = homes.records("claude-code", native, texts)[100:]
        homes.append(file, *tail, homes.claude(native, 4300, "from the start again", parent=1))
        report = library.sync(budget=600)
        assert report.failures == ()
    assert homes.dump(tmp_path / "erst") == as_if_new(tmp_path)


# -- several processes -------------------------------------------------------------------------------------------------


def detached(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "erstwhile.detached"], stderr=subprocess.PIPE, env=dict(os.environ), text=True, cwd=home
    )


def test_four_indexers_on_one_empty_home_end_with_one_whole_index(home: Path) -> None:
    """C35. Meanwhile a reader sees all of a source or nothing."""
    for agent in homes.AGENTS:
        shutil.copytree(homes.FIXTURES / agent / "home", home, dirs_exist_ok=True)
    native = NATIVE + "9"
    homes.write(home, "codex", native, many(4200))
    shutil.copytree(home / "codex", home / ".codex", dirs_exist_ok=True)
    running = [detached(home) for _ in range(4)]
    seen: set[int] = set()
    with Library() as library:
        while any(process.poll() is None for process in running):
            found = [s for s in library.sessions(sync=False).sessions if s.session_id == native]
            seen |= {sum(s.counts.values()) for s in found}
        assert [(p.wait(), p.communicate()[1]) for p in running] == [(0, "")] * 4
        assert seen <= {4200}
        assert library.sync().pending == 0
        assert library.coverage().pending == 0
        assert library.search("walrus 4199", sync=False, scope="global").hits[0].message_index == 4199
    with Library(data=home / "fresh") as fresh:
        fresh.sync()
    assert homes.dump(home / "erst") == homes.dump(home / "fresh")


def test_a_large_change_is_left_to_a_detached_indexer_and_the_answer_says_so(home: Path) -> None:
    homes.write(home, "codex", NATIVE + "1", ["one walrus"])
    (home / "codex").rename(home / ".codex")
    with Library() as library:
        assert library.search("walrus", scope="global").total.count == 1
        homes.write(home, "codex", NATIVE + "2", ["an otter " + "x" * 1000] * (SMALL // 1000))
        homes.path(home, "codex", NATIVE + "2").rename(home / ".codex" / "sessions" / f"rollout-{NATIVE}2.jsonl")
        answer = library.search("walrus otter", scope="global")
        assert [hit.session_id for hit in answer.hits] == [NATIVE + "1"]
        assert "index_pending" in [note.code for note in answer.notes]
        assert answer.coverage.pending == 1
        for waiting in threading.enumerate():
            if waiting.name == "erst-indexer":
                waiting.join(60)
        assert library.search("otter", sync=False, scope="global").hits
        answer = library.search("otter", scope="global")
        assert (answer.hits[0].session_id, answer.coverage.pending) == (NATIVE + "2", 0)


def test_while_another_process_indexes_a_search_answers_from_what_is_there(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", NATIVE + "1", ["one walrus"])
    with opened(tmp_path) as library:
        library.sync()
        homes.write(tmp_path, "codex", NATIVE + "2", ["two walrus"])
        other = IndexerLock(str(tmp_path / "erst"))
        assert other.acquire()
        try:
            answer = library.search("walrus", scope="global")
            assert (answer.total.count, [note.code for note in answer.notes]) == (1, ["index_pending"])
            report = library.sync(wait_seconds=0)
            assert (report.pending, report.read) == (1, 0)
        finally:
            other.release()
        assert library.search("walrus", scope="global").total.count == 2
