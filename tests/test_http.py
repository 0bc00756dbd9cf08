"""The HTTP door: over the fixtures in this process, and once as a real server."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from conftest import Erst
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message

from erstwhile import render
from erstwhile.config import Config, load
from erstwhile.errors import ConfigError, StoreError
from erstwhile.http import app
from erstwhile.http.guard import hosts
from erstwhile.http.parameters import AROUND, SEARCH, SESSIONS, SHOW
from erstwhile.http.serve import listen, read_token
from erstwhile.library import Library
from erstwhile.lock import IndexerLock
from erstwhile.model import Answer

FIXTURES = Path(__file__).parent / "fixtures"
HERE = "http://127.0.0.1:8377"
SLASHED = "dsh:借用 checker/1"
TLS = "dsh:session-2f0c9a64-7f0e-4a41-9b1d-1a2b3c4d5e6f"
TOKEN = "correct horse battery staple"


def history(folder: Path) -> Config:
    """The fixtures' histories as one home, and the settings that find them."""
    for home in sorted(FIXTURES.glob("*/home*")):
        shutil.copytree(home, folder, dirs_exist_ok=True)
    return load({"HOME": str(folder), "ERST_HOME": str(folder / "erst")})


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The fixtures' histories, read. No test here changes them."""
    config = history(tmp_path_factory.mktemp("history"))
    with Library(config=config) as opened:
        opened.sync()
        yield opened


