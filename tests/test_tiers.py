"""Which tier answers a question, what its note says, and that an answer about something absent is no confident one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import homes
import pytest

from erstwhile.library import Library
from erstwhile.model import Answer

MAIL = "0199aaaa-0000-7000-8000-000000000001"
CODE = "0199bbbb-0000-7000-8000-000000000002"
FILL = "0199cccc-0000-7000-8000-000000000003"
FILLER = [f"please look at item {n} of the list and tell me what happened to it" for n in range(60)]


@pytest.fixture(scope="module", params=["tantivy", "fts5", "tail"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The same history in either index, and with all of it behind the index."""
    base = tmp_path_factory.mktemp("tiers")
    homes.write(base, "claude-code", MAIL, ["renew the certificate of the mail server", "the verification failed"])
    homes.write(
        base, "claude-code", CODE, ["HTTPS was down for Connection 4", "call getUserById, then retry the upload"]
    )
    homes.write(base, "codex", FILL, FILLER)
    with pytest.MonkeyPatch.context() as patched:
        if request.param == "fts5":
            patched.setitem(sys.modules, "tantivy", None)
            patched.delitem(sys.modules, "erstwhile.lexical", raising=False)
        with Library(data=base / "erst", roots=homes.roots(base)) as opened:
            if request.param == "tail":
                opened.search("anything at all", scope="global")
            opened.sync()
            yield opened


def ask(library: Library, text: str, **filters: Any) -> Answer:
    return library.search(text, sync=False, scope="global", **filters)


def notes(answer: Answer) -> dict[str, str]:
    return {note.code: note.text for note in answer.notes}


def ids(answer: Answer) -> list[str]:
    return [hit.session_id for hit in answer.hits]


@pytest.mark.parametrize("text", ["getUserById", "user by id", "certificate mail", '"mail server"', "HTTPS down"])
def test_what_stands_as_typed_is_found_without_a_note(library: Library, text: str) -> None:
    answer = ask(library, text)
    assert answer.hits
    assert not {"relaxed", "weak"} & set(notes(answer))


def test_a_compound_that_nobody_wrote_is_found_by_its_parts_and_the_answer_says_so(library: Library) -> None:
    """C7"""
    answer = ask(library, "HTTPSConnection")
    assert ids(answer) == [CODE]
    assert "parts scattered" in notes(answer)["relaxed"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("certifcate", "certificate"),
        ("certificaet", "certificate"),
        ("certtificate", "certificate"),
        ("certificite", "certificate"),
        ("verfication", "verification"),
        ("uplaod", "upload"),
        ("ertificate", None),
    ],
)
def test_a_misspelt_word_is_found_and_the_answer_says_what_it_was_taken_for(
    library: Library, wrong: str, right: str | None
) -> None:
    answer = ask(library, wrong)
    assert ids(answer)[0] in (MAIL, CODE)
    assert right is None or f"{wrong} was taken as {right}" in notes(answer)["relaxed"]
    assert "relaxed" in notes(answer)
    assert answer.hits[0].highlights or right is None


def test_a_quoted_or_needed_word_is_never_taken_for_another(library: Library) -> None:
    assert ids(ask(library, '"certifcate"')) == ids(ask(library, "+certifcate")) == []


def test_a_question_about_something_absent_is_marked_or_empty(library: Library) -> None:
    """C15"""
    answer = ask(library, "what happened to the volcano that erupted over Pompeii")
    assert not answer.hits or "weak" in notes(answer)
    assert ask(library, "basalt Charlemagne Hanseatic").hits == ()


def test_a_question_that_its_best_hit_holds_is_not_marked(library: Library) -> None:
    answer = ask(library, "how did we renew the certificate of that mail server back then")
    assert ids(answer)[0] == MAIL
    assert "weak" not in notes(answer)


def test_pages_of_a_lenient_tier_go_on_in_it(library: Library) -> None:
    """Point 6: pages fit together whatever answered."""
    whole = [hit.message_index for hit in ask(library, "happned lsit", group="none", limit=60).hits]
    pages, cursor = list[int](), None
    for _ in range(8):
        page = ask(library, "happned lsit", group="none", limit=10, cursor=cursor)
        pages += [hit.message_index for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert pages == whole
    assert len(whole) == len(set(whole)) > 10


@pytest.mark.parametrize("group", ["session", "none"])
def test_by_time_the_order_is_total_and_turns_round(library: Library, group: str) -> None:
    """C18"""
    newest = [
        (h.session, h.message_index) for h in ask(library, "please item", group=group, sort="newest", limit=100).hits
    ]
    oldest = [
        (h.session, h.message_index) for h in ask(library, "please item", group=group, sort="oldest", limit=100).hits
    ]
    assert newest == oldest[::-1]
    assert newest
