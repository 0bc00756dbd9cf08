"""config.toml: which keys there are, reading the file into a Config, and listing what is set.

Knows the text of the file, so that whatever is wrong in it is one sentence with the line.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .adapters import ADAPTERS, Adapter
from .adapters.installed import entry_points
from .config import (
    AgentSettings,
    Config,
    IndexSettings,
    SearchSettings,
    ServeSettings,
    SessionSearchSettings,
    expand,
)
from .errors import ConfigError
from .model import SCOPES


class Setting(NamedTuple):
    """One key of config.toml: what it may hold, and what it is for."""

    section: str
    name: str
    help: str
    choices: tuple[str, ...] = ()
    smallest: int = 0
    largest: int = 0


SETTINGS = (
    Setting("agents.NAME", "roots", "folders with this agent's logs, instead of its own variable or default homes"),
    Setting("agents.NAME", "enabled", "false: this agent's logs are not read"),
    Setting("search", "limit", "hits on a page", smallest=1, largest=100),
    Setting("search", "scope", "auto is the current project when it has sessions, else global", ("auto", *SCOPES)),
    Setting("search", "ranking", "plain is textbook BM25", ("contextual", "plain")),
    Setting("search", "mode", "hybrid and semantic are not built yet", ("lexical", "hybrid", "semantic")),
    Setting("session_search", "max_results", "MCP tool session_search: its limit by default", smallest=1, largest=100),
    Setting("session_search", "snippet_length", "MCP tool session_search: characters", smallest=20, largest=2000),
    Setting("session_search", "timeout_ms", "MCP tool session_search: deadline", smallest=1, largest=600_000),
    Setting("index", "policy", "when a log disappears: keep its sessions, or follow", ("keep", "follow")),
    Setting("index", "exclude", 'patterns of paths that are never read, such as "*/secret-project/*"'),
    Setting("serve", "host", "address of `erst serve`; another than loopback needs a token"),
    Setting("serve", "port", "port of `erst serve`", smallest=0, largest=65_535),
    Setting("serve", "token_file", "file that holds the bearer token of `erst serve`"),
)
RESERVED = ("redact", "semantic")
"""Sections that are documented and whose part is not built yet."""
SECTIONS: Mapping[str, Any] = {
    "search": SearchSettings,
    "session_search": SessionSearchSettings,
    "index": IndexSettings,
    "serve": ServeSettings,
}


class Value(NamedTuple):
    """One setting as it stands, for `erst config`."""

    key: str
    value: Any
    origin: str
    """`default`, the file's path, or the variable that said so."""


# -- reading -----------------------------------------------------------------------------------------------------------