def client(library: Library, token: str | None = None, **options: Any) -> TestClient:
    return TestClient(app(library, library.config, token, **options), HERE, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def http(library: Library) -> Iterator[TestClient]:
    with client(library) as opened:
        yield opened


def problem(response: Any) -> dict[str, Any]:
    """The problem in a response, checked to be one."""
    assert response.headers["content-type"] == "application/problem+json"
    shape = response.json()
    assert set(shape) - {"parameter"} == {"type", "title", "status", "detail"}
    assert shape["status"] == response.status_code
    assert "Traceback" not in response.text
    return shape


# -- search ------------------------------------------------------------------------------------------------------------


def test_a_search_gives_the_envelope_of_every_door_and_its_hits_again_as_results(
    http: TestClient, library: Library
) -> None:
    answer = http.get("/api/search", params={"q": "certificate"}).json()
    assert answer.pop("results") == answer["hits"] != []
    assert answer == render.answer(library.search("certificate", scope="global"))


def test_the_scope_is_global_unless_asked_otherwise_also_with_a_project(http: TestClient) -> None:
    def ask(**parameters: str) -> dict[str, Any]:
        return http.get("/api/search", params={"q": "certificate", **parameters}).json()

    assert (ask()["scope"], ask(project="/home/dev/my site")["scope"]) == ("global", "global")
    assert {hit["project"] for hit in ask(project="/home/dev/my site")["hits"]} == {"/home/dev/my site"}
    assert ask(scope="project", project="/home/dev/my site")["scope"] == "project"


def test_a_key_that_repeats_gives_alternatives(http: TestClient) -> None:
    both = http.get("/api/search?q=certificate&agent=dsh&agent=claude-code&group=none").json()["hits"]
    assert {hit["agent"] for hit in both} == {"dsh", "claude-code"}
    kinds = http.get("/api/search?q=certificate&group=none&kind=tool_error&kind=summary").json()["hits"]
    assert {hit["kind"] for hit in kinds} == {"tool_error", "summary"}


def test_what_is_empty_or_a_false_flag_counts_as_not_given(http: TestClient) -> None:
    plain = http.get("/api/search?q=certificate").json()
    assert http.get("/api/search?q=certificate&rerank=0&explain=false&since=&agent=&cursor=&limit=").json() == plain


def test_pages_go_on_where_they_ended_also_when_the_time_was_relative(http: TestClient) -> None:
    asked = "/api/search?q=certificate+server+test&since=9000d"
    whole = [hit["session"] for hit in http.get(f"{asked}&limit=100").json()["hits"]]
    pages, cursor = list[str](), ""
    while cursor is not None:
        page = http.get(f"{asked}&limit=2&cursor={cursor}").json()
        pages += [hit["session"] for hit in page["hits"]]
        cursor = page["next_cursor"]
    assert pages == whole
    assert len(whole) > 2


@pytest.mark.parametrize("path", ["/api/search", "/api/sessions"])
def test_a_cursor_that_is_damaged_or_of_another_question_is_stale(http: TestClient, path: str) -> None:
    other = http.get(f"{path}?q=certificate+server&limit=1").json()["next_cursor"]
    assert other
    for cursor in ("nonsense", other):
        response = http.get(f"{path}?q=certificate&cursor={cursor}")
        assert (response.status_code, problem(response)["parameter"]) == (409, "cursor")


def test_while_the_index_is_built_the_answer_is_there_and_says_so(tmp_path: Path) -> None:
    config = history(tmp_path)
    with Library(config=config) as cold:
        other = IndexerLock(config.home)  # as another process that indexes
        assert other.acquire()
        response = client(cold).get("/api/search?q=certificate")
        other.release()
    assert response.status_code == 200
    assert [note["code"] for note in response.json()["notes"]] == ["index_pending"]


# -- the other routes --------------------------------------------------------------------------------------------------


def test_around_gives_the_messages_on_both_sides(http: TestClient) -> None:
    def indexes(more: str) -> list[int]:
        found = http.get(f"/api/around?session={TLS}&message_index=2{more}").json()
        assert found["session"]["session"] == TLS
        return [message["message_index"] for message in found["messages"]]

    whole = [message["message_index"] for message in http.get(f"/api/sessions/{TLS}").json()["messages"]]
    assert indexes("") == [index for index in whole if index <= 5]
    assert indexes("&before=0&after=0") == [2]
    assert indexes("&before=1&after=") == [index for index in whole if 1 <= index <= 5]


@pytest.mark.parametrize("safe", ["", "/:", ":"])
def test_a_session_is_found_by_its_id_however_it_is_encoded(http: TestClient, safe: str) -> None:
    for name in (SLASHED, SLASHED.removeprefix("dsh:")):
        found = http.get(f"/api/sessions/{quote(name, safe=safe)}").json()
        assert found["session"]["session"] == SLASHED
        assert found["messages"]


def test_a_session_is_read_in_pieces_and_by_kind(http: TestClient) -> None:
    whole = http.get(f"/api/sessions/{TLS}").json()["messages"]
    second = whole[1]["message_index"]
    assert http.get(f"/api/sessions/{TLS}?start={second}&count=2").json()["messages"] == whole[1:3]
    assert http.get(f"/api/sessions/{TLS}?start={second}").json()["messages"] == whole[1:]
    assert http.get(f"/api/sessions/{TLS}?count=0").json()["messages"] == []
    kinds = http.get(f"/api/sessions/{TLS}?kind=summary&kind=reasoning").json()["messages"]
    assert {part["kind"] for message in kinds for part in message["parts"]} == {"summary", "reasoning"}


def test_sessions_are_listed_in_pages_by_filters_and_by_words(http: TestClient) -> None:
    whole = [one["session"] for one in http.get("/api/sessions?limit=100").json()["sessions"]]
    first = http.get("/api/sessions?limit=3").json()
    second = http.get(f"/api/sessions?limit=100&cursor={first['next_cursor']}").json()
    assert [one["session"] for one in first["sessions"] + second["sessions"]] == whole
    assert second["next_cursor"] is None
    assert {one["agent"] for one in http.get("/api/sessions?agent=dsh").json()["sessions"]} == {"dsh"}
    assert TLS in [one["session"] for one in http.get("/api/sessions?q=handshake").json()["sessions"]]


def test_the_status_tells_coverage_and_versions(http: TestClient, library: Library) -> None:
    status = http.get("/api/status").json()
    assert status["coverage"] == library.coverage()._asdict()
    assert set(status["versions"]) >= {"erstwhile", "tokenizer", "schema"}


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/api/search", "q"),
        ("/api/search?q=+", "q"),
        ("/api/search?q=-docker", "q"),
        ("/api/search?q=a&q=b", "q"),
        ("/api/search?q=a&limit=ten", "limit"),
        ("/api/search?q=a&limit=0", "limit"),
        ("/api/search?q=a&limit=-1", "limit"),
        ("/api/search?q=a&limit=99999999999", "limit"),
        ("/api/search?q=a&scope=everywhere", "scope"),
        ("/api/search?q=a&kind=user_text&kind=talk", "kind"),
        ("/api/search?q=a&since=someday", "since"),
        (f"/api/search?q=a&since={'9' * 5000}d", "since"),
        ("/api/search?q=a&until=0001-01-01", "until"),
        ("/api/search?q=a&since=2026-11-03&until=2026-11-01", "since"),
        ("/api/search?q=a&include_current=maybe", "include_current"),
        ("/api/search?q=a&include-current=1", "include-current"),
        ("/api/search?q=a&json=1", "json"),
        ("/api/search?q=a&colour=", "colour"),
        ("/api/sessions?group=none", "group"),
        ("/api/status?verbose=1", "verbose"),
        ("/api/around", "session"),
        ("/api/around?session=x", "message_index"),
        ("/api/around?session=dsh:&message_index=0", "session"),
        ("/api/around?session=x&message_index=one", "message_index"),
        ("/api/around?session=x&message_index=1&before=-1", "before"),
        (f"/api/sessions/{TLS}?kind=talk", "kind"),
        (f"/api/sessions/{TLS}?start=x", "start"),
        ("/api/sessions/dsh:", "id"),
    ],
)
def test_a_bad_or_unknown_parameter_is_named(http: TestClient, path: str, parameter: str) -> None:
    response = http.get(path)
    assert (response.status_code, problem(response)["parameter"]) == (422, parameter)


