"""Runs the library's calls in a thread of its own, so that a slow one holds up neither the event loop nor the exit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from starlette.types import Receive

from erstwhile.http.problem import Problem
from erstwhile.library import Library

T = TypeVar("T")


class Worker:
    """One thread, because a library answers one question at a time; what waits can be dropped without a trace."""

    def __init__(self, library: Library, deadline: float) -> None:
        self._library, self._deadline = library, deadline
        self._pool = ThreadPoolExecutor(1, "erst-library")
        self._lock = Lock()
        self._running: object = None

    async def run(self, call: Callable[[], T], receive: Receive) -> T:
        """What `call` returns or raises. Raises Problem and stops it when it takes too long or the client hangs up."""
        job = object()
        work = asyncio.wrap_future(self._pool.submit(self._run, job, call))
        gone = asyncio.ensure_future(_hung_up(receive))
        try:
            await asyncio.wait((work, gone), timeout=self._deadline, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise Problem(503, f"no answer within {self._deadline:g} seconds; ask for less, or try again")
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()
                self._interrupt(job)

    def close(self) -> None:
        """Drops what waits and stops what runs."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if self._running is not None:
                self._library.interrupt()

    def _run(self, job: object, call: Callable[[], T]) -> T:
        with self._lock:
            self._running = job
        try:
            return call()
        finally:
            with self._lock:
                self._running = None

    def _interrupt(self, job: object) -> None:
        """Stops the job if it is the one that runs; the lock keeps the next one from being hit in its place."""
        with self._lock:
            if self._running is job:
                self._library.interrupt()


async def _hung_up(receive: Receive) -> None:
    """Returns when the client is gone; a body it may send is thrown away."""
    while (await receive())["type"] != "http.disconnect":
        pass
