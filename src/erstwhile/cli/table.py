"""Every command and every option as data. The parser, the help and the reference in the guide are made from it.

Loaded by every search: tuples only. Adding an option is one line here and one use in the command that takes it.
"""

from __future__ import annotations

from ..model import KINDS, ROLES, SCOPES
from ..values import NamedTuple


class Option(NamedTuple):
    """`--name VALUE`, or a flag when `value` is empty."""

    name: str
    value: str
    """What the help calls the value: N is a whole number, D a time."""
    help: str
    group: str = "Options"
    choices: tuple[str, ...] = ()
    unbuilt: tuple[str, ...] = ()
    """Choices that are documented and not built yet; the flag's own name when the whole option is."""
    field: str = ""
    """The field of Query it sets; empty when the command itself uses it."""
    many: bool = False
    """May be given several times; the values are alternatives."""
    short: str = ""
    smallest: int = 0


class Command(NamedTuple):
    """`erst NAME ARGUMENTS`."""

    name: str
    arguments: str
    """`QUERY…` takes all words, `[A]` is optional, others are needed."""
    help: str
    options: tuple[Option, ...] = ()
    module: str = "commands"
    """The module of this package with a function of the command's name; empty when it is not built yet."""
    more: str = ""
    """What the help says below the options."""

    @property
    def words(self) -> bool:
        """Whether it takes any number of words."""
        return "…" in self.arguments


WHERE, WHICH, ORDER, OUTPUT = "Where to look", "What to find", "How to answer", "Output"

JSON = Option("json", "", "one JSON object", OUTPUT)
JSONL = Option("jsonl", "", "one JSON object a hit and line", OUTPUT)
NO_SYNC = Option("no-sync", "", "answer from what is indexed, without looking for new messages", ORDER)

FILTERS = (
    Option("scope", "S", "project is this folder, archive only what agents put away", WHERE, SCOPES, field="scope"),
    Option("project", "DIR", "the folder that scope project means", WHERE, field="project", many=True),
    Option("agent", "A", "only sessions of this agent", WHICH, field="agents", many=True),
    Option("kind", "K", "only this kind of text", WHICH, KINDS, field="kinds", many=True),
    Option("role", "R", "only what this side said", WHICH, ROLES, field="roles", many=True),
    Option("tool", "T", "only calls and results of this tool", WHICH, field="tools", many=True),
    Option("file", "F", "only sessions that touched this file", WHICH, field="files", many=True),
    Option("title", "T", "only sessions whose title holds this", WHICH, field="titles", many=True),
    Option("since", "D", "from this time on: 7d, yesterday, 2026-11-03", WHICH, field="since"),
    Option("until", "D", "up to this time, a day as a whole", WHICH, field="until"),
    Option("session", "ID", "only in this session", WHICH, field="sessions", many=True),
    Option("collection", "NAME", "only in this collection of notes", WHICH, field="collections", many=True),
    Option(
        "subagents", "S", "no leaves sub-agents out, only finds nothing else", WHICH, ("no", "only"), field="subagents"
    ),
    Option(
        "current-session", "ID", "the session that asks; its own context is left out", WHICH, field="current_session"
    ),
    Option("include-current", "", "find the session that asks, too", WHICH, field="include_current"),
)
PAGE = (
    Option("limit", "N", "hits on a page, at most 100", ORDER, field="limit", short="n", smallest=1),
    Option("cursor", "C", "the next page, as the answer before it named it", ORDER, field="cursor"),
)
SORT = Option("sort", "S", "order of the hits", ORDER, ("relevance", "newest", "oldest"), field="sort")
RANKING = (
    SORT,
    Option("group", "G", "one hit a session, or every hit", ORDER, ("session", "none"), field="group"),
    Option("mode", "M", "what finds", ORDER, ("lexical", "hybrid", "semantic"), ("hybrid", "semantic"), field="mode"),
    Option("ranking", "R", "plain is textbook BM25", ORDER, ("contextual", "plain"), field="ranking"),
    Option("rerank", "", "rescore the best by a model", ORDER, unbuilt=("rerank",), field="rerank"),
    Option("explain", "", "say how each score came about", ORDER, field="explain"),
)

