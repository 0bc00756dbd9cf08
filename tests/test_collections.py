"""Collections of Markdown: added and removed, searched by section, followed on disk, the same at every door."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import homes
import pytest
from conftest import Erst
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from starlette.testclient import TestClient

from erstwhile.adapters._markdown_text import note
from erstwhile.config import load
from erstwhile.errors import NotFound, UsageError
from erstwhile.http import app
from erstwhile.http.serve import opened
from erstwhile.library import Library
from erstwhile.mcp import server
from erstwhile.model import Hit, Query, Root

ARTICLES = homes.FIXTURES / "articles"
NOTES = homes.FIXTURES / "markdown" / "notes"
SEEDS = [
    ("bm25 length normalization", "bm25-explained", "Why long documents pay"),
    ("revenue grew quarter", "search/contextual-retrieval", "A chunk that names nobody"),
    ("kalman filter", "kalman", "Predict and correct"),
    ("reciprocal rank fusion", "search/contextual-retrieval", "Joining two lists"),
]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of articles that a test may change."""
    return Path(shutil.copytree(ARTICLES, tmp_path / "notes"))


@pytest.fixture
def library(home: Path, notes: Path) -> Iterator[Library]:
    """The library of a fresh home, with the articles added."""
    with Library() as made:
        made.add(notes)
        yield made


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def found(library: Library, words: str, **filters: object) -> list[tuple[str | None, str | None]]:
    """(slug, heading) of the sections that the words find."""
    return [(hit.slug, hit.heading) for hit in hits(library, words, **filters)]


def hits(library: Library, words: str, **filters: object) -> tuple[Hit, ...]:
    return library.search(words, group="none", **filters).hits


# -- ranking -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "slug", "heading"), SEEDS)
def test_the_right_article_and_section_stand_first_though_the_question_stands_nowhere(
    library: Library, words: str, slug: str, heading: str
) -> None:
    assert all(words not in path.read_text(encoding="utf-8").lower() for path in ARTICLES.rglob("*.md"))
    for group in ("session", "none"):
        first = library.search(words, group=group).hits[0]
        assert (first.collection, first.slug, first.heading, first.field) == ("notes", slug, heading, heading)


def test_a_heading_counts_as_much_as_text_and_what_is_inherited_half(tmp_path: Path, home: Path) -> None:
    filler = " ".join(f"filler{number}" for number in range(60))
    write(tmp_path / "n", "own.md", f"# About\n\nwalrus {filler} end\n")
    write(tmp_path / "n", "heading.md", f"# Walrus\n\n{filler} end\n")
    for name in ("title: The walrus", "description: Of a walrus", "tags: [sea, walrus]"):
        write(tmp_path / "n", f"{name[:3]}.md", f"---\n{name}\n---\n# About\n\n{filler} end words\n")
    with Library() as library:
        library.add(tmp_path / "n")
        scores = {hit.slug: hit.score for hit in hits(library, "walrus")}
    assert set(scores) == {"own", "heading", "tit", "des", "tag"}
    assert min(scores["own"], scores["heading"]) > 1.25 * max(scores["tit"], scores["des"], scores["tag"])
    # its own first heading is its title as well, and lends half an occurrence more
    assert scores["own"] < scores["heading"] < 1.5 * scores["own"]


def test_a_phrase_is_verified_in_the_heading_too(library: Library) -> None:
    assert found(library, '"joining two lists"') == [("search/contextual-retrieval", "Joining two lists")]


# -- what is read ------------------------------------------------------------------------------------------------------

