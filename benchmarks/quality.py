"""One table: how well the installed product finds what it should, beside plain ways to search the same documents.

    python benchmarks/quality.py [--set NAME ...] [--every N] [--data DIR] [--json] [--peer COMMAND]

Every set is written as a home of sessions, indexed, and asked all its questions through `Library`. Exit status 1 when a
measure of a whole set lies below its floor (samples scatter around it). The public sets lie outside the repository
(`--data`, or ERST_QUALITY_DATA); without them only our own set is asked. docs/QUALITY.md explains the sets and shows
the table.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import quality_homes
from quality_baselines import Fts
from quality_measures import means, measures
from quality_model import Doc, Home, Question, Set
from quality_sets import ALL

from erstwhile import Library
from erstwhile.model import Answer, Root

DATA = Path(os.environ.get("ERST_QUALITY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
DEPTH = 20
SHOWN = ("ndcg", "recall", "mrr", "hit1", "hit5")


class Row(NamedTuple):
    """One way to search, on one set."""

    set: str
    way: str
    questions: int
    means: dict[str, float]
    milliseconds: float
    """CPU a question; of this process."""
    floors: dict[str, float]
    kinds: dict[str, dict[str, float]]
    """The means by the questions' category."""
    empty: int
    """Questions without an answer: how many came back with no hit, or with the note `weak`."""
    unanswerable: int

    def below(self) -> list[str]:
        """The floors that are not met."""
        return [
            f"{self.set} {name} {self.means[name]:.3f} < {floor}"
            for name, floor in self.floors.items()
            if self.means[name] < floor
        ]


class Place:
    """A set's home on disk and the library over it."""

    def __init__(self, chosen: Set, data: Path, work: Path) -> None:
        self.set = chosen
        self.docs: list[Doc] = chosen.docs(data)
        self.folder = work / (chosen.home or chosen.name)
        self.home = self._home()
        self.library = Library(
            data=self.folder / "erst", roots={agent: [Root(path)] for agent, path in self.home.agents.items()}
        )
        self.library.sync()
        self.session_of = self.home.session_of()

    def _home(self) -> Home:
        known = self.folder / "home.json"
        if known.exists():
            return Home(*json.loads(known.read_text(encoding="utf-8")))
        home = (self.set.write or quality_homes.write)(self.docs, self.folder / "home")
        known.write_text(json.dumps(home, ensure_ascii=False), encoding="utf-8")
        return home

    def relevant(self, question: Question) -> Mapping[str, float]:
        if self.set.level == "document":
            return question.relevant
        return {self.session_of.get(name, name): 1.0 for name in question.relevant}

    def ask(self, question: Question, ranking: str = "contextual") -> Answer:
        return self.library.search(
            question.text,
            sync=False,
            scope=self.home.scope,
            project=self.home.project(question.pool),
            limit=DEPTH,
            ranking=ranking,
            group="session" if self.set.level == "session" else "none",
        )

    def names(self, answer: Answer) -> list[str]:
        """The set's ids of the hits."""
        if self.set.level == "session":
            return [self.home.sessions.get(hit.session_id, hit.session_id) for hit in answer.hits]
        return [self.home.documents.get(f"{hit.session_id}#{hit.message_index}", "?") for hit in answer.hits]

    def close(self) -> None:
        self.library.close()


# -- ways to search ----------------------------------------------------------------------------------------------------

Way = Callable[[Question], tuple[list[str], bool]]
"""Ids of documents or sessions, best first, and whether the answer itself doubts them."""


def ways(place: Place, peers: Iterable[str]) -> Iterator[tuple[str, Way]]:
    fts = Fts(place.docs)
    level = place.set.level
    yield "FTS5 AND", lambda question: (fts.ranked(question, level, "AND"), False)
    yield "FTS5 OR", lambda question: (fts.ranked(question, level, "OR"), False)
    yield "plain BM25", lambda question: _product(place, question, "plain")
    if level == "session":
        for command in peers:
            yield shlex.split(command)[0], lambda question, command=command: (_peer(place, question, command), False)
    yield "erstwhile", lambda question: _product(place, question, "contextual")


def _product(place: Place, question: Question, ranking: str) -> tuple[list[str], bool]:
    answer = place.ask(question, ranking)
    return place.names(answer), any(note.code == "weak" for note in answer.notes)


