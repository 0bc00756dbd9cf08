"""Paths and settings, read once into a frozen Config. The only module that looks at the environment.

Loaded by every search, so it knows paths as text and imports nothing heavy; `config_file` is loaded when there is one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from .model import Root
from .values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .adapters import Adapter

FILE = "config.toml"


class AgentSettings(NamedTuple):
    """`[agents.NAME]`: where one agent's logs lie, and whether they are read."""

    roots: tuple[str, ...] = ()
    """Folders, absolute; empty means the agent's own variable or its default homes."""
    enabled: bool = True


class SearchSettings(NamedTuple):
    limit: int = 10
    scope: str = "auto"
    """One of SCOPES, or auto: the current project when it has sessions, else global."""
    ranking: str = "contextual"
    mode: str = "lexical"


class SessionSearchSettings(NamedTuple):
    """The MCP tool `session_search`."""

    max_results: int = 20
    snippet_length: int = 200
    timeout_ms: int = 30_000


class IndexSettings(NamedTuple):
    policy: str = "keep"
    exclude: tuple[str, ...] = ()


class ServeSettings(NamedTuple):
    host: str = "127.0.0.1"
    port: int = 8377
    token_file: str = ""
    """A file that holds the bearer token; empty means none, and then only loopback is served."""


class Config(NamedTuple):
    """All settings, and which of them the user gave."""

    home: str
    """ERST_HOME: the folder that holds everything erstwhile writes."""
    file: str | None = None
    """The config.toml that was read."""
    agents: Mapping[str, AgentSettings] = {}
    """Only the agents that config.toml names."""
    search: SearchSettings = SearchSettings()
    session_search: SessionSearchSettings = SessionSearchSettings()
    index: IndexSettings = IndexSettings()
    serve: ServeSettings = ServeSettings()
    given: frozenset[str] = frozenset()
    """The keys that config.toml sets, such as `search.limit`."""
    environ: Mapping[str, str] = {}
    """The variables it was read from; adapters look up their own."""

    def roots(self, adapters: Iterable[Adapter]) -> dict[str, list[Root]]:
        """Where each enabled agent's logs lie. Default homes that do not exist are left out; folders that the user
        named stay, so that a wrong one is reported."""
        found: dict[str, list[Root]] = {}
        for adapter in adapters:
            settings = self.agents.get(adapter.name, AgentSettings())
            if not settings.enabled:
                continue
            paths = settings.roots or [home for home in adapter.homes(self.environ) if os.path.lexists(home)]
            found[adapter.name] = [Root(path) for path in dict.fromkeys(paths)]
        return found


CALLERS = {
    "CLAUDE_CODE_SESSION_ID": "claude-code",
    "CODEX_THREAD_ID": "codex",
    "OPENCODE_SESSION_ID": "opencode",
}
"""Variables by which agents name the session that runs a command."""


def current_session(environ: Mapping[str, str]) -> str | None:
    """The full id of the session that started this process, where its agent says so."""
    return next((f"{agent}:{environ[name]}" for name, agent in CALLERS.items() if environ.get(name)), None)


# -- reading ---------------------------------------------------------------------------------------------------------


def load(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Config:
    """The settings of this user on this machine; raises ConfigError with file and line.

    The config.toml beside the data counts, else the one in the platform's config folder: one file, never a mixture.
    """
    environ = dict(os.environ) if environ is None else environ
    home = environ.get("ERST_HOME") or ""
    home = os.path.abspath(expand(home, environ)) if home else data_folder(environ, platform)
    for folder in (home, config_folder(environ, platform)):
        path = os.path.join(folder, FILE)
        if os.path.lexists(path):
            from .config_file import read

            return read(path, Config(home, environ=environ))
    return Config(home, environ=environ)


def data_folder(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The platform's folder for a user's data. Written out because platformdirs costs more than parsing the command."""
    if platform == "win32":
        local = environ.get("LOCALAPPDATA") or os.path.join(_user(environ), "AppData", "Local")
        return os.path.join(local, "erstwhile")
    if platform == "darwin":
        return os.path.join(_user(environ), "Library", "Application Support", "erstwhile")
    return os.path.join(_xdg(environ, "XDG_DATA_HOME", ".local/share"), "erstwhile")


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The platform's folder for a user's settings; on Windows and macOS that of the data."""
    if platform in ("win32", "darwin"):
        return data_folder(environ, platform)
    return os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), "erstwhile")


def expand(path: str, environ: Mapping[str, str]) -> str:
    """The path with `~` as the user's home."""
    return _user(environ) + path[1:] if path == "~" or path.startswith(("~/", "~\\")) else path


def _user(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def _xdg(environ: Mapping[str, str], name: str, below: str) -> str:
    """The folder that an XDG variable names; a relative one is ignored, as its specification asks."""
    folder = environ.get(name) or ""
    return folder if os.path.isabs(folder) else os.path.join(_user(environ), below)
