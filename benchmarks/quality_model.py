"""What the measurements of retrieval pass around: documents, questions, sets, and homes on disk. Knows nothing of the
product."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Doc(NamedTuple):
    id: str
    text: str
    title: str = ""
    session: str = ""
    """The document's own id where the set has no sessions."""
    order: int = 0
    pool: str = "all"
    """Questions of a pool are asked in that pool only."""
    kind: str = "user_text"
    tool: str = ""
    time: int = 0


class Question(NamedTuple):
    id: str
    text: str
    relevant: dict[str, float]
    """Grades by document or session id; empty when nothing answers."""
    pool: str = "all"
    category: str = ""


class Set(NamedTuple):
    name: str
    level: str
    """What is ranked: document or session."""
    docs: Callable[[Path], list[Doc]]
    questions: Callable[[Path], list[Question]]
    floors: dict[str, float]
    """The least that the product must reach, by measure."""
    outside: bool = True
    """Whether it needs the data folder."""
    home: str = ""
    """Sets of one home share its index."""
    write: Callable[[list[Doc], Path], Home] | None = None
    """Writes its home, where that is not done as for the public sets."""


class Home(NamedTuple):
    agents: dict[str, str]
    """Each agent's folder."""
    documents: dict[str, str]
    """The set's document by "session id#message index"."""
    sessions: dict[str, str]
    """The set's session by session id."""
    scope: str = "project"
    """Where questions are asked: in the project of their pool, or everywhere."""

    def session_of(self) -> dict[str, str]:
        """The set's session by the set's document."""
        return {doc: self.sessions[place.rpartition("#")[0]] for place, doc in self.documents.items()}

    def project(self, pool: str) -> str | None:
        """The folder that questions of the pool are asked in."""
        return f"/eval/{pool}" if self.scope == "project" else None
