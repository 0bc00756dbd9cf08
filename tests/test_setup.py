"""`erst setup`: wiring agents and taking them off again, in homes as the agents leave them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import homes
import pytest
import yaml
from conftest import Erst
from hypothesis import given, settings
from hypothesis import strategies as st

from erstwhile.setup import NAMES
from erstwhile.setup.agents import AGENTS
from erstwhile.setup.entry import Server
from erstwhile.setup.json_text import JsonPlace, parse
from erstwhile.setup.places import NAME, Broken, CannotEdit, Place
from erstwhile.setup.toml_text import TomlTable, TomlTables
from erstwhile.setup.yaml_text import YamlMap, YamlRows

FIXTURES = Path(__file__).parent / "fixtures" / "setup"


def dsh_entry(data: Any) -> Any:
    rows = [item for row in data for item in row.get("insert", [])]
    return next(row["config"] for row in rows if row["id"] == "mcp-erstwhile")


class Kept(NamedTuple):
    """Where an agent's fixture keeps its servers."""

    file: str
    load: Callable[[str], Any]
    entry: Callable[[Any], Any]


def commented(text: str) -> Any:
    """JSON as these fixtures have it: comments stand behind a space, and no string holds what looks like one."""
    text = re.sub(r"(?<!\S)//.*|/\*.*?\*/", "", text)
    return json.loads(re.sub(r",(?=\s*[}\]])", "", text))


def tagged(text: str) -> Any:
    return yaml.safe_load(text.replace("!!js ", ""))


KEPT = {
    "claude-code": Kept(".claude.json", json.loads, lambda data: data["mcpServers"][NAME]),
    "codex": Kept(".codex/config.toml", tomllib.loads, lambda data: data["mcp_servers"][NAME]),
    "gemini-cli": Kept(".gemini/settings.json", commented, lambda data: data["mcpServers"][NAME]),
    "opencode": Kept("xdg_config_home/opencode/opencode.jsonc", commented, lambda data: data["mcp"][NAME]),
    "reasonix": Kept(".reasonix/config.toml", tomllib.loads, lambda data: data["plugins"][-1]),
    "dsh": Kept(".dsh/cordis.patch.yml", tagged, dsh_entry),
    "cursor": Kept(".cursor/mcp.json", json.loads, lambda data: data["mcpServers"][NAME]),
    "copilot-cli": Kept(".copilot/mcp-config.json", json.loads, lambda data: data["mcpServers"][NAME]),
    "qwen-code": Kept(".qwen/settings.json", commented, lambda data: data["mcpServers"][NAME]),
    "goose": Kept("xdg_config_home/goose/config.yaml", yaml.safe_load, lambda data: data["extensions"][NAME]),
}
agents = pytest.mark.parametrize("agent", NAMES)


@pytest.fixture(autouse=True)
def bare_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which no real agent is found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def installed(home: Path) -> Path:
    """A home in which every agent has been used, with its configuration."""
    for agent, kept in KEPT.items():
        fixture = FIXTURES / f"{agent}{Path(kept.file).suffix}"
        target = home / kept.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(fixture.read_bytes())
    (home / ".claude").mkdir()
    return home


def words(entry: Any) -> list[str]:
    """The command line of an entry."""
    command = entry.get("command", entry.get("cmd"))
    return command if isinstance(command, list) else [command, *entry["args"]]


def without_comments(file: Path) -> str:
    return file.read_text(encoding="utf-8").lstrip("\ufeff")


# -- adding and removing -----------------------------------------------------------------------------------------------


def test_every_agent_has_a_fixture_and_an_adapters_name() -> None:
    assert set(KEPT) == set(NAMES)


@agents
def test_an_agent_gets_an_entry_that_starts_erst(agent: str, installed: Path, erst: Erst) -> None:
    ran = erst("setup", agent)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"{agent}  added to ~/")
    assert "; then " in ran.out
    kept = KEPT[agent]
    entry = kept.entry(kept.load(without_comments(installed / kept.file)))
    assert words(entry)[-1] == "mcp"
    assert next(entry[key] for key in ("env", "envs", "environment") if key in entry)["ERST_HOME"].endswith("erst")


