"""The command `run`."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import loadgo
from loadgo.cli.ci import CheckFiles, JunitOption, SummaryOption, print_failed_conditions, run_checks
from loadgo.cli.completed_values import script_completions
from loadgo.cli.options import (
    DrawsOption,
    DrivenFromOption,
    FailIfOption,
    FullOption,
    LimitEachOption,
    LoginOption,
    QuietOption,
    ReportFormatOption,
    RunSystemOption,
    SetOption,
    ShareOption,
    SudoOption,
    TariffOption,
    UntilOption,
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
    print_error,
    print_leftovers,
    print_note,
    print_output,
    try_each,
    wants_color,
    write_report,
)
from loadgo.cli.watch import ReportProgress, with_watcher

if TYPE_CHECKING:
    from loadgo.documents.formats import ReportFormat


def run(
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            autocompletion=script_completions,
            help="A bundled script's name, or the path of one (a TOML file).",
        ),
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
        typer.Option(
            help="Open load: users log in at this rate, such as 0.5/s, and leave when they are done. "
            "A time of the day, such as 09:00: at the script's own rates from then on."
        ),
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
    driven_from: DrivenFromOption = None,
    set: SetOption = None,
    until: UntilOption = None,
    limit: Annotated[
        str | None, typer.Option(help="Limits of all users together: memory=256M,cpus=1,swap=zram:1G.")
    ] = None,
    limit_each: LimitEachOption = None,
    usage_every: Annotated[
        int | None,
        typer.Option(min=1, help="Read usage for every n-th interaction of a user only, which costs the driver less."),
    ] = None,
    meters: Annotated[
        Literal["none", "cheap", "cheap,locks", "cheap,profile", "sampled", "exact"] | None,
        typer.Option(
            help="The kernel's meters; by default cheap if the host allows them, else none. Mappings and functions "
            "need cheap,profile or exact, waits for locks cheap,locks or exact. Faults and system calls need sampled "
            "(estimates) or exact, and loadgo report --by needs exact."
        ),
    ] = None,
    working_sets: Annotated[
        bool,
        typer.Option(
            "--working-sets",
            help="Measure how much of their memory the users' processes refer to, and foretell the page faults with "
            "less memory. On this host; needs root or groups that are delegated to you.",
        ),
    ] = False,
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
        from loadgo.documents.formats import check_drawable
        from loadgo.running.host import Driver, limit_warnings
        from loadgo.running.prepared import THIS_HOST
        from loadgo.running.run import interrupts_name

        check_drawable(format)
        files = CheckFiles(junit, summary)
        files.check_writable({"--out": out})
        for warning in limit_warnings(limit, limit_each) if on == THIS_HOST and not quiet else ():
            print_note(warning)
        with _progress_bar(shown=not quiet) as show_bar, with_watcher(show_bar, wanted=watch) as progress:
            finished = loadgo.run(
                script,
                on=on,
                sudo=sudo,
                login=login,
                without_lost=without_lost,
                driven_from=driven_from or (),
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
                limit_each=limit_each,
                usage_every=usage_every,
                working_sets=working_sets,
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
        if working_sets and finished.summary.working_sets is None and not quiet:
            print_note("Working sets are not told: too few windows ended in the steady phase (docs/working-sets.md).")
        try_each(
            lambda: files.write_run(finished.summary, lambda: run_checks(finished)),
            lambda: _print_run(finished, format, tariff, full=full, quiet=quiet),
            lambda: print_leftovers(finished.left_behind),
            lambda: print_failed_conditions(finished.findings, shown=not quiet and format == "text"),
        )
        _exit_with_status(finished)


def _progress_bar(*, shown: bool) -> AbstractContextManager[ReportProgress | None]:
    """The bar on the standard error; none if it is not to be `shown`, and then nothing of it is imported."""
    if not shown:
        return nullcontext()
    from loadgo.cli.progress import progress_bar

    return progress_bar(error_console())


def _print_run(finished: loadgo.Run, format: ReportFormat, tariff: str, *, full: bool, quiet: bool) -> None:
    """Prints the report of a run, or only its folder. Its folder is named even if that fails."""
    from loadgo.records.runs import is_among_runs, runs_folder

    place = f"the run is in {finished.folder}"
    if not is_among_runs(finished.folder):
        place += f": name it by this folder, since `last` and `loadgo runs` know those in {runs_folder()}"
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


def _exit_with_status(finished: loadgo.Run) -> None:
    """Exits with the status of the run."""
    if finished.outcome == "stopped":
        print_error("the run was stopped before its end; the report covers what was done by then")
        raise typer.Exit(STATUS_INTERRUPTED)
    raise typer.Exit(STATUS_BAD_FINDING if finished.bad else STATUS_GOOD)
