"""Faults that users reported of tools of this kind, about query texts, scripts and the meaning of results. Each names
the cases it covers; what has a test of its own elsewhere is not repeated here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import homes
import pytest
from conftest import Erst
from hypothesis import given, settings
from hypothesis import strategies as st
from test_envelope import DOORS

from erstwhile.errors import UsageError
from erstwhile.library import Library

TEXTS = {
    "alpha": "alpha beta",
    "wrong": "it was the wrong-book after all",
    "path": "saved to ~/Downloads/transcripts yesterday",
    "ask": "run ask-codex now",
    "only": "please ask somebody",
    "write": "call atomic_write_json here",
    "i18n": "the resolver in src/lib/i18n.ts and @scope/pkg over proto://x",
    "dec": "see DEC-0054 for that",
    "version": "upgraded to 1.0.21",
    "user": "then getUserById fails",
    "https": "HTTPS was down for Connection 4",
    "login": "修复了登录超时的问题",
    "table": "新增用户表",
    "glued": "重跑gen-report后再试",
    "db": "the db is away",
    "kana": "データベースに接続できません",
    "hangul": "데이터베이스 연결 실패",
}
IDS = {name: f"0199aaaa-0000-7000-8000-0000000000{number:02}" for number, name in enumerate(TEXTS)}
NAMES = {native: name for name, native in IDS.items()}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    base = tmp_path_factory.mktemp("cases")
    for name, text in TEXTS.items():
        homes.write(base, "codex", IDS[name], [text])
    with Library(data=base / "erst", roots=homes.roots(base)) as opened:
        opened.sync()
        yield opened


def found(library: Library, text: str) -> list[str]:
    return [NAMES[hit.session_id] for hit in library.search(text, sync=False, scope="global").hits]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("alpha OR wrong-book", {"alpha", "wrong"}),  # C1
        ("alpha AND wrong-book", {"alpha", "wrong"}),
        ("Downloads/transcripts", {"path"}),  # C2
        ("~/Downloads/transcripts", {"path"}),
        ("ask-codex", {"ask"}),  # C3
        ("atomic_write_json", {"write"}),  # C4
        ("atomic", {"write"}),
        ("write", {"write"}),
        ("json", {"write"}),
        ("resolver src/lib/i18n.ts", {"i18n"}),  # C5
        ("@scope/pkg", {"i18n"}),
        ("proto://x", {"i18n"}),
        ("resolver src/lib/absent.ts", {"i18n"}),
        ("DEC-0054", {"dec"}),  # C6
        ('"DEC-0054"', {"dec"}),
        ("1.0.21", {"version"}),
        ('"1.0.21"', {"version"}),
        ("user by id", {"user"}),  # C7
        ("getUserById", {"user"}),
        ("登录超时", {"login"}),  # C10
        ("用户", {"table"}),  # C11
        ("表", {"table"}),
        ("db", {"db"}),
        ("gen-report", {"glued"}),  # C12
        ("重跑", {"glued"}),
        ("再试", {"glued"}),
        ("接続", {"kana"}),
        ("연결", {"hangul"}),
    ],
)
def test_what_is_typed_finds_the_text_that_holds_it(library: Library, text: str, first: set[str]) -> None:
    """C1, C2, C3, C4, C5, C6, C7, C10, C11, C12"""
    hits = found(library, text)
    assert set(hits[: len(first)]) == first


def test_only_a_sign_after_a_space_excludes(library: Library) -> None:
    """C6"""
    assert found(library, "DEC-0054 -that") == []
    assert found(library, "ask -codex") == ["only"]


def test_parts_of_a_compound_rank_below_it(library: Library) -> None:
    """C3, C7: a compound that was typed does not match its parts scattered, unless there is nothing else, and then the
    answer says so."""
    assert "only" not in found(library, "ask-codex")[:1]
    answer = library.search("HTTPSConnection", sync=False, scope="global")
    assert [note.code for note in answer.notes] == ["relaxed"]


@pytest.mark.parametrize("text", ["", "   ", '"', '"*"', "AND", "NOT", "(", 'a"b', "*", "-", "x" * 10_000])
def test_an_empty_text_or_marks_alone_never_find_everything(library: Library, text: str) -> None:
    """C8"""
    try:
        hits = found(library, text)
    except UsageError:
        return
    assert len(hits) <= 2


def test_an_expression_that_cannot_be_read_is_named_with_its_place(library: Library) -> None:
    """C9"""
    answer = library.search("/ask(/", sync=False, scope="global")
    assert answer.notes[0].code == "malformed_query"
    assert "/ask(/" in answer.notes[0].text


@given(text=st.sampled_from(sorted(TEXTS.values())), data=st.data())
@settings(max_examples=100, deadline=None)
def test_any_run_of_cjk_characters_finds_its_text(library: Library, text: str, data: st.DataObject) -> None:
    """C10, C11, C12: the whole kind, one character included."""
    han = [at for at, character in enumerate(text) if ord(character) > 0x2E7F]
    if han:
        start = data.draw(st.sampled_from(han))
        end = data.draw(st.integers(start + 1, len(text)))
        hits = [hit.snippet for hit in library.search(text[start:end], sync=False, scope="global", limit=100).hits]
        assert text in hits


@pytest.mark.parametrize("door", DOORS)
def test_a_chinese_question_is_answered_at_every_door(door: str, home: Path, erst: Erst) -> None:
    """C13"""
    (home / ".codex").mkdir()
    (home / "codex").symlink_to(home / ".codex")
    homes.write(home, "codex", IDS["login"], [TEXTS["login"]])
    with Library() as opened:
        opened.sync()
    assert DOORS[door](erst, "登录超时", None).hits == [IDS["login"]]
    assert DOORS[door](erst, "网络断开", None).hits == []


def test_scheduled_runs_do_not_crowd_out_a_person(tmp_path: Path) -> None:
    """C17: sixty sessions with the same word do not keep the one of a person from the first rows, where its title tells
    it apart."""
    for number in range(60):
        homes.write(tmp_path, "codex", f"0199bbbb-0000-7000-8000-0000000000{number:02}", ["nightly backup report"] * 40)
    homes.write(tmp_path, "claude-code", IDS["alpha"], ["why did the backup fail on tuesday", "the disk was full"])
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as opened:
        grouped = opened.search("backup fail", scope="global")
        assert grouped.hits[0].session_id == IDS["alpha"]
        common = opened.search("backup", scope="global", limit=100)
        assert len({hit.session for hit in common.hits}) == len(common.hits) == 61


def test_a_huge_row_is_shown_by_the_piece_around_the_word(tmp_path: Path) -> None:
    """C19"""
    homes.write(tmp_path, "codex", IDS["alpha"], ["padding " * 200_000 + "walrus " + "padding " * 200_000])
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as opened:
        (hit,) = opened.search("walrus", scope="global").hits
        assert len(hit.snippet) <= 240
        assert "walrus" in hit.snippet


@pytest.mark.parametrize(
    ("cwd", "spellings"),
    [
        ("/home/u/my-app.v2_x", ("/home/u/my-app.v2_x", "/home/u/my-app.v2_x/", "my-app.v2_x", "MY-APP.v2_x")),
        ("C:\\src\\my-app", ("C:\\src\\my-app", "c:/src/my-app", "my-app")),
    ],
)
def test_a_project_is_found_in_every_spelling(cwd: str, spellings: tuple[str, ...], tmp_path: Path) -> None:
    """C39"""
    homes.write(tmp_path, "codex", IDS["alpha"], ["walrus"], cwd)
    homes.write(tmp_path, "codex", IDS["wrong"], ["walrus"], "/home/u/my/app/v2/x")
    with Library(data=":memory:", roots=homes.roots(tmp_path)) as opened:
        for spelling in spellings:
            hits = opened.search(f'walrus project:"{spelling}"', scope="global").hits
            assert [hit.session_id for hit in hits] == [IDS["alpha"]], spelling
