"""The commands `compare` and `speedup`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from loadgo.cli.ci import CheckFiles, JunitOption, SummaryOption
from loadgo.cli.completed_values import machine_completions, run_completions, script_completions
from loadgo.cli.options import FullOption, SetOption, TariffOption, ThinkOption, WorkersOption
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    errors_as_messages,
    print_note,
    try_each,
)
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import ReportFormat

_SIDE = (
    "A run's folder or id, or last (the newest of `loadgo runs`); several runs with commas between them; a column of a "
    "published document: csr-rfc-20:645, mpl-16:ctss; or a file of your own with printed figures: "
    "before.toml, before.toml:SIDE."
)
FirstSideArgument = Annotated[str, typer.Argument(metavar="A", autocompletion=run_completions, help=_SIDE)]
SecondSideArgument = Annotated[
    str,
    typer.Argument(metavar="B", autocompletion=run_completions, help="As for A. B is judged better or worse than A."),
]


def compare(
    a: FirstSideArgument,
    b: SecondSideArgument,
    by: Annotated[
        Literal["line", "command"] | None,
        typer.Option(
            help="A row for each line of the script in its pass, or for each command; by default lines if they agree."
        ),
    ] = None,
    phases: Annotated[
        Literal["auto", "all", "steady"],
        typer.Option(help="The steady part of the runs, or all; auto: all if users do a number of passes."),
    ] = "auto",
    worse: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[MEASURE=]PERCENT",
            help="Exit with 1 when B is worse by more than this, and not by chance: 5% (response and CPU), p90=10%. "
            "May be given again.",
        ),
    ] = None,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Judge A as a prediction of B: exit with 1 unless it is inside."),
    ] = False,
    within: Annotated[
        str | None,
        typer.Option(metavar="PERCENT", help="How far off a prediction may be to be inside; by default 20%."),
    ] = None,
    margin: Annotated[
        str,
        typer.Option(
            metavar="PERCENT",
            help="A relative change that is too small to matter. Only an interval within it is called no difference.",
        ),
    ] = "5%",
    tariff: TariffOption = "default",
    junit: JunitOption = None,
    summary: SummaryOption = None,
    format: Annotated[
        ReportFormat, format_option("each measure of each row on both sides", "how much each row changed")
    ] = "text",
    full: FullOption = False,
    output: FileOption = None,
) -> None:
    """Compares B with A, command by command: the differences, which is better, and the causes."""
    with errors_as_messages():
        from loadgo.comparison.compare import compare as compare_sides

        page = page_output(format, output, "compare.html")
        files = CheckFiles(junit, summary)
        files.check_writable({"-o": page.path})
        if files.wanted and not (worse or judge):
            raise ValueError("--junit and --summary write the results of checks: name some with --worse, or --judge")
        comparison = compare_sides(
            a, b, by=by, phases=phases, tariff=tariff, worse=worse or (), judge=judge, within=within, margin=margin
        )
        try_each(lambda: files.write_comparison(comparison, worse or ()), lambda: page.show(comparison, full=full))
        outside = judge and not comparison.predicted
        raise typer.Exit(STATUS_BAD_FINDING if comparison.bad or outside else STATUS_GOOD)


def _runs_by_changes(measured: list[str]) -> dict[str, list[str]]:
    """The runs of `--measured` by their changes, such as `cpu+disk`. Raises `ValueError` for a text without runs."""
    runs_by_changes: dict[str, list[str]] = {}
    for text in measured:
        key, equals, names = text.partition("=")
        runs = [run.strip() for run in names.split(",") if run.strip()]
        if not equals or not runs:
            raise ValueError(f"--measured {text!r}: write CHANGES=RUN,RUN, and =RUN,RUN for the runs with none of them")
        runs_by_changes.setdefault(key.strip(), []).extend(runs)
    return runs_by_changes


def speedup(
    script: Annotated[
        str | None,
        typer.Argument(
            metavar="SCRIPT",
            autocompletion=script_completions,
            help="A bundled script's name, or a path; none with --measured.",
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="MACHINE",
            autocompletion=machine_completions,
            help="The simulated machine without the changes: a name or a file.",
        ),
    ] = "here",
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A change of the machine: processors.speed=2, or several values that are one change, "
            "'drum: storage.drum.revolution=8ms; storage.drum.sectors=9'. Up to six, one each time.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="MACHINE", help="Another machine: the tables in which its file differs are the changes."),
    ] = None,
    factors: Annotated[
        int,
        typer.Option(
            min=2, max=6, help="With --to, the largest number of changes; those with the least effect become one."
        ),
    ] = 6,
    users: Annotated[int, typer.Option(min=1, help="Number of users.")] = 1,
    passes: Annotated[int | None, typer.Option(min=1, help="How often each user types the script.")] = None,
    duration: Annotated[str | None, typer.Option("--for", help="Length of the load instead of passes: 30min.")] = None,
    think: ThinkOption = None,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs of each machine, each with its own seed.")] = 8,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 1,
    set: SetOption = None,
    measured: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANGES=RUN,RUN",
            help="Existing runs for each combination of the changes: =a,b (none of them) "
            "cpu=c,d disk=e,f cpu+disk=g,h.",
        ),
    ] = None,
    workers: WorkersOption = None,
    tariff: TariffOption = "default",
    format: Annotated[ReportFormat, format_option("the factor of each change", "the changes as a waterfall")] = "text",
    output: FileOption = None,
) -> None:
    """Divides a speed-up among its changes, from runs with each combination of them, and among the meters' parts."""
    with errors_as_messages():
        from loadgo.attribution.measured_runs import speedup_of
        from loadgo.attribution.speedup import speedup as run_experiment

        page = page_output(format, output, "speedup.html")
        if measured:
            if script is not None or change or to or workers is not None:
                raise ValueError("--measured takes existing runs: leave the script, --change, --to and --workers out")
            attributed = speedup_of(_runs_by_changes(measured), tariff=tariff)
        else:
            if script is None:
                raise ValueError("name a script, or existing runs with --measured")
            attributed = run_experiment(
                script,
                on=on,
                changes=change or (),
                to=to,
                factors=factors,
                users=users,
                passes=passes,
                duration=duration,
                think=think,
                set=set or (),
                runs=runs,
                seed=seed,
                tariff=tariff,
                workers=workers,
                progress=print_note,
            )
        page.show(attributed)
        page.print_warnings(attributed.fit_warnings)
