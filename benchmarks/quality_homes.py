"""Writes a set's documents as a home of sessions, as an agent would have left them, so that the product itself is
measured.

Each session of a set becomes one session of Reasonix in the project `/eval/<pool>`, each document one message.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quality_model import Doc, Home

START = 1_767_225_600
"""2026-01-01; each session begins an hour after the one before."""


def write(docs: Iterable[Doc], folder: Path) -> Home:
    """Writes the home; the same documents give the same bytes."""
    home = Home({"reasonix": str(folder / "reasonix")}, {}, {})
    for number, ((pool, name), members) in enumerate(sorted(_by_session(docs).items())):
        native = f"20260101-{number // 3600 % 24:02d}{number // 60 % 60:02d}{number % 60:02d}.{number:09d}-eval"
        file = folder / "reasonix" / "projects" / f"-eval-{pool}" / "sessions" / f"{native}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        members.sort(key=lambda doc: doc.order)
        lines = [_message(doc, START + 3600 * number + at, at) for at, doc in enumerate(members)]
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        title = {"id": native, "workspace_root": f"/eval/{pool}", "topic_title": members[0].title, "scope": "project"}
        Path(f"{file}.meta").write_text(json.dumps(title, ensure_ascii=False), encoding="utf-8")
        home.sessions[native] = name
        home.documents.update((f"{native}#{at}", doc.id) for at, doc in enumerate(members))
    return home


def _by_session(docs: Iterable[Doc]) -> dict[tuple[str, str], list[Doc]]:
    sessions: dict[tuple[str, str], list[Doc]] = defaultdict(list)
    for doc in docs:
        sessions[doc.pool, doc.session].append(doc)
    return sessions


def _message(doc: Doc, time: int, at: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "user", "content": doc.text, "createdAt": 1000 * time}
    if doc.kind == "assistant_text":
        return message | {"role": "assistant"}
    if doc.kind.startswith("tool"):
        return message | {"role": "tool", "name": doc.tool, "tool_call_id": f"c{at}"}
    return message
