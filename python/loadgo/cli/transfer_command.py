"""`loadgo transfer -- COMMAND`: what was typed becomes a call; the answer is printed beside the command's output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from loadgo.cli.output import complain, try_file
from loadgo.cli.page_output import PageFormat, page_output

_PAGE = "transfer.html"


def transfer_command(
    words: list[str],
    *,
    prices: tuple[str, str | None],
    format: PageFormat,
    output: Path | None,
    csv: Path | None,
) -> None:
    """Runs the command and shows what it moved, at `prices` (tariff and network); ends the program as the command does.

    Its row is added to the table `csv`. Raises `ValueError` when that cannot be gone on with, `OSError` when it takes
    no row.
    """
    from loadgo.running.command_meter import NotRun
    from loadgo.transfers.command import transfer_of
    from loadgo.transfers.command_csv import row
    from loadgo.transfers.command_document import render_command
    from loadgo.transfers.prices import prices as priced

    at = priced(*prices, processors=os.cpu_count() or 1)
    beside = output is None and format == "text"
    page = page_output(format, output, _PAGE)
    try_table(csv)
    try:
        made = transfer_of(words)
    except NotRun as refusal:
        complain(str(refusal))
        raise typer.Exit(refusal.status) from None
    color = beside and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    content = render_command(made, format, prices=at, color=color)
    try:
        if beside:
            sys.stderr.write(content)
        else:
            page.write(content)
    finally:
        if csv is not None:
            add_row(csv, row(made))
    raise typer.Exit(made.status)


def try_table(place: Path | None) -> None:
    """Raises `ValueError` when rows of commands cannot be added to the table there, or it is another table."""
    from loadgo.transfers.command_csv import header

    try_file(place, "--csv")
    if place is None or not place.is_file():
        return
    with place.open(encoding="utf-8", errors="replace") as table:
        names = table.readline()
    if names not in ("", header()):
        raise ValueError(f"{place} is another table than one of commands: name a new file with --csv")


def add_row(place: Path, line: str) -> None:
    """Adds a line to the table, which is begun with its names; raises `OSError`, and then leaves it as it was."""
    from loadgo.transfers.command_csv import header

    before = place.stat().st_size if place.is_file() else None
    try:
        with place.open("a", encoding="utf-8") as table:
            table.write(line if before else header() + line)
    except OSError as refusal:
        if before is not None:
            os.truncate(place, before)
        elif place.is_file():
            place.unlink()
        raise OSError(refusal.errno, refusal.strerror, str(place)) from None
