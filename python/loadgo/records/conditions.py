"""The conditions of a run, such as load, system and script, and those that differ between two runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from loadgo import _loadgo
from loadgo.errors import LoadgoError
from loadgo.notation.figures import duration, setting, size
from loadgo.notation.toml_text import toml_table
from loadgo.records.fleets import FLEET_KIND, hosts_of_run

MACHINE_FILE = "machine.toml"
SCRIPT_FILE = "script.toml"
SCRIPT_TEXT = "script's text"
"""Name of the condition that identifies a script's text."""

_COMMAND = re.compile(r"(machine commands\.[^.]+\.)(.+)")
_MEASURED_TOLERANCE = 0.1
"""Measured conditions (free memory, load average) differ if they are further apart than this share."""
_LOAD_AVERAGE_TOLERANCE = 0.5
_OTHER_KEYS = ("source", "notes", "proof", "virtual_s", "computed_s")
"""Keys of `run.toml` that are not conditions."""
_MACHINE_FILE_KEYS = ("set", "speed", "frames", "discipline", "processors")
"""Keys of `run.toml` that repeat the values of a simulated machine's file."""
_KEYS_WITHOUT_EFFECT = ("title", "source", "fit.")
"""Keys of a machine file that do not change what the machine does."""
HOST_CONDITION = "host"
"""The first word of a condition of one host of a run on several, such as `host login1 processors`."""
_KEYS_OF_A_FLEET = ("without_lost", "hosts")
_KEYS_OF_A_HOST = (
    "address",
    "weight",
    "hostname",
    "kernel",
    "processor",
    "processors",
    "tick_ns",
    "packs",
    "memory_bytes",
    "page_bytes",
)
"""Keys of a host of a run on several that are conditions. Its users follow from the weights and the load."""
_LIMIT_KEYS = ("cpus", "swap")
"""Keys of a run's limits that are no condition of the system too, as `memory_bytes` is."""
_LIMIT_EACH = "limit each"
"""The first words of a condition of each user's limits."""
_CHOSEN_KEYS = (
    *("users", "model", "passes", "think", "typing", "arrivals_per_second", "arrivals_from"),
    *("duration_s", "until", "seed"),
    *("set", "speed", "without_lost", *_LIMIT_KEYS),
)
_CHOSEN_PREFIXES = ("machine ", "script", _LIMIT_EACH)
"""Conditions that the experimenter sets, or leaves out."""
_MEASURED_CONDITIONS = ("memory_available_bytes", "used_bytes", "load_average")

_COUNT_AT_END = re.compile(r"(?<!\d)\d+$")


@dataclass(frozen=True)
class DifferingCondition:
    """A condition that differs. A value is empty if its side does not have the condition."""

    name: str
    before: str
    after: str

    @property
    def shown_name(self) -> str:
        """The name in words: `limit cpus`, `load average`. A machine's key stays as its file has it."""
        if self.name in _LIMIT_KEYS:
            return f"limit {self.name}"
        if self.name.startswith("machine "):
            return self.name
        return re.sub(r"(memory.*) bytes$|(duration) s$|(tick) ns$", r"\1\2\3", self.name.replace("_", " "))

    @property
    def shown_values(self) -> tuple[str, str]:
        """Both values with units: `40.0 s`, `231 MB`. A side without a value has `none`, or `not recorded`."""
        before, after = self._values_with_units
        return before or self._absent_word, after or self._absent_word

    @property
    def _absent_word(self) -> str:
        """The word for a side that does not have the condition.

        What the experimenter did not set is none. What a run did not find out about its host may be anything.
        """
        is_chosen = self.name in _CHOSEN_KEYS or self.name.startswith(_CHOSEN_PREFIXES)
        return "none" if is_chosen else "not recorded"

    @property
    def _values_with_units(self) -> tuple[str, str]:
        """Both values with units. Bytes stay where the difference is too small to be seen so."""
        if self.name == "duration_s":
            before, after = (text and duration(1e9 * float(text)) for text in (self.before, self.after))
            return before, after
        if self.name.endswith("tick_ns"):
            before, after = (text and duration(float(text)) for text in (self.before, self.after))
            return before, after
        if self.name != "swap" and not self.name.endswith("_bytes"):
            return self.before, self.after
        before, after = (
            _COUNT_AT_END.sub(lambda count: size(int(count[0])), text) for text in (self.before, self.after)
        )
        return (before, after) if before != after else (self.before, self.after)


