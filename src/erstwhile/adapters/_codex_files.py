"""Opens Codex rollouts of any era: growing lines, compressed lines, one JSON object. Knows nothing of what they say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..errors import SourceError
from ..model import Skipped
from .base import JsonLines, Reread, ZstdLines, decode, fields, items, regular, text_of

MAX_JSON = 64 << 20
PARENT_LINES = 50
"""How far into its parent's file a sub-agent's model is looked for."""


def opened(path: str, since: dict[str, Any] | None) -> JsonLines | JsonFile:
    """The records of a rollout, to iterate over; raises Reread where a file cannot be read on from `since`."""
    if path.endswith(".jsonl"):
        return JsonLines(path, since)
    if since is not None:  # compressed or one JSON object: never resumed
        raise Reread(path)
    return ZstdLines(path) if path.endswith(".zst") else JsonFile(path)


class JsonFile:
    """The oldest era: one JSON object `{session, items}`, given as the header and then the items, as later files do."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        try:
            with open(self.path, "rb") as file:
                data = file.read(MAX_JSON)
        except OSError as error:
            raise SourceError(f"cannot read {self.path}: {error.strerror or error}") from error
        try:
            whole = fields(decode(data))
        except ValueError:
            self.skipped.append(Skipped(None, "not valid JSON"))
            return
        yield 1, fields(whole.get("session"))
        yield from ((1, fields(item)) for item in items(whole.get("items")))


def model_beside(path: str, native: str) -> str | None:
    """The model of the session `native` if its rollout lies in the same folder.

    A sub-agent that names no model of its own runs with its parent's.
    """
    try:
        names = [n for n in sorted(os.listdir(os.path.dirname(path))) if n.endswith(f"{native}.jsonl")]
        beside = os.path.join(os.path.dirname(path), names[0]) if names else ""
        lines = JsonLines(beside) if regular(beside) else ()
        for _, record in islice(lines, PARENT_LINES):
            if record.get("type") == "turn_context":
                return text_of(fields(record.get("payload")).get("model"))
    except (OSError, SourceError):
        return None
    return None
