"""A simulated machine as the system that users are logged in to. Options and limits of hosts are refused."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loadgo.errors import BadArgument
from loadgo.records.machine_file import fit_warnings
from loadgo.running.host import Driver, each_options, parse_limit_each
from loadgo.running.machines import find, parse_machine_file


@dataclass(frozen=True)
class SimulatedMachine:
    """A simulated machine that scripts can run on."""

    options: dict[str, Any]
    """The options of `_loadgo.run_machine` besides the load."""
    system: dict[str, Any]
    """Name, title and tariff, as `run.toml` has them."""
    parsed: dict[str, Any]
    """The content of the machine file, as the simulator reads it, with all values set."""

    @property
    def fit_warnings(self) -> tuple[str, ...]:
        """The reasons to doubt the fit of the machine; empty if it was not fitted, or fits well."""
        return fit_warnings(self.parsed["text"])


def prepare_machine(
    on: str,
    set: Sequence[str],
    *,
    limit: str | None,
    limit_each: str | None = None,
    limit_single: Sequence[tuple[Sequence[int], str]] = (),
    usage_every: int | None,
    working_sets: bool = False,
    meters: str | None,
    driver: Driver,
) -> SimulatedMachine:
    """The machine `on` (a bundled name or a file) with values `set`.

    Raises `ValueError` for an unknown machine, for a mistake in `set`, and for options and limits of hosts. Raises
    `errors.Mistake` for a mistake in the machine file.
    """
    host_options = [
        (limit is not None, "limit", "a machine has what its file says: `set=memory.frames=512`"),
        (usage_every is not None, "usage_every", "on a simulated machine each interaction's usage is known"),
        (working_sets, "working_sets", "how a machine's programs refer to their pages is in its file"),
        (meters not in (None, "exact"), f"meters={meters}", "a simulated machine's own meters are always exact"),
        (driver.processor is not None, "processor", "time is virtual, and no line is ever late"),
        (not driver.fifo, "fifo", "time is virtual, and no line is ever late"),
    ]
    for is_given, argument, reason in host_options:
        if is_given:
            name = argument.partition("=")[0]
            raise BadArgument(f"`{argument}` is for a host: {reason}").about(name, "set")
    limits = each_options(limit_each, limit_single)
    for text in (limit_each, *(text for _, text in limit_single)):
        _check_limits(text)
    source = find(on)
    parsed = parse_machine_file(source, set)
    merged = tomllib.loads(parsed["text"])
    options = {
        "machine": source.requested,
        "machine_text": source.text,
        "set": list(set),
        "log_ins_at_once": driver.log_ins_at_once,
        **limits,
    }
    return SimulatedMachine(options, {"name": on, "title": merged["title"], "tariff": merged.get("tariff", {})}, parsed)


_INSTEAD = {
    "memory_bytes": ("memory", "memory is the machine's, as `set=memory.frames=512` sets it"),
    "swap_bytes": ("swap", "paging devices are the machine's stores, in `[memory]` and `[storage]` of its file"),
    "pids": ("pids", "a user is one process there"),
    "io_bytes_per_s": ("io", "requests to stores are the commands', as `set=storage.disk.servers=2` serves them"),
}
"""The limits of hosts that a machine does not know, by their keys: their names, and what a machine has instead."""


def _check_limits(text: str | None) -> None:
    """Raises `BadArgument` for a limit of each user that a machine does not know."""
    limits = parse_limit_each(text)
    for key, (name, instead) in _INSTEAD.items():
        if limits.get(key) is not None:
            raise BadArgument(
                f"`limit_each={text}`: {name} is for a host: {instead}; cpus and nice are for both"
            ).about("limit_each", "set")
