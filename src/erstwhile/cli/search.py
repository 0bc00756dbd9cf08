"""`erst search` and `erst around`: the commands that must start fast."""

from __future__ import annotations

from ..config import Config
from ..errors import UsageError
from ..library import Library
from ..model import Answer
from ..render_text import answer as answer_text
from ..render_text import short, transcript
from . import ask
from .parse import Arguments
from .screen import Screen

FOUND, NOTHING, ERROR = 0, 1, 2

EXPLANATION = """\
erst search WORDS finds them in your coding agents' sessions, as in: erst search certificate expired
`erst search --help` explains the filters and the query language; `erst sessions` lists what there is."""

NOT_READ = "Nothing is indexed yet; without --no-sync, erst looks for your agents' logs first."
NO_LOGS = "No agent's logs were found yet; `erst config` lists where they are looked for."


def search(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Prints the answer to a query. Without words it opens nothing and explains itself."""
    if not ("".join(arguments.words).strip() or arguments.get("file") or arguments.get("title")):
        screen.talk(EXPLANATION)
        return ERROR
    query = ask.query(arguments, config, screen)
    sync = not arguments.get("no-sync")
    with Library(config=config) as library:
        if sync:
            ask.first_index(library, screen)
        answer = library.search(query, sync=sync)
    _print(answer, arguments, config, screen)
    if not answer.coverage.sources:
        screen.talk(NO_LOGS if sync else NOT_READ)
    return FOUND if answer.hits else NOTHING


def _print(answer: Answer, arguments: Arguments, config: Config, screen: Screen) -> None:
    if arguments.get("jsonl"):
        from ..render import lines

        screen.answer("".join(lines(answer)))
        for note in answer.notes:
            screen.talk(f"note: {note.text}")
    elif arguments.get("json"):
        from ..render import answer as shape
        from ..render import dumps

        screen.answer(dumps(shape(answer)) + "\n")
    else:
        screen.answer(answer_text(answer, ask.style(config, screen)))
        if screen.interactive and answer.hits:
            first = answer.hits[0]
            screen.talk(f"erst around {short(first.session_id)} {first.message_index} shows what was said around it")
        if answer.next_cursor:
            screen.talk(f"next page: --cursor {answer.next_cursor}")


def around(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Prints the messages around one of a session."""
    session, index = arguments.words
    if not (index.isascii() and index.isdigit()):
        raise UsageError(f"INDEX must be the number of a message, as a hit shows it; not {index!r}")
    with Library(config=config) as library:
        found = library.around(session, int(index), arguments.get("before", 3), arguments.get("after", 3))
    if arguments.get("json"):
        from ..render import dumps
        from ..render import transcript as shape

        screen.answer(dumps(shape(found)) + "\n")
    else:
        screen.answer(transcript(found, ask.style(config, screen), int(index)))
    return FOUND
