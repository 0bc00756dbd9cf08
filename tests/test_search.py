"""Ranked answers of a Library against an exact scorer over all documents, written here from the formula alone."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import homes
import pytest

from erstwhile.library import Library
from erstwhile.text import analyse, terms

MESSAGES = 5000
SESSIONS = 160
QUERIES = 34
"""Of each class."""
PROJECTS = ("/home/dev/shop", "/home/dev/site", "/home/dev/lab", "/home/dev/data-tools")
CLASSES = ("rare", "common", "natural", "identifier", "cjk", "filtered")


# -- five thousand messages --------------------------------------------------------------------------------------------


class Doc(NamedTuple):
    """A message as the formula sees it; `at` is its place among all, and its session's messages lie side by side."""

    at: int
    session: str
    index: int
    kind: str
    agent: str
    cwd: str
    time: int
    text: str


class Piece(NamedTuple):
    """A word, or a compound that counts where its parts stand side by side, else where it stands whole."""

    stream: tuple[str, ...]
    whole: str | None = None
    strong: bool = True


class Bags:
    """Which texts hold which tokens, and how often."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.streams: list[list[str]] = []
        self.sizes: list[int] = []
        self.postings: dict[str, dict[int, int]] = {}
        for number, tokens in enumerate(map(analyse, texts)):
            self.streams.append(tokens.stream)
            self.sizes.append(len(tokens.stream) + len(tokens.wholes))
            for token, count in Counter([*tokens.stream, *tokens.wholes]).items():
                self.postings.setdefault(token, {})[number] = count

    def holding(self, piece: Piece) -> set[int]:
        """The texts with the piece's whole or all of its parts, side by side or not: its frequency in the index."""
        parts = [set(self.postings.get(token, {})) for token in piece.stream]
        return set(self.postings.get(piece.whole or "", {})) | set.intersection(*parts)

    def occurrences(self, piece: Piece) -> dict[int, int]:
        """How often each text that has the piece has it."""
        first, *rest = piece.stream
        found = self.postings.get(first, {})
        if rest:
            counted = {number: _side_by_side(self.streams[number], piece.stream) for number in found}
            found = {number: count for number, count in counted.items() if count}
        return {**self.postings.get(piece.whole or "", {}), **found}


def _side_by_side(stream: list[str], wanted: tuple[str, ...]) -> int:
    found = at = 0
    while at <= len(stream) - len(wanted):
        hit = tuple(stream[at : at + len(wanted)]) == wanted
        found, at = found + hit, at + (len(wanted) if hit else 1)
    return found


