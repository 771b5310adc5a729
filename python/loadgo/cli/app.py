"""The command line: each command calls the function of the same name and prints its answer; here `run` and `report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

import loadgo
from loadgo.cli.ab import ab
from loadgo.cli.capacity import capacity
from loadgo.cli.commands import doctor, query, ready, record, runs
from loadgo.cli.compare import compare, speedup
from loadgo.cli.cost import cost
from loadgo.cli.fit import fit
from loadgo.cli.machines import machines, reproduce, simulate
from loadgo.cli.meter import meter
from loadgo.cli.options import FORMAT_HELP, By, Draws, Format, On, Output, Quiet, Set, Tariff, Top, Until, Vocabulary
from loadgo.cli.output import (
    BAD,
    GOOD,
    INTERRUPTED,
    complain,
    complain_of_leftovers,
    console,
    deliver,
    in_colour,
    note,
    notes_without,
    say,
    told,
)
from loadgo.cli.profile import profile
from loadgo.cli.transfer import transfer
from loadgo.cli.watch import watch as watch_command
from loadgo.cli.watch import watched

FIRST_STEPS = """\
loadgo loads this host with users who type, and tells how many it holds, what each interaction costs, and where the
time goes. A first command that works:

    loadgo run typical-user --users 20 --think 'uniform(0.5s, 3s)'

It takes about a minute. Then:

    loadgo report --format html      the same run as a page with charts
    loadgo run typical-user --on multics-645 --users 4     the same on a simulated machine of 1973
    loadgo meter --for 10s           where all of this host's time goes, without a load
    loadgo doctor                    what can be measured on this host, and why not the rest
    loadgo --help                    all commands
"""

app = typer.Typer(
    name="loadgo",
    help="Loads a machine with users who type: how many it holds, what each interaction costs, where the time goes.",
    epilog="Exit status: 0 all is well; 1 the finding is bad; 2 it could not run; 130 it was interrupted.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command line on this process's arguments, and exits."""
    app(prog_name="loadgo")


@app.callback(invoke_without_command=True)
def _first(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        say(f"loadgo {loadgo.__version__}\n")
    elif context.invoked_subcommand is None:
        say(FIRST_STEPS)


@app.command()
def run(
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="A bundled script's name, or the path of one (a TOML file).")
    ],
    users: Annotated[int | None, typer.Option(help="How many users; 1 when nothing is said.")] = None,
    passes: Annotated[
        int | None, typer.Option(help="How often each user types the script; the script says it by default.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option("--for", help="Type for so long from when the load is whole (see --warm-up): 90s, 10min."),
    ] = None,
    think: Annotated[
        str | None,
        typer.Option(
            help="Think time instead of the script's: uniform(2s, 15s), exponential(8s), fixed(5s), … or none."
        ),
    ] = None,
    typing: Annotated[
        str | None, typer.Option(help="Typing rate instead of the script's: '12 chars/s', or none.")
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(help="Open load: users log in at this rate, such as 0.5/s, and leave when they are done."),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(help="Leave this time out of the figures; by default until everybody has typed a line."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed: the same users, to the keystroke.")] = 1,
    on: On = "here",
    set: Set = None,
    until: Until = None,
    limit: Annotated[
        str | None, typer.Option(help="What the users may have, all together: memory=256M,cpus=1,swap=zram:1G.")
    ] = None,
    usage_every: Annotated[
        int | None,
        typer.Option(min=1, help="Read usage for every n-th interaction of a user only; the driver works less."),
    ] = None,
    meters: Annotated[
        Literal["none", "cheap", "exact"] | None,
        typer.Option(help="The kernel's meters; cheap where the host allows them when nothing is said, else none."),
    ] = None,
    fifo: Annotated[bool, typer.Option(help="Drive with real-time priority, where that is permitted.")] = True,
    processor: Annotated[int | None, typer.Option(min=0, help="Drive on this processor, and on no other.")] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 1 when this holds: 'p90(edit) > 1s', 'errors > 0'. May be given again."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
    draws: Draws = None,
    tariff: Tariff = "default",
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "text",
    watch: Annotated[bool, typer.Option("--watch", help="Show it in a browser while it goes.")] = False,
    quiet: Quiet = False,
) -> None:
    """Loads the system with users who type SCRIPT, and prints the report."""
    with told():
        from loadgo.cli.progress import bar
        from loadgo.running.host import Driver

        with bar(console(), shown=not quiet) as shown, watched(shown, wanted=watch) as progress:
            made = loadgo.run(
                script,
                on=on,
                users=users,
                passes=passes,
                duration=duration,
                think=think,
                typing=typing,
                arrivals=arrivals,
                warm_up=warm_up,
                seed=seed,
                set=set or (),
                until=until,
                limit=limit,
                usage_every=usage_every,
                meters=meters,
                driver=Driver(fifo=fifo, processor=processor),
                tariff=tariff,
                fail_if=fail_if or (),
                out=out,
                command=["loadgo", *sys.argv[1:]],
                progress=progress,
                draws=draws,
            )
        if quiet:
            say(f"{made.folder}\n")
        else:
            deliver(loadgo.report(made, format=format, tariff=tariff, color=in_colour()), format, made.folder, None)
            note("\n".join((*notes_without(made.left_behind, made.notes), f"the run is in {made.folder}")))
        complain_of_leftovers(made.left_behind)
        _conclude(made)


@app.command()
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its id, or last.")] = "last",
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "text",
    output: Output = None,
    tariff: Tariff = "default",
    phases: Annotated[
        Literal["steady", "all"], typer.Option(help="The steady part of the run, or all of it.")
    ] = "steady",
    target: Annotated[
        str | None, typer.Option(help="The response time that matters: lateness must be small beside it.")
    ] = None,
    chart: Annotated[
        str | None, typer.Option(help="The picture for svg and png; for csv, the one whose data are written.")
    ] = None,
    vocabulary: Vocabulary = "today",
    by: By = None,
    top: Top = None,
) -> None:
    """Prints the report of a run that was recorded."""
    with told():
        from loadgo.notation.quantities import span_s
        from loadgo.records.runs import find_run

        folder = find_run(run)
        seconds = None if target is None else span_s(target)
        content = loadgo.report(
            folder,
            format=format,
            tariff=tariff,
            phases=phases,
            target=seconds,
            chart=chart,
            color=in_colour(),
            vocabulary=vocabulary,
            by=by,
            top=top,
        )
        deliver(content, format, folder, output)


def _conclude(made: loadgo.Run) -> None:
    """Says what the conditions came to, and exits as the finding asks."""
    for finding in made.findings:
        if finding.failed:
            complain(f"failed: {finding.text}")
    if made.outcome == "stopped":
        complain("the run was stopped before its end; the report is of what was done by then")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(BAD if made.bad else GOOD)


for command in (
    runs,
    record,
    doctor,
    query,
    ab,
    compare,
    speedup,
    capacity,
    fit,
    transfer,
    cost,
    machines,
    simulate,
    reproduce,
    watch_command,
):
    app.command()(command)
for command_of_another in (ready, meter, profile):
    app.command(context_settings={"allow_interspersed_args": False})(command_of_another)
