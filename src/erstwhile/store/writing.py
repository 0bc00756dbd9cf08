"""Writes what one source brings, as one change: all of it becomes visible, or the old version stays.

Unchanged documents at the front of a session keep their rows, so that a file that was rewritten whole costs no more
than one that grew. A very large source is staged in pieces under a negative session id before the one change.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from ..documents import Document, hash64, searched
from ..model import Session, Skipped, Source, Title
from ..places import place as place_of
from ..text import indexed
from .changes import lent_title, link_resumed, refresh_context, remove_documents, remove_session, titled
from .connection import transaction
from .copies import link_copies
from .drafts import Draft
from .rebuilding import drop_staged
from .touched import put_touched

STAGED = 4000
"""Documents held in memory at most before they are staged."""
FAULTS = 100
"""Skipped records, and unknown types, that are remembered of one source; of more only how many there are."""
SAME = "the same session as "
TORN = ("truncated last line", "last zstd frame torn")
"""Faults at a file's end that the next read may find mended."""


SAID = ("user_text", "assistant_text")


def compared(mine: list[tuple[int, str]], theirs: list[tuple[int, str]]) -> int | None:
    """How two conversations under one id, as (digest, kind) of their documents, lie to each other: the same (0), `mine`
    says more (1) or less (-1), or they differ (None). What tools printed does not count: another format may cut it."""
    said, heard = (Counter(digest for digest, kind in some if kind in SAID) for some in (mine, theirs))
    if not said or not heard:
        return None if any(a != b for (a, _), (b, _) in zip(mine, theirs)) else 0
    if said == heard:
        return 0
    return 1 if heard <= said else -1 if said <= heard else None


class Overtaken(Exception):
    """Another process wrote this source since it was looked at; what was read here is dropped."""


class Known(NamedTuple):
    """A source as the store knows it."""

    id: int
    stamp: str
    state: str
    size: int
    resume: dict[str, Any] | None
    version: int


