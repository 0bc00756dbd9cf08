"""`erst setup`: one line an agent, and the diff of what would be done when only that is asked for."""

from __future__ import annotations

from difflib import get_close_matches

from ..config import Config
from ..errors import UsageError
from ..setup import NAMES, connect, disconnect
from .parse import Arguments
from .screen import Screen

DONE, NOTHING, ERROR = 0, 1, 2


def setup(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Wires the MCP server into the agents that are installed, or takes it out of them; 1 when none is."""
    for name in arguments.words:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(NAMES)}"
            raise UsageError(f"no agent {name!r} that erst can set up; {hint}")
    work = disconnect if arguments.get("remove") else connect
    outcomes = work(arguments.words, config.environ, bool(arguments.get("dry-run")))
    width = max(len(outcome.agent) for outcome in outcomes)
    shown = dict[str, str]()  # agents share the skill
    for outcome in outcomes:
        if outcome.found or arguments.words:
            new = [diff for path, diff in outcome.diffs.items() if path not in shown]
            screen.answer(f"{outcome.agent.ljust(width)}  {outcome.said}\n{''.join(new)}")
            shown |= outcome.diffs
    absent = [outcome.agent for outcome in outcomes if not outcome.found]
    if absent and not arguments.words:
        screen.talk(f"not found here: {', '.join(absent)}")
    if any(outcome.failed for outcome in outcomes):
        return ERROR
    return DONE if len(absent) < len(outcomes) else NOTHING
