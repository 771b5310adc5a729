"""The command that prices: one run, an interaction over the load, or whether one machine's price is fair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from loadgo.cli.output import BAD, GOOD, say, told
from loadgo.cli.page_output import FileOption, FormatOption, PageFormat, PageOutput, page_output

_FILE = "cost.html"
"""Where HTML goes when nothing is said."""


def cost(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]…", help="A run's folder or id, last; several, for the curve over the load."),
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
        Literal["steady", "all"] | None,
        typer.Option(help="The steady part of each run, or all of it; steady when nothing is said."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Is the price of this RUN, B, fair: its charges and its performance against those of the first. "
            "A column of a published document will do: csr-rfc-20:6180.",
        ),
    ] = None,
    against_tariff: Annotated[
        str | None, typer.Option(metavar="TARIFF", help="The tariff of B, where it is not the same.")
    ] = None,
    measure: Annotated[
        Literal["cpu", "response", "elapsed"] | None,
        typer.Option(help="What a fair price is judged by; processor time where both sides tell it."),
    ] = None,
    tariffs: Annotated[bool, typer.Option("--tariffs", help="List the bundled tariffs.")] = False,
    print_tariff: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print a bundled tariff: a file to begin one's own with, such as cloud."),
    ] = None,
    format: FormatOption = "text",
    output: FileOption = None,
) -> None:
    """Prices a run: an interaction, each command or user, a user's hour; of several runs, the curve over the load."""
    with told():
        from loadgo.cli.lists import tariff_list
        from loadgo.documents.listing import render_listing
        from loadgo.measures.tariff import tariff_text

        if print_tariff is not None:
            say(tariff_text(print_tariff))
        elif tariffs:
            page_output(format, output, "tariffs.html").write(render_listing(tariff_list(), format))
        elif against is not None:
            pair = (_only(tariff), against_tariff)
            _fairness(runs, against, pair, measure, phases, page_output(format, output, _FILE))
        else:
            if against_tariff is not None or measure is not None:
                raise ValueError("--against-tariff and --measure belong to --against RUN: name what to hold it against")
            _priced(runs, tariff, by, phases, format, output)


def _priced(
    runs: list[str] | None,
    tariff: list[str] | None,
    by: Literal["command", "user"],
    phases: str | None,
    format: PageFormat,
    output: Path | None,
) -> None:
    from loadgo.costs.cost import cost as priced
    from loadgo.costs.document import render_costs

    page = page_output(format, output, _FILE)
    made = priced(runs or ["last"], tariff=tariff or "default", by=by, phases=phases or "steady")
    page.show(render_costs, made)
    raise typer.Exit(GOOD if made.known else BAD)


def _fairness(
    runs: list[str] | None,
    against: str,
    tariffs: tuple[str | None, str | None],
    measure: Literal["cpu", "response", "elapsed"] | None,
    phases: Literal["steady", "all"] | None,
    page: PageOutput,
) -> None:
    from loadgo.costs.fairness import cost_against
    from loadgo.costs.fairness_document import render_fairness

    tariff, other = tariffs
    made = cost_against(
        runs or ["last"], against, tariff=tariff, against_tariff=other, measure=measure, phases=phases or "auto"
    )
    page.show(render_fairness, made)


def _only(tariff: list[str] | None) -> str | None:
    if tariff and len(tariff) > 1:
        raise ValueError("with --against name one --tariff, of RUN, and one --against-tariff")
    return tariff[0] if tariff else None
