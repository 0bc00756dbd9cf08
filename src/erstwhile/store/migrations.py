"""Schema changes of the store, each applied once, in order, in one transaction with its record. Never edit an old
one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

M001 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- What is checked for change. `version` counts the writes, so that a writer notices that another one was faster.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL, state TEXT NOT NULL,
  reason TEXT, size INTEGER NOT NULL, slug TEXT, role TEXT, resume TEXT, skipped TEXT NOT NULL DEFAULT '[]',
  unknown TEXT NOT NULL DEFAULT '{}', sessions INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 0, UNIQUE (agent, path));

-- `title` is the recorded title (its own, else one that another source holds); `first_text` stands in for a missing
-- one. `place` and `cwd_place` are project and cwd in the form that folders are compared in. `context` holds the packed
-- tokens a document inherits.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, native TEXT NOT NULL,
  source INTEGER NOT NULL REFERENCES sources (id), live INTEGER NOT NULL DEFAULT 0, title TEXT, own_title TEXT,
  first_text TEXT, project TEXT, place TEXT, cwd TEXT, cwd_place TEXT, branch TEXT, model TEXT, started REAL, ended
  REAL, parent TEXT,
  relation TEXT, archived INTEGER NOT NULL DEFAULT 0, origin TEXT, messages INTEGER NOT NULL DEFAULT 0,
  documents INTEGER NOT NULL DEFAULT 0, ordinals INTEGER NOT NULL DEFAULT 0, summary_at INTEGER,
  context TEXT NOT NULL DEFAULT '', context_tokens BLOB NOT NULL DEFAULT x'');
CREATE INDEX session_source ON sessions (source);
CREATE INDEX session_native ON sessions (native);
CREATE INDEX session_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX session_place ON sessions (place);
CREATE INDEX session_cwd ON sessions (cwd_place);
CREATE INDEX session_unplaced ON sessions (agent) WHERE place IS NULL;
CREATE INDEX session_ended ON sessions (ended, key);

-- `session` is negative while a very large source is staged: no session has that id, so nothing shows it.
-- `tokens` is text.pack of the document's own tokens; `length` is their number.
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, seq INTEGER NOT NULL, message INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, piece INTEGER NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL, tool TEXT, time REAL,
  state TEXT, record INTEGER, digest INTEGER NOT NULL, characters INTEGER NOT NULL, length INTEGER NOT NULL,
  tokens BLOB NOT NULL);
CREATE UNIQUE INDEX document_place ON documents (session, seq);
CREATE INDEX document_record ON documents (record) WHERE record IS NOT NULL;
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- Titles that one source holds for a session of another.
CREATE TABLE titles (
  source INTEGER NOT NULL REFERENCES sources (id), session TEXT, record INTEGER, text TEXT NOT NULL);
CREATE INDEX title_session ON titles (session);
CREATE INDEX title_record ON titles (record) WHERE record IS NOT NULL;
CREATE INDEX title_source ON titles (source);

-- Documents whose entry in the lexical index is out of date: gone, or to be added again.
CREATE TABLE stale (id INTEGER PRIMARY KEY);

-- BM25's collection statistics: one row.
CREATE TABLE totals (
  documents INTEGER NOT NULL, tokens INTEGER NOT NULL, context INTEGER NOT NULL, characters INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 0, 0);
"""


def m001_sessions_documents_and_statistics(db: sqlite3.Connection) -> None:
    for statement in M001.split(";\n"):
        db.execute(statement)


def m002_yield_of_sources(db: sqlite3.Connection) -> None:
    """The most documents that a source ever gave, and its size when their number last rose: less is a sign of drift."""
    db.execute("ALTER TABLE sources ADD COLUMN best_documents INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE sources ADD COLUMN best_size INTEGER NOT NULL DEFAULT 0")
    db.execute(
        "UPDATE sources SET best_size = size, best_documents ="
        " (SELECT coalesce(sum(documents), 0) FROM sessions s WHERE s.source = sources.id AND s.live)"
    )


