"""An adapter's events without secrets, in their order. Knows the events and the redactor, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import Event, Mark, Message, Resume, Session, Skipped, Title, Unknown
from .nested import each_text
from .redact import redact, redact_all

BATCH = 1 << 16
"""Characters that are looked at together: more would only take more memory."""
RECORDED = ("title", "cwd", "branch", "model", "slug", "lends")
"""What a log says of its session in the words of a person or a repository: a secret may stand there too."""
TYPE_CHARACTERS = 100


def masked(events: Iterable[Event]) -> Iterator[Event]:
    """The events, `[redacted:kind]` in place of each secret in them."""
    waiting: list[Message] = []
    characters = 0
    for event in events:
        if isinstance(event, Message):
            waiting.append(event)
            characters += sum(len(part.text) for part in event.parts)
            if characters < BATCH:
                continue
        yield from _messages(waiting)
        waiting, characters = [], 0
        if not isinstance(event, Message):
            yield _other(event)
    yield from _messages(waiting)


def _messages(messages: list[Message]) -> Iterator[Message]:
    clean = iter(redact_all([part.text for message in messages for part in message.parts]))
    for message in messages:
        parts = [
            part._replace(
                text=next(clean),
                tool=part.tool and redact(part.tool),
                heading=part.heading and redact(part.heading),
            )
            for part in message.parts
        ]
        yield message._replace(parts=tuple(parts))


def _other(event: Session | Mark | Title | Skipped | Unknown | Resume) -> Event:
    if isinstance(event, Session):
        return event._replace(**{name: redact(text) for name in RECORDED if (text := getattr(event, name))})
    if isinstance(event, Title):
        return event._replace(text=redact(event.text))
    if isinstance(event, Unknown):
        return Unknown(redact(event.type[:TYPE_CHARACTERS]))
    if isinstance(event, Resume):
        # one that was masked only makes the next read a whole one
        return Resume(each_text(event.state, redact, keys=False))
    return event
