"""The commands, driven as a user drives them, over the demo's history and the real library."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SAMPLE, Erst
from make_sample import CERTIFICATE, FLAKY, INDEX, ROLLBACK, make

from erstwhile.adapters.base import ZstdLines
from erstwhile.cli import main, run
from erstwhile.cli.screen import Screen

SHOP = ("--project", "/home/dev/shop")


@pytest.fixture
def indexed(sample: Path, erst: Erst) -> Path:
    """The home with the sample history, read."""
    assert erst("index").status == 0
    return sample


# -- search and around -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("indexed")
def test_a_search_prints_the_session_with_what_is_needed_to_read_on(erst: Erst) -> None:
    ran = erst("search", "lock", "timeout", *SHOP)
    assert (ran.status, ran.err) == (0, "")
    first = ran.out.split("\n\n")[0].splitlines()
    assert first[0] == f"1.  {INDEX.title}"
    assert first[1] == "    codex · /home/dev/shop · 10 days ago · assistant text"
    assert first[-1].startswith("    019f7d52-4c10 6 · ")


@pytest.mark.usefixtures("indexed")
def test_a_chinese_question_finds_its_session(erst: Erst) -> None:
    ran = erst("search", "登录超时", "--json")
    assert json.loads(ran.out)["hits"][0]["title"] == "登录超时"


@pytest.mark.usefixtures("indexed")
def test_json_is_one_object_and_jsonl_one_a_hit(erst: Erst) -> None:
    envelope = json.loads(erst("search", "certificate", "--json").out)
    assert (envelope["schema_version"], envelope["query"]) == (1, "certificate")
    lines = erst("search", "certificate", "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == envelope["hits"]


@pytest.mark.usefixtures("indexed")
def test_filters_narrow_and_may_be_repeated(erst: Erst) -> None:
    ran = erst("search", "certificate", "--agent", "reasonix", "--agent=codex", "--kind", "tool_error", "--json")
    assert {(hit["agent"], hit["kind"]) for hit in json.loads(ran.out)["hits"]} == {("reasonix", "tool_error")}


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("option", "day", "ids"),
    [
        ("--since", "2026-11-25", {"reasonix"}),
        ("--until", "2026-11-24", {"claude-code"}),
        ("--until", "-3d", {"claude-code", "reasonix"}),
    ],
)
def test_times_narrow_from_either_side(erst: Erst, option: str, day: str, ids: set[str]) -> None:
    hits = json.loads(erst("search", '"certificate"', "--kind", "tool_error", option, day, "--json").out)["hits"]
    assert {hit["agent"] for hit in hits} == ids


@pytest.mark.usefixtures("indexed")
def test_an_excluded_word_needs_no_quoting(erst: Erst) -> None:
    titles = [hit["title"] for hit in json.loads(erst("search", "certificate", "-nginx", "--json").out)["hits"]]
    assert CERTIFICATE.title in titles or "Check every virtual host for expiring certificates" in titles
    assert "nginx serves the old certificate after renewal" not in titles


@pytest.mark.usefixtures("indexed")
def test_no_hit_is_status_1_and_says_how_to_widen(erst: Erst) -> None:
    ran = erst("search", "zebra")
    assert ran.status == 1
    assert "Nothing found for 'zebra'" in ran.out
    assert "--scope global" in ran.out


@pytest.mark.usefixtures("indexed")
def test_pages_follow_each_other_by_the_cursor(erst: Erst) -> None:
    first = json.loads(erst("search", "index", "-n", "1", "--json").out)
    second = json.loads(erst("search", "index", "-n", "1", "--json", "--cursor", first["next_cursor"]).out)
    assert second["hits"][0]["rank"] == 2
    assert second["hits"][0]["session"] != first["hits"][0]["session"]


@pytest.mark.usefixtures("indexed")
def test_a_forks_inherited_messages_are_one_hit_with_a_copy(erst: Erst) -> None:
    hits = json.loads(erst("search", '"Make it safe"', "--group", "none", "--json").out)["hits"]
    assert [(hit["session_id"], hit["copies"]) for hit in hits] == [(INDEX.id, 2)]


def test_a_first_search_on_a_terminal_reads_everything_first(sample: Path, erst: Erst) -> None:
    ran = erst("search", "flaky", interactive=True)
    assert ran.status == 0
    assert str(FLAKY.title) in ran.out
    assert "erst around 7c0a2d1e-8f4b" in ran.err


def test_a_search_where_no_agent_ever_ran_is_status_1_with_a_sentence(erst: Erst) -> None:
    ran = erst("search", "anything")
    assert ran.status == 1
    assert "No agent's logs were found yet" in ran.err


@pytest.mark.parametrize("words", [[], [""], ["  "]])
def test_a_search_without_words_explains_itself_and_opens_nothing(home: Path, erst: Erst, words: list[str]) -> None:
    ran = erst("search", *words)
    assert (ran.status, ran.out) == (2, "")
    assert "erst search WORDS" in ran.err
    assert not (home / "erst").exists()


@pytest.mark.usefixtures("indexed")
def test_around_shows_the_messages_beside_one(erst: Erst) -> None:
    ran = erst("around", "5b1f7c52", "6", "--before", "1", "--after", "0")
    assert "[5 tool]" in ran.out
    assert "[6 assistant]" in ran.out
    assert "[7 assistant]" not in ran.out
    shape = json.loads(erst("around", "5b1f7c52", "6", "--before", "0", "--after", "0", "--json").out)
    assert [message["message_index"] for message in shape["messages"]] == [6]


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("around", "nothing-like-it", "1"), "no session"),
        (("around", "5b1f7c52", "x"), "INDEX must be the number of a message"),
        (("around", "5b1f7c52", "999"), "999"),
        (("around", "/etc/hostname", "0"), "/etc/hostname"),
        (("show", "019f7d"), "019f7d"),
        (("search", "x", "--since", "someday"), "someday"),
        (("search", "x", "--scope", "everywhere"), "project, global, archive"),
        (("search", "x", "--cursor", "nonsense"), "cursor"),
        (("search", "x", "--mode", "hybrid"), "not built yet"),
        (("serch", "x"), "did you mean search?"),
        (("push", "https://team.example"), "`erst push` is not built yet"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_on_stderr_and_status_2(
    erst: Erst, argv: tuple[str, ...], said: str
) -> None:
    ran = erst(*argv)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("erst: ")
    assert said in ran.err
    assert ran.err.count("\n") == 1


# -- the other commands ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("indexed")
def test_sessions_lists_the_newest_first_and_takes_the_filters(erst: Erst) -> None:
    ran = erst("sessions")
    assert ran.status == 0
    assert ran.out.splitlines()[0] == "登录超时"
    assert ran.out.splitlines()[-1] == "12 sessions, 10 shown"
    page = json.loads(erst("sessions", "--agent", "codex", "--json").out)
    assert {session["agent"] for session in page["sessions"]} == {"codex"}
    assert len(page["sessions"]) == 3
    assert page["next_cursor"] is None
    assert erst("sessions", "--agent", "codex", "--until", "2020-01-01").status == 1


@pytest.mark.usefixtures("indexed")
def test_show_prints_the_whole_session_as_text_markdown_or_json(erst: Erst) -> None:
    text = erst("show", "5b1f7c52").out
    assert "[0 user]" in text
    assert "[12 assistant]" in text
    assert erst("show", "5b1f7c52", "--markdown").out.startswith(f"# {CERTIFICATE.title}\n")
    shape = json.loads(erst("show", f"claude-code:{CERTIFICATE.id}", "--json").out)
    assert len(shape["messages"]) == shape["session"]["messages"] == 13
    assert erst("show", "5b1f7c52", "--json", "--markdown").status == 2


@pytest.mark.usefixtures("indexed")
def test_resume_prints_the_agents_own_command(erst: Erst) -> None:
    assert erst("resume", "5b1f7c52").out == f"cd /home/dev/shop && claude --resume {CERTIFICATE.id}\n"


@pytest.mark.usefixtures("indexed")
def test_resume_exec_says_what_is_missing(erst: Erst, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    ran = erst("resume", "5b1f7c52", "--exec")
    assert (ran.status, ran.err) == (2, "erst: claude is not installed here\n")


@pytest.mark.skipif(os.name == "nt", reason="platform: the stand-in for the agent is a shell script")
def test_resume_exec_becomes_the_agents_command_in_the_sessions_folder(sample: Path, erst: Erst) -> None:
    program, folder = sample / "bin" / "claude", sample / "my shop"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$PWD" "$@"\n')
    program.chmod(0o755)
    log = next((sample / ".claude").rglob(f"{CERTIFICATE.id}.jsonl"))
    log.write_text(log.read_text(encoding="utf-8").replace("/home/dev/shop", str(folder)), encoding="utf-8")
    erst("index")
    command = [sys.executable, "-m", "erstwhile", "resume", "5b1f7c52", "--exec"]
    environ = os.environ | {"PATH": str(program.parent) + os.pathsep + os.environ["PATH"]}

    gone = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (gone.returncode, gone.stdout) == (2, "")
    assert f"the session's folder {folder} cannot be entered" in gone.stderr

    folder.mkdir()
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ran.stdout == f"{folder} --resume {CERTIFICATE.id}\n"


@pytest.mark.skipif(os.name == "nt", reason="platform: the stand-in for the agent is a shell script")
@pytest.mark.usefixtures("indexed")
def test_resume_exec_of_a_program_that_cannot_be_started_says_so(
    home: Path, erst: Erst, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, log = home / "claude", next((home / ".claude").rglob(f"{CERTIFICATE.id}.jsonl"))
    log.write_text(log.read_text(encoding="utf-8").replace("/home/dev/shop", str(home)), encoding="utf-8")
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(home))
    erst("index")
    ran = erst("resume", "5b1f7c52", "--exec")
    assert (ran.status, ran.err) == (2, f"erst: {program} cannot be started: No such file or directory\n")


def test_index_counts_what_it_read_and_is_done_at_once_the_second_time(sample: Path, erst: Erst) -> None:
    assert erst("index").out == "13 sources, 13 read now, 0 failed; 12 sessions, 72 documents\n"
    assert erst("index").out == "13 sources, 0 read now, 0 failed; 12 sessions, 72 documents\n"
    assert erst("index", "--full").out == "13 sources, 13 read now, 0 failed; 12 sessions, 72 documents\n"


def test_index_without_any_logs_says_so(erst: Erst) -> None:
    ran = erst("index")
    assert ran.status == 0
    assert "No agent's logs were found yet" in ran.err


def test_a_broken_line_costs_only_itself_and_sources_names_it(sample: Path, erst: Erst) -> None:
    log = next((sample / ".claude").rglob(f"{FLAKY.id}.jsonl"))
    lines = log.read_text(encoding="utf-8").splitlines()
    log.write_text("\n".join([lines[0], '{"broken', *lines[1:]]) + "\n", encoding="utf-8")
    assert erst("index").status == 0
    assert erst("search", "flaky").status == 0
    listed = {source["path"]: source for source in json.loads(erst("sources", "--json").out)["sources"]}
    assert listed[str(log)]["state"] == "partial"
    assert listed[str(log)]["skipped"] == [{"line": 2, "reason": "not valid JSON"}]
    assert "line 2: not valid JSON" in erst("sources").out


@pytest.mark.usefixtures("indexed")
def test_stats_counts_agents_kinds_and_projects(erst: Erst) -> None:
    out = erst("stats").out
    assert "12 sessions, 72 documents" in out
    assert "  4  claude-code" in out
    assert "/home/dev/shop" in out


def test_config_lists_every_setting_with_its_origin(sample: Path, erst: Erst) -> None:
    settings = sample / "erst" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("search.limit = 3\n")
    rows = [line.split() for line in erst("config").out.splitlines()]
    assert ["home", "~/erst", "ERST_HOME"] in rows
    assert ["search.limit", "3", "~/erst/config.toml"] in rows
    assert ["agents.codex.roots", "~/.codex", "default"] in rows


def test_a_wrong_config_file_stops_every_command_with_its_line(home: Path, erst: Erst) -> None:
    settings = home / "erst" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("\n[search]\nlimit = 0\n")
    ran = erst("search", "x")
    assert (ran.status, ran.err) == (2, f"erst: {settings}, line 3: limit must be 1 to 100, not 0\n")


def test_settings_are_defaults_that_options_override(sample: Path, erst: Erst) -> None:
    (sample / "erst").mkdir()
    (sample / "erst" / "config.toml").write_text("search.limit = 2\n")
    erst("index")
    assert len(json.loads(erst("search", "index", "--json").out)["hits"]) == 2
    assert len(json.loads(erst("search", "index", "--json", "--limit", "1").out)["hits"]) == 1


def test_version_and_help_need_no_library(home: Path, erst: Erst) -> None:
    assert erst("--version").out == "erstwhile 0.1.0\n"
    assert erst().out == erst("--help").out
    assert "--scope S" in erst("search", "--help").out
    assert not (home / "erst").exists()


def test_the_demo_searches_its_own_history_and_leaves_the_users_alone(home: Path, erst: Erst) -> None:
    ran = erst("demo")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("12 invented sessions")
    assert "$ erst search certificate expired" in ran.out
    assert "$ erst around " in ran.out
    assert "Where to go next" in ran.out
    assert not (home / "erst").exists()


def test_the_demos_history_is_what_its_maker_writes(tmp_path: Path) -> None:
    make(tmp_path / "made")

    def texts(folder: Path) -> dict[str, object]:
        found = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): _decoded(path) for path in found}

    assert texts(tmp_path / "made") == texts(SAMPLE)
    assert ROLLBACK.parent == INDEX.id


def _decoded(path: Path) -> object:
    return list(ZstdLines(str(path))) if path.suffix == ".zstd" else path.read_bytes()


# -- the process -----------------------------------------------------------------------------------------------------


def test_an_unusable_home_is_one_sentence(home: Path, erst: Erst) -> None:
    (home / "erst").write_text("a file, not a folder")
    ran = erst("search", "x")
    assert ran.status == 2
    assert ran.err.startswith("erst: ")
    assert ran.err.count("\n") == 1
    assert (home / "erst").read_text() == "a file, not a folder"


class Broken(io.StringIO):
    """A stream that fails in a way that nobody foresaw."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


