"""Runs as a fit reads them: the times of each interaction by cause, and the totals of the system's meters.

Times are in nanoseconds. A fit uses the answered and metered interactions of the steady phase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.errors import BadArgument
from loadgo.measures.audit import group_losses, is_remote
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.notation.toml_text import toml_table
from loadgo.records.conditions import asked_pace, think_of_script
from loadgo.records.fleet_tables import tables_of_one_host
from loadgo.records.interactions import CPU_NS, RESPONSE_NS
from loadgo.records.phases import Stretch, interactions_in, spans_in, stretch_of
from loadgo.records.runs import find_run
from loadgo.stats.resample import MOST_STRETCHES

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

FEWEST_FIT_INTERACTIONS = 10
"""The smallest number of interactions that a machine is fitted to."""

_WAIT_COLUMNS = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns")


@dataclass(frozen=True)
class StoreUse:
    """The use of a storage device over the stretch."""

    requests: float
    busy_ns: float
    """Busy time of all its servers together."""


@dataclass(frozen=True)
class RunReading:
    """The data of one run."""

    id: str
    kind: Literal["host", "machine"]
    users: int
    think: str
    """The law of the think time: that of the run, or else the script's; empty if the script cannot be read."""
    asked_pace: Mapping[str, str]
    """The options `think` and `typing` that the run had in place of the script's; a line may have a think time, too."""
    conditions: Mapping[str, Any]
    machine: Mapping[str, Any]
    """The machine file of a simulated machine, which has its configuration; empty for a host."""
    rows: pl.DataFrame
    """A row for each interaction; null means not measured.

    Columns: run, user, stretch, line, command, cpu, system (a part of cpu), sent, ready_at, response, ready, paging,
    io, faults, bytes, thinking.
    """
    total: TotalTime | None
    stores: Mapping[str, StoreUse]
    switches: float | None
    """Number of dispatches."""
    supervisor: Mapping[str, tuple[float, float]]
    """Number and processor time of each operation of the supervisor (system call or kind of fault) that was timed."""
    supervisor_whole_run: Mapping[str, tuple[float, float]]
    """As `supervisor`, over the whole run with its log-ins."""
    span_s: float
    lost: int
    stretch: Stretch
    tables: Tables

    @property
    def processors(self) -> int:
        """Number of processors of the system."""
        return int(self.conditions.get("system", {}).get("processors") or 1)

    @property
    def load_key(self) -> tuple[str, ...]:
        """The parts of the load: users, think time, typing and arrivals. Runs of one load have one key."""
        load = self.conditions.get("load", {})
        return (str(self.users), self.think, *(str(load.get(key, "")) for key in ("typing", "arrivals_per_second")))


def read_runs(runs: Sequence[str | PathLike[str]], host: str | None = None) -> list[RunReading]:
    """Reads the runs, or of runs on several hosts the part that is of `host`.

    Runs to which no machine can be fitted raise `ValueError`, unreadable ones `BadRun`.
    """
    if not runs:
        raise BadArgument("there is no run to fit a machine to: name a run, or `last`")
    readings = [_read_run(number, run, host) for number, run in enumerate(runs)]
    ids = [reading.id for reading in readings]
    repeated = sorted({name for name in ids if ids.count(name) > 1})
    if repeated:
        raise BadArgument(f"{', '.join(repeated)} is named twice: name each run once")
    _check_same_script(readings)
    kinds = {reading.kind for reading in readings}
    if len(kinds) > 1:
        raise BadArgument("some of these runs were on a host and some on a simulated machine: fit one system at a time")
    interactions = sum(len(reading.rows) for reading in readings)
    if interactions < FEWEST_FIT_INTERACTIONS:
        raise BadArgument(
            f"{interactions} interaction{'s were' if interactions != 1 else ' was'} answered and metered: no machine "
            f"can be fitted to these; a fit needs at least {FEWEST_FIT_INTERACTIONS}, better some hundred, as in "
            "`duration=2min`"
        ).about("duration")
    return readings


def _check_same_script(readings: Sequence[RunReading]) -> None:
    """Refuses runs of different scripts, since the commands of a machine come from one script."""
    conditions = readings[0].tables.conditions
    script = _typed_script(readings[0])
    for reading in readings[1:]:
        if _typed_script(reading) != script:
            name, other_name = conditions.get("name"), reading.conditions.get("name")
            names = f"{name!r} and {other_name!r}" if name != other_name else f"{name!r}, but with other lines"
            raise BadArgument(
                f"{readings[0].id} and {reading.id} are runs of different scripts: {names}; "
                "fit a machine to runs of one script"
            )