TRAPS = {
    "code.md": ("# Top\n\n```\n# fenced walrus\n```\n\n    # indented walrus\n", ["Top"]),
    "html.md": ("# Top\n\n<div>\n# walrus in HTML\n</div>\n\n<h2>walrus</h2>\n", ["Top"]),
    "lists.md": ("# Top\n\n- one walrus\n  - # walrus in a list\n    - deep\n\n> # walrus quoted\n", ["Top"]),
    "setext.md": ("One *walrus*\n===\n\nwalrus\n\nTwo `walrus`\n---\n\nwalrus\n", ["One walrus", "Two walrus"]),
    "same.md": ("## Walrus\n\nfirst\n\n## Walrus\n\nsecond\n", ["Walrus", "Walrus"]),
    "empty.md": ("# Walrus chapter\n\n## Below\n\ntext\n\n## After\n", ["Below"]),
    "none.md": ("just a walrus\n\nand more\n", [None]),
    "bare.md": ("# Only\n\n## Headings of a walrus\n", [None]),
    "bom.md": (
        b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n# Eins\r\n\r\nwalrus\r\n\r\n# Zwei\r\n\r\nwalrus",
        ["Eins", "Zwei"],
    ),
    "cr.md": (b"# Eins\r\rwalrus\r\r# Zwei\r\rwalrus", ["Eins", "Zwei"]),
    "rule.md": ("---\n\nno front matter, a rule and a walrus\n\n---\n\nmore\n", [None]),
    "dots.md": ("---\ntitle: Dots\n...\nwalrus\n", [None]),
    "utf16.md": ("# Wide\n\nwalrus".encode("utf-16"), ["Wide"]),
    "link.md": ("# [A link](http://x.example) & **bold**\n\nwalrus\n", ["A link & bold"]),
}


@pytest.mark.parametrize("name", TRAPS)
def test_sections_are_cut_where_a_reader_sees_a_heading(tmp_path: Path, home: Path, name: str) -> None:
    text, headings = TRAPS[name]
    write(tmp_path / "traps", name, text)
    with Library() as library:
        assert library.add(tmp_path / "traps").skipped == ()
        assert hits(library, "walrus")
        shown = library.show(f"markdown:traps/{name}")
    assert [message.parts[0].heading for message in shown.messages] == headings


@pytest.mark.parametrize(
    ("matter", "line"),
    [
        ("---\ntitle: [unclosed\nwords: zebra\n", 1),
        ("---\ntitle: a: zebra\n---\n", 2),
        ("---\ntitle: x\nzebra: [\n---\n", 4),
        ('+++\ntitle = "zebra\n+++\n', 2),
        ("+++\ntitle = 'zebra'\n", 1),
    ],
)
def test_broken_front_matter_is_named_and_everything_is_still_found(
    tmp_path: Path, home: Path, matter: str, line: int
) -> None:
    write(tmp_path / "n", "post.md", f"{matter}\n# Section\n\nwalrus\n")
    with Library() as library:
        ((_, fault),) = library.add(tmp_path / "n").skipped
        assert fault.line == line
        assert "front matter" in fault.reason
        assert found(library, "walrus") == [("post", "Section")]
        assert found(library, "zebra") == [("post", "Section")]
        assert library.show("n/post.md").session.title == "post"


def test_front_matter_never_executes_a_tag_and_odd_values_do_no_harm(tmp_path: Path, home: Path) -> None:
    odd = "title: !!python/object/apply:os.system [ls]\ntags: {a: 1}\nslug: [1]\ndate: 2026-13-45\n? [a, b]\n: c"
    write(tmp_path / "n", "odd.md", f"---\n{odd}\n---\nwalrus\n")
    deep = f"---\na: {'[' * 5000}\n---\nwalrus\n"
    write(tmp_path / "n", "deep.md", deep)
    with Library() as library:
        skipped = library.add(tmp_path / "n").skipped
        assert {hit.slug for hit in hits(library, "walrus")} == {"odd", "deep"}
    assert any(path.endswith("deep.md") for path, _ in skipped)


