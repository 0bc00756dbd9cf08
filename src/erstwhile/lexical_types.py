"""What search and indexing need of a lexical index, whichever engine stands behind it."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from .plan import Want


class Busy(Exception):
    """Another process is writing the index; what is missing there is scored directly meanwhile."""


class Proposal(NamedTuple):
    ids: list[int]
    complete: bool
    """Whether these are all the documents that fit."""


class Entry(NamedTuple):
    """One document as the index holds it: own and inherited tokens joined by spaces, tags, and its time in seconds."""

    id: int
    tokens: str
    tags: list[str]
    time: int
    length: int
    """Its own tokens; negative when it is short and borrows from its neighbours."""


class IndexWriter(Protocol):
    def add(self, entry: Entry) -> None:
        """Adds a document that the index does not hold."""
        ...

    def remove(self, number: int) -> None:
        """Removes a document; one that is not there is no fault."""
        ...

    def commit(self) -> None:
        """Makes everything visible at once. Raises StoreError when the disk does not take it."""
        ...

    def close(self) -> None:
        """Lets the lock go."""
        ...


class Index(Protocol):
    """A derived, disposable index that proposes documents. It decides nothing: scores come from the store."""

    def refresh(self) -> bool:
        """Sees the last commit; False when there is no index yet."""
        ...

    @property
    def mark(self) -> int:
        """The largest document id in the index: everything above it is scored directly."""
        ...

    def frequency_of(self, want: Want) -> int:
        """In how many documents the piece may stand: one of its tokens, or all of its parts."""
        ...

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
        """About `limit` documents that promise the best exact scores among those that carry a tag of each group;
        `highest` is the score that no document can exceed (the sum of the pieces' weights)."""
        ...

    def forget(self) -> None:
        """Lets go of open files; the next refresh opens them anew."""
        ...

    def writer(self) -> IndexWriter:
        """Opens the one writer. Raises Busy when another process has it."""
        ...
