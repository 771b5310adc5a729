"""The command `transfer`, which moves data between two hosts, and its server."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import loadgo
from loadgo.cli.files import write_file
from loadgo.cli.options import TariffOption
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    check_files,
    errors_as_messages,
    print_error,
    print_note,
    print_output,
    try_each,
    wants_color,
)
from loadgo.cli.page_output import FileOption, PageOutput, format_option, page_output
from loadgo.cli.transfer_command import transfer_command
from loadgo.cli.transfer_forms import SERVE_WORD, busy_processes, refuse_misplaced
from loadgo.cli.transfer_server import ServerLimits, serve
from loadgo.documents.formats import ReportFormat

if TYPE_CHECKING:
    from loadgo.transfers.prices import Prices
    from loadgo.transfers.transfer import Transferred


def transfer(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="serve | -- COMMAND",
            help="serve: be the end that waits; a command: measure what it moves; else --to names the other end.",
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The address at which `loadgo transfer serve` waits.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="Amount of data: 1GiB, 64MB, 512; with --from its first bytes. For serve: the largest amount."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="The method: bytes, blocks, sendfile, … (--methods lists them), or all.")
    ] = "blocks",
    message: Annotated[str | None, typer.Option(metavar="BYTES", help="The largest number of bytes in a call.")] = None,
    receive: Annotated[bool, typer.Option("--receive", help="Receive from there instead of sending.")] = False,
    from_file: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Send this file; a pattern in memory by default.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="PLACE",
            help="Keep received data: in a new file; for serve, in a folder. By default they are dropped.",
        ),
    ] = None,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="The address at which serve waits.")
    ] = "127.0.0.1:3920",
    connections: Annotated[
        int, typer.Option(min=1, help="The largest number of transfers that serve makes at once.")
    ] = 16,
    total: Annotated[
        str, typer.Option(metavar="SIZE", help="For serve --into: the largest size of all files together.")
    ] = "64GiB",
    once: Annotated[bool, typer.Option("--once", help="Serve one transfer, and end.")] = False,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The secret that both ends share; necessary beyond loopback.")
    ] = None,
    job_time: Annotated[
        str | None,
        typer.Option(
            "--job-time", metavar="TIME", help="For serve: the time that a job takes (loadgo-rjs submits jobs)."
        ),
    ] = None,
    at_most: Annotated[
        str, typer.Option("--at-most", metavar="TIME", help="The longest time of a transfer.")
    ] = "10min",
    network: Annotated[
        str | None,
        typer.Option(metavar="PRICE|TARIFF", help="The network's price of a gigabyte; by default that of --tariff."),
    ] = None,
    grid: Annotated[
        int | None,
        typer.Option(
            metavar="TIMES",
            min=1,
            help="Make a grid of sizes and messages this many times, and divide the cost into its parts.",
        ),
    ] = None,
    times: Annotated[
        int, typer.Option(min=1, help="Number of rounds of the same transfers; their spread gives an interval.")
    ] = 1,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="N,N", help="With --grid: numbers of busy processes that run beside it, one after the other."
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="File for the rows, as --read reads them; - is the standard output; for serve, the jobs' rows.",
        ),
    ] = None,
    read: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Divide the cost in a table of transfers, from any source, into its parts."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="OURS=THEIRS,…", help="Names and units of the columns of --read: real_s=clk_s,cpu_s=cpu:ms."
        ),
    ] = None,
    tariff: TariffOption = "default",
    format: Annotated[
        ReportFormat, format_option("the transfers, or the parts of their cost", "cost by method, or by size")
    ] = "text",
    output: FileOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="For serve: print no line for each transfer.")] = False,
    methods: Annotated[bool, typer.Option("--methods", help="List the methods, and end.")] = False,
) -> None:
    """Moves data to another host or from it, or runs COMMAND, and prints the cost: time, faults, money."""
    with errors_as_messages():
        from loadgo.notation.quantities import byte_count, span_s

        if methods:
            _list_methods(page_output(format, output, "methods.html"))
            raise typer.Exit(STATUS_GOOD)
        refuse_misplaced(ctx, words or [], reads=read is not None)
        if words and words != [SERVE_WORD]:
            transfer_command(words, prices=(tariff, network), format=format, output=output, csv=csv)
        if read is not None:
            _analyse_table(read, columns, tariff, network, format, output)
            raise typer.Exit(STATUS_GOOD)
        token = _read_token(token_file)
        if words == [SERVE_WORD]:
            job_time_s = 0.0 if job_time is None else span_s(job_time)
            limits = ServerLimits(connections, size, byte_count(total, "total"), span_s(at_most), job_time_s)
            serve(listen, token, into, limits, csv, once=once, quiet=quiet)
            raise typer.Exit(STATUS_GOOD)
        if to is None:
            raise ValueError(
                "name the other end with --to HOST:PORT, where `loadgo transfer serve` waits; or a command after --"
            )
        _transfer_between_hosts(
            to,
            _TransferRequest(
                method,
                size,
                message,
                from_file,
                into,
                token,
                span_s(at_most),
                receive=receive,
                grid=grid,
                times=times,
                load=load,
            ),
            _TransferOutput(tariff, network, page_output(format, output, "transfer.html"), csv),
        )


def _list_methods(page: PageOutput) -> None:
    from loadgo.transfers.method_list import method_presentation
    from loadgo.transfers.transfer import impossible
    from loadgo.transfers.transfer import methods as known_methods

    page.write(method_presentation(known_methods(), impossible()).report(page.format))


@dataclass(frozen=True)
class _TransferRequest:
    method: str
    size: str | None
    message: str | None
    from_file: Path | None
    into: Path | None
    token: str | None
    time_s: float
    receive: bool
    grid: int | None
    times: int
    load: str | None


@dataclass(frozen=True)
class _TransferOutput:
    tariff: str
    network: str | None
    page: PageOutput
    csv: Path | None

    @property
    def rows_to_stdout(self) -> bool:
        """Whether the rows go to the standard output. The report is then written only into a file."""
        return self.csv is not None and str(self.csv) == "-"


def _transfer_between_hosts(to: str, request: _TransferRequest, destination: _TransferOutput) -> None:
    """Makes the transfers, prints them, and exits."""
    from loadgo.notation.quantities import byte_count
    from loadgo.transfers.grid import grid_csv
    from loadgo.transfers.prices import prices
    from loadgo.transfers.rounds import in_rounds

    if not destination.rows_to_stdout:
        check_files({"--csv": destination.csv}, {"-o": destination.page.path})
    unit_prices = prices(destination.tariff, destination.network, processors=os.cpu_count() or 1)
    size = None if request.size is None else byte_count(request.size, "size")
    if request.into is not None and (not request.receive or "," in request.method or request.method == "all"):
        raise ValueError("--into keeps the data of one method: give --receive and one --method")
    if request.from_file is not None and request.receive:
        raise ValueError("--from is for sending, and --receive sends nothing: leave one out")
    if request.into is not None and os.path.lexists(request.into):
        raise ValueError(f"{request.into} exists: name a new file with --into")
    if request.grid is not None:
        raise typer.Exit(_transfer_grid(to, request, destination, unit_prices, size))
    if request.load is not None:
        raise ValueError("--load compares the same transfers at several loads: give --grid too")
    if request.into is not None and request.times > 1:
        raise ValueError("--into keeps the data of one transfer: leave --times out")
    transferred = in_rounds(
        request.times,
        lambda: loadgo.transfer(
            to,
            size=size,
            method=request.method,
            receive=request.receive,
            message=None if request.message is None else byte_count(request.message, "message"),
            from_file=request.from_file,
            into_file=request.into,
            token=request.token,
            time_s=request.time_s,
        ),
    )
    content = transferred.report(destination.page.format, prices=unit_prices, color=wants_color())
    _write_output(content, destination, grid_csv(transferred.rows), transferred)
    raise typer.Exit(_exit_status(transferred))


def _transfer_grid(
    to: str, request: _TransferRequest, destination: _TransferOutput, unit_prices: Prices, size: int | None
) -> int:
    """Makes a grid of transfers at one load or several, prints its parts, and returns the exit status."""
    from loadgo.transfers.analysis import LOAD_AVERAGE_NOTE, RUNNING_LOAD_NOTE, taken_apart
    from loadgo.transfers.background_load import at_loads, loads_of, merged
    from loadgo.transfers.grid import grid_csv, run_grid, table_of_grid

    if request.message or request.from_file or request.into:
        raise ValueError("a grid has its own messages, and moves a pattern: leave --message, --from and --into out")
    loads, turns = busy_processes(request.load), (request.grid or 1) * request.times
    levels = at_loads(
        loads or [0],
        lambda count_running: run_grid(
            to,
            largest=size or 64 << 20,
            method=request.method,
            times=1 if len(loads) > 1 else turns,
            receive=request.receive,
            token=request.token,
            progress=count_running,
        ),
        turns if len(loads) > 1 else 1,
    )
    transferred = merged(levels)
    running = loads_of(levels) if len(loads) > 1 else None
    breakdown = taken_apart(
        table_of_grid(transferred, running), unit_prices, LOAD_AVERAGE_NOTE if running is None else RUNNING_LOAD_NOTE
    )
    _write_output(
        breakdown.report(destination.page.format, color=wants_color()),
        destination,
        grid_csv(transferred.rows, running),
        transferred,
    )
    return _exit_status(transferred)


def _write_output(content: str | bytes, destination: _TransferOutput, rows: str, transferred: Transferred) -> None:
    """Writes the document and the requested rows. Each is written even if the other cannot be."""
    file, page = destination.csv, destination.page
    if not destination.rows_to_stdout:
        try_each(lambda: page.write(content), lambda: None if file is None else write_file(file, rows))
    elif page.path is not None:
        try_each(lambda: page.write(content), lambda: print_output(rows))
    else:
        _print_warnings(transferred)
        print_output(rows)


def _print_warnings(transferred: Transferred) -> None:
    """Prints what the rows alone do not show: ends that broke off, missing figures, methods that were left out."""
    from loadgo.transfers.document import transfer_warnings

    for warning in transfer_warnings(transferred):
        print_error(warning)
    for reason in transferred.left_out:
        print_note(f"left out: {reason}")


def _exit_status(transferred: Transferred) -> int:
    return STATUS_INTERRUPTED if transferred.stopped else STATUS_GOOD if transferred.complete else STATUS_BAD_FINDING


def _analyse_table(
    read: Path,
    columns: str | None,
    tariff: str,
    network: str | None,
    format: ReportFormat,
    output: Path | None,
) -> None:
    from loadgo.transfers.analysis import taken_apart
    from loadgo.transfers.csv_table import read_table
    from loadgo.transfers.prices import prices

    page = page_output(format, output, "transfers.html")
    pairs = [pair.partition("=") for pair in (columns or "").split(",") if pair.strip()]
    if any(not equals or not their_name.strip() for _, equals, their_name in pairs):
        raise ValueError(f"--columns {columns!r}: write OURS=THEIRS,OURS=THEIRS, as in real_s=clk_s,direction=dir")
    table = read_table(read, {our_name.strip(): their_name.strip() for our_name, _, their_name in pairs})
    breakdown = taken_apart(table, prices(tariff, network, processors=os.cpu_count() or 1))
    page.show(breakdown)


def _read_token(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text in UTF-8: put a long random word there") from None
    if not token:
        raise ValueError(f"{file}: an empty token protects nothing: put a long random word there")
    return token
