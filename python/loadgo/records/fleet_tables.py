"""The tables of a run on several hosts: of one of them, and without what each host's meters counted."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import polars as pl

from loadgo.errors import BadArgument, BadRun
from loadgo.records.fleets import HOST_COLUMN, METER_TABLES, hosts_of_run, is_fleet_run
from loadgo.records.tables import Tables, tables

HOST_SECTIONS = ("conditions", "usage", "meters", "clock")
"""Sections of a host's `run.toml` that its entry in the fleet run's `system.hosts` has, too."""


def tables_of_load(recorded: Tables) -> Tables:
    """The tables of a run on several hosts without those of meters, which are of one host each. Others as they are.

    The tables of each host are then in `Tables.by_host`.
    """
    if not is_fleet_run(recorded.conditions) or recorded.by_host:
        return recorded
    emptied: dict[str, Any] = {name: frame.clear() for name, frame in recorded.frames().items() if name in METER_TABLES}
    by_host = tuple(tables_of_host(recorded, host.name) for host in hosts_of_run(recorded.conditions))
    return replace(recorded, **emptied, by_host=by_host)


def tables_of_host(recorded: Tables, name: str) -> Tables:
    """The tables of one host of a fleet run, as those of a run on this host alone. Raises `BadArgument`."""
    hosts = {host.name: host for host in hosts_of_run(recorded.conditions)}
    if not hosts:
        raise BadArgument(f"`host={name}`: the run is of one host: leave it out").about("host")
    if name not in hosts:
        raise BadArgument(f"`host={name}` is no host of the run; these are: {', '.join(hosts)}").about("host")
    host = hosts[name]
    frames: dict[str, Any] = {
        table: frame.filter(pl.col(HOST_COLUMN).cast(pl.String) == name)
        if HOST_COLUMN in frame.columns and frame.height
        else frame
        for table, frame in recorded.frames().items()
    }
    description = {key: value for key, value in host.entry.items() if key not in HOST_SECTIONS}
    sections = {key: host.entry[key] for key in HOST_SECTIONS if key in host.entry}
    system = {**description, "kind": "host", "name": host.address}
    load = {**recorded.conditions.get("load", {}), "users": host.users}
    return replace(recorded, **frames, conditions={**recorded.conditions, "system": system, "load": load, **sections})


def tables_of_one_host(run: str | PathLike[str], reader: str, host: str | None = None) -> Tables:
    """The tables of a run on one host, or of the `host` of a run on several.

    Raises `BadRun` for a run on several without a `host`, which the `reader` does not read as a whole.
    Raises `BadArgument` for a `host` that the run does not have.
    """
    recorded = tables(run)
    if host is not None:
        return tables_of_host(recorded, host)
    if is_fleet_run(recorded.conditions):
        raise _is_of_several(recorded, reader, "name one with `host`").about("host")
    return recorded


def tables_without_hosts(run: str | PathLike[str], reader: str) -> Tables:
    """The tables of a run on one host. Raises `BadRun` for a run on several, which the `reader` does not read."""
    recorded = tables(run)
    if is_fleet_run(recorded.conditions):
        raise _is_of_several(recorded, reader, "`loadgo report`, `loadgo compare` and `loadgo cost` read it")
    return recorded


def _is_of_several(recorded: Tables, reader: str, instead: str) -> BadRun:
    names = [host.name for host in hosts_of_run(recorded.conditions)]
    return BadRun(
        f"the run {recorded.conditions.get('id', '')} is of {len(names)} hosts ({', '.join(names)}), and {reader} "
        f"reads the meters of one: {instead}"
    )
