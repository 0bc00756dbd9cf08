"""The command that starts our MCP server, the forms in which agents write it down, and how to know it again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from shutil import which
from typing import Any, NamedTuple

from ..adapters import ADAPTERS
from ..config import expand
from .places import NAME, Entry
from .yaml_text import ROW

ABOUT = "Searches what coding agents said and did before on this machine"
PROGRAMS = ("erst", "erst.exe")


class Server(NamedTuple):
    """What an agent has to start."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    """Agents hand little of their own environment on: what moves our data, or an agent's logs, has to be said."""


Form = Callable[[Server], dict[str, Any]]


def server(environ: Mapping[str, str], program: str = "", python: str = "") -> Server:
    """How the erst that runs now is started again: by its name where that finds it, else by its path."""
    command, *first = _program(environ, program or sys.argv[0], python or sys.executable)
    return Server(command, (*first, "mcp"), _moved(environ))


def _program(environ: Mapping[str, str], program: str, python: str) -> list[str]:
    if os.path.basename(program).lower() not in PROGRAMS or not os.path.isfile(program):
        beside = [os.path.join(os.path.dirname(python), name) for name in PROGRAMS]
        program = next((path for path in beside if os.path.isfile(path)), "")
    if not program:
        return [python, "-m", "erstwhile"]
    found = which("erst", path=environ.get("PATH", ""))
    if found and os.path.realpath(found) == os.path.realpath(program):
        return ["erst"]
    return [os.path.abspath(program)]


def _moved(environ: Mapping[str, str]) -> dict[str, str]:
    names = ["ERST_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", *(adapter.env for adapter in ADAPTERS if adapter.env)]
    return {name: os.path.abspath(expand(environ[name], environ)) for name in names if environ.get(name)}


# -- forms -------------------------------------------------------------------------------------------------------------


def plain(server: Server) -> dict[str, Any]:
    """`command`, `args` and `env`, as most have it."""
    return {"command": server.command, "args": list(server.args)} | ({"env": dict(server.env)} if server.env else {})


def stdio(server: Server) -> dict[str, Any]:
    """With the transport named, as `claude mcp add` writes it."""
    return {"type": "stdio", **plain(server)}


def local(server: Server) -> dict[str, Any]:
    """Copilot's, which wants to be told which tools may be used."""
    return {"type": "local", **plain(server), "tools": ["*"]}


def opencode(server: Server) -> dict[str, Any]:
    """OpenCode's: the command is one list."""
    entry = {"type": "local", "command": [server.command, *server.args], "enabled": True}
    return entry | ({"environment": dict(server.env)} if server.env else {})


def plugin(server: Server) -> dict[str, Any]:
    """Reasonix's, which has its name inside."""
    return {"name": NAME, **plain(server)}


def extension(server: Server) -> dict[str, Any]:
    """Goose's."""
    entry = {"enabled": True, "type": "stdio", "name": NAME, "description": ABOUT}
    return entry | {"cmd": server.command, "args": list(server.args), "envs": dict(server.env), "timeout": 300}


def row(server: Server) -> dict[str, Any]:
    """DSH's: a plugin of its own that speaks MCP."""
    config = {"serverName": NAME, "transport": "stdio", **plain(server)}
    return {"id": ROW, "name": "@deepseek-ai/dsh-mcp-client", "config": config}


# -- knowing it again --------------------------------------------------------------------------------------------------


def ours(entry: Any) -> bool:
    """Whether an entry of our name starts erst, whoever wrote it."""
    words = _words(entry)
    started = words[:1] and os.path.basename(words[0].replace("\\", "/")).lower() in PROGRAMS
    return bool(words and words[-1] == "mcp" and (started or words[-3:-1] == ["-m", "erstwhile"]))


def _words(entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return []
    if isinstance(entry.get("config"), dict):
        entry = entry["config"]
    command, args = entry.get("command", entry.get("cmd")), entry.get("args")
    words: list[Any] = command if isinstance(command, list) else [command]
    words = words + args if isinstance(args, list) else words
    return words if all(isinstance(word, str) for word in words) else []


def covers(entry: Any, wanted: Any) -> bool:
    """Whether an entry says all that is wanted, whatever else the user wrote into it."""
    if isinstance(wanted, dict):
        return isinstance(entry, dict) and all(key in entry and covers(entry[key], wanted[key]) for key in wanted)
    return entry == wanted


def merged(entry: Any, wanted: Entry) -> dict[str, Any]:
    """The entry with what is wanted, and with what the user wrote into it."""
    if not isinstance(entry, dict):
        return dict(wanted)
    both = {key: merged(entry.get(key), value) if isinstance(value, dict) else value for key, value in wanted.items()}
    return both | {key: value for key, value in entry.items() if key not in both}
