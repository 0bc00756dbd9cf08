"""One Aider history on its way to events: Markdown in which a line's beginning says who speaks.

`# aider chat started at …` begins a session, `#### ` is the user, `> ` is Aider's own output, all else the answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from ..model import Event, Message, Part, Resume, Session
from .base import JsonLines, Line, Reread, fields, seconds

USER, TOOL, ANSWER = "user", "tool", "assistant"
KINDS = {USER: "user_text", TOOL: "tool_output", ANSWER: "assistant_text"}
MARKS = {USER: "#### ", TOOL: "> "}
BREAK = "  "
"""Two blanks at its end close a line that Aider itself wrote."""
_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_MODEL = re.compile(r"(?:Main model|Model): (\S+)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


class TextLines(JsonLines):
    """The lines of a growing text file, with the torn ends and the resume state of `JsonLines`."""

    def _value(self, raw: Line) -> dict[str, Any] | None:
        if raw.text is None:
            return super()._value(raw)
        text = raw.text.removeprefix(b"\xef\xbb\xbf") if self.line == 0 else raw.text
        return {"text": text.removesuffix(b"\r").decode("utf-8", "replace")}


class History:
    """One file. A message is what one side says until another one does; the last one may still grow, and then the
    file is read anew."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.lines = TextLines(path, since)
        since = since or {}
        self.native: str = since.get("native", path)
        """The session's id: the file until its first heading, then with when it started."""
        self.started: float | None = since.get("started")
        self.model: str | None = since.get("model")
        self.count: int = since.get("count", 0)
        self.names: dict[str, int] = dict(fields(since.get("names")))
        """How many sessions began in one and the same second."""
        self.speaker: str | None = None
        self.text: list[str] = []
        self.fence: str | None = None
        self.left: str | None = since.get("speaker")
        """Who spoke when the last read ended."""
        self.unfinished = bool(since.get("unfinished"))
        """Whether it ended inside a code fence or an output, so that who speaks next depends on what is behind us."""
        self.shown = False

    def events(self) -> Iterator[Event]:
        for _, row in self.lines:
            text: str = row["text"]
            if text.startswith("# aider") and (heading := _STARTED.fullmatch(text)):
                self.left = None
                yield from self._end()
                if self.count:
                    yield self._session()
                self._start(heading[1])
                continue
            speaker = self._speaker(text)
            if speaker is None:
                self.text += [text] if self.text else []
                continue
            if self.left is not None:
                if self.unfinished or speaker == self.left:
                    raise Reread(self.lines.path)  # a message that was read as whole goes on
                self.left = None
            if speaker != self.speaker:
                yield from self._end()
                self.speaker = speaker
            self._add(speaker, text)
        last = self.speaker or self.left
        unfinished = self.fence is not None or self._output_open() if self.speaker else self.unfinished
        yield from self._end()
        if self.count:
            yield self._session()
        yield from self.lines.skipped
        kept = {"native": self.native, "started": self.started, "model": self.model, "count": self.count}
        yield Resume({**self.lines.state, **kept, "names": self.names, "speaker": last, "unfinished": unfinished})

    def _start(self, when: str) -> None:
        self.names[when] = self.names.get(when, 0) + 1
        again = f"-{self.names[when]}" if self.names[when] > 1 else ""
        self.native = f"{self.lines.path}#{when}{again}"
        self.started, self.model, self.count, self.shown = seconds(when), None, 0, False

    def _speaker(self, text: str) -> str | None:
        """Who says a line; None for a blank one. In a code fence of an answer, only a line closed as Aider closes its
        own is somebody else's: an answer may quote `> ` and show `#### `."""
        for speaker, mark in MARKS.items():
            if text.startswith(mark) and (self.fence is None or text.endswith(BREAK)):
                return speaker
        if not text.strip():
            return None
        return TOOL if self._output_open() else ANSWER

    def _output_open(self) -> bool:
        """Whether the line before belongs to an output that goes on: only the first line of one has the mark, and only
        the last one its break."""
        return self.speaker == TOOL and bool(self.text[-1].strip()) and not self.text[-1].endswith(BREAK)

    def _add(self, speaker: str, text: str) -> None:
        if speaker == ANSWER:
            found = _FENCE.match(text) if "```" in text or "~~~" in text else None
            if found and self.fence is None:
                self.fence = found[1]
            elif found and self.fence and text.strip() == found[1] and found[1].startswith(self.fence):
                self.fence = None
        else:
            text = text.removeprefix(MARKS[speaker])
            if speaker == TOOL and self.model is None and (found := _MODEL.match(text)):
                self.model = found[1]
        self.text.append(text)

    def _end(self) -> Iterator[Event]:
        """The message that is over."""
        speaker, lines = self.speaker, self.text
        self.speaker, self.text, self.fence = None, [], None
        if speaker is None:
            return
        clean = lines if speaker == ANSWER else [line.removesuffix(BREAK) for line in lines]
        text = "\n".join(clean).strip()
        self.count += 1
        if not self.shown:
            self.shown = True
            yield self._session()
        if text:
            yield Message(self.count - 1, speaker, None, (Part(KINDS[speaker], text),))

    def _session(self) -> Session:
        return Session(
            f"aider:{self.native}",
            cwd=os.path.dirname(self.lines.path),
            model=self.model,
            started=self.started,
            messages=self.count,
        )
