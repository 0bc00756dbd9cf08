"""One indexer at a time: a lock that the operating system lets go when its holder dies, on every platform SQLite runs
on."""

from __future__ import annotations

import os
import sqlite3


class IndexerLock:
    """Held for a run (or never, for a library in memory). Readers and short writes do not need it."""

    def __init__(self, folder: str | None) -> None:
        self.path = os.path.join(folder, "indexer.lock") if folder else None
        self._held: sqlite3.Connection | None = None

    def acquire(self, wait_seconds: float = 0.0) -> bool:
        """Whether it is ours now."""
        if self.path is None:
            return True
        if not os.path.exists(self.path):
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self.path, timeout=wait_seconds, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            connection.close()
            if "locked" in str(error) or "busy" in str(error):
                return False
            raise
        self._held = connection
        return True

    def release(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