@agents
def test_only_whole_lines_are_added_and_nothing_else_moves(agent: str, installed: Path, erst: Erst) -> None:
    file = installed / KEPT[agent].file
    before = file.read_bytes()
    erst("setup", agent)
    after = file.read_bytes()
    rest = iter(after.replace(b",", b""))
    assert all(byte in rest for byte in before.replace(b",", b"")), "the old bytes stand in the new ones, in order"
    assert (b"\r\n" in before) == (b"\r\n" in after)
    assert after.count(b"\n") - after.count(b"\r\n") == (0 if b"\r\n" in before else after.count(b"\n"))


@agents
def test_a_second_run_changes_no_byte(agent: str, installed: Path, erst: Erst) -> None:
    erst("setup", agent)
    first = homes.tree(installed)
    ran = erst("setup", agent)
    assert (ran.status, ran.out.split(" in ")[0]) == (0, f"{agent}  already")
    assert homes.tree(installed) == first


@agents
def test_removing_gives_the_original_bytes_and_keeps_the_backup(agent: str, installed: Path, erst: Erst) -> None:
    file = installed / KEPT[agent].file
    before = file.read_bytes()
    erst("setup", agent)
    ran = erst("setup", agent, "--remove")
    assert (ran.status, file.read_bytes()) == (0, before)
    assert Path(f"{file}.erst-backup").read_bytes() == before
    assert not list(installed.rglob("SKILL.md"))
    assert erst("setup", agent, "--remove").out.startswith(f"{agent}  not in ~/")


@agents
def test_removing_without_a_backup_gives_the_original_bytes_too(agent: str, installed: Path, erst: Erst) -> None:
    file = installed / KEPT[agent].file
    before = file.read_bytes()
    erst("setup", agent)
    Path(f"{file}.erst-backup").unlink()
    erst("setup", agent, "--remove")
    assert file.read_bytes() == before


@agents
def test_what_the_user_wrote_meanwhile_survives_the_removal(agent: str, installed: Path, erst: Erst) -> None:
    file = installed / KEPT[agent].file
    before = file.read_bytes()
    erst("setup", agent)
    later = b"\n// later\n" if file.suffix.startswith(".json") else b"\n# later\n"
    file.write_bytes(file.read_bytes() + later)
    erst("setup", agent, "--remove")
    assert file.read_bytes() == before + later


@agents
def test_a_dry_run_shows_the_diff_and_writes_nothing(agent: str, installed: Path, erst: Erst) -> None:
    before = homes.tree(installed)
    ran = erst("setup", agent, "--dry-run")
    assert homes.tree(installed) == before
    assert ran.status == 0
    assert f"+++ {installed / KEPT[agent].file}\n" in ran.out
    assert "\n+" in ran.out


@agents
def test_an_agent_without_a_configuration_gets_one_and_loses_it_again(agent: str, installed: Path, erst: Erst) -> None:
    file = installed / KEPT[agent].file
    file.unlink()
    ran = erst("setup", agent)
    written = next(path for path in file.parent.iterdir() if path.stem == file.stem and path.is_file())
    assert (ran.status, written.stat().st_mode & 0o077) == (0, 0)
    erst("setup", agent, "--remove")
    assert not written.exists()


@agents
def test_a_broken_configuration_is_left_alone_and_named_with_its_line(agent: str, installed: Path, erst: Erst) -> None:
    file = installed / KEPT[agent].file
    broken = b"# fine\n[unclosed\n" if file.suffix == ".toml" else b'{\n  "a": [1,\n  "b"\n'
    file.write_bytes(broken)
    before = homes.tree(installed)
    ran = erst("setup", agent)
    assert ran.status == 2
    assert f"{file.name}, line " in ran.out
    assert "it was left alone" in ran.out
    assert homes.tree(installed) == before
    assert erst("setup", agent, "--remove").status == 2


