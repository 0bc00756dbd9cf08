"""`ranking=plain` against textbook BM25, written here from the formula alone, on every door."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from math import log
from pathlib import Path

import homes
import pytest
from conftest import Erst

from erstwhile.library import Library

WORDS = "run running runs the a of cache caching cached fail failed failure index indexes build is when to".split()
SESSIONS = 30


def conversations() -> dict[str, list[str]]:
    """Sessions of plain words, many with the same stem."""
    pick = random.Random(7)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    return {
        f"0199{number:04x}-0000-7000-8000-000000000000": [
            " ".join(pick.choices(WORDS, weights, k=pick.randint(1, 60))) for _ in range(pick.randint(1, 9))
        ]
        for number in range(SESSIONS)
    }


def textbook(texts: dict[tuple[str, int], str], query: str) -> dict[tuple[str, int], float]:
    """BM25 with k1 = 1.2, b = 0.75 and Lucene's IDF over lower-case words, of every text that holds one."""
    bags = {place: Counter(re.findall(r"[a-z]+", text.lower())) for place, text in texts.items()}
    average = sum(bag.total() for bag in bags.values()) / len(bags)
    scores: dict[tuple[str, int], float] = {}
    for word in re.findall(r"[a-z]+", query.lower()):
        holding = sum(word in bag for bag in bags.values())
        idf = log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
        for place, bag in bags.items():
            if tf := bag[word]:
                gain = idf * tf / (tf + 1.2 * (0.25 + 0.75 * bag.total() / average))
                scores[place] = scores.get(place, 0.0) + gain
    return scores


@pytest.fixture
def library(tmp_path: Path) -> Library:
    for native, texts in conversations().items():
        homes.write(tmp_path, "codex", native, texts, title="caching failures when running")
    library = Library(data=tmp_path / "erst", roots=homes.roots(tmp_path, "codex"))
    library.sync()
    return library


@pytest.mark.parametrize(
    "query", ["running", "the cached index", "why is the build failing when running to failure of a"]
)
def test_plain_scores_are_those_of_textbook_bm25(library: Library, query: str) -> None:
    texts = {(native, at): text for native, said in conversations().items() for at, text in enumerate(said)}
    expected = textbook(texts, query)
    found: dict[tuple[str, int], float] = {}
    cursor = None
    while cursor or not found:
        answer = library.search(query, sync=False, ranking="plain", group="none", limit=100, cursor=cursor)
        found |= {(hit.session_id, hit.message_index): hit.score for hit in answer.hits}
        cursor = answer.next_cursor
        if cursor is None:
            break
    kept = {place: score for place, score in expected.items() if score >= 0.15 * max(expected.values())}
    assert found == pytest.approx(kept, abs=1e-6)
    assert answer.total == (len(kept), True)


def test_plain_ranks_a_session_by_its_best_document(library: Library) -> None:
    texts = {(native, at): text for native, said in conversations().items() for at, text in enumerate(said)}
    best: dict[str, float] = {}
    for (native, _), score in textbook(texts, "failed caching").items():
        best[native] = max(score, best.get(native, 0.0))
    answer = library.search("failed caching", sync=False, ranking="plain")
    assert [hit.score for hit in answer.hits] == pytest.approx(sorted(best.values(), reverse=True)[:10], abs=1e-6)
    assert all(hit.score == pytest.approx(best[hit.session_id], abs=1e-6) for hit in answer.hits)


def test_a_word_is_not_its_other_forms_and_a_whole_name_counts_beside_its_parts(tmp_path: Path) -> None:
    texts = {"a": ["the runner runs"], "b": ["run it"], "c": ["RunIt works"], "d": ["I run runIt"]}
    for name, said in texts.items():
        homes.write(tmp_path, "codex", f"0199{name * 4}-0000-7000-8000-000000000000", said)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path, "codex")) as library:
        library.sync()
        plain = library.search("runs", sync=False, ranking="plain")
        assert [hit.session_id[4] for hit in plain.hits] == ["a"]
        whole = library.search("runIt", sync=False, ranking="plain")
        assert {hit.session_id[4] for hit in whole.hits[:2]} == {"c", "d"}


def test_excluded_and_quoted_words_hold_under_plain_too(library: Library) -> None:
    answer = library.search('"cached index" -failure', sync=False, ranking="plain", group="none", limit=100)
    expected = [
        t for said in conversations().values() for t in said if " cached index " in f" {t} " and "failure" not in t
    ]
    assert answer.total.count == len(expected) > 0


def test_every_door_ranks_plainly_when_asked(sample: Path, erst: Erst) -> None:
    erst("index")
    asked = json.loads(erst("search", "certificate", "expired", "--ranking", "plain", "--json").out)
    usual = json.loads(erst("search", "certificate", "expired", "--json").out)
    assert (asked["ranking"], usual["ranking"]) == ("plain", "contextual")
    assert [h["score"] for h in asked["hits"]] != [h["score"] for h in usual["hits"]]
    (sample / "erst" / "config.toml").write_text('[search]\nranking = "plain"\n', encoding="utf-8")
    assert json.loads(erst("search", "certificate", "expired", "--json").out)["hits"] == asked["hits"]
