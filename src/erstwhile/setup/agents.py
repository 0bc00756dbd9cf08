"""The agents that can be wired: where each keeps its MCP servers and its skills. One value an agent.

Read in each agent's own source or documents, as of November 2026:

* Claude Code: `claude mcp add --scope user` writes `mcpServers` of ~/.claude.json, of $CLAUDE_CONFIG_DIR/.claude.json
  when that is set, and of ~/.claude/.config.json where an old installation has one (code.claude.com/docs/en/mcp);
  skills lie in its own folder (code.claude.com/docs/en/skills).
* Codex: `[mcp_servers.NAME]` of $CODEX_HOME/config.toml; skills in ~/.agents/skills, $CODEX_HOME/skills being the
  older place (openai/codex codex-rs/core-skills, codex-rs/ext/skills/src/host_roots.rs).
* Gemini CLI: `mcpServers` of ~/.gemini/settings.json, below $GEMINI_CLI_HOME when that is set
  (google-gemini/gemini-cli docs/tools/mcp-server.md); it reads ~/.agents/skills and warns of the same skill in its
  own folder (docs/cli/skills.md).
* OpenCode: `mcp` of opencode.json or .jsonc in ~/.config/opencode, $OPENCODE_CONFIG_DIR or the file $OPENCODE_CONFIG
  (anomalyco/opencode packages/opencode/src/config/paths.ts, mcp.ts); it reads ~/.agents/skills
  (opencode.ai/docs/skills).
* Reasonix: `[[plugins]]` of $REASONIX_HOME/config.toml, ~/.reasonix or %APPDATA%\\reasonix; an older place counts
  only where the present one has no file (esengine/DeepSeek-Reasonix internal/config/paths.go, plugin_entry.go);
  skills of ~/.agents count (ConventionDirs there).
* DSH: one row in $DSH_HOME/cordis.patch.yml, the layer that holds for every profile and that DSH itself never writes
  (docs of packages/boot/app-boot and of npm's @deepseek-ai/dsh-mcp-client); skills in ~/.agents/skills
  (@deepseek-ai/dsh-skill-filesystem).
* Cursor: `mcpServers` of ~/.cursor/mcp.json (cursor.com/docs/context/mcp); ~/.agents/skills
  (cursor.com/docs/context/skills).
* Copilot CLI: `mcpServers` of ~/.copilot/mcp-config.json, or of $COPILOT_HOME (docs.github.com, "Adding MCP servers
  for GitHub Copilot CLI"); personal skills in ~/.agents/skills ("Adding agent skills").
* Qwen Code: `mcpServers` of settings.json in $QWEN_HOME or ~/.qwen; ~/.agents/skills (QwenLM/qwen-code
  packages/core/src/config/storage.ts).
* Goose: `extensions` of config.yaml in ~/.config/goose, %APPDATA%\\Block\\goose\\config or $GOOSE_PATH_ROOT/config;
  its .agents folder lies below the same root (block/goose crates/goose/src/config/paths.rs, extensions.rs).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from shutil import which
from typing import NamedTuple

from ..config import expand
from . import entry
from .json_text import JsonPlace
from .places import Place
from .toml_text import TomlTable, TomlTables
from .yaml_text import YamlMap, YamlRows

Environ = Mapping[str, str]


def _shared_skills(environ: Environ) -> str:
    return expand("~/.agents/skills", environ)


class Agent(NamedTuple):
    """What has to be known of an agent to wire it."""

    name: str
    """As the adapters have it."""
    home: Callable[[Environ], str]
    """Its folder: where that is, the agent is or was installed."""
    programs: tuple[str, ...]
    place: Place
    form: entry.Form
    files: Callable[[Environ], list[str]]
    """Where its configuration may be: the first file that exists counts; where none does, the first is made."""
    skills: Callable[[Environ], str] = _shared_skills
    """The folder that it reads skills from."""
    next: str = "then start a new session"
    """What the user has to do then."""

    def file(self, environ: Environ) -> str:
        """The configuration file that counts."""
        places = self.files(environ)
        return next((path for path in places if os.path.lexists(path)), places[0])

    def found(self, environ: Environ) -> str | None:
        """What shows that the agent is installed here, or None."""
        for path in (self.home(environ), self.file(environ)):
            if os.path.exists(path):
                return path
        return next((f"{name} on PATH" for name in self.programs if which(name, path=environ.get("PATH", ""))), None)


def _home(variable: str, default: str) -> Callable[[Environ], str]:
    """The folder that a variable names, else the usual one."""
    return lambda environ: os.path.abspath(expand(environ.get(variable) or default, environ))


def _below(variable: str, name: str) -> Callable[[Environ], str]:
    """A folder below what a variable names, else below the user's home."""
    return lambda environ: os.path.join(
        os.path.abspath(expand(environ.get(variable) or "~", environ)), *name.split("/")
    )


