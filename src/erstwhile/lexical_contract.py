"""What search and indexing need of a lexical index. For type checkers only: nothing imports it when erst runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .lexical_types import Entry, Proposal
from .plan import Want


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

    def terms(self, prefix: str, limit: int) -> list[str]:
        """The tokens that begin so, own or inherited ones of any document; the `limit` commonest, those first."""
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
