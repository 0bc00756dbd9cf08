"""First index, cold and warm search over one home, as ratios: `python benchmarks/foundation.py HOME [--runs 15]`.

HOME holds the agents' folders (`python benchmarks/corpus.py HOME` writes one). CPU is user + system of whole processes,
taken in turns, so that a slow moment of the machine falls on all of them; medians. Needs an installed `erst`.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUESTIONS = {
    "rare word": ["quokkaxyz"],
    "natural question": ["why", "does", "the", "build", "fail", "when", "the", "config", "is", "empty"],
    "identifier": ["getaddrinfo"],
    "CJK": ["登录超时"],
    "phrase": ['"not defined"'],
    "filtered": ["timeout", "--kind", "tool_error"],
}
BARE = [sys.executable, "-c", "pass"]
TANTIVY = """
import resource, sqlite3, sys, tempfile, tantivy
from erstwhile.text import indexed
db = sqlite3.connect(sys.argv[1] + "/store.db")
texts = [indexed(row[0]).words for row in db.execute("SELECT text FROM texts")]
start = resource.getrusage(resource.RUSAGE_SELF)
builder = tantivy.SchemaBuilder()
builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
writer = tantivy.Index(builder.build(), tempfile.mkdtemp(dir=sys.argv[2])).writer(64_000_000, 1)
for text in texts:
    document = tantivy.Document()
    document.add_text("text", text)
    writer.add_document(document)
writer.commit()
writer.wait_merging_threads()
end = resource.getrusage(resource.RUSAGE_SELF)
print(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
"""


def cpu(command: list[str], environ: dict[str, str]) -> float:
    """Seconds of CPU of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_index(erst: str, environ: dict[str, str], work: str) -> None:
    started = time.monotonic()
    spent = cpu([erst, "index"], environ)
    wall = time.monotonic() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    # `-c` puts the current folder on the path: the installed package must be found, not a checkout's neighbour
    bare = float(subprocess.check_output([sys.executable, "-c", TANTIVY, environ["ERST_HOME"], work], env=environ))
    print(f"first index: {spent:.1f} s CPU, {wall:.1f} s wall, {peak:.0f} MB peak; {spent / bare:.2f} x bare tantivy")
    sizes = {
        name: sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size
        for name in os.listdir(environ["ERST_HOME"])
        if (path := Path(environ["ERST_HOME"]) / name)
    }
    print("on disk: " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sorted(sizes.items()) if size > 1e5))


def searches(erst: str, environ: dict[str, str], runs: int) -> None:
    spent: dict[str, list[float]] = {"python -c pass": []}
    for _ in range(runs):
        spent["python -c pass"].append(cpu(BARE, environ))
        for name, words in QUESTIONS.items():
            for suffix, option in ((", --no-sync", ["--no-sync"]), (", with refresh", [])):
                command = [erst, "search", "--scope", "global", *option, *words]
                spent.setdefault(name + suffix, []).append(cpu(command, environ))
    bare = statistics.median(spent["python -c pass"])
    for name, values in spent.items():
        middle = statistics.median(values)
        print(f"{name:32} {1000 * middle:7.1f} ms CPU  {middle / bare:5.2f} x bare Python")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--erst", default=shutil.which("erst") or "erst")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        environ = {**os.environ, "HOME": str(asked.home.resolve()), "ERST_HOME": f"{work}/erst"}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second search finds compiled modules
        first_index(asked.erst, environ, work)
        searches(asked.erst, environ, asked.runs)


if __name__ == "__main__":
    main()
