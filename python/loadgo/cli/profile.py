"""The command `profile`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadgo.cli.files import write_file
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    check_writable,
    errors_as_messages,
    print_error,
    print_note,
)
from loadgo.cli.page_output import FileOption, format_option, page_output, wide_text_chars
from loadgo.documents.formats import TableFormat

if TYPE_CHECKING:
    from loadgo.profiling.profile import Profile


def profile(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Profile this with what it starts; write it after --."),
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
        from loadgo.profiling.profile import profile as take_profile
        from loadgo.running.command_meter import NotRun

        if of is None and not command and duration is None:
            print_note("profiling this host for 10 s")
        if of is not None and (command or duration is not None):
            raise ValueError("--of reads an existing run: leave COMMAND and --for out")
        for option, file in (("--folded", folded), ("--speedscope", speedscope), ("--pprof", pprof)):
            check_writable(file, option)
        page = page_output(format, output, "profile.html", beside_command=bool(command))
        try:
            profiled = take_profile(command or (), duration=duration, hz=hz, of=of)
        except NotRun as refusal:
            print_error(str(refusal))
            raise typer.Exit(refusal.status) from None
        page.write(profiled.report(format, top=top, width=wide_text_chars()))
        _write_files(profiled, folded, speedscope, pprof)
        if any(count for count, _ in profiled.lost):
            print_error("some samples were lost: a slower clock (--hz 200) loses fewer")
            raise typer.Exit(profiled.status or STATUS_BAD_FINDING)
        raise typer.Exit(profiled.status)


def _write_files(profiled: Profile, folded: Path | None, speedscope: Path | None, pprof: Path | None) -> None:
    from loadgo.profiling.folded import folded as as_folded
    from loadgo.profiling.pprof import pprof as as_pprof
    from loadgo.profiling.speedscope import speedscope as as_speedscope

    forms: tuple[Callable[[Profile], str | bytes], ...] = (as_folded, as_speedscope, as_pprof)
    for file, form in zip((folded, speedscope, pprof), forms, strict=True):
        if file is None:
            continue
        write_file(file, form(profiled))
        if not profiled.stacks:
            print_note(f"{file} has no stacks, since the records have none")