@pytest.mark.parametrize("parameter", ["rerank=1", "mode=hybrid"])
def test_what_is_planned_only_says_so(http: TestClient, parameter: str) -> None:
    response = http.get(f"/api/search?q=a&{parameter}")
    assert response.status_code == 501
    assert problem(response)["parameter"] == parameter.partition("=")[0]


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/codex:nobody",
        "/api/around?session=nobody&message_index=0",
        f"/api/around?session={TLS}&message_index=999",
        "/",
        "/api",
        "/api/search/",
        "/healthz/x",
    ],
)
def test_what_does_not_exist_is_not_found(http: TestClient, path: str) -> None:
    assert (http.get(path).status_code, problem(http.get(path))["status"]) == (404, 404)


def test_only_indexed_paths_are_read(http: TestClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"role": "user", "content": "hidden"}\n', encoding="utf-8")
    for name in (str(secret), f"{tmp_path}/../{tmp_path.name}/secret.jsonl", "../../etc/passwd", "/a\0b", "C:\\a"):
        for path in (
            f"/api/sessions/{quote(name, safe='')}",
            f"/api/around?message_index=0&session={quote(name, safe='')}",
        ):
            response = http.get(path)
            assert (response.status_code, "hidden" in response.text) == (403, False)
            problem(response)
    known = http.get(f"/api/sessions/{quote(SLASHED, safe='')}").json()["session"]["session_path"]
    assert http.get(f"/api/sessions/{quote(known, safe='')}").json()["session"]["session"] == SLASHED


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_not_allowed(http: TestClient, method: str) -> None:
    response = http.request(method, "/api/search?q=a", content=b"x" * 100_000 if method == "POST" else None)
    assert response.status_code == 405
    assert "GET" in response.headers["allow"]
    problem(response)


def test_a_store_that_cannot_be_used_is_said_in_a_sentence() -> None:
    library = Library(":memory:", {}, Config(":memory:"))
    library.close()
    response = client(library).get("/api/search?q=a")
    assert response.status_code == 503
    problem(response)


class Broken(Library):
    """A library with a fault that nobody foresaw."""

    def __init__(self) -> None:
        super().__init__(":memory:", {}, Config(":memory:"))

    def search(self, *_: Any, **__: Any) -> Answer:
        raise RuntimeError("a private detail")


def test_an_unforeseen_fault_shows_neither_trace_nor_detail() -> None:
    with Broken() as library:
        response = client(library).get("/api/search?q=a")
    assert response.status_code == 500
    assert "private" not in response.text
    problem(response)


