"""The transfers of RFC 392, repeated on this host: its sizes, in blocked records, at its loads, over loopback.

The document's host had one processor, and the far end was another host. So this end is kept on one of the host's
processors. Busy processes run beside it, one fewer than the load average, since the transfer itself counts. The far
end is on another processor, if there is one. Each transfer is repeated, and the one with the median processor time is
reported.
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
from loadgo.reproduction.models.rfc_392 import PrintedTransfer, printed_transfers
from loadgo.transfers.background_load import busy_processes, running
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.grid import table_of
from loadgo.transfers.parts import Parts, parts_of
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Server, serving, transfer

_PRINTED = DOCUMENTS_FOLDER / "rfc392_tables.csv"
_COLUMNS = {"real_s": "clk_s", "direction": "dir", "load": "load5"}
TRANSFER_METHOD = "records"
TRANSFER_REPEATS = 5
ReportProgress = Callable[[str], None]


@dataclass(frozen=True)
class RepeatedTransfer:
    """The row of a repeated transfer, with its load."""

    row: Row
    load: int
    """Number of processes that want this end's processor: the busy ones, and the transfer itself."""
    running: float | None
    """Mean number of running and ready tasks on the whole host; None if the kernel does not report it."""


@dataclass(frozen=True)
class LocalTransfers:
    """All transfers of the document's tables, repeated on this host."""

    rows: Mapping[str, RepeatedTransfer]
    """The transfers by `TABLE/ROW`, such as `table-1/01`."""
    parts: tuple[Parts, ...]
    then: tuple[Parts, ...]
    """The parts of the document's own transfers."""
    prices: Prices
    host: str

    def us_per_bit(self, direction: str) -> float:
        """Processor time per bit in microseconds, of all sends (`s`) or receives (`r`)."""
        rows = [repeated.row for repeated in self.rows.values() if repeated.row.direction == direction]
        return 1e6 * sum(row.cpu_s for row in rows) / sum(row.bits for row in rows)

    @property
    def running(self) -> float | None:
        """Mean number of running and ready tasks on the whole host; None if the kernel does not report it."""
        counts = [repeated.running for repeated in self.rows.values() if repeated.running is not None]
        return sum(counts) / len(counts) if counts else None

    @property
    def stretch(self) -> float:
        """Real time over processor time of all transfers."""
        rows = [repeated.row for repeated in self.rows.values()]
        return sum(row.real_s for row in rows) / sum(row.cpu_s for row in rows)


def repeat_transfers_here(
    prices: Prices, *, times: int = TRANSFER_REPEATS, progress: ReportProgress | None = None
) -> LocalTransfers:
    """Makes every transfer of the document's tables on this host, `times` times each.

    Raises `errors.Refused` for a transfer that fails, and if the host cannot start the busy processes.
    """
    transfers = printed_transfers()
    rows: dict[str, RepeatedTransfer] = {}
    this_end, far_end = _processors()
    with _far_end(far_end) as server, _kept_on(this_end):
        for users in sorted({printed.users for printed in transfers}):
            if progress is not None:
                progress(f"rfc-392 on this host: {users - 1} busy processes beside the transfers")
            with busy_processes(users - 1):
                rows |= {
                    f"{printed.table}/{printed.row:02}": _repeated(printed, server.address, times)
                    for printed in transfers
                    if printed.users == users
                }
    ordered = {key: rows[key] for key in (f"{printed.table}/{printed.row:02}" for printed in transfers)}
    table = table_of(repeated.row for repeated in ordered.values()).transfers
    # As in the document's tables: without messages and faults.
    parts = parts_of([replace(made, messages=None, faults=None) for made in table])
    return LocalTransfers(
        ordered, tuple(parts), tuple(parts_of(read_table(_PRINTED, _COLUMNS).transfers)), prices, _host()
    )


def _repeated(printed: PrintedTransfer, to: str, times: int) -> RepeatedTransfer:
    rows: list[Row] = []
    counts: list[int] = []
    for _ in range(times):
        transferred = transfer(to, size=printed.bytes, method=TRANSFER_METHOD, receive=printed.command == "receive")
        if (count := running()) is not None:
            counts.append(count)
        (row,) = (row for row in transferred.rows if row.side == "here")
        if row.broke_off or transferred.stopped:
            raise Refused(f"{printed.table} row {printed.row}: {row.broke_off or 'it was interrupted'}")
        rows.append(row)
    median = sorted(rows, key=lambda row: row.cpu_s)[(times - 1) // 2]
    return RepeatedTransfer(median, printed.users, sum(counts) / len(counts) if counts else None)


def _processors() -> tuple[Sequence[int], Sequence[int]]:
    """The processor of this end, and that of the far end; the same if there is only one."""
    available = sorted(os.sched_getaffinity(0))
    return available[:1], available[1:2] or available[:1]


@contextmanager
def _kept_on(processors: Sequence[int]) -> Iterator[None]:
    """Keeps this thread, and the threads that it starts, on these processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _far_end(processors: Sequence[int]) -> Iterator[Server]:
    """A server on loopback, in a thread of its own."""
    is_over = threading.Event()

    def serve() -> None:
        with _kept_on(processors):
            server.serve(until=is_over.is_set)

    with serving("127.0.0.1:0") as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            is_over.set()
            thread.join()


def _host() -> str:
    return f"Linux {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"
