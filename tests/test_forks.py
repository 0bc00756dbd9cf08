"""Forks as the library tells them, for agents that name a fork's origin and copy its records."""

from __future__ import annotations

from collections.abc import Iterator

import homes
import pytest

from erstwhile.library import Library
from erstwhile.model import Query, Root

FORKS = {
    "pi": ("0a1b2c3d-0000-4000-8000-aaaaaaaaaaaa", "0a1b2c3d-0000-4000-8000-bbbbbbbbbbbb"),
    "qwen-code": ("a1a1a1a1-2222-4333-8444-555555555555", "b2b2b2b2-2222-4333-8444-555555555555"),
}
"""The origin and its fork, which has all of its records from it but one and ended earlier."""
ALONE = ("copilot-cli", "gemini-cli")


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    agents = (*FORKS, *ALONE)
    roots = {a: [Root(str(homes.FIXTURES / a / r["path"])) for r in homes.expected(a)["roots"]] for a in agents}
    with Library(data=":memory:", roots=roots) as library:
        library.sync()
        yield library


@pytest.mark.parametrize("agent", FORKS)
def test_a_fork_comes_from_its_origin_and_the_origin_from_nobody(library: Library, agent: str) -> None:
    origin, fork = (library.show(f"{agent}:{native}").session for native in FORKS[agent])
    assert (origin.parent, origin.relation) == (None, None)
    assert (fork.parent, fork.relation) == (origin.session, "fork")


def test_what_a_fork_copied_is_one_hit(library: Library) -> None:
    query = Query("nginx cannot load the key in tls dir", scope="global", group="none", kinds=("user_text",))
    for agent in FORKS:
        hits = library.search(query._replace(agents=(agent,)), sync=False).hits
        assert [hit.copies for hit in hits] == [2]


@pytest.mark.parametrize("agent", ALONE)
def test_sessions_whose_records_happen_to_have_the_same_ids_are_no_copies(library: Library, agent: str) -> None:
    page = library.sessions(Query(agents=(agent,), scope="global"))
    assert {session.relation for session in page.sessions} <= {None, "subagent"}
