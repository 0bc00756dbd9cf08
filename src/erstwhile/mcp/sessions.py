"""The tools `sessions`, which lists them, and `session_read`, which gives a page of one's transcript."""

from __future__ import annotations

from erstwhile import render
from erstwhile.errors import UsageError
from erstwhile.library import Library
from erstwhile.mcp.framing import NOTICE, note_lines, one_line, quoted
from erstwhile.mcp.listing import listed
from erstwhile.mcp.pending import awaiting, pending_note
from erstwhile.mcp.tool import Call, Reply, Tool, number, several, text
from erstwhile.mcp.transcripts import ONE, Lengths, Page, page, reply
from erstwhile.model import KINDS, SCOPES, Coverage, Query, SessionInfo, SessionPage, Transcript
from erstwhile.query import checked
from erstwhile.render_text import local

PATH = 300


# -- sessions ----------------------------------------------------------------------------------------------------------


async def list_sessions(call: Call) -> Reply:
    """Raises ErstError."""
    query = await _query(call)

    def question(library: Library) -> tuple[SessionPage, Coverage]:
        return library.sessions(query), library.coverage()

    found, seen = await call.desk.ask(question)
    infos = [info._replace(title=one_line(info.title) or None) for info in found.sessions]
    data = render.sessions(found._replace(sessions=tuple(infos))) | {"total": found.total}
    notes = [*call.arguments.notes, *pending_note(seen)]
    if not infos:
        advice = "No session fits. That proves little: try other words, fewer filters, or scope global."
        return listed([advice], [], note_lines(notes), data, "sessions", notes)
    head = f"{len(infos)} of {found.total} sessions:"
    more = [f"(more sessions: ask again with cursor={found.next_cursor})"] if found.next_cursor else []
    return listed([head], [_row(info) for info in infos], [*more, *note_lines(notes), NOTICE], data, "sessions", notes)


async def _query(call: Call) -> Query:
    arguments = call.arguments
    folder, scope = arguments.text("project"), arguments.text("scope")
    if scope == "project" and not folder:
        folder = await call.project()
    return checked(
        Query(
            text=arguments.query(),
            scope=scope or None,
            project=folder or None,
            agents=arguments.words("agent"),
            since=arguments.since(),
            until=arguments.until(),
            limit=arguments.clamped("limit", min(call.config.search.limit, 100), 1, 100),
            cursor=arguments.text("cursor") or None,
            mode=call.config.search.mode,
            ranking=call.config.search.ranking,
        )
    )


def _row(info: SessionInfo) -> str:
    when = local(info.ended if info.ended is not None else info.started)
    facts = (
        one_line(info.project or info.cwd, PATH),
        f"{info.messages} message" + ("" if info.messages == 1 else "s"),
        f"{one_line(info.relation) or 'part'} of {one_line(info.parent)}" if info.parent else "",
        "archived" if info.archived else "",
    )
    head = f"• {one_line(info.title) or '(untitled)'} [{one_line(info.session)}]" + (f" ({when})" if when else "")
    return f"{head}\n  {' · '.join(fact for fact in facts if fact)}"


SESSIONS = Tool(
    name="sessions",
    title="List past sessions",
    description=(
        "List earlier sessions of all coding agents on this machine, newest first, or with a query the sessions it"
        " finds, best first. session_read shows one."
    ),
    properties={
        "query": text("Words to look for; without them all sessions are listed."),
        "scope": {
            "type": "string",
            "enum": list(SCOPES),
            "description": "project: the current project, or `project`; global (default): all; archive: archived only.",
        },
        "project": text("Only sessions of this folder."),
        "agent": text("Only sessions of this agent, such as claude-code, codex, reasonix or dsh."),
        "since": text("Only from this time on: 2026-11-03, 2026-11, 7d, today."),
        "until": text("Only up to this time."),
        "limit": number("Sessions to return, default 10, at most 100."),
        "cursor": text("next_cursor of the answer before, for the same question."),
    },
    required=(),
    answer=list_sessions,
)


# -- session_read ------------------------------------------------------------------------------------------------------


async def read(call: Call) -> Reply:
    """Raises ErstError."""
    arguments = call.arguments
    session = arguments.text("session")
    if not session:
        raise UsageError("session is required: an id or session_path from a search hit or from sessions")
    start, count = max(0, arguments.number("start") or 0), arguments.clamped("count", 20, 1, 100)
    kinds = arguments.words("kind")
    checked(Query(kinds=kinds))
    found = await call.desk.ask(awaiting(lambda library: library.show(session, start, count + 1, kinds)))
    wanted = found.messages[:count]
    shown = page(found._replace(messages=wanted), 0, Lengths(text=ONE, arguments=ONE) if count == 1 else Lengths())
    following = _following(found, shown)
    lines = note_lines(arguments.notes)
    if not wanted:
        lines.append(f"No message from {start} on has text of these kinds; the session has {found.session.messages}.")
    if following is not None:
        cut = f"[cut: {shown.after} of the {len(wanted)} messages did not fit] " if shown.after else ""
        lines.append(f"{cut}The session goes on: session_read with start={following} reads on.")
    elif wanted:
        lines.append("This is the end of the session.")
    head = f"Session {one_line(found.session.session)}, {quoted(found.session.title or '(untitled)')}:"
    return reply(found.session, shown, head, lines, arguments.notes, next_start=following)


def _following(found: Transcript, shown: Page) -> int | None:
    """The index of the first message that was found and not shown."""
    rest = found.messages[len(shown.messages) :]
    return rest[0].message_index if rest else None


READ = Tool(
    name="session_read",
    title="Read a past session",
    description=(
        "Read a page of an earlier session's transcript, from message `start` on. Texts are cut at 2,000 characters;"
        " with count=1 at 30,000. The answer says where to read on."
    ),
    properties={
        "session": text("Session id, the beginning of one, or session_path of a hit."),
        "start": number("Index of the first message, default 0."),
        "count": number("Messages to return, default 20, at most 100."),
        "kind": several("Only these kinds; default all.", KINDS),
    },
    required=("session",),
    answer=read,
)
