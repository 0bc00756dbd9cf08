"""Given the tokens of a question, which documents are worth scoring? SQLite's FTS5, for machines without tantivy.

The same contract as `lexical`: derived, disposable, only a proposer. It lies in a folder of its own, so that the
store's one writer never waits for it and another folder can take its place. FTS5's own ranking visits every row that
matches, so a question may cost a budget of postings: the rarest pieces are ranked, what is common only fills up. Each
piece is ranked by itself, because FTS5's IDF, unlike ours, makes nothing of a word that half of all documents hold.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from math import log
from typing import TYPE_CHECKING, Any

from .errors import StoreError
from .lexical_types import Busy, Entry, Proposal
from .plan import Want
from .ranking import K1, idf, promising

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    Mapped = AbstractContextManager[None]

SCHEMA = 1
"""Goes up whenever what is put into the index changes; with the tokenizer's version it names the index's file."""
BUDGET = 20_000
"""Postings that a question's pieces may bring to be ranked; five times as many from LARGE documents on."""
LARGE = 300_000
TAKEN = 200
"""Documents proposed at least, where as many match."""
NARROWING = 10
"""As in `lexical`: 200 are proposed of the 4,000 that alone score best."""
INSIDE = 200
"""Tokens that stand for a part of a word at most."""
BUSY_SECONDS = 5.0
NAME = "words.db"

TABLES = (
    # Contentless, so that texts are not kept twice. Taking a row out then needs its tokens, which `entries` keeps
    # packed: SQLite can do without them from 3.43 on only.
    "CREATE VIRTUAL TABLE words USING fts5 (text, tags, content = '', tokenize = \"ascii tokenchars '_'\")",
    "CREATE VIRTUAL TABLE frequencies USING fts5vocab (words, col)",
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, length INTEGER NOT NULL, packed BLOB)",
)

_SAFE = {c: 0xE000 + c for c in range(128) if not (chr(c).isalnum() or chr(c) in "_ ")} | {
    c: c + 32 for c in range(ord("A"), ord("Z") + 1)
}
"""FTS5 splits ASCII at everything but letters, digits and `_`, and takes what is not ASCII whole. So that tokens such
as `src/lib/i18n.ts` or `c++` stay whole, each other ASCII character is put as one from the private use area, which no
token holds: reversible, and a prefix stays a prefix. Nothing is left that could be taken for syntax; FTS5 would fold
capitals itself."""
_SAFE_WORD = {**_SAFE, ord(" "): 0xE000 + ord(" ")}


_PLAIN = {0xE000 + c: c for c in range(128)}
NOTHING = chr(0xE07F)
"""A word that no document has."""


