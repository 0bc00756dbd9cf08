"""The tool `history`: Reasonix's contract over every agent. `search` ranks what was said, `around` shows where."""

from __future__ import annotations

from erstwhile import render
from erstwhile.config import current_session
from erstwhile.errors import UsageError
from erstwhile.library import Library
from erstwhile.mcp.framing import NOTICE, note_lines, one_line, quoted
from erstwhile.mcp.listing import listed
from erstwhile.mcp.pending import awaiting
from erstwhile.mcp.tool import Call, Reply, Tool, flag, number, several, text
from erstwhile.mcp.transcripts import Lengths, page, reply
from erstwhile.model import KINDS, Answer, Hit, Query
from erstwhile.query import parse

DEFAULT_KINDS = ("user_text", "assistant_text", "tool_input", "tool_error", "summary", "document")
SCOPES = ("project", "global")
PATH = 1000
READ_ON = 'Use operation="around" with a session_path and message_index to read nearby messages.'


async def answer(call: Call) -> Reply:
    """Raises ErstError."""
    operation = call.arguments.text("operation")
    if operation == "search":
        return await _search(call)
    if operation == "around":
        return await _around(call)
    if not operation:
        raise UsageError("operation is required: search or around")
    raise UsageError(f"unknown operation {quoted(operation)}: use search or around")


# -- search ------------------------------------------------------------------------------------------------------------


async def _search(call: Call) -> Reply:
    query = await _query(call)
    named = query.sessions

    def question(library: Library) -> Answer:
        full = tuple(library.show(name, 0, 0).session.session if _is_path(name) else name for name in named)
        return library.search(query._replace(sessions=full))

    found = await call.desk.ask(question)
    notes = [*call.arguments.notes, *found.notes]
    data = render.answer(found._replace(query=one_line(found.query, 1000), hits=tuple(map(_short, found.hits))))
    if not found.hits:
        advice = _nothing(query)
        return listed(advice, [], note_lines(notes), data, "hits", notes, " ".join(advice[2:]))
    head = f"History search results for {quoted(query.text)}:"
    rows = [_row(number, hit) for number, hit in enumerate(found.hits, 1)]
    return listed([head], rows, ["", *note_lines(notes), READ_ON, NOTICE], data, "hits", notes)


async def _query(call: Call) -> Query:
    arguments, settings = call.arguments, call.config.search
    words = arguments.query()
    if not words:
        raise UsageError("query is required for operation=search: a few rare words, a name or a quoted phrase")
    scope = arguments.text("scope") or "project"
    if scope not in SCOPES:
        raise UsageError(f'scope must be "project" or "global", not {quoted(scope)}')
    limit = arguments.number("limit")
    return Query(
        text=words,
        scope=scope,
        project=await call.project() if scope == "project" else None,
        agents=arguments.words("agent"),
        kinds=arguments.words("kind") or (() if _names_kinds(words) else DEFAULT_KINDS),
        tools=arguments.texts("tool_name"),
        files=arguments.texts("file"),
        titles=arguments.texts("title"),
        sessions=arguments.texts("session"),
        collections=arguments.texts("collection"),
        since=arguments.since(),
        until=arguments.until(),
        subagents=arguments.text("subagents") or None,
        current_session=arguments.text("current_session") or current_session(call.config.environ),
        include_current=arguments.flag("include_current"),
        # as in Reasonix, what is no count at all means the default
        limit=min(limit, 20) if limit is not None and limit > 0 else 8,
        cursor=arguments.text("cursor") or None,
        group="none",
        mode=settings.mode,
        ranking=settings.ranking,
    )


def _names_kinds(text: str) -> bool:
    """Whether the query's own text says which kinds are meant; the default would only widen that."""
    return any(field == "kind" for field, _ in parse(text).filters)


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name


def _short(hit: Hit) -> Hit:
    return hit._replace(title=one_line(hit.title) or None)


def _row(number: int, hit: Hit) -> str:
    """One hit below an empty line. Its texts stand in lines of their own and cannot leave them: no line end is kept."""
    tool = f" tool={one_line(hit.tool)}" if hit.tool else ""
    return (
        f"\n{number}. score={hit.score:.3f} source={hit.source} session_id={one_line(hit.session_id)}"
        f" message_index={hit.message_index} kind={hit.kind} role={one_line(hit.role)}{tool}{_section(hit)}\n"
        f"   session_path: {one_line(hit.session_path, PATH)}\n"
        f"   snippet: {one_line(hit.snippet, 240)}"
    )


