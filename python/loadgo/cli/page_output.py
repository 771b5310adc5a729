"""The options `--format` and `--output` of the commands that print a document, and its output."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from loadgo.cli.output import check_writable, print_note, print_output, wants_color, write_file

PageFormat = Literal["text", "html", "json", "md"]
ListFormat = Literal["text", "html", "json", "csv", "md"]
FormatOption = Annotated[PageFormat, typer.Option(help="The output's format.")]
ListFormatOption = Annotated[ListFormat, typer.Option(help="The output's format.")]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write; - is the standard output. HTML goes into the current folder by default.",
    ),
]


@dataclass(frozen=True)
class PageOutput:
    """Where a document goes, and in which format."""

    format: Any
    """A format that the command offers."""
    path: Path | None
    """The file; None is the standard output."""
    to_stderr: bool = False
    """Whether a document without a file goes to the standard error instead."""

    def show(self, render: Callable[..., str], value: object, **options: object) -> None:
        """Renders the result of a command, and writes it."""
        self.write(render(value, self.format, color=wants_color(), **options))

    def write(self, content: str) -> None:
        """Writes a document. If the file cannot be written after all, anything but HTML goes to the standard output."""
        if self.path is None:
            if self.to_stderr:
                sys.stderr.write(content)
            else:
                print_output(content)
            return
        try:
            write_file(self.path, content)
        except OSError:
            if self.format != "html":
                print_output(content)
            raise
        print_note(f"the output is in {self.path}")


def page_output(format: str, output: Path | None, default_name: str, *, beside_command: bool = False) -> PageOutput:
    """The place for a document: `output`, or by default the standard output, and for HTML the file `default_name`.

    With `beside_command`, text goes to the standard error, since a metered command writes to the standard output.
    Raises `ValueError` with the remedy if the file cannot be written.
    """
    path = Path(default_name) if output is None and format == "html" else output
    path = None if path is None or str(path) == "-" else path
    check_writable(path)
    return PageOutput(format, path, to_stderr=beside_command and output is None and format == "text")


def wide_text_chars() -> int:
    """Width of a text with long words and names: the terminal's, but at least 80 and at most 160 characters."""
    return min(max(shutil.get_terminal_size((120, 24)).columns, 80), 160)
