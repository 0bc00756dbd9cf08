"""Our own set: invented coding sessions and questions about them, written by hand in `sets/coding/`, put on disk as the
agents would have left them.

Real sessions hold more than their point, so each one is filled up with the talk and the tool output of any session, by
a seeded choice.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from corpus import Turn, claude, codex, reasonix
from quality_model import Doc, Home, Question, Set

FOLDER = Path(__file__).parent / "sets" / "coding"
START = datetime(2026, 5, 1, 8, tzinfo=UTC)
WRITERS = {"claude": ("claude-code", claude), "codex": ("codex", codex), "reasonix": ("reasonix", reasonix)}
TALK = (
    ("run the tests again", "All tests pass."),
    ("commit this", "Committed with a message that says why."),
    ("what else could break?", "I looked at the callers; nothing else depends on it."),
    ("explain that in two sentences", "The old code made an assumption that no longer holds. The change removes it."),
    ("please add a changelog line", "Added under Unreleased."),
    ("is there a simpler way?", "Not without giving up the error message; I would leave it as it is."),
    ("ok, and the documentation?", "Updated the README and the example in the docs folder."),
    ("wait, check the failing build first", "The build failed for another reason, a mirror was down. It is green now."),
    ("谢谢，提交吧", "已提交。"),
    ("ありがとう、プッシュして", "プッシュしました。"),
)
OUTPUT = (
    ("git status --short", " M src/main\n M tests/test_main\n?? notes.txt"),
    ("git log --oneline -3", "a41f9c2 fix error handling\n77d01be bump versions\n0c3de55 update docs"),
    ("ls", "Dockerfile  README.md  config  docs  src  tests"),
    ("make test", "collected 84 items\n84 passed in 12.31s"),
    ("make lint", "All checks passed!"),
    ("cat README.md | head -5", "# Service\n\nSee docs for the setup. Run make test before you push."),
)


def coding() -> Set:
    """124 sessions and 155 questions: names, errors, paraphrases, CJK, mixed scripts, facts that a later session
    overrides, and 40 that nothing answers."""
    floors = {"hit1": 0.80, "hit5": 0.915}
    return Set("coding", "session", lambda _: docs(), lambda _: questions(), floors, False, "coding", write)


def questions() -> list[Question]:
    return [Question(row["id"], row["text"], row["rels"], "all", row["kind"]) for row in _rows("questions.jsonl")]


def docs() -> list[Doc]:
    """What is said in the sessions, message by message, for searches that know nothing of agents."""
    return [
        Doc(f"{session['id']}#{at}", turn.text, "", session["id"], at)
        for session in _rows("sessions.jsonl")
        for at, turn in enumerate(_turns(session))
    ]


def write(_: list[Doc], folder: Path) -> Home:
    """Writes the home; the same every time."""
    home = Home({agent: str(folder / f".{name}") for name, (agent, _) in WRITERS.items()}, {}, {}, "global")
    for number, session in enumerate(_rows("sessions.jsonl")):
        native = str(uuid5(NAMESPACE_URL, session["id"]))
        _, writer = WRITERS[session["agent"]]
        begun = START + timedelta(days=session["day"], minutes=7 * number)
        path, rows = writer(folder, native, f"/home/dev/{session['project']}", begun, list(_turns(session)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        home.sessions[path.stem if session["agent"] == "reasonix" else native] = session["id"]
    return home


def _turns(session: dict[str, Any]) -> Iterator[Turn]:
    """The session as it was written, with other talk and output before, between and after."""
    pick = random.Random(session["id"])
    for role, first, *more in session["said"]:
        if role in ("user", "assistant"):
            yield Turn(role, first)
        else:
            yield from _call(first, more[0], role == "error")
        while pick.random() < 0.4:
            if pick.random() < 0.5:
                yield from _call(*pick.choice(OUTPUT))
            else:
                asked, answered = pick.choice(TALK)
                yield Turn("user", asked)
                yield Turn("assistant", answered)


def _call(command: str, output: str, failed: bool = False) -> Iterator[Turn]:
    yield Turn("call", json.dumps({"command": command}, ensure_ascii=False), "Bash")
    yield Turn("result", output, "Bash", failed)


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_bytes().splitlines()]
