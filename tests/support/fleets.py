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
from loadgo.records.host_places import HostPlace, write_place
from loadgo.records.runs import FAR_FOLDER
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
    rows: dict[str, list[dict[str, Any]]] = {"time": [], "queue": [], "processes": [], "memory": []}
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
            rows["memory"] += [row | held for held in _memory(share)]
    conditions = {"kind": "meter", "name": "hosts.toml", "wall_s": float(seconds), "usage": {}}
    hosts = [_entry(name, 0, 0, lost or {}) for name in names]
    system = {"kind": "fleet", "name": "hosts.toml", "processors": 2 * len(names), "hosts": hosts}
    metered: dict[str, Any] = {table: _frame_with_host(own, table) for table, own in rows.items()}
    return replace(empty_run(**conditions, system=system), **metered)


MEMORY_BYTES = 8_000_000_000


def _memory(share: float) -> list[dict[str, Any]]:
    """The holders of a host's memory, of which this share is neither free nor file cache."""
    free = round((1 - share) * MEMORY_BYTES / 4)
    return [
        {"who": "others", "resident_bytes": MEMORY_BYTES - 4 * free},
        {"who": "file cache", "resident_bytes": 3 * free},
        {"who": "free", "resident_bytes": free, "size_bytes": MEMORY_BYTES},
    ]


def metered_fleet_run(
    slowness: Sequence[float], busy: Sequence[float], *, seconds: int = 90, lost: Mapping[str, str] | None = None
) -> Tables:
    """A run as `fleet_run` makes it, on hosts that are metered as `metered_fleet` says."""
    run, metered = fleet_run(slowness, lost=lost), metered_fleet(busy, seconds=seconds, lost=lost)
    conditions = {"kind": "run", "name": "work", **run.conditions}
    return replace(run, conditions=conditions, **meter_frames(metered))


def _frame_with_host(rows: Sequence[Mapping[str, Any]], table: str) -> pl.DataFrame:
    hosts = pl.Series("host", [row["host"] for row in rows], dtype=pl.Categorical)
    return frame([{key: value for key, value in row.items() if key != "host"} for row in rows], table).with_columns(
        hosts
    )


def growing_metering(folder: Path, tables: Tables, begin_s: Mapping[str, float]) -> dict[str, GrowingHost]:
    """The folder of a metering that goes on, and its hosts, of which nothing has come yet.

    A host's own records begin at these seconds of the metering, which is -1.5 for one that was ready 1.5 s before.
    """
    hosts = [{**entry, "records_begin_s": begin_s[entry["name"]]} for entry in tables.conditions["system"]["hosts"]]
    return _growing(folder, tables, hosts)


def growing_run(folder: Path, tables: Tables, *, typed_s: float = 8.0) -> dict[str, GrowingHost]:
    """The folder of a run that goes on, and its hosts, of which nothing has come yet.

    It has the interactions that were answered in its first seconds.
    """
    hosts = [
        {key: value for key, value in entry.items() if not key.startswith("lost")}
        for entry in tables.conditions["system"]["hosts"]
    ]
    growing = _growing(folder, tables, hosts)
    append(folder / "interactions.arrows", tables.interactions.drop("host").filter(pl.col("ready_ns") <= typed_s * 1e9))
    return growing


def growing_far_run(folder: Path, tables: Tables) -> GrowingHost:
    """The folder of a run on one other host that goes on, and that host, which is the first of `tables`."""
    first = tables.conditions["system"]["hosts"][0]["name"]
    own = tables_of_host(tables, first)
    folder.mkdir()
    (folder / "run.toml").write_text(tomlkit.dumps({**own.conditions, "id": folder.name, "finished": False}))
    append(folder / "interactions.arrows", own.interactions.drop("host"))
    return GrowingHost(folder / FAR_FOLDER, own)


