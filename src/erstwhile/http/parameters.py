"""A query string -> typed values, by the options of the command line. Pure.

The parameters of a route are the long options of its command with `_` for `-`, so that one table defines both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from erstwhile.cli.parse import checked as checked_value
from erstwhile.cli.table import OUTPUT, Option, find
from erstwhile.config import Config
from erstwhile.errors import ErstError, NotBuilt
from erstwhile.http.problem import Problem, named
from erstwhile.model import KINDS, Query
from erstwhile.query import checked, gathered, parse_since, parse_until

Parameters = Mapping[str, Option]

FLAGS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _of_command(name: str) -> dict[str, Option]:
    """The parameters that a command's options become; how the terminal prints is not among them."""
    command = find(name)
    options = command.options if command else ()
    return {option.name.replace("-", "_"): option for option in options if option.group != OUTPUT}


QUESTION = {"q": Option("q", "QUERY", "the words to find")}
SEARCH: Parameters = QUESTION | _of_command("search")
SESSIONS: Parameters = QUESTION | _of_command("sessions")
AROUND: Parameters = {
    "session": Option("session", "ID", "the session"),
    "message_index": Option("message_index", "N", "the message"),
    **_of_command("around"),
}
SHOW: Parameters = {
    "start": Option("start", "N", "the first message"),
    "count": Option("count", "N", "messages with text, all when absent"),
    "kind": Option("kind", "K", "only this kind of text", choices=KINDS, many=True),
}
NONE: Parameters = {}


def decode(query_string: bytes, known: Parameters) -> dict[str, Any]:
    """The given parameters by name: texts, numbers, flags, and tuples of those that may repeat. An empty value
    counts as not given. Raises Problem that names the parameter."""
    given: dict[str, Any] = {}
    for name, text in parse_qsl(query_string.decode("utf-8", "replace"), keep_blank_values=True, errors="replace"):
        option = known.get(name)
        if option is None:
            raise Problem(422, _unknown(name, known), name)
        if not text:
            continue
        if name in given and not option.many:
            raise Problem(422, f"{name} is given twice", name)
        value = _value(option, name, text)
        given[name] = (*given.get(name, ()), value) if option.many else value
    return given


def _value(option: Option, name: str, text: str) -> Any:
    try:
        if option.value:
            return checked_value(option, name, text)
        flag = FLAGS.get(text.lower())
        if flag is None:
            raise Problem(422, f"{name} must be 1 or 0; not {text!r}", name)
        if flag and option.unbuilt:
            raise NotBuilt(f"{name} is not built yet")
    except ErstError as error:
        raise named(error, name) from error
    return flag


def _unknown(name: str, known: Parameters) -> str:
    return f"unknown parameter {name!r}; there are {', '.join(known)}" if known else f"unknown parameter {name!r}"


def needed(given: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter that must be there. Raises Problem."""
    if name not in given:
        raise Problem(422, f"{name} is missing", name)
    return given[name]


def query(given: Mapping[str, Any], known: Parameters, config: Config, now: float) -> Query:
    """The Query that decoded parameters mean, scope global unless they say otherwise. Raises Problem."""
    fields = {known[name].field: value for name, value in given.items() if known[name].field}
    for name, parse in (("since", parse_since), ("until", parse_until)):
        if name in fields:
            try:
                fields[name] = parse(fields[name], now)
            except ErstError as error:
                raise named(error, name) from error
    settings = config.search
    asked = Query(given.get("q", ""), "global", limit=settings.limit, mode=settings.mode, ranking=settings.ranking)
    asked = asked._replace(**gathered(fields))
    try:
        checked(asked)
    except ErstError as error:  # each value was checked before: what is left is how the two times lie
        raise named(error, "since") from error
    return asked
