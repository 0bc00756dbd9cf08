"""Which folder a client works in: its MCP root if it announces one, else the folder the server was started in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ListRootsRequest, ListRootsResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from erstwhile.places import place, project_of

PATIENCE = 2.0
"""Seconds for a client to name its roots."""
KEY = "roots"


class RootsWanted(Exception):
    """The client must be asked for its roots, and in this protocol version the answer to its call asks for them."""


def start_folder() -> str:
    """The folder the process was started in; the user's home when that was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")


async def project(context: ServerRequestContext[Any], responses: Mapping[str, Any] | None, start: str) -> str:
    """The project that the client works in. Raises RootsWanted."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return project_of(start)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        if responses is None:
            raise RootsWanted
        named = responses.get(KEY)
    else:
        named = await _asked(context)
    folders = folders_of(named) if isinstance(named, ListRootsResult) else []
    return project_of(_nearest(folders, start) if folders else start)


async def _asked(context: ServerRequestContext[Any]) -> ListRootsResult | None:
    try:
        return await context.session.send_request(
            ListRootsRequest(),
            ListRootsResult,
            request_read_timeout_seconds=PATIENCE,
            metadata=ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (MCPError, ValidationError):
        return None


def folders_of(named: ListRootsResult) -> list[str]:
    """The roots as paths of this machine."""
    parts = [urlsplit(str(root.uri)) for root in named.roots]
    return [path for part in parts if part.scheme == "file" and (path := url2pathname(part.path))]


def _nearest(folders: list[str], start: str) -> str:
    """The root that holds the start folder, else the first."""
    here = place(start) + "/"
    return next((folder for folder in folders if here.startswith(place(folder).rstrip("/") + "/")), folders[0])
