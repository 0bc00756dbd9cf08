"""What a person may type, on every door: prefixes, expressions, filters, dates, ids; nothing typed is a fault."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import homes
import pytest
from conftest import Erst
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult
from starlette.testclient import TestClient
from test_envelope import DOORS

from erstwhile.cli.parse import parse as parse_arguments
from erstwhile.config import load
from erstwhile.errors import UsageError
from erstwhile.http import app
from erstwhile.library import Library
from erstwhile.mcp import server
from erstwhile.model import Answer, Query
from erstwhile.query import checked, parse, parse_since, parse_until, with_filters
from erstwhile.text import exact, folded
from erstwhile.touching import asked, paths, touched

ONE = "0199aaaa-0000-7000-8000-000000000001"
TWO = "0199bbbb-0000-7000-8000-000000000002"
THREE = "0199cccc-0000-7000-8000-000000000003"
TEXTS = (
    "the certificate of the mail server expired",
    "failed to connect to database: timeout after 300ms in getUserById",
    "修复了登录超时的问题 with src/lib/i18n.ts",
    "renew it with certbot, then restart atomic_write_json",
)


def call(number: int, tool: str, given: dict[str, Any], cwd: str = homes.SHOP) -> bytes:
    """A message of Claude Code that calls a tool."""
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}
    message = {"id": f"msg_{number}", "role": "assistant", "content": [block]}
    return homes.claude(THREE, number, "", cwd=cwd, message=message)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    base = tmp_path_factory.mktemp("language")
    homes.write(base, "claude-code", ONE, list(TEXTS), title="Mail certificates", start=homes.START)
    homes.write(base, "codex", TWO, ["a database question", "an answer about migrations"], "/home/dev/site", None)
    file = homes.write(base, "claude-code", THREE, ["look at the parser", "yes"], title="Parser work")
    homes.append(
        file,
        call(3, "Edit", {"file_path": "src/app/parser.py", "old_string": "x"}),
        call(5, "Read", {"file_path": "C:\\src\\my-app\\main.rs"}),
        call(7, "Bash", {"command": "sed -n 1,9p docs/guide.md"}),
    )
    with Library(data=base / "erst", roots=homes.roots(base)) as opened:
        opened.sync()
        yield opened


def ids(answer: Answer) -> list[str]:
    return [hit.session_id for hit in answer.hits]


def ask(library: Library, text: str, **filters: Any) -> Answer:
    return library.search(text, sync=False, **{"scope": "global", **filters})


def codes(answer: Answer) -> list[str]:
    return [note.code for note in answer.notes]


# -- prefixes and expressions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["certif*", "certificat*", "CERTIFIC*", "getuserb*", "src/lib/i1*", "atomic_wr*", "登录*"]
)
def test_a_prefix_finds_the_words_that_begin_so_and_shows_them(library: Library, text: str) -> None:
    answer = ask(library, text, group="none")
    assert ids(answer)[0] == ONE
    assert answer.hits[0].highlights
    assert codes(answer) == []


def test_a_prefix_alone_finds_nothing_that_only_shares_its_stem(library: Library) -> None:
    assert ids(ask(library, "migrating*")) == []
    assert ids(ask(library, "migration*")) == [TWO]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"/failed to conn\w+/", "failed to connect"),
        (r"/\d{3}ms/", "300ms"),
        (r"/getUser\w+/", "getUserById"),
        (r"/etuserby/", "etUserBy"),
        (r"timeout /after \d+/", "after 300"),
        (r"/登录.时/", "登录超时"),
        (r"/lib\/i18n/", "lib/i18n"),
    ],
)
def test_an_expression_finds_the_texts_it_matches_and_shows_where(library: Library, text: str, shown: str) -> None:
    answer = ask(library, text, group="none")
    assert ids(answer) == [ONE]
    hit = answer.hits[0]
    assert any(shown in hit.snippet[start:end] or hit.snippet[start:end] == shown for start, end in hit.highlights)


def test_an_expression_with_a_capital_means_it(library: Library) -> None:
    assert ids(ask(library, "/getuserbyid/")) == [ONE]
    assert ids(ask(library, "/GetUserById/")) == []


def test_an_excluded_expression_takes_its_matches_out(library: Library) -> None:
    assert set(ids(ask(library, "database"))) == {ONE, TWO}
    assert ids(ask(library, r"database -/\d+ms/")) == [TWO]


@pytest.mark.parametrize("broken", ["/(connect/", "/connect[/", "/connect**/", "/(?=connect)/"])
def test_a_broken_expression_is_taken_as_words_and_the_answer_says_why(library: Library, broken: str) -> None:
    """C9"""
    answer = ask(library, broken)
    assert ids(answer) == [ONE]
    assert answer.notes[0].code == "malformed_query"
    assert broken in answer.notes[0].text


def test_an_expression_that_makes_others_hang_is_answered(library: Library) -> None:
    assert ids(ask(library, r"/(e+)+(x+x+)+y$/")) == []


# -- filters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelled",
    [
        "src/app/parser.py",
        "./src/app/parser.py",
        "/home/dev/shop/src/app/parser.py",
        "src\\app\\parser.py",
        "parser.py",
        "Parser.py",
        "app/parser.py",
        "/home/dev/shop/src",
        "src/app",
        "app/*.py",
        "C:\\src\\my-app\\main.rs",
        "c:/src/my-app/main.rs",
        "my-app/main.rs",
        "docs/guide.md",
    ],
)
def test_a_file_finds_the_sessions_that_touched_it_in_every_spelling(library: Library, spelled: str) -> None:
    """C39"""
    assert ids(ask(library, f'file:"{spelled}"')) == [THREE]
    assert ids(ask(library, "parser", files=(spelled,))) == [THREE]


@pytest.mark.parametrize("spelled", ["arser.py", "/src/app/parser.py", "other.py", "app/parser", "%.py", "parser_py"])
def test_a_file_that_only_looks_alike_is_not_found(library: Library, spelled: str) -> None:
    answer = ask(library, "parser", files=(spelled,))
    assert ids(answer) == []
    assert {"filtered_out", "filter_fits_nothing"} & set(codes(answer))


def test_a_file_alone_lists_its_calls_the_newest_first(library: Library) -> None:
    answer = ask(library, "file:parser.py file:main.rs", group="none")
    assert [hit.message_index for hit in answer.hits] == [3, 2]
    assert {hit.kind for hit in answer.hits} == {"tool_input"}
    assert (answer.total.count, answer.total.exact) == (2, True)
    assert [h.message_index for h in ask(library, "file:parser.py file:main.rs", group="none", sort="oldest").hits] == [
        2,
        3,
    ]


def test_what_a_call_touched_goes_with_it(tmp_path: Path) -> None:
    file = homes.write(tmp_path, "claude-code", THREE, ["start", "yes"])
    before = file.read_bytes()
    homes.append(file, call(3, "Edit", {"file_path": "gone.py"}))
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path, "claude-code")) as opened:
        assert ids(opened.search("file:gone.py", scope="global")) == [THREE]
        file.write_bytes(before)
        os.utime(file, (1, 1))
        assert ids(opened.search("file:gone.py", scope="global")) == []


def test_a_title_holds_the_text_whatever_its_case_and_spaces(library: Library) -> None:
    assert ids(ask(library, 'title:"mail  CERT"')) == [ONE]
    assert ids(ask(library, "parser", titles=("work",))) == [THREE]
    assert ids(ask(library, 'parser title:"mail cert"')) == []


def test_several_values_of_a_field_are_alternatives(library: Library) -> None:
    both = ask(library, "project:/home/dev/site project:shop database")
    assert set(ids(both)) == {ONE, TWO}
    assert ids(ask(library, "project:/home/dev/site database")) == [TWO]
    assert set(ids(ask(library, "title:mail title:parser certificate parser"))) == {ONE, THREE}


def test_the_same_filters_from_text_options_and_http_are_one_query(library: Library, erst: Erst) -> None:
    in_text = ask(library, "parser file:parser.py title:work agent:claude-code role:assistant")
    fields = {"files": ("parser.py",), "titles": ("work",), "agents": ("claude-code",), "roles": ("assistant",)}
    assert ids(in_text) == ids(ask(library, "parser", **fields)) == [THREE]
    argv = "search parser --file parser.py --title work --agent claude-code --role assistant"
    assert parse_arguments(argv.split()).query_fields() == fields
    with TestClient(app(library, load()), "http://127.0.0.1:8377") as client:
        given = "q=parser&file=parser.py&title=work&agent=claude-code&role=assistant&no_sync=1"
        assert [hit["session_id"] for hit in client.get(f"/api/search?{given}").json()["hits"]] == [THREE]


FILTERS = (
    "agent:codex",
    "agent:nobody",
    "kind:user_text",
    "role:assistant",
    "tool:Edit",
    "file:parser.py",
    "title:work",
    "session:0199bbbb",
    "project:site",
    "project:/home/dev/shop",
    "since:2026-09-21T13:34",
    "until:2026-09",
)


@given(
    words=st.sampled_from(
        [
            "database",
            "parser",
            "yes",
            "/a/",
            "da*",
            "certificate database migrations",
            "look restart timeout the mail",
            "renew parser question",
            "connect getUserById answer",
        ]
    ),
    some=st.sets(st.sampled_from(FILTERS)),
    group=st.sampled_from(["none", "session"]),
)
@settings(max_examples=80, deadline=None)
def test_a_filter_narrows_and_never_widens(library: Library, words: str, some: set[str], group: str) -> None:
    """What fits the question is the same set with the same scores whatever the filters; they only take from it. The cut
    is relative to the best hit that is left, or a good answer elsewhere would empty a filtered one: so a session that
    only a filtered answer shows lies under the cut of the wider one."""
    chosen = sorted({f.partition(":")[0]: f for f in sorted(some)}.values())
    wide = _scores(library, words, group)
    for count in range(1, len(chosen) + 1):
        narrow = _scores(library, " ".join([words, *chosen[:count]]), group)
        if narrow is None or wide is None:  # another tier answered, and said so
            return
        best = max(wide.values(), default=0.0)
        for session, score in narrow.items():
            assert score <= wide.get(session, 0.15 * best) + 1e-6
        wide = narrow


def _scores(library: Library, text: str, group: str) -> dict[str, float] | None:
    """The best score of each session in the answer; None when its notes say that it is lenient."""
    answer = ask(library, text, group=group, limit=100)
    if {"relaxed", "weak"} & set(codes(answer)):
        return None
    scores: dict[str, float] = {}
    for hit in answer.hits:
        scores[hit.session] = max(hit.score, scores.get(hit.session, 0.0))
    return scores


# -- dates -------------------------------------------------------------------------------------------------------------


def test_a_day_is_local_and_whole_and_the_answer_states_the_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, erst: Erst
) -> None:
    """C38"""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    assert parse_since("2026-11-03", 0) == 1793631600.0  # midnight in Tokyo is 15:00 UTC of the day before
    assert parse_until("2026-11-03", 0) - parse_since("2026-11-03", 0) == 86400
    assert parse_until("2026-02", 0) - parse_since("2026-02", 0) == 28 * 86400
    now = parse_since("2026-11-03T12:00", 0)
    assert parse_since("yesterday", now) == parse_since("2026-11-02", now)
    assert parse_since("7d", now) == parse_since("1w", now) == now - 7 * 86400
    said = erst("search", "--no-sync", "x", "--since", "2026-11-03").out
    assert "since 2026-11-03 00:00 JST" in said
    with pytest.raises(UsageError, match=r"since \(2026-11-04 00:00 JST\) lies after until \(2026-11-04 00:00 JST\)"):
        checked(with_filters(Query("x"), parse("x since:2026-11-04 until:2026-11-03"), now))


# -- a session by its name ---------------------------------------------------------------------------------------------


def test_an_id_the_beginning_of_one_or_a_path_alone_finds_the_session(library: Library) -> None:
    path = ask(library, "parser").hits[0].session_path
    for text in (THREE, f"claude-code:{THREE}", THREE[:13], path):
        answer = ask(library, text)
        assert ids(answer)[:1] == [THREE], text
        assert not {"weak", "relaxed"} & set(codes(answer))
    assert ids(library.search(TWO, sync=False, scope="project", project=homes.SHOP)) == [TWO]
    assert ids(ask(library, THREE, agents=("codex",))) == []


@pytest.mark.parametrize("door", DOORS)
def test_an_id_the_beginning_of_one_or_a_path_finds_the_session_at_every_door(
    door: str, home: Path, erst: Erst
) -> None:
    (home / ".codex").mkdir()
    (home / "codex").symlink_to(home / ".codex")
    homes.write(home, "codex", ONE, ["a database question"])
    path = homes.write(home, "codex", TWO, ["nothing of the kind"])
    with Library() as opened:
        opened.sync()
        (known,) = opened.search("nothing", scope="global").hits
    for text in (TWO, f"codex:{TWO}", TWO[:13], known.session_path, str(path.resolve()).replace(str(home), "~")):
        seen = DOORS[door](erst, text, None)
        assert (seen.hits[:1], set(seen.notes) & {"weak", "relaxed"}) == ([TWO], set()), text


@pytest.mark.parametrize("door", DOORS)
def test_filters_typed_into_the_text_work_at_every_door(door: str, home: Path, erst: Erst) -> None:
    for agent, folder in (("claude-code", ".claude"), ("codex", ".codex")):
        (home / folder).mkdir()
        (home / agent).symlink_to(home / folder)
    homes.write(home, "codex", TWO, ["a parser question"], "/home/dev/site")
    file = homes.write(home, "claude-code", THREE, ["look at the parser", "yes"], title="Parser work")
    homes.append(file, call(3, "Edit", {"file_path": "src/app/parser.py"}))
    with Library() as opened:
        opened.sync()
    for text in (
        "parser file:parser.py", "parser title:work", "parser tool:edit", "parser project:shop",
        "parser role:assistant", "parser agent:claude-code", f"parser session:{THREE}", "parser kind:tool_input",
        "file:src/app/*.py",
    ):  # fmt: skip
        assert set(DOORS[door](erst, text, None).hits) == {THREE}, text
    assert DOORS[door](erst, "parser until:2020-01", None).hits == DOORS[door](erst, "parser since:2030-01", None).hits


# -- anything at all ---------------------------------------------------------------------------------------------------

ANYTHING = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="ab \"*/+-:()[]\\.^$?|{},'登", max_size=30),
    st.lists(
        st.sampled_from(
            ["file:", "title:", "since:", "/", "a*", '"', "-", "+x", "kind:x", "until:2026", "(", "database"]
        )
    ).map(" ".join),
)


@given(text=ANYTHING)
@settings(max_examples=150, deadline=None)
def test_any_text_gives_an_answer_or_a_clean_usage_error(library: Library, text: str) -> None:
    """C8"""
    try:
        answer = ask(library, text)
    except UsageError:
        return
    assert answer.total.count >= len(answer.hits)


@given(text=ANYTHING)
@settings(max_examples=40, deadline=None)
def test_any_text_over_http_gives_an_answer_or_a_clean_problem(library: Library, text: str) -> None:
    with TestClient(app(library, library.config), "http://127.0.0.1:8377", raise_server_exceptions=False) as client:
        given = client.get("/api/search", params={"q": text, "no_sync": "1"})
    assert given.status_code in (200, 422)
    assert given.json()


@given(text=ANYTHING)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_on_the_command_line_is_answered(library: Library, erst: Erst, text: str) -> None:
    """Over a home with answers."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ERST_HOME", library.folder)
        ran = erst("search", "--no-sync", "--", text)
        machine = erst("search", "--no-sync", "--json", "--", text)
    assert ran.status == machine.status
    assert ran.status in (0, 1, 2)
    assert "unexpected" not in ran.err + machine.err
    assert ran.status == 2 or bool(json.loads(machine.out)["hits"]) == (ran.status == 0)
    assert ran.status < 2 or (ran.err and not machine.out)