class LexicalFts:
    """The index in `folder`, or one in memory for None. Several processes may read while one writes."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.path = os.path.join(folder, NAME) if folder else None
        self._db: sqlite3.Connection | None = None
        self._seen = 0
        self._mark: int | None = None
        self._size: int | None = None
        self._frequencies: dict[str, int] = {}
        if folder is None:
            self._db = _opened(":memory:")
            _create(self._db)

    # -- reading -------------------------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Sees the last commit; False when there is no index yet. Raises StoreError when it cannot be read."""
        self._mark = self._size = None
        self._frequencies.clear()
        if self.path is None:
            return True
        try:
            inode = os.stat(self.path).st_ino
        except OSError:
            inode = 0
        if not inode or inode != self._seen:
            self._close()
        self._seen = inode
        with self._mapped("read"):
            if self._db is None and inode:
                self._db = _opened(self.path)
            return self._db is not None and _is_complete(self._db)

    @property
    def mark(self) -> int:
        """The largest document id in the index: everything above it is scored directly."""
        if self._mark is None:
            self._mark = self._number("SELECT coalesce(max(id), 0) FROM entries")
        return self._mark

    @property
    def size(self) -> int:
        """How many documents the index holds."""
        if self._size is None:
            self._size = self._number("SELECT count(*) FROM entries")
        return self._size

    def frequency(self, token: str) -> int:
        """In how many documents the token stands, own or inherited."""
        if token not in self._frequencies:  # a question asks several times, and FTS5 counts each time anew
            sql = "SELECT doc FROM frequencies WHERE term = ? AND col = 'text'"
            self._frequencies[token] = self._number(sql, word(token))
        return self._frequencies[token]

    def terms(self, prefix: str, limit: int) -> list[str]:
        """The tokens that begin so, the `limit` commonest."""
        first = word(prefix)
        sql = (
            "SELECT term FROM frequencies WHERE col = 'text' AND term >= ? AND term < ? ORDER BY doc DESC, term LIMIT ?"
        )
        return [_plain(row[0]) for row in self._rows(sql, first, first + chr(0x10FFFF), limit)]

    def holding(self, part: str) -> list[str]:
        """Tokens that have the part in them, the commonest."""
        sql = "SELECT term FROM frequencies WHERE col = 'text' AND instr(term, ?) > 0 ORDER BY doc DESC LIMIT ?"
        return [_plain(row[0]) for row in self._rows(sql, word(part), INSIDE)]

    def _spelled_out(self, want: Want) -> Want:
        """The want by tokens alone."""
        return want._replace(any_of=(*want.any_of, *self.holding(want.inside)), inside="") if want.inside else want

    def frequency_of(self, want: Want) -> int:
        """In how many documents the piece may stand: all of its parts, or one of its tokens."""
        if not want.all_of and len(want.any_of) == 1:
            return self.frequency(want.any_of[0])
        return self._number("SELECT count(*) FROM words WHERE words MATCH ?", _text(_piece(want)))

    def propose(
        self,
        wants: Iterable[Want],
        tags: list[list[str]],
        since: float | None,
        until: float | None,
        last: int | None,
        limit: int,
        highest: float,
    ) -> Proposal:
        """At least the `limit` most promising of the documents that fit, as far as the budget reaches.

        The rarest pieces come first, together; where they bring too few documents, the common ones fill up, each with
        the newest documents that hold it.
        """
        wants = [self._spelled_out(want) for want in wants]
        asked = _Asked(wants, tags, *_conditions(since, until, last))
        limit = max(limit, TAKEN)
        budget = BUDGET if self.size < LARGE else 5 * BUDGET
        ranked, rest = self._affordable(wants, budget)
        fitting, scores = self._scores(asked, ranked, budget)
        complete = not rest and len(fitting) < budget
        while rest and len(fitting) < limit:
            more, common = self._scores(asked, [rest.pop(0)], budget)
            fitting |= more
            scores = common | scores
        if len(fitting) <= limit:
            return Proposal(sorted(fitting), complete)
        return Proposal(self._promising(fitting, scores, highest, limit), False)

    def _promising(self, fitting: set[int], scores: dict[int, float], highest: float, limit: int) -> list[int]:
        """The most promising of what fits; a neighbour promises something whether it fits or not."""
        best = sorted(fitting, key=lambda i: (-scores.get(i, 0.0), -i))[: limit * limit // NARROWING]
        near = {near for i in best for near in range(i - 2, i + 3) if near in scores}
        lengths = self._lengths(near.union(best))
        found = [scores.get(i, 0.0) for i in lengths]
        ranked = promising(list(lengths), found, list(lengths.values()), highest, len(lengths))
        return [i for i in ranked if i in fitting][:limit]

    def _affordable(self, wants: list[Want], budget: int) -> tuple[list[Want], list[Want]]:
        """The rarest optional pieces whose postings fit the budget (one at least), and the others. Pieces that are
        required narrow by themselves: with any of them, all optional ones only rank."""
        optional = [w for w in wants if not w.required and not w.excluded]
        if any(w.required for w in wants):
            return optional, []
        postings = {w: self.frequency_of(w) for w in optional}
        optional.sort(key=lambda w: postings[w])
        spent, count = 0, 0
        for count, want in enumerate(optional):
            spent += postings[want]
            if spent > budget and count:
                return optional[:count], optional[count:]
        return optional, []

    def _scores(self, asked: _Asked, pieces: list[Want], budget: int) -> tuple[set[int], dict[int, float]]:
        """The newest `budget` documents that fit and hold one of the pieces (or all that are required), and the BM25 of
        what lies between them."""
        match = asked.match(pieces)
        if match is None:
            return set(), {}
        source = f"FROM words w {asked.join} WHERE words MATCH ? {asked.conditions}"
        fitting = self._rows(f"SELECT w.rowid {source} ORDER BY w.rowid DESC LIMIT ?", match, *asked.values, budget)
        scores: dict[int, float] = {}
        for piece in [*asked.required, *pieces] if fitting else ():
            weight = idf(self.size, self.frequency_of(piece)) / ((1 + K1) * self._idf(piece))
            for number, score in self._rows(
                "SELECT rowid, bm25(words, 1.0, 0.0) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
                " ORDER BY rowid DESC LIMIT ?",
                *(_text(_piece(piece)), fitting[-1][0] - 2, fitting[0][0] + 2, budget),
            ):
                scores[number] = scores.get(number, 0.0) - weight * score
        return {row[0] for row in fitting}, scores

    def _idf(self, piece: Want) -> float:
        """What FTS5 weighs the piece's words with."""
        found = (self.frequency(token) for token in (*piece.any_of, *piece.all_of))
        return sum(max(log((self.size - n + 0.5) / (n + 0.5)), 1e-6) for n in found)

    def _lengths(self, ids: Iterable[int]) -> dict[int, int]:
        return dict(self._rows(f"SELECT id, length FROM entries WHERE id IN ({','.join(map(str, ids))})"))

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with self._mapped("read"):
            return self._db.execute(sql, values).fetchall() if self._db and _is_complete(self._db) else []

    def _number(self, sql: str, *values: str) -> int:
        rows = self._rows(sql, *values)
        return int(rows[0][0]) if rows else 0

    # -- writing -------------------------------------------------------------------------------------------------------

    def writer(self) -> FtsWriter:
        """Opens the one writer. Raises Busy when another process has it."""
        with self._mapped("write"):
            if self.folder is None or self.path is None:
                assert self._db is not None
                return FtsWriter(self._db, self._mapped, lambda: None)
            os.makedirs(self.folder, 0o700, exist_ok=True)
            if not os.path.exists(self.path):
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            # a connection of its own, closed after the batch: a reader beside it goes on seeing the last commit
            db = _opened(self.path, wait=0.0)
            try:
                db.execute("PRAGMA journal_mode = WAL")
                return FtsWriter(db, self._mapped, db.close)
            except BaseException:
                db.close()
                raise

    def forget(self) -> None:
        """Drops the open index, so that the next refresh opens it anew."""
        if self.path is not None:
            self._close()

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    @contextmanager
    def _mapped(self, what: str) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if what == "write" and ("locked" in str(error) or "busy" in str(error)):
                raise Busy(str(error)) from error
            advice = "; `erst index --full` builds it anew" if what == "read" else ""
            raise StoreError(f"cannot {what} the index in {self.folder or 'memory'} ({error}){advice}") from error
        except OSError as error:
            raise StoreError(f"cannot {what} the index in {self.folder}: {error.strerror or error}") from error


class FtsWriter:
    """One batch: nothing of it is seen before `commit`, and what was not committed is gone with `close`."""

    def __init__(self, db: sqlite3.Connection, mapped: Callable[[str], Mapped], done: Callable[[], None]) -> None:
        self._db, self._mapped, self._done = db, mapped, done
        if db.in_transaction:
            raise Busy("the index is being written")
        db.execute("BEGIN IMMEDIATE")
        if not _is_complete(db):
            _create(db)

    def add(self, entry: Entry) -> None:
        text, tags = entry.tokens.translate(_SAFE), " ".join(map(word, entry.tags))
        packed = zlib.compress(f"{text}\n{tags}".encode(), 1)
        with self._mapped("write"):
            self._begin()
            self._db.execute("INSERT INTO words (rowid, text, tags) VALUES (?, ?, ?)", (entry.id, text, tags))
            self._db.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (entry.id, entry.time, entry.length, packed))

    def remove(self, number: int) -> None:
        with self._mapped("write"):
            self._begin()
            row = self._db.execute("SELECT packed FROM entries WHERE id = ?", (number,)).fetchone()
            if row is None:
                return
            text, _, tags = zlib.decompress(row[0]).decode().partition("\n")
            self._db.execute(
                "INSERT INTO words (words, rowid, text, tags) VALUES ('delete', ?, ?, ?)", (number, text, tags)
            )
            self._db.execute("DELETE FROM entries WHERE id = ?", (number,))

    def commit(self) -> None:
        """Raises StoreError when the disk does not take it; nothing is lost, the store still has everything."""
        with self._mapped("write"):
            if self._db.in_transaction:
                self._db.execute("COMMIT")

    def close(self) -> None:
        """Lets the lock go."""
        with self._mapped("write"):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._done()

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")


