"""The documents tell the truth: their examples run, their commands exist, and nothing is left out."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import pytest
from conftest import Erst
from guide import commands, refreshed

from erstwhile.adapters import ADAPTERS
from erstwhile.cli.parse import Help, parse
from erstwhile.cli.table import COMMANDS, find
from erstwhile.config_file import SETTINGS
from erstwhile.errors import NotBuilt

ROOT = Path(__file__).parents[1]
GUIDE, README, NEW_AGENT = ROOT / "docs" / "GUIDE.md", ROOT / "README.md", ROOT / "docs" / "ADAPTERS.md"


@pytest.mark.parametrize("path", [README, GUIDE, NEW_AGENT], ids=lambda path: path.name)
def test_the_examples_give_what_is_printed_below_them(path: Path, sample: Path, erst: Erst) -> None:
    erst("index")

    def run(argv: list[str]) -> str:
        ran = erst(*argv, width=100)
        return (ran.out + ran.err).replace(str(sample), "/home/dev")

    text = path.read_text(encoding="utf-8")
    now = refreshed(text, run)
    if "WRITE_DOCS" in os.environ:  # `make docs`
        path.write_text(now, encoding="utf-8")
        return
    assert now == text, f"{path.name} is out of date: run `make docs` and read the diff"


@pytest.mark.parametrize("path", [README, GUIDE, ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_every_command_that_is_mentioned_exists(path: Path) -> None:
    for argv in commands(path.read_text(encoding="utf-8")):
        assert find(argv[0]) or argv[0].startswith("-"), argv
        if len(argv) > 1:  # a name alone, as in `erst around`, only names the command
            with contextlib.suppress(Help, NotBuilt):
                parse(argv)


def test_the_guide_names_every_command_option_and_setting() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"### `erst {command.name}" in guide
        assert all(f"--{option.name}" in guide for option in command.options)
    assert all(f"`{setting.name}`" in guide for setting in SETTINGS)


def test_the_readme_names_the_two_commands_and_every_variable_an_adapter_honours_is_in_the_guide() -> None:
    readme, guide = README.read_text(encoding="utf-8"), GUIDE.read_text(encoding="utf-8")
    assert re.search("^make demo .*\nmake test ", readme, re.M)
    assert all(adapter.env in guide for adapter in ADAPTERS if adapter.env)


@pytest.mark.parametrize("path", [README, NEW_AGENT], ids=lambda path: path.name)
def test_the_table_of_agents_has_every_adapter_with_what_it_reads(path: Path) -> None:
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = {line.split(" | ")[0].removeprefix("| "): line.split(" | ") for line in rows}
    assert {adapter.name for adapter in ADAPTERS} <= set(named)
    assert all(adapter.formats and all(named[adapter.name]) for adapter in ADAPTERS)
