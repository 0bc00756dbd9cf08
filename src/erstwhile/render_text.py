"""Values of the model -> text for people: hits, lists and transcripts, in a given width, with or without colour.

Every text that comes from a log goes through `visible`: a recorded escape sequence must not reach the terminal.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import groupby

from .layout import BLUE, BOLD, CYAN, DIM, GREEN, MATCH, RED, YELLOW, Span, broken, cells, cut, marked, padded, painted
from .snippet import visible
from .values import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .config_file import Value
    from .model import (
        Added,
        Answer,
        Checkup,
        Child,
        Hit,
        MessageView,
        PartView,
        RawTranscript,
        SessionInfo,
        SessionPage,
        SourceStatus,
        Stats,
        Transcript,
    )

MINUTE, HOUR, DAY = 60, 3600, 86_400
INDENT = "    "
NAMED = 10
"""Children that the head of a transcript names; of more it says how many there are."""
WIDEN = "That proves little: try other or fewer words, fewer filters, or --scope global."


class Style(NamedTuple):
    """What a text is laid out for."""

    width: int = 100
    colour: bool = False
    now: float = 0.0
    """Seconds since 1970, for ages."""
    home: str = ""
    """The user's home folder, shown as `~`."""

    def paint(self, text: str, style: str) -> str:
        return painted(text, style, self.colour)


# -- small pieces ----------------------------------------------------------------------------------------------------


