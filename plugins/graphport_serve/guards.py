"""What stands before every route: by which name the server was called, how much was sent, and who asks."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphport_serve.access import Access, Tokens
from graphport_serve.errors import BodyTooLargeError, HostNotAllowedError, RequestTimeoutError, UnauthorizedError
from graphport_serve.problems import problem_response

ACCESS = "graphport.access"
"""Where in the ASGI scope `AuthGuard` leaves the caller's `Access`."""
PUBLIC = ("/", "/healthz", "/readyz", "/openapi.json", "/knowledge", "/favicon.ico")
"""Paths that tell nothing of any knowledge base; what lies under ``/knowledge/`` is the page's own files."""

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class HeadersGuard:
    """Puts the headers that keep a browser careful on every response; API answers are never kept in a cache."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)


class HostGuard:
    """Refuses a Host this server is not called by, and a browser's request that another origin's page sent.

    A page elsewhere whose name is made to resolve to this machine (DNS rebinding) still sends its own
    name. An IP address cannot be rebound and is always accepted.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], origins: Collection[str]) -> None:
        self.app = app
        self._hosts = {host.lower().strip("[]") for host in hosts} | {"localhost"}
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(Headers(scope=scope))
            except HostNotAllowedError as error:
                await problem_response(error)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, headers: Headers) -> None:
        host = headers.get("host", "")
        name = _host_name(host)
        if name is None or not (name in self._hosts or _is_address(name)):
            raise HostNotAllowedError(
                f"this server does not answer to the host {host!r:.120}; add it to server.allowed_hosts"
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins and urlsplit(origin).netloc.lower() != host.lower():
            raise HostNotAllowedError(
                f"a page of {origin!r:.120} may not use this server; add it to server.cors_origins"
            )


class BodyGuard:
    """Reads a request's body before the application does: at most ``limit`` bytes, within ``seconds``.

    A client that goes away before the end of it is not answered, and its request is not begun.
    """

    def __init__(self, app: ASGIApp, limit: int, seconds: float) -> None:
        self.app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(self._read(Headers(scope=scope), receive), self._seconds)
        except BodyTooLargeError as error:
            await problem_response(error)(scope, receive, send)
            return
        except TimeoutError:
            await problem_response(RequestTimeoutError("the body did not arrive in time"))(scope, receive, send)
            return

        if body is None:
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self.app(scope, replay, send)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        said = headers.get("content-length", "0")
        self._check(int(said) if said.isascii() and said.isdigit() else 0)
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            self._check(len(body))
            more = message.get("more_body", False)
        return bytes(body)

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise BodyTooLargeError(f"the body has more than {self._limit} bytes; send less at once")


class AuthGuard:
    """Lets a request through with the `Access` its token opens, and no other request but for `PUBLIC` paths."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self.app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_public(scope["path"]):
            try:
                scope[ACCESS] = self._tokens.access(Headers(scope=scope).get("authorization"))
            except UnauthorizedError as error:
                await problem_response(error)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def access_of(scope: Scope) -> Access:
    """The caller's access, as `AuthGuard` left it."""
    access: Access = scope[ACCESS]
    return access


def _is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith("/knowledge/")


def _host_name(host: str) -> str | None:
    """The name in a Host header, without port and brackets; None if it is no host."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises for a port that is none
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