# -- the question as FTS5 reads it -------------------------------------------------------------------------------------


class _Asked:
    """What stays the same while the pieces that are looked for change."""

    def __init__(self, wants: list[Want], tags: list[list[str]], join: str, conditions: str, values: list[int]) -> None:
        self.join, self.conditions, self.values = join, conditions, values
        self.required = [w for w in wants if w.required]
        self._excluded = [_piece(w) for w in wants if w.excluded]
        self._tags = ["{tags} : (" + " OR ".join(map(word, group)) + ")" for group in tags]

    def match(self, pieces: list[Want]) -> str | None:
        """A document must hold every required piece, else one of `pieces`; None when nothing is asked."""
        optional = [_piece(piece) for piece in pieces]
        if self.required:
            needed = list(map(_piece, self.required))
        elif optional:
            needed = [" OR ".join(optional)]
        else:
            return None
        wanted = " AND ".join([*(_text(piece) for piece in needed), *self._tags])
        return f"({wanted}) NOT {_text(' OR '.join(self._excluded))}" if self._excluded else wanted


def _piece(want: Want) -> str:
    choices = [word(token) for token in want.any_of] or ([] if want.all_of else [NOTHING])
    if want.all_of:
        choices.append("(" + " AND ".join(map(word, want.all_of)) + ")")
    return "(" + " OR ".join(choices) + ")"


