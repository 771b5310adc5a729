"""The drivers of a run whose users are driven from several hosts: which users and which rows are whose.

`run.toml` of such a run has a list `drivers`, with the range of users of each. The tables of users have a column
`driver`, and no other run's tables have it. While the run goes, each driver's records lie in a folder of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loadgo.errors import BadRun

DRIVERS_FOLDER = "drivers"
"""The folder of the drivers' records in a run's folder, while it goes: a folder for each driver, by its name."""
DRIVERS_KEY = "drivers"
DRIVER_COLUMN = "driver"
DRIVEN_TABLES = ("interactions", "sessions", "lost", "screens")
"""The tables whose rows a driver records, beside `phases`."""


@dataclass(frozen=True)
class DriverOfRun:
    """A driver of a run."""

    name: str
    first_user: int
    last_user: int
    entry: Mapping[str, Any]
    """The entry in `drivers` of `run.toml`."""

    @property
    def users(self) -> int:
        """Number of users."""
        return self.last_user - self.first_user + 1

    @property
    def lost(self) -> str:
        """Why the driver was lost; empty if it was not."""
        return str(self.entry.get("lost", ""))

    @property
    def bound_ns(self) -> int:
        """The largest error of an instant of the driver on the run's clock."""
        return int(self.entry.get("clock", {}).get("bound_ns", 0))


def drivers_of_run(conditions: Mapping[str, Any]) -> tuple[DriverOfRun, ...]:
    """The drivers of a run with several, in the order of their users; none for any other run. Raises `BadRun`."""
    try:
        return tuple(
            DriverOfRun(str(entry["name"]), int(entry["first_user"]), int(entry["last_user"]), entry)
            for entry in conditions.get(DRIVERS_KEY, ())
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRun(f"run.toml does not say which drivers the run has ({error}): take it from a copy") from error


def driver_names(conditions: Mapping[str, Any]) -> list[str]:
    """The names of the drivers of a run with several."""
    return [driver.name for driver in drivers_of_run(conditions)]
