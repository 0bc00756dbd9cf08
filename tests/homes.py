"""Small histories in the agents' own formats, for tests that need to say exactly what lies on disk."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from erstwhile.model import Root

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

AGENTS = ("claude-code", "codex", "dsh", "reasonix")
APPENDED = ("claude-code", "codex", "dsh")
"""Agents whose files are read on from where the last read ended."""
FIXTURES = Path(__file__).parent / "fixtures"
SHOP = "/home/dev/shop"
START = 1_790_000_000
"""2026-09-21: the first message of every conversation here; each further one comes a minute later."""


def roots(base: Path, *agents: str) -> dict[str, list[Root]]:
    """The homes below `base`, for Library."""
    return {agent: [Root(str(base / agent))] for agent in agents or AGENTS}


def expected(agent: str) -> dict[str, Any]:
    """What the agent's fixtures must give."""
    return json.loads((FIXTURES / agent / "expected.json").read_text(encoding="utf-8"))


def fixture_roots() -> dict[str, list[Root]]:
    """The homes of all fixtures, for Library."""
    return {agent: [Root(str(FIXTURES / agent / r["path"])) for r in expected(agent)["roots"]] for agent in AGENTS}


def path(base: Path, agent: str, native: str, cwd: str = SHOP) -> Path:
    """Where the agent keeps the session `native`."""
    home, slug = base / agent, cwd.replace("/", "-")
    return {
        "claude-code": home / "projects" / slug / f"{native}.jsonl",
        "codex": home / "sessions" / "2026" / "09" / "21" / f"rollout-2026-09-21T13-33-20-{native}.jsonl",
        "dsh": home / "sessions" / f"-{slug}--" / native / "session.v4.jsonl.zstd",
        "reasonix": home / "projects" / slug / "sessions" / f"{native}.jsonl",
    }[agent]


def write(
    base: Path,
    agent: str,
    native: str,
    texts: Sequence[str],
    cwd: str = SHOP,
    title: str | None = None,
    start: int = START,
) -> Path:
    """Writes a session whose messages are `texts`, the user's and the agent's in turn; returns its path."""
    file = path(base, agent, native, cwd)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(records(agent, native, texts, cwd, title, start)))
    if agent == "reasonix":
        meta = {"workspace_root": cwd, "topic_title": title, "model": "deepseek-v4-flash", "schema_version": 1}
        Path(f"{file}.meta").write_text(json.dumps(meta), encoding="utf-8")
    if agent == "codex" and title:
        append(base / agent / "session_index.jsonl", line({"id": native, "thread_name": title}))
    return file


def append(file: Path, *pieces: bytes) -> None:
    with file.open("ab") as out:
        out.write(b"".join(pieces))


def records(
    agent: str, native: str, texts: Sequence[str], cwd: str = SHOP, title: str | None = None, start: int = START
) -> list[bytes]:
    """The session's file in pieces: those that open it, then one a message."""
    make = {"claude-code": _claude, "codex": _codex, "dsh": _dsh, "reasonix": _reasonix}[agent]
    return make(native, texts, cwd, title, start)


def line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def frame(record: Mapping[str, Any]) -> bytes:
    """One zstd frame, as DSH writes a batch."""
    return zstd.compress(line(record), options={zstd.CompressionParameter.checksum_flag: 1})


def iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def claude_uuid(native: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{native}/{number}"))


def _claude(native: str, texts: Sequence[str], cwd: str, title: str | None, start: int) -> list[bytes]:
    titles = [line({"type": "custom-title", "customTitle": title, "sessionId": native})] if title else []
    return titles + [claude(native, number, text, cwd=cwd, start=start) for number, text in enumerate(texts)]


def claude(
    native: str, number: int, text: str, *, cwd: str = SHOP, start: int = START, parent: int | None = None, **more: Any
) -> bytes:
    """One message of Claude Code, which follows the one before it, or the one numbered `parent`."""
    role = ("user", "assistant")[number % 2]
    message: dict[str, Any] = {"role": role, "content": text}
    if role == "assistant":
        message = {"id": f"msg_{number}", "model": "claude-sonnet-4-5", **message}
        message["content"] = [{"type": "text", "text": text}]
    before = number - 1 if parent is None else parent
    facts = {"parentUuid": claude_uuid(native, before) if number else None, "isSidechain": False, "cwd": cwd}
    facts |= {"userType": "external", "sessionId": native, "version": "2.1.278", "gitBranch": "main"}
    facts |= {"uuid": claude_uuid(native, number), "timestamp": iso(start + 60 * number), "type": role}
    return line(facts | {"message": message} | more)


def _codex(native: str, texts: Sequence[str], cwd: str, title: str | None, start: int) -> list[bytes]:
    meta = {"id": native, "timestamp": iso(start), "cwd": cwd, "originator": "codex-tui", "cli_version": "0.144.3"}
    meta |= {"source": "cli", "model_provider": "openai", "git": {"branch": "main"}}
    opening = line({"timestamp": iso(start), "type": "session_meta", "payload": meta})
    return [opening, *(_codex_message(number, text, start) for number, text in enumerate(texts))]


def _codex_message(number: int, text: str, start: int) -> bytes:
    role, kind = (("user", "input_text"), ("assistant", "output_text"))[number % 2]
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return line({"timestamp": iso(start + 60 * number), "type": "response_item", "payload": payload})


def _dsh(native: str, texts: Sequence[str], cwd: str, title: str | None, start: int) -> list[bytes]:
    head = {"type": "session", "version": 4, "id": native, "createdAt": start * 1000, "cwd": cwd}
    opening = [frame(head | {"isSeeded": False, "delegationDepth": 0})]
    if title:
        data = {"title": title, "messageSeqs": [], "source": {"kind": "user"}}
        opening.append(frame({"type": "session/title", "seq": 0, "time": start * 1000, "data": data}))
    return opening + [
        frame(_dsh_message(native, number, text, start, bool(title))) for number, text in enumerate(texts)
    ]


def _dsh_message(native: str, number: int, text: str, start: int, titled: bool) -> dict[str, Any]:
    role = ("user", "assistant")[number % 2]
    message = {"id": f"{native}-{number}", "role": role, "content": [{"type": "text", "text": text}]}
    message |= {"source": {"kind": "user" if role == "user" else "model"}}
    data: dict[str, Any] = message if role == "user" else {"turn": 1, "step": number, "message": message, "stream": []}
    facts = {"type": f"{role}/message", "seq": number + titled, "time": (start + 60 * number) * 1000}
    return facts | {"data": data, "surfaceOp": "append"}


def _reasonix(native: str, texts: Sequence[str], cwd: str, title: str | None, start: int) -> list[bytes]:
    return [
        line({"role": ("user", "assistant")[number % 2], "content": text, "createdAt": (start + 60 * number) * 1000})
        for number, text in enumerate(texts)
    ]


# -- looking at what was made ------------------------------------------------------------------------------------------


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The bytes and the modification time of every file below the folder."""
    files = (Path(base, name) for base, _, names in os.walk(folder) for name in names)
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


def dump(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything the store in `folder` holds but row ids, in an order that does not depend on them."""
    queries = {
        "sources": "SELECT agent, path, stamp, state, reason, size, slug, role, skipped, unknown, sessions, messages"
        " FROM sources",
        "sessions": "SELECT s.key, s.native, o.path, s.live, s.title, s.own_title, s.first_text, s.project, s.place,"
        " s.cwd, s.branch, s.model, s.started, s.ended, s.parent, s.relation, s.archived, s.origin, s.messages,"
        " s.documents, s.ordinals, s.summary_at, s.context, s.context_tokens FROM sessions s"
        " JOIN sources o ON o.id = s.source",
        "documents": "SELECT s.key, d.seq, d.message, d.ordinal, d.piece, d.kind, d.role, d.tool, d.time, d.state,"
        " d.record, d.digest, d.characters, d.length, d.tokens, t.text FROM documents d"
        " LEFT JOIN sessions s ON s.id = d.session LEFT JOIN texts t ON t.id = d.id",
        "titles": "SELECT o.path, t.session, t.record, t.text FROM titles t JOIN sources o ON o.id = t.source",
        "totals": "SELECT * FROM totals",
        "texts": "SELECT count(*) FROM texts",
    }
    with closing(sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True)) as db:
        return {name: sorted(db.execute(sql).fetchall(), key=repr) for name, sql in queries.items()}
