"""Snippets: what is shown of a text, what is highlighted, and that nothing in it can act on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erstwhile.snippet import snippet, visible
from erstwhile.text import analyse, terms

FILLER = "the quick brown fox jumps over a lazy dog while nobody looks. "


def wanted_by(query: str) -> dict[str, float]:
    wanted: dict[str, float] = {}
    for term in terms(query):
        for token in (*term.strong, *filter(None, [term.whole])):
            wanted[token] = 1.0
    return wanted


def highlighted(text: str, query: str, width: int = 240) -> list[str]:
    shown, places = snippet(text, wanted_by(query), width)
    return [shown[start:end] for start, end in places]


def test_a_short_text_is_shown_whole_without_ellipsis() -> None:
    assert snippet("The handshake failed", {"handshak"}) == ("The handshake failed", ((4, 13),))


def test_the_snippet_surrounds_the_word_in_the_middle_and_shows_both_cuts() -> None:
    shown, places = snippet(FILLER * 20 + "a broken handshake here " + FILLER * 20, {"handshak"})
    assert len(shown) <= 240
    assert shown[0] == shown[-1] == "…"
    assert [shown[start:end] for start, end in places] == ["handshake"]
    assert 60 < places[0][0] < 180


def test_cuts_fall_between_words() -> None:
    text = FILLER * 20 + "handshake " + FILLER * 20
    shown, _ = snippet(text, {"handshak"})
    assert set(shown.strip("…").split()) <= set(text.split())


def test_the_densest_run_wins_over_an_earlier_single_word() -> None:
    text = "handshake " + FILLER * 10 + "the tls handshake timed out " + FILLER * 10
    shown, _ = snippet(text, {"handshak", "tls", "time"})
    assert "tls handshake timed" in shown


def test_the_same_word_many_times_does_not_beat_different_words() -> None:
    text = "error " * 30 + FILLER * 10 + "error in the parser " + FILLER * 10
    assert "parser" in snippet(text, {"error", "parser"})[0]


def test_a_rare_word_beats_two_common_ones_by_weight() -> None:
    text = "quick fox " + FILLER * 10 + "zanzibar " + FILLER * 10
    assert "zanzibar" in snippet(text, {"quick": 0.2, "fox": 0.2, "zanzibar": 5.0})[0]


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("open src/lib/i18n.ts now", "src/lib/i18n.ts", ["src/lib/i18n.ts"]),
        ("open src/lib/i18n.ts now", "i18n", ["i18n"]),
        ("call getUserById now", "getUserById", ["getUserById"]),
        ("call getUserById now", "user", ["User"]),
        ("修复了登录超时的问题", "登录超时", ["登录超时"]),
        ("修复了登录超时，再登录", "登录", ["登录", "登录"]),
        ("重跑gen-report后再试", "gen-report", ["gen-report"]),
        ("Ｇｅｎ ｒｅｐｏｒｔ", "gen", ["Ｇｅｎ"]),
        ("Die Straße", "strasse", ["Straße"]),
        ("Running runs", "run", ["Running", "runs"]),
        ("no match", "absent", []),
    ],
)
def test_highlights_cover_the_matched_words_as_they_are_written(text: str, query: str, words: list[str]) -> None:
    assert highlighted(text, query) == words


def test_a_phrase_is_highlighted_only_side_by_side() -> None:
    shown, places = snippet("new york is not york new, but New York", (), phrases=[("new", "york")])
    assert [shown[start:end] for start, end in places] == ["new york", "New York"]


def test_lines_and_tabs_become_single_spaces() -> None:
    assert snippet("one\r\n\r\n\ttwo \n three", {"two"}) == ("one two three", ((4, 7),))


def test_a_word_in_the_middle_of_twelve_megabytes_is_shown() -> None:
    """C19: one row of 12 MB."""
    text = FILLER * 100_000 + "the Handshakes failed " + FILLER * 100_000
    shown, places = snippet(text, {"handshak": 3.0, "absent": 1.0})
    assert [shown[start:end] for start, end in places] == ["Handshakes"]
    assert shown[0] == shown[-1] == "…"


def test_a_long_word_without_spaces_is_cut_at_the_width() -> None:
    shown, places = snippet("x" * 100_000, {"y"}, 50)
    assert (len(shown), places) == (49, ())
    assert shown.endswith("x…")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196;1mred\x1b[m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0\x1b\\sixel", "sixel"),
        ("\x1b]0;never closed", "0;never closed"),
        ("\x1b(Bplain\x1b", "plain"),
        ("a\x07b\x08c\x00d\x7fe", "abcde"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("a\u2066b\u2069c\u200fd\u061c", "abcd"),
        ("ze\u200bro\ufeff wi\u00addth\u2060", "zero width"),
        ("tag\U000e0041\U000e007fs", "tags"),
        ("cut \udcb2 off", "cut \ufffd off"),
        ("one\u2028two\x85three\x0bfour", "one two three four"),
        ("a\r\nb\rc\td", "a b c d"),
        ("plain, ünïcode 登录 🚀", "plain, ünïcode 登录 🚀"),
        ("", ""),
    ],
)
def test_what_acts_on_a_terminal_is_removed(text: str, shown: str) -> None:
    """C40: control codes reach no reader."""
    assert visible(text) == shown


def test_lines_and_tabs_stay_when_they_are_kept() -> None:
    assert visible("a\r\nb\tc\rd\x1b[0m\x00", keep_lines=True) == "a\nb\tc\nd"


# -- any text ----------------------------------------------------------------------------------------------------------

WORDS = [
    "getUserById",
    "src/lib",
    "登录",
    "超时",
    "handshake",
    "Handshakes",
    "x" * 50,
    "한",
    "ﾃﾞ",
    "क",
    "İ",
    "🚀",
    "👍🏽",
]
MARKS = ["e\u0301", "\u093e", "\ufe0f", "\u1161"]
CONTROLS = ["\0", "\udcb2", "\x1b[31m", "\x1b]0;", "\x07", " ", "\r\n", "\n", "\u202e", "\u200b"]
PIECES = st.sampled_from([*WORDS, *MARKS, *CONTROLS])
TEXTS = st.one_of(st.text(alphabet=st.characters(codec=None), max_size=80), st.lists(PIECES, max_size=60).map("".join))
WIDTHS = st.integers(min_value=3, max_value=120)


@given(TEXTS, WIDTHS, st.data())
def test_a_snippet_of_any_text_is_short_whole_and_safe(text: str, width: int, data: st.DataObject) -> None:
    stream, wholes = analyse(text)
    wanted = data.draw(st.sets(st.sampled_from(stream + wholes), max_size=5)) if stream else {"handshak"}
    phrases = [stream[at : at + 2] for at in range(min(2, len(stream)))]
    shown, places = snippet(text, wanted, width, phrases)
    assert len(shown) <= width
    shown.encode()
    assert visible(shown) == shown
    assert "  " not in shown
    assert "\n" not in shown
    last = 0
    for start, end in places:
        assert last <= start < end <= len(shown)
        last = end
    body = shown.removeprefix("…")
    if shown != body and body and "…" not in text:
        assert unicodedata.category(body[0])[0] != "M"


@given(TEXTS)
def test_visible_text_stays_as_it_is_and_encodes(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    once.encode()
    lines = visible(text, keep_lines=True)
    assert visible(lines, keep_lines=True) == lines
    assert "\r" not in lines


@given(TEXTS)
def test_a_matched_word_of_a_short_text_is_always_highlighted(text: str) -> None:
    shown, places = snippet(f"{visible(text)} needle", {"needl"}, 10_000)
    assert "needle" in {shown[start:end] for start, end in places}
