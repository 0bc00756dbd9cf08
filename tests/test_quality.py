"""What the product finds does not fall below its floors: on our own set always, on a sample of the public ones where
they are at hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import quality
from quality_model import Set
from quality_sets import ALL

SAMPLES = {
    "locomo-document": (8, {"ndcg": 0.488, "recall": 0.644}),
    "locomo-session": (8, {"hit5": 0.91}),
    "cosqa": (5, {"ndcg": 0.339}),
    "cranfield": (3, {"ndcg": 0.348}),
    "jsquad": (18, {"ndcg": 0.914}),
    "cmrc": (18, {"ndcg": 0.972}),
}
"""Every so many-th question, what a minute allows, and the floors of just these questions: a hundredth below what they
give. The floors of the whole sets, which samples scatter around, are those of `benchmarks/quality.py`."""
PUBLIC = [chosen for chosen in ALL if chosen.name in SAMPLES]


def test_our_own_questions_find_their_sessions(tmp_path: Path) -> None:
    chosen = next(one for one in ALL if not one.outside)
    (row,) = quality.scored(chosen, quality.DATA, tmp_path, only="erstwhile")
    assert (row.questions, row.unanswerable) == (115, 40)
    assert row.below() == []


@pytest.mark.parametrize("chosen", PUBLIC, ids=lambda chosen: chosen.name)
def test_a_sample_of_the_public_questions_stays_above_the_floors(chosen: Set, tmp_path: Path) -> None:
    if not quality.DATA.is_dir():
        pytest.skip(f"no public sets in {quality.DATA}; ERST_QUALITY_DATA names their folder")
    every, floors = SAMPLES[chosen.name]
    (row,) = quality.scored(chosen._replace(floors=floors), quality.DATA, tmp_path, every, only="erstwhile")
    assert row.below() == []


def test_a_row_below_its_floor_is_named() -> None:
    row = quality.Row("coding", "erstwhile", 9, {"hit1": 0.5, "hit5": 0.9}, 1.0, {"hit1": 0.8, "hit5": 0.9}, {}, 0, 0)
    assert row.below() == ["coding hit1 0.500 < 0.8"]


def test_a_peer_is_asked_by_a_command_that_prints_session_ids(tmp_path: Path) -> None:
    chosen = next(one for one in ALL if not one.outside)
    listing = (
        f"{sys.executable} -c \"import pathlib, sys; [print(p) for p in pathlib.Path(sys.argv[2]).rglob('*.jsonl')"
        " if sys.argv[1] in p.read_text(encoding='utf-8')]\" {query} {home}"
    )
    rows = quality.scored(chosen, quality.DATA, tmp_path, 8, [listing], only=sys.executable)
    assert [row.way for row in rows] == [sys.executable]
    assert 0.1 < rows[0].means["hit1"] < 0.6, "as typed, only names and single words are found"
