"""The kinds of values that `run.toml` has: a file with others is damaged, or was written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from loadgo.errors import BadArgument
from loadgo.notation.figures import cut

MOST_COUNT = 2.0**63
"""No count, time or size of a run is as large."""
MOST_USERS = 2**32
"""No user of a run has a number as large."""
_SHOWN_CHARS = 40


def _is_number(value: object) -> bool:
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_real and 0 <= value < MOST_COUNT  # type: ignore[operator]  # also False for nan


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and _is_number(value)


def _is_list_of(is_kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(is_kind(each) for each in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _is_loss(value: object) -> bool:
    """Whether the value can be a row of the table `lost`."""
    return isinstance(value, dict) and all(is_kind(value[key]) for key, is_kind in _LOSS.items() if key in value)


_LOSS: Mapping[str, Callable[[object], bool]] = {
    "at_ns": _is_whole,
    "user": lambda value: _is_whole(value) and value < MOST_USERS,  # type: ignore[operator]
    "what": _is_text,
    "count": _is_whole,
    "reason": _is_text,
}


_CHECKS: Mapping[str, Callable[[object], bool]] = {
    "a text": _is_text,
    "true or false": lambda value: isinstance(value, bool),
    "a number from 0": _is_number,
    "a whole number from 0": _is_whole,
    "a whole number from 1": lambda value: _is_whole(value) and value != 0,
    "a list of texts": _is_list_of(_is_text),
    "a list of numbers": _is_list_of(_is_number),
    "a list of tables": _is_list_of(_is_table),
    "a list of losses": _is_list_of(_is_loss),
    "a table": _is_table,
}

_KINDS: Mapping[str, str] = {
    key: kind
    for kind, keys in {
        "a text": """loadgo id kind name script outcome load.model load.think load.typing load.until system.kind
            load.arrivals_from
            system.name system.hostname system.kernel system.distribution system.architecture system.processor
            system.login system.title system.source system.discipline limit.swap usage.cpu usage.faults usage.waits
            usage.split meters.tier driver.scheduling driver.proof""",
        "true or false": "finished system.packs usage.delays_switched_off",
        "a number from 0": """wall_s load.arrivals_per_second load.duration_s system.speed conditions.virtual_s
            conditions.computed_s limit.cpus limit_each.cpus meters.calibration.switch_ns""",
        "a whole number from 0": """load.users load.passes load.seed system.processors system.memory_bytes
            system.tick_ns system.frames conditions.users_logged_in conditions.memory_available_bytes
            conditions.memory_available_end_bytes conditions.users_memory_kills_end
            limit.memory_bytes limit_each.memory_bytes limit_each.swap_bytes limit_each.pids
            limit_each.io_bytes_per_s usage.cpu_resolution_ns meters.clock_hz""",
        "a whole number from 1": "usage.every",
        "a list of texts": "command notes system.set usage.notes meters.exact meters.notes driver.notes",
        "a list of numbers": "conditions.load_average conditions.load_average_end",
        "a list of tables": "system.paging_devices load.classes limit_each.single",
        "a list of losses": "lost",
        "a table": "load system conditions limit limit_each usage meters driver meters.estimated meters.not_here "
        "meters.calibration system.versions system.tariff",
    }.items()
    for key in keys.split()
}
"""The kind of each value, by its key. Keys that are not here are not checked."""


def check_values(run_toml: Mapping[str, Any]) -> None:
    """Raises `ValueError` with the first value of another kind, and what it must be."""
    for key, value in _present(run_toml):
        if not _CHECKS[_KINDS[key]](value):
            raise BadArgument(f"`{key}` must be {_KINDS[key]}, not {cut(repr(value), _SHOWN_CHARS)}")


def _present(run_toml: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    """The values that are checked and present, sections before their values."""
    for key in sorted(_KINDS, key=lambda key: key.count(".")):
        value = value_at(run_toml, key)
        if value is not None:
            yield key, value


def value_at(run_toml: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted key; None if `run.toml` does not have it."""
    value: Any = run_toml
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
