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
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A value of the machine's file, changed: processors.speed=2, memory.frames=512. May be given again.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(help="Go on until there is enough: 'interactions=1e6', 'precision(p90)=2%', or both with a comma."),
]