def _section(hit: Hit) -> str:
    """Where in a collection a document lies."""
    if not hit.collection:
        return ""
    heading = f" heading={quoted(hit.heading)}" if hit.heading else ""
    return f" collection={one_line(hit.collection)} slug={one_line(hit.slug)}{heading}"


def _nothing(query: Query) -> list[str]:
    lines = [f"No saved session history matched {quoted(query.text)}.", ""]
    lines.append("Zero results prove nothing: it may have been said in other words or elsewhere. To widen the search:")
    lines.append("1. Try other, fewer and rarer words: a function, a file, a command, a piece of an error message.")
    if query.scope == "project":
        lines.append('2. Search all projects and the archive with scope="global".')
    else:
        lines.append("2. Drop filters such as agent, since, until and session.")
    lines.append(
        '3. Search other kinds: kind=["tool_output"] for what tools printed, or "reasoning"; tool_name picks a tool.'
    )
    return lines


# -- around ------------------------------------------------------------------------------------------------------------


async def _around(call: Call) -> Reply:
    arguments = call.arguments
    session = arguments.text("session_path") or arguments.text("session")
    index = arguments.number("message_index")
    if not session:
        raise UsageError("session_path is required for operation=around: take it from a search hit")
    if index is None:
        raise UsageError("message_index is required for operation=around: take it from a search hit")
    before, after = arguments.clamped("before", 3, 0, 10), arguments.clamped("after", 3, 0, 10)
    found = await call.desk.ask(awaiting(lambda library: library.around(session, index, before, after)))
    centre = next((at for at, one in enumerate(found.messages) if one.message_index >= index), len(found.messages) - 1)
    shown = page(found, max(0, centre), Lengths())
    lines = note_lines(arguments.notes)
    if all(message.message_index != index for message in found.messages):
        lines.append(f"Message {index} itself holds no text that is kept.")
    if shown.before or shown.after:
        lines.append(
            f"[cut: {shown.before} messages before and {shown.after} after these; smaller before and after, or"
            " session_read with start and count, read them]"
        )
    head = f"History around {one_line(session, PATH)} message_index={index}:"
    return reply(found.session, shown, head, lines, arguments.notes)


TOOL = Tool(
    name="history",
    title="Search past sessions",
    description=(
        "Search what you and other coding agents said and did in earlier sessions on this machine, then read the"
        " messages around a hit. Use operation=search when an earlier decision, failed attempt, command, error or fix"
        " may help; use operation=around with a hit's session_path and message_index to read on there. Searches what"
        " people and agents wrote, tool inputs, tool errors, summaries and added notes; what tools printed is searched"
        " only if kind includes tool_output. Zero results do not prove that something never happened."
    ),
    properties={
        "operation": {
            "type": "string",
            "enum": ["search", "around"],
            "description": "search ranks saved history; around shows the messages near a hit.",
        },
        "query": text(
            'For search: a few rare words, identifiers or error text; "quoted phrase", -word, +word are understood.'
        ),
        "scope": {
            "type": "string",
            "enum": list(SCOPES),
            "default": "project",
            "description": "project: sessions of the current project; global: all projects and archived sessions.",
        },
        "kind": several(f"Kinds to search. Default: {', '.join(DEFAULT_KINDS)}.", KINDS),
        "tool_name": text("Only calls and results of this tool."),
        "limit": number("Hits to return, default 8, at most 20."),
        "session_path": text("For around: session_path of a hit, or a session id."),
        "message_index": number("For around: message_index of a hit."),
        "before": number("For around: messages before it, default 3 (null), at most 10; 0 for none.", nullable=True),
        "after": number("For around: messages after it, default 3 (null), at most 10; 0 for none.", nullable=True),
        "agent": text("Only sessions of this agent, such as claude-code, codex, reasonix or dsh."),
        "file": text("Only sessions that touched this file: a path, its end, or a pattern such as src/*.py."),
        "title": text("Only sessions whose title holds this."),
        "since": text("Only from this time on: 2026-11-03, 2026-11, 7d, today."),
        "until": text("Only up to this time."),
        "subagents": text("no: without sub-agents' sessions; only: nothing else. Default: both, parents first."),
        "session": text("Only this session: its id or its path."),
        "collection": text("Only this collection of notes."),
        "current_session": text("Id of the session you are in: what you still see of it is left out."),
        "include_current": flag("true: find what you still see of your own session, too."),
        "cursor": text("next_cursor of the answer before, for the same question."),
    },
    required=("operation",),
    answer=answer,
)
