"""The command `man`: the manual pages, written into a folder for man(1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.output import errors_as_messages, print_note


def man(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of the pages, such as ~/.local/share/man/man1.")
    ],
) -> None:
    """Writes the manual pages into a folder: loadgo.1, and a page for each command."""
    with errors_as_messages():
        from loadgo.cli.manual_pages import manual_pages

        folder.mkdir(parents=True, exist_ok=True)
        pages = manual_pages()
        for name, content in pages.items():
            (folder / name).write_text(content, encoding="utf-8")
        print_note(f"{len(pages)} manual pages are in {folder}: man {folder / 'loadgo.1'}")