@agents
def test_an_entry_of_the_same_name_that_starts_something_else_is_left_alone(
    agent: str, installed: Path, erst: Erst
) -> None:
    file = installed / KEPT[agent].file
    place = next(one for one in AGENTS if one.name == agent).place
    foreign = {"name": NAME, "command": "another", "args": ["mcp"], "id": "mcp-erstwhile"}
    file.write_text(place.added("", foreign), encoding="utf-8")
    before = homes.tree(installed)
    for options in ([], ["--remove"]):
        ran = erst("setup", agent, *options)
        assert (ran.status, "left alone" in ran.out) == (0 if options else 2, True)
        assert homes.tree(installed) == before


@agents
def test_an_entry_that_an_older_erst_wrote_is_brought_up_to_date(agent: str, installed: Path, erst: Erst) -> None:
    file, one = installed / KEPT[agent].file, next(one for one in AGENTS if one.name == agent)
    before = file.read_bytes()
    old = one.form(Server("/gone/bin/erst", ("mcp",), {}))
    file.write_bytes(one.place.added(before.decode(), old).encode())
    ran = erst("setup", agent)
    assert (ran.status, "brought up to date in ~/" in ran.out) == (0, True)
    assert words(KEPT[agent].entry(KEPT[agent].load(without_comments(file))))[0] != "/gone/bin/erst"
    erst("setup", agent, "--remove")
    assert file.read_bytes() == before


def test_what_the_user_added_to_our_entry_stays_in_it(installed: Path, erst: Erst) -> None:
    file = installed / ".cursor" / "mcp.json"
    mine = {"command": "/gone/bin/erst", "args": ["mcp"], "env": {"MINE": "1"}, "disabled": True}
    file.write_text(json.dumps({"mcpServers": {NAME: mine}}), encoding="utf-8")
    erst("setup", "cursor")
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"][NAME]
    assert (entry["disabled"], entry["env"]["MINE"], entry["command"] == "/gone/bin/erst") == (True, "1", False)


# -- all agents --------------------------------------------------------------------------------------------------------


