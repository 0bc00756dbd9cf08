"""Links the copies of documents: what a fork, a resumed session or a compaction's archive repeats of its original.

Copies of one document get the same `copied`, unless the agent's own record ids say it already. Equal text is a copy
only where lineage links the sessions and the text stands where the copied part of the conversation is. The caller holds
the transaction.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from typing import NamedTuple

COPYING = ("fork", "resume", "compaction")
"""How a session comes to hold what another one said. A sub-agent does only where its agent marks it as inherited."""
GAP = 64
"""Documents of the original that an unmarked copy may leave out at a time: reasoning, turns that were rolled back."""


class _Copy(NamedTuple):
    id: int
    digest: int
    time: float | None
    record: int | None
    """`copied`, else the agent's record."""
    inherited: bool


class _Kin(NamedTuple):
    id: int
    key: str
    agent: str
    parent: str | None
    relation: str | None


def link_copies(db: sqlite3.Connection, session: int, first_new: int, replaced: bool) -> None:
    """Links the session with what it came from and with what came from it, after its documents from `first_new` on were
    written; `replaced` when others stood there before."""
    own = _kin(db, "id = ?", session)
    if own is None:
        return
    own = _adopted(db, own)
    if (first_new == 0 or replaced or _copied_at(db, session, first_new - 1)) and (other := _original(db, own)):
        _align(db, own, other)
    for child in _children(db, own.key):
        if first_new == 0 or replaced or child.relation == "compaction" or _copied_at(db, child.id, None):
            _align(db, child, own)


def _kin(db: sqlite3.Connection, test: str, *values: object) -> _Kin | None:
    row = db.execute(f"SELECT id, key, agent, parent, relation FROM sessions WHERE live AND {test}", values).fetchone()
    return _Kin(*row) if row else None


def _original(db: sqlite3.Connection, own: _Kin) -> _Kin | None:
    """The session that this one copied from: its parent, or the oldest other copy while the parent is not known."""
    if own.parent is None or own.parent == own.key:
        return None
    return _kin(db, "key = ?", own.parent) or _kin(
        db, "parent = ? AND id <> ? ORDER BY started, ended, key LIMIT 1", own.parent, own.id
    )


def _children(db: sqlite3.Connection, key: str) -> list[_Kin]:
    found = db.execute(
        "SELECT id, key, agent, parent, relation FROM sessions WHERE parent = ?1 AND live AND key <> ?1"
        " ORDER BY started, ended, key",
        (key,),
    )
    return [_Kin(*row) for row in found.fetchall()]


def _copied_at(db: sqlite3.Connection, session: int, seq: int | None) -> bool:
    """Whether the session's document at `seq` (the last one for None) is a copy: only then can the next one be."""
    place = "seq = ?" if seq is not None else "? IS NULL ORDER BY seq DESC LIMIT 1"
    row = db.execute(
        f"SELECT copied IS NOT NULL OR state IS 'inherited' FROM documents WHERE session = ? AND {place}",
        (session, seq),
    ).fetchone()
    return bool(row and row[0])


# -- archives that name no session -------------------------------------------------------------------------------------


def _adopted(db: sqlite3.Connection, own: _Kin) -> _Kin:
    """The session; a compaction's archive that names no session now has the one that holds most of what was said in it.
    Archives that hold something of this session and have none, or a guessed one, are looked at again."""
    nameless = "relation = 'compaction' AND (parent IS NULL OR parent_guessed) AND agent = ?"
    if own.relation == "compaction":
        if own.parent is None and (owner := _owner(db, own)):
            own = _adopt(db, own, owner)
    elif db.execute(f"SELECT 1 FROM sessions WHERE live AND {nameless} LIMIT 1", (own.agent,)).fetchone():
        found = db.execute(
            "SELECT DISTINCT s.id, s.key, s.agent, s.parent, s.relation FROM documents d"
            " JOIN documents f ON f.digest = d.digest AND f.kind IN ('user_text', 'assistant_text')"
            " JOIN sessions s ON s.id = f.session WHERE d.session = ? AND s.live AND s.relation = 'compaction'"
            " AND (s.parent IS NULL OR s.parent_guessed) AND s.agent = ?",
            (own.id, own.agent),
        ).fetchall()
        for archive in (_Kin(*row) for row in found):
            if (owner := _owner(db, archive)) and owner != archive.parent:
                _adopt(db, archive, owner)
    return own