LANGUAGE = """\
The words of a query are alternatives, ranked; and there is more:
  "exact phrase"    -without    +needed    prefix*    /regex/
  agent:codex  project:shop  kind:tool_error  tool:bash  file:app.py  since:7d
  title:"tls renewal"  role:user  until:2026-03  session:ID
Several values of one filter are alternatives. An id or a log's path alone finds its session.
An argument such as -docker is part of the query; after -- everything is.
"""
STATUS = "Exit status: 0 with hits, 1 with none, 2 on an error.\n"
SETUP = """\
Without a name, every agent that is found: its folder exists, or its command is on PATH.
A copy of each file that is changed stays beside it, with .erst-backup behind its name.
Exit status: 0 when all is as wanted, 1 when no agent was found, 2 when something was left alone.
"""
SESSION = "SESSION is an id, the beginning of one, or the path of a log.\n"

COMMANDS = (
    Command(
        "search",
        "QUERY…",
        "Find what was said and done.",
        (*FILTERS, *PAGE, *RANKING, NO_SYNC, JSON, JSONL),
        "search",
        LANGUAGE + "\n" + STATUS,
    ),
    Command(
        "around",
        "SESSION INDEX",
        "Show the messages around one.",
        (
            Option("before", "N", "messages before it (3)"),
            Option("after", "N", "messages after it (3)"),
            JSON,
        ),
        "search",
        SESSION,
    ),
    Command(
        "show",
        "SESSION",
        "Print a whole session.",
        (
            JSON,
            Option("markdown", "", "as Markdown", OUTPUT),
            Option("html", "", "as a page", OUTPUT, unbuilt=("html",)),
            Option("raw", "", "the agent's own records, injected texts too", OUTPUT),
        ),
        more=SESSION,
    ),
    Command(
        "sessions",
        "[QUERY…]",
        "List sessions, newest first; everywhere unless a scope is given.",
        (*FILTERS, *PAGE, SORT, NO_SYNC, JSON),
        more=STATUS,
    ),
    Command(
        "resume",
        "SESSION",
        "Print the agent's own command that continues a session.",
        (Option("exec", "", "run it in the session's folder"),),
        more=SESSION,
    ),
    Command(
        "index",
        "",
        "Read what is new; every search does it by itself.",
        (
            Option("full", "", "read everything again"),
            Option("watch", "", "go on until stopped", unbuilt=("watch",)),
        ),
        more="Exit status: 0 also when some sources failed, 2 when all did.\n",
    ),
    Command("sources", "", "List the logs that were read, and what could not be.", (JSON,)),
    Command(
        "doctor",
        "",
        "Say what of the history may be missing, and why.",
        (
            JSON,
            Option("deep", "", "prove the index against the store and the sources", unbuilt=("deep",)),
            Option("fix", "", "mend what --deep found", unbuilt=("fix",)),
        ),
        more="Exit status: 0 when all is well, 1 with findings, 2 on an error.\n",
    ),
    Command("stats", "", "Count sessions, documents and bytes."),
    Command("config", "", "List every setting and where its value came from."),
    Command("demo", "", "Search a small invented history, to see how it looks.", module="demo"),
    Command("mcp", "", "Serve the history to an agent, over MCP on stdio."),
    Command(
        "serve",
        "",
        "Serve the history over HTTP, on this machine only.",
        (
            Option("host", "HOST", "address (127.0.0.1); another than loopback needs a token"),
            Option("port", "N", "port (8377)"),
            Option("collection", "NAME", "serve only this collection"),
        ),
    ),
    Command("version", "", "Print the version."),
    Command(
        "add",
        "DIR",
        "Add a folder of Markdown notes as a collection, or another folder of an agent's logs.",
        (
            Option("name", "NAME", "the collection's name (that of the folder)"),
            Option("agent", "A", "the folder holds logs of this agent"),
        ),
    ),
    Command(
        "remove",
        "FOLDER",
        "Take an added folder out of the library; its files stay as they are.",
        (Option("agent", "A", "where the folder was added for several agents"),),
        more="FOLDER is the name of a collection or the path that was added.\n",
    ),
    Command("forget", "SESSION", "Remove a session for good.", module=""),
    Command("redact", "", "Mask secrets again, by newer rules.", module=""),
    Command("export", "", "Write sessions to a file.", module=""),
    Command("import", "FILE", "Read sessions from a file.", module=""),
    Command(
        "setup",
        "[AGENT…]",
        "Wire the MCP server into the agents' own settings.",
        (
            Option("dry-run", "", "show what would be changed, and change nothing"),
            Option("remove", "", "take it out again"),
        ),
        "setup",
        SETUP,
    ),
    Command(
        "completion",
        "SHELL",
        "Print a script that completes erst's commands and options in bash, zsh or fish.",
        module="completion",
    ),
    Command("push", "URL", "Send sessions to a team's server.", module=""),
)


def find(name: str) -> Command | None:
    """The command of that name."""
    return next((command for command in COMMANDS if command.name == name), None)
