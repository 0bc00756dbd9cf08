"""The lexical index as a proposer: the fresh tail, what a crash leaves, and FTS5 standing in for tantivy."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import homes
import pytest

from erstwhile.adapters import ADAPTERS
from erstwhile.errors import StoreError
from erstwhile.lexical import Lexical
from erstwhile.lexical_contract import Index, IndexWriter
from erstwhile.lexical_fts import BUDGET, TAKEN, LexicalFts
from erstwhile.lexical_types import Busy, Entry, Proposal
from erstwhile.library import Library
from erstwhile.plan import Want
from erstwhile.store import open_database
from erstwhile.survey import survey
from erstwhile.sync import Indexer

NATIVE = "0199aaaa-0000-7000-8000-00000000000"


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where tantivy cannot be imported."""
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "erstwhile.lexical", raising=False)


# -- FTS5 in place of tantivy ------------------------------------------------------------------------------------------


def fixture_answers(base: Path) -> list[tuple[str, list[tuple[str, int, float]]]]:
    """The hits of every query of every fixture."""
    queries = [(agent, q["query"]) for agent in homes.AGENTS for q in homes.expected(agent)["queries"]]
    with Library(data=base, roots=homes.fixture_roots()) as library:
        library.sync()
        found_hits: list[tuple[str, list[tuple[str, int, float]]]] = []
        for agent, query in queries:
            answer = library.search(query, sync=False, scope="global", group="none", agents=(agent,))
            found_hits.append((query, [(h.session, h.ordinal, h.score) for h in answer.hits]))
        return found_hits


def test_where_tantivy_cannot_be_imported_every_fixture_query_has_the_same_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_tantivy = fixture_answers(tmp_path / "one")
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "erstwhile.lexical", raising=False)
    assert fixture_answers(tmp_path / "two") == with_tantivy
    assert all(hits for _, hits in with_tantivy)
    assert list((tmp_path / "two").glob("fts-*/words.db"))
    assert not list((tmp_path / "two").glob("lexical-*"))


@pytest.mark.usefixtures("blocked")
def test_without_tantivy_a_library_in_memory_answers_and_writes_nothing(tmp_path: Path, home: Path) -> None:
    homes.write(tmp_path / "logs", "codex", NATIVE + "1", ["where is the walrus", "in the walrus bay"])
    before = homes.tree(tmp_path)
    with Library(data=":memory:", roots=homes.roots(tmp_path / "logs")) as library:
        assert library.search("walrus").total.count == 1
    assert homes.tree(tmp_path) == before


def entries(*tokens: str, tags: tuple[str, ...] = ()) -> Iterator[Entry]:
    for number, text in enumerate(tokens, 1):
        yield Entry(number, text, list(tags), 100 * number, len(text.split()))


def filled(index: Index, items: Iterator[Entry]) -> Index:
    writer = index.writer()
    for entry in items:
        writer.add(entry)
    writer.commit()
    writer.close()
    index.refresh()
    return index


def proposed(index: Index, *wants: Want, tags: tuple[list[str], ...] = (), limit: int = 10) -> list[int]:
    return sorted(index.propose(wants, list(tags), None, None, None, limit, 1.0).ids)


engines = pytest.mark.parametrize("make", [LexicalFts, Lexical])


@engines
@pytest.mark.parametrize(
    "token",
    ["src/lib/i18n.ts", "c++", "c#", "@scope/pkg", "1.0.21", "a'b", 'a"b', "登录", "登", "über", "and", "or", "not",
     "near", "_x_", "a*", "(", "^", "a:b", "{text}", "x" * 200, "é" * 60],
)  # fmt: skip
def test_a_token_of_any_characters_is_found_whole_and_only_whole(
    make: Callable[[str | None], Index], token: str
) -> None:
    index = filled(make(None), entries(token, token + "x", "x" + token, "other"))
    assert proposed(index, Want((token,))) == [1]
    assert index.frequency_of(Want((token,))) == 1


@engines
def test_tags_of_any_characters_narrow(make: Callable[[str | None], Index]) -> None:
    both = [*entries("word", tags=("p:/home/dev/my site", "k:x"))]
    both += [Entry(2, "word", ["p:/home/dev", 't:say "hi" AND (not) *', "k:y"], 5, 1)]
    index = filled(make(None), iter(both))
    word = Want(("word",))
    assert proposed(index, word, tags=(["p:/home/dev/my site"],)) == [1]
    assert proposed(index, word, tags=(['t:say "hi" AND (not) *'],)) == [2]
    assert proposed(index, word, tags=(["p:/home/dev/my site", "p:/home/dev"], ["k:y"])) == [2]
    assert proposed(index, word, tags=(["p:/home"],)) == []


