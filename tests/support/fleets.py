"""Made-up runs on several hosts, for the tests of what reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from loadgo.records.fleets import METER_TABLES
from loadgo.records.tables import Tables

from support.synthetic import Work, closed_loop

NAMES = ("ash", "birch", "cedar", "damson", "elm", "fir")


def fleet_run(
    slowness: Sequence[float],
    *,
    users: int = 10,
    passes: int = 20,
    seed: int = 1,
    lost: Mapping[str, str] | None = None,
    without_lost: int = 0,
) -> Tables:
    """A run on hosts that are these times as slow as one of `closed_loop`, each with so many users.

    `lost` has the reasons of hosts that were lost.
    """
    names = NAMES[: len(slowness)]
    loads = [
        closed_loop(users, passes, (Work("edit", 0.1 * factor),), seed=seed * 1000 + number)
        for number, factor in enumerate(slowness)
    ]
    frames: dict[str, list[pl.DataFrame]] = {}
    for number, (name, load) in enumerate(zip(names, loads, strict=True)):
        for table, frame in load.frames().items():
            if table != "phases":
                frames.setdefault(table, []).append(_of_host(frame, name, number * users))
    phases = loads[0].phases.with_columns(at_ns=pl.max_horizontal(*(load.phases["at_ns"] for load in loads)))
    entries = [_entry(name, number, users, lost or {}) for number, name in enumerate(names)]
    conditions = {**loads[0].conditions, "usage": {}}
    conditions["load"] = {**conditions["load"], "users": users * len(slowness)}
    conditions["system"] = {
        "kind": "fleet",
        "name": "hosts.toml",
        "processors": 2 * len(slowness),
        "without_lost": without_lost,
        "hosts": entries,
    }
    joined: dict[str, Any] = {table: pl.concat(parts) for table, parts in frames.items()}
    return replace(loads[0], **joined, phases=phases, conditions=conditions)


def _of_host(frame: pl.DataFrame, name: str, users_before: int) -> pl.DataFrame:
    if "user" in frame.columns:
        frame = frame.with_columns((pl.col("user") + users_before).cast(pl.UInt32))
    return frame.with_columns(pl.lit(name).cast(pl.Categorical).alias("host"))


def _entry(name: str, number: int, users: int, lost: Mapping[str, str]) -> dict[str, Any]:
    entry = {
        "name": name,
        "address": f"ssh://{name}",
        "weight": 1,
        "first_user": number * users + 1,
        "last_user": (number + 1) * users,
        "kind": "host",
        "hostname": f"{name}.example",
        "processors": 2,
        "usage": {"cpu": "cgroup v1 cpuacct"},
    }
    return entry | ({"lost": lost[name], "lost_at_s": 12.0} if name in lost else {})


def meter_frames(tables: Tables) -> dict[str, pl.DataFrame]:
    """The tables of meters by name."""
    return {name: frame for name, frame in tables.frames().items() if name in METER_TABLES}