@given(text=ANYTHING)
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("door", ["history", "session_search"])
def test_any_text_over_mcp_gives_an_answer_or_a_clean_error(library: Library, door: str, text: str) -> None:
    async def call() -> CallToolResult:
        async with Client(server(library, library.config)) as client:
            asked = {"operation": "search", "scope": "global", "query": text}
            return await client.call_tool(door, asked if door == "history" else {"query": text})

    found = anyio.run(call)
    (block,) = found.content
    assert block.type == "text"
    assert "Traceback" not in block.text
    assert found.is_error or found.structured_content is not None
    assert not found.is_error or len(block.text) < 1000


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_run_of_characters_of_a_text_finds_it(library: Library, data: st.DataObject) -> None:
    """Also one that begins or ends inside a word. Only a run that is no more than a word which another text has stands
    for that word alone."""
    text = data.draw(st.sampled_from(TEXTS))
    start = data.draw(st.integers(0, len(text) - 1))
    run = text[start : data.draw(st.integers(start + 1, len(text)))]
    try:
        answer = ask(library, run, limit=100)
    except UsageError:
        assert not any(character.isalnum() for character in run)
        return
    if ONE not in ids(answer):
        assert len(exact(run)) == 1
        assert any(" ".join(folded(run).split()) in folded(hit.snippet) for hit in answer.hits)


