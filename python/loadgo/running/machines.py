"""Finds a simulated machine: one of those that come with loadgo by its name, or a machine file by its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.errors import Mistake
from loadgo.records.machine_file import parsed_machine
from loadgo.running.bundled import Source, read_text

FOLDER = Path(__file__).parent.parent / "data" / "machines"
_TABLES = re.compile(r"^\s*\[", re.MULTILINE)
_LIKE = re.compile(r"^(\s*like\s*=\s*)([\"'])([^\"'\\\n]+)\2", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """A machine file in short: its name, its title, where its figures are from, its processors and commands."""

    name: str
    title: str
    source: str
    processors: int
    commands: tuple[str, ...]


def machines() -> list[Machine]:
    """Lists the simulated machines that come with loadgo, by name.

    Returns:
        A list of `Machine` with title, source, number of processors, and the commands that its file has. Other calls
        take a machine's name for `on` or `machine`.
    """
    return [told(name) for name in names()]


def names() -> list[str]:
    """The names of the bundled machines."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(machine: str | Path) -> Source:
    """The machine called `machine`: a bundled name, else a path.

    Its text is the file's; a file beside it that it is `like` is named by its whole path there, so that the text means
    the same anywhere. Raises `ValueError` for an unknown name, with the nearest and all others, and for a file that is
    no text; `OSError` for one that cannot be read.
    """
    source = read_text(machine, FOLDER, "machine")
    return Source(asked=source.asked, path=source.path, text=_placed(source.text, source.path.parent))


def _placed(text: str, folder: Path) -> str:
    """`text` with the file that it is like, if it is like a file, by its whole path."""
    found = _LIKE.search(_TABLES.split(text, maxsplit=1)[0])
    if not found or found[3] in names():
        return text
    place = (folder / found[3]).resolve()
    return f"{text[: found.start(3)]}{place}{text[found.end(3) :]}" if place.is_file() else text


def told(machine: str | Path, set: Sequence[str] = ()) -> Machine:
    """What a machine file says in short; raises what `find` raises, and `errors.Mistake` with the file's name."""
    read = parsed(find(machine), set)
    return Machine(
        name=str(machine),
        title=read["title"],
        source=read["source"],
        processors=read["processors"],
        commands=tuple(read["commands"]),
    )


def printed(machine: str | Path, set: Sequence[str] = ()) -> str:
    """A machine's file as it stands, with its comments; with values `set` over it, everything merged in one text."""
    source = find(machine)
    read = parsed(source, set)
    return str(read["text"]) if set else source.text


def listed() -> list[list[str]]:
    """The rows of a list of the bundled machines: name, title, processors, source."""
    return [[machine.name, machine.title, str(machine.processors), machine.source] for machine in machines()]


def parsed(source: Source, set: Sequence[str] = ()) -> dict[str, Any]:
    """Reads a machine file; raises `errors.Mistake` with the file's name, and `ValueError` for a mistake in `set`."""
    try:
        return parsed_machine(source.text, set)
    except Mistake as mistake:
        raise mistake.in_file(mistake.file or str(source.path)) from None
