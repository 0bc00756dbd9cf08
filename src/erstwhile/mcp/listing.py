"""Lists of rows as a reply: as many as the cap allows, in the text and in the data, and a word about the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from erstwhile.mcp.framing import CAP, NOTICE, clean, fitting, weight
from erstwhile.mcp.tool import Reply
from erstwhile.model import Note

AROUND = 5000
"""Room kept for what stands around the rows in the text."""


def listed(
    before: Sequence[str],
    rows: Sequence[str],
    after: Sequence[str],
    data: dict[str, Any],
    key: str,
    notes: Sequence[Note],
    notice: str = NOTICE,
) -> Reply:
    """The lines before, the rows, the lines after; and `data`, whose list `key` holds the rows' data, with notes."""
    shown = fitting([len(row) + 1 for row in rows], CAP - AROUND)
    cut = [f"[cut: {len(rows) - shown} more rows; ask with limit={shown} and follow next_cursor for all of them]"]
    lines = [*before, *rows[:shown], *(cut if shown < len(rows) else ()), *after]
    return Reply("\n".join(lines), _within(data | {"notice": notice}, key, notes))


def _within(data: dict[str, Any], key: str, notes: Sequence[Note]) -> dict[str, Any]:
    """The data with its notes, and with as many rows as fit."""
    shape: dict[str, Any] = clean(data | {"notes": [note._asdict() for note in notes]})
    rows: list[Any] = shape[key]
    shown = fitting([weight(row) + 2 for row in rows], CAP - weight(shape | {key: []}) - 500)
    if shown < len(rows):
        said = f"these are {shown} of {len(rows)} rows; ask with limit={shown} and follow next_cursor for all of them"
        shape[key] = rows[:shown]
        shape["notes"].append(Note("capped", said, len(rows) - shown)._asdict())
    return shape
