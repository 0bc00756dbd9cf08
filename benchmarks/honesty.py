"""Does an answer say when it is none? `python benchmarks/honesty.py BENCH_HOME LOCOMO_HOME LOCOMO_QUESTIONS.jsonl.gz`.

Two homes: invented sessions over Python's own library, whose questions are half-remembered sentences of theirs, and
conversations whose questions are taken from the data set when this runs. Questions about topics that neither holds are
in `honesty.json`, with some about topics of Python's library that the sessions may hold or not. Printed is, of each
kind and of a half that nothing was tuned on: how many were empty, weak, found what they should, and were not marked.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from erstwhile.honesty import ENOUGH
from erstwhile.library import Library
from erstwhile.model import Query
from erstwhile.text import STOP_WORDS, stemmed
from erstwhile.vocabulary import Vocabulary

EACH = 60


class Asked(NamedTuple):
    text: str
    project: str | None = None
    sessions: frozenset[str] = frozenset()
    """Native ids of sessions that answer it; empty where any hit will do."""


class Row(NamedTuple):
    asked: int = 0
    empty: int = 0
    weak: int = 0
    found: int = 0


def ask(library: Library, questions: list[Asked]) -> Row:
    row = Row()
    for question in questions:
        answer = library.search(
            question.text, sync=False, scope="project" if question.project else "global", project=question.project
        )
        marked = any(note.code == "weak" for note in answer.notes)
        shown = {hit.session_id for hit in answer.hits}
        found = bool(shown & question.sessions if question.sessions else shown)
        row = Row(row.asked + 1, row.empty + (not shown), row.weak + (marked and bool(shown)), row.found + found)
    return row


def remembered(library: Library, pick: random.Random, count: int) -> list[Asked]:
    """Questions as somebody asks who remembers half of a sentence: words of one message, and the sessions that hold
    them all in one."""
    page = library.sessions(Query(limit=100), sync=False)
    sessions = list(page.sessions)
    while page.next_cursor:
        page = library.sessions(Query(limit=100, cursor=page.next_cursor), sync=False)
        sessions += page.sessions
    pick.shuffle(sessions)
    asked: list[Asked] = []
    for info in sessions:
        messages = library.show(info.session, kinds=("user_text", "assistant_text"), sync=False).messages
        said = [s for m in messages for p in m.parts for s in re.split(r"[.?!\n]+", p.text)]
        good = [w for s in said if len(w := _content(s)) >= 6]
        if good:
            words = pick.choice(good)
            kept = sorted(pick.sample(range(len(words)), min(6, max(3, len(words) // 2))))
            said_in = library.search(" ".join(f"+{words[at]}" for at in kept), sync=False, scope="global", limit=100)
            if said_in.hits:
                text = f"what about {' '.join(words[at] for at in kept)}"
                asked.append(Asked(text, None, frozenset(hit.session_id for hit in said_in.hits)))
        if len(asked) == count:
            break
    return asked


def _content(sentence: str) -> list[str]:
    words = [w.strip(",;:()`'\"") for w in sentence.split()]
    return list(dict.fromkeys(w for w in words if w.isalpha() and len(w) > 3 and w.lower() not in STOP_WORDS))


def misspelt(library: Library, questions: list[Asked], pick: random.Random) -> Iterator[Asked]:
    """The questions with their rarest word of six letters and more spelled wrong: two letters swapped, one left out,
    one doubled or one replaced."""
    words = Vocabulary(library._db, library._indexes.current)
    for question in questions:
        said = question.text.split()
        long = [w for w in said if len(w) >= 6 and w.isalpha() and w.lower() not in STOP_WORDS]
        known = [w for w in long if words.has(stemmed(w.lower()))]
        if not known:
            continue
        counted = {w: library.search(f"+{w}", sync=False, scope="global", limit=1).coverage and w for w in known}
        word = min(counted, key=lambda w: library._indexes.current.frequency_of(_want(w)))
        for _ in range(20):
            wrong = _misspell(word, pick)
            if not words.has(stemmed(wrong.lower())):
                yield question._replace(text=" ".join(wrong if w == word else w for w in said))
                break


def _want(word: str) -> Any:
    from erstwhile.plan import Want

    return Want((stemmed(word.lower()),))


def _misspell(word: str, pick: random.Random) -> str:
    at = pick.randrange(1, len(word) - 1)
    return pick.choice(
        (
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + pick.choice("aeiourstln") + word[at + 1 :],
        )
    )


def opened(home: Path, data: str) -> Library:
    library = Library(data=data, roots={"reasonix": [str(home / ".reasonix")]} | _others(home))
    library.sync()
    return library


def _others(home: Path) -> dict[str, list[str]]:
    found = {"claude-code": home / ".claude", "codex": home / ".codex"}
    return {agent: [str(root)] for agent, root in found.items() if root.is_dir()}


def report(name: str, kind: str, row: Row) -> None:
    plain = row.asked - row.empty - row.weak
    shares = (f"{value / max(1, row.asked):6.0%}" for value in (row.empty, row.weak, row.found))
    print(f"{name:16} {kind:10} {row.asked:5} {' '.join(shares)} {plain / max(1, row.asked):9.0%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for the two libraries, used again the next time")
    options = parser.parse_args()
    listed: dict[str, list[str]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    pick = random.Random(4)
    print(f"weak below {ENOUGH}")
    print(f"{'home':16} {'questions':10} {'asked':>5} {'empty':>6} {'weak':>6} {'found':>6} {'unmarked':>9}")
    with tempfile.TemporaryDirectory() as work:
        keep = options.keep or Path(work)
        known = json.loads((options.locomo / "map.json").read_text(encoding="utf-8"))
        owner = {document: message.split("#")[0] for message, document in known["documents"].items()}
        with gzip.open(options.questions, "rt", encoding="utf-8") as file:
            taken = [q for q in map(json.loads, file) if q.get("rels") and q.get("cat") != 5]
        present = [
            Asked(q["text"], f"/eval/{q['pool']}", frozenset(owner[d] for d in q["rels"] if d in owner))
            for q in pick.sample(taken, 6 * EACH)
        ]
        absent = [Asked(text) for text in listed["absent"]]
        for name, home in (("locomo", options.locomo), ("bench", options.bench)):
            with opened(home, str(keep / name)) as library:
                asked = present if name == "locomo" else remembered(library, pick, 4 * EACH)
                for half, first in (("", 0), ("held out", 1)):
                    some = asked[first::2]
                    wrong = list(misspelt(library, some, pick))[:EACH]
                    report(f"{name} {half}", "present", ask(library, some[:EACH]))
                    report(f"{name} {half}", "misspelt", ask(library, wrong))
                    report(f"{name} {half}", "absent", ask(library, absent[first::2]))
                if name == "bench":
                    report("bench", "topics", ask(library, [Asked(text) for text in listed["present"]]))


if __name__ == "__main__":
    main()
