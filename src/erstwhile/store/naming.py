"""Which values a filter may name: those that the sessions and documents have. Asked when a filter fits nothing."""

from __future__ import annotations

import sqlite3

from ..values import Any

_VALUES = {
    "agent": "SELECT DISTINCT agent FROM sessions WHERE live",
    "tool": "SELECT DISTINCT tool FROM documents WHERE tool IS NOT NULL",
    "kind": "SELECT DISTINCT kind FROM documents",
    "role": "SELECT DISTINCT role FROM documents",
    "project": "SELECT DISTINCT place FROM sessions WHERE live AND place IS NOT NULL",
    "collection": "SELECT DISTINCT collection FROM sessions WHERE live AND collection IS NOT NULL",
    "file": "SELECT DISTINCT name FROM paths",
}


def values(db: sqlite3.Connection, field: str) -> list[str]:
    """What the field may be asked for, in order; nothing for a field that takes any text."""
    sql = _VALUES.get(field)
    return sorted(row[0] for row in db.execute(sql)) if sql else []


def span(db: sqlite3.Connection) -> tuple[Any, Any]:
    """When the first session began and the last one ended; None where no session says."""
    return db.execute("SELECT min(started), max(ended) FROM sessions WHERE live").fetchone()
