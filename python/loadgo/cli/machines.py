"""The commands for simulated machines: `machines`, `simulate` and `reproduce`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from loadgo.cli.completed_values import machine_completions
from loadgo.cli.options import SetOption, WorkersOption
from loadgo.cli.output import STATUS_BAD_FINDING, STATUS_GOOD, errors_as_messages, print_note
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import ReportFormat, TableFormat

MachineArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", autocompletion=machine_completions, help="A bundled machine, or a machine file's path."
    ),
]


def machines(
    name: MachineArgument = None,
    set: SetOption = None,
    format: Annotated[TableFormat, format_option("the machines")] = "text",
    output: FileOption = None,
) -> None:
    """Lists the machines that come with loadgo, or prints the file of one as a start for your own."""
    with errors_as_messages():
        from loadgo.running.machines import machine_text
        from loadgo.running.machines import machines as bundled_machines

        if name is not None and format != "text":
            raise ValueError(f"a machine file is TOML: leave --format {format} out, or the name")
        page = page_output(format, output, "machines.html")
        if name is None:
            page.show(bundled_machines())
        else:
            page.write(machine_text(name, set or ()))


def simulate(
    machine: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE", autocompletion=machine_completions, help="A bundled machine, or a machine file's path."
        ),
    ],
    users: Annotated[int | None, typer.Option(help="Number of users instead of that in the file.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help="Go on until 'interactions=1e6', 'time=1h', or 'precision(p90)=2%'; commas between several."),
    ] = None,
    streams: Annotated[int, typer.Option(min=1, help="Number of independent runs, each on its own processor.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same figures.")] = 1,
    set: SetOption = None,
    format: Annotated[TableFormat, format_option("the response times of all users and of each class")] = "text",
    output: FileOption = None,
) -> None:
    """Simulates MACHINE under its own load, without a script: throughput, response times, queues, with intervals."""
    with errors_as_messages():
        from loadgo.running.simulation import DEFAULT_UNTIL
        from loadgo.running.simulation import simulate as run_simulation

        page = page_output(format, output, "simulate.html")
        simulation = run_simulation(
            machine, users=users, until=until or DEFAULT_UNTIL, streams=streams, seed=seed, set=set or ()
        )
        page.show(simulation)
        page.print_warnings(simulation.fit_warnings)
        good = simulation.end != "most" and (simulation.little is None or simulation.little.verdict != "broken")
        raise typer.Exit(STATUS_GOOD if good else STATUS_BAD_FINDING)


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A document; by default all documents. Or a file of your own, before.toml, whose figures are checked.",
        ),
    ] = None,
    format: Annotated[
        ReportFormat, format_option("every printed figure with ours", "the first chart of the document")
    ] = "text",
    output: FileOption = None,
    workers: WorkersOption = None,
    here: Annotated[
        bool,
        typer.Option(
            "--here", help="Make the transfers of rfc-392 on this host too, and print them under the document's."
        ),
    ] = False,
    tariff: Annotated[str, typer.Option(help="With --here: what this host's processor and network cost.")] = "cloud",
) -> None:
    """Runs the published measurements again: every printed figure beside ours.

    Exits with 1 when a figure is outside its tolerance and no cause is named.
    """
    with errors_as_messages():
        from loadgo.reproduction.reproduce import reproduce as run_documents
        from loadgo.transfers.prices import prices

        page = page_output(format, output, "reproduce.html")
        unit_prices = prices(tariff, processors=os.cpu_count() or 1) if here else None
        reproduction = run_documents(name, here=unit_prices, workers=workers, progress=print_note)
        page.show(reproduction)
        raise typer.Exit(STATUS_BAD_FINDING if reproduction.bad else STATUS_GOOD)
