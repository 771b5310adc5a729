"""The transfers of RFC 392 made again on this host: its sizes, in blocked records, at its loads, over loopback.

The seed's host had one processor, and the other end was elsewhere: this end is kept on one of the host's processors,
with as many busy processes beside it as the load average was, less the transfer itself; the other end is on another
processor, where there is one. Each transfer is made several times, and the one with the median processor time is kept.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from loadgo.errors import Refused
from loadgo.published.catalogue import DOCUMENTS_FOLDER
from loadgo.reproduction.models.rfc_392 import Transfer, transfers
from loadgo.transfers.background_load import beside, running
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.grid import table_of
from loadgo.transfers.parts import Parts, parts_of
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Server, serving, transfer

_PRINTED = DOCUMENTS_FOLDER / "rfc392_tables.csv"
_COLUMNS = {"real_s": "clk_s", "direction": "dir", "load": "load5"}
METHOD = "records"
TIMES = 5
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Again:
    """A row of the seed's tables, and the same transfer here."""

    row: Row
    load: int
    """Processes that want this end's processor: busy ones, and the transfer itself."""
    running: float | None
    """How many were running or ready to on the whole host, whoever they are of; None where the kernel does not say."""


@dataclass(frozen=True)
class Here:
    """All transfers of the seed's tables, on this host."""

    rows: Mapping[str, Again]
    """By `TABLE/ROW`, such as `table-1/01`."""
    parts: tuple[Parts, ...]
    then: tuple[Parts, ...]
    """The parts of the seed's own transfers."""
    prices: Prices
    host: str

    def us_per_bit(self, direction: str) -> float:
        """Processor time over bits, of all sends (`s`) or receives (`r`)."""
        rows = [again.row for again in self.rows.values() if again.row.direction == direction]
        return 1e6 * sum(row.cpu_s for row in rows) / sum(row.bits for row in rows)

    @property
    def running(self) -> float | None:
        """The mean of how many were running on the whole host."""
        counts = [again.running for again in self.rows.values() if again.running is not None]
        return sum(counts) / len(counts) if counts else None

    @property
    def stretch(self) -> float:
        """Real over processor time of all transfers."""
        rows = [again.row for again in self.rows.values()]
        return sum(row.real_s for row in rows) / sum(row.cpu_s for row in rows)


def made_here(prices: Prices, *, times: int = TIMES, progress: Progress | None = None) -> Here:
    """Makes every transfer of the seed's tables on this host, `times` times each.

    Raises `errors.Refused` when one does not come over, or the host gives no processes for the load.
    """
    every = transfers()
    rows: dict[str, Again] = {}
    ours, theirs = _processors()
    with _other_end(theirs) as server, _kept_on(ours):
        for users in sorted({one.users for one in every}):
            if progress is not None:
                progress(f"rfc-392 on this host: {users - 1} busy processes beside the transfers")
            with beside(users - 1):
                rows |= {
                    f"{one.table}/{one.row:02}": _again(one, server.address, times)
                    for one in every
                    if one.users == users
                }
    ordered = {key: rows[key] for key in (f"{one.table}/{one.row:02}" for one in every)}
    table = table_of(again.row for again in ordered.values()).transfers
    # As the memo's table has them: without messages and faults.
    parts = parts_of([replace(one, messages=None, faults=None) for one in table])
    return Here(ordered, tuple(parts), tuple(parts_of(read_table(_PRINTED, _COLUMNS).transfers)), prices, _host())


def _again(one: Transfer, to: str, times: int) -> Again:
    made: list[Row] = []
    counts: list[int] = []
    for _ in range(times):
        told = transfer(to, size=one.bytes, method=METHOD, receive=one.command == "receive")
        counts.extend(count for count in [running()] if count is not None)
        (row,) = (row for row in told.rows if row.side == "here")
        if row.broke_off or told.stopped:
            raise Refused(f"{one.table} row {one.row}: {row.broke_off or 'it was interrupted'}")
        made.append(row)
    middle = sorted(made, key=lambda row: row.cpu_s)[(times - 1) // 2]
    return Again(middle, one.users, sum(counts) / len(counts) if counts else None)


def _processors() -> tuple[Sequence[int], Sequence[int]]:
    """The processor of this end, and that of the other: the same where there is only one."""
    there = sorted(os.sched_getaffinity(0))
    return there[:1], there[1:2] or there[:1]


@contextmanager
def _kept_on(processors: Sequence[int]) -> Iterator[None]:
    """Keeps this thread, and what it starts, on these processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _other_end(processors: Sequence[int]) -> Iterator[Server]:
    """A server on loopback, in a thread of its own."""
    over = threading.Event()

    def serve() -> None:
        with _kept_on(processors):
            server.serve(until=over.is_set)

    with serving("127.0.0.1:0") as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            over.set()
            thread.join()


def _host() -> str:
    return f"Linux {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"
