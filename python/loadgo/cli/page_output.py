"""Where a document goes: the options `--format` and `--output` of the commands that print one, and its delivery."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from loadgo.cli.output import in_colour, note, put, say, try_file

PageFormat = Literal["text", "html", "json", "md"]
ListFormat = Literal["text", "html", "json", "csv", "md"]
FormatOption = Annotated[PageFormat, typer.Option(help="How it is written.")]
ListFormatOption = Annotated[ListFormat, typer.Option(help="How it is written.")]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write; - is the standard output. HTML goes into the current folder when nothing is said.",
    ),
]


@dataclass(frozen=True)
class PageOutput:
    """The format that was asked for, and the file; None is the standard output."""

    format: Any
    """One of the command's own formats."""
    place: Path | None
    to_stderr: bool = False
    """Whether a document without a file goes to the standard error."""

    def show(self, render: Callable[..., str], made: object, **options: object) -> None:
        """Renders what a command made, and writes it."""
        self.write(render(made, self.format, color=in_colour(), **options))

    def write(self, content: str) -> None:
        """Writes a document; to the standard output where the file cannot be written after all, unless it is HTML."""
        if self.place is None:
            if self.to_stderr:
                sys.stderr.write(content)
            else:
                say(content)
            return
        try:
            put(self.place, content)
        except OSError:
            if self.format != "html":
                say(content)
            raise
        note(f"it is in {self.place}")


def page_output(format: str, output: Path | None, usual: str, *, beside_command: bool = False) -> PageOutput:
    """Where a document will go: HTML into the file `usual` when no `output` is named.

    Text goes to the standard error if it is shown `beside_command`, whose output has the standard output for itself.
    Checks before the work that the file can be written, and raises `ValueError` with the remedy if it cannot.
    """
    place = Path(usual) if output is None and format == "html" else output
    place = None if place is None or str(place) == "-" else place
    try_file(place)
    return PageOutput(format, place, to_stderr=beside_command and output is None and format == "text")


def wide_text_chars() -> int:
    """Width of a text with long words and names: the terminal's, but at least 80 and at most 160 characters."""
    return min(max(shutil.get_terminal_size((120, 24)).columns, 80), 160)
