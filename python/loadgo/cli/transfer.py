"""The command that moves data between two hosts, and the end that waits for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import loadgo
from loadgo.cli.options import Quiet, Tariff
from loadgo.cli.output import BAD, GOOD, INTERRUPTED, in_colour, note, put, say, told, try_file
from loadgo.cli.page_output import FileOption, FormatOption, PageFormat, PageOutput, page_output
from loadgo.cli.transfer_command import transfer_command
from loadgo.cli.transfer_forms import SERVING, refuse_misplaced

if TYPE_CHECKING:
    from loadgo.transfers.prices import Prices
    from loadgo.transfers.transfer import Transferred

_ENDS = "Both ends"


def transfer(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[serve | -- COMMAND...]",
            help="serve: be the end that waits; a command: what it moves costs; else --to says where the other end is.",
        ),
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Where `loadgo transfer serve` waits.")] = None,
    size: Annotated[
        str | None, typer.Option(help="How much: 1GiB, 64MB, 512; with --from its first bytes. For serve: at most.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="How: bytes, blocks, sendfile, … (--methods lists them), or all.")
    ] = "blocks",
    message: Annotated[str | None, typer.Option(metavar="BYTES", help="The most bytes of a call.")] = None,
    receive: Annotated[bool, typer.Option("--receive", help="Receive from there instead of sending.")] = False,
    from_file: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Send this file; a pattern in memory by default.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="PLACE", help="Keep what comes: a new file; for serve, a folder. Else nowhere."),
    ] = None,
    listen: Annotated[str, typer.Option(metavar="ADDRESS:PORT", help="Where serve waits.")] = "127.0.0.1:3920",
    connections: Annotated[int, typer.Option(min=1, help="How many transfers serve makes at once.")] = 16,
    total: Annotated[
        str, typer.Option(metavar="SIZE", help="For serve --into: all files together take no more.")
    ] = "64GiB",
    once: Annotated[bool, typer.Option("--once", help="Serve one transfer, and end.")] = False,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The secret that both ends share; needed beyond loopback.")
    ] = None,
    job_time: Annotated[
        str | None,
        typer.Option("--job-time", metavar="TIME", help="For serve: how long a job takes (loadgo-rjs submits them)."),
    ] = None,
    at_most: Annotated[str, typer.Option("--at-most", metavar="TIME", help="No transfer lasts longer.")] = "10min",
    network: Annotated[
        str | None,
        typer.Option(metavar="PRICE|TARIFF", help="What the network takes for a gigabyte; else what --tariff says."),
    ] = None,
    grid: Annotated[
        int | None,
        typer.Option(metavar="TIMES", min=1, help="A grid of sizes and messages, so many times, taken apart."),
    ] = None,
    times: Annotated[
        int, typer.Option(min=1, help="So many rounds of the same transfers: their spread is an interval.")
    ] = 1,
    load: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="With --grid: beside so many busy processes, one number after the other."),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FILE", help="The rows, as --read reads them; a command adds its own; for serve, jobs'."
        ),
    ] = None,
    read: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Take apart a table of transfers, whoever made it.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="OURS=THEIRS,…", help="What --read calls them, and units: real_s=clk_s,cpu_s=cpu:ms."),
    ] = None,
    tariff: Tariff = "default",
    format: FormatOption = "text",
    output: FileOption = None,
    quiet: Quiet = False,
    methods: Annotated[bool, typer.Option("--methods", help="List the methods, and end.")] = False,
) -> None:
    """Moves data to another host, or from it, or runs COMMAND, and tells what that cost: time, faults, money."""
    with told():
        from loadgo.notation.quantities import byte_count, span_s

        if methods:
            _list_methods()
            raise typer.Exit(GOOD)
        refuse_misplaced(ctx, words or [], reads=read is not None)
        if words and words != [SERVING]:
            transfer_command(words, prices=(tariff, network), format=format, output=output, csv=csv)
        if read is not None:
            _take_apart(read, columns, tariff, network, format, output)
            raise typer.Exit(GOOD)
        token = _token(token_file)
        if words == [SERVING]:
            job_time_s = 0.0 if job_time is None else span_s(job_time)
            bounds = _Bounds(connections, size, byte_count(total, "total"), span_s(at_most), job_time_s)
            _serve(listen, token, into, bounds, csv, once=once, quiet=quiet)
            raise typer.Exit(GOOD)
        if to is None:
            raise ValueError("where to? --to HOST:PORT, where `loadgo transfer serve` waits; or a command after --")
        _between(
            to,
            _Asked(
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
            _Shown(tariff, network, page_output(format, output, "transfer.html"), csv),
        )


def _list_methods() -> None:
    from loadgo.transfers.transfer import impossible
    from loadgo.transfers.transfer import methods as known

    why_not = impossible()
    for name, usual in known().items():
        say(f"{name:10} {usual:>9,} bytes a call{f'; not here: {why_not[name]}' if name in why_not else ''}\n")


@dataclass(frozen=True)
class _Asked:
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
class _Shown:
    tariff: str
    network: str | None
    page: PageOutput
    csv: Path | None


def _between(to: str, asked: _Asked, shown: _Shown) -> None:
    """Makes the transfers and shows them; ends the program."""
    from loadgo.notation.quantities import byte_count
    from loadgo.transfers.document import render_transfer
    from loadgo.transfers.grid import grid_csv
    from loadgo.transfers.prices import prices
    from loadgo.transfers.rounds import in_rounds

    try_file(shown.csv, "--csv")
    priced = prices(shown.tariff, shown.network, processors=os.cpu_count() or 1)
    size = None if asked.size is None else byte_count(asked.size, "size")
    if asked.into is not None and (not asked.receive or "," in asked.method or asked.method == "all"):
        raise ValueError("--into keeps what one method receives: give --receive and one --method")
    if asked.from_file is not None and asked.receive:
        raise ValueError("--from is what is sent, and --receive sends nothing: leave one out")
    if asked.into is not None and os.path.lexists(asked.into):
        raise ValueError(f"{asked.into} is there already: name a new file with --into")
    if asked.grid is not None:
        raise typer.Exit(_grid(to, asked, shown, priced, size))
    if asked.load is not None:
        raise ValueError("--load compares the same transfers at several loads: give --grid too")
    if asked.into is not None and asked.times > 1:
        raise ValueError("--into keeps what one transfer receives: leave --times out")
    made = in_rounds(
        asked.times,
        lambda: loadgo.transfer(
            to,
            size=size,
            method=asked.method,
            receive=asked.receive,
            message=None if asked.message is None else byte_count(asked.message, "message"),
            from_file=asked.from_file,
            into_file=asked.into,
            token=asked.token,
            time_s=asked.time_s,
        ),
    )
    content = render_transfer(made, shown.page.format, prices=priced, color=in_colour())
    _deliver(content, shown, grid_csv(made.rows))
    raise typer.Exit(_status(made))


def _grid(to: str, asked: _Asked, shown: _Shown, priced: Prices, size: int | None) -> int:
    """Makes a grid of transfers, at one load or several, and shows it taken apart; the exit status."""
    from loadgo.transfers.analysis import LOAD_AVERAGE_NOTE, RUNNING_LOAD_NOTE, taken_apart
    from loadgo.transfers.analysis_document import render_apart
    from loadgo.transfers.background_load import at_loads, loads_of, merged
    from loadgo.transfers.grid import grid_csv, run_grid, table_of_grid

    if asked.message or asked.from_file or asked.into:
        raise ValueError("a grid has its own messages, and moves a pattern: leave --message, --from and --into out")
    loads, turns = _loads(asked.load), (asked.grid or 1) * asked.times
    levels = at_loads(
        loads or [0],
        lambda after: run_grid(
            to,
            largest=size or 64 << 20,
            method=asked.method,
            times=1 if len(loads) > 1 else turns,
            receive=asked.receive,
            token=asked.token,
            progress=after,
        ),
        turns if len(loads) > 1 else 1,
    )
    made = merged(levels)
    running = loads_of(levels) if len(loads) > 1 else None
    apart = taken_apart(
        table_of_grid(made, running), priced, LOAD_AVERAGE_NOTE if running is None else RUNNING_LOAD_NOTE
    )
    _deliver(render_apart(apart, shown.page.format, color=in_colour()), shown, grid_csv(made.rows, running))
    return _status(made)


def _deliver(content: str, shown: _Shown, rows: str) -> None:
    """The page, and the rows where they were asked for: each also when the other cannot be written."""
    try:
        shown.page.write(content)
    finally:
        if shown.csv is not None:
            put(shown.csv, rows)


def _status(made: Transferred) -> int:
    return INTERRUPTED if made.stopped else GOOD if made.complete else BAD


def _loads(text: str | None) -> list[int]:
    """The numbers of busy processes, each once, from the least; none where nothing is asked."""
    from loadgo.transfers.background_load import MOST_BUSY_PROCESSES

    parts = [] if text is None else [part.strip() for part in text.split(",") if part.strip()]
    if text is not None and (not parts or not all(part.isdecimal() for part in parts)):
        raise ValueError(f"--load {text!r}: write whole numbers of busy processes, as in 0,2,6")
    loads = sorted({int(part) for part in parts})
    if loads and loads[-1] > MOST_BUSY_PROCESSES:
        raise ValueError(f"--load {text}: {loads[-1]} busy processes are out of range: 0 to {MOST_BUSY_PROCESSES}")
    return loads


def _take_apart(
    read: Path,
    columns: str | None,
    tariff: str,
    network: str | None,
    format: PageFormat,
    output: Path | None,
) -> None:
    from loadgo.transfers.analysis import taken_apart
    from loadgo.transfers.analysis_document import render_apart
    from loadgo.transfers.csv_table import read_table
    from loadgo.transfers.prices import prices

    page = page_output(format, output, "transfers.html")
    pairs = [pair.partition("=") for pair in (columns or "").split(",") if pair.strip()]
    if any(not equals or not theirs.strip() for _, equals, theirs in pairs):
        raise ValueError(f"--columns {columns!r}: write OURS=THEIRS,OURS=THEIRS, as in real_s=clk_s,direction=dir")
    table = read_table(read, {ours.strip(): theirs.strip() for ours, _, theirs in pairs})
    made = taken_apart(table, prices(tariff, network, processors=os.cpu_count() or 1))
    page.show(render_apart, made)


@dataclass(frozen=True)
class _Bounds:
    connections: int
    size: str | None
    total: int
    time_s: float
    job_time_s: float


def _serve(
    at: str,
    token: str | None,
    keep_in: Path | None,
    bounds: _Bounds,
    rows: Path | None,
    *,
    once: bool,
    quiet: bool,
) -> None:
    """Serves until an interrupt; `rows` is where the jobs' transfers go."""
    from loadgo.notation.quantities import byte_count
    from loadgo.transfers.transfer import Served, serving

    seen = 0

    def hears(news: Served) -> None:
        nonlocal seen
        if news.row is None:
            note(news.note or f"{news.peer} refused: {news.refused}")
            return
        seen += 1
        if not quiet:
            kept = f", kept in {news.kept}" if news.kept else ""
            how = f"broke off: {news.row.broke_off}" if news.row.broke_off else f"{news.row.bytes:,} bytes{kept}"
            note(f"{news.peer} {news.job or news.row.method} {news.row.direction}: {how}")

    with serving(
        at,
        token=token,
        keep_in=keep_in,
        connections=bounds.connections,
        size=64 << 30 if bounds.size is None else byte_count(bounds.size, "size"),
        total=bounds.total,
        time_s=bounds.time_s,
        job_time_s=bounds.job_time_s,
        rows=rows,
    ) as server:
        note(f"waiting at {server.address} until an interrupt (Ctrl-C)")
        server.serve(hears, until=lambda: once and seen > 0)


def _token(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text in UTF-8: put a long random word there") from None
    if not token:
        raise ValueError(f"{file}: an empty token protects nothing: put a long random word there")
    return token
