"""The command `meter`, which meters without a load."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import loadgo
from loadgo.cli.options import (
    FullOption,
    HostsOption,
    QuietOption,
    ReportFileOption,
    ReportFormatOption,
    ShareOption,
    SudoOption,
    VocabularyOption,
)
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    check_writable,
    error_console,
    errors_as_messages,
    notes_without_leftovers,
    print_beside_command,
    print_error,
    print_leftovers,
    print_note,
    print_output,
    wants_color,
    write_report,
)
from loadgo.documents.formats import ReportFormat


def meter(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="Meter for as long as this runs; write it after --."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--for", help="Length of the metering: 10s, 5min; by default until an interrupt.")
    ] = None,
    meters: Annotated[
        Literal["cheap", "cheap,locks", "cheap,profile", "sampled", "exact"],
        typer.Option(
            help="cheap: context switches, idle times and waits; cheap,locks: also waits for locks; cheap,profile: "
            "also faults and samples by mapping and function; sampled: also estimates of system calls, faults and "
            "interrupts; exact: each of them."
        ),
    ] = "cheap",
    on: HostsOption = "here",
    sudo: SudoOption = False,
    every: Annotated[str, typer.Option(help="The time that each row of the records covers.")] = "1s",
    serve: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS:PORT", help="Serve the meters to Prometheus meanwhile, at this address: 127.0.0.1:9464."
        ),
    ] = None,
    beyond_loopback: Annotated[
        bool, typer.Option("--beyond-loopback", help="Allow an address that other hosts can reach.")
    ] = False,
    otlp: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send them to this OpenTelemetry collector (needs loadgo\\[otel])."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the records; by default a new one in runs/, and none with --serve or --otlp."),
    ] = None,
    share: ShareOption = False,
    vocabulary: VocabularyOption = "today",
    format: ReportFormatOption = "text",
    full: FullOption = False,
    output: ReportFileOption = None,
    quiet: QuietOption = False,
) -> None:
    """Meters a host, or COMMAND, without a load, and prints the report. Exits as COMMAND does."""
    with errors_as_messages():
        from loadgo.cli.progress import metering_progress
        from loadgo.documents.formats import check_drawable
        from loadgo.hosts.address import parse_host
        from loadgo.hosts.fleet import is_fleet
        from loadgo.metering.viewers import Viewers
        from loadgo.running.command_meter import NotRun

        check_drawable(format)
        check_writable(output)
        if not is_fleet(on):
            parse_host(on)  # before the note that names it
        if not (quiet or command or duration):
            print_note(
                f"metering {'this host' if on == 'here' else on} until an interrupt (Ctrl-C); then comes the report"
            )
        try:
            # A command has the terminal for itself.
            with metering_progress(error_console(), duration, shown=not (quiet or command)) as show:
                metered = loadgo.meter(
                    command or (),
                    duration=duration,
                    meters=meters,
                    on=on,
                    sudo=sudo,
                    every=every,
                    out=out,
                    viewers=Viewers(serve=serve, beyond_loopback=beyond_loopback, otlp=otlp),
                    command_line=["loadgo", *sys.argv[1:]],
                    progress=show or _print_address,
                )
        except NotRun as refusal:
            print_error(str(refusal))
            raise typer.Exit(refusal.status) from None
        content = "" if quiet or metered.folder is None else _content(metered, format, vocabulary, full=full)
        _print_report(metered, content, format, output, quiet=quiet, to_stderr=bool(command))
        print_leftovers(metered.left_behind)
        if metered.signal is not None or metered.exit_status:
            ended = f"signal {metered.signal}" if metered.signal is not None else f"status {metered.exit_status}"
            print_note(f"the command ended with {ended}")
        if metered.failed_exports:
            print_error(metered.export_failure)
        if metered.outcome == "stopped":
            raise typer.Exit(STATUS_INTERRUPTED)
        is_bad = metered.failed_exports or metered.lost_hosts or metered.lost_records
        raise typer.Exit(
            (metered.status if command else STATUS_GOOD) or (STATUS_BAD_FINDING if is_bad else STATUS_GOOD)
        )


def _print_address(progress: dict[str, Any]) -> None:
    if "serving" in progress:
        print_note(f"the meters can be read at {progress['serving']}")


def _content(metered: loadgo.Metered, format: ReportFormat, vocabulary: VocabularyOption, *, full: bool) -> str | bytes:
    return loadgo.report(metered, format=format, vocabulary=vocabulary, phases="all", color=wants_color(), full=full)


def _print_report(
    metered: loadgo.Metered,
    content: str | bytes,
    format: ReportFormat,
    output: Path | None,
    *,
    quiet: bool,
    to_stderr: bool,
) -> None:
    """Prints the report. With `to_stderr`, text goes to the standard error, since the command has the output."""
    if metered.folder is None:
        return
    if quiet:
        print_output(f"{metered.folder}\n")
        return
    if to_stderr and format == "text" and output is None:
        print_beside_command(str(content))
    else:
        write_report(content, format, metered.folder, output)
    printed_as_errors = (*metered.left_behind, metered.export_failure)
    notes = notes_without_leftovers(metered.notes, printed_as_errors)
    print_note("\n".join((*notes, f"the records are in {metered.folder}")))
