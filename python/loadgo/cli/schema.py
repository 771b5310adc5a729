"""The command `schema`: the JSON Schemas of `--format json`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.output import errors_as_messages
from loadgo.cli.page_output import page_output


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="FORMAT", help="A format, or a command; by default all formats are listed.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; - is the standard output.")
    ] = None,
) -> None:
    """Prints the JSON Schema of what a command prints with --format json, or lists the formats."""
    with errors_as_messages():
        from loadgo.schemas.formats import schema_text

        page_output("json", output, "schema.json").write(_listed() if name is None else schema_text(name))


def _listed() -> str:
    """The formats, with the commands that print them."""
    from loadgo.documents.listing import listing
    from loadgo.schemas.formats import JSON_FORMATS

    rows = [(known.name, ", ".join(known.commands), known.about) for known in JSON_FORMATS]
    return listing(("format", "printed by", "what it is"), rows)
