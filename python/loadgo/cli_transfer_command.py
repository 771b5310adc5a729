"""`loadgo transfer -- COMMAND`: what was typed becomes a call; the answer is printed beside the command's output."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import typer

from loadgo.cli_output import complain, deliver_page, try_page

_PAGE = "transfer.html"


def transfer_command(
    words: list[str],
    *,
    misplaced: Mapping[str, object],
    prices: tuple[str, str | None],
    format: Literal["text", "html", "json", "md"],
    output: Path | None,
) -> None:
    """Runs the command and shows what it moved, at `prices` (tariff and network); ends the program as the command does.

    `misplaced` are options of transfers without a command, by name. Raises `ValueError` when one of them is given.
    """
    from loadgo.command_runs import NotRun
    from loadgo.transfer_command import transfer_of
    from loadgo.transfer_command_page import render_command
    from loadgo.transfer_price import prices as priced

    if given := [option for option, value in misplaced.items() if value]:
        raise ValueError(f"a command moves what it likes: leave {', '.join(given)} out, or the command")
    at = priced(*prices, processors=os.cpu_count() or 1)
    beside = output is None and format == "text"
    if not beside:
        try_page(format, output, _PAGE)
    try:
        made = transfer_of(words)
    except NotRun as refusal:
        complain(str(refusal))
        raise typer.Exit(refusal.status) from None
    color = beside and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    content = render_command(made, format, prices=at, color=color)
    if beside:
        sys.stderr.write(content)
    else:
        deliver_page(content, format, output, _PAGE)
    raise typer.Exit(made.status)