@engines
def test_required_and_excluded_pieces_are_honoured(make: Callable[[str | None], Index]) -> None:
    index = filled(make(None), entries("a b", "a c", "b c", "a b c d"))
    a, b, c, d = (Want((token,)) for token in "abcd")
    assert proposed(index, a, b) == [1, 2, 3, 4]
    assert proposed(index, a._replace(required=True), b) == [1, 2, 4]
    assert proposed(index, a._replace(required=True), b._replace(required=True)) == [1, 4]
    assert proposed(index, a, d._replace(excluded=True)) == [1, 2]
    assert proposed(index, a._replace(required=True), c, b._replace(excluded=True)) == [2]
    assert proposed(index, Want((), ("b", "c"))) == [3, 4]
    assert proposed(index, Want(("d",), ("a", "c"))) == [2, 4]
    assert index.frequency_of(Want((), ("b", "c"))) == 2
    assert index.frequency_of(Want(("d",), ("a", "c"))) == 2


@engines
def test_times_and_the_last_document_bound_what_is_proposed(make: Callable[[str | None], Index]) -> None:
    index = filled(make(None), entries("a", "a", "a", "a"))
    a = [Want(("a",))]
    assert sorted(index.propose(a, [], 200.0, None, None, 9, 1.0).ids) == [2, 3, 4]
    assert sorted(index.propose(a, [], None, 300.0, None, 9, 1.0).ids) == [1, 2, 3], (
        "until 300.0 is settled by the store"
    )
    assert sorted(index.propose(a, [], None, None, 2, 9, 1.0).ids) == [1, 2]
    assert sorted(index.propose(a, [], 150.0, 350.5, 3, 9, 1.0).ids) == [2, 3]


@engines
def test_a_removed_document_is_gone_and_can_be_added_again_otherwise(
    make: Callable[[str | None], Index], tmp_path: Path
) -> None:
    index = filled(make(str(tmp_path / "index")), entries("a b", "a c", "a d"))
    writer = index.writer()
    writer.remove(2)
    writer.remove(3)
    writer.remove(99)
    writer.add(Entry(2, "z", ["k:x"], 1, 1))
    writer.commit()
    writer.close()
    index.refresh()
    assert (proposed(index, Want(("a",))), proposed(index, Want(("z",))), index.mark) == ([1], [2], 2)


