"""`erst completion SHELL`: a static script that completes commands, options and what they may be set to.

Made from the table when it is printed; nothing of erst runs when a key is pressed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..adapters import ADAPTERS
from ..config import Config
from ..errors import UsageError
from ..setup import NAMES
from .parse import Arguments
from .screen import Screen
from .table import COMMANDS, Command, Option

BUILT = tuple(command for command in COMMANDS if command.module)
FOLDERS, FILES = "DIR", "FILE"
HELP = Option("help", "", "explain this command")


def completion(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Prints the script of one shell."""
    shell = arguments.words[0]
    if shell not in SCRIPTS:
        raise UsageError(f"no completion for {shell!r}; there are {', '.join(SCRIPTS)}")
    screen.answer("\n".join(SCRIPTS[shell]()) + "\n")
    return 0


def values(option: Option) -> tuple[str, ...]:
    """What the option may be set to, as far as it is known beforehand."""
    if option.name == "agent":
        return tuple(adapter.name for adapter in ADAPTERS)
    return tuple(choice for choice in option.choices if choice not in option.unbuilt)


def words(command: Command) -> tuple[str, ...]:
    """What the words of a command may be, as far as it is known beforehand."""
    return {"[AGENT…]": NAMES, "SHELL": tuple(SCRIPTS)}.get(command.arguments, ())


def options(command: Command) -> list[Option]:
    """The options of a command that work."""
    return [*(option for option in command.options if option.name not in option.unbuilt), HELP]


# -- bash --------------------------------------------------------------------------------------------------------------


def _bash() -> Iterator[str]:
    yield "# bash completion of erst"
    yield "_erst() {"
    yield "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}"
    yield "    local IFS=$IFS"
    yield "    COMPREPLY=()"
    yield "    # --name=value comes as three words"
    yield "    [[ $word == = ]] && word="
    yield "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}"
    yield "    if ((COMP_CWORD == 1)); then"
    yield f"        COMPREPLY=($(compgen -W '{' '.join(command.name for command in BUILT)} help' -- \"$word\"))"
    yield "        return"
    yield "    fi"
    yield "    case $command:$before in"
    for command in BUILT:
        for option in options(command):
            if option.value:
                yield f"    {_cases(command, option)}) {_bash_values(option)}; return ;;"
    yield "    esac"
    yield "    case $command in"
    names = " ".join(command.name for command in BUILT)
    yield f"    help) COMPREPLY=($(compgen -W '{names}' -- \"$word\")) ;;"
    for command in BUILT:
        known = " ".join((*words(command), *(f"--{option.name}" for option in options(command))))
        yield f"    {command.name}) COMPREPLY=($(compgen -W '{known}' -- \"$word\")) ;;"
    yield "    esac"
    yield "}"
    yield "complete -F _erst erst"


def _cases(command: Command, option: Option) -> str:
    short = f" | {command.name}:-{option.short}" if option.short else ""
    return f"{command.name}:--{option.name}{short}"


def _bash_values(option: Option) -> str:
    if option.value == FOLDERS:
        # macOS still has bash 3.2, which knows neither compopt nor mapfile.
        return "compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY=($(compgen -d -- \"$word\"))"
    if known := values(option):
        return f"COMPREPLY=($(compgen -W '{' '.join(known)}' -- \"$word\"))"
    return ":"


# -- zsh ---------------------------------------------------------------------------------------------------------------


def _zsh() -> Iterator[str]:
    yield "#compdef erst"
    yield "# zsh completion of erst"
    yield "_erst() {"
    yield "    local -a commands"
    yield "    commands=("
    for command in BUILT:
        yield f"        {_quoted(f'{command.name}:{command.help}')}"
    yield "    )"
    yield "    if ((CURRENT == 2)); then"
    yield "        _describe command commands"
    yield "        return"
    yield "    fi"
    yield "    local command=${words[2]}"
    yield "    shift words"
    yield "    ((CURRENT--))"
    yield "    case $command in"
    yield "    help) _describe command commands ;;"
    for command in BUILT:
        yield f"    {command.name})"
        yield "        _arguments -s \\"
        for option in options(command):
            yield from (f"            {spec} \\" for spec in _zsh_option(option))
        yield f"            {_zsh_words(command)}"
        yield "        ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _erst ]]; then _erst "$@"; else compdef _erst erst; fi'


def _zsh_option(option: Option) -> Iterator[str]:
    said = option.help.translate({ord(sign): f"\\{sign}" for sign in "[]:\\"})
    many = "*" if option.many else ""
    value = f":{option.value}:{_zsh_values(option)}" if option.value else ""
    yield _quoted(f"{many}--{option.name}{'=' if option.value else ''}[{said}]{value}")
    if option.short:
        yield _quoted(f"-{option.short}[{said}]{value}")


def _zsh_values(option: Option) -> str:
    if option.value == FOLDERS:
        return "_files -/"
    return f"({' '.join(known)})" if (known := values(option)) else " "


def _zsh_words(command: Command) -> str:
    if known := words(command):
        return _quoted(f"*:{command.arguments.strip('[]…').lower()}:({' '.join(known)})")
    return _quoted("*:file:_files") if FILES in command.arguments else _quoted("*: : ")


# -- fish --------------------------------------------------------------------------------------------------------------


def _fish() -> Iterator[str]:
    yield "# fish completion of erst"
    yield "complete -c erst -f"
    for command in BUILT:
        yield f"complete -c erst -n __fish_use_subcommand -a {command.name} -d {_fish_quoted(command.help)}"
    for command in BUILT:
        here = f"complete -c erst -n '__fish_seen_subcommand_from {command.name}'"
        if known := words(command):
            yield f"{here} -a '{' '.join(known)}'"
        for option in options(command):
            short = f" -s {option.short}" if option.short else ""
            yield f"{here} -l {option.name}{short}{_fish_values(option)} -d {_fish_quoted(option.help)}"


def _fish_values(option: Option) -> str:
    if option.value == FOLDERS:
        return " -x -a '(__fish_complete_directories)'"
    if known := values(option):
        return f" -x -a '{' '.join(known)}'"
    return " -x" if option.value else ""


def _quoted(text: str) -> str:
    """As one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    """As one word of fish, in which a backslash escapes inside quotation marks."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
