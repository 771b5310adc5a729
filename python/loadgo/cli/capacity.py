"""The command that finds how many users a system holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

import loadgo
from loadgo.cli.completed_values import script_completions
from loadgo.cli.options import (
    DrawsOption,
    LimitOption,
    MetersOption,
    RunSystemOption,
    SetOption,
    ShareOption,
    SudoOption,
    TariffOption,
    ThinkOption,
    TypingOption,
    WorkersOption,
)
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    error_console,
    errors_as_messages,
)
from loadgo.cli.page_output import FileOption, PageOutput, format_option, page_output
from loadgo.documents.formats import ReportFormat
from loadgo.errors import BadArgument

if TYPE_CHECKING:
    from loadgo.sizing.knobs.results import KnobCapacity
    from loadgo.sizing.search.results import Capacity


def capacity(
    target: Annotated[
        list[str],
        typer.Option(
            metavar="MEASURE<LIMIT",
            help="A condition that must hold: 'p90 < 2s', 'mean(edit) < 500ms', 'errors < 1%', "
            "'busy(processors) < 80%', 'throughput > 3/s'. May be given again: all must hold.",
        ),
    ],
    script: Annotated[
        str | None,
        typer.Argument(
            metavar="SCRIPT",
            autocompletion=script_completions,
            help="A bundled script's name, or the path of one; none with --mix.",
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="SCRIPT=WEIGHT,…",
            help="Users of several classes, each with its script: heavy.toml=1,ordinary.toml=3,light=6.",
        ),
    ] = None,
    on: RunSystemOption = "here",
    sudo: SudoOption = False,
    max_users: Annotated[
        int | None,
        typer.Option(help="Never log in more users; by default 10,000 on a simulated machine, 8 on each host."),
    ] = None,
    within: Annotated[
        int | None,
        typer.Option(
            min=1, help="Search until the interval's ends differ by this many users; by default 2 %, at least 1."
        ),
    ] = None,
    think: ThinkOption = None,
    typing: TypingOption = None,
    set: SetOption = None,
    limit: LimitOption = None,
    limit_each: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[CLASS:]NAME=VALUE,…",
            help="Limits of each user: cpus=2,memory=1G,pids=200; also swap=0, nice=5 and io=20M. May be given again, "
            "for one class of a mix: hog-cpu:cpus=0.5.",
        ),
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="LIMIT=LOW:HIGH",
            help="Search a limit instead of the number of users: limit-each.cpus=0.25:8, limit-each.CLASS.memory="
            "64M:4G, limit.cpus=1:8; on a simulated machine limit-each.cpus, or of a class. Leave out --max-users, "
            "--within, --longest, --draws, --workers and --sudo.",
        ),
    ] = None,
    users: Annotated[
        int | None, typer.Option(help="With --vary, the number of users; by default the sum of the mix's weights.")
    ] = None,
    meters: MetersOption = None,
    shortest: Annotated[
        str | None,
        typer.Option(
            help="The shortest time of a trial; by default 30s on a host. A simulated machine counts virtual time."
        ),
    ] = None,
    longest: Annotated[str | None, typer.Option(help="The longest time of a trial; by default 5min on a host.")] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1, help="The largest number of trials; 24 on a host, 60 on a simulated machine; with --vary 16 and 32."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            help="The first trial's seed; each further trial has a later one. With --mix they are those whose draw of "
            "classes fits the weights."
        ),
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder that keeps the trials' runs; by default runs/ for a host, none for a machine."),
    ] = None,
    share: ShareOption = False,
    draws: DrawsOption = None,
    workers: WorkersOption = None,
    tariff: TariffOption = "default",
    format: Annotated[
        ReportFormat, format_option("the measured numbers of users", "response time over the users")
    ] = "text",
    output: FileOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not report each trial.")] = False,
) -> None:
    """Finds how many users who type SCRIPT the system holds, so that every target is met."""
    with errors_as_messages():
        from loadgo.cli.progress import progress_and_notes
        from loadgo.sizing.capacity import capacity as find_capacity

        page = page_output(format, output, "capacity.html")
        if vary is not None:
            asked = {"max_users": max_users, "within": within, "longest": longest, "draws": draws, "workers": workers}
            check_varied({**asked, "sudo": sudo or None})
            choices: dict[str, Any] = {
                "users": users,
                "mix": mix,
                "think": think,
                "typing": typing,
                "limit": limit,
                "meters": meters,
            }
            choices |= {"shortest": shortest, "trials": trials, "seed": seed, "tariff": tariff, "out": out}
            choices |= {"limit_each": limit_each or (), "target": target, "vary": vary, "on": on, "set": set or ()}
            _print_limit(script, choices, page, quiet=quiet)
        if users is not None:
            raise BadArgument("`users` is for a search over a limit: `vary`").about("users", "vary")
        with progress_and_notes(error_console(), shown=not quiet) as (show_trial, note):
            answer = find_capacity(
                script,
                target=target,
                on=on,
                sudo=sudo,
                mix=mix,
                max_users=max_users,
                within=within,
                think=think,
                typing=typing,
                set=set or (),
                limit=limit,
                limit_each=limit_each or (),
                meters=meters,
                shortest=shortest,
                longest=longest,
                trials=trials,
                seed=seed,
                tariff=tariff,
                out=out,
                draws=draws,
                workers=workers,
                progress=note,
                trial_progress=show_trial,
            )
        page.show(answer)
        page.print_warnings((*answer.fit_warnings, *(answer.limit_warnings if quiet else ())))
        _exit(answer)


def _print_limit(script: str | None, choices: Mapping[str, Any], page: PageOutput, *, quiet: bool) -> NoReturn:
    """Searches a limit, prints the answer, and exits with its status."""
    from loadgo.cli.progress import progress_and_notes

    with progress_and_notes(error_console(), shown=not quiet) as (show_trial, note):
        answer = loadgo.capacity_of_limit(script, **choices, progress=note, trial_progress=show_trial)
    page.show(answer)
    page.print_warnings(answer.limit_warnings if quiet else ())
    _exit(answer)


def check_varied(asked: Mapping[str, object]) -> None:
    """Raises `BadArgument` for an option that a search over a limit does not have."""
    for name in (name for name, value in asked.items() if value):
        raise BadArgument(f"`{name}` has no meaning with `vary`: leave `{name}` out").about(name, "vary")


def _exit(answer: Capacity | KnobCapacity) -> NoReturn:
    """Exits with the status of an answer."""
    if answer.end == "stopped":
        raise typer.Exit(STATUS_INTERRUPTED)
    raise typer.Exit(STATUS_BAD_FINDING if answer.bad else STATUS_GOOD)
