"""The command line: what was typed becomes a call of the function of the same name, and its answer is printed.

Only here is anything printed, are arguments read, does the program exit: 0 all is well, 1 the finding is bad (a
threshold missed, records lost, the driver was the bottleneck), 2 it could not run, 130 it was interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import loadgo

if TYPE_CHECKING:
    from rich.console import Console

GOOD, BAD, COULD_NOT, INTERRUPTED = 0, 1, 2, 130

Format = Literal["text", "html", "json", "csv", "md", "svg", "png"]
DRAWN = ("html", "svg", "png")

FIRST_STEPS = """\
loadgo loads this host with users who type, and tells how many it holds, what each interaction costs, and where the
time goes. A first command that works:

    loadgo run typical-user --users 20 --think 'uniform(0.5s, 3s)'

It takes about a minute. Then:

    loadgo report --format html      the same run as a page with charts
    loadgo doctor                    what can be measured on this host, and why not the rest
    loadgo --help                    all commands
"""

app = typer.Typer(
    name="loadgo",
    help="Loads a machine with users who type: how many it holds, what each interaction costs, where the time goes.",
    epilog="Exit status: 0 all is well; 1 the finding is bad; 2 it could not run; 130 it was interrupted.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Tariff = Annotated[str, typer.Option(help="What things cost: NAME, NAME:SHIFT, or a file FILE.toml.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no report; only the run's folder is printed.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write; - is the standard output. HTML and pictures go beside the run by default.",
    ),
]
FORMAT_HELP = "How the report is written."


def main() -> None:
    """Runs the command line on this process's arguments, and exits."""
    app(prog_name="loadgo")


@app.callback(invoke_without_command=True)
def _first(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        _print(f"loadgo {loadgo.__version__}\n")
    elif context.invoked_subcommand is None:
        _print(FIRST_STEPS)


@app.command()
def run(
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="A bundled script's name, or the path of one (a TOML file).")
    ],
    users: Annotated[int | None, typer.Option(help="How many users; 1 when nothing is said.")] = None,
    passes: Annotated[
        int | None, typer.Option(help="How often each user types the script; the script says it by default.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option("--for", help="Type for so long from when the load is whole (see --warm-up): 90s, 10min."),
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
        typer.Option(help="Open load: users log in at this rate, such as 0.5/s, and leave when they are done."),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(help="Leave this time out of the figures; by default until everybody has typed a line."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed: the same users, to the keystroke.")] = 1,
    on: Annotated[str, typer.Option(help="The system that users are logged in to: here, this host.")] = "here",
    limit: Annotated[
        str | None, typer.Option(help="What the users may have, all together: memory=256M,cpus=1,swap=zram:1G.")
    ] = None,
    usage_every: Annotated[
        int | None,
        typer.Option(min=1, help="Read usage for every n-th interaction of a user only; the driver works less."),
    ] = None,
    fifo: Annotated[bool, typer.Option(help="Drive with real-time priority, where that is permitted.")] = True,
    processor: Annotated[int | None, typer.Option(min=0, help="Drive on this processor, and on no other.")] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 1 when this holds: 'p90(edit) > 1s', 'errors > 0'. May be given again."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
    tariff: Tariff = "default",
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "text",
    quiet: Quiet = False,
) -> None:
    """Loads the system with users who type SCRIPT, and prints the report."""
    with _told():
        from loadgo.progress import bar
        from loadgo.run import Driver

        with bar(_console(), shown=not quiet) as progress:
            made = loadgo.run(
                script,
                on=on,
                users=users,
                passes=passes,
                duration=duration,
                think=think,
                typing=typing,
                arrivals=arrivals,
                warm_up=warm_up,
                seed=seed,
                limit=limit,
                usage_every=usage_every,
                driver=Driver(fifo=fifo, processor=processor),
                tariff=tariff,
                fail_if=fail_if or (),
                out=out,
                command=["loadgo", *sys.argv[1:]],
                progress=progress,
            )
        if quiet:
            _print(f"{made.folder}\n")
        else:
            _deliver(loadgo.report(made, format=format, tariff=tariff, color=_in_colour()), format, made.folder, None)
            _note("\n".join((*made.notes, f"the run is in {made.folder}")))
        _conclude(made)


@app.command()
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its id, or last.")] = "last",
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "text",
    output: Output = None,
    tariff: Tariff = "default",
    phases: Annotated[
        Literal["steady", "all"], typer.Option(help="The steady part of the run, or all of it.")
    ] = "steady",
    target: Annotated[
        str | None, typer.Option(help="The response time that matters: lateness must be small beside it.")
    ] = None,
    chart: Annotated[str | None, typer.Option(help="The picture for svg and png.")] = None,
) -> None:
    """Prints the report of a run that was recorded."""
    with _told():
        from loadgo.asked import span_s
        from loadgo.runs import find_run

        folder = find_run(run)
        seconds = None if target is None else span_s(target)
        content = loadgo.report(
            folder, format=format, tariff=tariff, phases=phases, target=seconds, chart=chart, color=_in_colour()
        )
        _deliver(content, format, folder, output)


@app.command()
def runs() -> None:
    """Lists the runs that were recorded, the newest last."""
    with _told():
        rows = [
            (
                found.id,
                found.name,
                found.system,
                "" if found.users is None else f"{found.users:,}",
                "" if found.interactions is None else f"{found.interactions:,}",
                found.outcome,
            )
            for found in loadgo.runs()
        ]
        if not rows:
            _note("there are no runs yet: make one with `loadgo run typical-user`")
        else:
            _table(["run", "script", "system", "users", "interactions", "outcome"], rows, numbers={3, 4})


@app.command(context_settings={"allow_interspersed_args": False})
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
    format: Annotated[Literal["text", "json"], typer.Option(help="How the message is written.")] = "text",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; by default text goes to stderr, JSON to stdout."),
    ] = None,
) -> None:
    """Runs COMMAND and tells what it used: time, faults, waits, memory, cost. Exits as COMMAND does."""
    with _told():
        from loadgo.command_runs import NotRun
        from loadgo.ready_json import ready_json
        from loadgo.ready_text import ready_text

        try:
            made = loadgo.ready(command, runs=runs, cold=cold, quiet=quiet_output, tariff=tariff)
        except NotRun as refusal:
            _complain(str(refusal))
            raise typer.Exit(refusal.status) from None
        text = ready_json(made) if format == "json" else ready_text(made)
        if output is None and format == "text":
            sys.stderr.write(text)
        elif output is None or str(output) == "-":
            _print(text)
        else:
            output.write_text(text)
        raise typer.Exit(made.status)


