"""A Library as doors use it: scopes, pages, order, sessions, and what it says about what it does not show."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import homes
import pytest

from erstwhile.errors import NotFound, Refused, StaleCursor, UsageError
from erstwhile.library import Library
from erstwhile.model import Query, Root

NATIVE = "0199aaaa-0000-7000-8000-0000000000"
SITE = "/home/dev/site"


# -- fixtures ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    with Library(data=":memory:", roots=homes.fixture_roots()) as library:
        library.sync()
        yield library


@pytest.mark.parametrize("agent", homes.AGENTS)
def test_the_fixtures_queries_find_their_part_on_the_first_page(library: Library, agent: str) -> None:
    for query in homes.expected(agent)["queries"]:
        answer = library.search(query["query"], scope="global", group="none", agents=(agent,), sync=False)
        places = [(hit.session_id, hit.ordinal) for hit in answer.hits]
        assert (query["session_id"], query["ordinal"]) in places, (query["query"], places)


@pytest.mark.parametrize("agent", homes.AGENTS)
def test_what_a_fixture_must_not_give_is_not_found(library: Library, agent: str) -> None:
    for forbidden in homes.expected(agent)["must_not_match"]:
        assert library.search(forbidden["query"], scope="global", agents=(agent,), sync=False).hits == (), forbidden


def test_a_subagents_hit_stands_under_its_own_session_and_names_its_parent(library: Library) -> None:
    answer = library.search("intermediate certificate missing on staging", scope="global", sync=False)
    assert answer.hits[0].session == "claude-code:agent-beef0001"
    assert answer.hits[0].parent == "claude-code:5b1f7c52-3c1e-4c8e-9b7a-0d5a0c0ffee1"
    only = library.search("certificate", scope="global", subagents="only", sync=False, limit=50)
    none = library.search("certificate", scope="global", subagents="no", sync=False, limit=50)
    both = library.search("certificate", scope="global", sync=False, limit=50)
    assert {h.session for h in only.hits} | {h.session for h in none.hits} == {h.session for h in both.hits}
    assert {h.session for h in only.hits} & {h.session for h in none.hits} == set()


def test_a_resumed_copy_is_one_hit_with_its_earliest_owner_as_the_face(library: Library) -> None:
    """C21"""
    query = Query("cannot load certificate key", scope="global", group="none", agents=("claude-code",))
    answer = library.search(query, sync=False)
    copied = [hit for hit in answer.hits if hit.copies > 1]
    assert copied
    assert {hit.session_id for hit in copied} == {"5b1f7c52-3c1e-4c8e-9b7a-0d5a0c0ffee1"}


# -- scopes ------------------------------------------------------------------------------------------------------------


def three_projects(base: Path) -> None:
    homes.write(base, "codex", NATIVE + "01", ["walrus in the shop"])
    homes.write(base, "codex", NATIVE + "02", ["walrus below the shop"], cwd=homes.SHOP + "/web")
    homes.write(base, "codex", NATIVE + "03", ["walrus on the site"], cwd=SITE)
    homes.write(base, "codex", NATIVE + "04", ["walrus in a shop of another name"], cwd=homes.SHOP + "-two")


def names(library: Library, query: str = "walrus", **filters: object) -> set[str]:
    return {hit.session_id.removeprefix(NATIVE) for hit in library.search(query, limit=100, **filters).hits}


def test_project_means_the_folder_and_what_lies_below_it(tmp_path: Path) -> None:
    three_projects(tmp_path)
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        assert names(library, scope="project", project=homes.SHOP) == {"01", "02"}
        assert names(library, scope="project", project=homes.SHOP + "/web") == {"02"}
        assert names(library, scope="project", project=SITE + "/") == {"03"}
        assert names(library, scope="global") == {"01", "02", "03", "04"}
        assert names(library, "walrus project:" + SITE) == {"03"}
        assert names(library, scope="archive") == set()
        answer = library.search("walrus", scope="project", project=homes.SHOP)
        assert [(note.code, note.count) for note in answer.notes] == [("outside_scope", 2)]
        answer = library.search("site", scope="project", project=homes.SHOP)
        assert [(note.code, note.count) for note in answer.notes] == [("outside_scope", 1)]


def test_without_a_scope_the_current_project_is_meant_when_it_has_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "work"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    three_projects(tmp_path)
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        monkeypatch.chdir(project / "src")
        assert library.search("walrus").scope == "global"
        homes.write(tmp_path, "codex", NATIVE + "05", ["walrus at work"], cwd=str(project))
        answer = library.search("walrus")
        assert (answer.scope, [h.session_id for h in answer.hits]) == ("project", [NATIVE + "05"])


def test_a_per_project_folder_counts_by_its_slug_encoded_forward(tmp_path: Path) -> None:
    """C39: the slug is lossy, so it is never decoded, and only counts where no folder was recorded."""
    native = "20260921-133320.000000001-m"
    folder = tmp_path / "reasonix" / "projects" / "-home-dev-my-app-v2" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"{native}.jsonl").write_bytes(b"".join(homes.records("reasonix", native, ["walrus without a folder"])))
    homes.write(tmp_path, "reasonix", "20260921-133320.000000002-m", ["walrus with one"], cwd="/home/dev/my/app/v2")
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        asked = {folder: names(library, scope="project", project=folder) for folder in
                 ("/home/dev/my-app-v2", "/home/dev/my/app/v2", "/home/dev/my")}  # fmt: skip
    assert native in asked["/home/dev/my-app-v2"]
    assert "20260921-133320.000000002-m" not in asked["/home/dev/my-app-v2"]
    assert "20260921-133320.000000002-m" in asked["/home/dev/my/app/v2"]
    assert asked["/home/dev/my"] == {"20260921-133320.000000002-m"}


def test_a_project_includes_the_subagents_of_its_sessions(tmp_path: Path) -> None:
    parent = "0199aaaa-0000-7000-8000-000000000001"
    file = homes.write(tmp_path, "claude-code", parent, ["walrus hunt"])
    below = file.with_suffix("") / "subagents" / "agent-a1b2c3d4.jsonl"
    below.parent.mkdir(parents=True)
    more = {"isSidechain": True, "agentId": "a1b2c3d4"}
    below.write_bytes(homes.claude(parent, 0, "walrus helper", cwd="/tmp/elsewhere", **more))
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        answer = library.search("walrus", scope="project", project=homes.SHOP)
        assert {(h.session_id, h.parent) for h in answer.hits} == {
            (parent, None), ("agent-a1b2c3d4", f"claude-code:{parent}")}  # fmt: skip
        assert names(library, scope="project", project=SITE) == set()


def test_reasonix_three_folders_are_project_global_and_archive_and_nothing_is_written(
    tmp_path: Path, home: Path
) -> None:
    """Reasonix's Options{SessionDir, GlobalSessionDir, ArchiveDir}."""
    said = {"session_dir": "walrus here", "global_dir": "walrus anywhere", "archive_dir": "walrus of old"}
    for number, (folder, text) in enumerate(said.items()):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / f"20260921-13332{number}.000000001-m.jsonl"
        file.write_bytes(b"".join(homes.records("reasonix", "", [text])))
    roots = {"reasonix": [Root(str(tmp_path / f), role) for f, role in zip(said, ("project", "global", "archive"))]}
    before = homes.tree(tmp_path)
    with Library(data=":memory:", roots=roots) as library:
        found = {scope: library.search("walrus", scope=scope) for scope in ("project", "global", "archive")}
        assert [(h.source, h.archived) for h in found["project"].hits] == [("project", False)]
        assert {(h.source, h.archived) for h in found["global"].hits} == {
            ("project", False), ("global", False), ("archive", True)}  # fmt: skip
        assert [(h.source, h.archived) for h in found["archive"].hits] == [("archive", True)]
        assert library.search("walrus").scope == "project"
        assert library.around(found["archive"].hits[0].session_path, 0).messages[0].parts[0].text == "walrus of old"
    assert homes.tree(tmp_path) == before
    assert not (home / "erst").exists()


