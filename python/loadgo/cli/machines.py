"""The commands for simulated machines: which there are, one under its own load, and the published ones again."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer

from loadgo.cli.options import Set
from loadgo.cli.output import BAD, GOOD, note, told
from loadgo.cli.page_output import FileOption, FormatOption, ListFormatOption, page_output

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="A bundled machine, or a machine file's path.")]


def machines(name: Name = None, set: Set = None, format: ListFormatOption = "text", output: FileOption = None) -> None:
    """Lists the machines that come with loadgo, or prints one: a file to begin one's own with."""
    with told():
        from loadgo.cli.lists import machine_list
        from loadgo.documents.listing import render_listing
        from loadgo.running.machines import machine_text

        if name is not None and format != "text":
            raise ValueError(f"a machine file is TOML: leave --format {format} out, or the name")
        page = page_output(format, output, "machines.html")
        page.write(render_listing(machine_list(), format) if name is None else machine_text(name, set or ()))


def simulate(
    machine: Annotated[str, typer.Argument(metavar="MACHINE", help="A bundled machine, or a machine file's path.")],
    users: Annotated[int | None, typer.Option(help="So many users instead of those in the file.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help="Go on until 'interactions=1e6', 'time=1h', or 'precision(p90)=2%'; commas between several."),
    ] = None,
    streams: Annotated[int, typer.Option(min=1, help="Independent runs, each on a processor of its own.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed: the same figures, to the last digit.")] = 1,
    set: Set = None,
    format: FormatOption = "text",
    output: FileOption = None,
) -> None:
    """Simulates MACHINE under its own load, without a script: throughput, response times, queues, with intervals."""
    with told():
        from loadgo.reporting.simulation import render_simulation
        from loadgo.running.simulation import DEFAULT_UNTIL
        from loadgo.running.simulation import simulate as simulated

        page = page_output(format, output, "simulate.html")
        made = simulated(machine, users=users, until=until or DEFAULT_UNTIL, streams=streams, seed=seed, set=set or ())
        page.show(render_simulation, made)
        good = made.end != "most" and (made.little is None or made.little.verdict != "broken")
        raise typer.Exit(GOOD if good else BAD)


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A document; all of them when none is named.")
    ] = None,
    format: Annotated[Literal["text", "html", "json", "csv", "md"], typer.Option(help="How it is written.")] = "text",
    output: FileOption = None,
    here: Annotated[
        bool, typer.Option("--here", help="Make the transfers of rfc-392 on this host too: its rows under the printed.")
    ] = False,
    tariff: Annotated[str, typer.Option(help="With --here: what this host's processor and network cost.")] = "cloud",
) -> None:
    """Runs the published measurements again: every printed figure beside ours; exits with 1 when a prediction fails."""
    with told():
        from loadgo.reproduction.render import render_reproduction
        from loadgo.reproduction.reproduce import reproduce as reproduced

        page = page_output(format, output, "reproduce.html")
        from loadgo.transfers.prices import prices

        priced = prices(tariff, processors=os.cpu_count() or 1) if here else None
        made = reproduced(name, here=priced, progress=note)
        page.show(render_reproduction, made)
        raise typer.Exit(BAD if made.bad else GOOD)
