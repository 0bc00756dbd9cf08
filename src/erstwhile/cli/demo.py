"""`erst demo`: a small invented history, searched in front of the user. The user's own history is not looked at."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from ..adapters.installed import every
from ..config import AgentSettings, Config
from ..library import Library
from ..model import Query
from ..render_text import answer, short, transcript
from . import ask
from .parse import Arguments
from .screen import Screen

SAMPLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sample")
WORDS = "certificate expired"

NEXT = """\
Where to go next:
  erst search WORDS          your own sessions; the first search reads them, later ones only what is new
  erst search --help         filters, phrases, pages, JSON
  erst sessions              what there is
  erst config                where your agents' logs are looked for
  erst setup                 let your agents search by themselves
"""


def settings(home: str, config: Config) -> Config:
    """Settings for the sample alone: its agents at its folders, the others switched off."""
    agents = {
        adapter.name: AgentSettings((folder,)) if os.path.isdir(folder) else AgentSettings(enabled=False)
        for adapter in every()
        for folder in [os.path.join(SAMPLE, adapter.name)]
    }
    return Config(home, agents=agents, environ=config.environ)


def demo(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Indexes the sample into a temporary folder and shows a search and the messages around its best hit."""
    style = ask.style(config, screen)
    with TemporaryDirectory(prefix="erst-demo-") as home, Library(config=settings(home, config)) as library:
        library.sync()
        seen = library.coverage()
        found = library.search(Query(WORDS, scope="global", limit=3), sync=False)
        best = found.hits[0]
        around = library.around(best.session, best.message_index, 1, 3)
    screen.answer(
        f"{seen.sessions} invented sessions of four agents, read into a temporary folder. Yours are not touched.\n\n"
        f"$ erst search {WORDS} --limit 3\n\n{answer(found, style)}\n"
        f"$ erst around {short(best.session_id)} {best.message_index} --before 1 --after 3\n\n"
        f"{transcript(around, style, best.message_index)}\n{NEXT}"
    )
    return 0
