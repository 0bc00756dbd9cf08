"""The tool `session_search`: DSH's contract over every agent. A row a session with its best snippet, in due time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio

from erstwhile import render
from erstwhile.config import current_session
from erstwhile.errors import ErstError, NotFound, UsageError
from erstwhile.library import Library
from erstwhile.mcp.framing import NOTICE, note_lines, one_line
from erstwhile.mcp.listing import listed
from erstwhile.mcp.tool import Call, Reply, Tool, flag, number, text
from erstwhile.model import Answer, Hit, Query
from erstwhile.render_text import local

NAME = "session_search"
MORE = "(more results available — refine your query)"


class TooSlow(ErstError):
    """The deadline passed."""


async def answer(call: Call) -> Reply:
    """Raises ErstError; the deadline is `timeout_ms` of the settings."""
    settings = call.config.session_search
    query = _query(call)
    with anyio.move_on_after(settings.timeout_ms / 1000):
        found, ends = await call.desk.ask(partial(_ask, query, settings.snippet_length))
        return _reply(call, found, ends)
    raise TooSlow(f"no answer within {settings.timeout_ms:,} ms; ask for less, or try again")


def _query(call: Call) -> Query:
    arguments = call.arguments
    words = arguments.query()
    if not words:
        raise UsageError("query must be a non-empty string.")
    return Query(
        text=words,
        scope="global",
        agents=arguments.words("agent"),
        files=arguments.texts("file"),
        titles=arguments.texts("title"),
        limit=arguments.clamped("limit", max(1, min(call.config.session_search.max_results, 100)), 1, 100),
        cursor=arguments.text("cursor") or None,
        current_session=arguments.text("current_session") or current_session(call.config.environ),
        include_current=arguments.flag("include_current"),
        mode=call.config.search.mode,
        ranking=call.config.search.ranking,
    )


def _ask(query: Query, width: int, library: Library) -> tuple[Answer, list[float | None]]:
    """The answer, and when the session of each hit ended."""
    found = library.search(query, width=width)
    return found, [_end(library, hit) for hit in found.hits]


def _end(library: Library, hit: Hit) -> float | None:
    """A hit knows when its text was said, which is taken when the session has just been forgotten."""
    try:
        return library.show(hit.session, 0, 0, sync=False).session.ended
    except NotFound:
        return hit.time


def _reply(call: Call, found: Answer, ends: Sequence[float | None]) -> Reply:
    hits = tuple(hit._replace(title=one_line(hit.title) or None) for hit in found.hits)
    data = render.answer(found._replace(query=one_line(found.query, 1000), hits=hits))
    rows = [_row(hit, end) for hit, end in zip(hits, ends)]
    notes = [*call.arguments.notes, *found.notes]
    if not rows:
        return listed([f"{NAME}: no matches found."], [], note_lines(notes), data, "hits", notes)
    more = [MORE] if found.next_cursor else []
    return listed([], rows, [*note_lines(notes), NOTICE, *more], data, "hits", notes)


def _row(hit: Hit, end: float | None) -> str:
    """`• Title [session-id] (2026-11-03)` and the snippet below; neither can leave its line."""
    day = local(end, "%Y-%m-%d")
    session = one_line(hit.session_id)
    head = f"• {hit.title or session} [{session}]" + (f" ({day})" if day else "")
    snippet = one_line(hit.snippet, len(hit.snippet) or 1)
    return f"{head}\n  {snippet}" if snippet else head


TOOL = Tool(
    name=NAME,
    title="Find past sessions",
    description=(
        "Full-text search over all earlier sessions of all coding agents on this machine: one row a session with its"
        " best passage. Use it to find where something was worked on, learned or decided before; session_read shows a"
        " session, history searches single messages."
    ),
    properties={
        "query": text("Words to look for; must not be empty."),
        "limit": number("Sessions to return, default 20, at most 100."),
        "agent": text("Only sessions of this agent, such as claude-code, codex, reasonix or dsh; default all."),
        "file": text("Only sessions that touched this file: a path, its end, or a pattern such as src/*.py."),
        "title": text("Only sessions whose title holds this."),
        "current_session": text("Id of the session you are in: what you still see of it is left out."),
        "include_current": flag("true: find what you still see of your own session, too."),
        "cursor": text("next_cursor of the answer before, for the same query."),
    },
    required=("query",),
    answer=answer,
    failure=f"{NAME}: error: ",
)