def age(seconds: float | None, now: float) -> str:
    """How long ago: `just now`, `5 minutes ago`, `3 days ago`; empty for no time."""
    if seconds is None:
        return ""
    passed = now - seconds
    if passed < MINUTE:
        return "just now" if passed > -DAY else local(seconds, "%Y-%m-%d")
    for size, name in ((365 * DAY, "year"), (30 * DAY, "month"), (7 * DAY, "week"), (DAY, "day"), (HOUR, "hour")):
        if passed >= size * (2 if name == "week" else 1):
            return _many(int(passed // size), name) + " ago"
    return _many(int(passed // MINUTE), "minute") + " ago"


def local(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """The time in the user's zone; empty for none or one outside the calendar."""
    if seconds is None:
        return ""
    try:
        return time.strftime(form, time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return ""


def short(session_id: str) -> str:
    """The beginning of a native id that names the session well enough for `erst around`: a UUID without its last three
    groups, which keeps all of the time in UUIDs that begin with one."""
    groups = (-13, -18, -23, -28)
    if len(session_id) >= 36 and all(session_id[position] == "-" for position in groups):
        return session_id[:-23]
    return session_id


def tilde(path: str, style: Style) -> str:
    """A path with `~` for the user's home."""
    path = visible(path)
    if style.home and (path == style.home or path.startswith((style.home + "/", style.home + "\\"))):
        return "~" + path[len(style.home) :]
    return path


def folder(path: str | None, style: Style, width: int = 40) -> str:
    """A path for people: `~` for the home, and only its end when it is long."""
    if not path:
        return ""
    path = tilde(path, style)
    if cells(path) <= width:
        return path
    parts = path.replace("\\", "/").split("/")
    return cut("…/" + "/".join(parts[-2:]), width)


def bytes_(count: int) -> str:
    """A size: `12 KB`, `3.4 MB`."""
    size, unit = float(count), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 10 or unit == "B" else f"{size:.1f} {unit}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _one_line(text: str) -> str:
    return visible(text)


def _joined(pieces: Iterable[str]) -> str:
    return " · ".join(piece for piece in pieces if piece)


# -- an answer -------------------------------------------------------------------------------------------------------


def answer(value: Answer, style: Style) -> str:
    """The hits, how many there are, and what the notes say."""
    blocks = [hit(one, style) for one in value.hits]
    blocks.append("\n".join(_footer(value, style)) + "\n")
    return "\n".join(blocks)


def _origin(value: Hit, style: Style) -> Iterator[str]:
    """Where a hit comes from: an agent and its project, or a collection, its document and the section."""
    if value.collection:
        yield style.paint(visible(value.collection), CYAN)
        yield style.paint(visible(value.slug or ""), BLUE)
        yield style.paint(visible(value.heading or ""), GREEN)
        yield age(value.time, style.now)
        return
    yield style.paint(value.agent, CYAN)
    yield style.paint(folder(value.project, style), BLUE)
    yield age(value.time, style.now)
    yield style.paint(_kind(value), RED if value.kind == "tool_error" else GREEN)


def _quoted(session_id: str) -> str:
    """An id as a shell takes it: that of a note is a path and may hold spaces."""
    return f'"{session_id}"' if " " in session_id else session_id


def hit(value: Hit, style: Style) -> str:
    """A title, where it comes from, the snippet, and what `erst around` needs to show more."""
    number = f"{value.rank}."
    title = cut(_one_line(value.title or "(untitled)"), style.width - len(INDENT))
    origin = _joined(_origin(value, style))
    place = _joined(
        (
            f"{_quoted(short(visible(value.session_id)))} {value.message_index}",
            f"{value.more} more here" if value.more else "",
            _many(value.copies - 1, "copy").replace("copys", "copies") if value.copies > 1 else "",
            f"from {short(visible(value.parent.partition(':')[2]))}" if value.parent else "",
            "archived" if value.archived else "",
            (value.state or "").replace("_", " "),
        )
    )
    lines = [f"{number:<{len(INDENT)}}{style.paint(title, BOLD)}", INDENT + origin]
    lines += (INDENT + line for line in _snippet(value, style))
    lines.append(INDENT + style.paint(place, DIM))
    if value.explanation:
        lines += (INDENT + style.paint(line, DIM) for line in _explanation(value.score, value.explanation))
    return "\n".join(lines) + "\n"


def _kind(value: Hit) -> str:
    return _joined((value.kind.replace("_", " "), visible(value.tool or "")))


def _snippet(value: Hit, style: Style) -> Iterator[str]:
    text, spans = _safe(value.snippet, value.highlights)
    for line in broken(text, style.width - len(INDENT)):
        yield marked(text, line, spans, MATCH, style.colour)


def _safe(text: str, spans: Iterable[Span]) -> tuple[str, list[Span]]:
    """The visible text and where the spans are in it: what disappears moves them."""
    out, at, moved = "", 0, list[Span]()
    for start, end in spans:
        out += visible(text[at:start])
        marked_text = visible(text[start:end])
        moved.append((len(out), len(out) + len(marked_text)))
        out, at = out + marked_text, end
    return out + visible(text[at:]), moved


def _explanation(score: float, explanation: dict[str, Any]) -> Iterator[str]:
    """The score as a small table: a line a term, then what it was measured by."""
    copies = _many(explanation["copies"], "copy").replace("copys", "copies")
    yield f"score {score:.3f}: tier {explanation['tier']}, {copies}"
    yield f"  {'term':<24}{'adds':>8}{'idf':>7}{'own':>5}{'lent':>5}{'near':>6}"
    for term in explanation["terms"]:
        name = padded(cut(visible(term["term"]), 23), 24)
        near = f"{term['from_neighbours']:.2f}".rstrip("0").rstrip(".")
        yield f"  {name}{term['adds']:>8.3f}{term['idf']:>7.2f}{term['own']:>5}{term['inherited']:>5}{near:>6}"
    for pair in explanation.get("side_by_side", ()):
        yield f"  {visible(' '.join(pair['terms']))}, side by side, adds {pair['adds']:.3f}"
    if "matches" in explanation:
        yield f"  matches of expressions add {explanation['matches']:.3f}"
    if length := explanation.get("length"):
        yield f"  {length['own']} tokens, counted as {length['counted']:.0f}; {length['average']:.0f} on average"
    if session := explanation.get("session"):
        adds = " + ".join(f"{part['adds']:.3f}" for part in session[:5])
        yield f"  session: {adds}{' + …' if len(session) > 5 else ''}"


def _when(value: Answer) -> str:
    """The times that the question was narrowed to, with the zone they were understood in."""
    bounds = (("since", value.since), ("until", value.until))
    return "".join(f" {name} {local(at, '%Y-%m-%d %H:%M %Z')}" for name, at in bounds if at is not None)


def _footer(value: Answer, style: Style) -> Iterator[str]:
    if value.hits:
        about = "" if value.total.exact else "at least "
        noun = "session" if any(one.more for one in value.hits) else "hit"
        shown = f", {len(value.hits)} shown" if value.total.count > len(value.hits) else ""
        where = f"in scope {value.scope}{_when(value)}"
        yield style.paint(f"{about}{_many(value.total.count, noun)} {where}{shown}", DIM)
    else:
        yield f"Nothing found for {visible(value.query)!r} in scope {value.scope}{_when(value)}. {WIDEN}"
    for note in value.notes:
        yield style.paint(f"note: {_one_line(note.text)}", YELLOW)


# -- sessions and transcripts ----------------------------------------------------------------------------------------


def sessions(value: SessionPage, style: Style) -> str:
    """One session a block, and how many there are."""
    blocks = [_listed(one, style) for one in value.sessions]
    more = f", {len(value.sessions)} shown" if value.total > len(value.sessions) else ""
    about = "" if value.exact else "at least "
    blocks.append(style.paint(about + _many(value.total, "session") + more, DIM) + "\n")
    return "".join(blocks)


def _listed(value: SessionInfo, style: Style) -> str:
    title = cut(_one_line(value.title or "(untitled)"), style.width)
    about = _joined(
        (
            style.paint(value.agent, CYAN),
            style.paint(folder(value.project or value.cwd, style), BLUE),
            age(value.ended or value.started, style.now),
            _many(value.messages, "message"),
            f"{value.relation or 'part'} of {short(visible(value.parent.partition(':')[2]))}" if value.parent else "",
            *_children(value.children),
            "archived" if value.archived else "",
            style.paint(short(visible(value.session_id)), DIM),
        )
    )
    return f"{style.paint(title, BOLD)}\n{INDENT}{about}\n"


def transcript(value: Transcript, style: Style, wanted: int | None = None) -> str:
    """The session's head and its messages; the message `wanted` is marked."""
    blocks = [_head(value.session, style)]
    blocks += (_message(one, style, one.message_index == wanted) for one in value.messages if one.parts)
    return "\n".join(blocks)


def _head(value: SessionInfo, style: Style) -> str:
    lines = [style.paint(_one_line(value.title or "(untitled)"), BOLD)]
    facts = (
        ("session", value.session),
        ("folder", tilde(value.cwd or value.project or "", style)),
        ("branch", value.branch),
        ("model", value.model),
        ("time", " to ".join(dict.fromkeys(filter(None, (local(value.started), local(value.ended)))))),
        ("parent", f"{value.parent} ({value.relation})" if value.parent else None),
        ("file", tilde(value.session_path, style)),
        *(("child", _child(one)) for one in value.children[:NAMED]),
        ("", f"and {len(value.children) - NAMED} more" if len(value.children) > NAMED else None),
    )
    lines += (f"{style.paint(name.ljust(8), DIM)}{visible(fact)}" for name, fact in facts if fact)
    return "\n".join(lines) + "\n"


def _child(value: Child) -> str:
    title = f", {cut(_one_line(value.title), 60)}" if value.title else ""
    return f"{value.session} ({value.relation or 'part'}){title}"


def _children(values: tuple[Child, ...]) -> Iterator[str]:
    """How many sessions came from one, by how they did: `2 sub-agents`."""
    names = {"subagent": "sub-agent", "resume": "resumed copy", "compaction": "compaction archive", None: "part"}
    for relation in dict.fromkeys(one.relation for one in values):
        count = sum(one.relation == relation for one in values)
        yield _many(count, names.get(relation) or str(relation)).replace("copys", "copies")


def raw(value: RawTranscript, style: Style) -> str:
    """The session's head and the records of its file, each as one line of JSON."""
    from .render import dumps

    blocks = [_head(value.session, style)]
    for one in value.records:
        what = f"{one.message_index} {one.role or ''}".rstrip() if one.message_index is not None else "beside"
        place = f" line {one.line}" if one.line is not None else ""
        blocks.append(f"{style.paint(f'[{what}]{place}', CYAN)}\n{visible(dumps(one.record), keep_lines=True)}\n")
    return "\n".join(blocks)


def _message(value: MessageView, style: Style, wanted: bool) -> str:
    head = _joined((f"[{value.message_index} {value.role}]", local(value.time)))
    lines = [style.paint(head, MATCH if wanted else CYAN)]
    for part in value.parts:
        lines.append(_part(part, style))
    return "\n".join(lines) + "\n"


def _part(value: PartView, style: Style) -> str:
    label = ""
    if value.kind == "document":
        label = style.paint(visible(value.heading), BOLD) + "\n" if value.heading else ""
    elif value.kind not in ("user_text", "assistant_text"):
        colour = RED if value.kind == "tool_error" else GREEN
        # The text of a call begins with the name of its tool.
        tool = "" if value.kind == "tool_input" else visible(value.tool or "")
        label = style.paint(_joined((value.kind.replace("_", " "), tool)), colour) + "\n"
    if value.state:
        label += style.paint(f"({value.state.replace('_', ' ')})", DIM) + "\n"
    return label + visible(value.text.rstrip(), keep_lines=True)


# -- sources, counts, settings ---------------------------------------------------------------------------------------


def sources(values: Iterable[SourceStatus], style: Style) -> str:
    """One source a line with its state; what was skipped in it below."""
    out: list[str] = []
    for value in values:
        colour = {"ok": GREEN, "vanished": DIM, "excluded": DIM}.get(value.state, RED)
        count = _joined((_many(value.sessions, "session"), _many(value.messages, "message")))
        state = style.paint(padded(value.state, 9), colour)
        out.append(f"{state}{padded(visible(value.agent), 13)}{tilde(value.path, style)}\n")
        details = [count, value.reason or ""]
        details += (f"{f'line {one.line}: ' if one.line else ''}{one.reason}" for one in value.skipped)
        details += (f"unknown record type {name} ({times}x)" for name, times in value.unknown.items())
        out += (f"{' ' * 9}{style.paint(visible(detail), DIM)}\n" for detail in details if detail)
    return "".join(out) or "No logs found.\n"


def checkup(value: Checkup, style: Style) -> str:
    """How much each agent gave, and every finding in words."""
    out: list[str] = []
    for agent, group in groupby(value.sources, key=lambda one: one.agent):
        members = list(group)
        count = _joined(
            (
                _many(len(members), "source"),
                _many(sum(one.sessions for one in members), "session"),
                _many(sum(one.messages for one in members), "message"),
                _many(sum(1 for one in members if one.state == "vanished"), "vanished source"),
            )
        )
        out.append(f"{style.paint(padded(visible(agent), 13), BOLD)}{count}\n")
    for one in value.findings:
        out.append(f"\n{style.paint(one.code.replace('_', ' '), RED)}  {tilde(one.path, style)}\n")
        out.append(f"{INDENT}{visible(one.text)}\n")
    if not value.findings:
        out.append("\nNothing is wrong.\n" if value.sources else "No logs found.\n")
    return "".join(out)


def added(value: Added, style: Style) -> str:
    """What `erst add` did."""
    what = _named(value)
    if value.waiting:
        return f"Added {what}; another process is indexing, it is read by the next search.\n"
    count = f"{_many(value.documents, 'document')} from {_many(value.files, 'file')}"
    return f"Added {what}: {count} in {tilde(value.path, style)}\n"


def removed(value: Added, style: Style) -> str:
    """What `erst remove` did."""
    count = f"{_many(value.documents, 'document')} from {_many(value.files, 'file')}"
    return f"Removed {_named(value)}: {count}. The files in {tilde(value.path, style)} are as they were.\n"


def _named(value: Added) -> str:
    return f"the collection {visible(value.name)}" if value.name else f"a folder of {visible(value.agent)}"


def stats(value: Stats, style: Style) -> str:
    """The counts of `erst stats`."""
    seen = value.coverage
    size = f"store {bytes_(value.store_bytes)}, index {bytes_(value.index_bytes)}"
    lines = [
        f"{_many(seen.sources, 'source')}, {seen.indexed:,} indexed, {seen.pending:,} pending, {seen.failed:,} failed",
        f"{_many(seen.sessions, 'session')}, {_many(seen.documents, 'document')}",
        f"{value.text_characters:,} characters of text; {size}",
    ]
    for name, counts in (("agents", value.agents), ("kinds", value.kinds), ("projects", value.projects)):
        lines += ["", style.paint(name, BOLD)]
        lines += (f"  {count:>9,}  {folder(key, style, style.width - 14)}" for key, count in counts.items())
    lines += ["", style.paint("versions", BOLD)]
    lines += (f"  {name} {version}" for name, version in value.versions.items())
    return "\n".join(lines) + "\n"


def settings(values: Iterable[Value], style: Style) -> str:
    """Every setting, its value, and where that came from."""
    rows = [(value.key, _value(value.value, style), tilde(value.origin, style)) for value in values]
    first, second = (max(cells(row[column]) for row in rows) for column in (0, 1))
    second = min(second, 60)
    return "".join(
        f"{padded(key, first)}  {value}{' ' * (second - cells(value))}  {style.paint(origin, DIM)}\n"
        for key, value, origin in rows
    )


def _value(value: object, style: Style) -> str:
    if isinstance(value, tuple):
        return ", ".join(tilde(str(one), style) for one in value) or "-"
    if isinstance(value, bool):
        return str(value).lower()
    return tilde(str(value), style) or "-"
