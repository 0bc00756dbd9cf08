"""The conversation tree of one Claude Code transcript: which messages were left behind when the user went back.

Every record names its predecessor (`parentUuid`), so a question asked again, or an answer produced again, is a second
child of the same record; the child that the conversation went on from is live, the others are abandoned. Pure.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from .base import Reread, items

FRESH = 64
"""How many of the newest records a later read may continue from without reading the file again."""


class Place(IntEnum):
    """What a record is in the tree."""

    TURN = 0
    """A question, or the first record of an answer: two of them after the same record are a fork."""
    PIECE = 1
    """The rest of an answer, a tool's result, a summary. Never a fork: results of parallel calls are siblings."""
    QUEUED = 2
    """A question typed while the agent worked. It hangs beside the chain or inside it, so it is no fork either."""
    LINK = 3
    """No message, or an injected one: attachments, progress, system records. Chains run through them."""


class Tree:
    """Takes records in file order; `abandoned` are the indexes of the messages that are not live.

    A predecessor counts only when it came earlier in the file, so that reading in two goes sees the same links.
    """

    def __init__(self, since: dict[str, Any] | None = None) -> None:
        self._partial = since is not None
        since = since or {}
        self._node: dict[str, int] = dict(items(since.get("fresh")))
        self._rows: list[tuple[int, int, int]] = [(p, i, k) for p, i, k in items(since.get("rows"))]
        """(parent node or -1, message index, Place) of each message's record, parents first."""
        self._fresh: dict[str, int] = dict(self._node)
        """The last turn and what follows from it: nothing has been said after these yet."""
        self._first = self._rows[0][1] if self._rows else 0
        self._turn = 0

    def __contains__(self, uuid: object) -> bool:
        return uuid in self._node

    def add(self, uuid: str, parent: str | None, place: Place, index: int) -> None:
        """Place a record; raises Reread when its predecessor or its answer's start lies before what this read knows."""
        node = self._node.get(parent, -1) if parent else -1
        known = not self._partial or (parent in self._node and index >= self._first)
        if place is Place.LINK:
            if known:
                self._node[uuid] = node
        elif known:
            self._rows.append((node, index, place))
            node = len(self._rows) - 1
            self._node[uuid] = node
        else:
            raise Reread(uuid)
        if place is Place.TURN:
            self._fresh = {uuid: node}
            self._turn = node
        elif parent in self._fresh:
            self._fresh[uuid] = node

    def abandoned(self) -> tuple[int, ...]:
        """Indexes of the messages on branches that the conversation did not go on from, in order."""
        forks = self._forks()
        if not forks:
            return ()
        latest = self._latest()
        dead = [False] * len(self._rows)
        for turns in forks:
            live = max(turns, key=latest.__getitem__)
            for turn in turns:
                dead[turn] = turn != live
        children: dict[int, list[int]] = {}
        for node, (parent, _, _) in enumerate(self._rows):
            dead[node] = dead[node] or (parent >= 0 and dead[parent])
            children.setdefault(parent, []).append(node)
        for node, (_, _, place) in enumerate(self._rows):
            if place == Place.QUEUED and node in children:
                dead[node] = all(dead[c] for c in children[node])
        return tuple(sorted({self._rows[n][1] for n, gone in enumerate(dead) if gone}))

    def _forks(self) -> list[list[int]]:
        """The turns that follow the same record, where there are several."""
        turns: dict[int, list[int]] = {}
        for node, (parent, _, place) in enumerate(self._rows):
            while parent >= 0 and self._rows[parent][2] == Place.QUEUED:
                parent = self._rows[parent][0]
            if place == Place.TURN and parent >= 0:
                turns.setdefault(parent, []).append(node)
        return [several for several in turns.values() if len(several) > 1]

    def _latest(self) -> list[int]:
        """For each node the last turn below it or itself."""
        latest = [node if row[2] == Place.TURN else -1 for node, row in enumerate(self._rows)]
        for node in range(len(self._rows) - 1, -1, -1):
            parent = self._rows[node][0]
            if parent >= 0:
                latest[parent] = max(latest[parent], latest[node])
        return latest

    @property
    def state(self) -> dict[str, Any]:
        """The newest records and the rows below the last turn, for `since`."""
        rows = [(p - self._turn if p >= self._turn else -1, i, k) for p, i, k in self._rows[self._turn :]]
        fresh = list(self._fresh.items())[-FRESH:]
        return {"rows": [list(r) for r in rows], "fresh": [[uuid, node - self._turn] for uuid, node in fresh]}
