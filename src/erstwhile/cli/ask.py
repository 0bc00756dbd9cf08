"""What a command line asks the library: the Query it means, and the first index in front of the user."""

from __future__ import annotations

from ..config import Config, current_session
from ..library import Library
from ..model import Query
from ..query import gathered, parse_since, parse_until
from ..render_text import Style
from .parse import Arguments, checked
from .screen import Screen


def query(arguments: Arguments, config: Config, screen: Screen) -> Query:
    """The Query of a command's words and options; what they leave open comes from the settings or stays open for the
    library. Raises UsageError and NotBuilt."""
    given = arguments.query_fields()
    if since := given.get("since"):
        given["since"] = parse_since(since, screen.now)
    if until := given.get("until"):
        given["until"] = parse_until(until, screen.now)
    for option in arguments.command.options:
        if option.name in ("mode", "ranking"):  # they may come from config.toml, past the parser
            checked(option, option.name, getattr(config.search, option.name))
    asked = Query(
        text=" ".join(arguments.words).strip(),
        limit=config.search.limit,
        mode=config.search.mode,
        ranking=config.search.ranking,
        current_session=current_session(config.environ),
    )
    return asked._replace(**gathered(given))


def first_index(library: Library, screen: Screen) -> None:
    """Indexes an empty library in front of the user, newest sessions first; without a terminal the search itself starts
    that in the background."""
    if screen.interactive and library.coverage().sources == 0:
        from .progress import indexed

        indexed(library, screen)


def style(config: Config, screen: Screen) -> Style:
    """What texts are laid out for."""
    home = config.environ.get("HOME") or config.environ.get("USERPROFILE") or ""
    return Style(screen.width, screen.colour, screen.now, home.rstrip("/\\"))
