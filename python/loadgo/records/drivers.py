"""The drivers of a run whose users are driven from several hosts: which users and which rows are whose.

`run.toml` of such a run has a list `drivers`, with the range of users of each. The tables of users have a column
`driver`, and no other run's tables have it. While the run goes, each driver's records lie in a folder of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadgo.records.user_ranges import PartOfRun

DRIVERS_FOLDER = "drivers"
"""The folder of the drivers' records in a run's folder, while it goes: a folder for each driver, by its name."""
DRIVERS_KEY = "drivers"
DRIVER_COLUMN = "driver"
DRIVEN_TABLES = ("interactions", "sessions", "lost", "screens")
"""The tables whose rows a driver records, beside `phases`."""


class DriverOfRun(PartOfRun):
    """A driver of a run: an entry of `drivers`."""

    PLURAL = "drivers"

    @property
    def bound_ns(self) -> int:
        """The largest error of an instant of the driver on the run's clock."""
        return int(self.entry.get("clock", {}).get("bound_ns", 0))


def drivers_of_run(conditions: Mapping[str, Any]) -> tuple[DriverOfRun, ...]:
    """The drivers of a run with several, in the order of their users; none for any other run. Raises `BadRun`."""
    return DriverOfRun.all_in(conditions.get(DRIVERS_KEY, ()))