def test_the_unexpected_is_one_sentence_and_a_traceback_only_on_request() -> None:
    err = io.StringIO()
    assert run(["--version"], {}, Screen(Broken(ValueError("odd\nvalue")), err)) == 2
    assert err.getvalue().startswith("erst: unexpected ValueError: odd value; please report it")
    assert "Traceback" not in err.getvalue()

    err = io.StringIO()
    run(["--version"], {"ERST_DEBUG": "1"}, Screen(Broken(ValueError("odd")), err))
    assert err.getvalue().startswith("Traceback")


def test_an_interruption_is_quiet_with_status_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["erst", "--version"])
    monkeypatch.setattr(sys, "stdout", Broken(KeyboardInterrupt()))
    assert main() == 130
    assert capsys.readouterr().err == ""


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "erstwhile", "--help"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("variables", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {}])
def test_output_is_utf8_whatever_the_locale(sample: Path, erst: Erst, variables: dict[str, str]) -> None:
    erst("index")
    ran = subprocess.run(
        [sys.executable, "-m", "erstwhile", "search", "--no-sync", "登录超时"],
        env=os.environ | variables,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "登录超时" in ran.stdout.decode("utf-8")
    assert b"\x1b" not in ran.stdout


HEAVY = {
    *("anyio", "argparse", "asyncio", "click", "dataclasses", "email", "inspect", "json", "logging", "mcp", "msgspec"),
    *(
        "numpy",
        "orjson",
        "pathlib",
        "platformdirs",
        "pydantic",
        "rich",
        "shutil",
        "starlette",
        "subprocess",
        "tempfile",
    ),
    *("tomllib", "typer", "urllib", "uvicorn"),
}


@pytest.mark.parametrize(("options", "allowed"), [(["--no-sync"], set()), ([], {"json"})])
def test_a_search_loads_nothing_heavy(sample: Path, erst: Erst, options: list[str], allowed: set[str]) -> None:
    erst("index")
    code = (
        "import sys; known = set(sys.modules); sys.argv = ['erst', 'search', 'lock', 'timeout', *sys.argv[1:]]\n"
        "from erstwhile.cli import main; status = main()\n"
        "sys.exit(' '.join({name.partition('.')[0] for name in set(sys.modules) - known}) if status == 0 else status)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=False)
    assert set(ran.stderr.split()) & HEAVY <= allowed
    assert "erstwhile" in ran.stderr
