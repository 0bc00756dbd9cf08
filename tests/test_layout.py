"""Cells, lines and colours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erstwhile.layout import broken, cells, cut, marked, padded, painted


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("数据库", 6), ("한국", 4), ("e\u0301", 1), ("a\u200db", 2), ("", 0), ("→", 1)]
)
def test_wide_characters_take_two_columns_and_combining_ones_none(text: str, columns: int) -> None:
    assert cells(text) == columns


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("数据库迁移超时", 6, ["数据库", "迁移超", "时"]),
        ("abcdefghij kl", 5, ["abcde", "fghij", "kl"]),
        ("exact fit", 9, ["exact fit"]),
        ("", 9, []),
    ],
)
def test_lines_break_at_spaces_and_between_wide_characters(text: str, width: int, lines: list[str]) -> None:
    assert [text[start:end] for start, end in broken(text, width)] == lines


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=60), st.integers(2, 12))
def test_no_line_is_too_wide_and_no_character_but_spaces_is_lost(text: str, width: int) -> None:
    lines = [text[start:end] for start, end in broken(text, width)]
    assert all(cells(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_what_is_cut_ends_in_an_ellipsis_and_fits() -> None:
    assert cut("数据库迁移", 6) == "数据…"
    assert cut("abc", 3) == "abc"
    assert padded("数据", 6) == "数据  "


def test_marks_keep_their_place_when_a_line_breaks_inside_one() -> None:
    text = "the certificate expired"
    assert marked(text, (4, 12), [(4, 15), (16, 23)], "1", True) == "\x1b[1mcertific\x1b[0m"
    assert marked(text, (0, 23), [(16, 23), (4, 15)], "1", False) == text


def test_without_colour_nothing_is_added() -> None:
    assert painted("text", "1", False) == "text"
    assert painted("", "1", True) == ""
