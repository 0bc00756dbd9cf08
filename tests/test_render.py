"""The shapes and texts that the doors give, from values made by hand."""

from __future__ import annotations

import json

import pytest

from erstwhile import render, render_markdown, render_text
from erstwhile.model import (
    Answer,
    Coverage,
    Hit,
    MessageView,
    Note,
    PartView,
    SessionInfo,
    SessionPage,
    Skipped,
    SourceStatus,
    Total,
    Transcript,
)
from erstwhile.render_text import Style

NOW = 1_796_000_000.0
STYLE = Style(width=60, now=NOW, home="/home/dev")
HIT = Hit(
    rank=1,
    score=7.42199,
    session="codex:019f5c5a-eb02-7ff0-90af-653b66eba9f4",
    session_id="019f5c5a-eb02-7ff0-90af-653b66eba9f4",
    agent="codex",
    title="Postgres unique index",
    project="/home/dev/shop",
    session_path="/home/dev/.codex/sessions/rollout.jsonl",
    message_index=42,
    ordinal=57,
    kind="tool_error",
    role="tool",
    tool="bash",
    time=NOW - 3 * 86_400,
    heading=None,
    snippet="psql: ERROR: canceling statement due to lock timeout",
    highlights=((6, 11), (40, 52)),
    copies=1,
    parent=None,
    archived=False,
    source="project",
)
COVERAGE = Coverage(3, 3, 0, 0, 2, 91)
ANSWER = Answer("lock timeout", "project", "contextual", "lexical", Total(1, True), (HIT,), None, COVERAGE, ())
SESSION = SessionInfo(
    session=HIT.session,
    session_id=HIT.session_id,
    agent="codex",
    title="Postgres unique index",
    project="/home/dev/shop",
    cwd="/home/dev/shop",
    branch="main",
    model="gpt",
    started=NOW - 7200,
    ended=NOW - 3600,
    parent=None,
    relation=None,
    archived=False,
    session_path=HIT.session_path,
    messages=2,
    counts={"user_text": 1, "tool_output": 1},
)
MESSAGES = (
    MessageView(0, "user", NOW - 7200, (PartView(0, "user_text", None, "Make it\nsafe.", None),)),
    MessageView(1, "system", None, ()),
    MessageView(2, "tool", NOW - 3600, (PartView(1, "tool_output", "bash", "```\nok\n```", "shadowed"),)),
)


# -- JSON ------------------------------------------------------------------------------------------------------------


def test_the_envelope_has_the_documented_names_in_their_order() -> None:
    shape = json.loads(render.dumps(render.answer(ANSWER._replace(notes=(Note("weak", "few words", 2),)))))
    assert list(shape) == [
        *("schema_version", "query", "scope", "ranking", "mode", "total"),
        *("hits", "next_cursor", "coverage", "notes"),
    ]
    assert shape["schema_version"] == 1
    assert shape["total"] == {"count": 1, "exact": True}
    assert shape["notes"] == [{"code": "weak", "text": "few words", "count": 2}]
    assert list(shape["hits"][0])[:20] == [
        *("rank", "score", "session", "session_id", "agent", "title", "project", "session_path", "message_index"),
        *(
            "ordinal",
            "kind",
            "role",
            "tool",
            "time",
            "heading",
            "snippet",
            "highlights",
            "copies",
            "parent",
            "archived",
        ),
    ]


def test_a_hits_time_is_utc_to_the_second_and_its_highlights_are_pairs() -> None:
    shape = render.hit(HIT._replace(time=1_793_693_700.987))
    assert (shape["time"], shape["score"]) == ("2026-11-03T08:15:00Z", 7.422)
    assert shape["highlights"] == [[6, 11], [40, 52]]
    assert "explanation" not in shape
    assert render.hit(HIT._replace(explanation={"lock": 1.5}))["explanation"] == {"lock": 1.5}


@pytest.mark.parametrize("seconds", [None, float("nan"), float("inf"), 1e30])
def test_a_time_outside_the_calendar_is_null(seconds: float | None) -> None:
    assert render.utc(seconds) is None


def test_a_transcript_has_the_shapes_session_and_message() -> None:
    shape = render.transcript(Transcript(SESSION, MESSAGES))
    assert list(shape["session"]) == [
        *("session", "session_id", "agent", "title", "project", "cwd", "branch", "model", "started", "ended"),
        *("parent", "relation", "archived", "session_path", "messages", "counts"),
    ]
    assert shape["messages"][0] == {
        "message_index": 0,
        "role": "user",
        "time": render.utc(NOW - 7200),
        "parts": [{"ordinal": 0, "kind": "user_text", "tool": None, "text": "Make it\nsafe.", "state": None}],
    }


def test_a_source_names_what_was_skipped_and_what_is_unknown() -> None:
    status = SourceStatus("codex", "/x", "partial", 1, 5, (Skipped(4, "not valid JSON"),), {"odd": 2})
    assert render.source(status) == {
        "agent": "codex",
        "path": "/x",
        "state": "partial",
        "sessions": 1,
        "messages": 5,
        "skipped": [{"line": 4, "reason": "not valid JSON"}],
        "unknown": {"odd": 2},
    }
    assert render.source(status._replace(reason="locked"))["reason"] == "locked"


def test_json_is_safe_to_look_at_and_says_the_same() -> None:
    hostile = "a\x1b]0;x\x07 b\u202ec \x9bm \udcb2 数据 \u2028"
    line = render.dumps({"text": hostile})
    assert line.isprintable()
    assert json.loads(line)["text"] == hostile.replace("\udcb2", "?")
    assert "数据" in line


