"""Everything that goes wrong -> `application/problem+json` (RFC 9457), and the headers that every response carries."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from starlette.responses import Response

from erstwhile.errors import ErstError, NotBuilt, NotFound, Refused, StaleCursor, StoreError, UsageError

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}

STATUSES: tuple[tuple[type[ErstError], int], ...] = (
    (StaleCursor, 409),
    (UsageError, 422),
    (NotFound, 404),
    (Refused, 403),
    (NotBuilt, 501),
    (StoreError, 503),
)
TITLES = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    414: "URI Too Long",
    422: "Unprocessable Content",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
"""Written out: Python's own names for 414 and 422 differ from version to version."""


class Problem(Exception):
    """An answer that is not what was asked for; `detail` is one sentence a person can act on."""

    def __init__(
        self, status: int, detail: str, parameter: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.parameter, self.headers = status, detail, parameter, headers


def named(error: ErstError, parameter: str | None) -> Problem:
    """The problem that an error of the library is, and the parameter it came from."""
    status = next((status for family, status in STATUSES if isinstance(error, family)), 500)
    if status == 409:
        parameter = "cursor"
    return Problem(status, str(error), parameter if status in (403, 409, 422, 501) else None)


def response(problem: Problem) -> Response:
    """The problem as a response."""
    shape = {
        "type": "about:blank",
        "title": TITLES.get(problem.status, "Error"),
        "status": problem.status,
        "detail": problem.detail,
    }
    if problem.parameter is not None:
        shape["parameter"] = problem.parameter
    headers = {**HEADERS, **(problem.headers or {})}
    return Response(orjson.dumps(shape), problem.status, headers, "application/problem+json")