def conditions_of(folder: Path, run_toml: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of the run in `folder`, by flat names (`load.users`), as text.

    A script has two conditions: its name, and the length and checksum of its text. A simulated machine has all values
    of its file.
    """
    conditions = {"script": str(run_toml.get("name", "")), SCRIPT_TEXT: _checksum(folder / SCRIPT_FILE)}
    for section in ("load", "system", "limit", "limit_each", "conditions", "usage"):
        for name, value in _flat(_without_hosts(run_toml.get(section, {}))).items():
            is_read_at_end = name.endswith("_end") or "_end_" in name
            if not is_read_at_end and name.rpartition(".")[2] not in _OTHER_KEYS:
                conditions[f"{_LIMIT_EACH} {name}" if section == "limit_each" else name] = value
    for host in hosts_of_run(run_toml):
        values = _flat({key: host.entry[key] for key in _KEYS_OF_A_HOST if key in host.entry})
        conditions |= {f"{HOST_CONDITION} {host.name} {name}": value for name, value in values.items()}
    machine = folder / MACHINE_FILE
    if machine.exists():
        values = _flat(toml_table(machine.read_text(encoding="utf-8")))
        prices = ("tariff.",) if any(name.startswith("tariff.") for name in values) else ()
        conditions = {
            name: value
            for name, value in conditions.items()
            if name not in _MACHINE_FILE_KEYS and not name.startswith(prices)
        }
        conditions |= {
            f"machine {name}": value for name, value in values.items() if not name.startswith(_KEYS_WITHOUT_EFFECT)
        }
    return conditions


def has_passes(run_toml: Mapping[str, Any]) -> bool:
    """Whether each user typed a number of passes: the load had neither a length nor an end by a condition."""
    load = run_toml.get("load", {})
    return "duration_s" not in load and "until" not in load


def has_open_load(run_toml: Mapping[str, Any]) -> bool:
    """Whether sessions arrived at a rate, whatever the answers took."""
    return bool(run_toml.get("load", {}).get("model") == "open")


def system_title(run_toml: Mapping[str, Any]) -> str:
    """The name of a run's system in reports: its title, else its host's name, else its own; may be empty."""
    system = run_toml.get("system", {})
    return str(system.get("title") or system.get("hostname") or system.get("name", ""))


def _without_hosts(section: Mapping[str, Any]) -> Mapping[str, Any]:
    """The section `system` of a run on several hosts without these; any other section as it is."""
    is_fleet = section.get("kind") == FLEET_KIND
    return {name: value for name, value in section.items() if not (is_fleet and name in _KEYS_OF_A_FLEET)}


def script_values(folder: Path) -> dict[str, str]:
    """The values of the run's script by flat names (`script lines 1.type`); empty if the script cannot be read."""
    try:
        script = toml_table((folder / SCRIPT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(_script_values(script, "script"))


def _script_values(node: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, child in node.items():
            yield from _script_values(child, f"{name} {key}" if name == "script" else f"{name}.{key}")
    elif isinstance(node, list):
        for number, child in enumerate(node, start=1):
            yield from _script_values(child, f"{name} {number}")
    else:
        yield name, str(node)


def _checksum(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError:
        return ""
    return f"{len(content)} bytes, mark {crc32(content):08x}"


def script_lines(folder: Path) -> tuple[tuple[str, str], ...]:
    """The number and the command of each line of the run's script; empty if the script cannot be read."""
    path = folder / SCRIPT_FILE
    try:
        script = _loadgo.parse_script(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, LoadgoError):
        return ()
    return tuple((str(line), str(name)) for line, name in script["lines"])


def think_of_script(folder: Path) -> str | None:
    """The law of think times of the run's script, as `run.toml` has that of the run; None if it cannot be read."""
    script = _parsed_script(folder)
    return None if script is None else str(script["think"])


def asked_pace(folder: Path, load: Mapping[str, Any]) -> dict[str, str]:
    """The think time and the typing that a run had in place of its script's, as options (`think`, `typing`).

    `load` is the section of the run's `run.toml`, where a run that was given neither has the script's own.
    """
    script = _parsed_script(folder)
    if script is None:
        return {name: str(load[name]) for name in ("think", "typing") if name in load}
    typing = str(load.get("typing", "none"))
    own_typing = f"{script['typing']:g} chars/s" if script["typing"] else "none"
    asked = {"think": str(load["think"])} if load.get("think", script["think"]) != script["think"] else {}
    return asked | ({"typing": typing} if typing != own_typing else {})


def _parsed_script(folder: Path) -> Mapping[str, Any] | None:
    """The run's script as it is typed; None if it cannot be read."""
    try:
        return _loadgo.parse_script((folder / SCRIPT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, LoadgoError):
        return None


def differing_conditions(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[DifferingCondition, ...]:
    """The conditions that differ, in their order. Commands of a machine with the same difference share one row."""
    names_by_difference: dict[tuple[str, str, str], list[str]] = {}
    for name in dict.fromkeys([*before, *after]):
        values = before.get(name, ""), after.get(name, "")
        if not _is_same(name, *values):
            command = _COMMAND.fullmatch(name)
            names_by_difference.setdefault((command[2] if command else name, *values), []).append(name)
    return tuple(
        DifferingCondition(names[0] if len(names) == 1 else f"machine commands: {key} of {len(names)}", first, second)
        for (key, first, second), names in names_by_difference.items()
    )


def is_measured_condition(name: str) -> bool:
    """Whether a condition is a figure of the host at the run's start, such as its free memory."""
    return name.startswith(_MEASURED_CONDITIONS)


def _is_same(name: str, before: str, after: str) -> bool:
    if before == after:
        return True
    if not is_measured_condition(name):
        return False
    try:
        a, b = float(before), float(after)
    except ValueError:
        return False
    tolerance = _LOAD_AVERAGE_TOLERANCE if name.startswith("load_average") else 0.0
    return abs(a - b) <= max(tolerance, _MEASURED_TOLERANCE * max(abs(a), abs(b)))


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """The values of nested tables by flat names, such as `load.users`; of the three load averages only the first."""
    flat: dict[str, str] = {}
    for key, node in table.items():
        name = f"{prefix}{key}"
        if isinstance(node, Mapping):
            flat |= _flat(node, f"{name}.")
        elif key == "load_average" and isinstance(node, list) and node:
            flat[name] = setting(node[0])
        elif isinstance(node, list) and node and all(isinstance(row, Mapping) for row in node):
            for number, row in enumerate(node, start=1):
                flat |= _flat(row, f"{name} {number}.")
        else:
            flat[name] = setting(node) if isinstance(node, float) else str(node)
    return flat
