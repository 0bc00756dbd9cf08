"""An answer says what it means: every state that it can be in, at every door, each another answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import homes
import pytest
from conftest import Erst
from mcp import Client
from starlette.testclient import TestClient

from erstwhile import render
from erstwhile.config import load
from erstwhile.http import app
from erstwhile.library import Library
from erstwhile.lock import IndexerLock
from erstwhile.mcp import server

ONE = "0199aaaa-0000-7000-8000-000000000001"
TWO = "0199aaaa-0000-7000-8000-000000000002"
CODEX = "0199bbbb-0000-7000-8000-000000000003"
GONE = "0199cccc-0000-7000-8000-000000000004"


class Seen(NamedTuple):
    """What a door showed: session ids of the hits, notes by code, and everything as the reader sees it."""

    hits: list[str]
    notes: dict[str, tuple[str, int | None]]
    text: str


Door = Callable[[Erst, str, str | None], Seen]


def of(envelope: dict[str, Any], text: str = "") -> Seen:
    notes = {note["code"]: (note["text"], note["count"]) for note in envelope["notes"]}
    return Seen([hit["session_id"] for hit in envelope["hits"]], notes, text)


# -- doors -------------------------------------------------------------------------------------------------------------


def python(erst: Erst, text: str, current: str | None) -> Seen:
    with Library() as library:
        return of(render.answer(library.search(text, current_session=current)))


def terminal(erst: Erst, text: str, current: str | None) -> Seen:
    argv = ["search", text, "--json", *(("--current-session", current) if current else ())]
    ran, plain = erst(*argv), erst(*(word for word in argv if word != "--json"))
    seen = of(json.loads(ran.out), plain.out)
    assert ran.status == plain.status == (0 if seen.hits else 1)
    return seen


def http(erst: Erst, text: str, current: str | None) -> Seen:
    with Library() as library, TestClient(app(library, load()), "http://127.0.0.1:8377") as client:
        asked = {"q": text, **({"current_session": current} if current else {})}
        return of(client.get("/api/search", params=asked).json())


def tool(name: str, **fixed: str) -> Door:
    def door(erst: Erst, text: str, current: str | None) -> Seen:
        async def call() -> Seen:
            async with Client(server(library, library.config)) as client:
                asked = {**fixed, "query": text, "current_session": current}
                found = await client.call_tool(name, asked)
                (block,) = found.content
                assert block.type == "text"
                assert not found.is_error, block.text
                return of(found.structured_content or {}, block.text)

        with Library() as library:
            return anyio.run(call)

    return door


DOORS: dict[str, Door] = {
    "library": python,
    "terminal": terminal,
    "http": http,
    "history": tool("history", operation="search", scope="global"),
    "session_search": tool("session_search"),
}


# -- states ------------------------------------------------------------------------------------------------------------


@contextmanager
def pending(base: Path) -> Iterator[None]:
    """Another process indexes, and there is something new."""
    homes.write(base, "codex", CODEX[:-1] + "9", ["a new walrus"])
    lock = IndexerLock(load().home)
    assert lock.acquire()
    try:
        yield
    finally:
        lock.release()


def failing(base: Path) -> AbstractContextManager[None]:
    (base / "codex" / "state_5.sqlite").write_bytes(b"this is no database " * 100)
    return nullcontext()


def vanishing(base: Path) -> AbstractContextManager[None]:
    homes.path(base, "claude-code", GONE).unlink()
    return nullcontext()


class State(NamedTuple):
    text: str
    hits: tuple[str, ...] = ()
    code: str | None = None
    count: int | None = None
    says: str = ""
    """Part of what the note says."""
    before: Callable[[Path], AbstractContextManager[None]] | None = None
    current: str | None = None


STATES = {
    "no match": State("zyzzyva"),
    "a match": State("walrus", (ONE, TWO)),
    "filtered out": State("walrus agent:codex", (), "filtered_out", 2, "removed 2 hits"),
    "fits nothing": State(
        "zyzzyva agent:claude-cod", (), "filter_fits_nothing", None, "did you mean agent:claude-code?"
    ),
    "pending": State("walrus", (ONE, TWO), "index_pending", 1, "1 source is still being indexed", pending),
    "failed": State("walrus", (ONE, TWO), "source_failed", 1, "could not be read", failing),
    "hidden": State(
        "walrus",
        (TWO,),
        "hidden_current_session",
        1,
        "1 message of the asking session is hidden",
        current=f"claude-code:{ONE}",
    ),
    "malformed": State('"walrus', (ONE, TWO), "malformed_query", None, 'the quote in "walrus is not closed'),
    "archived": State("narwhal", (GONE,), "archived_only", None, "archived", vanishing),
    "capped": State("seal*", (CODEX,), "capped", 64, "more words begin with seal"),
    "outside": State("swims project:/home/dev/site", (CODEX,), "outside_scope", 1, "1 more hit"),
    "relaxed": State("narwahl", (GONE,), "relaxed", None, "narwahl was taken as narwhal"),
    "weak": State(
        "did the walrus see Pompeii when Vesuvius erupted", (ONE, TWO), "weak", None, "few of the question's rare words"
    ),
}


@pytest.fixture
def base(home: Path) -> Path:
    """Invented sessions, which the default settings find; indexed."""
    for agent, folder in (("claude-code", ".claude"), ("codex", ".codex"), ("dsh", ".dsh")):
        (home / folder).mkdir()
        (home / agent).symlink_to(home / folder)
    homes.write(home, "claude-code", ONE, ["the walrus swims", "it does"])
    homes.write(home, "claude-code", TWO, ["a walrus sleeps", "quietly"], start=homes.START - 900)
    seals = " ".join(f"seal{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(70))
    homes.write(home, "codex", CODEX, [seals, "a seal swims"], "/home/dev/site")
    homes.write(home, "claude-code", GONE, ["the narwhal dives"])
    indexed()
    return home


def indexed() -> None:
    with Library() as library:
        library.sync()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", STATES)
def test_each_state_of_an_answer_is_said_at_every_door(name: str, door: str, base: Path, erst: Erst) -> None:
    """C14, C15, C16"""
    state = STATES[name]
    with state.before(base) if state.before else nullcontext():
        seen = DOORS[door](erst, state.text, state.current)
    assert set(seen.hits) == set(state.hits)
    assert {code: count for code, (_, count) in seen.notes.items()} == ({state.code: state.count} if state.code else {})
    if state.code:
        assert state.says in seen.notes[state.code][0]
        assert state.says in " ".join(seen.text.split()) or not seen.text


def test_no_two_states_are_answered_alike() -> None:
    answers = [(state.hits, state.code, state.says) for state in STATES.values()]
    assert len(set(answers)) == len(answers)


# -- what a filter was probably meant to be ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ("agent:Codxe", "did you mean agent:codex? there are claude-code, codex"),
        ("agent:claude", "did you mean agent:claude-code?"),
        ("agent:shop", "did you mean project:shop?"),
        ("project:shpo", "did you mean project:shop?"),
        ("project:/home/dev/shp", "did you mean project:/home/dev/shop?"),
        ("project:codex", "did you mean agent:codex?"),
        ("kind:tool_output", "there are assistant_text, user_text"),
        ("tool:Bash", "nothing fits tool:Bash"),
        ('title:"no such title"', 'nothing fits title:"no such title"'),
        ("session:0199ffff", "nothing fits session:0199ffff"),
        ("since:2030", "nothing is as late as"),
        ("until:2001-01", "nothing is as early as"),
    ],
)
def test_a_filter_that_fits_nothing_names_what_is_nearest(filters: str, says: str, base: Path, erst: Erst) -> None:
    """C14"""
    filters = filters.replace("since:2030", "since:2030-01")
    seen = python(erst, f"walrus {filters}", None)
    assert seen.hits == []
    assert says in seen.notes["filter_fits_nothing"][0]


def test_of_several_filters_the_answer_says_which_one_removed_the_hits(base: Path, erst: Erst) -> None:
    """C14"""
    text, count = python(erst, "walrus agent:claude-code role:assistant since:2026-01", None).notes["filtered_out"]
    assert count == 2
    assert text.endswith("removed 2 hits; without role:assistant there are 2 hits")
    text, _ = python(erst, "walrus agent:codex role:assistant", None).notes["filtered_out"]
    assert text.endswith("removed 2 hits; no hit is left when only one of them is dropped")


def test_what_lies_outside_is_counted_for_a_full_page_too_and_also_when_it_is_better(base: Path, erst: Erst) -> None:
    for number in range(25):
        homes.write(base, "codex", f"0199dddd-0000-7000-8000-0000000000{number:02}", ["otter " * 30], "/home/dev/zoo")
        homes.write(base, "codex", f"0199eeee-0000-7000-8000-0000000000{number:02}", [f"an otter {number} x" * 9])
    indexed()
    full = python(erst, "otter project:/home/dev/shop", None)
    assert (len(full.hits), full.notes["outside_scope"][1]) == (10, 25)
    homes.write(
        base, "codex", "0199dddd-0000-7000-8000-000000000099", ["lynx in a den of stoats " * 9], "/home/dev/zoo"
    )
    homes.write(base, "codex", "0199eeee-0000-7000-8000-000000000099", ["padding " * 300 + "a lynx"])
    indexed()
    few = python(erst, "lynx den stoats project:/home/dev/shop", None)
    assert (len(few.hits), few.notes["outside_scope"][1]) == (1, 1)
