"""What the lexical index is built from: documents above its mark, entries that are out of date, their tokens and
tags."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ..filters import Place, document_tags, session_tags
from ..lexical_types import Entry
from ..ranking import SHORT
from ..text import indexed


def new_entries(db: sqlite3.Connection, mark: int, fresh: dict[int, str]) -> Iterator[Entry]:
    """The documents above `mark` in ascending order; `fresh` holds tokens that were just made."""
    yield from _entries(db, "d.id > ? AND d.session > 0 ORDER BY d.id", (mark,), fresh)


def stale_entries(db: sqlite3.Connection, mark: int) -> Iterator[Entry]:
    """The documents up to `mark` whose entry is out of date and that still exist."""
    yield from _entries(db, "d.id <= ? AND d.session > 0 AND d.id IN (SELECT id FROM stale) ORDER BY d.id", (mark,), {})


def stale_ids(db: sqlite3.Connection) -> list[int]:
    return [row[0] for row in db.execute("SELECT id FROM stale")]


def clear_stale(db: sqlite3.Connection, ids: list[int]) -> None:
    """After the index has committed: a crash before this only makes the same work again."""
    db.executemany("DELETE FROM stale WHERE id = ?", [(i,) for i in ids])


def _entries(db: sqlite3.Connection, test: str, values: tuple[int, ...], fresh: dict[int, str]) -> Iterator[Entry]:
    lent: dict[int, tuple[str, list[str]]] = {}
    for number, session, kind, role, tool, time, characters, length in db.execute(
        "SELECT d.id, d.session, d.kind, d.role, d.tool, coalesce(d.time, 0), d.characters, d.length"
        f" FROM documents d WHERE {test}",
        values,
    ):
        if session not in lent:
            lent[session] = _lent(db, session)
        inherited, tags = lent[session]
        own = fresh.get(number)
        if own is None:
            own = indexed(db.execute("SELECT text FROM searched WHERE id = ?", (number,)).fetchone()[0]).words
        yield Entry(
            number,
            f"{own} {inherited}",
            document_tags(kind, role, tool) + tags,
            int(time),
            -length if characters < SHORT else length,
        )


def _lent(db: sqlite3.Connection, session: int) -> tuple[str, list[str]]:
    context, agent, relation, archived, place, cwd, slug, role, parent, collection = db.execute(
        "SELECT s.context, s.agent, s.relation, s.archived OR o.state = 'vanished', s.place, s.cwd_place, o.slug,"
        " o.role, s.parent, s.collection FROM sessions s JOIN sources o ON o.id = s.source WHERE s.id = ?",
        (session,),
    ).fetchone()
    above = None
    if relation == "subagent":
        above = db.execute(
            "SELECT s.place, s.cwd_place, o.slug, o.role, s.agent FROM sessions s JOIN sources o ON o.id = s.source"
            " WHERE s.key = ?",
            (parent,),
        ).fetchone()
    places, slugs, roles = (place, cwd), ((agent, slug),), (role,)
    if above:
        places, slugs, roles = (*places, above[0], above[1]), (*slugs, (above[4], above[2])), (role, above[3])
    kept = Place(session, agent, relation, bool(archived), places, slugs, roles, collection)
    return indexed(context).words, session_tags(kept)
