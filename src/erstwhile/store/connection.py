"""Opens the SQLite file and maps SQLite's errors to ours, once. Knows nothing about what the tables mean."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from ..errors import ErstError, StoreError
from ..text import VERSION
from .migrations import MIGRATIONS, migrate

APPLICATION_ID = 0x65727374
"""`erst`, in the file's header: a database without it is somebody else's and is left alone."""
BUSY_MS = 5000
NAME = "store.db"


def open_database(folder: str) -> sqlite3.Connection:
    """The store in `folder` (created owner-only if missing), or one in memory for ":memory:". Raises StoreError."""
    path = folder if folder == ":memory:" else os.path.join(folder, NAME)
    with mapped(path):
        if path != ":memory:":
            _create(folder, path)
        db = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, path)
        except BaseException:
            db.close()
            raise
        return db


def _create(folder: str, path: str) -> None:
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700)
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _prepare(db: sqlite3.Connection, path: str) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    owner = db.execute("PRAGMA application_id").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != APPLICATION_ID and tables:
        raise StoreError(
            f"{path} is a database of another program; erstwhile leaves it alone. Choose another ERST_HOME"
        )
    if version > len(MIGRATIONS):
        raise StoreError(f"{path} was written by a newer erstwhile (schema {version}); update erstwhile to read it")
    # 32 MB of cache: an index run touches the same b-tree pages over and over
    db.execute("PRAGMA cache_size = -32768")
    if version < len(MIGRATIONS):
        # rows of 1 to 2 KB: a first index takes a fifth less CPU than with pages of 4 KB
        db.execute("PRAGMA page_size = 8192")
        db.execute("PRAGMA journal_mode = WAL")
        _migrate(db)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA temp_store = MEMORY")


def _migrate(db: sqlite3.Connection) -> None:
    with transaction(db):
        version = db.execute("PRAGMA user_version").fetchone()[0]  # another process may have been faster
        db.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
        migrate(db, version)
        if not version:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('tokenizer', ?)", (str(VERSION),))


@contextmanager
def transaction(db: sqlite3.Connection) -> Generator[None]:
    """A write transaction: all of it or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise


@contextmanager
def snapshot(db: sqlite3.Connection) -> Generator[None]:
    """A read transaction: everything inside sees one state of the store."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        _roll_back(db)


def _roll_back(db: sqlite3.Connection) -> None:
    """Ends the transaction, if there is one. Again when that fails: an interruption may hit it in place of the
    question."""
    for last in (False, True):
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
            return
        except sqlite3.OperationalError:
            if last:
                raise


@contextmanager
def mapped(path: str) -> Generator[None]:
    """Turns errors of SQLite and of the file system into StoreError with one sentence a person can act on."""
    try:
        yield
    except ErstError:
        raise
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, str(error))) from error
    except OSError as error:
        place = error.filename or path
        raise StoreError(
            f"cannot use {place}: {error.strerror or error}. Set ERST_HOME to a folder you can write"
        ) from error


def _sentence(path: str, message: str) -> str:
    if "full" in message:
        return f"the disk of {path} is full; free some space and run the command again, nothing was lost"
    if "locked" in message or "busy" in message:
        return f"{path} is locked by another program; try again when it is done"
    if "readonly" in message or "unable to open" in message:
        return f"cannot write {path}; set ERST_HOME to a folder you can write"
    if "not a database" in message or "malformed" in message:
        return (
            f"{path} is not a readable erstwhile store ({message}); it was left as it is. Move it away to start afresh"
        )
    return f"{path}: {message}"