PIECES = st.sampled_from(
    [
        "---",
        "+++",
        "...",
        "# A",
        "## B",
        "===",
        "```",
        "~~~",
        "<div>",
        "- x",
        "> # q",
        "    # c",
        "",
        "walrus",
        "a: [",
        "t = 1",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
def test_no_text_breaks_the_reader_and_no_line_of_it_is_lost(lines: list[str], end: str) -> None:
    read = note(end.join(lines))
    assert all(section.text.strip() for section in read.sections)
    kept = " ".join([read.lends, *(f"{section.heading} {section.text}" for section in read.sections)])
    assert kept.count("walrus") >= lines.count("walrus")


def test_what_must_not_be_read_is_named_and_what_is_hidden_is_not_walked(tmp_path: Path, home: Path) -> None:
    base, outside = tmp_path / "n", write(tmp_path / "outside", "secret.md", "walrus outside")
    write(base, "good.md", "walrus")
    for hidden in (".git/a.md", ".obsidian/b.md", "node_modules/p/README.md", ".hidden.md", "plain.txt"):
        write(base, hidden, "walrus hidden")
    (base / "out.md").symlink_to(outside)
    (base / "folder").symlink_to(outside.parent, target_is_directory=True)
    (base / "again.md").symlink_to(base / "good.md")
    (base / "gone.md").symlink_to(base / "nothing")
    os.mkfifo(base / "pipe.md")
    write(base, "binary.md", b"\x89PNG\0\0walrus")
    write(base, "latin.md", "# Eins\n\ncafé walrus".encode("latin-1"))
    with Library() as library:
        reasons = {os.path.basename(path): fault.reason for path, fault in library.add(base).skipped}
        assert {hit.slug for hit in hits(library, "walrus")} == {"good", "latin"}
        states = {os.path.basename(source.path): source.state for source in library.sources()}
    assert {name: reason.partition(";")[0] for name, reason in reasons.items()} == {
        "out.md": "a link out of the folder",
        "folder": "a link out of the folder",
        "again.md": "a link inside the folder",
        "gone.md": "a link to nothing",
        "pipe.md": "not a regular file",
        "binary.md": "not text: it holds NUL bytes",
        "latin.md": "not UTF-8",
    }
    assert (states["good.md"], states["out.md"], states["latin.md"]) == ("ok", "excluded", "partial")


def test_a_long_note_is_found_to_its_end(tmp_path: Path, home: Path) -> None:
    text = "# Long\n\n" + "sand and more sand in a line of its own\n\n" * 12_000 + "## End\n\nthe last walrus\n"
    write(tmp_path / "n", "long.md", text)
    with Library() as library:
        assert library.add(tmp_path / "n").files == 1
        assert found(library, "walrus") == [("long", "End")]


def test_secrets_in_notes_are_masked_in_text_title_heading_and_front_matter(tmp_path: Path, home: Path) -> None:
    key = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5"
    write(
        tmp_path / "n", "a.md", f"---\ntitle: walrus {key}\ndescription: '{key}'\n---\n# About {key}\n\nwalrus {key}\n"
    )
    with Library() as library:
        library.add(tmp_path / "n")
        (hit,) = hits(library, "walrus")
        library.close()
    assert key not in repr(hit)
    assert key.encode() not in b"".join(path.read_bytes() for path in (home / "erst").rglob("*") if path.is_file())


# -- following the folder ----------------------------------------------------------------------------------------------


def test_the_next_search_sees_an_edit_a_new_note_and_a_deleted_one(library: Library, notes: Path) -> None:
    write(notes, "kalman.md", "# Otters\n\nnow of an otter\n")
    write(notes, "new/walrus.md", "# New\n\na walrus\n")
    (notes / "search" / "bm25.md").unlink()
    assert found(library, "otter") == [("kalman", "Otters")]
    assert found(library, "walrus") == [("new/walrus", "New")]
    assert found(library, "bm25 saturates") == []
    assert not any(source.path.endswith("bm25.md") for source in library.sources())


@pytest.mark.parametrize("touched", [False, True])
def test_a_renamed_note_keeps_its_documents_under_its_new_name(
    library: Library, notes: Path, home: Path, touched: bool
) -> None:
    def rows() -> set[tuple[object, ...]]:
        return set(homes.dump(home / "erst")["documents"])

    before = library.coverage()
    (notes / "moved").mkdir()
    new = (notes / "kalman.md").rename(notes / "moved" / "tracking.md")
    if touched:
        os.utime(new, (1_790_000_000, 1_790_000_000))
    last = max(number for number, *_ in ids(home))
    (hit,) = hits(library, "kalman covariance")
    assert (hit.session, hit.slug, hit.archived) == ("markdown:notes/moved/tracking.md", "moved/tracking", False)
    assert max(number for number, *_ in ids(home)) == last, "its documents were written again"
    assert library.coverage()[4:] == before[4:]
    with pytest.raises(NotFound):
        library.show("markdown:notes/kalman.md")


def ids(home: Path) -> list[tuple[int, int]]:
    """(id, digest) of every document in the store."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(home / "erst" / "store.db")) as db:
        return db.execute("SELECT id, digest FROM documents").fetchall()


def test_a_note_that_moves_to_another_collection_is_found_in_that_one_alone(
    library: Library, notes: Path, tmp_path: Path
) -> None:
    write(tmp_path / "second", "b.md", "# Second\n\nother words\n")
    library.add(tmp_path / "second")
    library.sync()
    (notes / "kalman.md").rename(tmp_path / "second" / "kalman.md")
    library.sync()
    assert {hit.collection for hit in hits(library, "kalman")} == {"second"}
    assert hits(library, "kalman", collections=("second",))
    assert not hits(library, "kalman", collections=("notes",))


def test_a_folder_that_is_away_keeps_its_notes_as_archived_until_it_is_back(library: Library, notes: Path) -> None:
    away = notes.rename(notes.with_name("elsewhere"))
    assert {hit.archived for hit in hits(library, "kalman")} == {True}
    away.rename(notes)
    assert {hit.archived for hit in hits(library, "kalman")} == {False}
    notes.rename(away)
    assert hits(library, "kalman")
    (away / "kalman.md").unlink()
    away.rename(notes)
    assert not hits(library, "kalman")


# -- adding and removing -----------------------------------------------------------------------------------------------


def test_add_says_what_it_read_and_remove_takes_it_out_and_leaves_the_files(erst: Erst, notes: Path) -> None:
    before = homes.tree(notes)
    assert erst("add", str(notes)).out == f"Added the collection notes: 14 documents from 3 files in {notes}\n"
    assert erst("search", "kalman").status == 0
    assert "collection notes" in erst("config").out
    assert "kalman.md" in erst("sources").out
    ran = erst("remove", "notes")
    assert (
        ran.out == f"Removed the collection notes: 14 documents from 3 files. The files in {notes} are as they were.\n"
    )
    assert erst("search", "kalman").status == 1
    assert homes.tree(notes) == before
    assert erst("add", str(notes), "--name", "other").status == 0
    shutil.rmtree(notes)
    assert erst("remove", str(notes)).status == 0


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["add", "{0}/none"], "there is no folder {0}/none"),
        (["add", "{0}/kalman.md"], "{0}/kalman.md is not a folder; add the folder that holds it"),
        (["add", "{0}/../empty"], "there is no Markdown file (.md, .markdown, .mdown, .mkd, .mdx) in {1}/empty"),
        (["add", "{0}"], "{0} was added already, as the collection notes ({0})"),
        (["add", "{0}/search"], "{0}/search lies in the collection notes ({0}), which is read already"),
        (["add", "{0}/.."], "the collection notes ({0}) lies in {1}; remove it first, or add other folders"),
        (
            ["add", "{1}/more", "--name", "Notes"],
            "there is the collection notes ({0}) already; choose another name by --name",
        ),
        (
            ["add", "{1}/more", "--name", "a/b"],
            "'a/b' cannot be the name of a collection: choose a plain word by --name",
        ),
        (["add", "{1}/more", "--agent", "nobody"], "unknown agent 'nobody': use one of "),
        (
            ["add", "{1}/more", "--agent", "codex", "--name", "x"],
            "only a collection of notes has a name; leave --name or --agent out",
        ),
        (["add", "{1}/more", "--agent", "codex"], "there is no log of codex in {1}/more"),
        (["remove", "nothing"], "'nothing' was not added; there are notes"),
        (["serve", "--collection", "nothing"], "no collection 'nothing'; there are notes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_added_or_removed_is_one_sentence(
    erst: Erst, notes: Path, argv: list[str], sentence: str
) -> None:
    erst("add", str(notes))
    (notes.parent / "empty").mkdir()
    write(notes.parent / "more", "a.md", "text")
    ran = erst(*(word.format(notes, notes.parent) for word in argv))
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"erst: {sentence.format(notes, notes.parent)}")


def test_add_with_an_agent_adds_a_root_to_it_and_remove_takes_it_out_again(erst: Erst, tmp_path: Path) -> None:
    homes.write(tmp_path / "old", "codex", "0199aaaa-0000-7000-8000-000000000001", ["an old walrus"])
    folder = str(tmp_path / "old" / "codex")
    ran = erst("add", folder, "--agent", "codex")
    assert ran.out == f"Added a folder of codex: 1 document from 1 file in {folder}\n"
    assert '"agent": "codex"' in erst("search", "walrus", "--json").out
    assert "agents.codex.roots" in erst("config").out
    assert erst("add", folder, "--agent", "codex").err == f"erst: {folder} is read already\n"
    assert erst("remove", folder).status == 0
    assert erst("search", "walrus").status == 1


def test_adding_one_folder_makes_nothing_else_seem_gone(sample: Path, notes: Path) -> None:
    with Library() as library:
        library.sync()
        before = library.coverage()
        library.add(notes)
        assert library.coverage().sessions == before.sessions + 3
        assert {hit.archived for hit in library.search("certificate", scope="global").hits} == {False}


# -- scopes and filters ------------------------------------------------------------------------------------------------


def test_a_collection_belongs_to_every_scope_and_has_a_filter_of_its_own(sample: Path, notes: Path) -> None:
    write(notes, "certificate.md", "# Certificates\n\nthe certificate has expired\n")
    with Library() as library:
        library.sync()
        library.add(notes, "My Notes")
        for scope in ("project", "global", "archive"):
            asked = Query("certificate expired", scope, "/home/dev/shop" if scope == "project" else None, limit=100)
            assert "certificate" in {hit.slug for hit in library.search(asked).hits}, scope
        for narrowed in ({"collections": ("my notes",)}, {"text": 'certificate collection:"My Notes"'}):
            only = library.search(Query("certificate")._replace(**narrowed))
            assert [hit.slug for hit in only.hits] == ["certificate"]
        assert not any(hit.collection for hit in library.search("certificate", agents=("codex",)).hits)
        none = library.search("certificate", collections=("nope",))
        assert none.hits == ()
        assert any("My Notes" in note.text for note in none.notes if note.code == "filter_fits_nothing")


def test_listed_sessions_are_conversations_unless_notes_are_asked_for(sample: Path, notes: Path) -> None:
    with Library() as library:
        library.sync()
        library.add(notes)
        assert all(one.agent != "markdown" for one in library.sessions(Query(limit=100)).sessions)
        listed = library.sessions(Query(collections=("notes",))).sessions
    assert {one.slug for one in listed} == {"bm25-explained", "search/contextual-retrieval", "kalman"}


# -- doors -------------------------------------------------------------------------------------------------------------


def test_the_terminal_names_collection_slug_and_section(erst: Erst, notes: Path) -> None:
    write(notes, "with space.md", "# Part\n\na walrus\n")
    erst("add", str(notes))
    lines = erst("search", "walrus").out.splitlines()
    assert lines[1].startswith("    notes · with space · Part · ")
    assert lines[3] == '    "notes/with space.md" 0'
    around = erst("around", "notes/with space.md", "0")
    assert "Part\na walrus" in around.out
    assert "### Part\n\na walrus" in erst("show", "notes/with space.md", "--markdown").out


def served(collection: str | None) -> Iterator[TestClient]:
    config = load()
    with opened(config, collection) as library, TestClient(app(library, config), "http://127.0.0.1:8377") as client:
        yield client


def test_http_gives_slug_field_and_score_of_each_result(sample: Path, notes: Path, erst: Erst) -> None:
    erst("add", str(notes))
    for http in served(None):
        answer = http.get("/api/search?q=contextual%20retrieval&limit=3").json()
        assert answer["results"] == answer["hits"]
        first = answer["results"][0]
        assert first["slug"] == "search/contextual-retrieval"
        assert first["score"] > 0
        assert first["field"] == first["heading"] is not None
        narrowed = http.get("/api/search?q=certificate%20index&collection=notes").json()["hits"]
        assert {hit["collection"] for hit in narrowed} == {"notes"}


REACHING = (
    "/api/search?q=certificate",
    "/api/search?q=certificate&scope=global",
    "/api/search?q=certificate&scope=project&project=/home/dev/shop",
    "/api/search?q=certificate&collection=other",
    "/api/search?q=certificate%20collection:other",
    "/api/search?q=certificate&agent=claude-code",
    "/api/search?q=certificate&session=5b1f7c52",
    "/api/sessions",
    "/api/sessions?agent=codex&scope=global",
    "/api/status",
)


def test_serving_one_collection_reaches_nothing_else(sample: Path, notes: Path, erst: Erst, tmp_path: Path) -> None:
    write(tmp_path / "other", "secret.md", "# Certificate\n\nthe certificate of the other collection\n")
    erst("index")
    erst("add", str(notes))
    erst("add", str(tmp_path / "other"))
    for http in served("notes"):
        assert http.get("/api/search?q=kalman").json()["hits"][0]["slug"] == "kalman"
        assert {one["agent"] for one in http.get("/api/sessions").json()["sessions"]} == {"markdown"}
        for path in REACHING:
            said = http.get(path).text
            assert not any(word in said for word in ("secret", "claude-code:", "codex:", "5b1f7c52-3c1e")), path
        assert http.get("/api/status").json()["coverage"]["sessions"] == 3
        assert http.get("/api/sessions/5b1f7c52").status_code == 404
        assert http.get("/api/around?session=markdown:other/secret.md&message_index=0").status_code == 404
        write(notes, "late.md", "# Late\n\na walrus\n")
        assert http.get("/api/search?q=walrus").json()["hits"][0]["heading"] == "Late"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_agent_finds_notes_by_every_tool(library: Library, anyio_backend: str) -> None:
    async with Client(server(library, library.config)) as client:

        async def text(tool: str, **arguments: object) -> str:
            (block,) = (await client.call_tool(tool, arguments)).content
            assert block.type == "text"
            return block.text

        found = await text("history", operation="search", query="kalman filter", collection="notes")
        assert 'kind=document role=user collection=notes slug=kalman heading="Predict and correct"\n' in found
        around = await text("history", operation="around", session_path="notes/kalman.md", message_index=1)
        assert "[section: Predict and correct]\nKalman describes" in around
        assert "[notes/kalman.md] (2026-05-20)" in await text("session_search", query="kalman filter")
        assert "[section: Particles]\nThousands" in await text("session_read", session="markdown:notes/kalman.md")


def test_a_library_over_explicit_folders_reads_notes_too(tmp_path: Path, notes: Path) -> None:
    with Library(":memory:", {"markdown": [Root(str(notes))]}) as library:
        assert library.search("kalman").hits[0].session == "markdown:notes/kalman.md"


def test_an_added_folder_needs_a_name_that_is_free(library: Library, tmp_path: Path) -> None:
    write(tmp_path / "deep" / "notes", "a.md", "text")
    with pytest.raises(UsageError, match="choose another name"):
        library.add(tmp_path / "deep" / "notes")
    assert library.add(tmp_path / "deep" / "notes", "deep").name == "deep"
    assert [one.name for one in library.added()] == ["deep", "notes"]