def _adopt(db: sqlite3.Connection, archive: _Kin, owner: str) -> _Kin:
    """The archive with its owner; what it was linked with by a worse guess is forgotten."""
    if archive.parent is not None:
        db.execute("UPDATE documents SET copied = NULL WHERE session = ?", (archive.id,))
    db.execute("UPDATE sessions SET parent = ?, parent_guessed = 1 WHERE id = ?", (owner, archive.id))
    return archive._replace(parent=owner)


def _owner(db: sqlite3.Connection, archive: _Kin) -> str | None:
    """The key of the session of the same agent that says most of what the archive says, and at least half of it."""
    said = "kind IN ('user_text', 'assistant_text')"
    total = db.execute(f"SELECT count(DISTINCT digest) FROM documents WHERE session = ? AND {said}", (archive.id,))
    row = db.execute(
        "SELECT s.key, count(DISTINCT f.digest) FROM documents d"
        f" JOIN documents f ON f.digest = d.digest AND f.{said} JOIN sessions s ON s.id = f.session"
        " WHERE d.session = ? AND s.live AND s.agent = ? AND s.relation IS NOT 'compaction'"
        " GROUP BY s.id ORDER BY 2 DESC, s.relation IS NOT NULL, s.started, s.key LIMIT 1",
        (archive.id, archive.agent),
    ).fetchone()
    return row[0] if row and 2 * row[1] >= total.fetchone()[0] else None


# -- which document is a copy of which ---------------------------------------------------------------------------------


def _align(db: sqlite3.Connection, copy: _Kin, original: _Kin) -> None:
    """Notes which documents of `copy` are those of `original` again."""
    mine = _documents(db, copy.id, inherited_only=copy.relation not in COPYING)
    if not mine:
        return
    pairs = _pairs(mine, _documents(db, original.id), copy.relation == "compaction")
    for one, other in pairs:
        _join(db, one, other)


def _documents(db: sqlite3.Connection, session: int, inherited_only: bool = False) -> list[_Copy]:
    only = " AND state = 'inherited'" if inherited_only else ""
    found = db.execute(
        "SELECT id, digest, time, coalesce(copied, record), state IS 'inherited' FROM documents"
        f" WHERE session = ?{only} ORDER BY seq",
        (session,),
    )
    return [_Copy(*row) for row in found]


def _pairs(mine: list[_Copy], theirs: list[_Copy], all_copied: bool) -> list[tuple[_Copy, _Copy]]:
    """(copy, original) in order. Behind the first document that the original does not have the conversations differ:
    from there on a text is a copy only if it is marked, or was said at the very same time."""
    places: dict[int, list[int]] = {}
    for place, document in enumerate(theirs):
        places.setdefault(document.digest, []).append(place)
    found: list[tuple[_Copy, _Copy]] = []
    at, timed, parted = 0, False, False
    for document in mine:
        listed = places.get(document.digest, ())
        following = bisect_left(listed, at)
        place = listed[following] if following < len(listed) else None
        marked = all_copied or document.inherited
        if place is not None:
            same_time = document.time is not None and document.time == theirs[place].time
            parted = parted or (not marked and ((timed and not same_time) or place - at > GAP))
            if marked or same_time or not parted:
                found.append((document, theirs[place]))
                at, timed = place + 1, timed or same_time
                continue
        parted = parted or not marked
    return found


def _join(db: sqlite3.Connection, copy: _Copy, original: _Copy) -> None:
    """Gives the two documents, and what either is linked with, one `copied`."""
    if copy.record is None and original.record is None:
        kept = original.id
    elif copy.record == original.record:
        return
    else:
        kept = original.record if original.record is not None else copy.record
        for other in {copy.record, original.record} - {kept, None}:
            db.execute("UPDATE documents SET copied = ? WHERE copied = ?", (kept, other))
            db.execute(
                "UPDATE documents SET copied = ? WHERE record = ? AND copied IS NULL AND digest = ?",
                (kept, other, copy.digest),
            )
    db.execute("UPDATE documents SET copied = ? WHERE id IN (?, ?)", (kept, copy.id, original.id))
