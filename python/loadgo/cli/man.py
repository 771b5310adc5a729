"""The command `man`: the manual pages, written into a folder for man(1)."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.files import write_file
from loadgo.cli.output import errors_as_messages, print_note


def _folder(text: str) -> Path:
    """The folder that was named. An empty text, such as that of a variable that is not set, is refused."""
    if not text:
        raise typer.BadParameter("it is empty: name a folder, or . for the current one")
    return Path(text)


def man(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", parser=_folder, help="The folder of the pages, such as ~/.local/share/man/man1."),
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
            remedy = "make room there, or name another folder" if _is_full(error) else "name a new or empty folder"
            raise Refused(f"{error_in_words(error)}: {remedy}, such as ~/.local/share/man/man1") from error
        # man(1) takes a name without a slash for a page that it searches for.
        path = str(folder / "loadgo.1")
        print_note(f"{len(pages)} manual pages are in {folder}: man {path if '/' in path else f'./{path}'}")


def _is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
