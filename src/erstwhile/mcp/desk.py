"""Asks the library in worker threads, so that the event loop stays free, and stops questions that nobody waits for."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import TypeVar

import anyio
import anyio.to_thread

from erstwhile.library import Library

T = TypeVar("T")
AGAIN = 0.01
"""Seconds between interruptions: one that comes between two statements of SQL is lost."""


class Withdrawn(Exception):
    """Nobody waits for the answer any more; never seen outside this module."""


class Ticket:
    """One question's place at the desk."""

    def __init__(self) -> None:
        self.withdrawn = False
        self.ended = Event()


class Desk:
    """One question after another. The library must be the desk's own: stopping one interrupts all that it does."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._turn = Lock()
        self._state = Lock()
        self._asked: Ticket | None = None

    async def ask(self, question: Callable[[Library], T]) -> T:
        """What the question returns or raises. A cancelled caller is free at once, and the work is stopped."""
        ticket = Ticket()
        try:
            return await anyio.to_thread.run_sync(self._answer, ticket, question, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            self._withdraw(ticket)
            raise

    def _answer(self, ticket: Ticket, question: Callable[[Library], T]) -> T:
        with self._turn:
            with self._state:
                if ticket.withdrawn:
                    raise Withdrawn
                self._asked = ticket
            try:
                return question(self.library)
            finally:
                with self._state:
                    self._asked = None
                ticket.ended.set()

    def _withdraw(self, ticket: Ticket) -> None:
        with self._state:
            ticket.withdrawn = True
            running = self._asked is ticket
        if running:
            Thread(target=self._stop, args=(ticket,), name="erst-interrupt", daemon=True).start()

    def _stop(self, ticket: Ticket) -> None:
        """Interrupts the question until it has ended; the lock keeps the next one from being hit in its place."""
        while not ticket.ended.is_set():
            with self._state:
                if self._asked is ticket:
                    self.library.interrupt()
            ticket.ended.wait(AGAIN)
