"""The options `--format` and `--output` of the commands that print a document, and its output."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from loadgo.cli.files import write_file
from loadgo.cli.output import (
    FILE_FORMATS,
    check_files,
    check_writable,
    outputs_are_one,
    print_beside_command,
    print_error,
    print_note,
    print_output,
    wants_color,
)
from loadgo.documents.formats import check_drawable
from loadgo.documents.result import Result
from loadgo.errors import BadArgument


def format_option(csv: str, chart: str = "") -> Any:
    """The option `--format`, whose help says what the main table `csv` has, and what the main `chart` shows."""
    picture = f"; svg, png: {chart}" if chart else ""
    return typer.Option("--format", help=f"The output's format. csv: {csv}{picture}.")


FileOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write; - is the standard output. HTML and pictures go into the current folder by default.",
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

    def show(self, result: Result, **choices: Any) -> None:
        """Renders the result of a command, and writes it."""
        self.write(result.report(self.format, color=wants_color(), **choices))

    @property
    def is_read_beside_errors(self) -> bool:
        """Whether the document is a text on the terminal, pipe or file that has the standard error, too."""
        return self.format == "text" and self.path is None and outputs_are_one()

    def print_warnings(self, warnings: Iterable[str]) -> None:
        """Prints warnings of the document as errors, unless the document stands beside the errors."""
        for text in () if self.is_read_beside_errors else warnings:
            print_error(text)

    def write(self, content: str | bytes) -> None:
        """Writes a document. If the file cannot be written after all, a text goes to the standard output."""
        if self.path is None:
            if self.to_stderr:
                print_beside_command(str(content))
            else:
                print_output(content)
            return
        try:
            write_file(self.path, content)
        except OSError:
            if self.format not in FILE_FORMATS:
                print_output(content)
            raise
        print_note(f"the output is in {self.path}")


def page_output(
    format: str, output: Path | None, default_name: str, *, beside_command: bool = False, option: str = "-o"
) -> PageOutput:
    """The place for a document: `output`, which `option` names, or by default the standard output.

    For HTML and pictures the default is a file called `default_name`, with the ending of the format.
    With `beside_command`, text goes to the standard error, since a metered command writes to the standard output.
    Raises `ValueError` with the remedy if the file cannot be written, and `Refused` if the picture cannot be drawn.
    """
    path = Path(default_name).with_suffix(f".{format}") if output is None and format in FILE_FORMATS else output
    path = None if path is None or str(path) == "-" else path
    ending = "" if path is None else path.suffix.removeprefix(".").lower()
    if ending in FILE_FORMATS and ending != format:
        raise BadArgument(f"{path} is {ending} by its name, and the format is {format}: add `--format {ending}`")
    check_drawable(format)
    check_writable(path, option)
    return PageOutput(format, path, to_stderr=beside_command and output is None and format == "text")


def made_file_and_page(
    output: Path | None, default: str, format: str, report: Path | None, default_page: str
) -> tuple[Path | None, PageOutput | None]:
    """The place of a file that a command makes, and that of the report on it, which `--report` names.

    The file is `default` without an `output`, and None for the standard output. Beside that there is no report unless
    it is named.
    Raises what `page_output` raises, and `ValueError` if the two are one file.
    """
    to_stdout = output is not None and str(output) == "-"
    made_file = None if to_stdout else output or Path(default)
    page = None if to_stdout and report is None else page_output(format, report, default_page, option="--report")
    check_files({"-o": made_file}, {"--report": None if page is None else page.path})
    return made_file, page


def wide_text_chars() -> int:
    """Width of a text with long words and names: the terminal's, but at least 80 and at most 160 characters."""
    return min(max(shutil.get_terminal_size((120, 24)).columns, 80), 160)
