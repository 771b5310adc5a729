"""The description of a run: what its `run.toml` says, with a value for each key that may be missing there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loadgo.measures.hosts import HostLost, lost_hosts
from loadgo.records.fleets import hosts_of_run

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class RunDescription:
    """The description of a run, from `run.toml`; a text that is missing there is empty."""

    id: str
    kind: str
    """`run`, or `meter`: metered without a load, perhaps beside one command."""
    name: str
    model: str
    """`closed` or `open`."""
    users: int
    """Number of users that the load has; in an open load those who came."""
    started: str
    wall_s: float | None
    finished: bool
    outcome: str
    """As `Tables.outcome`."""
    system: Mapping[str, Any]
    """The machine: the table `system` of `run.toml`."""
    load: Mapping[str, Any]
    """The offered load: the table `load` of `run.toml`."""
    conditions: Mapping[str, Any]
    """How busy the machine was before and after the run: the table `conditions`."""
    limit: Mapping[str, Any]
    """Limits of the users' processors and memory: the table `limit`; empty without limits."""
    meters: Mapping[str, Any]
    """The kernel meters: the table `meters`; empty where the run's folder has none."""
    usage: Mapping[str, Any]
    """The source of each interaction's usage: the table `usage`."""
    limit_each: Mapping[str, Any] = field(default_factory=dict)
    """Limits of each user: the table `limit_each`; empty without limits."""
    lost_hosts: Mapping[str, HostLost] = field(default_factory=dict)
    """The hosts of several that were lost, by name."""
    hosts: int = 0
    """Number of hosts of a run, or of a metering, of several; 0 for any other."""
    command_line: tuple[str, ...] = ()
    """The words of the command that recorded it; empty if they are not known."""
    users_run: str = ""
    """The id of the run whose users were on this metered host, if its records lie in that run's folder; else empty."""


def _users(tables: Tables, load: Mapping[str, Any]) -> int:
    """The number of users of a closed load; of an open one the number that has come so far."""
    if "users" in load and load.get("model") != "open":
        return int(load["users"])
    return len({*tables.sessions["user"].unique(), *tables.interactions["user"].unique()})


def describe_run(tables: Tables) -> RunDescription:
    """The description of the run with these tables."""
    description = tables.conditions
    load = description.get("load", {})
    return RunDescription(
        id=str(description.get("id", "")),
        kind=str(description.get("kind", "run")),
        name=str(description.get("name", "")),
        model=str(load.get("model", "closed")),
        users=_users(tables, load),
        started=str(description.get("started", "")),
        wall_s=description.get("wall_s"),
        finished=bool(description.get("finished", False)),
        outcome=tables.outcome,
        system=description.get("system", {}),
        load=load,
        conditions=description.get("conditions", {}),
        limit=description.get("limit", {}),
        limit_each=description.get("limit_each", {}),
        meters=description.get("meters", {}),
        usage=description.get("usage", {}),
        lost_hosts=lost_hosts(description),
        hosts=len(hosts_of_run(description)),
        command_line=tuple(map(str, description.get("command", ()))),
        users_run=tables.users_run,
    )
