"""Runs as a fit reads them: what each interaction took, by cause, and what the meters of its system say in all.

Times are nanoseconds. Only interactions that were answered and metered count, of the steady phase.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.errors import BadArgument
from loadgo.measures.audit import group_losses, is_remote
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.records.interactions import CPU_NS, RESPONSE_NS
from loadgo.records.phases import Stretch, interactions_in, spans_in, stretch_of
from loadgo.records.runs import find_run
from loadgo.records.tables import tables as tables_of
from loadgo.stats.resample import MOST_STRETCHES

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

FEWEST = 10
"""Interactions; to fewer no machine is fitted."""

_TIMES = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns")


@dataclass(frozen=True)
class Store:
    """What the meters say of a storage device over the stretch."""

    requests: float
    busy_ns: float
    """Of all its servers together."""


@dataclass(frozen=True)
class Reading:
    """One run."""

    id: str
    kind: Literal["host", "machine"]
    users: int
    think: str
    """The law of think time that the run had, in words."""
    conditions: Mapping[str, Any]
    machine: Mapping[str, Any]
    """The machine's own file, of a simulated one: what is known of its configuration."""
    rows: pl.DataFrame
    """run, user, stretch, line, command, cpu (and the system's part of it), sent, ready_at, response, ready, paging, io
    (nulls are not measured), faults, bytes, thinking; a row for each interaction."""
    total: TotalTime | None
    stores: Mapping[str, Store]
    switches: float | None
    """Dispatches."""
    supervisor: Mapping[str, tuple[float, float]]
    """Of each primitive and kind of fault that was timed: how many, and the processor time of all."""
    everywhere: Mapping[str, tuple[float, float]]
    """The same of the whole run, log-ins with it."""
    span_s: float
    lost: int
    stretch: Stretch
    tables: Tables

    @property
    def processors(self) -> int:
        """How many the system has."""
        return int(self.conditions.get("system", {}).get("processors") or 1)


def readings_of(runs: Sequence[str | PathLike[str]]) -> list[Reading]:
    """All of the runs. Raises `ValueError` in words for what no machine can be fitted to, and `BadRun`."""
    if not runs:
        raise BadArgument("there is no run to fit a machine to: name one, or last")
    read = [_reading(number, run) for number, run in enumerate(runs)]
    twice = sorted({one.id for one in read if [other.id for other in read].count(one.id) > 1})
    if twice:
        raise BadArgument(f"{', '.join(twice)} is named twice: it would count twice, and look surer than it is")
    _same_script(read)
    kinds = {one.kind for one in read}
    if len(kinds) > 1:
        raise BadArgument("some of these runs were on a host and some on a simulated machine: fit one system at a time")
    found = sum(len(one.rows) for one in read)
    if found < FEWEST:
        raise BadArgument(
            f"{found} interaction{'s were' if found != 1 else ' was'} answered and metered: no machine can be fitted "
            f"to so few; let the users type on (at least {FEWEST}, better some hundred), as in `duration=2min`"
        ).about("duration")
    return read


def _same_script(read: Sequence[Reading]) -> None:
    """Refuses runs of different scripts: a machine's commands are one script's."""
    first = read[0].tables.conditions
    script = _script(read[0])
    for one in read[1:]:
        if _script(one) != script:
            name, other = first.get("name"), one.conditions.get("name")
            names = f"{name!r} and {other!r}" if name != other else f"{name!r}, but with other lines"
            raise BadArgument(
                f"{read[0].id} and {one.id} are runs of different scripts: {names}; fit a machine to runs of one script"
            )


