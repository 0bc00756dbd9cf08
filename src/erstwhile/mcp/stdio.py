"""One client over standard input and output, until it closes the input. stdout carries nothing but the protocol."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterable
from typing import Any, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

LINGER = 10.0
"""Seconds in which calls that came before the end of the input may still be answered."""
INTERRUPTED = 130


def serve(server: Server[Any]) -> None:
    """Returns when the client has hung up; an interruption ends the process."""
    # The thread that waits for the next line cannot be woken, so that an orderly end would wait for that line. Nothing
    # is lost: a process that dies leaves the store as good as one that ends.
    signal.signal(signal.SIGINT, _end)
    try:
        anyio.run(_serve, server)
    except* (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError):
        pass  # the client is gone, and nobody reads a complaint


def _end(_signal: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        calls = Calls()
        ours, theirs = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        answers, answered = anyio.create_memory_object_stream[SessionMessage](0)
        tasks.start_soon(calls.receive, read, ours)
        tasks.start_soon(calls.send, answered, write)
        await server.run(theirs, answers, server.create_initialization_options())


class Sender(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...

    async def aclose(self) -> None: ...


class Calls:
    """Keeps the end of the input from the server until the calls before it are answered: the server drops what is still
    running when its input ends, and `printf … | erst mcp` would get no answer."""

    def __init__(self) -> None:
        self._open: set[str | int] = set()
        self._settled = anyio.Event()

    async def receive(
        self, read: AsyncIterable[SessionMessage | Exception], ours: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        async with ours:
            async for message in read:
                self._note(message)
                await ours.send(message)
            if self._open:
                self._settled = anyio.Event()
                with anyio.move_on_after(LINGER):
                    await self._settled.wait()

    async def send(self, answered: MemoryObjectReceiveStream[SessionMessage], write: Sender) -> None:
        async with answered:
            async for message in answered:
                await write.send(message)
                if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                    self._close(message.message.id)
        await write.aclose()

    def _note(self, message: SessionMessage | Exception) -> None:
        if not isinstance(message, SessionMessage):
            return
        if isinstance(message.message, JSONRPCRequest):
            self._open.add(message.message.id)
        elif isinstance(message.message, JSONRPCNotification) and message.message.method == "notifications/cancelled":
            self._close((message.message.params or {}).get("requestId"))

    def _close(self, call: str | int | None) -> None:
        if call is not None:
            self._open.discard(call)
        if not self._open:
            self._settled.set()
