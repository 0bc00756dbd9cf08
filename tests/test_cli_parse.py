"""The command line as data: what is a word, what an option, and what is said when it is wrong."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erstwhile.cli.help import explanation, spelling, text
from erstwhile.cli.parse import Help, parse
from erstwhile.cli.table import COMMANDS, find
from erstwhile.errors import ErstError, NotBuilt, UsageError
from erstwhile.model import Query


@pytest.mark.parametrize(
    ("argv", "words", "options"),
    [
        ("search lock timeout", ["lock", "timeout"], {}),
        ("search lock --limit 5 timeout", ["lock", "timeout"], {"limit": 5}),
        ("search lock --limit=5", ["lock"], {"limit": 5}),
        ("search -n 5 lock", ["lock"], {"limit": 5}),
        ("search lock -docker -1 -", ["lock", "-docker", "-1", "-"], {}),
        ("search lock -nginx", ["lock", "-nginx"], {}),
        ("search lock -- --limit -n 5", ["lock", "--limit", "-n", "5"], {}),
        ("search x --kind user_text --kind=summary", ["x"], {"kind": ("user_text", "summary")}),
        ("search x --since -1d", ["x"], {"since": "-1d"}),
        ("search x --cursor=--ab", ["x"], {"cursor": "--ab"}),
        ("search x --json --no-sync", ["x"], {"json": True, "no-sync": True}),
        ("search x --scope global --scope archive", ["x"], {"scope": "archive"}),
        ("search", [], {}),
        ("around ID 7 --before 0", ["ID", "7"], {"before": 0}),
        ("--version", [], {}),
    ],
)
def test_a_command_line_is_words_and_options(argv: str, words: list[str], options: dict[str, Any]) -> None:
    parsed = parse(argv.split())
    assert list(parsed.words) == words
    assert parsed.options == options


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ("serch x", "no command 'serch'; did you mean search?"),
        ("search x --limt 5", "`erst search` has no option --limt; did you mean --limit?"),
        ("search x --frobnicate", "`erst search` has no option --frobnicate"),
        ("search x --limit", "--limit needs a value: a whole number of at least 1"),
        ("search x --limit --json", "--limit needs a value: a whole number of at least 1"),
        ("search x --limit ten", "--limit must be a whole number of at least 1; not 'ten'"),
        ("search x --limit 0", "--limit must be a whole number of at least 1; not '0'"),
        ("search x --limit -3", "--limit must be a whole number of at least 1; not '-3'"),
        ("search x --limit ٣", "--limit must be a whole number of at least 1; not '٣'"),
        ("search x --scope everywhere", "--scope must be one of project, global, archive; not 'everywhere'"),
        ("search x --subagents", "--subagents needs a value: no, only"),
        ("search x --json=yes", "--json takes no value"),
        ("around ID", "`erst around` needs SESSION INDEX; INDEX is missing"),
        ("around", "`erst around` needs SESSION INDEX; SESSION is missing"),
        ("around ID 3 4", "`erst around` does not take '4'"),
        ("show ID -x", "`erst show` has no option -x"),
        ("stats extra", "`erst stats` does not take 'extra'"),
    ],
)
def test_a_wrong_command_line_is_one_sentence_that_names_what_is_allowed(argv: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(argv.split())
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        ("search x --mode hybrid", "--mode hybrid"),
        ("search x --mode=semantic", "--mode semantic"),
        ("search x --rerank", "--rerank"),
        ("show ID --html", "--html"),
        ("index --watch", "--watch"),
        ("push https://team.example", "`erst push`"),
        ("doctor --deep --fix", "--deep"),
    ],
)
def test_what_is_documented_and_not_built_says_so(argv: str, what: str) -> None:
    with pytest.raises(NotBuilt, match=f"^{what} is not built yet$"):
        parse(argv.split())


@pytest.mark.parametrize("argv", ["", "--help", "-h", "help", "search --help", "search x -h", "push -h", "help search"])
def test_help_is_given_wherever_it_is_asked_for(argv: str) -> None:
    with pytest.raises(Help) as asked:
        parse(argv.split())
    command = asked.value.command
    assert (command.name if command else "") in argv


@given(st.lists(st.text(max_size=8), max_size=6))
def test_no_words_raise_anything_but_our_own_errors(words: list[str]) -> None:
    with contextlib.suppress(ErstError, Help):
        parse(["search", *words])


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert parse(["search", "caf\udce9"]).words == ("caf\ufffd",)


def test_options_that_set_a_field_of_the_query_name_one_that_exists() -> None:
    fields = {option.field for command in COMMANDS for option in command.options if option.field}
    assert fields <= set(Query._fields)


def test_an_option_means_the_same_in_every_command_that_filters() -> None:
    search, sessions = find("search"), find("sessions")
    assert search
    assert sessions
    assert {o for o in sessions.options if o.field} <= set(search.options)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
@pytest.mark.parametrize("width", [40, 100])
def test_the_help_names_every_option_and_fits(command: Any, width: int) -> None:
    said = text(command, width)
    folded = " ".join(said.split())
    for option in command.options:
        assert spelling(option) in folded
        assert " ".join(explanation(option).split()[:2]) in folded
    assert "\x1b" not in said
    assert "\x1b[1m" in text(command, width, colour=True)


def test_the_programs_help_names_every_command_and_what_is_not_built() -> None:
    said = text(None, 80)
    assert all(command.name in said for command in COMMANDS)
    built, unbuilt = said.split("Not built yet:")
    assert "  search QUERY…" in built
    assert "push" in unbuilt
    assert "push" not in built
