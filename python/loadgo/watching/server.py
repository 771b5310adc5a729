"""The page of a run, served on loopback: read-only, behind an address that nobody can guess.

The run's rows are read and put into messages once, whoever watches; each viewer has a place in them, and gets what lies
beyond it when its connection takes it. So a viewer that is slow or gone costs the others, and the run, nothing.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from loadgo.errors import BadRun, LoadgoError, Refused
from loadgo.records.following import Following, News, reach_in
from loadgo.watching.expected import Model
from loadgo.watching.feed import Feed, message
from loadgo.watching.play import title_of

ADDRESS = "127.0.0.1"
FILES = Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"
VIEWERS = 250
"""At most so many connections at once; further ones are told to come later."""
LOOK_S = 0.5
PATIENCE_S = 5.0
"""So long who has come may take until a whole request is there."""
ROWS = 65_536
"""At most so many rows a message: a page draws what it has between two."""
PIECE = 262_144
"""So many bytes at once wait for a viewer who does not take them."""
TOGETHER = 64
"""At most so many messages are joined for it."""


@dataclass
class Told:
    """All messages of a run so far, and who waits for the next."""

    following: Following
    settings: Mapping[str, object]
    """What the page is told first: what it shows, where it begins, how fast it plays, which response time is wanted."""
    model: Model | None = None
    """Expects something of the run."""
    messages: list[bytes] = field(default_factory=list)
    ended: bool = False
    """Nothing more will come."""
    damage: str | None = None
    _feed: Feed = field(default_factory=Feed)
    _reach_ns: int = 0
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def read(self) -> None:
        """Reads what the run has written since, into messages. Raises `BadRun` when it cannot be read."""
        news = self.following.news()
        reach, first = max(self._reach_ns, reach_in(news)), not self.messages
        found = self._feed.messages(news) if len(news.get(_LONG, ())) <= ROWS else self._in_parts(news)
        if found or reach > self._reach_ns or self.following.ended or first:
            self._reach_ns = reach
            state = {"title": title_of(self.following.conditions), "reach_ns": reach, "how": self.following.how}
            before = [message({**state, **self.settings, "ended": False})] if first else []
            self.messages += [*before, *found, message(state | {"ended": self.following.ended})]

    def _in_parts(self, news: News) -> list[bytes]:
        """Long tables in several messages, the small tables first, so that a page can draw before it has all."""
        rest = {name: rows for name, rows in news.items() if name != _LONG}
        parts = news[_LONG].iter_slices(ROWS)
        return [*self._feed.messages(rest), *(one for part in parts for one in self._feed.messages({_LONG: part}))]

    async def expect(self) -> None:
        """Asks the model, where there is one, which may take a while; what it cannot tell is a line on the page."""
        if self.model is None:
            return
        try:
            found = message({"expected": await run_in_threadpool(self.model.expected)})
        except (LoadgoError, OSError, ValueError) as why:
            found = message({"unexpected": str(why)})
        self.messages.append(found)
        self._wake()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def keep_up(self) -> None:
        """Reads on until the run has ended, and wakes who waits."""
        asked = asyncio.create_task(self.expect())
        while not (self.following.ended or self.damage):
            await asyncio.sleep(LOOK_S)
            try:
                await run_in_threadpool(self.read)
            except (BadRun, OSError, pl.exceptions.PolarsError) as damage:
                self.damage = str(damage)
                self.messages.append(message({"damage": self.damage}))
            self._wake()
        await asked
        self.messages.append(message({"over": True}))
        self.ended = True
        self._wake()

    async def after(self, place: int) -> AsyncIterator[bytes]:
        """The messages from `place` on, as they come, until there will be no more."""
        while True:
            while place < len(self.messages):
                told = self._some(place)
                place += len(told)
                whole = b"".join(told)
                for begin in range(0, len(whole), PIECE):
                    yield whole[begin : begin + PIECE]
            if self.ended:
                return
            await self._more.wait()

    def _some(self, place: int) -> list[bytes]:
        """The messages from `place` on that go out together: to send one costs more than to join it to others.

        A long one goes alone, so that it is not copied for every viewer.
        """
        some, size = self.messages[place : place + 1], len(self.messages[place])
        for told in self.messages[place + 1 : place + TOGETHER]:
            size += len(told)
            if size > PIECE:
                break
            some.append(told)
        return some


_LONG = "interactions"
"""The table that may have very many rows."""


class Impatient(H11Protocol):
    """A connection that asks for nothing does not stay: it needs no secret, and takes a viewer's place."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Gives whoever came some seconds to ask."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE_S, self._leave)

    def _leave(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


def serve(told: Told, port: int, said: Callable[[str], None], *, leaves: bool = False) -> None:
    """Serves the run until an interrupt; one that `leaves`, until the run has ended and its viewers know.

    Raises `Refused` when the port cannot be had, `BadRun` without a run.
    """
    told.read()
    where = "this host" if told.following.conditions.get("kind") == "meter" else "the run"
    token = secrets.token_urlsafe(24)
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((ADDRESS, port))
        except OSError as error:
            raise Refused(f"`port={port}`: {error.strerror}; leave it out, and a free one is taken").about(
                "port"
            ) from error
        door.listen(VIEWERS)
        at = f"{ADDRESS}:{door.getsockname()[1]}"
        said(f"watch it at http://{at}/{token}/ (Ctrl-C ends the watching, and not {where})")

        def over() -> None:
            server.should_exit = leaves or server.should_exit

        app = application(told, token, at, over)
        # An end with viewers at their feeds is no error to tell of.
        config = uvicorn.Config(
            app,
            http=Impatient,
            log_level="critical",
            lifespan="on",
            limit_concurrency=VIEWERS,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        with suppress(KeyboardInterrupt):
            server.run([door])


def application(told: Told, token: str, at: str, over: Callable[[], None]) -> Starlette:
    """What answers at `http://AT/TOKEN/`: the page's files, and the run's messages as one stream.

    `over` is called when all of the run has been told, and there was time to take it.
    """

    async def file(request: Request) -> Response:
        name = request.path_params.get("file", "index.html")
        if not _ours(request, token, at) or name not in _FILES:
            return _nobody()
        return Response(_FILES[name], media_type=KINDS[Path(name).suffix], headers=_headers())

    async def feed(request: Request) -> Response:
        if not _ours(request, token, at):
            return _nobody()
        place = request.query_params.get("from", "0")
        if not place.isdecimal() or len(place) > 12:
            return PlainTextResponse("from is a whole number: the messages that are known", 400, headers=_headers())
        return StreamingResponse(told.after(int(place)), media_type="application/octet-stream", headers=_headers())

    async def until_over() -> None:
        await told.keep_up()
        await asyncio.sleep(2 * LOOK_S)
        over()

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        reading = asyncio.create_task(until_over())
        yield
        reading.cancel()
        if told.model is not None:
            told.model.end()
        with suppress(asyncio.CancelledError):
            await reading

    routes = [Route("/{token}/", file), Route("/{token}/feed", feed), Route("/{token}/{file}", file)]
    return Starlette(routes=routes, lifespan=life)


_FILES = {path.name: path.read_bytes() for path in sorted(FILES.iterdir()) if path.suffix in KINDS}


def _ours(request: Request, token: str, at: str) -> bool:
    """Whether the right address was asked for, by its name, and by a page of ours."""
    given = str(request.path_params["token"])
    origin = request.headers.get("origin")
    here = request.headers.get("host") == at and origin in (None, f"http://{at}")
    site = request.headers.get("sec-fetch-site") in (None, "none", "same-origin")
    return secrets.compare_digest(given.encode(), token.encode()) and here and site


def _nobody() -> Response:
    return PlainTextResponse("there is nothing here", 404, headers=_headers())


def _headers() -> dict[str, str]:
    return {
        "content-security-policy": POLICY + "; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }
