"""Writes a home of invented sessions for benchmarks: `python benchmarks/corpus.py HOME --sessions 1000`.

Prose, code and names are taken from the running Python's own library, so that words repeat as they do in life. The same
arguments give the same bytes. Three formats in turn: Claude Code, Codex, Reasonix; one session in twenty is in Chinese.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import pkgutil
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

MODULES = (
    "argparse",
    "asyncio",
    "csv",
    "ctypes",
    "email",
    "html",
    "http",
    "json",
    "logging",
    "sqlite3",
    "unittest",
    "xml",
)
CHINESE = ("构建脚本在缓存为空时失败", "给导出功能加一个测试", "登录超时是因为令牌没有刷新", "迁移之后索引丢失了")
QUESTIONS = (
    "{0} stopped working since the last change to {1}",
    "write a test that shows the bug in {0}",
    "what calls {0}, and can {1} be removed?",
    "{0} is slow, find out why before you touch {1}",
)


class Book(NamedTuple):
    """What sessions about one module talk about."""

    path: str
    prose: list[str]
    code: list[str]
    names: list[str]


class Turn(NamedTuple):
    role: str
    text: str
    tool: str = ""
    failed: bool = False


def books() -> list[Book]:
    found = []
    for package in MODULES:
        top = import_module(package)
        below = [m.name for m in pkgutil.iter_modules(getattr(top, "__path__", []), package + ".")]
        for name in [package, *below]:
            if name.rsplit(".", 1)[-1].startswith("_"):
                continue
            try:
                module = import_module(name)
                source = inspect.getsource(module)
            except (ImportError, OSError, TypeError, AttributeError):
                continue
            members = [v for v in vars(module).values() if getattr(v, "__module__", None) == name]
            prose = [p for v in members for p in (inspect.getdoc(v) or "").split("\n\n") if len(p) > 40]
            lines = source.splitlines()
            code = ["\n".join(lines[at : at + 30]) for at in range(0, len(lines), 30)]
            names = sorted({n for n in vars(module) if len(n) > 4})
            if len(prose) > 4 and len(code) > 4 and len(names) > 8:
                found.append(Book(name.replace(".", "/") + ".py", prose, code, names))
    return found


def turns(rng: random.Random, book: Book, needle: str) -> Iterator[Turn]:
    """A session: questions, tool calls with their results, answers. One question holds the needle."""
    count = min(400, max(2, round(rng.lognormvariate(3.0, 1.0))))
    planted, chinese = rng.randrange(count), rng.random() < 0.05
    for number in range(count):
        one, other = rng.choice(book.names), rng.choice(book.names)
        question = rng.choice(CHINESE) if chinese else rng.choice(QUESTIONS).format(one, other)
        yield Turn("user", f"{question} ({needle})" if number == planted else question)
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            tool = rng.choice(("Bash", "Read", "Edit", "Grep"))
            yield Turn("call", json.dumps({"path": f"/home/dev/{book.path}", "pattern": other}), tool)
            if rng.random() < 0.12:
                yield Turn(
                    "result", f"Error: {one} is not defined in {book.path}, line {rng.randrange(900)}", tool, True
                )
            else:
                yield Turn(
                    "result", "\n".join(rng.sample(book.code, min(len(book.code), rng.choice((1, 1, 2, 3))))), tool
                )
        yield Turn("assistant", "\n\n".join(rng.sample(book.prose, min(len(book.prose), rng.choice((1, 2, 3))))))


def claude(home: Path, sid: str, cwd: str, start: datetime, said: list[Turn]) -> tuple[Path, list[object]]:
    rows: list[object] = []
    parent = call = ""
    for number, turn in enumerate(said):
        record = f"{sid[:24]}{number:012x}"
        if turn.role == "call":
            call = f"toolu_{sid[:8]}{number}"
        content: object = turn.text
        if turn.role == "call":
            content = [{"type": "tool_use", "id": call, "name": turn.tool, "input": json.loads(turn.text)}]
        elif turn.role == "result":
            content = [{"type": "tool_result", "tool_use_id": call, "is_error": turn.failed, "content": turn.text}]
        elif turn.role == "assistant":
            content = [{"type": "text", "text": turn.text}]
        role = "assistant" if turn.role in ("call", "assistant") else "user"
        message: dict[str, object] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{sid[:8]}{number}", "model": "claude-bench"}
        rows.append(
            {
                "type": role,
                "uuid": record,
                "parentUuid": parent or None,
                "isSidechain": False,
                "cwd": cwd,
                "sessionId": sid,
            }
            | {"timestamp": stamp(start, number), "gitBranch": "main", "message": message}
        )
        parent = record
    return home / ".claude" / "projects" / cwd.replace("/", "-") / f"{sid}.jsonl", rows


def codex(home: Path, sid: str, cwd: str, start: datetime, said: list[Turn]) -> tuple[Path, list[object]]:
    head = {"id": sid, "timestamp": stamp(start, 0), "cwd": cwd, "originator": "bench", "source": "cli"}
    rows: list[object] = [{"timestamp": stamp(start, 0), "type": "session_meta", "payload": head}]
    for number, turn in enumerate(said):
        if turn.role == "call":
            payload = {"type": "function_call", "name": turn.tool, "arguments": turn.text, "call_id": f"c{number}"}
        elif turn.role == "result":
            output = json.dumps({"output": turn.text, "metadata": {"exit_code": int(turn.failed)}})
            payload = {"type": "function_call_output", "call_id": f"c{number - 1}", "output": output}
        else:
            kind = "input_text" if turn.role == "user" else "output_text"
            payload = {"type": "message", "role": turn.role, "content": [{"type": kind, "text": turn.text}]}
        rows.append({"timestamp": stamp(start, number), "type": "response_item", "payload": payload})
    name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{sid}.jsonl"
    return home / ".codex" / "sessions" / f"{start:%Y/%m/%d}" / name, rows


def reasonix(home: Path, sid: str, cwd: str, start: datetime, said: list[Turn]) -> tuple[Path, list[object]]:
    del cwd  # its global sessions name no folder
    rows: list[object] = []
    for number, turn in enumerate(said):
        if turn.role == "call":
            call = {"id": f"c{number}", "name": turn.tool, "arguments": turn.text}
            rows.append({"role": "assistant", "content": "", "tool_calls": [call]})
        elif turn.role == "result":
            rows.append({"role": "tool", "name": turn.tool, "tool_call_id": f"c{number - 1}", "content": turn.text})
        else:
            rows.append({"role": turn.role, "content": turn.text})
    return home / ".reasonix" / "sessions" / f"{start:%Y%m%d-%H%M%S}.{int(sid[:8], 16) % 10**9:09d}-bench.jsonl", rows


def stamp(start: datetime, number: int) -> str:
    return (start + timedelta(seconds=9 * number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def write(home: Path, sessions: int, seed: int = 1) -> tuple[int, list[str]]:
    """Writes the home; (bytes, the needles: one invented word a session)."""
    rng, shelf, size, needles = random.Random(seed), books(), 0, []
    start = datetime(2026, 1, 1, 8, tzinfo=UTC)
    for number in range(sessions):
        sid = "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}".format(*(rng.getrandbits(b) for b in (32, 16, 12, 12, 48)))
        needle = f"needle{rng.getrandbits(40):010x}"
        start += timedelta(minutes=rng.randrange(5, 200))
        cwd = f"/home/dev/project-{int(rng.paretovariate(1.2)) % 30:02d}"
        said = list(turns(rng, rng.choice(shelf), needle))
        path, rows = (claude, codex, reasonix)[number % 3](home, sid, cwd, start, said)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        path.write_bytes(data)
        os.utime(path, (start.timestamp(), start.timestamp()))
        size += len(data)
        needles.append(needle)
    return size, needles


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    size, needles = write(asked.home, asked.sessions, asked.seed)
    print(f"{len(needles)} sessions, {size / 1e6:.0f} MB under {asked.home}")


if __name__ == "__main__":
    main()