def _text(expression: str) -> str:
    return "{text} : (" + expression + ")"


def word(token: str) -> str:
    """The token as one FTS5 word, which needs no quotes."""
    return token.translate(_SAFE_WORD)


def _plain(term: str) -> str:
    """The token that `word` made the term of."""
    return term.translate(_PLAIN)


def _conditions(since: float | None, until: float | None, last: int | None) -> tuple[str, str, list[int]]:
    """A join, conditions and their values; fractions of a second are settled by the store."""
    tests: list[str] = []
    values: list[int] = []
    for test, value in (
        ("e.time >= ?", None if since is None else int(since)),
        ("e.time < ?", None if until is None else int(until) + 1),
        ("w.rowid <= ?", last),
    ):
        if value is not None:
            tests.append(f"AND {test}")
            values.append(value)
    timed = since is not None or until is not None
    return "JOIN entries e ON e.id = w.rowid" if timed else "", " ".join(tests), values


# -- the file ----------------------------------------------------------------------------------------------------------


def _opened(path: str, wait: float = BUSY_SECONDS) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def _is_complete(db: sqlite3.Connection) -> bool:
    """Whether the tables are there: they come with the first commit."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone() is not None


def _create(db: sqlite3.Connection) -> None:
    for statement in TABLES:
        db.execute(statement)
