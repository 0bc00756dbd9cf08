"""The sets that retrieval is measured on: their documents, questions and floors. Knows files, nothing of the product.

The public sets lie outside the repository (`README.md` beside them says where they come from); our own lie in `sets/`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coding_set import coding
from quality_model import Doc, Question, Set

SETS = Path(__file__).parent / "sets"
NO_ANSWER = 5
"""LoCoMo's category of questions that nothing answers."""


def public(name: str, questions: str, level: str, floors: dict[str, float], skip: int = -1) -> Set:
    """A set of the data folder. Without sessions of its own, each document is one."""
    documents = f"{name}.docs.jsonl.gz"
    label = name.partition("-")[0]
    return Set(
        f"{label}-{level}" if label == "locomo" else label,
        level,
        lambda data: [_doc(row) for row in _rows(data / documents)],
        lambda data: [_question(row) for row in _rows(data / questions) if row.get("rels") and row.get("cat") != skip],
        floors,
        home=label,
    )


def _doc(row: dict[str, Any]) -> Doc:
    role = "assistant" if row.get("role") in ("agent", "assistant") else "user"
    return Doc(
        row["id"],
        row["text"],
        row.get("title", ""),
        row.get("session", row["id"]),
        row.get("order", 0),
        row.get("pool", "all"),
        _KINDS.get(row.get("kind", "text"), f"{role}_text"),
        "shell" if row.get("kind") == "tool" else "",
    )


_KINDS = {"tool": "tool_output", "think": "reasoning", "thought": "reasoning"}


def _question(row: dict[str, Any]) -> Question:
    return Question(row["id"], row["text"], row.get("rels", {}), row.get("pool", "all"), str(row.get("cat", "")))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    yield from map(json.loads, data.splitlines())


LOCOMO = "locomo-c0-4.queries.jsonl.gz"
ALL = (
    coding(),
    public("locomo-c0-4", LOCOMO, "document", {"ndcg": 0.55, "recall": 0.73}, NO_ANSWER),
    public("locomo-c0-4", LOCOMO, "session", {"hit5": 0.93}),
    public("cosqa", "cosqa-dev.queries.jsonl.gz", "document", {"ndcg": 0.375}),
    public("cranfield", "cranfield.queries.jsonl.gz", "document", {"ndcg": 0.36}),
    public("jsquad", "jsquad-dev.queries.jsonl.gz", "document", {"ndcg": 0.92}),
    public("cmrc", "cmrc-dev.queries.jsonl.gz", "document", {"ndcg": 0.97}),
    public("specstory", "specstory.docs.jsonl.gz", "session", {})._replace(
        questions=lambda _: [_question(row) for row in _rows(SETS / "specstory.queries.jsonl")]
    ),
)
