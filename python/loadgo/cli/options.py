"""What several commands ask for in the same words: formats, tariffs, where a report goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Format = Literal["text", "html", "json", "csv", "md", "svg", "png"]
FORMAT_HELP = "How the report is written."

Tariff = Annotated[
    str,
    typer.Option(
        help="What things cost: NAME, NAME:SHIFT, or a file FILE.toml; machine, or machine:SHIFT, is a machine's own."
    ),
]
Vocabulary = Annotated[
    Literal["today", "1969", "1973"],
    typer.Option(help="Total time in the words of today, of March 1969, or of May 1973."),
]
By = Annotated[
    Literal["command", "user"] | None,
    typer.Option(help="Faults and primitives of each command, or of each user, too."),
]
Top = Annotated[int | None, typer.Option(min=1, metavar="N", help="Rows of a table that has many.")]
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
On = Annotated[
    str,
    typer.Option(
        metavar="SYSTEM",
        help="The system that users are logged in to: here, this host; a simulated machine's name "
        "(see loadgo machines), or the path of a machine file.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A value of the machine's file, changed: processors.speed=2, memory.frames=512. May be given again.",
    ),
]
Draws = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Of a machine that loadgo fit made: run it N times more with parameters drawn from what the fit is unsure "
        "of, so that the prediction has an interval; 20 when nothing is said, 0 for none.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(help="Go on until there is enough: 'interactions=1e6', 'precision(p90)=2%', or both with a comma."),
]
