"""The command `profile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from loadgo.cli.files import write_file
from loadgo.cli.options import HostsOption, SudoOption
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
from loadgo.hosts.address import HERE_NAME

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
    hz: Annotated[
        int | None, typer.Option(min=1, max=20_000, help="Samples a second of each busy processor; by default 1000.")
    ] = None,
    on: HostsOption = "here",
    sudo: SudoOption = False,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Print the profile of this run instead: a folder, its id, or last (the newest of `loadgo runs`).",
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --of a run on several hosts: the profile of this one.")
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
        from loadgo.profiling.profile import DEFAULT_CLOCK_HZ, DEFAULT_DURATION_S
        from loadgo.profiling.profile import profile as take_profile
        from loadgo.profiling.speedscope import speedscope as as_speedscope
        from loadgo.running.command_meter import NotRun

        if of is None and not command and duration is None:
            print_note(f"profiling {'this host' if on == HERE_NAME else on} for {DEFAULT_DURATION_S:g} s")
        if of is not None and (command or duration is not None):
            raise ValueError("--of reads an existing run: leave COMMAND and --for out")
        if host is not None and of is None:
            raise ValueError("--host is for an existing run on several hosts: name it with --of")
        _check_host(on, command, of, hz, sudo=sudo)
        page = page_output(format, output, "profile.html", beside_command=bool(command))
        check_files({"--folded": folded, "--speedscope": speedscope, "--pprof": pprof}, {"-o": page.path})
        try:
            if on == HERE_NAME:
                profiled = take_profile(command or (), duration=duration, hz=hz or DEFAULT_CLOCK_HZ, of=of, host=host)
            else:
                profiled = _profile_other_host(on, duration, sudo=sudo)
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


def _check_host(on: str, command: Sequence[str] | None, of: str | None, hz: int | None, *, sudo: bool) -> None:
    """Raises `ValueError` for what the profile of this host, or of another, does not have."""
    from loadgo.hosts.address import parse_host
    from loadgo.hosts.fleet import is_fleet

    if not is_fleet(on) and parse_host(on) is None:
        if sudo:
            raise ValueError("--sudo is for another host: name one with --on")
        return
    if command:
        raise ValueError("--on profiles another host as a whole: run `loadgo profile -- COMMAND` on that host")
    if of is not None:
        raise ValueError("--of reads an existing run: leave --on out")
    if hz is not None:
        raise ValueError("--on has the clock of the meters, 1000 samples a second: leave --hz out")


def _profile_other_host(on: str, duration: str | None, *, sudo: bool) -> Profile:
    """The profile of another host, from the cheap meters that its agent runs, with their profile.

    Raises what `loadgo.meter` raises.
    """
    from loadgo.metering.meter import meter
    from loadgo.profiling.profile import DEFAULT_DURATION_S, INTERRUPTED_STATUS, profile_of

    with TemporaryDirectory(prefix="loadgo-profile-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "host"
        metered = meter(on=on, sudo=sudo, duration=duration or DEFAULT_DURATION_S, meters="cheap,profile", out=folder)
        profiled = profile_of(folder)
    status = INTERRUPTED_STATUS if metered.outcome == "stopped" else 0
    return replace(profiled, of=on, notes=(*profiled.notes, *metered.notes), status=status)


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
