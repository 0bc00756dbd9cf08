"""The process behind `erst serve`: its socket, its token, its signals."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

from erstwhile.config import Config
from erstwhile.errors import ConfigError
from erstwhile.http.guard import is_loopback
from erstwhile.http.routes import app
from erstwhile.library import Library

GRACE = 3
"""Seconds that running requests get when the server is stopped."""
BACKLOG = 128


def main(config: Config, host: str, port: int, collection: str | None = None) -> int:
    """Serves until SIGTERM or SIGINT, then returns 0; with `collection` nothing but that. Raises StoreError, NotFound,
    and ConfigError where it cannot listen."""
    token = read_token(config.serve.token_file) if config.serve.token_file else None
    if token is None and not is_loopback(host):
        raise ConfigError(
            f"{host or 'every address'} is reachable from other machines: set token_file in [serve] of config.toml,"
            " or serve on 127.0.0.1"
        )
    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        config = config._replace(serve=config.serve._replace(host=host, port=port))
        with opened(config, collection) as library:
            server = _Server(_settings(app(library, config, token)), _url(host, port))
            with _stopped_by_signals(server):
                server.run([listener])
    return 0


def opened(config: Config, collection: str | None) -> Library:
    """The library to serve: the user's, or one that holds a collection alone. Raises StoreError, NotFound."""
    library = Library(config=config)
    if collection is None:
        return library
    with library:
        alone = library.only(collection)
    alone.sync()
    return alone


def read_token(path: str) -> str:
    """The token in the file. Raises ConfigError when it is missing, empty, or open to every user of the machine."""
    try:
        with open(path, encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            token = file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"cannot read the token file {path}: {reason}") from error
    if os.name == "posix" and mode & stat.S_IROTH:
        raise ConfigError(f"every user of this machine can read the token file {path}; run: chmod 600 {path}")
    if not token:
        raise ConfigError(f"the token file {path} is empty; write a long random text into it")
    return token


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises ConfigError."""
    if port > 65535:
        raise ConfigError(f"there is no port {port}; the largest is 65535")
    try:
        found = socket.getaddrinfo(host or None, port, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        return _listening(socket.socket(family, kind, protocol), address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} of {host} is in use; stop that server or choose another --port") from error
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror or error}") from error
    except UnicodeError as error:
        raise ConfigError(f"{host!r} is not the name of a host") from error


def _listening(listener: socket.socket, address: Any) -> socket.socket:
    """The socket, bound. Not socket.create_server: that one leaves the protocol unsaid, asyncio then keeps Nagle's
    algorithm on, and every answer takes 40 ms more."""
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host or '0.0.0.0'}:{port}"


def _settings(application: object) -> uvicorn.Config:
    return uvicorn.Config(
        application,  # pyright: ignore[reportArgumentType] - uvicorn and Starlette spell the same protocol differently
        # one behaviour everywhere, whatever else happens to be installed
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )


class _Server(uvicorn.Server):
    """Says where it is once it listens."""

    def __init__(self, settings: uvicorn.Config, url: str) -> None:
        super().__init__(settings)
        self.url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stderr.write(f"erst serve: {self.url}\n")
        sys.stderr.flush()


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Generator[None]:
    """Signals stop the server from now on. Uvicorn raises them again when it is done, to end the process by them; here
    they find this handler again, and the process ends with status 0."""
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
