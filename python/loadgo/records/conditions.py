"""Under which conditions two sides were measured, and which of them differ: they come before any figure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from loadgo import _loadgo
from loadgo.errors import LoadgoError

MACHINE_FILE = "machine.toml"
SCRIPT_FILE = "script.toml"
SCRIPT_TEXT = "script's text"
"""The condition that is the mark of a script's text."""

_COMMAND = re.compile(r"(machine commands\.[^.]+\.)(.+)")
_RELATIVE = 0.1
"""Measured conditions (memory that is free, load) differ when they are so far apart."""
_LEFT_OUT = ("source", "notes", "proof", "virtual_s", "computed_s")
"""Keys of `run.toml` that are no conditions."""
_IN_MACHINE_FILE = ("set", "speed", "frames", "discipline", "processors")
"""What of a simulated machine `run.toml` tells, too."""
_NO_VALUES = ("title", "source", "fit.")
"""What of a machine's file changes nothing that happens on it."""
_MEASURED = ("memory_available_bytes", "used_bytes", "load_average")


@dataclass(frozen=True)
class Condition:
    """A condition that differs; empty where a side does not tell it."""

    name: str
    before: str
    after: str


def conditions_of(folder: Path, told: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of the run in `folder`, whose `run.toml` is `told`: flat names and values in words.

    The script is told by its name and a mark of its text; a simulated machine by all values of its file.
    """
    found = {"script": str(told.get("name", "")), SCRIPT_TEXT: _mark(folder / SCRIPT_FILE)}
    for section in ("load", "system", "limit", "conditions", "usage"):
        flat = _flat(told.get(section, {}))
        kept = {name: value for name, value in flat.items() if not name.endswith("_end") and "_end_" not in name}
        found |= {name: value for name, value in kept.items() if name.rpartition(".")[2] not in _LEFT_OUT}
    machine = folder / MACHINE_FILE
    if machine.exists():
        values = _flat(tomllib.loads(machine.read_text(encoding="utf-8")))
        found = {name: value for name, value in found.items() if name not in _IN_MACHINE_FILE}
        values = {name: value for name, value in values.items() if not name.startswith(_NO_VALUES)}
        found |= {f"machine {name}": value for name, value in values.items()}
    return found


def words_of(folder: Path) -> dict[str, str]:
    """What the run's script says, by flat names (`script lines 1.type`); empty where it cannot be read any more."""
    try:
        told = tomllib.loads((folder / SCRIPT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(_words(told, "script"))


def _words(told: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(told, Mapping):
        for key, value in told.items():
            yield from _words(value, f"{name} {key}" if name == "script" else f"{name}.{key}")
    elif isinstance(told, list):
        for place, value in enumerate(told, start=1):
            yield from _words(value, f"{name} {place}")
    else:
        yield name, str(told)


def _mark(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError:
        return ""
    return f"{len(content)} bytes, mark {crc32(content):08x}"


def lines_of(folder: Path) -> tuple[tuple[str, str], ...]:
    """The lines of the run's script, each with its command; empty where the script cannot be read any more."""
    path = folder / SCRIPT_FILE
    try:
        told = _loadgo.parse_script(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, LoadgoError):
        return ()
    return tuple((str(line), str(name)) for line, name in told["lines"])


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Condition, ...]:
    """The conditions that are not the same, in the order in which they are told; what differs alike in several commands
    of a machine is one.
    """
    names = list(dict.fromkeys([*before, *after]))
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        told = before.get(name, ""), after.get(name, "")
        if not _same(name, *told):
            command = _COMMAND.fullmatch(name)
            found.setdefault((command[2] if command else name, *told), []).append(name)
    return tuple(
        Condition(alike[0] if len(alike) == 1 else f"machine commands: {key} of {len(alike)}", first, second)
        for (key, first, second), alike in found.items()
    )


def _same(name: str, before: str, after: str) -> bool:
    if before == after:
        return True
    if not name.startswith(_MEASURED):
        return False
    try:
        a, b = float(before), float(after)
    except ValueError:
        return False
    least = 0.5 if name.startswith("load_average") else 0.0
    return abs(a - b) <= max(least, _RELATIVE * max(abs(a), abs(b)))


def _flat(told: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """A table of tables as flat names; of the three load averages the first."""
    found: dict[str, str] = {}
    for name, value in told.items():
        whole = f"{before}{name}"
        if isinstance(value, Mapping):
            found |= _flat(value, f"{whole}.")
        elif name == "load_average" and isinstance(value, list) and value:
            found[whole] = f"{value[0]:g}"
        elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            for number, part in enumerate(value, start=1):
                found |= _flat(part, f"{whole} {number}.")
        else:
            found[whole] = f"{value:g}" if isinstance(value, float) else str(value)
    return found