# -- who may ask -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/api/search?q=certificate", "/api/nowhere", "/api/search"])
def test_every_response_forbids_caching_sniffing_and_content(http: TestClient, path: str) -> None:
    headers = http.get(path).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("path", ["/healthz", "/api/search?q=certificate", "/nowhere"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8377"},
        {"Host": "127.0.0.1.evil.example:8377"},
        {"Host": "localhost:9999"},
        {"Host": "localhost:8377@evil.example"},
        {"Host": "192.168.1.5:8377"},
        {"Host": "[::2]:8377"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "http://evil.example:8377"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "file://127.0.0.1:8377"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
    ],
    ids=str,
)
def test_forged_and_foreign_requests_are_refused(http: TestClient, path: str, headers: dict[str, str]) -> None:
    response = http.get(path, headers=headers)
    assert response.status_code == 403
    problem(response)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost"},
        {"Host": "LocalHost:8377"},
        {"Host": "127.0.0.1"},
        {"Host": "[::1]:8377"},
        {"Host": "[::1]"},
        {"Origin": HERE},
        {"Origin": "http://localhost:8377"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ],
    ids=str,
)
def test_this_machine_may_ask(http: TestClient, headers: dict[str, str]) -> None:
    assert http.get("/healthz", headers=headers).status_code == 200


def test_two_host_headers_are_refused(http: TestClient) -> None:
    assert http.get("/healthz", headers=[("Host", "127.0.0.1:8377"), ("Host", "evil.example")]).status_code == 403


@pytest.mark.parametrize(
    ("host", "authority", "allowed"),
    [
        ("search.corp", "search.corp:8377", True),
        ("search.corp", "evil.example:8377", False),
        ("fd00::7", "[fd00::7]:8377", True),
        ("0.0.0.0", "192.168.1.5:8377", True),
        ("0.0.0.0", f"{socket.gethostname()}:8377", True),
        ("0.0.0.0", "evil.example:8377", False),
        ("::", "[fd00::7]:8377", True),
    ],
)
def test_a_server_answers_to_the_name_it_is_bound_to(host: str, authority: str, allowed: bool) -> None:
    assert hosts(host, 8377).allows(authority) is allowed


@pytest.mark.parametrize("path", ["/api/search?q=a", "/api/status", "/api/sessions/x", "/nowhere", "/healthz/"])
@pytest.mark.parametrize("sent", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ä"])
def test_with_a_token_nobody_asks_without_it(library: Library, path: str, sent: str | None) -> None:
    headers = [] if sent is None else [(b"Authorization", sent.encode("latin-1"))]
    response = client(library, TOKEN).get(path, headers=headers)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    problem(response)


def test_with_the_token_everything_is_answered_and_health_without_it(library: Library) -> None:
    http = client(library, TOKEN)
    assert http.get("/api/status", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200
    assert http.get("/healthz").status_code == 200


def test_a_query_string_of_more_than_16_kilobytes_is_refused(http: TestClient) -> None:
    fits = "q=certificate&agent=dsh&tool="
    fits += "x" * (16 * 1024 - len(fits))
    assert http.get(f"/api/search?{fits}").status_code == 200
    assert problem(http.get(f"/api/search?{fits}x"))["status"] == 414


# -- any text ----------------------------------------------------------------------------------------------------------

PATHS = ("/api/search", "/api/sessions", "/api/around", f"/api/sessions/{TLS}", "/api/status")
NAMES = sorted({*SEARCH, *SESSIONS, *AROUND, *SHOW, ""})
TRICKY = ("certificate", "1", "7d", "9999999999y", "2026-02-30", "agent:x since:9999999999d", '"a', "/(/", "a*", "\0/")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(TRICKY)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(PATHS), TEXTS, st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=4))
def test_no_parameter_text_is_a_fault_of_the_server(
    http: TestClient, path: str, words: str, pairs: list[tuple[str, str]]
) -> None:
    response = http.get(path, params=[("q", words), *pairs])
    if response.status_code != 200:
        assert problem(response)["status"] in (403, 404, 409, 422, 501)


@settings(deadline=None, max_examples=100)
@given(TEXTS, st.binary(max_size=20))
def test_no_path_or_bytes_are_a_fault_of_the_server(http: TestClient, name: str, raw: bytes) -> None:
    response = http.get(f"/api/sessions/{quote(name, safe='')}?start={quote(raw)}")
    if response.status_code != 200:
        assert problem(response)["status"] in (403, 404, 422)


# -- slow libraries and clients that leave -----------------------------------------------------------------------------


class Stuck(Library):
    """A library whose searches go on until they are interrupted."""

    def __init__(self) -> None:
        super().__init__(":memory:", {}, Config(":memory:"))
        self.started, self.stopped = threading.Event(), threading.Event()
        self.searches = 0

    def search(self, *_: Any, **__: Any) -> Answer:
        self.searches += 1
        self.started.set()
        self.stopped.wait()
        raise StoreError("interrupted")

    def interrupt(self) -> None:
        self.stopped.set()