def _in(home: Callable[[Environ], str], *names: str) -> Callable[[Environ], list[str]]:
    """Files in a folder."""
    return lambda environ: [os.path.join(home(environ), name) for name in names]


def _xdg_config(environ: Environ) -> str:
    folder = environ.get("XDG_CONFIG_HOME") or ""
    return folder if os.path.isabs(folder) else expand("~/.config", environ)


def _roaming(environ: Environ) -> str:
    return environ.get("APPDATA") or expand("~/AppData/Roaming", environ)


def _claude_files(environ: Environ) -> list[str]:
    moved = environ.get("CLAUDE_CONFIG_DIR")
    folder = os.path.abspath(expand(moved or "~/.claude", environ))
    old = os.path.join(folder, ".config.json")
    now = os.path.join(folder if moved else expand("~", environ), ".claude.json")
    return [old, now] if os.path.lexists(old) else [now]


def _claude_skills(environ: Environ) -> str:
    return os.path.join(CLAUDE(environ), "skills")


def _opencode_home(environ: Environ) -> str:
    moved = environ.get("OPENCODE_CONFIG_DIR")
    return os.path.abspath(expand(moved, environ)) if moved else os.path.join(_xdg_config(environ), "opencode")


def _opencode_files(environ: Environ) -> list[str]:
    named = environ.get("OPENCODE_CONFIG")
    if named:
        return [os.path.abspath(expand(named, environ))]
    return _in(_opencode_home, "opencode.json", "opencode.jsonc")(environ)


def _reasonix_home(environ: Environ) -> str:
    if not environ.get("REASONIX_HOME") and sys.platform == "win32":
        return os.path.join(_roaming(environ), "reasonix")
    return os.path.abspath(expand(environ.get("REASONIX_HOME") or "~/.reasonix", environ))


def _reasonix_files(environ: Environ) -> list[str]:
    old = [_xdg_config(environ), expand("~/.config", environ), expand("~/Library/Application Support", environ)]
    folders = [_reasonix_home(environ), *(os.path.join(folder, "reasonix") for folder in old)]
    return [os.path.join(folder, "config.toml") for folder in folders]


def _goose_root(environ: Environ) -> str:
    root = environ.get("GOOSE_PATH_ROOT") or ""
    return root if os.path.isabs(root) else ""


def _goose_home(environ: Environ) -> str:
    if root := _goose_root(environ):
        return os.path.join(root, "config")
    if sys.platform == "win32":
        return os.path.join(_roaming(environ), "Block", "goose", "config")
    return os.path.join(_xdg_config(environ), "goose")


def _goose_skills(environ: Environ) -> str:
    return os.path.join(_goose_root(environ) or expand("~", environ), ".agents", "skills")


SERVERS = JsonPlace("mcpServers")

CLAUDE = _home("CLAUDE_CONFIG_DIR", "~/.claude")
CODEX = _home("CODEX_HOME", "~/.codex")
GEMINI = _below("GEMINI_CLI_HOME", ".gemini")
DSH = _home("DSH_HOME", "~/.dsh")
CURSOR = _home("", "~/.cursor")
COPILOT = _home("COPILOT_HOME", "~/.copilot")
QWEN = _home("QWEN_HOME", "~/.qwen")

AGENTS = (
    Agent("claude-code", CLAUDE, ("claude",), SERVERS, entry.stdio, _claude_files, _claude_skills),
    Agent("codex", CODEX, ("codex",), TomlTable("mcp_servers"), entry.plain, _in(CODEX, "config.toml")),
    Agent(
        "gemini-cli",
        GEMINI,
        ("gemini",),
        SERVERS,
        entry.plain,
        _in(GEMINI, "settings.json"),
        _below("GEMINI_CLI_HOME", ".agents/skills"),
    ),
    Agent("opencode", _opencode_home, ("opencode",), JsonPlace("mcp"), entry.opencode, _opencode_files),
    Agent("reasonix", _reasonix_home, ("reasonix",), TomlTables("plugins"), entry.plugin, _reasonix_files),
    Agent("dsh", DSH, ("dsh",), YamlRows(), entry.row, _in(DSH, "cordis.patch.yml"), next="then restart it"),
    Agent(
        "cursor",
        CURSOR,
        ("cursor", "cursor-agent"),
        SERVERS,
        entry.plain,
        _in(CURSOR, "mcp.json"),
        next="then restart it",
    ),
    Agent("copilot-cli", COPILOT, ("copilot",), SERVERS, entry.local, _in(COPILOT, "mcp-config.json")),
    Agent("qwen-code", QWEN, ("qwen",), SERVERS, entry.plain, _in(QWEN, "settings.json")),
    Agent(
        "goose",
        _goose_home,
        ("goose",),
        YamlMap("extensions"),
        entry.extension,
        _in(_goose_home, "config.yaml"),
        _goose_skills,
    ),
)
NAMES = tuple(agent.name for agent in AGENTS)