def _peer(place: Place, question: Question, command: str) -> list[str]:
    """The session ids that the command prints, in their order: wherever a line holds one it counts, such as in a
    path."""
    values = {"query": question.text, "home": str(place.folder / "home"), "pool": question.pool}
    words = [_filled(word, values) for word in shlex.split(command)]
    environ = {**os.environ, "HOME": values["home"]}
    ran = subprocess.run(words, capture_output=True, text=True, env=environ, check=False, stdin=subprocess.DEVNULL)
    found: dict[str, None] = {}
    for line in ran.stdout.splitlines():
        found.update((name, None) for native, name in place.home.sessions.items() if native in line)
    return list(found)


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


# -- scoring -----------------------------------------------------------------------------------------------------------


def scored(chosen: Set, data: Path, work: Path, every: int = 1, peers: Sequence[str] = (), only: str = "") -> list[Row]:
    """A row for each way to search the set (or for the one named `only`), over every so many-th question."""
    place = Place(chosen, data, work)
    try:
        questions = chosen.questions(data)[::every]
        return [_row(place, name, way, questions) for name, way in ways(place, peers) if only in ("", name)]
    finally:
        place.close()


def _row(place: Place, name: str, way: Way, questions: list[Question]) -> Row:
    found: list[dict[str, float]] = []
    kinds: dict[str, list[dict[str, float]]] = defaultdict(list)
    empty = 0
    before = time.process_time()
    for question in questions:
        ranked, doubted = way(question)
        if question.relevant:
            found.append(measures(ranked, place.relevant(question)))
            kinds[question.category].append(found[-1])
        else:
            empty += not ranked or doubted
    spent = 1000 * (time.process_time() - before) / max(1, len(questions))
    floors = place.set.floors if name == "erstwhile" else {}
    by_kind = {kind: means(rows) for kind, rows in sorted(kinds.items())} if len(kinds) > 1 else {}
    unanswerable = len(questions) - len(found)
    return Row(place.set.name, name, len(found), means(found), spent, floors, by_kind, empty, unanswerable)


# -- the table ---------------------------------------------------------------------------------------------------------


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [f"| set | searched by | questions | {' | '.join(SHOWN)} | ms CPU | floor |", "|---" * 10 + "|"]
    for row in rows:
        cells = [row.set, row.way, str(row.questions), *(f"{row.means.get(name, 0):.3f}" for name in SHOWN)]
        floors = ", ".join(f"{name} ≥ {floor}" for name, floor in row.floors.items())
        lines.append(f"| {' | '.join(cells)} | {row.milliseconds:.1f} | {floors} |")
    return "\n".join(lines)


def details(row: Row) -> Iterator[str]:
    """What the table has no room for: the means by kind of question, and the questions that nothing answers."""
    for kind, found in row.kinds.items():
        yield f"{row.set}, {kind}: " + ", ".join(f"{name} {found[name]:.3f}" for name in ("hit1", "hit5", "mrr"))
    if row.unanswerable:
        yield f"{row.set}: {row.empty} of {row.unanswerable} questions without an answer came back empty or as weak"


def main() -> int:
    names = [chosen.name for chosen in ALL]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", action="append", choices=names, help="only this set; may be repeated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth question, without floors")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public sets")
    parser.add_argument("--work", type=Path, help="keeps homes and indexes here, for the next run")
    parser.add_argument("--peer", action="append", default=[], metavar="COMMAND", help="another tool to ask")
    parser.add_argument("--only", default="", metavar="WAY", help="only this way to search")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    chosen = [s for s in ALL if s.name in (asked.set or names) and not (s.outside and not asked.data.is_dir())]
    if missing := set(asked.set or names) - {s.name for s in chosen}:
        print(f"without {', '.join(sorted(missing))}: no folder {asked.data}", file=sys.stderr)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        work = asked.work or Path(temporary)
        for one in chosen:
            print(f"{one.name} ...", file=sys.stderr)
            one = one if asked.every == 1 else one._replace(floors={})
            rows += scored(one, asked.data, work, asked.every, asked.peer, asked.only)
    below = [fault for row in rows for fault in row.below()]
    if asked.json:
        print(json.dumps({"rows": [row._asdict() for row in rows], "below": below}, indent=1))
    else:
        print(table(rows))
        print(*(line for row in rows if row.way == "erstwhile" for line in details(row)), sep="\n")
    print(*(f"below the floor: {fault}" for fault in below), sep="\n", end="\n" if below else "", file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
