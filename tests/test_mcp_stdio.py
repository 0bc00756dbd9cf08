"""The MCP door as a real process: what it says on stdout, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

FIXTURES = Path(__file__).parent / "fixtures"
COMMAND = (sys.executable, "-m", "erstwhile", "mcp")
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def history(home: Path) -> Path:
    shutil.copytree(FIXTURES / "reasonix" / "home", home, dirs_exist_ok=True)
    return home


class Process:
    """The server, spoken to line by line."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home, encoding="utf-8"
        )

    def say(self, method: str, number: int | None = None, **params: Any) -> None:
        assert self.process.stdin
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        self.say("tools/call", number, name=tool, arguments=arguments)

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def greet(self) -> None:
        self.say("initialize", 1, **INITIALIZE)
        assert self.hear()["id"] == 1
        self.say("notifications/initialized")

    def ended(self) -> tuple[int, str, str]:
        """The exit status, and what was left on stdout and stderr."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def process(history: Path) -> Iterator[Process]:
    started = Process(history)
    yield started
    started.process.kill()
    for pipe in (started.process.stdin, started.process.stdout, started.process.stderr):
        if pipe and not pipe.closed:
            pipe.close()
    started.process.wait()


@pytest.mark.anyio
async def test_the_sdks_client_talks_to_the_real_process(history: Path) -> None:
    parameters = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=dict(os.environ), cwd=history)
    with anyio.fail_after(90):
        async with Client(parameters) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("history", {"operation": "search", "query": "nginx", "scope": "global"})
            hit = found.structured_content["hits"][0]
            where = {"session_path": hit["session_path"], "message_index": hit["message_index"]}
            around = await client.call_tool("history", {"operation": "around"} | where)
    assert names == ["history", "session_search", "sessions", "session_read"]
    assert not around.is_error
    assert hit["message_index"] in [message["message_index"] for message in around.structured_content["messages"]]


def test_every_line_on_stdout_is_the_protocol_and_the_end_of_the_input_ends_the_process_quietly(
    process: Process,
) -> None:
    process.greet()
    process.call(2, "history", operation="search", query="nginx", scope="global")
    process.call(3, "history", operation="search", query="nginx", scope="nowhere")
    process.call(4, "session_search", query="借用")
    process.call(5, "no_such_tool")
    assert process.process.stdin
    process.process.stdin.write("this is not JSON\n")
    process.call(6, "session_read", session="/etc/hostname")
    status, out, err = process.ended()  # closes the input: what was asked before is still answered
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert all(answer["jsonrpc"] == "2.0" for answer in answers.values())
    assert sorted(answers) == [2, 3, 4, 5, 6]
    assert answers[2]["result"]["structuredContent"]["hits"]
    assert [answers[number]["result"]["isError"] for number in (2, 3, 4, 6)] == [False, True, False, True]
    assert "unknown tool 'no_such_tool'" in answers[5]["error"]["message"]
    assert (status, "Traceback" in err) == (0, False)


def test_a_cancelled_call_gets_no_answer_and_the_next_one_does(process: Process) -> None:
    process.greet()
    process.call(2, "history", operation="search", query="nginx", scope="global")
    process.say("notifications/cancelled", requestId=2)
    process.call(3, "history", operation="search", query="nginx", scope="global")
    status, out, err = process.ended()
    assert json.loads(out.splitlines()[-1])["id"] == 3
    assert (status, "Traceback" in err) == (0, False)


def test_a_client_that_reads_no_more_ends_the_process_quietly(process: Process) -> None:
    process.greet()
    assert process.process.stdin
    assert process.process.stdout
    process.process.stdout.close()
    for number in range(2, 6):
        process.say("tools/list", number)
    process.process.stdin.close()
    assert process.process.wait(60) == 0
    assert process.process.stderr
    assert process.process.stderr.read() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a single process")
def test_an_interruption_ends_the_process_at_once_and_quietly(process: Process) -> None:
    process.greet()
    process.process.send_signal(signal.SIGINT)
    assert process.ended() == (130, "", "")


def test_a_home_that_cannot_be_used_is_one_sentence_and_status_2(
    history: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("ERST_HOME", str(tmp_path / "file" / "below"))
    ran = subprocess.run(COMMAND, input="", capture_output=True, encoding="utf-8", cwd=history, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("erst: ")
    assert len(ran.stderr.splitlines()) == 1
