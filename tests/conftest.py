"""Every test has its own home: no real folder of the user is ever read or written."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from erstwhile.adapters import ADAPTERS
from erstwhile.cli import run
from erstwhile.cli.screen import Screen

AGENT_VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_HOME",
    "DSH_HOME",
    "GEMINI_CLI_HOME",
    "GOOSE_PATH_ROOT",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_SESSION_ID",
    "QWEN_HOME",
    "REASONIX_HOME",
)
"""Set by the agents themselves, so they may be set when one of them runs the tests."""
SAMPLE = Path(__file__).parents[1] / "src" / "erstwhile" / "sample"
NOON = 1_796_040_000.0
"""2026-11-30 12:00 UTC, shortly after the sample's last session: the clock of the command line in tests."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh home folder that every variable points into; ERST_HOME lies in it, too. The time zone is UTC."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in (*AGENT_VARIABLES, *(n for a in ADAPTERS for n in (a.env, *a.more_env) if n)):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    for name in ("APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(folder / name.lower()))
    monkeypatch.setenv("ERST_HOME", str(folder / "erst"))
    for name in ("NO_COLOR", "COLUMNS", "ERST_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(folder)
    _reset_zone()
    yield folder
    monkeypatch.undo()
    _reset_zone()


def _reset_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.fixture
def sample(home: Path) -> Path:
    """The home, with the demo's invented history where the agents would keep it."""
    for agent, folder in (("claude-code", ".claude"), ("codex", ".codex"), ("reasonix", ".reasonix"), ("dsh", ".dsh")):
        shutil.copytree(SAMPLE / agent, home / folder)
    return home


class Ran(NamedTuple):
    """What a command gave."""

    status: int
    out: str
    err: str


Erst = Callable[..., Ran]


@pytest.fixture
def erst() -> Erst:
    """Runs one command line in this process: `erst("search", "words")`; keywords are fields of Screen."""

    def call(*argv: str, **screen: object) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        status = run(argv, dict(os.environ), Screen(out, err, now=NOON)._replace(**screen))
        return Ran(status, out.getvalue(), err.getvalue())

    return call
