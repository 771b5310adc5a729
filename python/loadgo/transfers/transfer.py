"""Moves data between two hosts and measures what that costs each: from this end, or as the end that waits."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo import _loadgo
from loadgo.errors import BadArgument, NotPossible, Refused
from loadgo.running.stopping import asked_to_stop
from loadgo.transfers.row import Row, Side, row

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME_S, STALLED_S = 600.0, 20.0
BYTES_OF_ALL = 4 << 20
"""A gigabyte, a byte a call, would take an hour."""
_LOOK_UP_S = 0.1


@dataclass(frozen=True)
class Transferred:
    """Both ends of the transfers that were made, in their order."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    """What is not known, and why."""
    stopped: bool
    """An interrupt ended them early."""
    left_out: tuple[str, ...] = ()
    """Methods of `all` that are not possible between these two hosts, each with the reason."""

    @property
    def complete(self) -> bool:
        """Every end moved all that it should, and every other end told its row."""
        return not (self.stopped or self.notes or any(row.broke_off for row in self.rows))


def methods() -> dict[str, int]:
    """The methods by name, from the dearest to what should be the cheapest, and the most bytes that a call moves."""
    return {name: usual for name, usual, _ in _loadgo.transfer_methods()}


def impossible() -> dict[str, str]:
    """The methods that this host cannot do, and why not; it is tried."""
    return {name: why_not for name, _, why_not in _loadgo.transfer_methods() if why_not is not None}


def transfer(
    to: str,
    *,
    size: int | None = None,
    method: str | Sequence[str] = "blocks",
    receive: bool = False,
    message: int | None = None,
    from_file: str | Path | None = None,
    into_file: str | Path | None = None,
    token: str | None = None,
    time_s: float = TIME_S,
    stalled_s: float = STALLED_S,
    progress: Callable[[Row], None] | None = None,
) -> Transferred:
    """Sends `size` bytes, or a whole file, to the server at `to` (HOST:PORT), or receives them from it.

    `method` is a name of `methods()`, several, or `all`, each a transfer of its own; `message` the most bytes of a
    call. Of `all`, the method of a byte a call moves at most `BYTES_OF_ALL`, and methods that are not possible between
    the two hosts are left out and named. `progress` hears each row as it comes.

    Raises `errors.Refused` where there is no transfer: nobody listens, the server refuses, a file cannot be read;
    `errors.NotPossible` where a method that was asked for by its name is not; `ValueError` for what makes no sense.
    """
    names = _named(method)
    if message is not None and not 1 <= message <= 16 << 20:
        raise BadArgument(f"a message of {message} bytes is out of range: 1 to {16 << 20}")
    if from_file is not None and Path(from_file).exists() and not Path(from_file).is_file():
        raise Refused(f"{from_file} is no plain file: only such a one can be sent, as often as there are methods")
    rows: list[Row] = []
    notes: list[str] = []
    left_out: list[str] = []
    with asked_to_stop() as stop:
        for name in names:
            one = _loadgo.Transfer(
                to,
                method=name,
                receive=receive,
                size=_bounded(name, size) if method == "all" and from_file is None else size,
                message=message,
                token=token,
                from_file=from_file,
                into_file=into_file,
                time_s=time_s,
                stalled_s=stalled_s,
            )
            told = _made(one, stop.is_set)
            if "cannot" in told:
                if method != "all":
                    raise NotPossible(told["cannot"])
                left_out.append(told["cannot"])
                continue
            asked = message or methods()[name]
            ends: list[tuple[Side, bool]] = [("here", not receive), ("there", receive)]
            for side, sends in ends:
                if told[side] is not None:
                    rows.append(row(side, sends=sends, method=name, message_bytes=asked, end=told[side]))
                    if progress is not None:
                        progress(rows[-1])
            if told["note"]:
                notes.append(f"{name}: {told['note']}")
            if stop.is_set():
                break
        return Transferred(tuple(rows), tuple(notes), stop.is_set(), tuple(left_out))


def _bounded(method: str, size: int | None) -> int | None:
    return min(size, BYTES_OF_ALL) if size is not None and method == "bytes" else size


def _named(method: str | Sequence[str]) -> list[str]:
    known = list(methods())
    asked = known if method == "all" else method.split(",") if isinstance(method, str) else list(method)
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        raise BadArgument(f"there is no method {', '.join(unknown)!r}: all, or some of {', '.join(known)}")
    return asked


def _made(one: _loadgo.Transfer, stopped: Callable[[], bool]) -> dict[str, Any]:
    """Makes it in a thread of its own, so that signals are heard meanwhile."""
    with ThreadPoolExecutor(1) as elsewhere:
        future = elsewhere.submit(one.run)
        while True:
            try:
                return future.result(_LOOK_UP_S)
            except NotYet:
                if stopped():
                    one.stop()


@dataclass(frozen=True)
class Served:
    """What a server tells: a transfer that ended, somebody who was refused, or something of itself."""

    peer: str
    """Who it was; empty where it is of the server itself."""
    row: Row | None
    refused: str | None
    job: str | None = None
    """What it was to the batch host: `submit`, `print`, `store`; None for a plain transfer."""
    kept: Path | None = None
    """The file in which what came is kept."""
    note: str | None = None
    """Of the server itself: that nobody can be let in for now and why, or how much of this was left out."""


@contextmanager
def serving(
    at: str = "127.0.0.1:3920",
    *,
    token: str | None = None,
    keep_in: str | Path | None = None,
    connections: int = 16,
    size: int = 64 << 30,
    total: int = 64 << 30,
    time_s: float = TIME_S,
    stalled_s: float = STALLED_S,
    job_time_s: float = 0.0,
    rows: str | Path | None = None,
) -> Iterator[Server]:
    """The end that waits at `at`, loopback unless there is a `token` that who comes must know.

    At most `connections` transfers at once, of at most `size` bytes and `time_s` seconds each. It writes nowhere
    unless a folder is named with `keep_in`, and there at most `total` bytes over all transfers. It is a batch host
    too: a deck's job takes `job_time_s`, and the clients' ends of the transfers of jobs go into the CSV file `rows` as
    they end, where one is named.

    Raises `errors.Refused` when it may not or cannot listen there, `ValueError` for bounds that make no sense.
    """
    if connections < 1 or size < 1 or total < 1 or time_s <= 0 or stalled_s <= 0 or job_time_s < 0:
        raise BadArgument("a server without a bound, or with one of nothing: give positive numbers")
    if not re.fullmatch(r".+:\d+", at):
        raise BadArgument(f"{at!r} is no ADDRESS:PORT to wait at: write 127.0.0.1:3920")
    if not token and not _is_loopback(at):
        raise Refused(f"{at} can be reached from other hosts: give a shared token: `token`").about("token")
    if keep_in is not None and not Path(keep_in).is_dir():
        raise Refused(f"{keep_in} is no folder to keep what comes in: make it first")
    yield Server(
        _loadgo.TransferServer(
            at,
            connections=connections,
            size=size,
            total=total,
            time_s=time_s,
            stalled_s=stalled_s,
            token=token,
            keep_in=keep_in,
            job_time_s=job_time_s,
            rows=rows,
        )
    )


@dataclass(frozen=True)
class Server:
    """A server that listens."""

    _listening: _loadgo.TransferServer

    @property
    def address(self) -> str:
        """HOST:PORT, with the port that it got where 0 was asked for."""
        return self._listening.address

    def serve(self, hears: Callable[[Served], None] | None = None, until: Callable[[], bool] | None = None) -> None:
        """Serves until `until` is true, or an interrupt; `hears` is told of every transfer and every refusal."""
        with asked_to_stop() as stop:

            def goes_on(news: dict[str, Any] | None) -> bool:
                if news is not None and hears is not None:
                    hears(_served(news))
                return not (stop.is_set() or (until is not None and until()))

            self._listening.serve(goes_on)


def _served(news: dict[str, Any]) -> Served:
    if "note" in news:
        return Served("", None, None, note=news["note"])
    if "refused" in news:
        return Served(news["peer"], None, news["refused"])
    end = row("here", sends=not news["receive"], method=news["method"], message_bytes=news["message"], end=news["end"])
    return Served(news["peer"], end, None, news["job"], news["kept"])


def _is_loopback(at: str) -> bool:
    host = at.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
