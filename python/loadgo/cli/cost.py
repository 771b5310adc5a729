"""The command `cost`: prices of runs, the curve over the load, and whether a machine's price is fair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from loadgo.cli.completed_values import run_completions
from loadgo.cli.output import STATUS_BAD_FINDING, STATUS_GOOD, errors_as_messages
from loadgo.cli.page_output import FileOption, PageOutput, format_option, page_output
from loadgo.documents.formats import ReportFormat

_HTML_FILE = "cost.html"
"""The file for HTML by default."""


def cost(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            autocompletion=run_completions,
            help="A run's folder or id, or last, the newest of `loadgo runs`; several, for the curve over the load.",
        ),
    ] = None,
    tariff: Annotated[
        list[str] | None,
        typer.Option(
            help="A tariff's NAME or NAME:SHIFT, a FILE.toml, or machine for a simulated machine's own. May be given "
            "again."
        ),
    ] = None,
    by: Annotated[
        Literal["command", "user"], typer.Option(help="A row for each command, or for each user.")
    ] = "command",
    phases: Annotated[
        Literal["steady", "all"] | None,
        typer.Option(help="The steady part of each run, or all of it; by default steady."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Judge whether the price of this RUN, B, is fair: its charges and performance against those of the "
            "first run. A column of a published document is possible too, csr-rfc-20:6180, and a file of your own.",
        ),
    ] = None,
    against_tariff: Annotated[
        str | None, typer.Option(metavar="TARIFF", help="The tariff of B, if it is another one.")
    ] = None,
    measure: Annotated[
        Literal["cpu", "response", "elapsed"] | None,
        typer.Option(help="The measure of performance; by default processor time if both sides have it."),
    ] = None,
    tariffs: Annotated[bool, typer.Option("--tariffs", help="List the bundled tariffs.")] = False,
    print_tariff: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print a bundled tariff, such as cloud, as a start for your own file."),
    ] = None,
    format: Annotated[
        ReportFormat,
        format_option(
            "each command's or user's costs, or with --against the prices",
            "the costs of the rows or over the load, or charges against performance",
        ),
    ] = "text",
    output: FileOption = None,
) -> None:
    """Prices a run: an interaction, each command or user, a user's hour; of several runs, the curve over the load."""
    with errors_as_messages():
        from loadgo.documents.listing import listing_presentation
        from loadgo.measures.tariff import tariff_text
        from loadgo.reporting.lists.lists import tariff_list

        if runs and (tariffs or print_tariff is not None):
            raise ValueError("--tariffs and --print-tariff price no run: leave RUN out")
        if print_tariff is not None:
            if format != "text":
                raise ValueError(f"a tariff's file is TOML: leave --format {format} out")
            page_output(format, output, _HTML_FILE).write(tariff_text(print_tariff))
        elif tariffs:
            page_output(format, output, "tariffs.html").write(listing_presentation(tariff_list()).report(format))
        elif against is not None:
            pair = (_single_tariff(tariff), against_tariff)
            _print_fairness(runs, against, pair, measure, phases, page_output(format, output, _HTML_FILE))
        else:
            if against_tariff is not None or measure is not None:
                raise ValueError("--against-tariff and --measure belong to --against RUN: name the other run")
            _print_costs(runs, tariff, by, phases, format, output)


def _print_costs(
    runs: list[str] | None,
    tariff: list[str] | None,
    by: Literal["command", "user"],
    phases: str | None,
    format: ReportFormat,
    output: Path | None,
) -> None:
    from loadgo.costs.cost import cost as price_runs

    page = page_output(format, output, _HTML_FILE)
    costs = price_runs(runs or ["last"], tariff=tariff or "default", by=by, phases=phases or "steady")
    page.show(costs)
    raise typer.Exit(STATUS_GOOD if costs.known else STATUS_BAD_FINDING)


def _print_fairness(
    runs: list[str] | None,
    against: str,
    tariffs: tuple[str | None, str | None],
    measure: Literal["cpu", "response", "elapsed"] | None,
    phases: Literal["steady", "all"] | None,
    page: PageOutput,
) -> None:
    from loadgo.costs.fairness import cost_against

    tariff, other = tariffs
    fairness = cost_against(
        runs or ["last"], against, tariff=tariff, against_tariff=other, measure=measure, phases=phases or "auto"
    )
    page.show(fairness)


def _single_tariff(tariff: list[str] | None) -> str | None:
    if tariff and len(tariff) > 1:
        raise ValueError("with --against name one --tariff, of RUN, and one --against-tariff")
    return tariff[0] if tariff else None
