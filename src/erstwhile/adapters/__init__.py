"""The one list of agents whose history can be read. Adding an agent: its file, its line here, its fixtures."""

from __future__ import annotations

from .aider import Aider
from .base import Adapter
from .claude_code import ClaudeCode
from .cline import Cline
from .codex import Codex
from .copilot_cli import CopilotCli
from .crush import Crush
from .cursor import Cursor
from .dsh import Dsh
from .gemini_cli import GeminiCli
from .goose import Goose
from .hermes import Hermes
from .kilo_code import KiloCode
from .kimi_cli import KimiCli
from .markdown import Markdown
from .openai_chat import OpenaiChat
from .opencode import OpenCode
from .pi import Pi
from .qwen_code import QwenCode
from .reasonix import Reasonix
from .roo_code import RooCode

ADAPTERS: tuple[Adapter, ...] = (
    Aider(),
    ClaudeCode(),
    Cline(),
    Codex(),
    CopilotCli(),
    Crush(),
    Cursor(),
    Dsh(),
    GeminiCli(),
    Goose(),
    Hermes(),
    KiloCode(),
    KimiCli(),
    Markdown(),
    OpenaiChat(),
    OpenCode(),
    Pi(),
    QwenCode(),
    Reasonix(),
    RooCode(),
)

__all__ = ["ADAPTERS", "Adapter"]