class Corpus:
    """Random sessions: words of Zipf-like frequency, identifiers and Chinese, short and long; the same every time."""

    def __init__(self) -> None:
        self.random = random.Random(20261103)
        pick = self.random
        shapes = ("bcdfghklmnprtvwz", "aeiou", "bcdfghklmnprt", "aeiouy", "bdgkmnt")
        self.words = sorted({"".join(map(pick.choice, shapes)) for _ in range(6000)})
        pick.shuffle(self.words)
        self.weights = [1 / rank for rank in range(1, len(self.words) + 1)]
        some = self.words[50:450]
        self.names = [f"{a}_{b}" for a, b in zip(some[:100], some[100:200])]
        self.names += [f"src/{a}/{b}.ts" for a, b in zip(some[200:260], some[260:320])]
        self.names += [a + b.title() for a, b in zip(some[320:360], some[360:])]
        self.han = [chr(0x4E00 + pick.randrange(400)) for _ in range(1500)]
        self.docs: list[Doc] = []
        self.lent: dict[str, str] = {}
        """Title and name of the project by session."""

    def text(self) -> str:
        pick = self.random
        size = int(min(280, max(2, pick.lognormvariate(3.9, 1.2))))
        said = pick.choices(self.words, self.weights, k=size)
        for _ in range(size // 12 + (pick.random() < 0.2)):
            said[pick.randrange(size)] = pick.choice(self.names)
        if pick.random() < 0.2:
            start = pick.randrange(len(self.han) - 30)
            said.append("".join(self.han[start : start + pick.randrange(4, 30)]))
        return " ".join(said)[:1990].strip()

    def write(self, base: Path) -> None:
        pick = self.random
        for number in range(SESSIONS):
            agent = ("claude-code", "codex")[number % 2]
            native = f"0199{number:04x}-0000-7000-8000-{pick.getrandbits(48):012x}"
            cwd, start = pick.choice(PROJECTS), homes.START + 86_400 * number
            title = " ".join(pick.choices(self.words, self.weights, k=4)) if number % 3 else None
            texts = [self.text() for _ in range(MESSAGES // SESSIONS + (number < MESSAGES % SESSIONS))]
            homes.write(base, agent, native, texts, cwd, title, start)
            self._add(f"{agent}:{native}", agent, cwd, title, texts, start)

    def _add(self, session: str, agent: str, cwd: str, title: str | None, texts: list[str], start: int) -> None:
        self.lent[session] = f"{title or ''} {cwd.rpartition('/')[2]}"
        for index, text in enumerate(texts):
            kind = ("user_text", "assistant_text")[index % 2]
            self.docs.append(Doc(len(self.docs), session, index, kind, agent, cwd, start + 60 * index, text))

    # -- questions -----------------------------------------------------------------------------------------------------

    def query(self, kind: str) -> tuple[str, dict[str, Any]]:
        pick = self.random
        if kind == "rare":
            return pick.choice(self.words[1500:]), {}
        if kind == "common":
            return " ".join(pick.sample(self.words[:25], pick.randint(1, 2))), {}
        if kind == "identifier":
            return " ".join([pick.choice(self.names), *pick.sample(self.words[:300], pick.randint(0, 2))]), {}
        if kind == "cjk":
            start = pick.randrange(len(self.han) - 30)
            return "".join(self.han[start : start + pick.randint(2, 5)]), {}
        said = " ".join(dict.fromkeys(pick.choices(self.words, [w**0.6 for w in self.weights], k=pick.randint(3, 8))))
        if kind == "natural":
            return said, {}
        filters: list[dict[str, Any]] = [
            {"kinds": ("user_text",)},
            {"agents": ("codex",), "kinds": ("assistant_text",)},
            {"project": pick.choice(PROJECTS), "scope": "project"},
            {"since": homes.START + 86_400.0 * pick.randrange(40, 80), "until": homes.START + 86_400.0 * 120},
        ]
        return said, pick.choice(filters)


# -- the formula -------------------------------------------------------------------------------------------------------


def pieces(query: str) -> Counter[Piece]:
    found: list[Piece] = []
    for term in terms(query):
        if term.kind == "compound":
            found.append(Piece(term.stream, term.whole))
        else:
            found += [Piece((token,), None, token in term.strong) for token in term.stream]
    return Counter(found)


class Exact:
    """Weighted BM25 of every document: own tokens 1, inherited 0.5, neighbours of a short document 0.5 and 0.25; its
    length is the weighted mean of what was counted."""

    def __init__(self, corpus: Corpus) -> None:
        self.docs = corpus.docs
        self.own = Bags(doc.text for doc in self.docs)
        self.lent = Bags(corpus.lent[doc.session] for doc in self.docs)
        average = sum(o + 0.5 * i for o, i in zip(self.own.sizes, self.lent.sizes)) / len(self.docs)
        self.near = [list(self._near(doc)) if len(doc.text) < 400 else [] for doc in self.docs]
        self.damping: list[float] = []
        for at, near in enumerate(self.near):
            length = self.own.sizes[at] + 0.5 * self.lent.sizes[at] + sum(w * self.own.sizes[a] for a, w in near)
            length /= 1 + sum(w for _, w in near)
            self.damping.append(1.2 * (0.25 + 0.75 * length / average))

    def _near(self, doc: Doc) -> Iterator[tuple[int, float]]:
        for step, weight in ((-2, 0.25), (-1, 0.5), (1, 0.5), (2, 0.25)):
            at = doc.at + step
            if 0 <= at < len(self.docs) and self.docs[at].session == doc.session:
                yield at, weight

    def scores(self, query: str, filters: dict[str, Any]) -> dict[tuple[str, int], float]:
        """The score of each document that fits, by session and message index."""
        asked: list[Counted] = []
        for piece, times in pieces(query).items():
            own, lent = self.own.occurrences(piece), self.lent.occurrences(piece)
            n = len(self.own.holding(piece) | self.lent.holding(piece))
            asked.append(Counted(times * log(1 + (len(self.docs) - n + 0.5) / (n + 0.5)), piece.strong, own, lent))
        holding = {at for counted in asked for at in (*counted.own, *counted.lent)}
        pairs = list(self._pairs(query, asked))
        fitting = (doc for doc in map(self.docs.__getitem__, holding) if fits(doc, filters))
        scored = {doc.at: score for doc in fitting if (score := self._score(doc.at, asked, pairs))}
        return {(self.docs[at].session, self.docs[at].index): scored[at] for at in self._spoken(scored, asked)}

    def _spoken(self, scored: dict[int, float], asked: list[Counted]) -> Iterator[int]:
        """Documents with a word of their own; of a session that has none, the best that its title makes fit."""
        own = {at for counted in asked for at in counted.own}
        sessions = {self.docs[at].session for at in scored if at in own}
        for at in sorted(scored, key=lambda at: (-scored[at], -self.docs[at].time)):
            if at in own:
                yield at
            elif self.docs[at].session not in sessions:
                sessions.add(self.docs[at].session)
                yield at

    def _pairs(self, query: str, asked: list[Counted]) -> Iterator[tuple[float, dict[int, int]]]:
        """Neighbours among the question's plain words: a fifth of the commoner one's weight, and who has them so."""
        weight = {piece: c.weight / times for (piece, times), c in zip(pieces(query).items(), asked)}
        said = [Piece(t.stream) if t.kind == "word" else None for t in terms(query)]
        for one, other in dict.fromkeys(zip(said, said[1:])):
            if one and other:
                both = Piece(one.stream + other.stream)
                yield 0.2 * min(weight[one], weight[other]), self.own.occurrences(both)

    def _score(self, at: int, asked: list[Counted], pairs: list[tuple[float, dict[int, int]]]) -> float:
        near, damping = self.near[at], self.damping[at]
        total, strong = 0.0, False
        for counted in asked:
            tf = counted.own.get(at, 0) + 0.5 * counted.lent.get(at, 0)
            for other, weight in near:
                if other in counted.own:
                    tf += weight * counted.own[other]
            if tf:
                total += counted.weight * tf / (tf + damping)
                strong = strong or counted.strong
        total += sum(w * held[at] / (held[at] + damping) for w, held in pairs if at in held)
        return total if strong else 0.0


class Counted(NamedTuple):
    """A piece of a question: what it weighs, and how often it stands in each document and in what each inherits."""

    weight: float
    strong: bool
    own: dict[int, int]
    lent: dict[int, int]


def fits(doc: Doc, filters: dict[str, Any]) -> bool:
    return (
        doc.kind in filters.get("kinds", (doc.kind,))
        and doc.agent in filters.get("agents", (doc.agent,))
        and doc.cwd == filters.get("project", doc.cwd)
        and filters.get("since", 0) <= doc.time < filters.get("until", doc.time + 1)
    )


# -- both proposers ----------------------------------------------------------------------------------------------------


@pytest.fixture
def proposer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """`tantivy`, or `fts5` as on a machine where tantivy cannot be imported."""
    if request.param == "fts5":
        monkeypatch.setitem(sys.modules, "tantivy", None)
        monkeypatch.delitem(sys.modules, "erstwhile.lexical", raising=False)
    return request.param


both = pytest.mark.parametrize("proposer", ["tantivy", "fts5"], indirect=True)


class Question(NamedTuple):
    kind: str
    text: str
    filters: dict[str, Any]
    scores: dict[tuple[str, int], float]
    """The exact score of every document that fits."""
    best: list[float]
    """Those of the ten that the answer should show."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Question]]:
    """Five thousand messages on disk, and two hundred questions with their exact answers."""
    base = tmp_path_factory.mktemp("corpus")
    made = Corpus()
    made.write(base)
    exact = Exact(made)
    questions: list[Question] = []
    for kind in CLASSES * QUERIES:
        text, filters = made.query(kind)
        scores = exact.scores(text, filters)
        best = sorted(scores.values(), reverse=True)[:10]
        questions.append(Question(kind, text, filters, scores, [s for s in best if s >= 0.15 * best[0]]))
    return base, questions


@both
def test_the_top_ten_are_those_of_an_exact_score_of_all_documents_and_have_it(
    corpus: tuple[Path, list[Question]], proposer: str
) -> None:
    base, questions = corpus
    equal: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    with Library(data=base / f"erst-{proposer}", roots=homes.roots(base)) as library:
        library.sync()
        for asked in questions:
            answer = library.search(asked.text, sync=False, group="none", **{"scope": "global", **asked.filters})
            got = [asked.scores[hit.session, hit.message_index] for hit in answer.hits]
            if asked.kind != "identifier":  # whose frequency the index counts by its parts, scattered or not
                assert [hit.score for hit in answer.hits] == pytest.approx(got, abs=2e-6), asked.text
            equal[asked.kind] += sum(score >= asked.best[-1] - 1e-6 for score in got)
            expected[asked.kind] += len(asked.best)
    rates = {kind: round(equal[kind] / expected[kind], 4) for kind in CLASSES}
    assert equal.total() >= 0.99 * expected.total(), (equal.total() / expected.total(), str(rates))
    assert rates["filtered"] >= 0.99, "what the filter leaves out stands beside what fits all the same"