def test_an_unknown_scope_or_filter_value_is_an_error_that_names_the_allowed_ones(library: Library) -> None:
    with pytest.raises(UsageError, match="unknown scope 'everywhere': use one of project, global, archive"):
        library.search("walrus", scope="everywhere", sync=False)
    with pytest.raises(UsageError, match="unknown kind 'thought': use one of user_text, "):
        library.search("walrus", kinds=("thought",), sync=False)
    noted = library.search("walrus kind:thought", sync=False).notes[0]  # in the text, nothing is an error
    assert noted.code == "malformed_query"
    assert noted.text.startswith("kind:thought is taken as words: use one of user_text, ")
    with pytest.raises(UsageError, match="unknown agent 'nobody': use one of aider, claude-code, "):
        Library(data=":memory:", roots={"nobody": []}).search("walrus")


def test_an_answer_without_hits_says_which_filter_removed_them(tmp_path: Path) -> None:
    """C14"""
    three_projects(tmp_path)
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        answer = library.search("walrus", scope="global", kinds=("tool_error",))
        assert [(note.code, note.count) for note in answer.notes] == [
            ("filtered_out", 4), ("filter_fits_nothing", None)]  # fmt: skip
        answer = library.search("walrus", scope="global", kinds=("user_text",), until=1.0)
        assert answer.notes[0].text == (
            "the filters kind:user_text until 1970-01-01 00:00 UTC removed 4 hits;"
            " without until 1970-01-01 00:00 UTC there are 4 hits"
        )
        answer = library.search("walrus", scope="global", agents=("claude-cod",))
        assert {note.code for note in answer.notes} == {"filtered_out", "filter_fits_nothing"}


