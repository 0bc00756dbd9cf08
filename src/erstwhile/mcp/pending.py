"""What a call says while the index is still being built: a session that is not there may be there in a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from erstwhile.errors import NotFound, Refused
from erstwhile.library import Library
from erstwhile.model import Coverage, Note

T = TypeVar("T")


def pending_note(seen: Coverage) -> list[Note]:
    """The note `index_pending`, where it is true."""
    if not seen.pending:
        return []
    many = "1 source is" if seen.pending == 1 else f"{seen.pending} sources are"
    text = f"{many} still being indexed; ask again in a moment for a complete answer"
    return [Note("index_pending", text, seen.pending)]


def awaiting(question: Callable[[Library], T]) -> Callable[[Library], T]:
    """The question, whose NotFound and Refused tell when the index is not complete."""

    def asked(library: Library) -> T:
        try:
            return question(library)
        except (NotFound, Refused) as error:
            notes = pending_note(library.coverage())
            raise type(error)("; ".join([str(error), *(note.text for note in notes)])) from error

    return asked
