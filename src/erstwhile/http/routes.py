"""The routes: each decodes its parameters, calls one method of Library, and renders. Knows nothing about sockets."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import orjson
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from erstwhile import render
from erstwhile.config import Config
from erstwhile.errors import ErstError
from erstwhile.http.guard import OPEN, Guard, hosts
from erstwhile.http.parameters import AROUND, NONE, SEARCH, SESSIONS, SHOW, Parameters, decode, needed, query
from erstwhile.http.problem import HEADERS, Problem, named, response
from erstwhile.http.worker import Worker
from erstwhile.library import Library

DEADLINE = 30.0
"""Seconds after which a request is answered without its result."""


def app(library: Library, config: Config, token: str | None = None, deadline: float = DEADLINE) -> ASGIApp:
    """The ASGI application over a library that the caller opened and closes. `config.serve` says under which host and
    port it is reached; with a token every route but /healthz asks for it."""
    door = _Door(library, config, Worker(library, deadline))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        door.worker.close()

    inner = Starlette(
        routes=door.routes(),
        exception_handlers={Problem: _problem, HTTPException: _http, Exception: _unexpected},
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    return Guard(inner, hosts(config.serve.host, config.serve.port), token)


class _AnyText(Convertor[str]):
    """The rest of a path, whatever it is: Starlette's own stops at a line break, which an id may hold."""

    regex = r"(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any_text", _AnyText())


class _Door:
    """What the routes share."""

    def __init__(self, library: Library, config: Config, worker: Worker) -> None:
        self.library, self.config, self.worker = library, config, worker

    def routes(self) -> list[Route]:
        return [
            Route("/api/search", self.search),
            Route("/api/around", self.around),
            Route("/api/sessions", self.sessions),
            Route("/api/sessions/{id:any_text}", self.session),
            Route("/api/status", self.status),
            Route(OPEN, self.healthz),
        ]

    async def search(self, request: Request) -> Response:
        given = _given(request, SEARCH)
        asked = query(given, SEARCH, self.config, time.time())

        def call() -> dict[str, Any]:
            shape = render.answer(self.library.search(asked, sync=not given.get("no_sync")))
            return shape | {"results": shape["hits"]}

        return await self._answer(request, call, "q")

    async def sessions(self, request: Request) -> Response:
        given = _given(request, SESSIONS)
        asked = query(given, SESSIONS, self.config, time.time())
        sync = not given.get("no_sync")
        return await self._answer(request, lambda: render.sessions(self.library.sessions(asked, sync=sync)), "q")

    async def around(self, request: Request) -> Response:
        given = _given(request, AROUND)
        session, index = needed(given, "session"), needed(given, "message_index")
        before, after = given.get("before", 3), given.get("after", 3)
        return await self._answer(
            request, lambda: render.transcript(self.library.around(session, index, before, after)), "session"
        )

    async def session(self, request: Request) -> Response:
        given = _given(request, SHOW)
        name, start, count, kinds = _id(request), given.get("start", 0), given.get("count"), given.get("kind", ())
        return await self._answer(
            request, lambda: render.transcript(self.library.show(name, start, count, kinds)), "id"
        )

    async def status(self, request: Request) -> Response:
        _given(request, NONE)

        def call() -> dict[str, Any]:
            stats = self.library.stats()
            return {
                "schema_version": render.SCHEMA_VERSION,
                "coverage": render.coverage(stats.coverage),
                "versions": stats.versions,
            }

        return await self._answer(request, call, None)

    async def healthz(self, request: Request) -> Response:
        """That the server runs; says nothing about the library, and waits for nobody."""
        return _json(b'{"status":"ok"}')

    async def _answer(self, request: Request, call: Callable[[], dict[str, Any]], subject: str | None) -> Response:
        """The JSON of what `call` returns; `subject` is the parameter that its errors are about."""
        try:
            body = await self.worker.run(lambda: _body(call()), request.receive)
        except ErstError as error:
            raise named(error, subject) from error
        return _json(body)


def _body(shape: dict[str, Any]) -> bytes:
    body = orjson.dumps(shape)
    return body if body.isascii() else render.harmless(body.decode()).encode()


def _given(request: Request, known: Parameters) -> dict[str, Any]:
    return decode(request.scope["query_string"], known)


def _id(request: Request) -> str:
    """The session that the path names: all behind the third slash as it was sent, decoded once."""
    raw: bytes = request.scope.get("raw_path") or b""
    parts = raw.split(b"/", 3)
    if len(parts) < 4:  # a server that keeps no raw path, or one that was encoded oddly
        return request.path_params["id"]
    return unquote(parts[3].decode("latin-1"), errors="replace")


def _json(body: bytes) -> Response:
    return Response(body, headers=HEADERS, media_type="application/json")


# -- what goes wrong ---------------------------------------------------------------------------------------------------


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return response(error)


async def _http(request: Request, error: Exception) -> Response:
    """What the router refuses."""
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == 404:
        detail = f"there is no {request.url.path}; sessions are found at /api/search?q="
    elif error.status_code == 405:
        detail = f"{request.method} is not answered here; use GET"
    return response(Problem(error.status_code, detail, headers=error.headers))


async def _unexpected(_: Request, error: Exception) -> Response:
    """The very top: the server prints the trace, the client learns only the kind of error."""
    return response(Problem(500, f"unexpected {type(error).__name__}; the server's own output says more"))
