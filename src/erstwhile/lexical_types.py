"""What a lexical index takes and gives, whichever engine stands behind it; what it must do is in lexical_contract."""

from __future__ import annotations

from .errors import StoreError
from .values import NamedTuple


class Damaged(StoreError):
    """The index cannot be read: it is set aside and built anew from the store."""


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
