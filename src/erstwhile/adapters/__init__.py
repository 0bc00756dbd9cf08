"""The one list of agents whose history can be read. Adding an agent: its file, its line here, its fixtures."""

from __future__ import annotations

from .base import Adapter
from .claude_code import ClaudeCode
from .codex import Codex
from .dsh import Dsh
from .markdown import Markdown
from .reasonix import Reasonix

ADAPTERS: tuple[Adapter, ...] = (ClaudeCode(), Codex(), Dsh(), Markdown(), Reasonix())

__all__ = ["ADAPTERS", "Adapter"]
