"""Serves the web page of a run on the loopback: read-only, at an address with a secret.

The run's rows are read and put into messages once for all viewers. Each viewer has a position in the messages, and gets
the following ones when its connection takes them. So a slow or lost viewer delays neither the others nor the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from loadgo.errors import BadArgument, BadRun, LoadgoError
from loadgo.measures.summary import summarize
from loadgo.notation.figures import duration
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.following import PROVISIONAL_KEY, Following, NewRows, latest_ns, latest_row_ns
from loadgo.records.part import part_of
from loadgo.records.tables import tables
from loadgo.reporting.report import render
from loadgo.serving.loopback import file_answer, files_of, is_allowed, not_found, page_headers, serve_page
from loadgo.watching.expected import Model
from loadgo.watching.feed import LONG_TABLES, Feed, message
from loadgo.watching.hosts import only_lost_host, watched_hosts
from loadgo.watching.page_terms import TERMS_FILE, terms_module
from loadgo.watching.play import title_of

PAGE_FOLDER = Path(__file__).parent / "page"
READ_PERIOD_S = 0.5
MOST_MESSAGE_ROWS = 65_536
"""Largest number of rows in a message. The page draws between two messages."""
MOST_BUFFERED_BYTES = 262_144
"""Largest number of bytes that wait for a viewer that does not take them."""
MOST_JOINED_MESSAGES = 64
"""Largest number of messages that are sent together."""


@dataclass
class PageMessages:
    """All messages of a run so far, and the event for the next one."""

    following: Following
    settings: Mapping[str, object]
    """Settings of the page, sent first: shown window, first moment, speed and target response time."""
    model: Model | None = None
    """The model with expected figures, if any."""
    messages: list[bytes] = field(default_factory=list)
    ended: bool = False
    """Whether there will be no more messages."""
    damage: str | None = None
    _feed: Feed = field(default_factory=Feed)
    _reach_ns: int = 0
    _state: dict[str, object] = field(default_factory=dict)
    _hosts: list[dict[str, Any]] = field(default_factory=list)
    """The hosts as the page was told of them last."""
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def read(self) -> None:
        """Reads the run's new rows into messages. Raises `BadRun` if they cannot be read."""
        news = self.following.new_rows()
        reach, first = max(self._reach_ns, latest_row_ns(news)), not self.messages
        new_messages = (
            self._feed.messages(news)
            if all(len(news.get(name, ())) <= MOST_MESSAGE_ROWS for name in LONG_TABLES)
            else self._in_parts(news)
        )
        hosts = watched_hosts(self.following.conditions)
        changed = {} if hosts == self._hosts else {"hosts": hosts}
        state = _state(self.following, reach)
        if new_messages or state != self._state or self.following.ended or first or changed:
            self._reach_ns, self._hosts, self._state = reach, hosts, state
            before = [message({**state, **self.settings, **changed, "ended": False})] if first else []
            last = state | ({} if first else changed) | {"ended": self.following.ended}
            self.messages += [*before, *new_messages, message(last)]

    def _in_parts(self, news: NewRows) -> list[bytes]:
        """Messages of the small tables first, and of the long tables in slices, so that the page can draw early."""
        small_tables = {name: rows for name, rows in news.items() if name not in LONG_TABLES}
        new_messages = self._feed.messages(small_tables)
        for name in (name for name in LONG_TABLES if name in news):
            for rows in news[name].iter_slices(MOST_MESSAGE_ROWS):
                new_messages += self._feed.messages({name: rows})
        return new_messages

    async def run_model(self) -> None:
        """Runs the model, if there is one, and adds its figures or its failure as a message."""
        if self.model is None:
            return
        try:
            answer = message({"expected": await run_in_threadpool(self.model.expected)})
        except (LoadgoError, OSError, ValueError) as error:
            answer = message({"unexpected": str(error)})
        self.messages.append(answer)
        self._wake()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def keep_up(self) -> None:
        """Reads new rows until the run has ended, and wakes the waiting viewers."""
        model_run = asyncio.create_task(self.run_model())
        while not (self.following.ended or self.damage):
            await asyncio.sleep(READ_PERIOD_S)
            try:
                await run_in_threadpool(self.read)
            except (BadRun, OSError, pl.exceptions.PolarsError) as damage:
                self.damage = str(damage)
                self.messages.append(message({"damage": self.damage}))
            self._wake()
        await model_run
        self.messages.append(message({"over": True}))
        self.ended = True
        self._wake()

    async def after(self, position: int) -> AsyncIterator[bytes]:
        """Yields the messages from `position` on, as they arrive, until there will be no more."""
        while True:
            while position < len(self.messages):
                joined = self._joined(position)
                position += len(joined)
                content = b"".join(joined)
                for begin in range(0, len(content), MOST_BUFFERED_BYTES):
                    yield content[begin : begin + MOST_BUFFERED_BYTES]
            if self.ended:
                return
            await self._more.wait()

    def _joined(self, position: int) -> list[bytes]:
        """The messages from `position` on that are sent together, which is faster than one by one.

        A long message is sent alone, so that it is not copied for every viewer.
        """
        joined, size = self.messages[position : position + 1], len(self.messages[position])
        for following_message in self.messages[position + 1 : position + MOST_JOINED_MESSAGES]:
            size += len(following_message)
            if size > MOST_BUFFERED_BYTES:
                break
            joined.append(following_message)
        return joined


