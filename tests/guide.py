"""Runs the examples of a Markdown text and fills in what the program itself says, for test_docs."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Iterable

from erstwhile.adapters import ADAPTERS, Adapter
from erstwhile.cli.help import reference
from erstwhile.config import AgentSettings
from erstwhile.config_file import SECTIONS, SETTINGS, Setting

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)
SHELL = re.compile(r"(?<=^```sh\n).*?(?=^```$)", re.M | re.S)
CURSOR = re.compile(r"--cursor \S{20,}")
INLINE = re.compile(r"`(erst [^`]+)`")


def refreshed(text: str, run: Callable[[list[str]], str]) -> str:
    """The text with the output of every `$ erst …` in its console blocks as it is now, and its tables made anew."""
    text = CONSOLE.sub(lambda block: _ran(block[0], run), text)
    tables = {"reference": reference, "settings": settings, "agents": agents, "variables": variables}
    for name, table in tables.items():
        made = table()
        text = re.sub(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", lambda _, made=made: made, text, flags=re.S)
    return text


def _ran(block: str, run: Callable[[list[str]], str]) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    shown = "\n".join(f"{command}\n{run(shlex.split(command)[2:])}" for command in commands)
    return CURSOR.sub("--cursor …", shown)


def commands(text: str) -> list[list[str]]:
    """Every `erst …` command line of a text: in its blocks and in its running text, without the word `erst`."""
    lines = [line.removeprefix("$ ") for line in "\n".join(CONSOLE.findall(text) + SHELL.findall(text)).splitlines()]
    found = [line for line in lines if line.startswith("erst ")] + INLINE.findall(text)
    split = (shlex.split(line.partition(" #")[0])[1:] for line in found)
    return [[word for word in words if not word.startswith("[")] for words in split]


def settings() -> str:
    """The keys of config.toml as a Markdown table."""
    rows = (f"| `{s.section}` | `{s.name}` | `{_default(s)}` | {_help(s)} |\n" for s in SETTINGS)
    return "| section | key | default | |\n| --- | --- | --- | --- |\n" + "".join(rows)


def agents() -> str:
    """Which agents are read: where, which variables move that, in which formats, and how a session is continued."""
    rows = (
        f"| {a.name} | {_places(a)} | {_code(_variables(a)) or '-'} | {a.formats} | {_continued(a)} |\n"
        for a in ADAPTERS
    )
    return "| agent | looks in | variable | formats | continued by |\n| --- | --- | --- | --- | --- |\n" + "".join(rows)


def variables() -> str:
    """A sentence with every variable of an agent that is honoured."""
    names = [name for adapter in ADAPTERS for name in _variables(adapter)]
    return textwrap.fill(f"The agents' own variables are honoured: {_code(names)}.", 120, break_on_hyphens=False) + "\n"


def _variables(adapter: Adapter) -> list[str]:
    return [name for name in (adapter.env, *adapter.more_env) if name]


def _places(adapter: Adapter) -> str:
    return "; ".join(filter(None, (_code(adapter.roots), adapter.also)))


def _continued(adapter: Adapter) -> str:
    """The agent's command for a session; each of these is an id as some agent writes them."""
    for native in ("ID", "6b6b6b6b-0000-4000-8000-000000000001", "20261103-081500-ID"):
        if command := adapter.resume(native, "/home/dev/shop"):
            return _code([" ".join(command).replace(native, "ID")])
    return "-"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _default(setting: Setting) -> str:
    owner = SECTIONS.get(setting.section, AgentSettings)
    value = owner._field_defaults[setting.name]
    return str(value).lower() if isinstance(value, bool) else "[]" if value == () else repr(value).replace("'", '"')


def _help(setting: Setting) -> str:
    if setting.choices:
        return f"{', '.join(f'`{choice}`' for choice in setting.choices)}: {setting.help}"
    return f"{setting.smallest} to {setting.largest}: {setting.help}" if setting.largest else setting.help
