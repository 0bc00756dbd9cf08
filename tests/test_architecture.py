"""Imports go one way, SQL on our tables stays in the store, and a search loads only what it needs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import homes
import pytest

import erstwhile
from erstwhile.library import Library

PACKAGE = Path(erstwhile.__file__).parent
LAYERS = {
    "values": "errors values nested model history listings version text places filters ranking query plan cursor"
    " documents honesty patterns touching redact redact_rules masking lexical_types lexical_contract snippet layout",
    "rendering": "render render_text render_markdown",
    "adapters": "adapters",
    "settings": "config config_file setup",
    "store": "store",
    "engine": "lexical lexical_fts indexes indexing vocabulary explaining search plain lineage scoping survey sync lock"
    " answering catalogue adding checkup nearest",
    "library": "library detached",
    "doors": "cli mcp http __main__",
}
"""From below to above: a module imports from its own layer and those below it. A package counts with its modules."""
ORDER = list(LAYERS)
LAYER = {module: layer for layer, modules in LAYERS.items() for module in modules.split()}
PURE = "errors model history listings text query plan cursor documents redact redact_rules filters ranking snippet"
PURE += " honesty patterns touching"
TABLES = "sources|sessions|documents|texts|titles|stale|totals|meta|headings|added|searched|paths|touched|twins"
HEAVY = (
    "re2 numpy msgspec pydantic typer mcp markdown_it yaml orjson json dataclasses rich starlette uvicorn asyncio"
    " importlib.metadata"
)


class Module:
    """One file of the package, parsed."""

    def __init__(self, file: Path) -> None:
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        self.folder = parts[:-1]
        self.name = ".".join(self.folder if parts[-1] == "__init__" else parts)
        self.top = (self.folder or parts)[0]
        self.tree = ast.parse(file.read_text(encoding="utf-8"))

    def imports(self) -> Iterator[str]:
        """Absolute names of what is imported, wherever in the file, but not what is only there for type checkers."""
        unseen = {n for i in ast.walk(self.tree) if _for_types(i) for n in ast.walk(i)}
        for node in ast.walk(self.tree):
            if node in unseen:
                continue
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = ["erstwhile", *self.folder][: len(self.folder) + 2 - node.level] if node.level else []
                base += node.module.split(".") if node.module else []
                yield from (".".join([*base, alias.name]) for alias in node.names)

    def inner_imports(self) -> set[str]:
        """Top names of the modules of this package that it imports."""
        names = (name.split(".")[1:] for name in self.imports() if name.startswith("erstwhile."))
        return {name[0] for name in names if name and name[0] in LAYER}


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


MODULES = [Module(file) for file in sorted(PACKAGE.rglob("*.py"))]
INNER = [module for module in MODULES if module.name]


@pytest.mark.parametrize("module", INNER, ids=lambda m: m.name)
def test_a_module_imports_only_from_its_layer_and_those_below(module: Module) -> None:
    assert module.top in LAYER, f"{module.name} has no layer: give it one in LAYERS"
    own = ORDER.index(LAYER[module.top])
    assert [name for name in module.inner_imports() if ORDER.index(LAYER[name]) > own] == []


@pytest.mark.parametrize("module", [m for m in INNER if LAYER[m.top] == "doors"], ids=lambda m: m.name)
def test_a_door_knows_the_library_and_nothing_of_how_it_works(module: Module) -> None:
    engine = {name for name in module.inner_imports() if LAYER[name] in ("engine", "store")}
    assert engine <= {"sync"}, "of the engine, a door sees only the values that report progress"


@pytest.mark.parametrize("module", [m for m in INNER if m.name in PURE.split()], ids=lambda m: m.name)
def test_a_pure_module_touches_neither_disk_nor_network(module: Module) -> None:
    assert {name.partition(".")[0] for name in module.imports()} & {"os", "sqlite3", "io", "socket", "pathlib"} == set()


def test_sql_on_our_tables_stands_only_in_the_store() -> None:
    statement = re.compile(rf"\b(FROM|JOIN|INTO|UPDATE|TABLE)\s+({TABLES})\b")
    outside = [m for m in INNER if LAYER[m.top] in ("engine", "library", "doors", "values", "rendering", "settings")]
    found = {
        m.name
        for m in outside
        for n in ast.walk(m.tree)
        if isinstance(n, ast.Constant) and statement.search(str(n.value))
    }
    assert found <= {"filters"}, "filters gives the store its conditions; nobody else writes SQL"


SEARCH = """
import sys
from erstwhile.library import Library
with Library(data=sys.argv[1], roots={"codex": [sys.argv[2]]}) as library:
    assert library.search("walrus", sync=False).total.count == 1
print(*sorted(sys.modules))
"""


def test_a_search_loads_no_heavy_module(tmp_path: Path) -> None:
    homes.write(tmp_path, "codex", "0199aaaa-0000-7000-8000-000000000001", ["one walrus"])
    with Library(data=tmp_path / "erst", roots=homes.roots(tmp_path, "codex")) as library:
        library.sync()
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n{SEARCH}"]
    ran = subprocess.run(
        [*command, str(tmp_path / "erst"), str(tmp_path / "codex")], capture_output=True, text=True, check=True
    )
    loaded = set(ran.stdout.split())
    assert "erstwhile.search" in loaded
    assert loaded & set(HEAVY.split()) == set()
    assert not loaded & {"erstwhile.sync", "erstwhile.redact", "erstwhile.documents", "erstwhile.store.writing"}
