"""The command `observe`, which makes a script from what a host's own users did: from records, or live."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    error_console,
    errors_as_messages,
    print_error,
    print_note,
    print_output,
    try_each,
)
from loadgo.cli.page_output import PageOutput, format_option, made_file_and_page
from loadgo.documents.formats import TableFormat
from loadgo.errors import BadArgument

if TYPE_CHECKING:
    from loadgo.observation.live import WatchState
    from loadgo.observation.results import Observation

_PRIVATE_MASK = 0o077


def observe(
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Process accounting (version 3), a shell history with times, a folder of sudo's I/O logs, or a log of "
            "tlog, auditd or atuin; repeatable.",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="Without records: the time for which this host's sessions are observed (10min, 2h); Ctrl-C ends it.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The script to write, by default observed.toml; - is the standard output, without the report.",
        ),
    ] = None,
    think_from: Annotated[
        list[Path] | None,
        typer.Option(
            "--think-from",
            metavar="FILE",
            help="Records for the think times: a history with times, or a log of sudo or tlog; repeatable.",
        ),
    ] = None,
    users: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Only these people: names of accounts, or numbers.")
    ] = None,
    without_users: Annotated[str | None, typer.Option(metavar="NAME,…", help="Leave these people out.")] = None,
    names: Annotated[
        Literal["all", "none"], typer.Option(help="none: names of programs are hashed with a key that is not kept.")
    ] = "all",
    days: Annotated[
        Literal["all", "workdays", "weekend"],
        typer.Option(help="Of records: only sessions of Monday to Friday, or only those of Saturday and Sunday."),
    ] = "all",
    typed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LINE",
            help="Type this line for a command, in place of a stand-in (git='git status'); repeatable.",
        ),
    ] = None,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures/--no-figures",
            help="Keep what each command used beside the script, in NAME.figures.parquet, for `loadgo likeness`.",
        ),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    format: Annotated[TableFormat, format_option("each command with what it used")] = "text",
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file for the report; HTML goes into observation.html by default."),
    ] = None,
) -> None:
    """Makes a script from what a host's own users did: their commands, think times and classes."""
    with errors_as_messages(), _private_files():
        from loadgo.errors import NotWritten
        from loadgo.observation.observe import observe as observe_users

        script, page = made_file_and_page(output, "observed.toml", format, report, "observation.html")
        chosen, left_out = _listed(users, "--users"), _listed(without_users, "--without-users")
        try:
            with _progress(duration) as show:
                observation = observe_users(
                    *(sources or ()),
                    duration=duration,
                    think_from=think_from or (),
                    output=script,
                    users=chosen,
                    without_users=left_out,
                    names=names,
                    days=days,
                    typed=_typed_lines(typed or ()),
                    figures=figures,
                    force=force,
                    progress=show,
                )
        except NotWritten as refusal:
            if duration is not None:  # nobody can observe these hours again
                print_output(refusal.text)
                print_note("the script is on the standard output instead")
            raise
        try_each(
            lambda: None if page is None else page.show(observation),
            lambda: print_output(observation.text) if script is None else print_note(f"the script is in {script}"),
            lambda: _print_losses(observation, page),
        )
        if observation.is_stopped:
            raise typer.Exit(STATUS_INTERRUPTED)
        raise typer.Exit(STATUS_BAD_FINDING if observation.warnings else STATUS_GOOD)


def _typed_lines(options: Sequence[str]) -> dict[str, str]:
    """The lines of `--typed`, by the names of their commands."""
    lines = {}
    for option in options:
        name, equals, line = option.partition("=")
        if not (name and equals and line.strip()):
            raise BadArgument(f"`--typed {option}` is no name and line: write it as in --typed git='git status'")
        if name in lines:
            raise BadArgument(f"`--typed` is given twice for `{name}`: keep one line")
        lines[name] = line
    return lines


@contextmanager
def _progress(duration: str | None) -> Iterator[Callable[[WatchState], None] | None]:
    """Yields the function that shows how far an observation is; None without one."""
    if duration is None:
        yield None
        return
    from loadgo.cli.progress import LINE_PERIOD_S, changing_line
    from loadgo.cli.progress_words import observing_line
    from loadgo.notation.quantities import span_s

    length_s = span_s(duration, "duration")
    with changing_line(error_console()) as line:
        period_s, next_line_s = (0.0 if line.is_terminal else LINE_PERIOD_S), 0.0

        def show(state: WatchState) -> None:
            nonlocal next_line_s
            if state.elapsed_s >= next_line_s:
                line.write(observing_line(state, length_s, line.width() - 1))
                next_line_s = state.elapsed_s + period_s

        yield show


def _print_losses(observation: Observation, page: PageOutput | None) -> None:
    for warning in () if page is not None and page.is_read_beside_errors else observation.warnings:
        print_error(warning)


def _listed(names: str | None, option: str) -> list[str]:
    """The names in a list with commas. An empty list, such as that of a variable that is not set, is refused."""
    listed = [name.strip() for name in (names or "").split(",") if name.strip()]
    if names is not None and not listed:
        raise ValueError(f"{option} names nobody: name people, or leave the option out")
    return listed


@contextmanager
def _private_files() -> Iterator[None]:
    """Makes each file that is written in the context one that only this user may read."""
    before = os.umask(_PRIVATE_MASK)
    try:
        yield
    finally:
        os.umask(before)
