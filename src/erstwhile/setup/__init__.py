"""Wires our MCP server into the agents' own configuration, one command for all. Only `erst setup` loads it.

`agents` says where each agent keeps what, `entry` what is written there; `places` with `json_text`, `toml_text` and
`yaml_text` change a text and nothing else in it; `skill` is what agents are taught, `files` reads and writes, `wiring`
does it all for each agent.
"""

from __future__ import annotations

from .agents import NAMES
from .wiring import Outcome, connect, disconnect

__all__ = ["NAMES", "Outcome", "connect", "disconnect"]
