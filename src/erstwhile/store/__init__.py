"""The SQLite file that is the truth: sources, sessions, documents, statistics. The only package that writes SQL."""

from __future__ import annotations

from .connection import open_database, snapshot, transaction

__all__ = ["open_database", "snapshot", "transaction"]