M003 = """
-- Folders that the user added: collections of notes by name (agent `markdown`), further roots of other agents.
CREATE TABLE added (agent TEXT NOT NULL, path TEXT NOT NULL, collection TEXT, PRIMARY KEY (agent, path)) WITHOUT ROWID;
CREATE UNIQUE INDEX added_collection ON added (collection COLLATE NOCASE);

-- `lends` is what documents inherit besides title and project; `content` tells a renamed source by its bytes.
ALTER TABLE sessions ADD COLUMN collection TEXT;
ALTER TABLE sessions ADD COLUMN slug TEXT;
ALTER TABLE sessions ADD COLUMN lends TEXT;
ALTER TABLE sessions ADD COLUMN content INTEGER;
CREATE INDEX session_collection ON sessions (collection) WHERE collection IS NOT NULL;

-- The nearest heading of a document, where it has one, and the text that is searched: the heading and the text.
CREATE TABLE headings (id INTEGER PRIMARY KEY, heading TEXT NOT NULL);
CREATE VIEW searched AS SELECT t.id AS id, coalesce(h.heading || char(10), '') || t.text AS text
  FROM texts t LEFT JOIN headings h ON h.id = t.id;
"""


def m003_collections_and_headings(db: sqlite3.Connection) -> None:
    for statement in M003.split(";\n"):
        db.execute(statement)


M004 = """
-- Which calls touched which path, as `touching.touched` spells it; `name` is its last part. `session` is negative while
-- a very large source is staged, as in `documents`.
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE INDEX path_name ON paths (name);
CREATE TABLE touched (
  path INTEGER NOT NULL REFERENCES paths (id), session INTEGER NOT NULL, document INTEGER NOT NULL,
  PRIMARY KEY (path, session, document)) WITHOUT ROWID;
CREATE INDEX touched_document ON touched (document);
CREATE INDEX touched_session ON touched (session);
INSERT INTO meta SELECT 'touched-up-to', '0' WHERE EXISTS (SELECT 1 FROM documents);
"""


def m004_paths_that_calls_touched(db: sqlite3.Connection) -> None:
    for statement in M004.split(";\n"):
        db.execute(statement)


M005 = """
-- `copied` is the same in all copies of a document that lineage links and that no record id of the agent's links.
ALTER TABLE documents ADD COLUMN copied INTEGER;
CREATE INDEX document_copied ON documents (copied) WHERE copied IS NOT NULL;
CREATE INDEX document_said ON documents (digest) WHERE kind IN ('user_text', 'assistant_text');

-- Whether `parent` is only the session that an archive has most in common with: a better one may come.
ALTER TABLE sessions ADD COLUMN parent_guessed INTEGER NOT NULL DEFAULT 0;

-- Sources that hold a session, too, which lives from another source: the same file in two folders, a migrated store.
CREATE TABLE twins (source INTEGER NOT NULL REFERENCES sources (id), session TEXT NOT NULL);
CREATE INDEX twin_session ON twins (session);
CREATE INDEX twin_source ON twins (source);

-- What was written before is linked when it is read again.
UPDATE sources SET stamp = '', resume = NULL WHERE skipped LIKE '%the same session as %'
  OR id IN (SELECT source FROM sessions WHERE parent IS NOT NULL OR relation IS NOT NULL)
"""


def m005_copies_and_twins(db: sqlite3.Connection) -> None:
    for statement in M005.split(";\n"):
        db.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_sessions_documents_and_statistics,
    m002_yield_of_sources,
    m003_collections_and_headings,
    m004_paths_that_calls_touched,
    m005_copies_and_twins,
)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Brings a store of schema `version` to the newest one; the caller holds the write transaction."""
    for number, change in enumerate(MIGRATIONS[version:], version + 1):
        change(db)
        db.execute(f"PRAGMA user_version = {number:d}")
