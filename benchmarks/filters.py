"""What each filter costs beside the same search without it: `python benchmarks/filters.py ERST_HOME [--runs 5]`.

ERST_HOME is indexed (`erst index`). Warm searches in one process, CPU, medians over the questions; the bound is twice
the search without a filter.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from erstwhile.library import Library

QUESTIONS = (
    "timeout",
    "why does the build fail when the config is empty",
    "getaddrinfo",
    "parse header value",
    "error",
)


def cost(library: Library, runs: int, extra: str, fields: dict[str, Any]) -> float:
    """Milliseconds of CPU of the median question."""
    middles: list[float] = []
    for question in QUESTIONS:
        spent: list[float] = []
        for _ in range(runs):
            start = time.process_time()
            library.search(f"{question} {extra}".strip(), sync=False, **{"scope": "global", **fields})
            spent.append(1000 * (time.process_time() - start))
        middles.append(statistics.median(spent))
    return statistics.median(middles)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("home")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with Library(data=options.home, roots={}) as library:
        print(f"{library.coverage().documents:,} documents, {library.coverage().sessions:,} sessions")
        hit = library.search("error", sync=False, scope="global").hits[0]
        project = hit.project or "/home/dev"
        name = project.rpartition("/")[2]
        title = (hit.title or "the").split()[0]
        filters: dict[str, tuple[str, dict[str, Any]]] = {
            "agent": ("agent:codex", {}),
            "kind": ("kind:tool_error", {}),
            "role": ("role:user", {}),
            "tool": ("tool:bash", {}),
            "since": ("since:2026-01-10", {}),
            "since, until": ("since:2026-01-10 until:2026-02", {}),
            "session": (f"session:{hit.session}", {}),
            "project by name": (f"project:{name}", {}),
            "project by folder": ("", {"project": project, "scope": "project"}),
            "two projects": (f"project:{name} project:/home/dev/none", {}),
            "title": (f"title:{title}", {}),
            "file": ("file:*.py", {}),
            "file by name": ("file:utils.py", {}),
            "no sub-agents": ("", {"subagents": "no"}),
        }
        cost(library, options.runs, "", {})
        bare = cost(library, options.runs, "", {})
        print(f"{'no filter':20} {bare:7.2f} ms")
        for label, (extra, fields) in filters.items():
            spent = cost(library, options.runs, extra, fields)
            print(f"{label:20} {spent:7.2f} ms  {spent / bare:5.2f} x")


if __name__ == "__main__":
    main()
