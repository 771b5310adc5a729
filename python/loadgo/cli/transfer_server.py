"""The server of the command `transfer`, and its table of jobs' transfers on the standard output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.cli.output import print_note, print_output

if TYPE_CHECKING:
    from loadgo.transfers.transfer import Served


@dataclass(frozen=True)
class ServerLimits:
    """The bounds of a server's transfers, and the time that a job takes."""

    connections: int
    size: str | None
    total: int
    time_s: float
    job_time_s: float


def serve(
    at: str,
    token: str | None,
    keep_in: Path | None,
    limits: ServerLimits,
    rows: Path | None,
    *,
    once: bool,
    quiet: bool,
) -> None:
    """Serves until an interrupt. `rows` is the file for the jobs' transfers; `-` is the standard output."""
    from loadgo.notation.quantities import byte_count
    from loadgo.transfers.transfer import serving

    moved_count = 0

    def print_news(news: Served) -> None:
        nonlocal moved_count
        printed_rows.print_new()
        if news.row is None:
            print_note(news.note or f"{news.peer} refused: {news.refused}")
            return
        moved_count += 1
        if not quiet:
            kept = f", kept in {news.kept}" if news.kept else ""
            how = f"broke off: {news.row.broke_off}" if news.row.broke_off else f"{news.row.bytes:,} bytes{kept}"
            print_note(f"{news.peer} {news.job or news.row.method} {news.row.direction}: {how}")

    with (
        _printed_rows(rows) as printed_rows,
        serving(
            at,
            token=token,
            keep_in=keep_in,
            connections=limits.connections,
            size=64 << 30 if limits.size is None else byte_count(limits.size, "size"),
            total=limits.total,
            time_s=limits.time_s,
            job_time_s=limits.job_time_s,
            rows=printed_rows.path,
        ) as server,
    ):
        print_note(f"waiting at {server.address} until an interrupt (Ctrl-C)")
        server.serve(print_news, until=lambda: once and moved_count > 0)
        printed_rows.print_new()


@dataclass(frozen=True)
class _Rows:
    """The table of the jobs' transfers."""

    path: Path | None
    """The file that the server writes."""
    memory: int | None = None
    """The descriptor of that file if its rows are printed."""

    def print_new(self) -> None:
        """Prints the rows since the last call, and removes them from memory."""
        if self.memory is not None and (size := os.fstat(self.memory).st_size):
            print_output(os.pread(self.memory, size, 0))
            os.truncate(self.memory, 0)


@contextmanager
def _printed_rows(file: Path | None) -> Iterator[_Rows]:
    """Yields the table for `file`. With `-` it is in memory, since a server looks into its table for a header."""
    if str(file) != "-":
        yield _Rows(file)
        return
    memory = os.memfd_create("rows")
    try:
        yield _Rows(Path(f"/proc/self/fd/{memory}"), memory)
    finally:
        os.close(memory)
