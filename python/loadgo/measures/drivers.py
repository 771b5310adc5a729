"""The drivers of a run with several: how late each was, and what it took of its own host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loadgo.measures.hosts import HostLost
from loadgo.records.drivers import DriverOfRun, drivers_of_run
from loadgo.records.tolerated import tolerated_losses

BUSY_DRIVER_SHARE = 0.9
"""From this busy share of a driver's processors on, its users' own programs wait for them."""


@dataclass(frozen=True)
class DriverFigures:
    """The figures of a driver among several, in the steady phase of its run."""

    name: str
    address: str
    first_user: int
    last_user: int
    lines: int
    """Number of lines that it sent."""
    lateness_p99_ns: int | None
    """None if it sent no line."""
    lateness_max_ns: int | None
    driver_share: float | None
    """Share of the processors of its host that loadgo took, 0 to 1; None where it was not measured."""
    busy_share: float | None
    """Share of them that all programs there took, users' log-in commands among them."""
    clock_bound_ns: int | None
    """The largest error of its instants on the run's clock."""
    lost: HostLost | None

    @property
    def users(self) -> int:
        """Number of users."""
        return self.last_user - self.first_user + 1

    @property
    def is_busy(self) -> bool:
        """Whether its processors were so busy that the users' log-in commands waited for them."""
        return self.busy_share is not None and self.busy_share > BUSY_DRIVER_SHARE


def drivers_figures(conditions: Mapping[str, Any]) -> tuple[DriverFigures, ...]:
    """The figures of each driver of a run with several, from its `run.toml`; none for any other run."""
    tolerated = tolerated_losses(conditions).drivers
    return tuple(_figures(driver, driver.name in tolerated) for driver in drivers_of_run(conditions))


def _figures(driver: DriverOfRun, is_tolerated: bool) -> DriverFigures:
    entry = driver.entry
    lost = HostLost(driver.lost, entry.get("lost_at_s"), is_tolerated) if driver.lost else None
    return DriverFigures(
        name=driver.name,
        address=str(entry.get("address", "")),
        first_user=driver.first_user,
        last_user=driver.last_user,
        lines=int(entry.get("lines", 0)),
        lateness_p99_ns=entry.get("lateness_p99_ns"),
        lateness_max_ns=entry.get("lateness_max_ns"),
        driver_share=entry.get("driver_share"),
        busy_share=entry.get("busy_share"),
        clock_bound_ns=entry.get("clock", {}).get("bound_ns"),
        lost=lost,
    )
