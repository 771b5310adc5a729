"""The commands that compare: two measurements, and the machines in between."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from loadgo.cli.options import Set, Tariff
from loadgo.cli.output import BAD, GOOD, note, told
from loadgo.cli.page_output import FileOption, FormatOption, page_output

_SIDE = (
    "A run's folder or id, last; several runs with commas between them; or a column of a published document: "
    "csr-rfc-20:645, mpl-16:ctss."
)
Before = Annotated[str, typer.Argument(metavar="A", help=_SIDE)]
After = Annotated[str, typer.Argument(metavar="B", help="The same; B is said to be better or worse than A.")]


def compare(
    a: Before,
    b: After,
    by: Annotated[
        Literal["line", "command"] | None,
        typer.Option(help="A row for each line of the script in its pass, or for each command; lines where they fit."),
    ] = None,
    phases: Annotated[
        Literal["auto", "all", "steady"],
        typer.Option(help="The steady part of the runs, or all; auto: all where users do a number of passes."),
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
        typer.Option("--judge", help="A is a prediction of B: exit with 1 unless it is shown to be inside."),
    ] = False,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT", help="How far off a prediction may be that is inside; 20% when nothing is said."
        ),
    ] = None,
    tariff: Tariff = "default",
    format: FormatOption = "text",
    output: FileOption = None,
) -> None:
    """Compares B with A, command by command: what differs, which is better, and what it came of."""
    with told():
        from loadgo.comparison.compare import compare as compared
        from loadgo.comparison.document import render_comparison

        page = page_output(format, output, "compare.html")
        made = compared(a, b, by=by, phases=phases, tariff=tariff, worse=worse or (), judge=judge, within=within)
        page.show(render_comparison, made)
        outside = judge and not made.predicted
        raise typer.Exit(BAD if made.bad or outside else GOOD)


def _by_choice(measured: list[str]) -> dict[str, list[str]]:
    """The runs by the changes that were made in them; raises `ValueError` in words."""
    found: dict[str, list[str]] = {}
    for text in measured:
        key, equals, names = text.partition("=")
        runs = [run.strip() for run in names.split(",") if run.strip()]
        if not equals or not runs:
            raise ValueError(f"--measured {text!r}: write CHANGES=RUN,RUN, and =RUN,RUN for the runs with none of them")
        found.setdefault(key.strip(), []).extend(runs)
    return found


def speedup(
    script: Annotated[
        str | None,
        typer.Argument(metavar="[SCRIPT]", help="A bundled script's name, or a path; none with --measured."),
    ] = None,
    on: Annotated[
        str, typer.Option(metavar="MACHINE", help="The simulated machine without the changes: a name or a file.")
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
        typer.Option(min=2, max=6, help="With --to, how many changes at most; those that do least are then one."),
    ] = 6,
    users: Annotated[int, typer.Option(min=1, help="How many users.")] = 1,
    passes: Annotated[int | None, typer.Option(min=1, help="How often each types the script.")] = None,
    duration: Annotated[str | None, typer.Option("--for", help="Type for so long instead: 30min.")] = None,
    think: Annotated[str | None, typer.Option(help="Think time instead of the script's.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each machine, each with a seed of its own.")] = 8,
    seed: Annotated[int, typer.Option(help="The first of the seeds.")] = 1,
    set: Set = None,
    measured: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANGES=RUN,RUN",
            help="Runs that are there already, for each choice of the changes: =a,b cpu=c,d disk=e,f cpu+disk=g,h.",
        ),
    ] = None,
    tariff: Tariff = "default",
    format: FormatOption = "text",
    output: FileOption = None,
) -> None:
    """Takes a speed-up apart: what each change did, on every machine between the two, and what the meters say moved."""
    with told():
        from loadgo.attribution.document import render_speedup
        from loadgo.attribution.measured_runs import speedup_of
        from loadgo.attribution.speedup import speedup as taken

        page = page_output(format, output, "speedup.html")
        if measured:
            if script is not None or change or to:
                raise ValueError(
                    "--measured takes runs that are there already: no script, no --change and no --to beside it"
                )
            made = speedup_of(_by_choice(measured), tariff=tariff)
        else:
            if script is None:
                raise ValueError("name a script, or runs that are there already with --measured")
            made = taken(
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
                progress=note,
            )
        page.show(render_speedup, made)
