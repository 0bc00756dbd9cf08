"""What a tool is: its description for clients, and the function that answers a call. Knows no particular tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from mcp_types import Tool as Described
from mcp_types import ToolAnnotations

from erstwhile.config import Config
from erstwhile.mcp.arguments import Arguments
from erstwhile.mcp.desk import Desk

Schema = dict[str, Any]


class Reply(NamedTuple):
    """An answer, as text for a model and as data for a program."""

    text: str
    data: dict[str, Any]


class Call(NamedTuple):
    """One call of a tool, and what a tool needs to answer it."""

    arguments: Arguments
    desk: Desk
    config: Config
    project: Callable[[], Awaitable[str]]
    """The folder that scope `project` means."""


class Tool(NamedTuple):
    name: str
    title: str
    description: str
    properties: dict[str, Schema]
    required: tuple[str, ...]
    answer: Callable[[Call], Awaitable[Reply]]
    """Raises ErstError."""
    failure: str = ""
    """What the text of an error begins with."""

    def described(self) -> Described:
        """The tool as `tools/list` gives it."""
        schema = {"type": "object", "properties": self.properties, "required": list(self.required)}
        hints = ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        return Described(
            name=self.name, title=self.title, description=self.description, input_schema=schema, annotations=hints
        )


def text(description: str, **more: Any) -> Schema:
    """The schema of a text."""
    return {"type": "string", "description": description, **more}


def number(description: str, nullable: bool = False, **more: Any) -> Schema:
    """The schema of a whole number. Its range is only described: a client must not refuse what the server clamps."""
    return {"type": ["integer", "null"] if nullable else "integer", "description": description, **more}


def several(description: str, allowed: tuple[str, ...]) -> Schema:
    """The schema of a list of known words."""
    return {"type": "array", "items": {"type": "string", "enum": list(allowed)}, "description": description}


def flag(description: str) -> Schema:
    """The schema of what is either so or not; unset, it is not."""
    return {"type": "boolean", "default": False, "description": description}
