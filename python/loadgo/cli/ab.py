"""The command that runs two variants in turn and prints their difference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.completed_values import script_completions
from loadgo.cli.options import (
    LimitOption,
    LoginOption,
    MetersOption,
    RunSystemOption,
    SetOption,
    ShareOption,
    SudoOption,
    TariffOption,
    ThinkOption,
    TypingOption,
)
from loadgo.cli.output import STATUS_GOOD, STATUS_INTERRUPTED, error_console, errors_as_messages
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import ReportFormat

_SET_HELP = "As --set, for this variant alone. May be given again."
_BEFORE_HELP = "A command for the shell before each run of this variant, outside of what is measured."


def ab(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            autocompletion=script_completions,
            help="The script that A's users type: a bundled script, or a path.",
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(
            metavar="B", autocompletion=script_completions, help="The script that B's users type; by default the same."
        ),
    ] = None,
    users: Annotated[int, typer.Option(min=1, help="How many users each run has.")] = 1,
    duration: Annotated[str, typer.Option("--for", help="How long each run types after its warm-up.")] = "10s",
    think: ThinkOption = None,
    typing: TypingOption = None,
    warm_up: Annotated[str | None, typer.Option(help="The beginning of each run that is left out.")] = None,
    limit: LimitOption = None,
    limit_a: Annotated[str | None, typer.Option(help="As --limit, for A alone.")] = None,
    limit_b: Annotated[str | None, typer.Option(help="As --limit, for B alone.")] = None,
    before_a: Annotated[str | None, typer.Option(metavar="COMMAND", help=_BEFORE_HELP)] = None,
    before_b: Annotated[str | None, typer.Option(metavar="COMMAND", help=_BEFORE_HELP)] = None,
    login: LoginOption = None,
    login_a: Annotated[str | None, typer.Option(metavar="COMMAND", help="As --login, for A alone.")] = None,
    login_b: Annotated[str | None, typer.Option(metavar="COMMAND", help="As --login, for B alone.")] = None,
    on: RunSystemOption = "here",
    on_a: Annotated[str | None, typer.Option(metavar="SYSTEM", help="As --on, for A alone.")] = None,
    on_b: Annotated[str | None, typer.Option(metavar="SYSTEM", help="As --on, for B alone.")] = None,
    sudo: SudoOption = False,
    set: SetOption = None,
    set_a: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help=_SET_HELP)] = None,
    set_b: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help=_SET_HELP)] = None,
    margin: Annotated[
        str, typer.Option(metavar="PERCENT", help="A relative change that is too small to matter.")
    ] = "5%",
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="A measure that must have a verdict: response, 'p90 response', cpu, throughput. May be given again; "
            "by default response and cpu."
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="The largest number of pairs of runs.")] = 30,
    time_limit: Annotated[str | None, typer.Option(help="Begin no pair that would end later: 3min.")] = None,
    reference: Annotated[
        bool,
        typer.Option(
            help="Run a reference work beside each run here, to compare CPU at equal speed of the processors."
        ),
    ] = True,
    meters: MetersOption = None,
    seed: Annotated[int, typer.Option(help="The first pair's seed; each pair has the next.")] = 1,
    tariff: TariffOption = "default",
    out: Annotated[Path | None, typer.Option(help="The folder of all runs; a new one in runs/ by default.")] = None,
    share: ShareOption = False,
    format: Annotated[ReportFormat, format_option("the change of each measure", "each pair's changes")] = "text",
    output: FileOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not report each pair.")] = False,
) -> None:
    """Runs A and B in turn, in pairs of short runs, until it is known how B differs from A."""
    with errors_as_messages():
        from loadgo.cli.progress import progress_and_notes
        from loadgo.pairing.experiment import DECISIVE_MEASURES
        from loadgo.pairing.experiment import ab as run_pairs
        from loadgo.pairing.variant import Variant

        page = page_output(format, output, "ab.html")
        common = tuple(set or ())
        with progress_and_notes(error_console(), shown=not quiet) as (show_run, note):
            experiment = run_pairs(
                Variant(a, on_a or on, (*common, *(set_a or ())), limit_a or limit, before_a, login_a or login),
                Variant(b or a, on_b or on, (*common, *(set_b or ())), limit_b or limit, before_b, login_b or login),
                sudo=sudo,
                users=users,
                duration=duration,
                think=think,
                typing=typing,
                warm_up=warm_up,
                seed=seed,
                meters=meters,
                margin=margin,
                measures=measure or DECISIVE_MEASURES,
                most_pairs=pairs,
                time_limit=time_limit,
                tariff=tariff,
                out=out,
                reference=reference,
                progress=note,
                run_progress=show_run,
            )
        page.show(experiment)
        page.print_warnings((*experiment.fit_warnings, *(experiment.limit_warnings if quiet else ())))
        raise typer.Exit(STATUS_INTERRUPTED if experiment.end == "stopped" else STATUS_GOOD)