def _typed_script(reading: RunReading) -> Any:
    """The keys of a run's script that decide what users type; None if the script cannot be read."""
    folder = Path(str(reading.conditions["folder"]))
    try:
        script = toml_table((folder / "script.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    # A run may have had another log-in than its script has.
    login = reading.conditions.get("system", {}).get("login", script.get("login"))
    return {"login": login, **{key: script.get(key) for key in ("lines", "files")}}


def _read_run(number: int, run: str | PathLike[str], host: str | None) -> RunReading:
    folder = find_run(run)
    tables = tables_of_one_host(folder, "`loadgo fit`", host)
    conditions = dict(tables.conditions) | {"folder": str(folder)}
    name = str(conditions.get("id", folder.name))
    if conditions.get("kind") == "meter":
        raise BadArgument(f"{name} has no load: a machine is fitted to runs in which users type")
    if int(conditions.get("load", {}).get("users") or 0) < 1:
        raise BadArgument(f"{name} has no number of users")
    login = str(conditions.get("system", {}).get("login", ""))
    if is_remote(conditions) and not conditions.get("usage", {}).get("cpu"):
        raise BadArgument(
            f"{name} had its users on another host ({login}), where what each interaction used was not measured: make "
            "the run by a loadgo on that host"
        )
    stretch = stretch_of(tables)
    rows = _interaction_rows(number, tables, stretch)
    _check_metered(name, tables, rows)
    queue = spans_in(tables.queue, stretch)
    load = conditions.get("load", {})
    return RunReading(
        id=name,
        kind="machine" if conditions.get("system", {}).get("kind") == "machine" else "host",
        users=int(load["users"]),
        think=str(load.get("think") or think_of_script(folder) or ""),
        asked_pace=asked_pace(folder, load),
        conditions=conditions,
        machine=_machine_toml(folder),
        rows=rows.filter(pl.col("cpu").is_not_null() & pl.col("response").is_not_null()),
        total=total_time_of(tables, stretch),
        stores=_store_use(queue),
        switches=_measure_sum(queue, "processors", "switches"),
        supervisor=_supervisor_times(tables, stretch),
        supervisor_whole_run=_supervisor_times(tables, None),
        span_s=stretch.span_ns / 1e9,
        lost=sum(loss.count for loss in group_losses(tables.lost, tables.conditions)),
        stretch=stretch,
        tables=tables,
    )


def _check_metered(name: str, tables: Tables, rows: pl.DataFrame) -> None:
    if len(rows) and rows["cpu"].is_null().all():
        reason = "; ".join(tables.conditions.get("usage", {}).get("notes", ()))
        raise BadArgument(
            f"{name} has no processor time of interactions, which a fit needs{': ' + reason if reason else ''}; "
            "loadgo doctor says what this host can measure"
        )


def _machine_toml(folder: Path) -> Mapping[str, Any]:
    try:
        return toml_table((folder / "machine.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _interaction_rows(number: int, tables: Tables, stretch: Stretch) -> pl.DataFrame:
    answered = pl.col("outcome").cast(pl.String).is_in(["ok", "failed", "unconfirmed"])
    rows = interactions_in(tables.interactions, stretch).filter(answered)
    width = max(stretch.span_ns, 1) / MOST_STRETCHES
    sent, ready = pl.col("sent_ns").cast(pl.Float64), pl.col("ready_ns").cast(pl.Float64)
    stretch_index = ((sent - stretch.start_ns) / width).floor().clip(0, MOST_STRETCHES - 1)
    waits = [pl.col(name).cast(pl.Float64).alias(name.split("_")[0]) for name in _WAIT_COLUMNS]
    lateness = sent - pl.col("planned_ns").cast(pl.Float64)
    return rows.select(
        pl.lit(number, pl.Int64).alias("run"),
        pl.col("user").cast(pl.Int64),
        stretch_index.cast(pl.Int64).alias("stretch"),
        pl.col("line").cast(pl.Int64),
        pl.col("command").cast(pl.String),
        CPU_NS.cast(pl.Float64).alias("cpu"),
        pl.col("cpu_system_ns").cast(pl.Float64).alias("system"),
        sent.alias("sent"),
        ready.alias("ready_at"),
        RESPONSE_NS.cast(pl.Float64).alias("response"),
        *waits,
        pl.col("faults_major").cast(pl.Float64).alias("faults"),
        pl.col("bytes_out").cast(pl.Float64).alias("bytes"),
        (pl.col("think_ns") + pl.col("typing_ns")).cast(pl.Float64).alias("thinking") + lateness,
    )


def _measure_sum(queue: pl.DataFrame, name: str, measure: str) -> float | None:
    measure_rows = queue.filter(
        (pl.col("queue").cast(pl.String) == name) & (pl.col("measure").cast(pl.String) == measure)
    )
    return float(measure_rows["value"].sum()) if len(measure_rows) else None


def _store_use(queue: pl.DataFrame) -> dict[str, StoreUse]:
    names = [str(name) for name in queue["queue"].cast(pl.String).unique().sort() if name != "processors"]
    uses = {name: (_measure_sum(queue, name, "requests"), _measure_sum(queue, name, "busy_ns")) for name in names}
    return {name: StoreUse(requests, busy or 0.0) for name, (requests, busy) in uses.items() if requests}


def _supervisor_times(tables: Tables, stretch: Stretch | None) -> dict[str, tuple[float, float]]:
    times: dict[str, tuple[float, float]] = {}
    for frame, name, time in ((tables.primitives, "name", "time_ns"), (tables.faults, "kind", "cpu_ns")):
        spans = frame if stretch is None else spans_in(frame, stretch)
        sums = spans.filter(pl.col("bucket_ns").is_null() & pl.col("user").is_null())
        sums = sums.filter(pl.col("command").is_null() & pl.col(time).is_not_null())
        if name == "kind":
            sums = sums.filter(pl.col("device").is_null())
        totals = sums.group_by(pl.col(name).cast(pl.String)).agg(
            pl.col("count").cast(pl.Float64).sum(), pl.col(time).cast(pl.Float64).sum()
        )
        times |= {str(kind): (float(count), float(spent)) for kind, count, spent in totals.rows()}
    return times
