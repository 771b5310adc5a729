"""The commands `runs`, `scripts`, `ready`, `record`, `doctor` and `query`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import loadgo
from loadgo.cli.completed_values import run_completions, script_completions
from loadgo.cli.options import HostOption, SudoOption, TariffOption
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    errors_as_messages,
    print_error,
    print_leftovers,
    print_note,
)
from loadgo.cli.page_output import FileOption, format_option, page_output, wide_text_chars
from loadgo.documents.formats import TableFormat


def runs(
    full: Annotated[bool, typer.Option("--full", help="List all runs, not the last 20 alone.")] = False,
    format: Annotated[TableFormat, format_option("the runs")] = "text",
    output: FileOption = None,
) -> None:
    """Lists the recorded runs, the newest last."""
    with errors_as_messages():
        from loadgo.records.runs import runs_folder

        page = page_output(format, output, "runs.html")
        recorded = loadgo.runs()
        if not recorded:
            print_note(f"there are no runs in {runs_folder().absolute()} yet: make one with `loadgo run typical-user`")
        if recorded or format != "text":
            page.show(recorded, full=full)


def scripts(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", autocompletion=script_completions, help="A bundled script, or a script file's path."
        ),
    ] = None,
    format: Annotated[TableFormat, format_option("the scripts")] = "text",
    output: FileOption = None,
) -> None:
    """Lists the scripts that come with loadgo, or prints one as a start for your own."""
    with errors_as_messages():
        from loadgo.running.scripts import script_text
        from loadgo.running.scripts import scripts as bundled_scripts

        if name is not None and format != "text":
            raise ValueError(f"a script is TOML: leave --format {format} out, or the name")
        page = page_output(format, output, "scripts.html")
        if name is None:
            page.show(bundled_scripts())
        else:
            page.write(script_text(name))


def ready(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="The command and its arguments; write it after --.")
    ],
    runs: Annotated[
        int, typer.Option("-n", min=1, metavar="RUNS", help="Run it this often, for medians and intervals.")
    ] = 1,
    cold: Annotated[
        bool,
        typer.Option(
            "--cold",
            help="Run it three times: after its pages are dropped from memory, right after that, and once more.",
        ),
    ] = False,
    quiet_output: Annotated[
        bool, typer.Option("--quiet-output", help="Discard the output and the errors of the command itself.")
    ] = False,
    tariff: TariffOption = "default",
    on: HostOption = "here",
    format: Annotated[TableFormat, format_option("each figure over the runs")] = "text",
    output: FileOption = None,
) -> None:
    """Runs COMMAND and prints what it used: time, faults, waits, memory, cost. Exits as COMMAND does."""
    with errors_as_messages():
        from loadgo.running.command_meter import NotRun

        page = page_output(format, output, "ready.html", beside_command=True)
        try:
            message = loadgo.ready(command, runs=runs, cold=cold, quiet=quiet_output, tariff=tariff, on=on)
        except NotRun as refusal:
            print_error(str(refusal))
            print_leftovers(getattr(refusal, "__notes__", ()))
            raise typer.Exit(refusal.status) from None
        # The document is imported only here: a command with less memory than loadgo cannot be measured.
        page.write(message.report(format))
        print_leftovers(message.left_behind)
        raise typer.Exit(message.status)


def record(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The script that is written.")],
    shell: Annotated[str | None, typer.Option(help="The command whose session is recorded; $SHELL by default.")] = None,
    from_cast: Annotated[
        str | None,
        typer.Option(help="Make the script of this asciicast file (version 2 or 3; - is the input) instead."),
    ] = None,
    cast: Annotated[
        Path | None, typer.Option(help="Keep the session as an asciicast file too, without secrets.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Records a session at a real shell as a script, with its think times and its typing rate."""
    with errors_as_messages():
        from loadgo.running.record import closing_message, opening_message

        if from_cast is None:
            print_note(opening_message(path, shell))
        print_note(closing_message(loadgo.record(path, shell=shell, from_cast=from_cast, cast=cast, force=force)))


def doctor(
    on: HostOption = "here",
    sudo: SudoOption = False,
    full: Annotated[bool, typer.Option("--full", help="Say of each ability how this host has it.")] = False,
    format: Annotated[TableFormat, format_option("the abilities")] = "text",
    output: FileOption = None,
) -> None:
    """Says what cannot be measured or controlled on a host, why, and the remedy; then what can be."""
    with errors_as_messages():
        page = page_output(format, output, "doctor.html")
        abilities = loadgo.doctor(on=on, sudo=sudo)
        page.show(abilities, full=full, width=wide_text_chars())
        raise typer.Exit(STATUS_BAD_FINDING if abilities.unreached else STATUS_GOOD)


def query(
    sql: Annotated[
        str,
        typer.Argument(metavar="SQL", help="Such as 'SELECT command, count(*) FROM interactions GROUP BY command'."),
    ],
    run_name: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            autocompletion=run_completions,
            help="The run: its folder, its id, or last, the newest of `loadgo runs` (the default).",
        ),
    ] = None,
    run: Annotated[str | None, typer.Option(metavar="RUN", help="The same as an option.")] = None,
    allow_files: Annotated[
        bool, typer.Option("--allow-files", help="Let the query read other files and addresses too, by read_csv(…).")
    ] = False,
    format: Annotated[TableFormat, format_option("the rows of the answer")] = "text",
    output: FileOption = None,
) -> None:
    """Answers a question in SQL from the tables of a run."""
    with errors_as_messages():
        if run_name is not None and run is not None:
            raise ValueError(f"name one run: {run_name} or --run {run}")
        from loadgo.reporting.lists.lists import query_presentation

        page, name = page_output(format, output, "query.html"), run_name or run or "last"
        answer, warnings = loadgo.query(sql, run=name, allow_files=allow_files), _warnings_of(name)
        page.write(query_presentation(answer, warnings).report(format))
        for warning in warnings:
            print_error(warning)


def _warnings_of(name: str) -> list[str]:
    """The warnings of the run called `name`, or one that says why they could not be judged."""
    from loadgo.errors import error_in_words
    from loadgo.measures.run_warnings import facts_of, run_warnings
    from loadgo.records.phases import stretch_of
    from loadgo.records.tables import tables

    try:
        rows = tables(name)
        return run_warnings(facts_of(rows, stretch_of(rows)))
    except Exception as error:
        # The answer does not need the warnings, and a run that breaks their computation is one to be asked.
        return [
            f"The run's warnings could not be judged ({error_in_words(error)}): whether the run is good is not known."
        ]
