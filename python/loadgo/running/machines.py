"""Finds a simulated machine: a bundled machine by its name, or a machine file by its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.documents.result import Result
from loadgo.errors import Mistake
from loadgo.records.machine_file import fit_warnings, parsed_machine
from loadgo.running.bundled import Source, read_source

MACHINES_FOLDER = Path(__file__).parent.parent / "data" / "machines"
_FIRST_TABLE = re.compile(r"^\s*\[", re.MULTILINE)
_LIKE = re.compile(r"^(\s*like\s*=\s*)([\"'])([^\"'\\\n]+)\2", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """A summary of a machine file: name, title, source of its figures, processors and commands."""

    name: str
    title: str
    source: str
    processors: int
    commands: tuple[str, ...]


class MachineList(Result, list[Machine], presented_by="loadgo.reporting.lists.lists:machine_presentation"):
    """A list of simulated machines."""

    def _line(self) -> str:
        return f"{len(self)} machines, {', '.join(machine.name for machine in self)}"


def machines() -> MachineList:
    """Lists the simulated machines that come with loadgo, by name.

    Returns:
        A list of `Machine` with title, source, number of processors, and the commands that its file has. Other calls
        take a machine's name for `on` or `machine`.
    """
    return MachineList(machine_summary(name) for name in machine_names())


def machine_names() -> list[str]:
    """The names of the bundled machines."""
    return sorted(path.stem for path in MACHINES_FOLDER.glob("*.toml"))


def find(machine: str | Path) -> Source:
    """Reads `machine`: the name of a bundled machine, or a path.

    If the machine is `like` another file, its text has that file's full path, so that the text is valid anywhere.
    Raises `ValueError` for an unknown name, with the known names, and for a file that is not text. Raises `OSError` for
    a file that cannot be read. The extension calls this function by its name.
    """
    source = read_source(machine, MACHINES_FOLDER, "machine")
    text = _with_full_path(source.text, source.path.parent)
    return Source(requested=source.requested, path=source.path, text=text)


def _with_full_path(text: str, folder: Path) -> str:
    """`text` with the full path of the file that it is `like`, if any."""
    like = _LIKE.search(_FIRST_TABLE.split(text, maxsplit=1)[0])
    if not like or like[3] in machine_names():
        return text
    path = (folder / like[3]).resolve()
    return f"{text[: like.start(3)]}{path}{text[like.end(3) :]}" if path.is_file() else text


def machine_summary(machine: str | Path, set: Sequence[str] = ()) -> Machine:
    """The summary of a machine file. Raises what `find` raises, and `errors.Mistake` with the file's name."""
    parsed = parse_machine_file(find(machine), set)
    return Machine(
        name=str(machine),
        title=parsed["title"],
        source=parsed["source"],
        processors=parsed["processors"],
        commands=tuple(parsed["commands"]),
    )


def machine_text(machine: str | Path, set: Sequence[str] = ()) -> str:
    """The text of a machine file with its comments. With values `set`, it is the merged text without comments."""
    source = find(machine)
    parsed = parse_machine_file(source, set)
    return str(parsed["text"]) if set else source.text


def fit_warnings_of(machine: str | Path, set: Sequence[str] = ()) -> tuple[str, ...]:
    """The reasons to doubt the fit of a machine; empty if it was not fitted. Raises what `machine_summary` raises."""
    return fit_warnings(str(parse_machine_file(find(machine), set)["text"]))


def parse_machine_file(source: Source, set: Sequence[str] = ()) -> dict[str, Any]:
    """Parses a machine file. Raises `errors.Mistake` with the file's name, and `ValueError` for a mistake in `set`."""
    try:
        return parsed_machine(source.text, set)
    except Mistake as mistake:
        raise mistake.in_file(mistake.file or str(source.path)) from None
