"""Given the tokens of a question, which documents are worth scoring? The tantivy index: derived, disposable, only a
proposer.

Knows tokens, tags and ids; no texts, no sessions, no scores that anyone sees.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from zlib import crc32

import tantivy

from .errors import StoreError
from .lexical_types import Busy, Damaged, Entry, Proposal
from .plan import Want
from .ranking import K1, promising
from .values import Any

SCHEMA = 3
"""Goes up whenever what is put into the index changes; with the tokenizer's version it names the index's folder."""
HEAP = 64_000_000
BLOCK = 4096
"""Ids that share a tag, by which the largest one is found."""


NARROWING = 10
"""100 are proposed of 1,000 that are looked at, 300 of 9,000."""
WIDEST = 10_000
FEW = 100
"""Alternatives of a filter that are asked one by one; more of them as one set."""
SPECIAL = frozenset(r".^$*+?()[]{}\|&~@#<>-")
SCALE = 1 + K1
"""tantivy's BM25 has this factor, ours has not."""


class Lexical:
    """The index in `folder`, or one in memory for None. Several processes may read while one writes."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self._schema = _schema()
        self._index: tantivy.Index | None = None
        self._searcher: tantivy.Searcher | None = None
        self._seen: object = None
        self._mark: int | None = None
        if folder is None:
            self._index = tantivy.Index(self._schema)

    # -- reading -------------------------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Sees the last commit; False when there is no index yet."""
        if self.folder is None:
            assert self._index is not None
            self._index.reload()
            self._searcher, self._mark = self._index.searcher(), None
            return True
        try:
            stat = os.stat(os.path.join(self.folder, "meta.json"))
        except OSError:
            self._index = self._searcher = None
            return False
        seen = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if seen != self._seen or self._searcher is None:
            self._open()
            self._seen = seen
        return True

    def _open(self) -> None:
        assert self.folder is not None
        try:
            with guarded(self.folder):
                if self._index is None:
                    self._index = tantivy.Index.open(self.folder)
                else:
                    self._index.reload()
                self._searcher, self._mark = self._index.searcher(), None
        except BaseException:
            self._index = self._searcher = None
            raise

    @property
    def mark(self) -> int:
        """The largest document id in the index: everything above it is scored directly."""
        if self._mark is None:
            with guarded(self.folder):
                self._mark = self._largest() if self._searcher else 0
        return self._mark

    def _largest(self) -> int:
        """By the highest block of ids that still has a document: a look at all ids would cost more than a search."""
        assert self._searcher is not None
        blocks = sorted((int(term[2:]) for term, _ in self._searcher.terms_with_prefix("tags", "n:")), reverse=True)
        for block in blocks:
            query = tantivy.Query.term_query(self._schema, "tags", f"n:{block}", "basic")
            if found := self._searcher.search(query, 1, count=False, order_by_field="id").hits:
                return int(found[0][0])
        return 0

    def frequency_of(self, want: Want) -> int:
        """In how many documents the piece may stand: all of its parts, or one of its tokens."""
        if self._searcher is None:
            return 0
        with guarded(self.folder):
            if not want.all_of and len(want.any_of) == 1:
                return self._searcher.doc_freq("text", want.any_of[0])
            found = self._searcher.search(self._piece(want), 1, count=True)
            return int(found.count or 0)  # type: ignore[attr-defined]

    def terms(self, prefix: str, limit: int) -> list[str]:
        """The tokens that begin so, the `limit` commonest."""
        if self._searcher is None:
            return []
        with guarded(self.folder):
            return [term for term, _ in self._searcher.terms_with_prefix("text", prefix, limit=limit)]

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
        """The `limit` most promising of those that tantivy's own BM25 puts first among what fits."""
        if self._searcher is None:
            return Proposal([], True)
        with guarded(self.folder):
            wants = list(wants)
            wide = max(limit, min(limit * limit // NARROWING, WIDEST))
            ids, scores, lengths = self._found(self._query(wants, tags, since, until, last), wide)
            if len(ids) <= limit:
                return Proposal(ids, True)
            if since is None and until is None and not any(map(_divides, tags)):
                return Proposal(promising(ids, scores, lengths, highest, limit), False)
            # what the filter leaves out still stands beside what fits: without it .964 of the top ten are found
            asked = [want._replace(required=False) for want in wants if not want.excluded]
            around = self._found(self._query(asked, [t for t in tags if not _divides(t)], None, None, last), wide)
            known = {n: (score, length) for n, score, length in zip(*around)}
            known |= {n: (score, length) for n, score, length in zip(ids, scores, lengths)}
            seen, sizes = zip(*known.values())
            ranked = promising(list(known), seen, sizes, highest, len(known))
            fitting = set(ids)
            return Proposal([number for number in ranked if number in fitting][:limit], False)

    def _found(self, query: tantivy.Query, limit: int) -> tuple[list[int], list[float], list[int]]:
        """Ids, BM25 as ours, and lengths of the documents that score best."""
        assert self._searcher is not None
        hits = self._searcher.search(query, limit, count=False).hits
        where = [address for _, address in hits]
        ids: Any = self._searcher.fast_field_values("id", where)  # every document has both fields
        lengths: Any = self._searcher.fast_field_values("length", where)
        scores: Any = [score / SCALE for score, _ in hits]
        return ids, scores, lengths

    def _query(
        self, wants: Iterable[Want], tags: list[list[str]], since: float | None, until: float | None, last: int | None
    ) -> tantivy.Query:
        must, should = tantivy.Occur.Must, tantivy.Occur.Should
        clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []
        words: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for want in wants:
            piece = self._piece(want)
            if want.excluded:
                clauses.append((tantivy.Occur.MustNot, piece))
            elif want.required:
                clauses.append((must, piece))
            else:
                words.append((should, piece))
        required = any(occur == must for occur, _ in clauses)
        if words and required:
            clauses += words
        elif words:
            clauses.append((must, tantivy.Query.boolean_query(words)))
        for group in tags:
            clauses.append((must, _unscored(self._one_of(group))))
        if since is not None or until is not None:
            clauses.append((must, _unscored(self._range("time", since, until))))
        if last is not None:
            clauses.append((must, _unscored(self._range("id", None, last + 1))))
        return tantivy.Query.boolean_query(clauses)

    def _one_of(self, group: list[str]) -> tantivy.Query:
        if len(group) > FEW:
            return tantivy.Query.term_set_query(self._schema, "tags", [_tag(tag) for tag in group])
        terms = [tantivy.Query.term_query(self._schema, "tags", _tag(tag), "basic") for tag in group]
        if len(terms) == 1:
            return terms[0]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])

    def _piece(self, want: Want) -> tantivy.Query:
        choices = [self._term(token) for token in want.any_of]
        if want.inside:
            inside = "".join(f"\\{c}" if c in SPECIAL else c for c in want.inside)
            choices.append(tantivy.Query.regex_query(self._schema, "text", f".*{inside}.*"))
        if want.all_of:
            parts = [(tantivy.Occur.Must, self._term(token)) for token in want.all_of]
            # the piece counts once: without this a compound weighs as much as all its parts and its whole together
            choices.append(tantivy.Query.boost_query(tantivy.Query.boolean_query(parts), 1 / len(parts)))
        return choices[0] if len(choices) == 1 else tantivy.Query.disjunction_max_query(choices)

    def _term(self, token: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "text", token, "freq")

    def _range(self, field: str, lower: float | None, upper: float | None) -> tantivy.Query:
        """lower <= value < upper, in whole numbers (fractions of a second are settled by the store)."""
        return tantivy.Query.range_query(
            self._schema,
            field,
            tantivy.FieldType.Integer,
            lower_bound=None if lower is None else int(lower),
            upper_bound=None if upper is None else int(upper) + (field == "time"),
            include_upper=upper is None,  # tantivy refuses an open side that is said to be exclusive
        )

    # -- writing -------------------------------------------------------------------------------------------------------

    def writer(self) -> LexicalWriter:
        """Opens the one writer. Raises Busy when another process has it."""
        if self.folder is not None:
            os.makedirs(self.folder, 0o700, exist_ok=True)
        try:
            if self._index is None:
                # opened anew before each writer: stale in-memory metadata leaves orphan segments behind
                self._index = tantivy.Index(self._schema, self.folder)
            return LexicalWriter(self._index.writer(HEAP, 1), self.folder)
        except ValueError as error:
            if "lock" in str(error).lower():
                raise Busy(str(error)) from error
            raise Damaged(f"cannot write the index in {self.folder}: {error}") from error

    def forget(self) -> None:
        """Drops the open index, so that the next refresh opens it anew."""
        if self.folder is not None:
            self._index = self._searcher = self._seen = None