# -- order and pages ---------------------------------------------------------------------------------------------------


def pages(library: Library, query: str, limit: int, **filters: object) -> list[list[tuple[str, int]]]:
    got: list[list[tuple[str, int]]] = []
    cursor: str | None = None
    while not got or cursor:
        answer = library.search(query, limit=limit, cursor=cursor, scope="global", **filters)
        got.append([(hit.session_id, hit.message_index) for hit in answer.hits])
        first = (len(got) - 1) * limit + 1
        assert [hit.rank for hit in answer.hits] == list(range(first, first + len(answer.hits)))
        cursor = answer.next_cursor
    return got


@pytest.mark.parametrize("group", ["none", "session"])
@pytest.mark.parametrize("sort", ["relevance", "newest", "oldest"])
def test_pages_are_disjoint_and_complete_and_new_messages_do_not_change_them(
    tmp_path: Path, group: str, sort: str
) -> None:
    for number in range(12):
        texts = [f"walrus {'otter ' * (n % 3)}{n} of {number}" for n in range(6)]
        homes.write(tmp_path, "codex", f"{NATIVE}{number:02}", texts, start=homes.START + 500 * number)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        library.sync()
        whole = [hit for page in pages(library, "walrus otter", 100, group=group, sort=sort) for hit in page]
        assert len(whole) == len(set(whole)) == (72 if group == "none" else 12)
        paged = pages(library, "walrus otter", 5, group=group, sort=sort)
        assert [hit for page in paged for hit in page] == whole
        asked = Query("walrus otter", limit=5, scope="global", group=group, sort=sort)
        first = library.search(asked)
        new = ["walrus otter otter", "walrus otter"]
        homes.write(tmp_path, "codex", f"{NATIVE}99", new, start=homes.START + 90_000)
        second = library.search(asked, cursor=first.next_cursor)
        assert [(h.session_id, h.message_index) for h in second.hits] == paged[1]
        assert second.total == first.total
        assert library.search(asked, sort="newest").hits[0].session_id == f"{NATIVE}99"