def test_a_search_beyond_its_deadline_is_stopped_and_the_server_goes_on() -> None:
    with Stuck() as library, client(library, deadline=0.01) as http:
        assert problem(http.get("/api/search?q=a"))["status"] == 503
        assert library.stopped.is_set()
        assert http.get("/healthz").status_code == 200


async def _ask(application: ASGIApp, hung_up: asyncio.Event) -> int:
    """Asks for a search and hangs up at the event; returns the status that would have been sent."""
    sent: list[Message] = []
    requests: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if requests:
            return requests.pop()
        await hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/search",
        "raw_path": b"/api/search",
        "query_string": b"q=a",
        "headers": [(b"host", b"localhost")],
    }
    await application(scope, receive, send)
    return sent[0]["status"]


def test_a_client_that_leaves_takes_its_own_search_along_and_no_other() -> None:
    async def leave(library: Stuck) -> None:
        application = app(library, library.config)
        first, second = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(_ask(application, first))
        await asyncio.to_thread(library.started.wait)
        second.set()
        assert await _ask(application, second) == 503
        assert not library.stopped.is_set()
        first.set()
        assert await running == 503
        assert library.stopped.is_set()

    with Stuck() as library:
        asyncio.run(leave(library))
        assert library.searches == 1


# -- the process -------------------------------------------------------------------------------------------------------


def test_a_token_file_is_read_once_and_stripped(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f" {TOKEN}\n", encoding="utf-8")
    path.chmod(0o600)
    assert read_token(str(path)) == TOKEN


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [(b"secret", 0o644, "chmod 600"), (b" \n", 0o600, "is empty"), (b"\xff", 0o600, "UTF-8")],
)
def test_a_token_file_that_protects_nothing_is_refused(tmp_path: Path, content: bytes, mode: int, said: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=said):
        read_token(str(path))


def test_a_missing_token_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the token file"):
        read_token(str(tmp_path / "token"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "search.corp", ""])
def test_other_machines_are_not_served_without_a_token(erst: Erst, host: str) -> None:
    ran = erst("serve", f"--host={host}", "--port", "0")
    assert (ran.status, ran.out) == (2, "")
    assert "set token_file" in ran.err


def test_a_port_in_use_or_out_of_range_is_one_sentence(erst: Erst) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        ran = erst("serve", "--port", port)
    assert ran == (2, "", f"erst: port {port} of 127.0.0.1 is in use; stop that server or choose another --port\n")
    assert erst("serve", "--port", "70000") == (2, "", "erst: there is no port 70000; the largest is 65535\n")


def test_a_socket_says_its_protocol_so_that_answers_are_not_held_back() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.skipif(os.name == "nt", reason="signals cannot be sent there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_says_where_it_is_answers_and_stops_by_a_signal(
    sample: Path, erst: Erst, number: signal.Signals
) -> None:
    erst("index")
    command = [sys.executable, "-m", "erstwhile", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            line = server.stderr.readline()
            assert line.startswith("erst serve: http://127.0.0.1:")
            http = HTTPConnection("127.0.0.1", int(line.rpartition(":")[2]), timeout=30)
            asked = "/api/search?q=certificate&scope=project&project=/home/dev/shop&mode=lexical&rerank=0&group=session"
            http.request("GET", asked)
            answer = http.getresponse()
            whole = answer.read()
            assert (answer.status, json.loads(whole)["scope"]) == (200, "project")
            http.request("HEAD", asked)
            head = http.getresponse()
            assert (head.status, head.read(), head.headers["content-length"]) == (200, b"", str(len(whole)))
            http.request("GET", f"/api/search?q={'x' * 20_000}")
            assert http.getresponse().status == 414
            http.close()
        finally:
            server.send_signal(number)
        out, err = server.communicate(timeout=30)
    assert (server.returncode, out, err) == (0, "", "")


def test_a_plain_ranking_gives_other_scores(http: TestClient) -> None:
    usual = http.get("/api/search?q=certificate+expired").json()
    plain = http.get("/api/search?q=certificate+expired&ranking=plain").json()
    assert (usual["ranking"], plain["ranking"]) == ("contextual", "plain")
    assert [hit["score"] for hit in usual["hits"]] != [hit["score"] for hit in plain["hits"]]
