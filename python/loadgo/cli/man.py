"""The command `man`: the manual pages, written into a folder for man(1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.files import write_file
from loadgo.cli.output import errors_as_messages, print_note


def man(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of the pages, such as ~/.local/share/man/man1.")
    ],
) -> None:
    """Writes the manual pages into a folder: loadgo.1, and a page for each command."""
    with errors_as_messages():
        from loadgo.cli.manual_pages import manual_pages
        from loadgo.errors import Refused, error_in_words

        pages = manual_pages()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in pages.items():
                write_file(folder / name, content)
        except OSError as error:
            remedy = "make room there, or name another folder, such as ~/.local/share/man/man1"
            raise Refused(f"{error_in_words(error)}: {remedy}") from error
        print_note(f"{len(pages)} manual pages are in {folder}: man {folder / 'loadgo.1'}")
