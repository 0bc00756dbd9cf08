"""The terminal: reads the command line, runs one command, and turns every error into words and an exit status.

0 with hits, 1 with none, 2 on an error, 130 when interrupted. A search loads this package's table, parser and `search`,
and nothing of the other commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from .. import config as settings
from ..errors import ErstError
from ..values import TYPE_CHECKING
from .parse import Arguments, Help, parse
from .screen import Screen, standard

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    Run = Callable[[Arguments, settings.Config, Screen], int]

ERROR, INTERRUPTED = 2, 130

__all__ = ["command", "main", "run"]


def command() -> NoReturn:
    """The program `erst`. Leaves without taking the interpreter apart, which costs a seventh of a whole search (13 of
    89 ms of CPU): the library is closed and the streams are flushed by then."""
    os._exit(main())


def main() -> int:
    """What `erst` does; returns its exit status."""
    screen = standard(os.environ)
    try:
        status = run(sys.argv[1:], dict(os.environ), screen)
        screen.out.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        status = 0
    except OSError as error:  # the disk behind stdout is full, or the terminal is gone
        screen.talk(f"erst: cannot write the answer: {error.strerror or error}")
        status = ERROR
    _hush(screen)
    return status


def run(argv: Sequence[str], environ: Mapping[str, str], screen: Screen) -> int:
    """One command line, written to the screen; returns the exit status. Interruption and a closed pipe are let out."""
    try:
        arguments = parse(argv)
        return _runner(arguments)(arguments, settings.load(environ), screen)
    except Help as asked:
        from .help import text

        screen.answer(text(asked.command, screen.width, screen.colour))
        return 0
    except ErstError as error:
        screen.talk(f"erst: {error}")
        return ERROR
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - the very top: nobody above could say it in words
        return _unexpected(error, environ, screen)


def _runner(arguments: Arguments) -> Run:
    """The function of a command, from the one module that has to be loaded for it."""
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{arguments.command.module}"), arguments.command.name)


def _unexpected(error: Exception, environ: Mapping[str, str], screen: Screen) -> int:
    if environ.get("ERST_DEBUG"):
        import traceback

        screen.talk("".join(traceback.format_exception(error)).rstrip())
    said = " ".join(str(error).split()) or "no more is known"
    screen.talk(
        f"erst: unexpected {type(error).__name__}: {said}; please report it with the output of ERST_DEBUG=1 erst …"
    )
    return ERROR


def _hush(screen: Screen) -> None:
    """Keeps the interpreter from complaining about streams that nobody reads any more."""
    for stream in (screen.out, screen.err):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