@pytest.mark.parametrize("run", ["the c", "with c", "th c", " it with c", ": t"])
def test_a_few_letters_of_a_text_find_it_among_many_that_have_them_as_words(run: str, tmp_path: Path) -> None:
    """A full page of others that do not hold the run as it stands does not hide the one that does."""
    homes.write(tmp_path, "claude-code", ONE, list(TEXTS))
    for number in range(12):
        said = [f"c and t in {number}", "no t. c"]
        homes.write(tmp_path, "codex", f"0199dddd-0000-7000-8000-0000000000{number:02}", said)
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as opened:
        page = opened.search(run, scope="global", limit=5)
        assert ids(page)[0] == ONE
        seen = ids(page)
        while page.next_cursor:
            page = opened.search(run, scope="global", limit=5, cursor=page.next_cursor)
            seen += ids(page)
        assert len(seen) == len(set(seen))


# -- paths, as values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('Edit {"file_path":"src/a.py","old_string":"\\"path\\": \\"no.py\\""}', ("src/a.py",)),
        ('read {"filePath": "C:\\\\src\\\\a.py"}', ("C:\\src\\a.py",)),
        ("apply_patch *** Begin Patch\n*** Update File: a dir/b.sql\n@@", ("a dir/b.sql",)),
        ('exec {"input":"*** Begin Patch\\n*** Add File: a.txt\\n+x\\n*** Move to: c.txt\\n"}', ("a.txt", "c.txt")),
        ('shell {"command":["bash","-lc","cat src/x.ts README.md http://x.y/z.js"]}', ("src/x.ts", "README.md")),
        ('many {"files":["a.py","b/c.py"]}', ("a.py", "b/c.py")),
        ("diff --- a/src/x.py\n+++ b/src/x.py\n", ("src/x.py",)),
        ('x {"url":"http://a/b.py","path":""}', ()),
    ],
)
def test_the_paths_of_a_call_are_read_from_its_arguments(said: str, found: tuple[str, ...]) -> None:
    assert paths(said) == found


@given(text=st.text(alphabet='{}":/\\.*- abcpathfilecommand\n', max_size=200))
@settings(max_examples=100)
def test_any_call_has_plausible_paths_or_none(text: str) -> None:
    for path in paths('Edit {"command":"' + text + text):
        assert touched(path, "/home/dev/shop").path
        assert asked(path, "/home/dev") is not None