def test_a_cursor_that_is_damaged_or_of_another_question_is_stale(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", NATIVE + "01", [f"walrus {n}" for n in range(9)])
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        cursor = library.search("walrus", limit=2, group="none").next_cursor
        assert cursor
        assert library.search("walrus", limit=3, group="none", cursor=cursor).hits, "the limit may change"
        for damaged in (cursor[:-1], cursor[1:], cursor.swapcase(), "x", "%%%", "é", "A" * 200):
            with pytest.raises(StaleCursor, match=r"damaged|another question"):
                library.search("walrus", limit=2, group="none", cursor=damaged)
        for other in ("otter", "walrus walrus"):
            with pytest.raises(StaleCursor, match="another question"):
                library.search(other, limit=2, group="none", cursor=cursor)
        with pytest.raises(StaleCursor, match="another question"):
            library.search("walrus", limit=2, group="none", cursor=cursor, kinds=("user_text",))


def test_equal_scores_have_one_order_newer_first_then_session_then_message(tmp_path: Path) -> None:
    """C18"""
    for number in (3, 1, 4, 2):
        start = homes.START + (number > 2)
        homes.write(tmp_path, "codex", f"{NATIVE}0{number}", ["walrus one", "walrus one"], start=start)
    expected = [(f"{NATIVE}0{number}", index) for index in (1, 0) for number in (3, 4, 1, 2)]
    for data in (":memory:", tmp_path / "erst"):
        with Library(data=data, roots=homes.roots(tmp_path)) as library:
            for _ in range(2):
                answer = library.search("walrus", group="none")
                assert len({hit.score for hit in answer.hits}) == 1
                assert [(hit.session_id, hit.message_index) for hit in answer.hits] == expected


# -- sessions and paths ------------------------------------------------------------------------------------------------


def test_a_session_is_named_by_its_id_a_prefix_or_its_path_and_by_nothing_else(tmp_path: Path) -> None:
    """C40: only what is indexed is ever read."""
    file = homes.write(tmp_path, "codex", NATIVE + "01", ["walrus"])
    homes.write(tmp_path, "codex", NATIVE + "02", ["otter"])
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        for name in (f"codex:{NATIVE}01", NATIVE + "01", str(file)):
            assert library.show(name).session.session_id == NATIVE + "01"
        with pytest.raises(UsageError, match=r"could be .*01, .*02"):
            library.show(NATIVE)
        with pytest.raises(NotFound, match="no session 'nothing'"):
            library.show("nothing")
        outside = tmp_path / "outside.jsonl"
        outside.write_text("secret", encoding="utf-8")
        link = file.with_name("rollout-link.jsonl")
        link.symlink_to(outside)
        for path in (str(outside), str(link), "/etc/hostname", str(file.parent / ".." / "x.jsonl")):
            with pytest.raises(Refused, match="only indexed sessions are read"):
                library.around(path, 0)


def test_around_gives_the_messages_asked_for_and_zero_means_zero(tmp_path: Path) -> None:
    """C52"""
    homes.write(tmp_path, "codex", NATIVE + "01", [f"walrus {n}" for n in range(9)])
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:

        def around(index: int, before: int, after: int) -> list[int]:
            return [m.message_index for m in library.around(NATIVE + "01", index, before, after).messages]

        assert around(4, 0, 0) == [4]
        assert around(4, 2, 1) == [2, 3, 4, 5]
        assert around(0, 3, 3) == [0, 1, 2, 3]
        assert around(8, 1, 3) == [7, 8]
        with pytest.raises(NotFound, match="no message 9: it has 9"):
            around(9, 0, 0)


def test_sessions_are_listed_newest_first_in_pages_and_found_by_words(tmp_path: Path) -> None:
    three_projects(tmp_path)
    homes.write(tmp_path, "codex", NATIVE + "09", ["an otter"], start=homes.START + 500)
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        first = library.sessions(Query(limit=3))
        assert (first.total, first.sessions[0].session_id) == (5, NATIVE + "09")
        second = library.sessions(Query(limit=3, cursor=first.next_cursor))
        assert len({s.session for s in (*first.sessions, *second.sessions)}) == 5
        assert second.next_cursor is None
        assert [s.session_id for s in library.sessions(Query("otter")).sessions] == [NATIVE + "09"]
        assert library.sessions(Query(project=SITE)).total == 1


@pytest.mark.parametrize(
    "text",
    ['"', '"*"', "(", 'a"b', "*", "-", "+", "AND", "NOT", "x" * 10_000, "\0", "\ud800", "agent:", "NEAR(a b)",
     "a:b", "-a", "'", "tool:\udcff x", "\u200b", "🙂", "a OR wrong-book"],
)  # fmt: skip
def test_no_text_that_a_person_can_type_breaks_a_search(library: Library, text: str) -> None:
    """C1, C8"""
    try:
        count = library.search(text, scope="global", sync=False).total.count
    except UsageError:
        count = 0
    assert count < 20


def test_memory_means_memory(tmp_path: Path, home: Path) -> None:
    """C42"""
    three_projects(tmp_path)
    before = sorted(os.listdir(home))
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as library:
        library.search("walrus")
        library.sync()
    assert sorted(os.listdir(home)) == before