def _state(following: Following, reach_ns: int) -> dict[str, object]:
    """The facts of the run that the page is told beside its rows."""
    lost = only_lost_host(following.conditions)
    return {
        "title": title_of(following.conditions),
        "reach_ns": reach_ns,
        "how": following.state_word,
        "provisional": PROVISIONAL_KEY in following.conditions,
        "lost_host": None if lost is None else vars(lost),
    }


def serve(page: PageMessages, port: int, announce: Callable[[str], None], *, leaves: bool = False) -> None:
    """Serves the run until an interrupt. With `leaves`, only until the run has ended and its viewers have all messages.

    Raises `Refused` if the port cannot be used, `BadRun` if the run cannot be read.
    """
    page.read()
    subject = "this host" if page.following.conditions.get("kind") == "meter" else "the run"

    def made(token: str, at: str, end: Callable[[], None]) -> Starlette:
        return application(page, token, at, end if leaves else _go_on)

    serve_page(made, port, lambda url: announce(f"watch it at {url} (Ctrl-C ends the watching, and not {subject})"))


def _go_on() -> None:
    """Goes on serving after the end of the run."""


def application(page: PageMessages, token: str, at: str, over: Callable[[], None]) -> Starlette:
    """The application at `http://AT/TOKEN/`: the files of the page, and the run's messages as one stream.

    `over` is called when all messages are ready, after some time for viewers to take them.
    """

    async def file(request: Request) -> Response:
        return file_answer(request, _FILES, token, at)

    async def feed(request: Request) -> Response:
        if not is_allowed(request, token, at):
            return not_found()
        position = request.query_params.get("from", "0")
        if not _is_whole_number(position, most_digits=12):
            return PlainTextResponse(
                "from is a whole number: the number of messages received so far", 400, headers=page_headers()
            )
        return StreamingResponse(
            page.after(int(position)), media_type="application/octet-stream", headers=page_headers()
        )

    one_report = asyncio.Lock()

    async def report(request: Request) -> Response:
        """The report of a part of the run. One is made at a time, since the watched system may be this host."""
        if not is_allowed(request, token, at):
            return not_found()
        bounds = [request.query_params.get(name, "") for name in ("from", "to")]
        if not all(_is_whole_number(text, _MOST_DIGITS) for text in bounds):
            return PlainTextResponse("from and to are nanoseconds since the run began", 400, headers=page_headers())
        async with one_report:
            try:
                content = await run_in_threadpool(part_report, page.following.folder, *map(int, bounds))
            except (LoadgoError, OSError) as error:
                return PlainTextResponse(f"there is no report of this part: {error}", 400, headers=page_headers())
        return Response(content, media_type="text/html", headers=page_headers(_REPORT_POLICY))

    async def until_over() -> None:
        await page.keep_up()
        await asyncio.sleep(2 * READ_PERIOD_S)
        over()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        reading = asyncio.create_task(until_over())
        yield
        reading.cancel()
        if page.model is not None:
            page.model.end()
        with suppress(asyncio.CancelledError):
            await reading

    named = {"/": file, "/feed": feed, "/report": report, "/{file}": file}
    return Starlette(routes=[Route(f"/{{token}}{path}", answer) for path, answer in named.items()], lifespan=lifespan)


def _is_whole_number(text: str, most_digits: int) -> bool:
    """Whether the text is a whole number from 0, in the digits 0 to 9 alone."""
    return text.isascii() and text.isdecimal() and len(text) <= most_digits


_MOST_DIGITS = 18
"""Largest number of digits of a time in nanoseconds: 31 years."""
_REPORT_POLICY = "object-src 'none'"
"""The policy of a report. The page has its charts' code in it, and its own policy allows only that code."""


_FILES = files_of(PAGE_FOLDER) | {TERMS_FILE: terms_module()}


def part_report(folder: Path, from_ns: int, to_ns: int) -> str:
    """The report of what happened between two instants of the run in `folder`, as HTML. It only reads the folder.

    A part that goes on after the last record ends there. Raises `BadRun` for a run that cannot be read, `BadArgument`
    for a part without length and for one that begins after the last record.
    """
    measured = tables_of_load(tables(folder))
    reach_ns = latest_ns(measured)
    if reach_ns <= from_ns < to_ns:
        raise BadArgument(f"from {duration(from_ns)} on there is nothing: the run has {duration(reach_ns)}")
    part = part_of(measured, from_ns, min(to_ns, reach_ns))
    page = render(summarize(part, phases="all"), part, "html")
    assert isinstance(page, str), "a page is text"
    return page
