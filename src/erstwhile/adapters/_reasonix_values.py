"""The JSON values of a file that Go's encoder wrote and its decoder reads: usually one a line, but several may share a
line and one may span lines. Keeps what is good, names what is not, and goes on at the next line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ..errors import SourceError
from ..model import Skipped
from .base import BLOCK, MAX_LINE, Line, decode, split_lines, whole

MAX_LINES = 2000
"""A value over more lines is taken as damage: it keeps one stray bracket from being tried against the whole file."""


class JsonValues:
    """Iterates over the objects of a file as (line they begin on, object); damage goes to `skipped`."""

    longest = MAX_LINE

    def __init__(self, path: str, marks: tuple[str, ...]) -> None:
        """`marks` are keys that an object has when it stands alone, so that a broken value before it ends there."""
        self.path = path
        self.skipped: list[Skipped] = []
        self._marks = marks
        self._pending: list[bytes] = []
        self._began = 0
        self._size = 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self.skipped = []
        try:
            with open(self.path, "rb") as file:
                blocks = iter(lambda: file.read(BLOCK), b"")
                for number, line in enumerate(split_lines(blocks, self.longest), 1):
                    yield from self._line(number, line)
        except OSError as error:
            raise SourceError(f"cannot read {self.path}: {error.strerror or error}") from error
        self._give_up("truncated last value")

    def _line(self, number: int, line: Line) -> Iterator[tuple[int, dict[str, Any]]]:
        if line.text is None:
            self._give_up("truncated value")
            self.skipped.append(Skipped(number, f"line of {line.size >> 20} MB is longer than {self.longest >> 20} MB"))
            return
        text = line.text.strip().removeprefix(b"\xef\xbb\xbf")
        if not text:
            return
        alone = _object(text)
        if alone is not None and (not self._pending or any(m in alone for m in self._marks)):
            self._give_up("truncated value")
            yield number, alone
            return
        if not self._pending:
            self._began = number
        self._pending.append(text)
        self._size += len(text)
        if len(self._pending) > MAX_LINES or self._size > self.longest:
            self._give_up("a value without an end")
        elif len(self._pending) == 1 or text.endswith((b"}", b"]")):
            yield from self._values(line.torn)

    def _values(self, torn: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        """The values of the pending lines. An unfinished last one stays pending, a broken one is given up."""
        import json

        text = b"\n".join(self._pending).decode("utf-8", "replace")
        decoder = json.JSONDecoder()
        at = 0
        while at < len(text):
            try:
                value, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError) and error.pos >= len(text) and not torn:
                    self._pending = [text[at:].encode("utf-8", "replace")] if at else self._pending
                    return
                self._give_up("truncated last line" if torn else "not valid JSON")
                return
            if isinstance(value, dict):
                yield self._began, whole(cast("dict[str, Any]", value))
            else:
                self.skipped.append(Skipped(self._began, f"a JSON {type(value).__name__}, not an object"))
            at = end + len(text[end:]) - len(text[end:].lstrip())
        self._pending, self._size = [], 0

    def _give_up(self, reason: str) -> None:
        if self._pending:
            self.skipped.append(Skipped(self._began, reason))
        self._pending, self._size = [], 0


def _object(text: bytes) -> dict[str, Any] | None:
    """The object that the line is, None when it is anything else."""
    try:
        value = decode(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