@contextmanager
def guarded(folder: str | None) -> Generator[None]:
    """Turns whatever tantivy raises over damaged files into Damaged: its panics are no Exceptions, and would end us."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise Damaged(f"the index in {folder} cannot be read ({error})") from error


class LexicalWriter:
    def __init__(self, writer: tantivy.IndexWriter, folder: str | None) -> None:
        self._writer, self._folder = writer, folder

    def add(self, entry: Entry) -> None:
        document = tantivy.Document()
        document.add_text("text", entry.tokens)
        # one text, not one a tag: a dozen calls a document cost as much as adding it
        document.add_text("tags", " ".join([*map(_tag, entry.tags), f"n:{entry.id // BLOCK}"]))
        document.add_integer("id", entry.id)
        document.add_integer("time", entry.time)
        document.add_integer("length", entry.length)
        self._writer.add_document(document)

    def remove(self, number: int) -> None:
        self._writer.delete_documents_by_term("id", number)

    def commit(self) -> None:
        """Raises StoreError when the disk does not take it; nothing is lost, the store still has everything."""
        try:
            self._writer.commit()
        except (ValueError, OSError) as error:
            raise StoreError(f"cannot write the index: {error}") from error

    def close(self) -> None:
        """Waits for running merges and lets the lock go. The files are then the owner's alone, as all in ERST_HOME."""
        self._writer.wait_merging_threads()
        for entry in os.scandir(self._folder) if self._folder else ():
            try:
                if entry.stat().st_mode & 0o077:
                    os.chmod(entry.path, 0o600)
            except OSError:  # merged away by the next writer
                continue


def _tag(tag: str) -> str:
    """The tag as one word: names of folders may hold spaces."""
    if tag.isascii() and " " not in tag:
        return tag
    return f"{'_'.join(tag.split())}~{crc32(tag.encode('utf-8', 'replace')):x}"


def _divides(group: list[str]) -> bool:
    """Whether the tags tell the documents of one session apart: by kind, role or tool."""
    return group[0][:2] in ("k:", "r:", "t:")


def _unscored(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("tags", tokenizer_name="whitespace", index_option="basic")
    builder.add_integer_field("id", indexed=True, fast=True)
    builder.add_integer_field("time", indexed=True, fast=True)
    builder.add_integer_field("length", fast=True)
    return builder.build()
