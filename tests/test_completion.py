"""The completion scripts, asked as the shells ask them."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Erst

from erstwhile.adapters import ADAPTERS
from erstwhile.cli.completion import BUILT, options, values
from erstwhile.cli.examples import EXAMPLES
from erstwhile.cli.help import text
from erstwhile.cli.parse import parse
from erstwhile.cli.table import Command
from erstwhile.model import KINDS
from erstwhile.setup import NAMES

BASH = shutil.which("bash")
Complete = Callable[[str], list[str]]
SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def complete(tmp_path: Path, erst: Erst) -> Complete:
    """What bash offers for a command line, the cursor behind its last character."""
    if BASH is None:
        pytest.skip("platform: no bash here")
    script = tmp_path / "erst.bash"
    script.write_text(erst("completion", "bash").out, encoding="utf-8")

    def ask(line: str) -> list[str]:
        words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
        code = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _erst; printf "%s\\n" "${{COMPREPLY[@]}}"'
        ran = subprocess.run(
            [BASH, "-c", code, "bash", *words], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert ran.stderr == ""
        return ran.stdout.split("\n")[:-1]

    return ask


CASES = [
    ("erst se", ["search", "sessions", "serve", "setup"]),
    ("erst help co", ["config", "completion"]),
    ("erst search --sc", ["--scope"]),
    ("erst search --scope ", ["project", "global", "archive"]),
    ("erst search --scope = g", ["global"]),
    ("erst search --scope =", ["project", "global", "archive"]),
    ("erst search --agent c", ["claude-code", "cline", "codex", "copilot-cli", "crush", "cursor"]),
    ("erst search --kind tool_", ["tool_input", "tool_output", "tool_error"]),
    ("erst search --limit ", [""]),
    ("erst search -n ", [""]),
    ("erst setup go", ["goose"]),
    ("erst setup codex --re", ["--remove"]),
    ("erst completion ", ["bash", "zsh", "fish", "--help"]),
    ("erst push --", [""]),
]


@pytest.mark.parametrize(("line", "offered"), CASES, ids=[line for line, _ in CASES])
def test_bash_offers_what_fits(line: str, offered: list[str], complete: Complete) -> None:
    assert [one for one in complete(line) if one] == [one for one in offered if one]


def test_bash_offers_folders_with_spaces_whole(tmp_path: Path, complete: Complete) -> None:
    (tmp_path / "my shop").mkdir()
    (tmp_path / "my file").touch()
    assert complete("erst search --project my") == ["my shop"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_every_command_option_choice_and_agent(shell: str, erst: Erst) -> None:
    ran = erst("completion", shell)
    assert (ran.status, ran.err) == (0, "")
    said = ran.out
    for command in BUILT:
        assert command.name in said
        for option in options(command):
            name = f"-l {option.name}" if shell == "fish" else f"--{option.name}"
            assert name in said
            assert " ".join(values(option)) in said
    assert all(" ".join(words) in said for words in (KINDS, NAMES, [adapter.name for adapter in ADAPTERS]))
    assert "rerank" not in said, "what is not built is not offered"
    assert "\npush" not in said


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_every_word_of_a_script_is_quoted_whole(shell: str, erst: Erst) -> None:
    """The shells themselves are asked where they are installed; their quoting is checked everywhere."""
    said = erst("completion", shell).out
    joined = said.replace("\\\n", " ")
    for line in joined.replace("\\'", "’").splitlines() if shell == "fish" else joined.splitlines():
        assert shlex.split(line, comments=True) is not None
    if shell == "zsh":
        assert said.startswith("#compdef erst\n")
        assert said.count("        ;;\n") == len(BUILT)
        assert said.rstrip().endswith("compdef _erst erst; fi")
    else:
        assert all(line.startswith(("complete -c erst ", "#")) for line in said.splitlines())
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=said, text=True, check=True)


def test_another_shell_is_refused_with_those_there_are(erst: Erst) -> None:
    ran = erst("completion", "tcsh")
    assert (ran.status, ran.err) == (2, "erst: no completion for 'tcsh'; there are bash, zsh, fish\n")


# -- help --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", BUILT, ids=lambda command: command.name)
def test_the_help_of_a_command_has_examples_that_parse_and_its_exit_status(command: Command) -> None:
    said = text(command, 80)
    assert "\nExamples:\n" in said
    assert "Exit status: 0" in said
    for line, meant in EXAMPLES[command.name]:
        assert line in said
        assert meant in said
        words = shlex.split(line.partition(" > ")[0])
        assert words[0] == "erst"
        assert parse(words[1:]).command == command