def _script(reading: Reading) -> Any:
    """What the users typed, without how long they thought."""
    folder = Path(str(reading.conditions["folder"]))
    try:
        told = tomllib.loads((folder / "script.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {key: told.get(key) for key in ("login", "lines", "files")}


def _reading(number: int, run: str | PathLike[str]) -> Reading:
    folder = find_run(run)
    tables = tables_of(folder)
    conditions = dict(tables.conditions) | {"folder": str(folder)}
    name = str(conditions.get("id", folder.name))
    if conditions.get("kind") == "meter":
        raise BadArgument(f"{name} was metered without a load: a machine is fitted to a run in which users type")
    if int(conditions.get("load", {}).get("users") or 0) < 1:
        raise BadArgument(f"{name} does not say how many users it had")
    login = str(conditions.get("system", {}).get("login", ""))
    if is_remote(login):
        raise BadArgument(
            f"{name} had its users on another machine ({login}), and what they used there was not metered: "
            "run loadgo there"
        )
    stretch = stretch_of(tables)
    rows = _rows(number, tables, stretch)
    _metered(name, tables, rows)
    queue = spans_in(tables.queue, stretch)
    load = conditions.get("load", {})
    return Reading(
        id=name,
        kind="machine" if conditions.get("system", {}).get("kind") == "machine" else "host",
        users=int(load["users"]),
        think=str(load.get("think", "")),
        conditions=conditions,
        machine=_machine(folder),
        rows=rows.filter(pl.col("cpu").is_not_null() & pl.col("response").is_not_null()),
        total=total_time_of(tables, stretch),
        stores=_stores(queue),
        switches=_sum(queue, "processors", "switches"),
        supervisor=_supervisor(tables, stretch),
        everywhere=_supervisor(tables, None),
        span_s=stretch.span_ns / 1e9,
        lost=sum(loss.count for loss in group_losses(tables.lost)),
        stretch=stretch,
        tables=tables,
    )


def _metered(name: str, tables: Tables, rows: pl.DataFrame) -> None:
    if len(rows) and rows["cpu"].is_null().all():
        why = "; ".join(tables.conditions.get("usage", {}).get("notes", ()))
        raise BadArgument(
            f"{name} does not know what processor time an interaction used, and a machine is made of that"
            f"{': ' + why if why else ''}; loadgo doctor says what this host can measure"
        )


def _machine(folder: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads((folder / "machine.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _rows(number: int, tables: Tables, stretch: Stretch) -> pl.DataFrame:
    answered = pl.col("outcome").cast(pl.String).is_in(["ok", "failed", "unconfirmed"])
    rows = interactions_in(tables.interactions, stretch).filter(answered)
    width = max(stretch.span_ns, 1) / MOST_STRETCHES
    sent, ready = pl.col("sent_ns").cast(pl.Float64), pl.col("ready_ns").cast(pl.Float64)
    place = ((sent - stretch.start_ns) / width).floor().clip(0, MOST_STRETCHES - 1)
    waits = [pl.col(name).cast(pl.Float64).alias(name.split("_")[0]) for name in _TIMES]
    lateness = sent - pl.col("planned_ns").cast(pl.Float64)
    return rows.select(
        pl.lit(number, pl.Int64).alias("run"),
        pl.col("user").cast(pl.Int64),
        place.cast(pl.Int64).alias("stretch"),
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


def _sum(queue: pl.DataFrame, name: str, measure: str) -> float | None:
    mine = queue.filter((pl.col("queue").cast(pl.String) == name) & (pl.col("measure").cast(pl.String) == measure))
    return float(mine["value"].sum()) if len(mine) else None


def _stores(queue: pl.DataFrame) -> dict[str, Store]:
    names = [str(name) for name in queue["queue"].cast(pl.String).unique().sort() if name != "processors"]
    read = {name: (_sum(queue, name, "requests"), _sum(queue, name, "busy_ns")) for name in names}
    return {name: Store(requests, busy or 0.0) for name, (requests, busy) in read.items() if requests}


def _supervisor(tables: Tables, stretch: Stretch | None) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for frame, name, time in ((tables.primitives, "name", "time_ns"), (tables.faults, "kind", "cpu_ns")):
        spans = frame if stretch is None else spans_in(frame, stretch)
        sums = spans.filter(pl.col("bucket_ns").is_null() & pl.col("user").is_null())
        sums = sums.filter(pl.col("command").is_null() & pl.col(time).is_not_null())
        if name == "kind":
            sums = sums.filter(pl.col("device").is_null())
        totals = sums.group_by(pl.col(name).cast(pl.String)).agg(
            pl.col("count").cast(pl.Float64).sum(), pl.col(time).cast(pl.Float64).sum()
        )
        found |= {str(kind): (float(count), float(spent)) for kind, count, spent in totals.rows()}
    return found
