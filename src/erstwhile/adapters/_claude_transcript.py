"""One Claude Code transcript file on its way to events. Knows the records, not where the files lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..model import Event, Mark, Message, Part, RawRecord, Resume, Session, Title, Unknown
from ._claude_text import SUMMARY, is_notice, marker, prompt, result, spilled, title
from ._claude_tree import Place, Tree
from .base import ODD, JsonLines, compact, fields, items, odd, seconds, side_object, text_of

SKIPPED_TYPES = frozenset(
    """agent-color agent-name agent-setting attachment attribution-snapshot content-replacement context-collapse-commit
    context-collapse-snapshot continued-in cost-state file-history-delta file-history-snapshot fork-context-ref
    history-suppression last-prompt marble-origami-commit marble-origami-snapshot mode permission-mode pr-link progress
    queue-operation relocated result speculation-accept started system tag task-summary worktree-state""".split()
)
"""Records that hold no conversation of their own."""

REMEMBERED_ANSWERS = 16
"""The lines of one answer stand close together, with only tool results between them."""
REMEMBERED_CALLS = 512
MAX_META = 1 << 20
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class Transcript:
    """One file on its way to events; `state` is what a later read needs to go on where this one ended."""

    def __init__(self, path: str, since: dict[str, Any] | None) -> None:
        self.lines = JsonLines(path, since)
        self.stem = os.path.basename(path).removesuffix(".jsonl")
        self.subagent = self.stem.startswith("agent-")
        self.folder = path.partition(f"{os.sep}subagents{os.sep}")[0].removesuffix(".jsonl")
        since = since or {}
        self.tree = Tree(since.get("tree"))
        self.next: int = since.get("next", 0)
        self.head: dict[str, str] = dict(fields(since.get("head")))
        self.titles: dict[str, str] = dict(fields(since.get("titles")))
        self.answers: dict[str, int] = dict(fields(since.get("answers")))
        self.calls: dict[str, str] = dict(fields(since.get("calls")))
        self.leaves: dict[str, str] = {}
        """Summaries by the record that they end at, of this file or of another."""

    def events(self) -> Iterator[Event]:
        shown = False
        unknown: list[str] = []
        for line, record in self.lines:
            try:
                message = self._message(record, unknown)
            except ODD as error:
                self.lines.skipped.append(odd(line, error))
                continue
            if message is None:
                continue
            if not shown:
                yield self._session()
                shown = True
            if message.parts:
                yield message
        if self.next:
            yield self._session()
        if marked := self.tree.abandoned():
            yield Mark(marked, "abandoned")
        yield from (Title(text, record=leaf) for leaf, text in self.leaves.items() if leaf not in self.tree)
        yield from (Unknown(kind) for kind in unknown)
        yield from self.lines.skipped
        yield Resume(self._state())

    def records(self) -> Iterator[RawRecord]:
        """Every record of the file, with the message that it brings or continues."""
        for line, record in self.lines:
            try:
                message = self._message(record, [])
            except ODD:
                message = None
            yield RawRecord(message and message.index, message and message.role, line, record)

    def _state(self) -> dict[str, Any]:
        return {
            **self.lines.state,
            "next": self.next,
            "head": self.head,
            "titles": self.titles,
            "answers": self.answers,
            "calls": self.calls,
            "tree": self.tree.state,
        }

    # -- the head ------------------------------------------------------------------------------------------------------

    def _session(self) -> Session:
        head = self.head
        parent, relation = self._origin()
        return Session(
            id=f"claude-code:{self.stem}",
            title=self._title(),
            cwd=head.get("cwd"),
            branch=head.get("branch"),
            model=head.get("model"),
            parent=f"claude-code:{parent}" if parent else None,
            relation=relation if parent else None,
            messages=self.next,
        )

    def _title(self) -> str | None:
        found = [self.titles.get(kind) for kind in ("custom-title", "ai-title", "summary")]
        return next(filter(None, found), None) or (self._description() if self.subagent else None)

    def _description(self) -> str | None:
        beside = self.lines.path.removesuffix(".jsonl") + ".meta.json"
        return text_of(side_object(beside, MAX_META).get("description"))

    def _origin(self) -> tuple[str | None, str]:
        """The native id of the session that this one came from, and how.

        A resumed copy shows it only where older clients left the old session id in the copied records.
        """
        head = self.head
        if self.subagent:
            beside = os.path.basename(self.folder)
            return (beside if beside != self.stem else head.get("session")), "subagent"
        if "forked" in head:
            return head["forked"], "fork"
        return (head.get("session") if head.get("mixed") else None), "resume"

    def _envelope(self, record: dict[str, Any]) -> None:
        """Keep what the records say about the session: the first folder, the last branch, the first session id."""
        head = self.head
        if "cwd" not in head and (cwd := text_of(record.get("cwd"))):
            head["cwd"] = cwd
        branch = record.get("gitBranch")
        if isinstance(branch, str) and branch and branch != "HEAD":  # HEAD: detached
            head["branch"] = branch
        session = record.get("sessionId")
        if isinstance(session, str) and head.setdefault("session", session) != session == self.stem:
            head["mixed"] = "1"
        if "forkedFrom" in record and (forked := text_of(fields(record["forkedFrom"]).get("sessionId"))):
            head.setdefault("forked", forked)

    # -- records -------------------------------------------------------------------------------------------------------

    def _message(self, record: dict[str, Any], unknown: list[str]) -> Message | None:
        """The message that a record brings or continues; None for every other record."""
        kind = record.get("type")
        uuid = text_of(record.get("uuid"))
        if uuid and uuid in self.tree:  # written twice
            return None
        if kind == "assistant":
            return self._assistant(record, uuid)
        if kind == "user":
            return self._user(record, uuid)
        attached = fields(record.get("attachment")) if kind == "attachment" else {}
        if attached.get("type") == "queued_command" and attached.get("commandMode", "prompt") == "prompt":
            return self._queued(record, uuid, attached)
        if uuid:
            self._place(uuid, record, Place.LINK)
        self._other(kind, record, unknown)
        return None

    def _other(self, kind: object, record: dict[str, Any], unknown: list[str]) -> None:
        if kind == "summary" and (said := title(text_of(record.get("summary")) or "")):
            self.titles["summary"] = said
            if leaf := text_of(record.get("leafUuid")):
                self.leaves[leaf] = said
        elif kind == "ai-title":
            if said := title(text_of(record.get("aiTitle")) or ""):
                self.titles["ai-title"] = said
        elif kind == "custom-title":
            if said := text_of(record.get("customTitle")):
                self.titles["custom-title"] = said
        elif kind not in SKIPPED_TYPES and kind != "summary":
            unknown.append(str(kind))

    def _place(self, uuid: str | None, record: dict[str, Any], place: Place, index: int | None = None) -> None:
        if uuid:
            parent = text_of(record.get("parentUuid")) or text_of(record.get("logicalParentUuid"))
            self.tree.add(uuid, parent, place, self.next if index is None else index)

    def _new(self, record: dict[str, Any], role: str, parts: list[Part]) -> Message:
        self._envelope(record)
        self.next += 1
        return Message(self.next - 1, role, seconds(record.get("timestamp")), tuple(parts))

    def _queued(self, record: dict[str, Any], uuid: str | None, attached: dict[str, Any]) -> Message | None:
        """A prompt typed while the agent worked."""
        origin = fields(attached.get("origin") or record.get("origin")).get("kind")
        human = origin in (None, "human", "user")
        self._place(uuid, record, Place.QUEUED if human else Place.LINK)
        return self._new(record, "user", _prompts(attached.get("prompt"), uuid)) if human else None

    def _user(self, record: dict[str, Any], uuid: str | None) -> Message:
        content = fields(record.get("message")).get("content")
        blocks = [fields(b) for b in items(content)]
        results = sum(b.get("type") == "tool_result" for b in blocks)
        role = "tool" if results and results == len(blocks) else "user"
        first = "" if results else content if isinstance(content, str) else _first_text(blocks)
        if record.get("isMeta"):
            place, parts = Place.LINK, []
        elif record.get("isCompactSummary") or first.startswith(SUMMARY):
            place, parts = Place.PIECE, _summary(content, uuid)
        elif results:
            place, parts = Place.PIECE, self._results(blocks, results, record, uuid)
        else:
            human = fields(record.get("origin")).get("kind") != "task-notification"
            place = Place.LINK if is_notice(first) else Place.TURN
            parts = _prompts(content, uuid) if human else []
        self._place(uuid, record, place)
        return self._new(record, role, parts)

    def _results(
        self, blocks: list[dict[str, Any]], results: int, record: dict[str, Any], uuid: str | None
    ) -> list[Part]:
        parts: list[Part] = []
        for block in blocks:
            if block.get("type") == "tool_result":
                parts += self._result(block, record if results == 1 else {}, uuid)
            else:
                parts += _prompts([block], uuid)
        return parts

    def _result(self, block: dict[str, Any], record: dict[str, Any], uuid: str | None) -> list[Part]:
        text = result(block["content"] if block.get("content") is not None else record.get("toolUseResult"))
        if text.startswith("<persisted-output>"):
            text = spilled(text, self.folder)
        tool = self.calls.pop(str(block.get("tool_use_id")), None)
        failed = block.get("is_error") is True or "error_code" in fields(block.get("content"))
        return [Part("tool_error" if failed else "tool_output", text, tool, record=uuid)] if text.strip() else []

    def _assistant(self, record: dict[str, Any], uuid: str | None) -> Message:
        message = fields(record.get("message"))
        answer = text_of(message.get("id"))
        index = self.answers.get(answer) if answer else None
        place = Place.TURN if index is None else Place.PIECE
        self._place(uuid, record, place, index)
        model = text_of(message.get("model"))
        if model and model != "<synthetic>":
            self.head["model"] = model
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        parts = [part for block in blocks for part in self._block(fields(block), uuid)]
        if index is not None:
            self._envelope(record)
            return Message(index, "assistant", seconds(record.get("timestamp")), tuple(parts))
        if answer:
            _remember(self.answers, answer, self.next, REMEMBERED_ANSWERS)
        return self._new(record, "assistant", parts)

    def _block(self, block: dict[str, Any], uuid: str | None) -> list[Part]:
        """The parts of one block of an answer."""
        kind = block.get("type")
        if kind == "text":
            text = text_of(block.get("text"))
            return [Part("assistant_text", text, record=uuid)] if text and text != "No response requested." else []
        if kind == "thinking":
            text = text_of(block.get("thinking"))
            return [Part("reasoning", text, record=uuid)] if text else []
        if kind in _CALLS:
            name = text_of(block.get("name")) or "tool"
            if call := text_of(block.get("id")):
                _remember(self.calls, call, name, REMEMBERED_CALLS)
            return [Part("tool_input", f"{name} {compact(block.get('input'))}", name, record=uuid)]
        if isinstance(kind, str) and kind.endswith("_tool_result"):  # a tool that ran on the provider's side
            return self._result(block, {}, uuid)
        return []


def _remember(into: dict[str, Any], key: str, value: object, limit: int) -> None:
    into[key] = value
    if len(into) > limit:
        del into[next(iter(into))]


def _first_text(blocks: list[dict[str, Any]]) -> str:
    texts = (b.get("text") for b in blocks if b.get("type") == "text")
    return next((t for t in texts if isinstance(t, str)), "")


def _summary(content: object, uuid: str | None) -> list[Part]:
    text = result(content)
    return [Part("summary", text, record=uuid)] if text.strip() else []


def _prompts(content: object, uuid: str | None) -> list[Part]:
    """What a person wrote: one part for each text block, with the marks of the images that came with it."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    texts: list[str] = []
    for block in map(fields, blocks):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            if (text := prompt(block["text"])).strip():
                texts.append(text)
        elif block.get("type") in ("image", "document"):
            texts[-1:] = ["\n".join([*texts[-1:], marker(block)])]
    return [Part("user_text", text, record=uuid) for text in texts]
