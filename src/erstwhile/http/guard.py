"""Who may ask: refuses foreign Host and Origin headers (DNS rebinding, cross-site requests), bad tokens, long queries.

Stands before the routes and knows nothing about them but the one that needs no token.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Mapping
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from erstwhile.http.problem import Problem, response

LONGEST_QUERY = 16 * 1024
"""Bytes of a query string, percent-encoding included."""
OPEN = "/healthz"
WILDCARDS = ("", "0.0.0.0", "::")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether a server bound to `host` is reached from this machine only."""
    if host.lower() == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


class Hosts(NamedTuple):
    """The names under which the server may be called."""

    names: frozenset[str]
    port: str
    any_address: bool = False
    """Bound to every address, so it may be called by any. Rebinding needs a name; foreign names stay refused."""

    def allows(self, authority: str) -> bool:
        """Whether a Host header, or what follows the scheme in an Origin, names this server."""
        name, colon, port = authority.lower().rpartition(":")
        if not colon or port.endswith("]"):
            name, port = authority.lower(), self.port
        if port != self.port:
            return False
        return name in self.names or (self.any_address and _address(name.strip("[]")) is not None)


def hosts(host: str, port: int) -> Hosts:
    """The names of a server bound to `host`."""
    own = socket.gethostname() if host in WILDCARDS else f"[{host}]" if ":" in host else host
    return Hosts(frozenset((*LOOPBACK, own.lower())), str(port), host in WILDCARDS)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


class Guard:
    """The ASGI application `inner` for those who may ask."""

    def __init__(self, inner: ASGIApp, allowed: Hosts, token: str | None) -> None:
        self.inner, self.allowed = inner, allowed
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (problem := self._refused(scope)):
            await response(problem)(scope, receive, send)
        else:
            await self.inner(scope, receive, send)

    def _refused(self, scope: Scope) -> Problem | None:
        headers = _headers(scope)
        host = headers.get("host", "")
        if not self.allowed.allows(host):
            return Problem(403, f"this server is not called {host!r}; ask it by the address it prints when it starts")
        if not self._same_site(headers, host):
            return Problem(403, "a request from another site is not answered")
        if self.token is not None and scope["path"] != OPEN and not self._known(headers.get("authorization", "")):
            return Problem(401, "send the token as `Authorization: Bearer …`", headers={"WWW-Authenticate": "Bearer"})
        if len(scope["query_string"]) > LONGEST_QUERY:
            return Problem(414, f"the query string is longer than {LONGEST_QUERY} bytes")
        return None

    def _same_site(self, headers: Mapping[str, str], host: str) -> bool:
        """Whether no page of another site asks: by Origin, and by Sec-Fetch-Site where a browser sends no Origin (an
        image, a script). Following a link is no request of the page that holds it."""
        if (origin := headers.get("origin")) is not None:
            scheme, _, authority = origin.partition("://")
            if scheme not in ("http", "https") or not (authority == host or self.allowed.allows(authority)):
                return False
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return True
        return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")

    def _known(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode("latin-1"), self.token or b"")


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by name; one that is given twice is joined, and so matches nothing that is allowed."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
