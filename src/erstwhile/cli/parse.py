"""The words of a command line -> Arguments, by the table. Knows nothing about what the commands do.

Written by hand because a search may cost four times what starting Python costs, and argparse alone is most of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..errors import NotBuilt, UsageError
from ..values import Any, NamedTuple
from .table import COMMANDS, Command, Option, find


class Arguments(NamedTuple):
    """A parsed command line."""

    command: Command
    words: tuple[str, ...]
    options: dict[str, Any]
    """By option name; only those that were given. Repeatable ones are tuples, numbers are int, flags True."""

    def get(self, name: str, default: Any = None) -> Any:
        return self.options.get(name, default)

    def query_fields(self) -> dict[str, Any]:
        """The given options that are fields of Query, by field; times still as text."""
        fields = {option.name: option.field for option in self.command.options if option.field}
        return {fields[name]: value for name, value in self.options.items() if name in fields}


class Help(Exception):
    """Help was asked for; `command` is None for the whole program."""

    def __init__(self, command: Command | None = None) -> None:
        super().__init__()
        self.command = command


def parse(argv: Sequence[str]) -> Arguments:
    """The command and what it was given. Raises UsageError, NotBuilt, or Help when that was asked for."""
    # Bytes that are no text come as lone surrogates; nothing behind this line could store or print them.
    argv = [argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for argument in argv]
    if not argv or argv[0] in ("-h", "--help", "help"):
        raise Help(find(argv[1]) if len(argv) > 1 else None)
    if argv[0] in ("--version", "-V"):
        argv = ["version"]
    command = find(argv[0])
    if command is None:
        raise UsageError(_unknown(f"no command {argv[0]!r}", argv[0], (c.name for c in COMMANDS)))
    words, options = _split(command, argv[1:])
    if not command.module:
        raise NotBuilt(f"`erst {command.name}` is not built yet")
    _count(command, words)
    return Arguments(command, tuple(words), options)


def _split(command: Command, argv: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Words and options apart. A command that is not built takes anything."""
    words: list[str] = []
    options: dict[str, Any] = {}
    rest = iter(argv)
    for argument in rest:
        if argument == "--":
            words += rest
        elif option := _glued(command, argument):
            _set(options, option, _value(option, argument[:2], argument[2:], rest))
        elif argument in ("-h", "--help"):
            raise Help(command)
        elif (option := _option(command, argument)) is None or not command.module:
            words.append(argument)
        else:
            name, joined, text = argument.partition("=")
            _set(options, option, _value(option, name, text if joined else None, rest))
    return words, options


def _glued(command: Command, argument: str) -> Option | None:
    """The option of a short form with its number behind it, as in `-n5`."""
    if argument[:1] != "-" or not argument[2:].isdigit():
        return None
    return next((option for option in command.options if option.value == "N" and option.short == argument[1]), None)


def _option(command: Command, argument: str) -> Option | None:
    """The option that an argument begins; None for a word. A single dash before what is no known short option is a word
    where words are taken: the query language excludes by it."""
    if not argument.startswith("-") or argument == "-":
        return None
    name = argument.partition("=")[0]
    for option in command.options:
        if name == f"--{option.name}" or (option.short and argument == f"-{option.short}"):
            return option
    if not command.module or (command.words and not argument.startswith("--")):
        return None
    raise UsageError(_unknown(f"`erst {command.name}` has no option {name}", name, _long(command)))


def _value(option: Option, name: str, text: str | None, rest: Iterator[str]) -> Any:
    """What the option was set to; takes the next argument when it needs a value and has none joined by `=`."""
    if not option.value:
        if text is not None:
            raise UsageError(f"{name} takes no value")
        if option.unbuilt:
            raise NotBuilt(f"{name} is not built yet")
        return True
    if text is None:
        text = next(rest, None)
        if text is None or text.startswith("--"):
            raise UsageError(f"{name} needs a value: {_allowed(option)}")
    return checked(option, name, text)


def checked(option: Option, name: str, text: str) -> Any:
    """The value as its type; raises UsageError naming what is allowed, NotBuilt for what is only planned."""
    if text in option.unbuilt or option.name in option.unbuilt:
        raise NotBuilt(f"{name} {text} is not built yet")
    if option.choices and text not in option.choices:
        raise UsageError(f"{name} must be one of {_allowed(option)}; not {text!r}")
    if option.value != "N":
        return text
    if not (text.isascii() and text.isdigit()) or not option.smallest <= int(text) < 1 << 31:
        raise UsageError(f"{name} must be {_allowed(option)}; not {text!r}")
    return int(text)


def _set(options: dict[str, Any], option: Option, value: Any) -> None:
    options[option.name] = (*options.get(option.name, ()), value) if option.many else value


def _count(command: Command, words: list[str]) -> None:
    """Raises UsageError when words are missing or too many. `search` without any explains itself."""
    if command.words:
        return
    needed = command.arguments.split()
    if len(words) < len(needed):
        raise UsageError(f"`erst {command.name}` needs {' '.join(needed)}; {needed[len(words)]} is missing")
    if len(words) > len(needed):
        raise UsageError(f"`erst {command.name}` does not take {words[len(needed)]!r}")


def _allowed(option: Option) -> str:
    if option.choices:
        return ", ".join(option.choices)
    if option.value == "N":
        return f"a whole number of at least {option.smallest}" if option.smallest else "a whole number"
    return option.value


def _long(command: Command) -> list[str]:
    return [f"--{option.name}" for option in command.options]


def _unknown(sentence: str, given: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(given, list(known), 1)
    return f"{sentence}; did you mean {near[0]}?" if near else sentence
