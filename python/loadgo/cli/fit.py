"""The command that makes a machine of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.output import BAD, GOOD, complain, in_colour, note, say, told, try_file

Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]…", help="Runs of one script on one system: folders or ids; the last when none is named."
    ),
]


def fit(
    runs: Runs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The machine file to write; - is the standard output, without the report."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The machine's title.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Fits a machine to runs: a machine file that predicts other numbers of users, processors, devices."""
    with told():
        from loadgo.documents.as_text import text_document
        from loadgo.fitting.document import fit_document
        from loadgo.fitting.fit import fit as fitted

        if output is not None and str(output) == "-":
            made = fitted(*(runs or ("last",)), name=name)
            say(made.text)
        else:
            place = output or Path("machine.toml")
            try_file(place)
            made = fitted(*(runs or ("last",)), output=place, name=name, force=force)
            say(text_document(fit_document(made), color=in_colour()))
            note(f"the machine is in {made.path}")
        for warning in made.warnings:
            complain(warning)
        raise typer.Exit(BAD if made.warnings else GOOD)
