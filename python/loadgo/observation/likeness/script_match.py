"""Whether a run typed the script of an observation: refusals, and warnings where it was another or another mix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl

from loadgo.errors import BadRun, Refused
from loadgo.notation.figures import as_code, cut, in_words, share
from loadgo.observation.figures_file import FiguresDescription
from loadgo.observation.likeness.figures import Sides
from loadgo.records.conditions import think_of_script
from loadgo.records.run_file import read_small

_LAW_CHARS = 40
_CLASS_SHIFT = 0.1
"""A class whose share of the commands differs by this is a warning."""

ScriptLines = Sequence[tuple[str, str]]
"""The text and the command of each line of a run's script, in the order of their numbers."""


def check_script(path: Path, folder: Path, lines: ScriptLines, description: FiguresDescription) -> None:
    """Raises `Refused` for a run of a script that has none of the observed commands."""
    observed = {command for each in description.classes for command in each.commands}
    typed = list(dict.fromkeys(command for _, command in lines))
    if not typed:
        raise BadRun(f"{folder} has no script that can be read, so that nobody knows what was typed in it")
    if not observed.intersection(typed):
        raise Refused(
            f"{folder} is a run of another script: it types {in_words(list(map(as_code, typed)), 4)}, and in "
            f"{path} {in_words([as_code(name) for name in sorted(observed)], 4)} were observed; name a run of this "
            "script"
        )


def class_of_lines(lines: ScriptLines, description: FiguresDescription) -> Mapping[int, str]:
    """The class of each line of the run's script, by the line's number.

    A script as it was made has the lines of its classes one after the other. In any other, a line has the class in
    which its command was observed, if there is one class alone.
    """
    listed = [(each.name, command) for each in description.classes for command in each.commands]
    commands = [command for _, command in lines]
    if commands == [command for _, command in listed]:
        return {number: name for number, (name, _) in enumerate(listed, 1)}
    owners: dict[str, set[str]] = {}
    for name, command in listed:
        owners.setdefault(command, set()).add(name)
    return {
        number: next(iter(owners[command]))
        for number, command in enumerate(commands, 1)
        if len(owners.get(command, ())) == 1
    }


def script_warnings(
    folder: Path, conditions: dict[str, Any], lines: ScriptLines, description: FiguresDescription
) -> Iterator[str]:
    """The ways in which the run's script is another one than that which was made."""
    observed = list(dict.fromkeys(command for each in description.classes for command in each.commands))
    typed = {command for _, command in lines}
    missing = [as_code(name) for name in observed if name not in typed]
    others = [as_code(name) for name in sorted(typed.difference(observed))]
    if missing:
        yield f"The run's script does not have {in_words(missing, 4)}, which {_was(missing)} observed."
    if others:
        yield f"The run's script has {in_words(others, 4)}, which {_was(others)} not observed; {_it(others)} left out."
    if not missing and not others and not _is_as_made(folder, description):
        yield "The run's script was changed after it was made of the observation."
    if len(class_of_lines(lines, description)) < len(lines) - len(others):
        yield (
            "The run's script was changed, and several classes have the same command, so that its lines are left out: "
            "it is not known whose they are."
        )
    think, own = conditions.get("load", {}).get("think"), think_of_script(folder)
    if think is not None and own is not None and think != own:
        yield f"The run had think times of its own, {cut(str(think), _LAW_CHARS)}, in place of the script's."


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _it(names: Sequence[str]) -> str:
    return "it is" if len(names) == 1 else "they are"


def _is_as_made(folder: Path, description: FiguresDescription) -> bool:
    """Whether the run has typed the script as it was made."""
    try:
        content = read_small(folder / "script.toml")
    except OSError:
        return True  # reading its lines has worked: it vanished meanwhile
    return len(content) == description.script_bytes and crc32(content) == description.script_crc32


def _processor_share(sides: Sides, rows: pl.DataFrame) -> str:
    """The share of the observed processor time that these commands took, in words; empty if it is not known."""
    whole_ns, part_ns = (float(each["cpu_ns"].sum() or 0) for each in (sides.observed.rows, rows))
    return f", with {share(part_ns / whole_ns)} of their processor time," if whole_ns > 0 else ""


def class_warnings(sides: Sides) -> Iterator[str]:
    """The classes that have another share of the commands: figures of all users are then of another mix."""
    for name in sides.class_names:
        if not name:
            continue
        observed, run = sides.of_class(name)
        shares = len(observed) / len(sides.observed.rows), len(run) / len(sides.run.rows)
        if not len(run):
            yield (
                f"No user of the run was {name}, and {share(shares[0])} of the observed commands"
                f"{_processor_share(sides, observed)} are of {name} users. Run it with more users, or for longer."
            )
        elif abs(shares[1] - shares[0]) >= _CLASS_SHIFT:
            yield (
                f"In the run {share(shares[1])} of the commands are of {name} users, and {share(shares[0])} were "
                "observed. Figures of all users are those of another mix; those of one class are not affected."
            )
            return