def test_without_names_every_installed_agent_is_wired(installed: Path, erst: Erst) -> None:
    ran = erst("setup")
    assert (ran.status, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == list(NAMES)
    assert all("(found ~/" in line for line in ran.out.splitlines())


def test_without_any_agent_it_says_so_and_ends_with_1(home: Path, erst: Erst) -> None:
    ran = erst("setup")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("not found here: claude-code, codex, ")
    named = erst("setup", "cursor")
    assert (named.status, named.out) == (
        1,
        "cursor  not found: there is no ~/.cursor, no cursor on PATH, no cursor-agent on PATH\n",
    )
    assert not home.exists() or list(home.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="platform: the stand-in for the agent is a shell script")
def test_an_agent_is_found_by_its_command_alone(home: Path, bare_path: Path, erst: Erst) -> None:
    (bare_path / "gemini").write_text("#!/bin/sh\n")
    (bare_path / "gemini").chmod(0o755)
    ran = erst("setup")
    assert ran.status == 0
    assert "(found gemini on PATH)" in ran.out
    assert (home / ".gemini" / "settings.json").exists()


def test_an_unknown_agent_is_named_with_the_nearest(erst: Erst) -> None:
    ran = erst("setup", "gose")
    assert (ran.status, ran.err) == (2, "erst: no agent 'gose' that erst can set up; did you mean goose?\n")


def test_one_broken_configuration_does_not_keep_the_others_from_theirs(installed: Path, erst: Erst) -> None:
    (installed / ".cursor" / "mcp.json").write_text("{", encoding="utf-8")
    ran = erst("setup")
    assert ran.status == 2
    assert sum(" added to " in line for line in ran.out.splitlines()) == len(NAMES) - 1


MOVED = [
    ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
    ("codex", "CODEX_HOME", "config.toml"),
    ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ("opencode", "OPENCODE_CONFIG_DIR", "opencode.json"),
    ("opencode", "OPENCODE_CONFIG", ""),
    ("reasonix", "REASONIX_HOME", "config.toml"),
    ("dsh", "DSH_HOME", "cordis.patch.yml"),
    ("copilot-cli", "COPILOT_HOME", "mcp-config.json"),
    ("qwen-code", "QWEN_HOME", "settings.json"),
    ("goose", "GOOSE_PATH_ROOT", "config/config.yaml"),
]


@pytest.mark.parametrize(("agent", "variable", "below"), MOVED, ids=lambda value: str(value))
def test_an_agent_that_was_moved_is_found_where_it_is(
    agent: str, variable: str, below: str, tmp_path: Path, installed: Path, erst: Erst, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved"
    file = moved / below if below else moved
    file.parent.mkdir(parents=True, exist_ok=True)
    if not below:
        moved.write_text("{}\n", encoding="utf-8")
    monkeypatch.setenv(variable, str(moved))
    before = (installed / KEPT[agent].file).read_bytes()
    assert erst("setup", agent).status == 0
    assert "mcp" in file.read_text(encoding="utf-8")
    assert (installed / KEPT[agent].file).read_bytes() == before


def test_reasonix_goes_on_with_its_older_place_where_the_new_one_has_no_file(home: Path, erst: Erst) -> None:
    old = home / ".config" / "reasonix" / "config.toml"
    old.parent.mkdir(parents=True)
    old.write_text("x = 1\n", encoding="utf-8")
    erst("setup", "reasonix")
    assert "erstwhile" in old.read_text(encoding="utf-8")
    assert not (home / ".reasonix").exists()


# -- the files ---------------------------------------------------------------------------------------------------------


def test_the_mode_is_kept_and_a_link_stays_a_link(installed: Path, erst: Erst) -> None:
    link, real = installed / ".codex" / "config.toml", installed / "dotfiles" / "codex.toml"
    real.parent.mkdir()
    link.replace(real)
    real.chmod(0o640)
    link.symlink_to(real)
    erst("setup", "codex")
    assert (link.is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)
    assert "mcp_servers.erstwhile" in real.read_text(encoding="utf-8")
    assert Path(f"{real}.erst-backup").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in real.parent.iterdir() if path.name.startswith(".erst-")] == []


def test_an_older_backup_is_never_overwritten(installed: Path, erst: Erst) -> None:
    file = installed / ".cursor" / "mcp.json"
    old = Path(f"{file}.erst-backup")
    old.write_text("older", encoding="utf-8")
    before = file.read_bytes()
    erst("setup", "cursor")
    assert old.read_text(encoding="utf-8") == "older"
    assert Path(f"{file}.erst-backup1").read_bytes() == before


def test_a_file_that_cannot_be_read_costs_one_line(installed: Path, erst: Erst) -> None:
    file = installed / ".cursor" / "mcp.json"
    file.unlink()
    file.mkdir()
    ran = erst("setup", "cursor")
    assert (ran.status, "~/.cursor/mcp.json: Is a directory" in ran.out or os.name == "nt") == (2, True)


def test_bytes_that_are_no_text_are_named_with_their_line(installed: Path, erst: Erst) -> None:
    (installed / ".cursor" / "mcp.json").write_bytes(b'{\n"a": "\xff"}')
    ran = erst("setup", "cursor")
    assert (ran.status, "mcp.json, line 2: not UTF-8 text" in ran.out) == (2, True)


# -- the skill ---------------------------------------------------------------------------------------------------------


def test_the_skill_teaches_and_goes_with_the_last_agent_that_reads_it(installed: Path, erst: Erst) -> None:
    skill = installed / ".agents" / "skills" / "erstwhile" / "SKILL.md"
    erst("setup")
    said = skill.read_text(encoding="utf-8")
    assert yaml.safe_load(said.split("---")[1])["name"] == "erstwhile"
    assert all(f"# {title}" in said for title in ("Search before you ask", "How to read the notes", "Evidence is not"))
    assert (installed / ".claude" / "skills" / "erstwhile" / "SKILL.md").read_text(encoding="utf-8") == said
    ran = erst("setup", "codex", "--remove")
    assert "stays for gemini-cli, opencode" in ran.out
    assert skill.exists()
    erst("setup", "--remove")
    assert not skill.parent.exists()


def test_a_skill_that_the_user_changed_stays(installed: Path, erst: Erst) -> None:
    erst("setup", "codex")
    skill = installed / ".agents" / "skills" / "erstwhile" / "SKILL.md"
    skill.write_text(
        skill.read_text(encoding="utf-8").replace("Search before", "Always search before"), encoding="utf-8"
    )
    changed = skill.read_bytes()
    for options in ([], ["--remove"]):
        assert "is not as erst wrote it and was left alone" in erst("setup", "codex", *options).out
        assert skill.read_bytes() == changed


# -- the command that is configured ------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["claude-code", "codex", "opencode", "dsh", "goose"], ids=str)
def test_the_configured_command_answers_tools_list(agent: str, installed: Path, erst: Erst) -> None:
    erst("setup", agent)
    kept = KEPT[agent]
    entry = kept.entry(kept.load(without_comments(installed / kept.file)))
    assert answers(words(entry), next(entry[k] for k in ("env", "envs", "environment") if k in entry), installed)


def answers(command: list[str], env: dict[str, str], folder: Path) -> bool:
    """Whether the command lists our tools, with the little environment that agents hand on."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    )
    ran = subprocess.run(
        command,
        input="".join(json.dumps(message) + "\n" for message in messages),
        env={"HOME": os.environ["HOME"], "PYTHONPATH": os.pathsep.join(sys.path)} | env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    replies = {reply["id"]: reply for reply in map(json.loads, ran.stdout.splitlines())}
    return {"history", "session_search"} <= {tool["name"] for tool in replies[2]["result"]["tools"]}


# -- any text ----------------------------------------------------------------------------------------------------------

ENTRY = {"command": "erst", "args": ["mcp"], "env": {"ERST_HOME": "/home/dev/é"}}
ENDS = st.sampled_from(["\n", "\r\n"])
few = settings(max_examples=100, deadline=None)
names = st.text("ab_é", min_size=1, max_size=4)
kinds = st.sampled_from(["1", "null", '"a\\\\\\" // }"', "[]", "{}", "list", "object"])
space = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // x, }\n", "/* ] */", "\n    "])


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """JSON with comments and trailing commas in any layout, with and without servers."""

    def gap() -> str:
        return draw(space)

    def value(depth: int) -> str:
        kind = draw(
            st.sampled_from(["1", "null", '"a\\\\\\" // }"', "[]", "{}", "list", "object"] if depth else ["object"])
        )
        if kind not in ("list", "object") or depth > 3:
            return "0" if kind in ("list", "object") else kind
        key = (lambda: json.dumps(draw(names)) + gap() + ":" + gap()) if kind == "object" else (lambda: "")
        items = [gap() + key() + value(depth + 1) + gap() for _ in range(draw(st.integers(0, 3)))]
        if kind == "object" and depth < 2 and draw(st.booleans()):
            items.append(gap() + '"mcpServers":' + gap() + draw(st.sampled_from(["{}", "{ }", servers(), servers()])))
        inside = ",".join(items) + ("," + gap() if items and draw(st.booleans()) else "")
        return "{" + inside + gap() + "}" if kind == "object" else "[" + inside + gap() + "]"

    def servers() -> str:
        return (
            "{"
            + gap()
            + '"one"'
            + gap()
            + ': {"command": "x"}'
            + gap()
            + draw(st.sampled_from(["", ","]))
            + gap()
            + "}"
        )

    text = draw(st.sampled_from(["", "\ufeff"])) + gap() + value(0) + gap()
    return text.replace("\n", draw(ENDS))


def check(place: Place, text: str) -> None:
    """Adding keeps every other value and byte, once is enough, and removing leaves nothing of it."""
    before = place.look(text)
    try:
        added = place.added(text, ENTRY)
    except CannotEdit:
        return
    after = place.look(added)
    assert (after.entry, after.rest) == (ENTRY, before.rest)
    assert place.added(added, ENTRY) == added
    rest = iter(added)
    assert all(sign in rest for sign in text), "the old text stands in the new one, in order"
    removed = place.removed(added)
    assert place.look(removed) == before
    assert place.removed(removed) == removed


@few
@given(json_texts())
def test_any_json_keeps_everything_else(text: str) -> None:
    check(JsonPlace("mcpServers"), text)


toml_lines = st.sampled_from(
    [
        "a = 1",
        "# [mcp_servers.erstwhile]",
        "",
        "[x]",
        "[x.y]",
        "[[plugins]]",
        'name = "other"',
        'b = """\n[mcp_servers.erstwhile]\n[[plugins]]\n"""',
        "c = [\n  [1],\n]",
        "[mcp_servers]",
        "[mcp_servers.one]",
        "d = {e = 1} # f",
        "g = nan",
    ]
)


@few
@given(st.lists(toml_lines, max_size=7), ENDS, st.booleans(), st.sampled_from(["", "\ufeff"]))
def test_any_toml_keeps_everything_else(lines: list[str], end: str, last: bool, mark: str) -> None:
    text = mark + "\n".join(lines).replace("\n", end) + (end if last else "")
    for place in (TomlTable("mcp_servers"), TomlTables("plugins")):
        try:
            place.look(text)
        except (Broken, CannotEdit):
            continue
        entry = ENTRY if isinstance(place, TomlTable) else {"name": NAME, **ENTRY}
        added = place.added(text, entry)
        assert added.startswith(text)
        assert place.removed(added) == text


yaml_lines = st.sampled_from(
    [
        "a: 1",
        "# c",
        "",
        "b: [1, 2]",
        "c: |\n  extensions:\n    erstwhile: 1",
        "d: &x {e: 1}",
        "e: *x",
        "f: !!js process.env.X # g",
        "extensions:",
        "extensions: {}",
        "extensions: {one: {cmd: x}}",
        "extensions:\n  # first\n  one:\n    cmd: x\n  # last",
        "extensions:\n    one: {cmd: x}",
        "- id: one\n  config: {a: 1}",
        "- insert:\n    - id: two\n      name: x",
        "- insert: [{id: three}]",
        "[]",
    ]
)


@few
@given(st.lists(yaml_lines, max_size=5), ENDS, st.booleans())
def test_any_yaml_keeps_everything_else(lines: list[str], end: str, last: bool) -> None:
    text = "\n".join(lines).replace("\n", end) + (end if last else "")
    for place in (YamlMap("extensions"), YamlRows()):
        entry = ENTRY if isinstance(place, YamlMap) else {"id": "mcp-erstwhile", **ENTRY}
        try:
            before = place.look(text)
            added = place.added(text, entry)
        except (Broken, CannotEdit):
            continue
        assert place.look(added) == (entry, before.rest)
        rest = iter(added)
        assert all(sign in rest for sign in text)
        assert place.look(place.removed(added)) == before


@given(st.text('{}[]":,/*\\ntrue-1 \n\ufeff', max_size=30))
def test_a_text_that_python_calls_json_is_json_and_no_other_raises_but_broken(text: str) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    found, line = parsed(text)
    assert value is None or found == value
    assert 0 <= line <= text.count("\n") + 1


def parsed(text: str) -> tuple[Any, int]:
    """The value, or the line that is wrong."""
    try:
        return parse(text).value, 0
    except Broken as broken:
        return None, broken.line