class SourceWriter:
    """Collects one source's sessions and writes them with `finish`. `project_of` gives (project, place) for a cwd.

    `appending` means that the documents continue those in the store; otherwise they are compared with them from the
    first. After `finish`, `fresh` maps each new document id to its tokens as text, for the lexical index.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        source: Source,
        known: Known | None,
        appending: bool,
        project_of: Callable[[str | None], tuple[str | None, str | None]],
    ) -> None:
        self.db, self.source, self.known, self.appending, self.project_of = db, source, known, appending, project_of
        self.drafts: dict[str, Draft] = {}
        self.draft: Draft | None = None
        self.titles: list[Title] = []
        self.skipped: list[Skipped] = []
        self.unknown: dict[str, int] = {}
        self.resume: dict[str, Any] | None = None
        self.fresh: dict[int, str] = {}
        self.held = 0
        self.emptied: set[int] = set()
        """Vanished sources whose session was found again here: the file was moved."""
        self.given_way: list[tuple[int | None, str]] = []
        """(source, session) where the source holds the session, too, and another one shows it; None is this source."""

    # -- collecting ----------------------------------------------------------------------------------------------------

    def session(self, head: Session) -> None:
        """Starts the session `head.id`, or replaces its head."""
        draft = self.drafts.get(head.id)
        if draft is None:
            key, row, rival = self._claim(head.id)
            draft = self.drafts[head.id] = Draft(self.db, key, row, rival, self.appending)
        draft.head = head
        self.draft = draft

    def message(self, index: int, documents: list[Document], parts: int) -> None:
        """Adds a message of the current session, its `parts` cut into `documents`."""
        draft = self.draft
        if draft is None:
            raise ValueError("a message before its session")
        draft.add(index, documents, parts)
        self.held += len(documents)
        if self.held >= STAGED:
            self._stage()

    @property
    def ordinal(self) -> int:
        """The ordinal of the next part of the current session."""
        return self.draft.ordinals if self.draft else 0

    def mark(self, indexes: tuple[int, ...], state: str) -> None:
        if self.draft:
            self.draft.marks.append((indexes, state))

    def _claim(self, key: str) -> tuple[str, Any, Any]:
        """The key to write under, its row if there is one, and the row of a rival: the same key in another source that
        still exists. Which of the two has it is settled by `finish`, when the content is known."""
        own = self.known.id if self.known else None
        row = self._row(key)
        if row is None or row[1] == own:
            return key, row, None
        if row[7] == "vanished":
            self.emptied.add(row[1])
            return key, row, None
        other = f"{key}@{hash64(self.source.path) & 0xFFFFFFFF:08x}"
        return (other, found, None) if (found := self._row(other)) else (key, None, row)

    def _row(self, key: str) -> Any:
        return self.db.execute(
            "SELECT s.id, s.source, s.documents, s.ordinals, s.messages, s.first_text, o.path, o.state"
            " FROM sessions s JOIN sources o ON o.id = s.source WHERE s.key = ?",
            (key,),
        ).fetchone()

    # -- writing -------------------------------------------------------------------------------------------------------

    def _stage(self) -> None:
        with transaction(self.db):
            self._check()
            for draft in self.drafts.values():
                if draft.id is None:
                    draft.id = self._new_session(draft)
                if draft.pending:
                    draft.staged = True
                    self._insert(draft, -draft.id)
        self.fresh.clear()
        self.held = 0

    def finish(self) -> int:
        """Writes everything in one transaction; returns how many documents are new. Raises Overtaken."""
        with transaction(self.db):
            version = self._check()
            for draft in self.drafts.values():
                self._settle(draft)
            source = self._put_source(version)
            new = sum(self._put_session(draft, source) for draft in self.drafts.values() if draft.has_content)
            if not self.appending:
                self._drop_others(source)
            self._put_twins(source)
            self._put_titles(source)
            self._count(source)
            self._drop_emptied()
        if any(draft.staged and not draft.has_content for draft in self.drafts.values()):
            drop_staged(self.db)
        return new

    def withdraw(self) -> None:
        """Takes back what was staged, when the source cannot be read to its end."""
        if any(draft.staged for draft in self.drafts.values()):
            drop_staged(self.db)

    def _check(self) -> int:
        row = self.db.execute(
            "SELECT version FROM sources WHERE agent = ? AND path = ?", (self.source.agent, self.source.path)
        ).fetchone()
        version = row[0] if row else 0
        if version != (self.known.version if self.known else 0):
            raise Overtaken(self.source.path)
        return version

    def _put_source(self, version: int) -> int:
        source = self.source
        self.db.execute(
            "INSERT INTO sources (agent, path, stamp, state, size, slug, role) VALUES (?, ?, '', 'ok', 0, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (source.agent, source.path, source.slug, source.role),
        )
        old = self.db.execute(
            "SELECT id, skipped, unknown FROM sources WHERE agent = ? AND path = ?", (source.agent, source.path)
        ).fetchone()
        skipped, unknown = self.skipped, self.unknown
        if self.appending:
            kept = [Skipped(*s) for s in json.loads(old[1]) if s[1] not in TORN]
            skipped = [*kept, *skipped]
            unknown = {k: json.loads(old[2]).get(k, 0) + unknown.get(k, 0) for k in {*json.loads(old[2]), *unknown}}
        if len(skipped) > FAULTS:
            skipped = [*skipped[:FAULTS], Skipped(None, f"{len(skipped) - FAULTS} more could not be read")]
        if len(unknown) > FAULTS:
            unknown = dict(sorted(unknown.items())[:FAULTS])
        self.db.execute(
            "UPDATE sources SET stamp = ?, state = ?, reason = NULL, size = ?, slug = ?, role = ?, resume = ?,"
            " skipped = ?, unknown = ?, version = ? WHERE id = ?",
            (
                source.stamp,
                "partial" if any(not reason.startswith(SAME) for _, reason in skipped) else "ok",
                source.size,
                source.slug,
                source.role,
                json.dumps(self.resume) if self.resume is not None else None,
                json.dumps(skipped, ensure_ascii=False),
                json.dumps(unknown, ensure_ascii=False),
                version + 1,
                old[0],
            ),
        )
        return old[0]

    def _settle(self, draft: Draft) -> None:
        """Decides between a draft and its rival: the same conversation found twice stays with the fuller one, different
        conversations that share an id both stay, this one under an id of its own."""
        if draft.rival is None or not draft.has_content:
            return
        session, holder, documents, *_, path, _ = draft.rival
        theirs = self.db.execute("SELECT digest, kind FROM documents WHERE session = ? ORDER BY seq", (session,))
        relation = compared(draft.digests, theirs.fetchall())
        if relation is None:
            draft.key = f"{draft.key}@{hash64(self.source.path) & 0xFFFFFFFF:08x}"
        elif relation > 0 or (relation == 0 and draft.seq > documents):
            self.given_way.append((holder, draft.key))
            if draft.staged:
                remove_session(self.db, session)
            else:
                draft.id, draft.replaced_from = session, 0
        else:
            draft.drop()
            self.given_way.append((None, draft.key))
            self.skipped.append(Skipped(None, f"{SAME}{path}"))
            self.resume = None  # what was read is not kept: there is nothing that a later read could go on from

    def _put_twins(self, source: int) -> None:
        """Remembers which sources hold a session that another one shows: they count as copies of it, and are read again
        when that one is gone."""
        self.db.execute("DELETE FROM twins WHERE source = ?", (source,))
        for holder, key in self.given_way:
            self.db.execute("INSERT INTO twins VALUES (?, ?)", (source if holder is None else holder, key))
            if holder is not None:
                self.db.execute(
                    "UPDATE sources SET resume = NULL, skipped = json_insert(skipped, '$[#]', json_array(NULL, ?))"
                    " WHERE id = ?",
                    (f"{SAME}{self.source.path}", holder),
                )
                self._count(holder)

    def _new_session(self, draft: Draft) -> int:
        agent = self.source.agent
        native = draft.key.partition(":")[2]
        source = self.db.execute(
            "SELECT id FROM sources WHERE agent = ? AND path = ?", (self.source.agent, self.source.path)
        ).fetchone()
        if source is None:
            self.db.execute(
                "INSERT INTO sources (agent, path, stamp, state, size) VALUES (?, ?, '', 'partial', 0)",
                (self.source.agent, self.source.path),
            )
            source = self.db.execute("SELECT last_insert_rowid()").fetchone()
        cursor = self.db.execute(
            "INSERT INTO sessions (key, agent, native, source) VALUES (?, ?, ?, ?)",
            (draft.key if draft.rival is None else f"{draft.key}@{self.source.path}", agent, native, source[0]),
        )
        return int(cursor.lastrowid or 0)

    def _put_session(self, draft: Draft, source: int) -> int:
        if draft.id is None:
            draft.id = self._new_session(draft)
        if not self.appending and draft.replaced_from is not None:
            draft.replaced = remove_documents(self.db, draft.id, draft.replaced_from) > 0
        if draft.replaced:  # what is said here may be less now than what a twin holds
            held = "SELECT source FROM twins WHERE session = ?"
            self.db.execute(f"UPDATE sources SET stamp = '' WHERE id IN ({held})", (draft.key,))
        if draft.staged:
            self._insert(draft, -draft.id)
            self.db.execute("INSERT OR IGNORE INTO stale SELECT id FROM documents WHERE session = ?", (-draft.id,))
            self.db.execute("UPDATE documents SET session = ? WHERE session = ?", (draft.id, -draft.id))
            self.db.execute("UPDATE touched SET session = ? WHERE session = ?", (draft.id, -draft.id))
        else:
            self._insert(draft, draft.id)
        self._put_head(draft, draft.id, source)
        self.db.executemany(
            "UPDATE documents SET state = ? WHERE session = ? AND seq = ?",
            [(state, draft.id, seq) for state, seq in draft.restated],
        )
        self._mark(draft)
        link_copies(self.db, draft.id, draft.seq - draft.new, draft.replaced)
        return draft.new

    def _mark(self, draft: Draft) -> None:
        """By place, which is indexed: a fork may leave behind as many messages as the session has."""
        states = {index: state for indexes, state in draft.marks for index in indexes}
        if states:
            places = self.db.execute("SELECT seq, message FROM documents WHERE session = ?", (draft.id,)).fetchall()
            self.db.executemany(
                "UPDATE documents SET state = ? WHERE session = ? AND seq = ?",
                [(states[message], draft.id, seq) for seq, message in places if message in states],
            )

    def _insert(self, draft: Draft, session: int) -> None:
        top = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
        rows: list[tuple[Any, ...]] = []
        texts: list[tuple[int, str]] = []
        headings: list[tuple[int, str]] = []
        calls: list[tuple[int, tuple[str, ...]]] = []
        length = characters = 0
        for number, (seq, d) in enumerate(draft.pending, (top[0] if top else 0) + 1):
            packed, self.fresh[number] = indexed(searched(d.heading, d.text))
            count = len(packed) // 4
            length += count
            characters += len(d.text)
            rows.append(
                (number, session, seq, d.message, d.ordinal, d.piece, d.kind, d.role, d.tool, d.time, d.state, d.record,
                 d.digest, len(d.text), count, packed)
            )  # fmt: skip
            texts.append((number, d.text))
            if d.heading:
                headings.append((number, d.heading))
            if d.paths:
                calls.append((number, d.paths))
        self.db.executemany(
            "INSERT INTO documents (id, session, seq, message, ordinal, piece, kind, role, tool, time, state, record,"
            f" digest, characters, length, tokens) VALUES ({','.join('?' * 16)})",
            rows,
        )
        self.db.executemany("INSERT INTO texts VALUES (?, ?)", texts)
        self.db.executemany("INSERT INTO headings VALUES (?, ?)", headings)
        put_touched(self.db, session, draft.head.cwd, calls)
        self.db.execute(
            "UPDATE totals SET documents = documents + ?, tokens = tokens + ?, characters = characters + ?",
            (len(rows), length, characters),
        )
        draft.new += len(rows)
        draft.pending.clear()

    def _put_head(self, draft: Draft, session: int, source: int) -> None:
        head, key = draft.head, draft.key
        project, place = self.project_of(head.cwd)
        span = self.db.execute(
            "SELECT min(time), max(time), max(CASE WHEN kind = 'summary' THEN message END), count(*)"
            " FROM documents WHERE session = ?",
            (session,),
        ).fetchone()
        self.db.execute(  # moved from another collection: its index entries name that one
            "INSERT OR IGNORE INTO stale SELECT d.id FROM sessions s JOIN documents d ON d.session = s.id"
            " WHERE s.id = ? AND s.collection <> ?",
            (session, head.collection),
        )
        self.db.execute(
            "UPDATE sessions SET key = ?, native = ?, source = ?, live = 1, own_title = ?, title = ?, first_text = ?,"
            " project = ?, place = ?, cwd = ?, cwd_place = ?, branch = ?, model = ?, started = ?, ended = ?,"
            " parent = ?, relation = ?, parent_guessed = 0, archived = ?, origin = ?, messages = ?, documents = ?,"
            " ordinals = ?, summary_at = ?, collection = ?, slug = ?, lends = ?, content = ? WHERE id = ?",
            (
                key,
                key.partition(":")[2],
                source,
                head.title,
                head.title or lent_title(self.db, key, session),
                draft.first_text,
                project,
                place,
                head.cwd,
                place_of(head.cwd) if head.cwd else None,
                head.branch,
                head.model,
                head.started if head.started is not None else span[0],
                head.ended if head.ended is not None else span[1],
                *self._parent(draft, session),
                int(head.archived),
                head.origin,
                head.messages if head.messages is not None else draft.messages,
                span[3],
                draft.ordinals,
                span[2],
                head.collection,
                head.slug,
                head.lends,
                head.content,
                session,
            ),
        )
        refresh_context(self.db, session, draft.new)
        first_new = draft.seq - draft.new
        link_resumed(self.db, session, first_new)
        self._children(key)

    def _parent(self, draft: Draft, session: int) -> tuple[str | None, str | None]:
        """What the session came from, and how. One that had to take an id of its own, and that begins as the session
        whose id it has, went on elsewhere from there."""
        head = draft.head
        if head.parent is None and head.relation is None and draft.key != head.id:
            begun = "SELECT d.digest FROM documents d JOIN sessions s ON s.id = d.session WHERE {} = ? AND d.seq = 0"
            first = self.db.execute(begun.format("s.id"), (session,)).fetchone()
            if first is not None and first == self.db.execute(begun.format("s.key"), (head.id,)).fetchone():
                return head.id, "fork"
        return head.parent, head.relation

    def _children(self, key: str) -> None:
        """Sub-agents without a project of their own are found under their parent's: their index entries name it."""
        self.db.execute(
            "INSERT OR IGNORE INTO stale SELECT d.id FROM sessions s JOIN documents d ON d.session = s.id"
            " WHERE s.parent = ? AND s.relation = 'subagent' AND s.place IS NULL",
            (key,),
        )

    def _drop_others(self, source: int) -> None:
        kept = {draft.id for draft in self.drafts.values() if draft.has_content}
        for (session,) in self.db.execute("SELECT id FROM sessions WHERE source = ?", (source,)).fetchall():
            if session not in kept:
                remove_session(self.db, session)

    def _drop_emptied(self) -> None:
        for source in self.emptied:
            if self.db.execute("SELECT 1 FROM sessions WHERE source = ? LIMIT 1", (source,)).fetchone() is None:
                self.db.execute("DELETE FROM titles WHERE source = ?", (source,))
                self.db.execute("DELETE FROM twins WHERE source = ?", (source,))
                self.db.execute("DELETE FROM sources WHERE id = ?", (source,))

    def _put_titles(self, source: int) -> None:
        """Titles for sessions of other sources; those that are no longer held are taken back."""
        retitled = titled(self.db, source)
        if not self.appending:
            self.db.execute("DELETE FROM titles WHERE source = ?", (source,))
        for title in self.titles:
            record = hash64(title.record) if title.record else None
            self.db.execute("INSERT INTO titles VALUES (?, ?, ?, ?)", (source, title.session, record, title.text))
        for session, key in retitled | titled(self.db, source):
            self.db.execute("UPDATE sessions SET title = ? WHERE id = ?", (lent_title(self.db, key, session), session))
            refresh_context(self.db, session, 0)

    def _count(self, source: int) -> None:
        self.db.execute(
            "UPDATE sources SET (sessions, messages) ="
            " (SELECT count(*), coalesce(sum(messages), 0) FROM sessions WHERE source = ?1 AND live) WHERE id = ?1",
            (source,),
        )
        self.db.execute(
            "UPDATE sources SET best_documents = now, best_size = size FROM"
            " (SELECT coalesce(sum(documents), 0) AS now FROM sessions WHERE source = ?1 AND live)"
            " WHERE id = ?1 AND now > best_documents",
            (source,),
        )