def read(path: str, defaults: Config) -> Config:
    """`defaults` with what the file at `path` says instead; raises ConfigError with file and line."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tables = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    return _Reader(path, text, defaults).config(tables)


class _Reader:
    """Turns the decoded tables into a Config; knows the text, to name the line of what is wrong."""

    def __init__(self, path: str, text: str, defaults: Config) -> None:
        self.path, self.text, self.defaults = path, text, defaults
        self.given: set[str] = set()

    def config(self, tables: dict[str, Any]) -> Config:
        config = self.defaults
        for name, table in tables.items():
            if name in RESERVED:
                raise self.wrong((name,), f"[{name}] is not built yet; remove it")
            if name == "agents":
                config = config._replace(agents=self.agents(self.table((name,), table)))
            elif name in SECTIONS:
                given = self.section(name, (name,), self.table((name,), table))
                config = config._replace(**{name: SECTIONS[name]()._replace(**given)})
            else:
                raise self.wrong((name,), f"unknown section [{name}]; there are {_names(('agents', *SECTIONS))}")
        return config._replace(file=self.path, given=frozenset(self.given))

    def agents(self, tables: dict[str, Any]) -> dict[str, AgentSettings]:
        known = tuple(adapter.name for adapter in ADAPTERS)
        found: dict[str, AgentSettings] = {}
        for name, table in tables.items():
            key = ("agents", name)
            if name not in known:
                known += tuple(entry.name for entry in entry_points())
            if name not in known:
                raise self.wrong(key, f"unknown agent {name!r}; there are {_names(known)}")
            found[name] = AgentSettings()._replace(**self.section("agents.NAME", key, self.table(key, table)))
        return found

    def section(self, section: str, key: tuple[str, ...], table: dict[str, Any]) -> dict[str, Any]:
        settings = {setting.name: setting for setting in SETTINGS if setting.section == section}
        values: dict[str, Any] = {}
        for name, value in table.items():
            if name not in settings:
                raise self.wrong((*key, name), f"unknown key {name!r} in [{'.'.join(key)}]; it has {_names(settings)}")
            values[name] = self.value(settings[name], (*key, name), value)
            self.given.add(".".join((*key, name)))
        return values

    def value(self, setting: Setting, key: tuple[str, ...], value: Any) -> Any:
        """The value as the setting's type; raises ConfigError when it is of another one or out of its bounds."""
        default = _default(setting)
        if isinstance(default, tuple):
            if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
                raise self.wrong(key, f"{setting.name} must be a list of texts, not {_shown(value)}")
            return tuple(self.folder(item) for item in value) if setting.name == "roots" else tuple(value)
        if type(value) is not type(default):
            wanted = {bool: "true or false", int: "a whole number", str: "a text"}[type(default)]
            raise self.wrong(key, f"{setting.name} must be {wanted}, not {_shown(value)}")
        if setting.choices and value not in setting.choices:
            raise self.wrong(key, f"{setting.name} must be {_names(setting.choices, 'or')}, not {_shown(value)}")
        if setting.largest and not setting.smallest <= value <= setting.largest:
            raise self.wrong(key, f"{setting.name} must be {setting.smallest} to {setting.largest}, not {value}")
        return self.folder(value) if setting.name == "token_file" and value else value

    def folder(self, path: str) -> str:
        """A path as written in the file: `~` is the user's home, a relative one starts at the file's folder."""
        path = expand(path, self.defaults.environ)
        return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(self.path)), path))

    def table(self, key: tuple[str, ...], value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(key, f"{'.'.join(key)} must be a section [{'.'.join(key)}], not {_shown(value)}")
        return value

    def wrong(self, key: tuple[str, ...], sentence: str) -> ConfigError:
        return ConfigError(f"{self.path}, line {line_of(self.text, key)}: {sentence}")


def line_of(text: str, key: tuple[str, ...]) -> int:
    """The 1-based line of a TOML text that sets `key`, or the section or inline table around it; else 1."""
    section: tuple[str, ...] = ()
    best, depth = 1, 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if line.startswith("["):
            section = here = _dotted(line.strip("[").split("]")[0])
        elif "=" in line and not line.startswith("#"):
            here = (*section, *_dotted(line.split("=", 1)[0]))
        else:
            continue
        if len(here) > depth and here == key[: len(here)]:
            best, depth = number, len(here)
    return best


def _dotted(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def _default(setting: Setting) -> Any:
    owner = AgentSettings if setting.section == "agents.NAME" else SECTIONS[setting.section]
    return owner._field_defaults[setting.name]


def _names(names: Iterable[str], joint: str = "and") -> str:
    *first, last = names
    return f"{', '.join(first)} {joint} {last}" if first else last


def _shown(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


# -- listing ---------------------------------------------------------------------------------------------------------


def values(config: Config, adapters: Iterable[Adapter]) -> list[Value]:
    """Every setting with its value and where that came from, the home first."""
    moved = config.environ.get("ERST_HOME")
    found = [Value("home", config.home, "ERST_HOME" if moved else "default")]
    roots = config.roots(adapters := list(adapters))
    for adapter in adapters:
        settings = config.agents.get(adapter.name, AgentSettings())
        found_roots = tuple(root.path for root in roots.get(adapter.name, []))
        paths = settings.roots or found_roots or tuple(f"{home} (missing)" for home in adapter.homes(config.environ))
        origin = adapter.env if adapter.env and config.environ.get(adapter.env) else "default"
        found.append(_value(config, f"agents.{adapter.name}.roots", paths, origin))
        found.append(_value(config, f"agents.{adapter.name}.enabled", settings.enabled, "default"))
    for setting in SETTINGS:
        if setting.section in SECTIONS:
            value = getattr(getattr(config, setting.section), setting.name)
            found.append(_value(config, f"{setting.section}.{setting.name}", value, "default"))
    return found


def _value(config: Config, key: str, value: Any, otherwise: str) -> Value:
    return Value(key, value, config.file if config.file and key in config.given else otherwise)
