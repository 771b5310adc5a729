"""A page on the loopback: its address with a secret, the checks of each request, and the headers of each answer."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from loadgo.errors import Refused

LOOPBACK_ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 250
"""Largest number of viewers' connections at once. Further ones are refused."""
MOST_STRANGERS = 250
"""Largest number of connections that have shown no secret. A further one closes the oldest of them."""
REQUEST_TIMEOUT_S = 5.0
"""Time in which a connection must send a complete request: after its start, and after each answer."""

_MIME_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_CONTENT_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"
_NO_OTHER_PAGES = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

MakeApplication = Callable[[str, str, Callable[[], None]], Starlette]
"""Makes the application from the secret, the host with its port, and a function that ends the server."""


class ConnectionWithTimeout(H11Protocol):
    """A connection that is closed if it sends no request in time, neither a first one nor another one.

    Until it has shown the secret it is a stranger's, and takes no viewer's slot.
    """

    is_viewer = False
    """Whether a request on this connection had the secret."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Sets the time limit for the first request, and closes the oldest stranger's connection of too many."""
        super().connection_made(transport)
        self.made_s = self.loop.time()
        strangers = [
            other for other in self.connections if isinstance(other, ConnectionWithTimeout) and not other.is_viewer
        ]
        if len(strangers) > MOST_STRANGERS:
            min(strangers, key=lambda other: other.made_s).transport.abort()
        self._expect_request()

    def on_response_complete(self) -> None:
        """Sets the time limit for the next request: uvicorn's own limit ends with its first byte."""
        super().on_response_complete()
        self._expect_request()

    def _expect_request(self) -> None:
        self.loop.call_later(REQUEST_TIMEOUT_S, self._leave, self.cycle)

    def _leave(self, last_cycle: object) -> None:
        """Closes the connection if no request came after `last_cycle`."""
        if self.cycle is last_cycle and not self.transport.is_closing():
            self.transport.close()


def serve_page(make: MakeApplication, port: int, announce: Callable[[str], None]) -> None:
    """Serves an application until an interrupt, or until it ends the server. `announce` is called with its address.

    Raises `Refused` if the port cannot be used. Port 0 is any free port.
    """
    token = secrets.token_urlsafe(24)
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((LOOPBACK_ADDRESS, port))
        except OSError as error:
            raise Refused(f"`port={port}`: {error.strerror}; leave it out, and a free one is taken").about(
                "port"
            ) from error
        door.listen(MOST_CONNECTIONS)
        at = f"{LOOPBACK_ADDRESS}:{door.getsockname()[1]}"
        announce(f"http://{at}/{token}/")

        def end() -> None:
            server.should_exit = True

        # Only critical messages: uvicorn reports viewers that are connected at the end as errors.
        config = uvicorn.Config(
            guarded(make(token, at, end), token, lambda: server.server_state.connections),
            http=ConnectionWithTimeout,
            log_level="critical",
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        with suppress(KeyboardInterrupt):
            server.run([door])


def guarded(application: ASGIApp, token: str, connections: Callable[[], Iterable[object]]) -> ASGIApp:
    """The application behind a door: who shows the secret gets one of the slots, and strangers have none to take."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _shows_secret(scope, token):
            open_now = [each for each in connections() if isinstance(each, ConnectionWithTimeout)]
            for connection in open_now:
                connection.is_viewer |= connection.client == scope["client"]
            if sum(connection.is_viewer for connection in open_now) > MOST_CONNECTIONS:
                await _crowded(scope, receive, send)
                return
        await application(scope, receive, send)

    return door


def _shows_secret(scope: Scope, token: str) -> bool:
    given_token = str(scope["path"]).removeprefix("/").partition("/")[0]
    return secrets.compare_digest(given_token.encode("utf-8", "replace"), token.encode())


async def _crowded(scope: Scope, receive: Receive, send: Send) -> None:
    answer = PlainTextResponse("too many viewers", 503, headers=page_headers() | {"connection": "close"})
    await answer(scope, receive, send)


def is_allowed(request: Request, token: str, at: str) -> bool:
    """Whether a request has the right secret and host name, and comes from our page."""
    given_token = str(request.path_params["token"])
    origin = request.headers.get("origin")
    is_our_host = request.headers.get("host") == at and origin in (None, f"http://{at}")
    is_our_site = request.headers.get("sec-fetch-site") in (None, "none", "same-origin")
    return secrets.compare_digest(given_token.encode(), token.encode()) and is_our_host and is_our_site


def not_found() -> Response:
    """The answer to a request that is not allowed, and to one for what does not exist."""
    return PlainTextResponse("there is nothing here", 404, headers=page_headers() | {"connection": "close"})


def page_headers(policy: str = _CONTENT_POLICY) -> dict[str, str]:
    """The headers of an answer: it may load nothing else, stays with our own page, and is not stored."""
    return {
        "content-security-policy": f"{policy}; {_NO_OTHER_PAGES}",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a page, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in _MIME_TYPES}


def file_answer(request: Request, files: Mapping[str, bytes], token: str, at: str) -> Response:
    """The answer to a request for one of the page's `files`, by default its `index.html`."""
    name = str(request.path_params.get("file", "index.html"))
    if not is_allowed(request, token, at) or name not in files:
        return not_found()
    return Response(files[name], media_type=_MIME_TYPES[Path(name).suffix], headers=page_headers())
