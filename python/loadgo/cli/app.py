"""The command line: the list of all commands, and the commands `run` and `report`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import loadgo
from loadgo.cli.ab import ab
from loadgo.cli.capacity import capacity
from loadgo.cli.ci import CheckFiles, JunitOption, SummaryOption, condition_checks, run_checks
from loadgo.cli.commands import doctor, query, ready, record, runs
from loadgo.cli.compare import compare, speedup
from loadgo.cli.cost import cost
from loadgo.cli.fit import fit
from loadgo.cli.history import history
from loadgo.cli.lab import lab
from loadgo.cli.machines import machines, reproduce, simulate
from loadgo.cli.meter import meter
from loadgo.cli.options import (
    ByOption,
    DrawsOption,
    FailIfOption,
    FullOption,
    LoginOption,
    QuietOption,
    ReportFileOption,
    ReportFormatOption,
    RunSystemOption,
    SetOption,
    ShareOption,
    SudoOption,
    TariffOption,
    TopOption,
    UntilOption,
    VocabularyOption,
    WithoutLostOption,
    WorkersOption,
)
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    error_console,
    errors_as_messages,
    notes_without_leftovers,
    outputs_are_one,
    print_error,
    print_leftovers,
    print_note,
    print_output,
    try_each,
    wants_color,
    write_report,
)
from loadgo.cli.page_output import page_output
from loadgo.cli.profile import profile
from loadgo.cli.schema import schema
from loadgo.cli.sweep import merge, sweep
from loadgo.cli.transfer import transfer
from loadgo.cli.usage_errors import PlainCommand, PlainGroup
from loadgo.cli.watch import watch as watch_command
from loadgo.cli.watch import with_watcher
from loadgo.running.stopping import report_after_stop_signals

if TYPE_CHECKING:
    from loadgo.documents.formats import ReportFormat
    from loadgo.measures.fail_if_figures import ConditionResult

FIRST_STEPS_TEXT = """\
loadgo loads this host with users who type, and measures how many it holds, what each interaction costs, and where the
time goes. A first command to try:

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
    cls=PlainGroup,
    help="Loads a machine with users who type: how many it holds, what each interaction costs, where the time goes.",
    epilog="Exit status: 0 all is well; 1 the finding is bad; 2 it could not run; 130 it was interrupted.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command line on this process's arguments, and exits."""
    report_after_stop_signals()
    app(prog_name="loadgo")


@app.callback(invoke_without_command=True)
def _without_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", metavar="", help="Print the version.")] = False,
) -> None:
    if version:
        print_output(f"loadgo {loadgo.__version__}\n")
    elif context.invoked_subcommand is None:
        print_output(FIRST_STEPS_TEXT)


