"""Command lines to begin with, one list a command, for the help."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "search": (
        ("erst search certificate expired", "in this project, else everywhere"),
        ('erst search "lock timeout" --agent codex --since 30d', "one agent, the last 30 days"),
        ("erst search --kind tool_error E0502 --scope global", "where a tool failed with it"),
        ("erst search migration --json", "for a program"),
    ),
    "around": (("erst around 5b1f7c52 42 --before 5", "five messages before it, three after"),),
    "show": (("erst show 5b1f7c52 --markdown", "a whole session as Markdown"),),
    "sessions": (
        ("erst sessions --since 7d", "the last week, everywhere"),
        ("erst sessions --project . --scope project", "of this folder"),
    ),
    "resume": (
        ("erst resume 5b1f7c52", "print the command"),
        ("erst resume 5b1f7c52 --exec", "run it, in the session's folder"),
    ),
    "index": (("erst index --full", "after a wrong exclude pattern was mended"),),
    "sources": (("erst sources --json", "for a program"),),
    "doctor": (("erst doctor", "what may be missing, and why"),),
    "add": (
        ("erst add ~/notes", "a collection of Markdown notes, named after the folder"),
        ("erst add ~/src --agent aider", "another folder of an agent's logs"),
    ),
    "remove": (("erst remove notes", "the files stay as they are"),),
    "stats": (("erst stats", "how much there is"),),
    "config": (("erst config", "also where config.toml is looked for"),),
    "demo": (("erst demo", "your own history is not looked at"),),
    "mcp": (("erst mcp", "agents start this themselves; erst setup tells them to"),),
    "serve": (("erst serve --port 9000", "http://127.0.0.1:9000/api/search?q=lock"),),
    "version": (("erst version", "what a report of a fault should name"),),
    "setup": (
        ("erst setup --dry-run", "show what would be changed"),
        ("erst setup", "every agent that is found"),
        ("erst setup codex goose", "these two"),
        ("erst setup --remove", "take it out again, everywhere"),
    ),
    "completion": (
        ("erst completion bash > ~/.local/share/bash-completion/completions/erst", "bash"),
        ('erst completion zsh > "${fpath[1]}/_erst"', "zsh"),
        ("erst completion fish > ~/.config/fish/completions/erst.fish", "fish"),
    ),
}
