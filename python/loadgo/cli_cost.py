"""The command that prices: one run, or an interaction over the load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from loadgo.cli_output import BAD, GOOD, in_colour, note, say, told

Page = Annotated[Literal["text", "html", "json", "md"], typer.Option(help="How it is written.")]


def cost(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN…", help="A run's folder or id, last; several, for the curve over the load."),
    ] = None,
    tariff: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME, NAME:SHIFT, or a file FILE.toml; machine is a simulated machine's own. May be given again."
        ),
    ] = None,
    by: Annotated[
        Literal["command", "user"], typer.Option(help="A row for each command, or for each user.")
    ] = "command",
    phases: Annotated[
        Literal["steady", "all"], typer.Option(help="The steady part of each run, or all of it.")
    ] = "steady",
    format: Page = "text",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; HTML is cost.html when nothing is said."),
    ] = None,
) -> None:
    """Prices a run: an interaction, each command or user, a user's hour; of several runs, the curve over the load."""
    with told():
        from loadgo.cost import cost as priced
        from loadgo.cost_page import render_costs

        made = priced(runs or ["last"], tariff=tariff or "default", by=by, phases=phases)
        _deliver(render_costs(made, format, color=in_colour()), format, output)
        raise typer.Exit(GOOD if made.known else BAD)


def _deliver(content: str, format: str, output: Path | None) -> None:
    """Text to the standard output, a page into a file."""
    if output is None and format == "html":
        output = Path("cost.html")
    if output is None or str(output) == "-":
        say(content)
        return
    output.write_text(content, encoding="utf-8")
    note(f"it is in {output}")
