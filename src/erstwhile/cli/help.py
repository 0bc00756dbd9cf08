"""The help of the program and of each command, and the same as Markdown for the guide. Made from the table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from .examples import EXAMPLES
from .table import COMMANDS, Command, Option

INTRODUCTION = "Finds what your coding agents said and did before, in the session logs they leave on disk."
START = """\
Start with:
  erst search certificate expired      the ranked answer; --json for a program
  erst around SESSION INDEX            what was said before and after a hit
  erst COMMAND --help                  all options of a command
"""
STATUS = "Exit status: 0 when it is done, 2 on an error.\n"
COLUMN = 28
"""Where the explanations begin."""


def text(command: Command | None, width: int, colour: bool = False) -> str:
    """The help of a command, or of the whole program, for people."""
    return "".join(_program(width, colour) if command is None else _command(command, width, colour))


def _program(width: int, colour: bool) -> Iterator[str]:
    yield f"{_bold('Usage:', colour)} erst COMMAND [OPTIONS]\n\n{INTRODUCTION}\n\n{_bold('Commands:', colour)}\n"
    for command in COMMANDS:
        if command.module:
            yield _entry(f"{command.name} {command.arguments}".rstrip(), command.help, width)
    yield f"\n{_bold('Not built yet:', colour)} {', '.join(c.name for c in COMMANDS if not c.module)}\n\n"
    yield START


def _command(command: Command, width: int, colour: bool) -> Iterator[str]:
    yield f"{_bold('Usage:', colour)} {usage(command)}\n\n{command.help}\n"
    if not command.module:
        yield "\nThis command is not built yet.\n"
    group = ""
    for option in command.options:
        if option.group != group:
            group = option.group
            yield f"\n{_bold(group + ':', colour)}\n"
        yield _entry(spelling(option), explanation(option), width)
    if command.more:
        yield "\n" + command.more
    if command.name in EXAMPLES:
        yield f"\n{_bold('Examples:', colour)}\n"
        yield from _examples(EXAMPLES[command.name], width)
    if command.module and "Exit status" not in command.more:
        yield "\n" + STATUS


def _examples(examples: tuple[tuple[str, str], ...], width: int) -> Iterator[str]:
    """Each in a line; what it does stands below where both do not fit into one."""
    column = max(len(line) for line, _ in examples) + 4
    below = any(column + len(said) > width for _, said in examples)
    for line, said in examples:
        yield f"  {line}\n      {said}\n" if below else f"  {line}".ljust(column) + said + "\n"


def usage(command: Command) -> str:
    """`erst NAME ARGUMENTS [OPTIONS]`."""
    words = ["erst", command.name, *command.arguments.split(), *(["[OPTIONS]"] if command.options else [])]
    return " ".join(words)


def spelling(option: Option) -> str:
    """`-n, --limit N`."""
    short = f"-{option.short}, " if option.short else ""
    return f"{short}--{option.name} {option.value}".rstrip()


def explanation(option: Option) -> str:
    """What the option is for, its choices, and what of it is not built yet."""
    said = option.help
    if option.choices:
        said += f" ({', '.join(option.choices)})"
    if option.many:
        said += "; may be repeated"
    if option.unbuilt:
        said += "; not built yet" + (f": {', '.join(option.unbuilt)}" if option.choices else "")
    return said


def reference() -> str:
    """All commands and options as Markdown, for docs/GUIDE.md."""
    blocks: list[str] = []
    for command in COMMANDS:
        built = "" if command.module else " *Not built yet.*"
        block = f"### `{usage(command)}`\n\n{command.help}{built}\n"
        if command.options:
            rows = (_row(option) for option in command.options)
            block += "\n| option | |\n| --- | --- |\n" + "".join(rows)
        blocks.append(block)
    return "\n".join(blocks)


def _row(option: Option) -> str:
    return f"| `{spelling(option)}` | {explanation(option)} |\n"


def _entry(left: str, right: str, width: int) -> str:
    lines = textwrap.wrap(right, max(20, width - COLUMN)) or [""]
    first = f"  {left}".ljust(COLUMN)
    head = [first + lines[0]] if len(left) + 3 < COLUMN else [first.rstrip(), " " * COLUMN + lines[0]]
    return "\n".join([*head, *(" " * COLUMN + line for line in lines[1:])]) + "\n"


def _bold(words: str, colour: bool) -> str:
    return f"\x1b[1m{words}\x1b[0m" if colour else words
