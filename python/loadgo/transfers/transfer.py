"""Moves data between two hosts and measures the cost for each, as the end that starts or as the server."""

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
from loadgo.documents.result import Result
from loadgo.errors import BadArgument, NotPossible, Refused
from loadgo.running.stopping import catch_stop_signals
from loadgo.transfers.row import Row, Side, row

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME_S, STALLED_S = 600.0, 20.0
MOST_BYTE_METHOD_BYTES = 4 << 20
"""Size limit of the method of a byte a call among `all` methods: a gigabyte would take an hour."""
_POLL_PERIOD_S = 0.1


@dataclass(frozen=True, repr=False)
class Transferred(Result, presented_by="loadgo.transfers.presentation:presentation"):
    """Both ends of transfers, in the order of the transfers."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    """Sentences about missing figures, each with its reason."""
    stopped: bool
    """Whether an interrupt ended the transfers early."""
    left_out: tuple[str, ...] = ()
    """Methods of `all` that are not possible between these two hosts, each with the reason."""

    @property
    def complete(self) -> bool:
        """Whether every end moved all its data, and every far end sent its row."""
        return not (self.stopped or self.notes or any(row.broke_off for row in self.rows))


def methods() -> dict[str, int]:
    """The largest number of bytes in a call by method, from the most expensive method to the cheapest."""
    return {name: usual for name, usual, _ in _loadgo.transfer_methods()}


def impossible() -> dict[str, str]:
    """The methods that failed a trial on this host, each with the reason."""
    return {name: reason for name, _, reason in _loadgo.transfer_methods() if reason is not None}


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
    """Moves data to another host or from it, and measures what both ends used: time, processor time, faults.

        rows = loadgo.transfer("10.0.0.2:3920", size=1 << 30, method=["blocks", "sendfile"], token=secret).rows

    Args:
        to: The address `HOST:PORT` at which `loadgo transfer serve` waits.
        size: Number of bytes. With `from_file`, the number of its first bytes.
        method: A method's name, several names, or `all`. Each is a transfer of its own.
            `loadgo.transfers.transfer.methods()` lists them.
        receive: Whether the data come from the other host.
        message: The largest number of bytes in a call, up to 16 MiB. By default the method's own.
        from_file: The file that is sent. By default the data are a pattern in memory.
        into_file: The new file that keeps received data. By default they are dropped.
        token: The secret that both ends share. It is necessary beyond loopback.
        time_s: The longest time of a transfer, in seconds.
        stalled_s: The longest time without a byte, in seconds.
        progress: A function that is called with each `Row` as it is measured.

    Returns:
        `Transferred` with a `Row` for each end of each transfer: bytes, seconds, page faults and interrupt work.

    Raises:
        loadgo.errors.Refused: There is no server, the server refuses, or a file cannot be read.
        loadgo.errors.NotPossible: A named method is not possible between these hosts. With `all` it is left out and
            named.
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.

    With `all`, the method of one byte a call moves at most 4 MiB. RFC 392 (1972) made such measurements between two
    hosts.
    """
    names = _named(method)
    if message is not None and not 1 <= message <= 16 << 20:
        raise BadArgument(f"a message of {message} bytes is out of range: 1 to {16 << 20}")
    if from_file is not None and Path(from_file).exists() and not Path(from_file).is_file():
        raise Refused(f"{from_file} is no plain file: only such a one can be sent, as often as there are methods")
    rows: list[Row] = []
    notes: list[str] = []
    left_out: list[str] = []
    with catch_stop_signals() as stop:
        for name in names:
            planned = _loadgo.Transfer(
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
            reply = _run(planned, stop.is_set)
            if "cannot" in reply:
                if method != "all":
                    raise NotPossible(reply["cannot"])
                left_out.append(reply["cannot"])
                continue
            message_bytes = message or methods()[name]
            ends: list[tuple[Side, bool]] = [("here", not receive), ("there", receive)]
            for side, sends in ends:
                if reply[side] is not None:
                    rows.append(row(side, sends=sends, method=name, message_bytes=message_bytes, end=reply[side]))
                    if progress is not None:
                        progress(rows[-1])
            if reply["note"]:
                notes.append(f"{name}: {reply['note']}")
            if stop.is_set():
                break
        return Transferred(tuple(rows), tuple(notes), stop.is_set(), tuple(left_out))


def _bounded(method: str, size: int | None) -> int | None:
    return min(size, MOST_BYTE_METHOD_BYTES) if size is not None and method == "bytes" else size


def _named(method: str | Sequence[str]) -> list[str]:
    known = list(methods())
    names = known if method == "all" else method.split(",") if isinstance(method, str) else list(method)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise BadArgument(f"there is no method {', '.join(unknown)!r}: all, or some of {', '.join(known)}")
    return names


def _run(planned: _loadgo.Transfer, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    """Runs a transfer in a thread of its own, so that the main thread receives signals."""
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(planned.run)
        while True:
            try:
                return future.result(_POLL_PERIOD_S)
            except NotYet:
                if is_stopped():
                    planned.stop()


@dataclass(frozen=True)
class Served:
    """News of a server: a transfer that ended, a client that was refused, or a note about the server."""

    peer: str
    """The client. Empty for a note about the server."""
    row: Row | None
    refused: str | None
    job: str | None = None
    """Kind of batch job: `submit`, `print`, `store`. None for a plain transfer."""
    kept: Path | None = None
    """The file with the received data."""
    note: str | None = None
    """Why the server accepts no connections for now, or how many news were left out."""


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
    """Starts a server at the address `at`: on the loopback, or elsewhere with a `token` that clients must know.

    It allows `connections` transfers at once, of at most `size` bytes and `time_s` seconds each. It writes nothing
    without the folder `keep_in`, and there at most `total` bytes in all transfers. The server is a batch host too: the
    job of a deck takes `job_time_s`. The clients' ends of job transfers are written to the CSV file `rows`, if any.

    Raises `errors.Refused` if it cannot listen there, `ValueError` for limits that are not positive.
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
        """HOST:PORT, with the port that the kernel chose if it was 0."""
        return self._listening.address

    def serve(self, hears: Callable[[Served], None] | None = None, until: Callable[[], bool] | None = None) -> None:
        """Serves until `until` is true, or an interrupt. Calls `hears` with every transfer and every refusal."""
        with catch_stop_signals() as stop:

            def may_continue(news: dict[str, Any] | None) -> bool:
                if news is not None and hears is not None:
                    hears(_served(news))
                return not (stop.is_set() or (until is not None and until()))

            self._listening.serve(may_continue)


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
