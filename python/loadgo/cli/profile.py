"""The command `profile`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadgo.cli.files import write_file
from loadgo.cli.output import (
    NOT_RUN_STATUS,
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    check_files,
    errors_as_messages,
    print_error,
    print_note,
    try_each,
)
from loadgo.cli.page_output import FileOption, format_option, page_output, wide_text_chars
from loadgo.documents.formats import TableFormat

if TYPE_CHECKING:
    from loadgo.profiling.profile import Profile


def profile(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="Profile this with what it starts; write it after --."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--for", help="Length of the profile: 10s (the default without COMMAND), 5min.")
    ] = None,
    hz: Annotated[int, typer.Option(min=1, max=20_000, help="Samples a second of each busy processor.")] = 1000,
    of: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Print the profile of this run instead: a folder, its id, or last."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="The largest number of functions.")] = 20,
    folded: Annotated[Path | None, typer.Option(metavar="FILE", help="Write folded stacks, for flame graphs.")] = None,
    speedscope: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JSON for speedscope.")] = None,
    pprof: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write protobuf for pprof, compressed: FILE.pb.gz.")
    ] = None,
    format: Annotated[TableFormat, format_option("the samples of each function")] = "text",
    output: FileOption = None,
) -> None:
    """Prints where processors spend their time and what faults, by mapping and function. Exits as COMMAND does."""
    with errors_as_messages():
        from loadgo.profiling.folded import folded as as_folded
        from loadgo.profiling.pprof import pprof as as_pprof
        from loadgo.profiling.profile import profile as take_profile
        from loadgo.profiling.speedscope import speedscope as as_speedscope
        from loadgo.running.command_meter import NotRun

        if of is None and not command and duration is None:
            print_note("profiling this host for 10 s")
        if of is not None and (command or duration is not None):
            raise ValueError("--of reads an existing run: leave COMMAND and --for out")
        page = page_output(format, output, "profile.html", beside_command=bool(command))
        check_files({"--folded": folded, "--speedscope": speedscope, "--pprof": pprof}, {"-o": page.path})
        try:
            profiled = take_profile(command or (), duration=duration, hz=hz, of=of)
        except NotRun as refusal:
            print_error(str(refusal))
            raise typer.Exit(refusal.status) from None
        with errors_as_messages(profiled.status or NOT_RUN_STATUS):
            try_each(
                lambda: page.write(profiled.report(format, top=top, width=wide_text_chars())),
                lambda: _write_as(as_folded, profiled, folded),
                lambda: _write_as(as_speedscope, profiled, speedscope),
                lambda: _write_as(as_pprof, profiled, pprof),
                lambda: _print_lost(profiled),
            )
        lost_status = STATUS_BAD_FINDING if _has_lost(profiled) else STATUS_GOOD
        raise typer.Exit(profiled.status or lost_status)


def _has_lost(profiled: Profile) -> bool:
    return any(count for count, _ in profiled.lost)


def _print_lost(profiled: Profile) -> None:
    if _has_lost(profiled):
        print_error("some samples were lost: a slower clock (--hz 200) loses fewer")


def _write_as(form: Callable[[Profile], str | bytes], profiled: Profile, file: Path | None) -> None:
    """Writes a profile in the form of another viewer, if a file was asked for."""
    if file is None:
        return
    write_file(file, form(profiled))
    if not profiled.stacks:
        print_note(f"{file} has no stacks, since the records have none")
