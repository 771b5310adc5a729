"""The hosts of a run that were lost, driven or driving, without which it was to count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loadgo.records.drivers import drivers_of_run
from loadgo.records.fleets import hosts_of_run


@dataclass(frozen=True)
class ToleratedLosses:
    """The names of lost hosts and drivers without which a run counts."""

    hosts: frozenset[str]
    drivers: frozenset[str]


def tolerated_losses(conditions: Mapping[str, Any]) -> ToleratedLosses:
    """The lost hosts and drivers of a run, if it was to count without so many; else none."""
    hosts = frozenset(host.name for host in hosts_of_run(conditions) if host.lost)
    drivers = frozenset(driver.name for driver in drivers_of_run(conditions) if driver.lost)
    allowed = conditions.get("without_lost", conditions.get("system", {}).get("without_lost", 0))
    is_allowed = len(hosts) + len(drivers) <= int(allowed)
    return ToleratedLosses(hosts, drivers) if is_allowed else ToleratedLosses(frozenset(), frozenset())
