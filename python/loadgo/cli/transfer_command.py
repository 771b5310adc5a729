"""The command `transfer -- COMMAND`, whose result is printed beside the command's output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from loadgo.cli.files import append_to_file
from loadgo.cli.output import check_files, print_error, print_leftovers, print_output, try_each
from loadgo.cli.page_output import page_output
from loadgo.documents.formats import PICTURE_FORMATS, TABLE_FORMATS, ReportFormat

_HTML_FILE = "transfer.html"


def transfer_command(
    words: list[str],
    *,
    prices: tuple[str, str | None],
    format: ReportFormat,
    output: Path | None,
    csv: Path | None,
) -> None:
    """Runs the command, prints what it moved at `prices` (tariff and network), and exits with the command's status.

    Adds the command's row to the table `csv`. Raises `ValueError` if that is another table, and `OSError` if it cannot
    be written.
    """
    from loadgo.running.command_meter import NotRun
    from loadgo.transfers.command import transfer_of
    from loadgo.transfers.command_csv import row
    from loadgo.transfers.prices import prices as price_units

    if format in PICTURE_FORMATS:
        raise ValueError(f"--format {format}: a command's transfer has no chart; there are {', '.join(TABLE_FORMATS)}")
    unit_prices = price_units(*prices, processors=os.cpu_count() or 1)
    page = page_output(format, output, _HTML_FILE, beside_command=True)
    rows_alone_on_stdout = str(csv) == "-" and (page.to_stderr or page.path is not None)
    if not rows_alone_on_stdout:
        check_files({"--csv": csv}, {"-o": page.path})
        check_table(csv)
    try:
        transfer = transfer_of(words)
    except NotRun as refusal:
        print_error(str(refusal))
        print_leftovers(getattr(refusal, "__notes__", ()))
        raise typer.Exit(refusal.status) from None
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    color = page.to_stderr and is_terminal and not os.environ.get("NO_COLOR")
    content = transfer.report(format, prices=unit_prices, color=color)
    try_each(
        lambda: page.write(content),
        lambda: None if csv is None else _write_row(csv, row(transfer)),
        lambda: print_leftovers(transfer.left_behind),
    )
    raise typer.Exit(transfer.status)


def _write_row(path: Path, line: str) -> None:
    """Adds a line to the table; `-` is the standard output."""
    from loadgo.transfers.command_csv import header

    if str(path) == "-":
        print_output(header() + line)
    else:
        add_row(path, line)


def check_table(path: Path | None) -> None:
    """Raises `ValueError` if the file at `path` cannot get a command's row, since it is another table."""
    from loadgo.transfers.command_csv import header

    if path is None or not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as table:
        names = table.readline()
    if names not in ("", header()):
        raise ValueError(f"{path} is not a table of commands: name a new file with --csv")


def add_row(path: Path, line: str) -> None:
    """Adds a line to the table; a new table gets a header. Raises `OSError`, and then leaves the table unchanged."""
    from loadgo.transfers.command_csv import header

    is_begun = path.is_file() and path.stat().st_size > 0
    append_to_file(path, line if is_begun else header() + line)