@app.command(cls=PlainCommand)
def run(
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="A bundled script's name, or the path of one (a TOML file).")
    ],
    users: Annotated[int | None, typer.Option(help="Number of users; by default 1.")] = None,
    passes: Annotated[
        int | None, typer.Option(help="How often each user types the script; by default the script's number.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option("--for", help="Length of the load after the warm-up (see --warm-up): 90s, 10min."),
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
        typer.Option(help="Leave this time out of the figures; by default until every user has typed a line."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the users; the same seed gives the same keystrokes at the same times.")
    ] = 1,
    on: RunSystemOption = "here",
    sudo: SudoOption = False,
    login: LoginOption = None,
    without_lost: WithoutLostOption = 0,
    set: SetOption = None,
    until: UntilOption = None,
    limit: Annotated[
        str | None, typer.Option(help="Limits of all users together: memory=256M,cpus=1,swap=zram:1G.")
    ] = None,
    usage_every: Annotated[
        int | None,
        typer.Option(min=1, help="Read usage for every n-th interaction of a user only, which costs the driver less."),
    ] = None,
    meters: Annotated[
        Literal["none", "cheap", "exact"] | None,
        typer.Option(
            help="The kernel's meters; by default cheap if the host allows them, else none. Faults and system calls, "
            "and loadgo report --by, need exact."
        ),
    ] = None,
    fifo: Annotated[bool, typer.Option(help="Drive with real-time priority, if the host permits it.")] = True,
    processor: Annotated[int | None, typer.Option(min=0, help="Drive on this processor only.")] = None,
    fail_if: FailIfOption = None,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
    share: ShareOption = False,
    draws: DrawsOption = None,
    workers: WorkersOption = None,
    tariff: TariffOption = "default",
    format: ReportFormatOption = "text",
    full: FullOption = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show the run in a browser while it goes.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Loads the system with users who type SCRIPT, and prints the report."""
    with errors_as_messages(), ExitStack() as named:
        from loadgo.cli.progress import progress_bar
        from loadgo.running.host import Driver
        from loadgo.running.run import interrupts_name

        files = CheckFiles(junit, summary)
        files.check_writable({"--out": out})
        with (
            progress_bar(error_console(), shown=not quiet) as show_bar,
            with_watcher(show_bar, wanted=watch) as progress,
        ):
            finished = loadgo.run(
                script,
                on=on,
                sudo=sudo,
                login=login,
                without_lost=without_lost,
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
                workers=workers,
            )
            named.enter_context(interrupts_name(finished.folder))
        try_each(
            lambda: files.write_run(finished.summary, run_checks(finished)),
            lambda: _print_run(finished, format, tariff, full=full, quiet=quiet),
            lambda: print_leftovers(finished.left_behind),
            lambda: _print_failed_conditions(finished.findings, shown=not quiet and format == "text"),
        )
        _exit_with_status(finished)


@app.command(cls=PlainCommand)
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its id, or last.")] = "last",
    format: ReportFormatOption = "text",
    full: FullOption = False,
    output: ReportFileOption = None,
    tariff: TariffOption = "default",
    phases: Annotated[
        Literal["steady", "all"], typer.Option(help="The steady part of the run, or all of it.")
    ] = "steady",
    target: Annotated[
        str | None, typer.Option(help="The response time that matters: the driver's lateness must be small beside it.")
    ] = None,
    chart: Annotated[
        str | None, typer.Option(help="The chart for svg and png; for csv, the chart whose data are written.")
    ] = None,
    vocabulary: VocabularyOption = "today",
    by: ByOption = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For a run on several hosts: the report of this one alone, with its meters."),
    ] = None,
    top: TopOption = None,
    fail_if: FailIfOption = None,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    failed: Annotated[
        bool,
        typer.Option(
            "--failed", help="Print the lines that failed, timed out or died instead, with their last screens."
        ),
    ] = False,
) -> None:
    """Prints the report of a recorded run. With --fail-if, exits with 1 if a condition holds or cannot be decided."""
    with errors_as_messages():
        from loadgo.errors import BadArgument
        from loadgo.notation.quantities import span_s
        from loadgo.records.runs import find_run
        from loadgo.reporting.report import asked_notes, render, reported_summary
        from loadgo.reporting.view import View

        files = CheckFiles(junit, summary)
        if _shown_experiment(run, format, output, judged=bool(fail_if or files.wanted or failed)):
            return
        folder = find_run(run)
        files.check_writable({"-o": output})
        if failed and (fail_if or files.wanted):
            raise BadArgument("--failed prints lines and judges nothing: leave out --failed or --fail-if")
        if files.wanted and not fail_if:
            raise BadArgument("--junit and --summary write the results of conditions: name some with --fail-if")
        if failed:
            write_report(loadgo.report(folder, format=format, top=top, failed=True, host=host), format, folder, output)
            return
        target_s = None if target is None else span_s(target)
        reported, measured = reported_summary(
            folder, tariff=tariff, phases=phases, target=target_s, by=by, fail_if=fail_if, host=host
        )
        asked = asked_notes(tariff, target_s)
        view = View(vocabulary=vocabulary, by=by, top=top, full=full, asked_notes=asked)
        content = render(reported, measured, format, view=view, chart=chart, color=wants_color(), run=str(folder))
        # Without conditions of its own, a report shows those that the run was judged by, and judges nothing.
        results = reported.fail_if if fail_if else ()
        try_each(
            lambda: files.write_run(reported, condition_checks(reported)),
            lambda: write_report(content, format, folder, output),
            lambda: _print_failed_conditions(results, shown=format == "text" and output is None),
        )
        if any(result.failed for result in results):
            raise typer.Exit(STATUS_BAD_FINDING)


def _shown_experiment(name: str, format: ReportFormat, output: Path | None, *, judged: bool) -> bool:
    """Shows the result of `loadgo ab` or `loadgo capacity` in the folder `name`. False if there is none."""
    from loadgo.errors import BadArgument
    from loadgo.laboratory.stored_experiments import stored_result

    result = stored_result(name)
    if result is None:
        return False
    if judged:
        raise BadArgument(f"{name} is no single run: --fail-if, --junit, --summary and --failed take one of its runs")
    page_output(format, output, "report.html").show(result)
    return True


def _print_run(finished: loadgo.Run, format: ReportFormat, tariff: str, *, full: bool, quiet: bool) -> None:
    """Prints the report of a run, or only its folder. Its folder is named even if that fails."""
    place = f"the run is in {finished.folder}"
    if quiet:
        try:
            print_output(f"{finished.folder}\n")
        except OSError:
            print_note(place)
            raise
        _print_reasons(finished)
        return
    try:
        content = loadgo.report(finished, format=format, tariff=tariff, color=wants_color(), full=full)
        write_report(content, format, finished.folder, None)
    finally:
        notes = notes_without_leftovers(finished.notes, finished.left_behind)
        print_note("\n".join((*(f"loadgo: {note}" for note in notes), place)))


def _print_reasons(finished: loadgo.Run) -> None:
    """Prints the reasons for the exit status of a bad run, whose report nobody sees. Conditions are printed anyway.

    Of a good run, it prints the mistakes in what was asked for.
    """
    from loadgo.measures.run_warnings import doubt_warnings, facts_in, invalid_warnings, mistake_warnings

    facts = facts_in(finished.summary)
    losses = [f"{loss.count:,} lost ({loss.what}): {loss.reason}" for loss in finished.summary.losses if loss.count]
    all_reasons = (*invalid_warnings(facts), *doubt_warnings(facts), *losses)
    for text in all_reasons if finished.bad else mistake_warnings(facts):
        print_error(text)


def _print_failed_conditions(results: Iterable[ConditionResult], *, shown: bool) -> None:
    """Prints the conditions that failed, unless a report in the same place has `shown` them."""
    is_read = shown and outputs_are_one()
    for result in results:
        if result.failed and not is_read:
            print_error(f"failed: {result.text}")


def _exit_with_status(finished: loadgo.Run) -> None:
    """Exits with the status of the run."""
    if finished.outcome == "stopped":
        print_error("the run was stopped before its end; the report covers what was done by then")
        raise typer.Exit(STATUS_INTERRUPTED)
    raise typer.Exit(STATUS_BAD_FINDING if finished.bad else STATUS_GOOD)


for command in (
    runs,
    record,
    doctor,
    query,
    ab,
    compare,
    history,
    lab,
    speedup,
    capacity,
    fit,
    transfer,
    cost,
    machines,
    simulate,
    sweep,
    merge,
    reproduce,
    schema,
    watch_command,
):
    app.command(cls=PlainCommand)(command)
# Options after the first word of COMMAND are the command's own.
for command_with_command in (ready, meter, profile):
    app.command(cls=PlainCommand, context_settings={"allow_interspersed_args": False})(command_with_command)
