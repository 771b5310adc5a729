"""The command `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import loadgo
from loadgo.cli.output import STATUS_BAD_FINDING, STATUS_GOOD, errors_as_messages, print_error, print_note
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import TableFormat


def verify(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's folder, its id, or last: the newest of `loadgo runs`.")
    ] = "last",
    full: Annotated[
        bool,
        typer.Option("--full", help="Add the disclosure sheet and the hashes to the text; other formats have them."),
    ] = False,
    sign: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY",
            help="Sign a run that holds with this key of ssh: SHA256SUMS and SHA256SUMS.sig in its folder.",
        ),
    ] = None,
    signers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The allowed signers, as ssh-keygen -Y has them: one must have signed the run."
        ),
    ] = None,
    format: Annotated[TableFormat, format_option("each check with its verdict")] = "text",
    output: FileOption = None,
) -> None:
    """Checks a run as a stranger would: files, records, rules, signature. Exits with 1 if it does not hold."""
    with errors_as_messages():
        page = page_output(format, output, "verification.html")
        verification = loadgo.verify(run, sign_with=sign, signers=signers)
        page.show(verification, full=full or format != "text")
        if sign is not None and verification.holds:
            print_note(f"the signature is in {verification.folder / 'SHA256SUMS.sig'}")
        elif sign is not None:
            print_error("the run does not hold, and is not signed")
        raise typer.Exit(STATUS_GOOD if verification.holds else STATUS_BAD_FINDING)
