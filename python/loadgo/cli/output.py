"""What the command line says and how it ends: the standard output, what is said beside it, and the exit status.

Only here and in the commands is anything printed, and does the program exit: 0 all is well, 1 the finding is bad (a
threshold missed, records lost, the driver was the bottleneck), 2 it could not run, 130 it was interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

GOOD, BAD, COULD_NOT, INTERRUPTED = 0, 1, 2, 130

DRAWN = ("html", "svg", "png")


@contextmanager
def told() -> Iterator[None]:
    """Turns what goes wrong into one message and an exit status; a bug of loadgo's own keeps its traceback."""
    from loadgo.errors import LoadgoError

    if sys.stdout is None:
        complain("the standard output is closed: give it somewhere to go, such as >report.txt")
        raise typer.Exit(COULD_NOT)
    try:
        yield
    except BrokenPipeError:
        _abandon_output()
        complain("nobody reads the output any more")
        raise typer.Exit(COULD_NOT) from None
    except KeyboardInterrupt as interrupt:
        complain("interrupted")
        complain_of_leftovers(getattr(interrupt, "__notes__", ()))
        raise typer.Exit(INTERRUPTED) from None
    except (LoadgoError, ValueError, OSError) as error:
        if os.environ.get("LOADGO_TRACEBACK"):
            raise
        complain(_words_of(error))
        complain_of_leftovers(getattr(error, "__notes__", ()))
        raise typer.Exit(COULD_NOT) from None


def _words_of(error: Exception) -> str:
    from loadgo.cli.option_names import in_options
    from loadgo.errors import LoadgoError

    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return in_options(str(error), error.arguments if isinstance(error, LoadgoError) else ())


def deliver(content: str | bytes, format: str, folder: Path, output: Path | None) -> None:
    """Writes a report where it was asked for: text to the standard output, pages and pictures into the run's folder."""
    if output is None and format in DRAWN:
        output = folder / f"report.{format}"
    if output is None or str(output) == "-":
        say(content)
        return
    put(output, content)
    note(f"the report is in {output}")


def put(place: Path, content: str | bytes) -> None:
    """Writes a file; raises `OSError` with its name where that cannot be done, and leaves none that was not there."""
    there = place.exists()
    try:
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as refusal:
        if not there and place.is_file():
            place.resolve().unlink()
        raise OSError(refusal.errno, refusal.strerror, str(place)) from None


def try_file(place: Path | None, option: str = "-o") -> None:
    """Finds out before the work whether a file can be written at its end; leaves no file, and changes none.

    None and `-` are the standard output. Raises `ValueError` with the remedy.
    """
    if place is None or str(place) == "-":
        return
    try:
        if place.is_dir():
            raise ValueError(f"{place} is a folder: name a file in it with {option}")
        if not place.parent.is_dir():
            raise ValueError(f"{place}: there is no folder {place.parent}; make it, or name another file with {option}")
        _open_and_leave(place)
    except OSError as refusal:
        raise ValueError(f"{place} cannot be written ({refusal.strerror}): name another file with {option}") from None


def _open_and_leave(place: Path) -> None:
    """Opens the file for writing; pipes and devices are opened once only, at the end."""
    there = place.exists()
    if there and not place.is_file():
        return
    with place.open("ab"):
        pass
    if not there:
        place.resolve().unlink()


def say(content: str | bytes) -> None:
    """Writes to the standard output, at once, so that an error is met here."""
    sys.stdout.buffer.write(content if isinstance(content, bytes) else content.encode())
    sys.stdout.buffer.flush()


def note(text: str) -> None:
    """Says something beside the output."""
    console().print(text, style="dim", soft_wrap=True)


def complain(text: str) -> None:
    """Says what is wrong; control characters in it do not reach the terminal."""
    from loadgo.notation.figures import plain

    shown = "\n".join(plain(line) for line in f"loadgo: {text}".split("\n"))
    console().print(shown, style="red", soft_wrap=True)


def complain_of_leftovers(left_behind: Iterable[str]) -> None:
    """Says what a run leaves on this host, also where nothing else is said."""
    for text in left_behind:
        complain(text)


def notes_without(left_behind: Iterable[str], notes: Iterable[str]) -> list[str]:
    """The notes of a run but for what it leaves on this host, which is complained of."""
    return [text for text in notes if text not in set(left_behind)]


def console() -> Console:
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def in_colour() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _abandon_output() -> None:
    """Nothing more can be written; Python must not try when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
