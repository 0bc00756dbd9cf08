"""Every command but `search`, `around` and `demo`: decode the input, call one method of Library, print."""

from __future__ import annotations

import os

from ..adapters.installed import every
from ..config import Config
from ..config_file import Value, values
from ..errors import NotFound, UsageError
from ..library import Library
from ..model import Report, ResumeCommand
from ..version import VERSION
from . import ask
from .parse import Arguments
from .screen import Screen
from .search import NO_LOGS

FOUND, NOTHING, ERROR = 0, 1, 2


def show(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Prints a whole session."""
    from .. import render, render_markdown, render_text

    for other in ("json", "raw"):
        if arguments.get("markdown") and arguments.get(other):
            raise UsageError(f"--{other} and --markdown exclude each other")
    if arguments.get("raw"):
        return _raw(arguments, config, screen)
    with Library(config=config) as library:
        found = library.show(arguments.words[0])
    if arguments.get("json"):
        screen.answer(render.dumps(render.transcript(found)) + "\n")
    elif arguments.get("markdown"):
        screen.answer(render_markdown.transcript(found))
    else:
        screen.answer(render_text.transcript(found, ask.style(config, screen)))
    return FOUND


def _raw(arguments: Arguments, config: Config, screen: Screen) -> int:
    from .. import render, render_text

    with Library(config=config) as library:
        found = library.raw(arguments.words[0])
    if arguments.get("json"):
        screen.answer(render.dumps(render.raw(found)) + "\n")
    else:
        screen.answer(render_text.raw(found, ask.style(config, screen)))
    return FOUND


def sessions(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Lists sessions, newest first."""
    from .. import render, render_text

    query = ask.query(arguments, config, screen)
    sync = not arguments.get("no-sync")
    with Library(config=config) as library:
        if sync:
            ask.first_index(library, screen)
        page = library.sessions(query, sync=sync)
    if arguments.get("json"):
        screen.answer(render.dumps(render.sessions(page)) + "\n")
    else:
        screen.answer(render_text.sessions(page, ask.style(config, screen)))
        if page.next_cursor:
            screen.talk(f"next page: --cursor {page.next_cursor}")
    if not page.sessions:
        screen.talk("No session fits; `erst sources` lists the logs that were read.")
    return FOUND if page.sessions else NOTHING


def resume(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Prints the agent's own command that continues a session, or becomes it."""
    with Library(config=config) as library:
        command = library.resume(arguments.words[0])
    if arguments.get("exec"):
        return _become(command, screen)
    screen.answer(_shell(command) + "\n")
    return FOUND


def _shell(command: ResumeCommand) -> str:
    if os.name == "nt":
        from subprocess import list2cmdline

        line = list2cmdline(command.arguments)
        return f'cd /d "{command.cwd}" && {line}' if command.cwd else line
    from shlex import join

    line = join(command.arguments)
    return f"cd {join([command.cwd])} && {line}" if command.cwd else line


def _become(command: ResumeCommand, screen: Screen) -> int:
    """Replaces this process by the command; on Windows, where that cannot be, waits for it."""
    from shutil import which

    program = which(command.arguments[0])
    if program is None:
        raise NotFound(f"{command.arguments[0]} is not installed here")
    program = os.path.abspath(program)  # PATH may name a folder relative to where we are now
    if command.cwd:
        try:
            os.chdir(command.cwd)
        except OSError as error:
            raise NotFound(f"the session's folder {command.cwd} cannot be entered: {error.strerror}") from error
    screen.out.flush()
    try:
        if os.name != "nt":
            os.execv(program, command.arguments)
        from subprocess import call

        return call([program, *command.arguments[1:]])
    except OSError as error:
        raise NotFound(f"{program} cannot be started: {error.strerror or error}") from error


def index(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Reads what is new; 2 only when every source failed."""
    from .progress import indexed

    with Library(config=config) as library:
        report = indexed(library, screen, bool(arguments.get("full")))
        seen = library.coverage()
    _warn(report, screen)
    screen.answer(
        f"{seen.sources:,} sources, {report.read:,} read now, {report.failed:,} failed; "
        f"{seen.sessions:,} sessions, {seen.documents:,} documents\n"
    )
    return ERROR if report.sources and report.failed == report.sources else FOUND


def _warn(report: Report, screen: Screen) -> None:
    for path, reason in report.failures:
        screen.talk(f"erst: {path}: {reason}")
    if report.pending:
        screen.talk(f"erst: {report.pending:,} sources are still to read; another process may be indexing")
    if not report.sources:
        screen.talk(NO_LOGS)


def sources(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Lists the logs and what could not be read."""
    from .. import render, render_text

    with Library(config=config) as library:
        found = library.sources()
    if arguments.get("json"):
        screen.answer(render.dumps({"sources": [render.source(one) for one in found]}) + "\n")
    else:
        screen.answer(render_text.sources(found, ask.style(config, screen)))
    return FOUND


def doctor(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Says what of the history may be missing, and why."""
    from .. import render, render_text

    with Library(config=config) as library:
        ask.first_index(library, screen)
        found = library.doctor()
    if arguments.get("json"):
        screen.answer(render.dumps(render.checkup(found)) + "\n")
    else:
        screen.answer(render_text.checkup(found, ask.style(config, screen)))
    return NOTHING if found.findings else FOUND


def add(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Adds a folder and reads it."""
    from .. import render_text
    from .progress import added

    with Library(config=config) as library:
        ask.first_index(library, screen)
        found = added(library, screen, arguments.words[0], arguments.get("name"), arguments.get("agent"))
    for path, fault in found.skipped:
        line = f", line {fault.line}" if fault.line else ""
        screen.talk(f"erst: {path}{line}: {fault.reason}")
    screen.answer(render_text.added(found, ask.style(config, screen)))
    return FOUND


def remove(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Takes an added folder out of the library."""
    from .. import render_text

    with Library(config=config) as library:
        found = library.remove(arguments.words[0], arguments.get("agent"))
    screen.answer(render_text.removed(found, ask.style(config, screen)))
    return FOUND


def stats(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Counts what is indexed."""
    from .. import render_text

    with Library(config=config) as library:
        counted = library.stats()
    screen.answer(render_text.stats(counted, ask.style(config, screen)))
    return FOUND


def config(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Lists every setting, its value, and where that came from."""
    from .. import render_text

    rows = [*values(config, every()), *_added(config)]
    screen.answer(render_text.settings(rows, ask.style(config, screen)))
    return FOUND


def _added(config: Config) -> list[Value]:
    """The folders of `erst add`, which lie in the store; where there is none yet, nothing is written."""
    if not os.path.isdir(config.home):
        return []
    with Library(config=config) as library:
        found = library.added()
    return [
        Value(f"collection {one.name}" if one.name else f"agents.{one.agent}.roots", one.path, "erst add")
        for one in found
    ]


def mcp(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Serves agents over stdio until they hang up."""
    from ..mcp import main

    main(config)
    return FOUND


def serve(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Serves HTTP until stopped."""
    from ..http import main

    host, port = arguments.get("host", config.serve.host), arguments.get("port", config.serve.port)
    main(config, host, port, arguments.get("collection"))
    return FOUND


def version(arguments: Arguments, config: Config, screen: Screen) -> int:
    """Prints the version."""
    screen.answer(f"erstwhile {VERSION}\n")
    return FOUND
