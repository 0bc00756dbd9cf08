"""`--explain`: the numbers add up to the score, on every door, and fit a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import homes
import pytest
from conftest import Erst
from starlette.testclient import TestClient

from erstwhile.http import app
from erstwhile.layout import cells
from erstwhile.library import Library

ONE = "0199aaaa-0000-7000-8000-000000000001"
TWO = "0199bbbb-0000-7000-8000-000000000002"
QUESTIONS = (
    "certificate server",
    "mail server",
    "certif* renewal",
    "登录超时",
    r"certificate /mail \w+/",
    "certifcate",
    "getUserById by",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    base = tmp_path_factory.mktemp("explain")
    texts = [
        "the certificate of the mail server",
        "renewal of it",
        "getUserById; 登录超时",
        "certificate " * 80,
        "server",
    ]
    homes.write(base, "claude-code", ONE, texts, title="Certificate renewal")
    homes.write(base, "codex", TWO, ["a certificate of another kind for mail boxes", "yes"])
    with Library(data=base / "erst", roots=homes.roots(base)) as opened:
        opened.sync()
        yield opened


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("group", ["none", "session"])
def test_what_the_terms_add_is_the_score(library: Library, text: str, group: str) -> None:
    answer = library.search(text, sync=False, scope="global", group=group, explain=True)
    assert answer.hits
    for hit in answer.hits:
        why: dict[str, Any] = hit.explanation or {}
        assert why["tier"] == ("close" if text == "certifcate" else "exact")
        words = sum(term["adds"] for term in [*why["terms"], *why.get("side_by_side", ())]) + why.get("matches", 0.0)
        assert words == pytest.approx(why["document_score"], abs=1e-4)
        added = sum(part["adds"] for part in why["session"]) if "session" in why else why["document_score"]
        assert added == pytest.approx(hit.score, abs=1e-4)
        assert why["copies"] == hit.copies


def test_own_inherited_and_neighbours_words_are_told_apart(library: Library) -> None:
    hits = library.search("certificate", sync=False, scope="global", group="none", explain=True).hits
    first = next(hit for hit in hits if hit.session_id == ONE and hit.message_index == 0)
    (term,) = (first.explanation or {})["terms"]
    assert (term["own"], term["inherited"], term["weight"]) == (1, 1, 1.0)
    assert term["frequency"] == 1.5


def test_words_side_by_side_are_said_to_add(library: Library) -> None:
    hit = library.search("mail server", sync=False, scope="global", explain=True).hits[0]
    (pair,) = (hit.explanation or {})["side_by_side"]
    assert (pair["terms"], pair["frequency"], "matches" in (hit.explanation or {})) == (["mail", "server"], 1, False)
    assert pair["adds"] > 0


def test_without_being_asked_nothing_is_explained(library: Library) -> None:
    assert library.search("certificate", sync=False, scope="global").hits[0].explanation is None


def test_http_and_the_command_line_explain_the_same(library: Library, sample: Path, erst: Erst) -> None:
    with TestClient(app(library, library.config), "http://127.0.0.1:8377") as client:
        shape = client.get("/api/search?q=certificate&explain=true&no_sync=1").json()["hits"][0]["explanation"]
    assert shape == library.search("certificate", sync=False, scope="global", explain=True).hits[0].explanation
    erst("index")
    said = json.loads(erst("search", "--no-sync", "--explain", "--json", "certificate").out)
    assert {"tier", "terms", "copies", "weights", "neighbours"} <= set(said["hits"][0]["explanation"])


def test_the_text_form_fits_eighty_columns(sample: Path, erst: Erst) -> None:
    erst("index")
    said = erst("search", "--no-sync", "--explain", "certificate renewal 登录超时", width=80).out
    assert "adds" in said
    assert max(cells(line) for line in said.splitlines() if "http" not in line) <= 80
