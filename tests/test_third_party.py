"""Adapters of other packages: found by their entry point, and costing nothing but themselves when they are broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from conftest import Erst

import erstwhile
from erstwhile import Library
from erstwhile.adapters import ADAPTERS
from erstwhile.adapters.installed import MEMORY, entry_points

TEXT = (Path(__file__).parents[1] / "docs" / "ADAPTERS.md").read_text(encoding="utf-8")
GROUP = "erstwhile.adapters"
FILE = """\
from erstwhile.adapters.base import Adapter
from erstwhile.model import Message, Part, Session, Source

class Acme(Adapter):
    name = "acme"
    roots = ("~/.acme",)

    def sources(self, root):
        yield Source("acme", root.path + "/log", "1", 1, 1.0)

    def read(self, source, since=None):
        yield Session("acme:one", cwd="/home/dev/shop")
        yield Message(0, "user", 1793693700.0, (Part("user_text", "why does the walrus leak?"),))
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are installed in."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    for name in ("acme_history", "other"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def install(packages: Path, source: str, name: str = "acme", value: str = "acme_history:Acme") -> None:
    """A package as an installer leaves it."""
    module = value.partition(":")[0]
    sys.modules.pop(module, None)
    (packages / f"{module}.py").write_text(source, encoding="utf-8")
    about = packages / f"{module}-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {value}\n", encoding="utf-8")


def documented(folder: Path) -> Path:
    """The documented package as a wheel, made from its pyproject.toml and its module."""
    module, project = (re.search(rf"```{kind}\n(.*?)```", TEXT, re.S) for kind in ("python", "toml"))
    assert module
    assert project
    about = tomllib.loads(project[1])["project"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    points = "".join(f"{name} = {value}\n" for name, value in about["entry-points"][GROUP].items())
    files = {
        "acme_history.py": module[1],
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": f"[{GROUP}]\n{points}",
        f"{stem}.dist-info/RECORD": "",
    }
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


def test_the_documented_package_is_installed_found_and_searched(
    packages: Path, tmp_path: Path, home: Path, erst: Erst
) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    options = ["--disable-pip-version-check", "--target", str(packages), str(documented(tmp_path))]
    subprocess.run([*command, *options], check=True, capture_output=True)
    log = home / ".acme" / "logs" / "one.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"role": "user", "content": "why does the walrus leak?"}) + "\n", encoding="utf-8")
    erst("index")
    found = json.loads(erst("search", "walrus", "--agent", "acme", "--json").out)
    assert [hit["session"] for hit in found["hits"]] == ["acme:one"]
    assert "~/.acme" in erst("config").out


def test_settings_may_name_the_agent_of_another_package(packages: Path, home: Path, erst: Erst) -> None:
    install(packages, FILE)
    (home / "erst").mkdir()
    (home / "elsewhere").mkdir()
    (home / "erst" / "config.toml").write_text(f'[agents.acme]\nroots = ["{home / "elsewhere"}"]\n', encoding="utf-8")
    erst("index")
    assert "walrus" in erst("search", "walrus", "--agent", "acme").out


BROKEN = {
    "import": ("import no_such_module_here\n", "acme", "ModuleNotFoundError: No module named 'no_such_module_here'"),
    "exit": ("raise SystemExit(3)\n", "acme", "SystemExit: 3"),
    "missing": ("", "acme", "AttributeError"),
    "no adapter": ("class Acme:\n    name = 'acme'\n", "acme", "is no Adapter"),
    "another name": (FILE, "zebra", "it calls itself 'acme'"),
    "taken": (FILE.replace('"acme"', '"codex"'), "codex", "there is an agent of this name already"),
    "homes": (FILE + "    def homes(self, environ):\n        return 1 / 0\n", "acme", "ZeroDivisionError"),
    "sources": (FILE.replace("yield Source(", "yield 1 / 0, ("), "acme", "adapter acme of acme_history 1.0"),
    "foreign source": (FILE.replace('Source("acme"', 'Source("codex"'), "acme", "not its own"),
    "read": (FILE.replace("yield Message(", "yield 1 / 0, ("), "acme", "ZeroDivisionError"),
    "foreign session": (FILE.replace("acme:one", "codex:one"), "acme", "not its own"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_adapter_is_named_and_costs_only_itself(
    case: str, packages: Path, home: Path, sample: Path, erst: Erst
) -> None:
    source, name, reason = BROKEN[case]
    install(packages, source, name)
    (home / ".acme").mkdir(exist_ok=True)
    ran = erst("index")
    assert ran.status == 0
    assert reason in ran.err
    assert erst("search", "certificate").status == 0


def test_what_was_read_stays_when_the_adapter_breaks(packages: Path, home: Path, erst: Erst) -> None:
    install(packages, FILE)
    (home / ".acme").mkdir()
    erst("index")
    install(packages, "import no_such_module_here\n")
    assert "ModuleNotFoundError" in erst("index").err
    (hit,) = json.loads(erst("search", "walrus", "--json").out)["hits"]
    assert not hit["archived"]


def test_a_package_that_comes_or_goes_is_noticed(packages: Path, home: Path) -> None:
    (home / "erst").mkdir()
    folder = str(home / "erst")
    assert entry_points(folder) == []
    install(packages, FILE)
    assert [entry.name for entry in entry_points(folder)] == ["acme"]
    os.rename(packages / "acme_history-1.0.dist-info", home / "gone")
    assert entry_points(folder) == []


def test_what_was_found_is_remembered_so_that_a_search_opens_no_package(packages: Path, home: Path) -> None:
    install(packages, FILE)
    folder = home / "erst"
    with Library(data=folder) as library:
        library.sync()
    remembered = folder / MEMORY
    assert "acme\tacme_history:Acme\tacme_history 1.0" in remembered.read_text(encoding="utf-8")
    (packages / "acme_history-1.0.dist-info" / "entry_points.txt").write_text("", encoding="utf-8")
    assert [entry.name for entry in entry_points(str(folder))] == ["acme"]
    remembered.write_text("torn", encoding="utf-8")
    assert entry_points(str(folder)) == []


def test_without_such_a_package_there_are_our_adapters_and_nothing_is_loaded(home: Path) -> None:
    path = os.path.dirname(os.path.dirname(erstwhile.__file__))
    code = f"import sys; sys.path.insert(0, {path!r})\n"
    code += "from erstwhile.adapters.installed import every; print(len(every()), *sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    count, *modules = ran.stdout.split()
    assert int(count) == len(ADAPTERS)
    unneeded = {"erstwhile.adapters.third_party", "importlib.metadata", "erstwhile.history", "typing"}
    assert not unneeded & set(modules)
