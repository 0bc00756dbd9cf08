"""What Cursor's kinds of records have in common: the person's words in a prompt, and folders from URIs. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

INJECTED = (
    "user_info|system_reminder|attached_files|open_and_recently_viewed_files|git_status|project_layout|rules"
    "|additional_data|agent_skills|agent_transcripts|timestamp|task_notification|mcp_file_system"
)
"""Blocks that the host puts around the person's words."""
_QUERY = re.compile(rf"<user_query>(.*)</user_query>(?:\s*<({INJECTED})>.*</\2>)*\s*\Z", re.DOTALL)
_OPENING = re.compile(rf"\A\s*<({INJECTED})(?:\s[^>]*)?>.*?</\1>\s*", re.DOTALL)


def prompt(text: object) -> str:
    """What the person wrote; empty when all of it is the host's."""
    if not isinstance(text, str):
        return ""
    if query := _QUERY.search(text):
        return query[1].strip()
    while found := _OPENING.match(text):
        text = text[found.end() :]
    return text


def folder(uri: object) -> str | None:
    """The folder that a `file:` or remote URI names."""
    if not isinstance(uri, str) or "://" not in uri:
        return None
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        return None
    if re.match("/[A-Za-z]:", path):  # file:///c%3A/Users
        path = path[1:]
    return (path.rstrip("/") or "/") if path else None
