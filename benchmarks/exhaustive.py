"""Do proposals lose what the exact score would put into the top ten? `python benchmarks/exhaustive.py [--every N]`.

Each question is ranked twice by the product's own scorer: over what the index proposes, and over every document that
holds a word of it. Printed are the share of the exact top ten that is found (by score, so that ties do not count
against it) and, for sessions, nDCG both ways. The public sets, our own, and the classes of questions of a corpus of
invented sessions (`corpus.py`), filtered ones among them.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import corpus
from quality import DATA, Place
from quality_measures import measures
from quality_sets import ALL

from erstwhile import Library, Query
from erstwhile.answering import _question  # pyright: ignore[reportPrivateUsage]
from erstwhile.lexical_contract import Index
from erstwhile.search import Ranking, Unit, rank, statistics

TOP = 10
SESSIONS = 300
ASKED = 25
"""Questions of each class."""
CLASSES = ("rare", "common", "3-5 words", "8 words", "identifier", "CJK", "phrase", "filtered by kind and project")


class Both(NamedTuple):
    proposed: Ranking
    exact: Ranking

    def found(self) -> tuple[int, int]:
        """How many of the exact top ten the proposals bring, and how many there are."""
        best = [unit.score for unit in self.exact.units[:TOP]]
        got = sorted((unit.score for unit in self.proposed.units[:TOP]), reverse=True)
        return (sum(score >= best[-1] - 1e-9 for score in got[: len(best)]), len(best)) if best else (0, 0)


class Everything:
    """An index that proposes all that fits."""

    def __init__(self, index: Index, documents: int) -> None:
        self.index, self.documents = index, documents

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)

    def propose(self, *asked: Any) -> Any:
        *most, _, highest = asked
        return self.index.propose(*most, max(1, self.documents), highest)


def both(library: Library, query: Query) -> Both:
    """The ranking over the proposals and over all documents."""
    db, index = library._db, library._indexes.current  # pyright: ignore[reportPrivateUsage]
    with library._opened(False):  # pyright: ignore[reportPrivateUsage]
        asked = _question(db, query, library._context())  # pyright: ignore[reportPrivateUsage]
        numbers = statistics(db, index, asked.plan)
        every: Any = Everything(index, numbers.documents)
        grouped = query.group == "session"
        proposed = rank(db, index, asked.plan, asked.filter, numbers, grouped)
        return Both(proposed, rank(db, every, asked.plan, asked.filter, numbers, grouped, numbers.documents))


def of_sets(data: Path, work: Path, every: int, only: Sequence[str]) -> Iterator[str]:
    for chosen in ALL:
        if (chosen.outside and not data.is_dir()) or (only and chosen.name not in only):
            continue
        place = Place(chosen, data, work)
        hits = total = 0
        gains: tuple[list[float], list[float]] = ([], [])
        for question in chosen.questions(data)[::every]:
            group = "session" if chosen.level == "session" else "none"
            project = place.home.project(question.pool)
            query = Query(question.text, place.home.scope, project, group=group)
            ways = both(place.library, query)
            found, best = both(place.library, query._replace(group="none")).found()
            hits, total = hits + found, total + best
            if group == "session" and question.relevant:
                for gain, ranking in zip(gains, ways):
                    ranked = [_name(place, ranking, unit) for unit in ranking.units[:TOP]]
                    gain.append(measures(ranked, place.relevant(question))["ndcg"])
        place.close()
        means = [sum(gain) / len(gain) for gain in gains if gain]
        yield f"| {chosen.name} | {hits / total:.4f} of {total} | {' / '.join(f'{mean:.4f}' for mean in means)} |"


def _name(place: Place, ranking: Ranking, unit: Unit) -> str:
    native = ranking.heads[unit.best.row.session].native
    return place.home.sessions.get(native, native)


def of_classes(work: Path) -> Iterator[str]:
    home = work / "corpus"
    if not home.exists():
        corpus.write(home, SESSIONS, seed=5)
    roots = {"claude-code": [str(home / ".claude")], "codex": [str(home / ".codex")]}
    with Library(data=work / "corpus-erst", roots=roots | {"reasonix": [str(home / ".reasonix")]}) as library:
        library.sync()
        for kind in CLASSES:
            hits = total = 0
            for query in _asked(kind):
                found, best = both(library, query).found()
                hits, total = hits + found, total + best
            yield f"| {kind} | {hits / max(1, total):.4f} of {total} | |"


def _asked(kind: str) -> Iterator[Query]:
    pick = random.Random(kind)
    shelf = corpus.books()
    words = sorted({word for book in shelf for text in book.prose for word in text.split() if word.isalpha()})
    common = ("error", "test", "file", "return", "name", "value", "python", "self", "string", "class", "build", "call")
    for _ in range(ASKED):
        book = pick.choice(shelf)
        prose = [word for word in pick.choice(book.prose).split() if word.isalpha()] or ["value"]
        start = pick.randrange(max(1, len(prose) - 8))
        text = {
            "rare": pick.choice(words),
            "common": pick.choice(common),
            "3-5 words": " ".join(prose[start : start + pick.randint(3, 5)]),
            "8 words": " ".join(pick.sample(words, 5) + pick.sample(common, 3)),
            "identifier": pick.choice(book.names),
            "CJK": pick.choice(corpus.CHINESE)[pick.randrange(3) :],
            "phrase": f'"{" ".join(prose[start : start + 2])}"',
            "filtered by kind and project": " ".join(prose[start : start + 4]),
        }[kind]
        query = Query(text, "global", group="none")
        if kind.startswith("filtered"):
            query = query._replace(
                kinds=("user_text", "tool_error"), project=f"/home/dev/project-0{pick.randrange(1, 5)}"
            )
        yield query


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=8, metavar="N", help="only every Nth question of a set")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, help="keeps homes and indexes here, for the next run")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = asked.work or Path(temporary)
        print("| questions | top ten found | session nDCG, proposed / all |\n|---|---|---|")
        for line in of_classes(work) if not asked.set else ():
            print(line, flush=True)
        for line in of_sets(asked.data, work, asked.every, asked.set):
            print(line, flush=True)


if __name__ == "__main__":
    main()
