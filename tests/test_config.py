"""Settings: where they come from, and what a wrong config.toml says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from erstwhile.adapters import Adapter
from erstwhile.config import Config, config_folder, current_session, data_folder, load
from erstwhile.config_file import SETTINGS, values
from erstwhile.errors import ConfigError
from erstwhile.model import Root


class Fake(Adapter):
    name, env = "codex", "CODEX_HOME"
    roots = ("~/.codex", "~/.codex-old")


@pytest.fixture
def written(home: Path) -> Path:
    """The config.toml beside the data."""
    path = home / "erst" / "config.toml"
    path.parent.mkdir()
    return path


def test_without_a_file_every_setting_has_its_default(home: Path) -> None:
    config = load()
    assert config.home == str(home / "erst")
    assert config.file is None
    assert (config.search.limit, config.search.scope, config.session_search.max_results) == (10, "auto", 20)
    assert (config.serve.host, config.serve.port, config.index.policy) == ("127.0.0.1", 8377, "keep")


@pytest.mark.parametrize(
    ("platform", "environ", "data", "settings"),
    [
        ("linux", {"HOME": "/u"}, "/u/.local/share/erstwhile", "/u/.config/erstwhile"),
        ("linux", {"HOME": "/u", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, "/d/erstwhile", "/c/erstwhile"),
        ("linux", {"HOME": "/u", "XDG_DATA_HOME": "relative"}, "/u/.local/share/erstwhile", "/u/.config/erstwhile"),
        ("darwin", {"HOME": "/u"}, "/u/Library/Application Support/erstwhile", None),
        ("win32", {"USERPROFILE": "/u", "LOCALAPPDATA": "/u/local"}, "/u/local/erstwhile", None),
        ("win32", {"USERPROFILE": "/u"}, "/u/AppData/Local/erstwhile", None),
    ],
)
def test_data_and_settings_lie_where_the_platform_keeps_them(
    platform: str, environ: Mapping[str, str], data: str, settings: str | None
) -> None:
    assert data_folder(environ, platform) == data
    assert config_folder(environ, platform) == settings or settings is None
    assert load(environ, platform).home == data


def test_a_file_in_the_platforms_config_folder_counts_when_none_lies_beside_the_data(home: Path, written: Path) -> None:
    other = home / "xdg_config_home" / "erstwhile" / "config.toml"
    other.parent.mkdir(parents=True)
    other.write_text("search.limit = 5\n")
    assert (load().search.limit, load().file) == (5, str(other))
    written.write_text("search.limit = 7\n")
    assert (load().search.limit, load().file) == (7, str(written))


def test_every_setting_can_be_given_and_is_listed_with_its_file(written: Path) -> None:
    written.write_text(
        """
        [agents.codex]
        roots = ["~/logs/codex", "other"]
        enabled = true
        [search]
        limit = 25
        scope = "global"
        ranking = "plain"
        mode = "lexical"
        [session_search]
        max_results = 5
        snippet_length = 100
        timeout_ms = 1000
        [index]
        policy = "follow"
        exclude = ["*/secret/*"]
        [serve]
        host = "::1"
        port = 9000
        token_file = "token"
        """
    )
    listed = {value.key: value for value in values(load(), [Fake()])}
    given = {f"agents.codex.{s.name}" if s.section == "agents.NAME" else f"{s.section}.{s.name}" for s in SETTINGS}
    assert given == set(listed) - {"home"}
    assert {listed[key].origin for key in given} == {str(written)}
    assert listed["serve.token_file"].value == str(written.parent / "token")
    assert listed["index.exclude"].value == ("*/secret/*",)


def test_roots_are_the_users_then_the_agents_variable_then_its_existing_homes(home: Path, written: Path) -> None:
    (home / ".codex").mkdir()
    assert load().roots([Fake()]) == {"codex": [Root(str(home / ".codex"))]}

    moved = load({"HOME": str(home), "CODEX_HOME": str(home)})
    assert moved.roots([Fake()]) == {"codex": [Root(str(home))]}
    assert {value.key: value.origin for value in values(moved, [Fake()])}["agents.codex.roots"] == "CODEX_HOME"

    written.write_text('[agents.codex]\nroots = ["~/gone", "below", "~/gone"]\n')
    assert load().roots([Fake()]) == {"codex": [Root(str(home / "gone")), Root(str(written.parent / "below"))]}


def test_a_disabled_agent_has_no_roots(home: Path, written: Path) -> None:
    (home / ".codex").mkdir()
    written.write_text("agents.codex.enabled = false\n")
    assert load().roots([Fake()]) == {}


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("[search]\nlimt = 3\n", 2, "unknown key 'limt' in [search]; it has limit, scope, ranking and mode"),
        (
            "\n[surch]\nlimit = 3\n",
            2,
            "unknown section [surch]; there are agents, search, session_search, index and serve",
        ),
        ("# limit = 1\nsearch.limit = 'ten'\n", 2, "limit must be a whole number, not 'ten'"),
        ("[search]\nscope = 'global'\nlimit = true\n", 3, "limit must be a whole number, not true"),
        ("[search]\nlimit = 101\n", 2, "limit must be 1 to 100, not 101"),
        ("[search]\nscope = 'here'\n", 2, "scope must be auto, project, global or archive, not 'here'"),
        ("[index]\n\nexclude = 'x'\n", 3, "exclude must be a list of texts, not 'x'"),
        ("[index]\nexclude = ['x', 3]\n", 2, "exclude must be a list of texts, not ['x', 3]"),
        ("index = {policy = 'burn'}\n", 1, "policy must be keep or follow, not 'burn'"),
        ("[search]\nmode='lexical'\n[agents.vim]\nroots=[]\n", 3, "unknown agent 'vim'"),
        ("[agents]\ncodex = 3\n", 2, "agents.codex must be a section [agents.codex], not 3"),
        ("[agents.codex]\nenabled = 'no'\n", 2, "enabled must be true or false, not 'no'"),
        ("[serve]\nhost = 1\n", 2, "host must be a text, not 1"),
        ("search = 3\n", 1, "search must be a section [search], not 3"),
        ("x = 1\n\n[semantic]\nmodel = 'm'\n", 1, "unknown section [x]"),
        ("\n[semantic]\nmodel = 'm'\n", 2, "[semantic] is not built yet"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_file_and_line(written: Path, text: str, line: int, sentence: str) -> None:
    written.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert str(caught.value).startswith(f"{written}, line {line}: {sentence}")


def test_a_file_that_is_no_toml_or_no_text_or_no_file_is_named(written: Path) -> None:
    written.write_text("[search\n")
    with pytest.raises(ConfigError, match=r"config.toml is not valid TOML: .*line 1"):
        load()
    written.write_bytes(b"a = '\xff'\n")
    with pytest.raises(ConfigError, match=r"config\.toml is not UTF-8 text"):
        load()
    written.unlink()
    written.mkdir()
    with pytest.raises(ConfigError, match=r"cannot read .*config\.toml"):
        load()


def test_the_calling_session_is_taken_from_the_agents_variable() -> None:
    assert current_session({"CODEX_THREAD_ID": "019f"}) == "codex:019f"
    assert current_session({"CLAUDE_CODE_SESSION_ID": "5b1f", "HOME": "/u"}) == "claude-code:5b1f"
    assert current_session({"CODEX_THREAD_ID": ""}) is None


def test_settings_cannot_be_changed_after_reading() -> None:
    with pytest.raises(AttributeError):
        Config("/x").home = "/y"  # type: ignore[misc]