def _growing(folder: Path, tables: Tables, hosts: Sequence[Mapping[str, Any]]) -> dict[str, GrowingHost]:
    folder.mkdir()
    conditions = {**tables.conditions, "finished": False, "system": {**tables.conditions["system"], "hosts": hosts}}
    (folder / "run.toml").write_text(tomlkit.dumps({"id": folder.name, **conditions}))
    (folder / FLEET_FOLDER).mkdir()
    return {
        str(host["name"]): GrowingHost(
            folder / FLEET_FOLDER / str(host["name"]), tables_of_host(tables, str(host["name"]))
        )
        for host in hosts
    }


@dataclass
class GrowingHost:
    """A host's folder within that of a run or metering, into which its agent's rows come."""

    folder: Path
    tables: Tables
    come_s: int = 0
    read_s: float = 0.0

    def come(self, until_s: int) -> None:
        """Lets the spans come that have ended by this second of its own records."""
        self._begin()
        for name in ("time", "queue", "memory", "processes"):
            own = getattr(self.tables, name).drop("host")
            new = own.filter(pl.col("at_ns").is_between(self.come_s * 10**9, until_s * 10**9, closed="right"))
            append(self.folder / f"{name}.arrows", new)
        self.come_s = until_s

    def read(self, until_s: float) -> None:
        """Lets the readings of its users' accounts come, up to this second of its own records."""
        self._begin()
        rows = readings_of(self.tables.interactions, self.read_s, until_s)
        append(self.folder / "session_usage.arrows", rows)
        self.read_s = until_s

    def place(self, begins_s: float, bound_ns: int = 50_000, lost: str = "", lost_at_s: float | None = None) -> None:
        """Says where its records lie on the run's clock, and whether it is lost."""
        self._begin()
        write_place(self.folder, HostPlace(round(begins_s * 1e9), bound_ns, lost, lost_at_s))

    def _begin(self) -> None:
        """Makes the folder in one step: a page that follows the run may look at any moment."""
        if not self.folder.exists():
            made = self.folder.with_name(f"{self.folder.name}.part")
            made.mkdir(parents=True)
            (made / "run.toml").write_text("format = 1\n")
            made.rename(self.folder)


def usage_in_readings() -> pl.Expr:
    """The processor time that `readings_of` has for each interaction of a table in order of time, in nanoseconds."""
    return (1_000_000 * pl.col("user") + 1000 * pl.int_range(1, pl.len() + 1).over("user")).cast(pl.UInt64)


def readings_of(interactions: pl.DataFrame, after_s: float, until_s: float) -> pl.DataFrame:
    """Rows of `session_usage` from one second to another: one for each interaction, which covers its response time."""
    rows = [
        {"user": user, "at_ns": at_ns, "span_ns": at_ns - sent_ns, "cpu_user_ns": used, "cpu_system_ns": 0}
        for user, sent_ns, at_ns, used in interactions.filter(pl.col("ready_ns").is_not_null())
        .sort("sent_ns")
        .select("user", "sent_ns", "ready_ns", usage_in_readings())
        .rows()
        if after_s < at_ns / 1e9 <= until_s
    ]
    first = {"span_ns": 0, "at_ns": 0, "cpu_user_ns": 0, "cpu_system_ns": 0}
    followed = [{"user": user, **first} for user in interactions["user"].unique()] if not after_s else []
    heard = {"user": None, "at_ns": round(until_s * 1e9), "span_ns": 0}
    return frame([*followed, *rows, heard], "session_usage")


def append(stream_path: Path, rows: pl.DataFrame) -> None:
    """Appends rows to a table's stream, as a run does that goes on."""
    stream = BytesIO()
    rows.cast({pl.Categorical: pl.String}).write_ipc_stream(stream)
    whole = stream.getvalue()[:-_END_OF_STREAM_BYTES]
    with stream_path.open("ab") as file:
        file.write(whole[_schema_bytes(whole) :] if file.tell() else whole)


_END_OF_STREAM_BYTES = 8


def _schema_bytes(stream: bytes) -> int:
    """The length of the message with the schema, with which a stream begins."""
    return 8 + int.from_bytes(stream[4:8], "little")