# -- text ------------------------------------------------------------------------------------------------------------


def test_a_hit_says_title_agent_project_age_kind_snippet_and_how_to_read_on() -> None:
    assert render_text.hit(HIT, STYLE) == (
        "1.  Postgres unique index\n"
        "    codex · ~/shop · 3 days ago · tool error · bash\n"
        "    psql: ERROR: canceling statement due to lock timeout\n"
        "    019f5c5a-eb02 42\n"
    )


def test_copies_other_hits_parent_and_archive_stand_below_the_snippet() -> None:
    hit = HIT._replace(copies=3, more=2, parent="codex:abc", archived=True, state="rolled_back")
    last = render_text.hit(hit, STYLE).splitlines()[-1]
    assert last == "    019f5c5a-eb02 42 · 2 more here · 2 copies · from abc · archived · rolled back"


def test_matched_words_are_coloured_on_a_terminal_even_across_lines() -> None:
    hit = HIT._replace(highlights=((6, 11), (33, 52)))
    text = render_text.hit(hit, STYLE._replace(width=42, colour=True))
    assert "\x1b[1;33mERROR\x1b[0m: canceling" in text
    assert " \x1b[1;33mdue\x1b[0m\n    \x1b[1;33mto lock timeout\x1b[0m\n" in text


def test_no_recorded_text_reaches_the_terminal_as_a_command() -> None:
    evil = "x\x1b[31m\x1b]0;title\x07\u202e\x9b2Jy"
    hit = HIT._replace(
        title=evil, project=evil, session_id=evil, tool=evil, snippet=evil, highlights=((0, 9),), heading=evil
    )
    session = SESSION._replace(title=evil, cwd=evil, branch=evil, model=evil, session_path=evil, parent=evil)
    part = PartView(0, "tool_output", evil, evil, None)
    page = SessionPage((session,), None, 1)
    status = SourceStatus(evil, evil, "failed", 0, 0, (Skipped(1, evil),), {evil: 1}, evil)
    answer = ANSWER._replace(hits=(hit,), query=evil, notes=(Note("weak", evil),))
    transcript = Transcript(session, (MessageView(0, "tool", None, (part,)),))
    for text in (
        render_text.answer(answer, STYLE),
        render_text.answer(answer._replace(hits=()), STYLE),
        render_text.sessions(page, STYLE),
        render_text.transcript(transcript, STYLE),
        render_text.sources([status], STYLE),
        render_markdown.transcript(transcript),
    ):
        assert text.replace("\n", "").isprintable()


def test_an_empty_answer_says_so_with_its_notes() -> None:
    notes = (Note("outside_scope", "9 more hits in other projects", 9), Note("index_pending", "2 sources to read", 2))
    answer = ANSWER._replace(hits=(), total=Total(0, True), notes=notes)
    assert render_text.answer(answer, STYLE) == (
        "Nothing found for 'lock timeout' in scope project. "
        "That proves little: try other or fewer words, fewer filters, or --scope global.\n"
        "note: 9 more hits in other projects\n"
        "note: 2 sources to read\n"
    )


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (5, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (7200, "2 hours ago"),
        (86_400 * 3, "3 days ago"),
        (86_400 * 13, "13 days ago"),
        (86_400 * 14, "2 weeks ago"),
        (86_400 * 45, "1 month ago"),
        (86_400 * 800, "2 years ago"),
        (-3600, "just now"),
    ],
)
def test_ages_are_said_in_the_largest_fitting_unit(passed: float, said: str) -> None:
    assert render_text.age(NOW - passed, NOW) == said


@pytest.mark.parametrize(
    ("native", "short"),
    [
        ("019f5c5a-eb02-7ff0-90af-653b66eba9f4", "019f5c5a-eb02"),
        ("session-0b7b1b1e-52f5-4c86-8c57-9f00aa11bb22", "session-0b7b1b1e-52f5"),
        ("20261103-081500.123456789-deepseek-v4-flash", "20261103-081500.123456789-deepseek-v4-flash"),
        ("agent-a9f31c2d", "agent-a9f31c2d"),
    ],
)
def test_a_short_id_is_the_beginning_of_the_id(native: str, short: str) -> None:
    assert render_text.short(native) == short
    assert native.startswith(short)


def test_long_folders_keep_their_end() -> None:
    assert render_text.folder("/home/dev/shop", STYLE) == "~/shop"
    assert render_text.folder("/home/developer/shop", STYLE) == "/home/developer/shop"
    assert render_text.folder("/srv/build/agents/checkouts/customer-one/shop/web", STYLE, 30) == "…/shop/web"


def test_a_transcript_shows_each_message_with_its_index_and_marks_the_wanted_one() -> None:
    text = render_text.transcript(Transcript(SESSION, MESSAGES), STYLE._replace(colour=True), wanted=2)
    assert "Make it\nsafe." in text
    assert "[1 system]" not in text
    assert f"\x1b[1;33m[2 tool] · {render_text.local(NOW - 3600)}\x1b[0m" in text
    assert "(shadowed)" in text


def test_markdown_fences_recorded_output_so_that_it_cannot_close_the_block() -> None:
    text = render_markdown.transcript(Transcript(SESSION._replace(title="*x*\n# y"), MESSAGES))
    assert text.startswith("# \\*x\\* # y\n")
    assert "## 0 user · 2026-" in text
    assert "````text\n```\nok\n```\n````" in text
