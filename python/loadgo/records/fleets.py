"""The hosts of a run on a fleet: which users and which rows are whose.

The section `system` of such a run's `run.toml` has a list `hosts`. Each entry has the host's own description, and the
range of its users. The tables have a column `host`, and no other run's tables have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loadgo.records.user_ranges import PartOfRun

if TYPE_CHECKING:
    import polars as pl

FLEET_KIND = "fleet"
"""The `kind` of a fleet as the system of a run."""
FLEET_FOLDER = "other-hosts"
"""The folder of the hosts' records in a fleet run's folder, while it goes: a folder for each host, by its name."""
HOST_COLUMN = "host"
DRIVER_HOST = "here"
"""The host of rows that belong to none of the fleet: the driver's."""
METER_TABLES = (
    *("time", "processes", "faults", "segments", "primitives", "queue", "stacks", "memory", "session_usage"),
    *("meter_price", "meter_windows", "window_events", "lock_waits", "working_sets", "processor_speed"),
)
"""The tables that the meters of a host fill. Their rows cover a span."""
_USERS_TABLES = ("interactions", "sessions", "lost", "screens")
"""The tables whose rows belong to a user, or to the run as a whole."""


class HostOfRun(PartOfRun):
    """A host of a run on a fleet: an entry of `system.hosts`."""

    PLURAL = "hosts"
    KEYS = (*PartOfRun.KEYS, "address")

    @property
    def address(self) -> str:
        """The address by which loadgo reached the host."""
        return str(self.entry["address"])


def is_fleet_run(conditions: Mapping[str, Any]) -> bool:
    """Whether the run with this `run.toml` loads several hosts."""
    return bool(conditions.get("system", {}).get("kind") == FLEET_KIND)


def is_metering_of_hosts(conditions: Mapping[str, Any]) -> bool:
    """Whether the run with this `run.toml` metered several hosts without a load."""
    return is_fleet_run(conditions) and conditions.get("kind") == "meter"


def hosts_of_run(conditions: Mapping[str, Any]) -> tuple[HostOfRun, ...]:
    """The hosts of a run on a fleet, in the order of their users; none for any other run. Raises `BadRun`."""
    if not is_fleet_run(conditions):
        return ()
    return HostOfRun.all_in(conditions["system"].get("hosts", [{}]))


def with_host_of_user(frame: pl.DataFrame, hosts: tuple[HostOfRun, ...]) -> pl.DataFrame:
    """The rows with the host of their user; rows without a user, or of a user without a host, are the driver's."""
    # Here and not above, since a run reads this file before it begins, and needs no tables then.
    import polars as pl

    bounds = pl.DataFrame(
        {
            "first": [host.first_user for host in hosts],
            "last": [host.last_user for host in hosts],
            HOST_COLUMN: [host.name for host in hosts],
        },
        schema={"first": pl.UInt32, "last": pl.UInt32, HOST_COLUMN: pl.String},
    )
    users = frame.select("user").unique().drop_nulls().sort("user")
    found = users.join_asof(bounds.sort("first"), left_on="user", right_on="first").filter(
        pl.col("user") <= pl.col("last")
    )
    joined = frame.join(found.select("user", HOST_COLUMN), on="user", how="left", maintain_order="left")
    return joined.with_columns(pl.col(HOST_COLUMN).fill_null(DRIVER_HOST).cast(pl.Categorical))


def with_hosts(frames: Mapping[str, pl.DataFrame], conditions: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """The frames of a run. Where rows of a fleet run do not name their host yet, it is that of their user."""
    hosts = hosts_of_run(conditions)
    if not hosts:
        return dict(frames)
    return {
        name: with_host_of_user(frame, hosts) if name in _USERS_TABLES and HOST_COLUMN not in frame.columns else frame
        for name, frame in frames.items()
    }
