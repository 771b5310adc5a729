"""The command that meters without a load."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import loadgo
from loadgo.cli.options import FORMAT_HELP, Format, Output, Quiet, Vocabulary
from loadgo.cli.output import (
    GOOD,
    INTERRUPTED,
    complain,
    complain_of_leftovers,
    deliver,
    in_colour,
    note,
    notes_without,
    say,
    told,
    try_file,
)


def meter(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Meter for as long as this runs; write it after --."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--for", help="Meter for so long: 10s, 5min; until an interrupt by default.")
    ] = None,
    meters: Annotated[
        Literal["cheap", "exact"],
        typer.Option(help="cheap: switches, idle and waits; exact: every primitive, fault and interrupt too."),
    ] = "cheap",
    every: Annotated[str, typer.Option(help="The length of a span of the records.")] = "1s",
    serve: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS:PORT", help="Let Prometheus read the meters here meanwhile: 127.0.0.1:9464."),
    ] = None,
    beyond_loopback: Annotated[
        bool, typer.Option("--beyond-loopback", help="That others than this host may read them there.")
    ] = False,
    otlp: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send them to this OpenTelemetry collector (needs loadgo[otel])."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the records; a new one in runs/ by default, none where others read."),
    ] = None,
    vocabulary: Vocabulary = "today",
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "text",
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Meters this host, or COMMAND, without a load, and prints the report. Exits as COMMAND does."""
    with told():
        from loadgo.metering.viewers import Viewers
        from loadgo.running.command_meter import NotRun

        try_file(output)
        if not (quiet or command or duration):
            note("metering this host until an interrupt (Ctrl-C); then comes the report")
        try:
            made = loadgo.meter(
                command or (),
                duration=duration,
                meters=meters,
                every=every,
                out=out,
                viewers=Viewers(serve=serve, beyond_loopback=beyond_loopback, otlp=otlp),
                command_line=["loadgo", *sys.argv[1:]],
                progress=_told_where,
            )
        except NotRun as refusal:
            complain(str(refusal))
            raise typer.Exit(refusal.status) from None
        _deliver(made, format, vocabulary, output, quiet=quiet, to_stderr=bool(command))
        complain_of_leftovers(made.left_behind)
        if made.signal is not None or made.exit_status:
            ended = f"signal {made.signal}" if made.signal is not None else f"status {made.exit_status}"
            note(f"the command ended with {ended}")
        if made.outcome == "stopped":
            raise typer.Exit(INTERRUPTED)
        raise typer.Exit(made.status if command else GOOD)


def _told_where(told: dict[str, Any]) -> None:
    if "serving" in told:
        note(f"the meters can be read at {told['serving']}")


def _deliver(
    made: loadgo.Metered, format: Format, vocabulary: Vocabulary, output: Path | None, *, quiet: bool, to_stderr: bool
) -> None:
    """The report where it belongs: a command's own output keeps the standard output to itself."""
    if made.folder is None:
        return
    if quiet:
        say(f"{made.folder}\n")
        return
    content = loadgo.report(made, format=format, vocabulary=vocabulary, phases="all", color=in_colour())
    if to_stderr and format == "text" and output is None:
        sys.stderr.write(str(content))
    else:
        deliver(content, format, made.folder, output)
    note("\n".join((*notes_without(made.left_behind, made.notes), f"the records are in {made.folder}")))
