"""The command `schema`: the JSON Schemas of `--format json` and of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.completed_values import schema_completions
from loadgo.cli.output import errors_as_messages
from loadgo.cli.page_output import page_output


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="FORMAT",
            autocompletion=schema_completions,
            help="A format, a command, or a kind of file; by default all are listed.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; - is the standard output.")
    ] = None,
) -> None:
    """Prints the JSON Schema of a file, or of what a command prints with --format json, or lists all of them."""
    with errors_as_messages():
        from loadgo.schemas.formats import schema_text

        page_output("json", output, "schema.json").write(_listed() if name is None else schema_text(name))


def _listed() -> str:
    """The kinds of files with the commands that read them, and the formats with the commands that print them."""
    from loadgo.documents.listing import listing
    from loadgo.schemas.formats import FILE_FORMATS, JSON_FORMATS

    files = [(known.name, f"{', '.join(known.commands)} (read)", known.about) for known in FILE_FORMATS]
    printed = [(known.name, ", ".join(known.commands), known.about) for known in JSON_FORMATS]
    return listing(("format", "printed by", "what it is"), [*files, *printed])