@app.command()
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
    with _told():
        from loadgo.record import closing, opening

        if from_cast is None:
            _note(opening(path, shell))
        _note(closing(loadgo.record(path, shell=shell, from_cast=from_cast, cast=cast, force=force)))


@app.command()
def doctor() -> None:
    """Tells what can be measured and controlled on this host, and why not the rest."""
    with _told():
        marks = {"exact": "yes", "estimated": "in part", "absent": "no"}
        rows = []
        for ability in loadgo.doctor():
            remedy = f"remedy: {ability.remedy}" if ability.remedy else ""
            rows.append(
                (ability.name, marks[ability.state], "; ".join(filter(None, (ability.how, ability.why_not, remedy))))
            )
        from loadgo.listing import listing

        _print(listing(["ability", "to be had", "how, why not, and the remedy"], rows, numbers=set()))


@app.command()
def query(
    sql: Annotated[
        str,
        typer.Argument(metavar="SQL", help="Such as 'SELECT command, count(*) FROM interactions GROUP BY command'."),
    ],
    run: Annotated[str, typer.Option(help="Whose tables: a run's folder, its id, or last.")] = "last",
    format: Annotated[Literal["text", "csv", "json"], typer.Option(help="How the answer is written.")] = "text",
) -> None:
    """Asks the tables of a run a question in SQL."""
    with _told():
        frame = loadgo.query(sql, run=run)
        if format == "csv":
            _print(frame.write_csv())
        elif format == "json":
            _print(frame.write_json() + "\n")
        else:
            numbers = {place for place, kind in enumerate(frame.dtypes) if kind.is_numeric()}
            cells = [["" if value is None else str(value) for value in row] for row in frame.iter_rows()]
            _table(frame.columns, cells, numbers=numbers)


def _conclude(made: loadgo.Run) -> None:
    """Says what the conditions came to, and exits as the finding asks."""
    for finding in made.findings:
        if finding.failed:
            _complain(f"failed: {finding.text}")
    if made.outcome == "stopped":
        _complain("the run was stopped before its end; the report is of what was done by then")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(BAD if made.bad else GOOD)


@contextmanager
def _told() -> Iterator[None]:
    """Turns what goes wrong into one message and an exit status; a bug of loadgo's own keeps its traceback."""
    from loadgo.errors import LoadgoError

    try:
        yield
    except BrokenPipeError:
        _abandon_output()
        _complain("nobody reads the output any more")
        raise typer.Exit(COULD_NOT) from None
    except KeyboardInterrupt:
        _complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except (LoadgoError, ValueError, OSError) as error:
        if os.environ.get("LOADGO_TRACEBACK"):
            raise
        _complain(_words_of(error))
        raise typer.Exit(COULD_NOT) from None


def _words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _deliver(content: str | bytes, format: str, folder: Path, output: Path | None) -> None:
    """Writes a report where it was asked for: text to the standard output, pages and pictures into the run's folder."""
    if output is None and format in DRAWN:
        output = folder / f"report.{format}"
    if output is None or str(output) == "-":
        _print(content)
        return
    output.write_bytes(content if isinstance(content, bytes) else content.encode())
    _note(f"the report is in {output}")


def _table(heads: list[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> None:
    """Prints a list of what is copied: as wide as it needs."""
    from loadgo.listing import wide_listing

    _print(wide_listing(heads, rows, numbers))


def _print(content: str | bytes) -> None:
    """Writes to the standard output, at once, so that an error is met here."""
    sys.stdout.buffer.write(content if isinstance(content, bytes) else content.encode())
    sys.stdout.buffer.flush()


def _note(text: str) -> None:
    """Says something beside the output."""
    _console().print(text, style="dim", soft_wrap=True)


def _complain(text: str) -> None:
    """Says what is wrong."""
    _console().print(f"loadgo: {text}", style="red", soft_wrap=True)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def _in_colour() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _abandon_output() -> None:
    """Nothing more can be written; Python must not try when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
