"""Made-up runs and meterings of several hosts, for the tests of what reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomlkit
from loadgo.records.fleet_tables import tables_of_host
from loadgo.records.fleets import FLEET_FOLDER, METER_TABLES
from loadgo.records.tables import Tables

from support.synthetic import Work, closed_loop, empty_run, frame

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
        for table, rows in load.frames().items():
            if table != "phases":
                frames.setdefault(table, []).append(_of_host(rows, name, number * users))
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


def _of_host(rows: pl.DataFrame, name: str, users_before: int) -> pl.DataFrame:
    if "user" in rows.columns:
        rows = rows.with_columns((pl.col("user") + users_before).cast(pl.UInt32))
    return rows.with_columns(pl.lit(name).cast(pl.Categorical).alias("host"))


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
    return {name: rows for name, rows in tables.frames().items() if name in METER_TABLES}


def metered_fleet(
    busy: Sequence[float], *, seconds: int = 60, seed: int = 1, lost: Mapping[str, str] | None = None
) -> Tables:
    """A metering without users of hosts whose processors are busy for these shares of the time, give or take a tenth.

    Each second depends on the one before it, and a common wave goes over all hosts. `lost` has the reasons of hosts
    that were lost, whose records end in the middle.
    """
    random, second_ns = np.random.default_rng(seed), 1_000_000_000
    common = 0.05 * np.sin(np.arange(seconds) / 7)
    rows: dict[str, list[dict[str, Any]]] = {"time": [], "queue": [], "processes": []}
    names = NAMES[: len(busy)]
    for name, share in zip(names, busy, strict=True):
        noise = np.zeros(seconds)
        for second in range(1, seconds):
            noise[second] = 0.6 * noise[second - 1] + random.normal(0, 0.03)
        end = seconds // 2 if name in (lost or {}) else seconds
        for second, used in enumerate(np.clip(share + common + noise, 0.0, 1.0)[:end]):
            row = {"at_ns": (second + 1) * second_ns, "span_ns": second_ns, "host": name}
            time_ns = {"user": round(0.7 * used * second_ns), "primitive": round(0.3 * used * second_ns)}
            time_ns["idle"] = second_ns - sum(time_ns.values())
            rows["time"] += [row | {"processor": 0, "category": key, "time_ns": part} for key, part in time_ns.items()]
            rows["queue"].append(row | {"queue": "processors", "measure": "ready", "value": 4.0 * used})
            rows["processes"].append(row | {"who": f"on-{name}", "cpu_ns": time_ns["user"]})
    conditions = {"kind": "meter", "name": "hosts.toml", "wall_s": float(seconds), "usage": {}}
    hosts = [_entry(name, 0, 0, lost or {}) for name in names]
    system = {"kind": "fleet", "name": "hosts.toml", "processors": len(names), "hosts": hosts}
    metered: dict[str, Any] = {table: _frame_with_host(own, table) for table, own in rows.items()}
    return replace(empty_run(**conditions, system=system), **metered)


def _frame_with_host(rows: Sequence[Mapping[str, Any]], table: str) -> pl.DataFrame:
    hosts = pl.Series("host", [row["host"] for row in rows], dtype=pl.Categorical)
    return frame([{key: value for key, value in row.items() if key != "host"} for row in rows], table).with_columns(
        hosts
    )


def growing_metering(folder: Path, tables: Tables, begin_s: Mapping[str, float]) -> dict[str, GrowingHost]:
    """The folder of a metering that goes on, and its hosts, of which nothing has come yet.

    A host's own records begin at these seconds of the metering, which is -1.5 for one that was ready 1.5 s before.
    """
    folder.mkdir()
    hosts = [{**entry, "records_begin_s": begin_s[entry["name"]]} for entry in tables.conditions["system"]["hosts"]]
    system = {**tables.conditions["system"], "hosts": hosts}
    (folder / "run.toml").write_text(tomlkit.dumps({**tables.conditions, "finished": False, "system": system}))
    return {name: GrowingHost(folder / FLEET_FOLDER / name, tables_of_host(tables, name)) for name in begin_s}


@dataclass
class GrowingHost:
    """A host's folder within that of a metering, into which its agent's rows come."""

    folder: Path
    tables: Tables
    come_s: int = 0

    def come(self, until_s: int) -> None:
        """Lets the spans come that have ended by this second of its own records."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "run.toml").write_text("format = 1\n")
        for name in ("time", "queue"):
            own = getattr(self.tables, name).drop("host").cast({pl.Categorical: pl.String})
            new = own.filter(pl.col("at_ns").is_between(self.come_s * 10**9, until_s * 10**9, closed="right"))
            stream = BytesIO()
            new.write_ipc_stream(stream)
            whole, path = stream.getvalue()[:-_END_OF_STREAM_BYTES], self.folder / f"{name}.arrows"
            with path.open("ab") as file:
                file.write(whole if not self.come_s else whole[_schema_bytes(whole) :])
        self.come_s = until_s


_END_OF_STREAM_BYTES = 8


def _schema_bytes(stream: bytes) -> int:
    """The length of the message with the schema, with which a stream begins."""
    return 8 + int.from_bytes(stream[4:8], "little")
