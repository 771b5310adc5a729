"""The commands beside `run` and `report`: lists, single commands, recordings, questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import loadgo
from loadgo.cli.options import Tariff
from loadgo.cli.output import complain, note, say, told
from loadgo.cli.page_output import FileOption, FormatOption, ListFormatOption, page_output, wide_text_chars


def runs(format: ListFormatOption = "text", output: FileOption = None) -> None:
    """Lists the runs that were recorded, the newest last."""
    with told():
        from loadgo.cli.lists import run_list
        from loadgo.documents.listing import render_listing

        page = page_output(format, output, "runs.html")
        recorded = run_list(loadgo.runs())
        if not recorded.rows:
            note("there are no runs yet: make one with `loadgo run typical-user`")
        if recorded.rows or format != "text":
            page.write(render_listing(recorded, format))


def ready(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="The command and its arguments; write it after --.")
    ],
    runs: Annotated[
        int, typer.Option("-n", min=1, metavar="RUNS", help="Run it this often, for medians and intervals.")
    ] = 1,
    cold: Annotated[
        bool,
        typer.Option("--cold", help="Drop its pages first; runs it three times: cold first, warm first, following."),
    ] = False,
    quiet_output: Annotated[
        bool, typer.Option("--quiet-output", help="What the command itself prints and complains of is lost.")
    ] = False,
    tariff: Tariff = "default",
    format: FormatOption = "text",
    output: FileOption = None,
) -> None:
    """Runs COMMAND and tells what it used: time, faults, waits, memory, cost. Exits as COMMAND does."""
    with told():
        from loadgo.running.command_meter import NotRun

        page = page_output(format, output, "ready.html", beside_command=True)
        try:
            message = loadgo.ready(command, runs=runs, cold=cold, quiet=quiet_output, tariff=tariff)
        except NotRun as refusal:
            complain(str(refusal))
            raise typer.Exit(refusal.status) from None
        # Imported after the runs: a command with less memory than loadgo cannot be measured.
        from loadgo.ready_message.document import render_ready

        page.write(render_ready(message, format))
        raise typer.Exit(message.status)


def record(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The script that is written.")],
    shell: Annotated[str | None, typer.Option(help="The command whose session is recorded; $SHELL by default.")] = None,
    from_cast: Annotated[
        str | None,
        typer.Option(help="Make the script of this asciicast file (version 2 or 3; - is the input) instead."),
    ] = None,
    cast: Annotated[
        Path | None, typer.Option(help="Keep the session as an asciicast file too, secrets left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Makes a script of a session at a real shell, with think times and typing rate apart from response times."""
    with told():
        from loadgo.running.record import closing_message, opening_message

        if from_cast is None:
            note(opening_message(path, shell))
        note(closing_message(loadgo.record(path, shell=shell, from_cast=from_cast, cast=cast, force=force)))


def doctor(format: ListFormatOption = "text", output: FileOption = None) -> None:
    """Tells what can be measured and controlled on this host, and why not the rest."""
    with told():
        from loadgo.cli.lists import ability_list
        from loadgo.documents.listing import render_listing

        page = page_output(format, output, "doctor.html")
        page.write(render_listing(ability_list(loadgo.doctor()), format, width=wide_text_chars()))


def query(
    sql: Annotated[
        str,
        typer.Argument(metavar="SQL", help="Such as 'SELECT command, count(*) FROM interactions GROUP BY command'."),
    ],
    asked: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Whose tables: a run's folder, its id, or last (the default).")
    ] = None,
    run: Annotated[str | None, typer.Option(metavar="RUN", help="The same as an option.")] = None,
    format: Annotated[Literal["text", "csv", "json"], typer.Option(help="How the answer is written.")] = "text",
) -> None:
    """Asks the tables of a run a question in SQL."""
    with told():
        if asked is not None and run is not None:
            raise ValueError(f"one run is asked: {asked} or --run {run}")
        from loadgo.documents.listing import listing
        from loadgo.records.query import csv_of

        frame = loadgo.query(sql, run=asked or run or "last")
        if format == "csv":
            say(csv_of(frame))
        elif format == "json":
            say(frame.write_json() + "\n")
        else:
            numbers = {place for place, kind in enumerate(frame.dtypes) if kind.is_numeric()}
            cells = [["" if value is None else str(value) for value in row] for row in frame.iter_rows()]
            say(listing(frame.columns, cells, figures=numbers))