@engines
def test_a_second_writer_is_told_that_the_index_is_busy(make: Callable[[str | None], Index], tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    filled(make(folder), entries("a"))
    first = make(folder).writer()
    with pytest.raises(Busy):
        make(folder).writer()
    first.close()
    make(folder).writer().close()


@engines
def test_what_was_not_committed_is_not_seen(make: Callable[[str | None], Index], tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    index = filled(make(folder), entries("a"))
    writer = make(folder).writer()
    writer.add(Entry(7, "a", [], 0, 1))
    index.refresh()
    assert (proposed(index, Want(("a",))), index.mark) == ([1], 1)
    writer.close()
    index.refresh()
    assert index.mark == 1


@engines
def test_an_index_that_is_not_there_holds_nothing(make: Callable[[str | None], Index], tmp_path: Path) -> None:
    index = make(str(tmp_path / "nowhere"))
    assert not index.refresh()
    assert (index.mark, index.frequency_of(Want(("a",)))) == (0, 0)
    assert index.propose([Want(("a",))], [], None, None, None, 9, 1.0) == Proposal([], True)


def test_a_damaged_fts_file_is_one_clear_store_error(tmp_path: Path) -> None:
    index = LexicalFts(str(tmp_path))
    (tmp_path / "words.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match=r"cannot read the index in .*not a database"):
        index.refresh()
    with pytest.raises(StoreError, match="cannot write the index in"):
        index.writer()


def test_fts_files_are_the_owners_alone(tmp_path: Path) -> None:
    filled(LexicalFts(str(tmp_path / "index")), entries("a"))
    assert (tmp_path / "index").stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o777 for f in (tmp_path / "index").iterdir()} == {0o600}


def test_a_word_in_more_documents_than_the_budget_is_ranked_within_its_newest() -> None:
    size = BUDGET + 500
    texts = ("rare common" if number in (3, 9) else "common" for number in range(1, size))
    index = filled(LexicalFts(None), entries(*texts))
    found = index.propose([Want(("common",))], [], None, None, None, 10, 1.0)
    assert len(found.ids) == TAKEN
    assert min(found.ids) >= size - BUDGET
    assert not found.complete
    found = index.propose([Want(("common",)), Want(("rare",))], [], None, None, None, 10, 1.0)
    assert set(found.ids[:2]) == {3, 9}, "the rare word is asked first, however old its documents"
    assert len(found.ids) == TAKEN, "the common one fills up"
    assert index.propose([Want(("rare",))], [], None, None, None, 10, 1.0) == Proposal([3, 9], True)


# -- the fresh tail and crashes ----------------------------------------------------------------------------------------


class Unwritable:
    """An index that another process is writing, for ever."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.refresh, self.frequency_of, self.propose = index.refresh, index.frequency_of, index.propose

    @property
    def mark(self) -> int:
        return self._index.mark

    def writer(self) -> IndexWriter:
        raise Busy("held by a test")


def index_without_commit(folder: Path, base: Path) -> None:
    """Brings the store up to date and dies before the index is: its writer is never had."""
    folder.mkdir(exist_ok=True)
    with closing(open_database(str(folder))) as db:
        adapters = [(a, homes.roots(base)[a.name]) for a in ADAPTERS if a.name in homes.AGENTS]
        index = Unwritable(Lexical(str(folder / "elsewhere")))
        report = Indexer(db, index, ADAPTERS).run(survey(db, adapters))
        assert report.failed == 0


def history(base: Path, sessions: int = 3) -> None:
    for number in range(sessions):
        said = [f"question {number} about the walrus", "the walrus lives in the arctic", "and the otter", "otter too"]
        homes.write(base, "codex", NATIVE + str(number), said, start=homes.START + 1000 * number)


def test_a_run_that_dies_before_the_index_commit_loses_nothing(tmp_path: Path) -> None:
    history(tmp_path)
    index_without_commit(tmp_path / "erst", tmp_path)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        before = library.search("walrus arctic", sync=False, group="none")
        assert before.total.count == 6
        library.sync()
        assert library.search("walrus arctic", sync=False, group="none") == before


def test_messages_are_found_before_any_index_commit_and_the_answer_stays_the_same_after_it(tmp_path: Path) -> None:
    history(tmp_path, 5)
    index_without_commit(tmp_path / "erst", tmp_path)
    questions = ("walrus", "otter too", '"the otter"', "question +3", "walrus -arctic", "lives in the arctic")
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        before = [library.search(q, sync=False, group=g) for q in questions for g in ("none", "session")]
        library.sync()
        assert list((tmp_path / "erst").glob("lexical-*/meta.json"))
        assert [library.search(q, sync=False, group=g) for q in questions for g in ("none", "session")] == before
    assert all(answer.hits for answer in before)


def test_deleting_the_index_folder_loses_nothing(tmp_path: Path) -> None:
    history(tmp_path)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        library.sync()
        before = library.search("walrus arctic", group="none")
    [folder] = (tmp_path / "erst").glob("lexical-*")
    shutil.rmtree(folder)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        assert library.search("walrus arctic", sync=False, group="none") == before
        library.sync()
        assert library.search("walrus arctic", sync=False, group="none") == before
        assert library.search("walrus arctic", group="none").total.count == 6


def test_a_document_that_was_replaced_never_surfaces_from_a_stale_entry(tmp_path: Path) -> None:
    homes.write(tmp_path, "reasonix", "20260921-133320.000000001-m", ["the pelican is here", "indeed"])
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        library.sync()
        homes.write(tmp_path, "reasonix", "20260921-133320.000000001-m", ["the heron came instead", "indeed"])
        index_without_commit(tmp_path / "erst", tmp_path)
        assert library.search("pelican", sync=False).total.count == 0
        assert library.search("heron", sync=False).total.count == 1
        library.sync()
        assert library.search("pelican", sync=False).total.count == 0
        assert library.search("heron", sync=False).total.count == 1


def test_an_index_of_an_older_version_answers_until_the_new_one_has_taken_its_place(tmp_path: Path) -> None:
    history(tmp_path)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        library.sync()
        before = library.search("walrus arctic", group="none")
    [folder] = (tmp_path / "erst").glob("lexical-*")
    folder.rename(folder.with_name("lexical-0-0"))
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        assert library.search("walrus arctic", sync=False, group="none") == before
        library.sync()
        assert library.search("walrus arctic", sync=False, group="none") == before
    assert [f.name for f in (tmp_path / "erst").glob("lexical-*")] == [folder.name]


@pytest.mark.parametrize("damaged", ["meta.json", "*.idx", "*.term"])
def test_a_damaged_index_is_built_anew_by_the_next_run(tmp_path: Path, damaged: str) -> None:
    """C36"""
    history(tmp_path)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        library.sync()
        before = library.search("walrus arctic", group="none")
    [folder] = (tmp_path / "erst").glob("lexical-*")
    for file in folder.glob(damaged):
        file.write_bytes(b"\x00" * 10)
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path)) as library:
        assert library.search("walrus arctic", sync=False, group="none").hits == before.hits
        library.sync()
        assert library.search("walrus arctic", sync=False, group="none") == before
