"""Chooses the lexical index: tantivy's, or SQLite's FTS5 where tantivy cannot be imported. Its folder is named by versions."""

from __future__ import annotations

import os

from .lexical_types import Index
from .text import VERSION


def open_index(folder: str | None) -> Index:
    """The index below `folder`, or one in memory for None."""
    try:
        from .lexical import SCHEMA, Lexical
    except ImportError:
        from .lexical_fts import SCHEMA, LexicalFts

        return LexicalFts(os.path.join(folder, f"fts-{SCHEMA}-{VERSION}.db") if folder else None)
    return Lexical(os.path.join(folder, f"lexical-{SCHEMA}-{VERSION}") if folder else None)
