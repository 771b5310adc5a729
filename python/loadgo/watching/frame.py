"""What a watcher sees of a run at one moment: a window of time that ends there, and what happened in it, in columns.

Computes only: from tables to numbers. An interaction is in the tables when it has ended; so of a run that goes on, a
user whose last answer lies behind may think, type or wait by now, and is *not known yet* until the next row tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.measures.total_time import GROUPS
from loadgo.records.interactions import CPU_NS, IS_ANSWERED, IS_MEASURED, LATENESS_NS, PROMPTED_NS, RESPONSE_NS
from loadgo.stats.quantiles import sorted_quantile
from loadgo.stats.resample import Floats
from loadgo.watching.fault_times import Lengths, lengths
from loadgo.watching.memory_holders import USERS_LABEL, Holdings, holdings

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

STATES = ("running", "ready", "page wait", "disk wait", "other wait", "typing", "thinking", "not known yet")
"""What a user is doing. Of one interaction its times of the first five are known, and not in which order they were."""


def is_idle(category: str) -> bool:
    """Whether a processor did nothing, or was another's, in the time of this category."""
    return category.startswith("idle") or category in ("steal", "iowait")


@dataclass(frozen=True)
class Command:
    """One command's interactions in the window."""

    name: str
    count: int
    p50_ns: float
    p90_ns: float | None
    """None of fewer than ten: it would be the longest by another name."""
    mean_ns: float
    cpu_ns: float | None
    """Mean processor time; None where it was not measured."""


@dataclass(frozen=True)
class Waiter:
    """One user's waits for a processor, in the interactions of the window."""

    user: int
    sum_ns: float
    longest_ns: float


@dataclass(frozen=True)
class Frame:
    """A window of a run. Series have a value for each column, left to right; NaN is *not measured*."""

    start_ns: int
    end_ns: int
    phase: str
    users: int
    """Logged in at the end."""
    states: Mapping[str, Floats]
    """Mean number of users in each state."""
    bands: Mapping[int, Mapping[str, Floats]]
    """The same for each user: shares of the column."""
    ready: Floats
    """Mean length of the ready list."""
    waiters: tuple[Waiter, ...]
    """Who waited in it, most first."""
    busy: Floats
    """Share of the processors' time."""
    time: Mapping[str, float]
    """Share of each category of the processors' time, over the window."""
    processes: Mapping[str, Floats]
    """By name, the share of all processors' time: those that used most, the first first. Empty where not measured."""
    users_share: float
    """Of all processors' time, what all users' processes took over the window; NaN where it was not measured."""
    faults: Floats
    """Page faults a second."""
    major: Floats
    """Those of them that waited for a device."""
    fault_ns: tuple[float, float] | None
    """Mean processor time of a fault, and mean wait of one that waited; None where they are not metered."""
    fault_cpu: Lengths | None
    """Each fault's of the kinds that do not wait, of the others the mean of a span."""
    fault_waits: Lengths | None
    """Each fault's of the kinds that wait, handling included; where they are not told, the mean of a span."""
    memory: Holdings | None
    """None where it was not measured."""
    answered: int
    per_second: Floats
    """Answers a second."""
    commands: tuple[Command, ...]
    """The most frequent first."""
    response_ns: Mapping[float, float]
    """Of all commands, by probability."""
    lateness_ns: float | None
    """The driver's own, 99 of 100 lines."""
    lost: int
    """Records lost until the end of the window."""

    @property
    def width_ns(self) -> int:
        """The length of the window."""
        return self.end_ns - self.start_ns

    @property
    def busy_share(self) -> float:
        """Of the processors' time over the whole window; NaN where it was not measured."""
        return sum(part for name, part in self.time.items() if not is_idle(name)) if self.time else np.nan

    @property
    def waiting(self) -> Mapping[str, float]:
        """What the response times of the window consist of: shares of their sum."""
        sums = {name: float(np.nansum(self.states[name])) for name in STATES[:5]}
        total = sum(sums.values())
        return {name: value / total for name, value in sums.items()} if total else {}


def frame_of(tables: Tables, end_ns: int, width_ns: int, columns: int) -> Frame:
    """The window of `width_ns` nanoseconds that ends at `end_ns`, in so many columns."""
    start_ns = max(end_ns - width_ns, 0)
    edges = np.linspace(start_ns, max(end_ns, start_ns + 1), columns + 1)
    typed = tables.interactions.filter(IS_ANSWERED & IS_MEASURED)
    late = typed.filter((pl.col("ready_ns") > start_ns) & (pl.col("ready_ns") <= end_ns))
    bands = _bands(typed, tables.sessions, edges)
    time = _spanned(tables.time, edges).filter(pl.col("processor").is_not_null() | ~_has_processors(tables.time))
    processors = max(len(set(time["processor"].to_list())), 1)
    queue = tables.queue.filter(pl.col("queue").cast(pl.String) == "processors")
    everybodys = tables.faults.filter(pl.all_horizontal(pl.col("user", "command", "device").is_null()))
    faults = everybodys.filter(pl.col("bucket_ns").is_null())
    lasting = _spanned(everybodys, edges).filter(pl.col("kind").cast(pl.String).is_in(_FAULTS))
    response = np.sort(late.select(RESPONSE_NS.cast(pl.Float64)).to_series().to_numpy())
    return Frame(
        start_ns=start_ns,
        end_ns=end_ns,
        phase=_phase(tables.phases, end_ns),
        users=_there(tables, end_ns),
        states={state: sum((band[state] for band in bands.values()), np.zeros(columns)) for state in STATES},
        bands=bands,
        ready=_means(queue.filter(pl.col("measure").cast(pl.String) == "ready"), "value", edges),
        waiters=_waiters(late),
        busy=_busy(time, edges),
        time=_shares(time),
        processes=_processes(tables.processes, edges, processors),
        users_share=_users_share(_spanned(tables.processes, edges), processors),
        faults=_rates(faults, edges, _FAULTS) if len(faults) else _told(late, edges, *_COUNTED),
        major=_rates(faults, edges, _WAITED) if len(faults) else _told(late, edges, _COUNTED[1]),
        fault_ns=_fault_times(_spanned(faults, edges)),
        fault_cpu=lengths(lasting, "cpu_ns", _WAITED),
        fault_waits=lengths(lasting, "wait_ns", _WAITED),
        memory=holdings(tables.memory, start_ns, end_ns),
        answered=len(late),
        per_second=np.histogram(late["ready_ns"].to_numpy(), edges)[0] / np.diff(edges) * 1e9,
        commands=_commands(late),
        response_ns={p: sorted_quantile(response, p) for p in (0.5, 0.9) if len(response) >= (2 if p == 0.5 else 10)},
        lateness_ns=_lateness(late),
        lost=int(tables.lost.filter(pl.col("at_ns") <= end_ns)["count"].sum()),
    )


_WAITED = ("major", "swap-in", "major unclocked")
_FAULTS = ("minor", "minor unclocked", "write-protect", "segment", "bound", *_WAITED)
_COUNTED = ("faults_minor", "faults_major")
"""Where faults are not metered by themselves, interactions have them: at their end."""


def _fault_times(faults: pl.DataFrame) -> tuple[float, float] | None:
    """Of sums of faults in a window."""
    kind = pl.col("kind").cast(pl.String)
    clocked = faults.filter(kind.is_in(_FAULTS) & pl.col("cpu_ns").is_not_null())
    count, waited = int(clocked["count"].sum()), clocked.filter(kind.is_in(_WAITED))
    if not count:
        return None
    waits = int(waited["count"].sum())
    return float(clocked["cpu_ns"].sum()) / count, float(waited["wait_ns"].sum() or 0) / waits if waits else 0.0


def _told(late: pl.DataFrame, edges: Floats, *names: str) -> Floats:
    """What interactions counted a second, when they were ready; all NaN where it was not measured."""
    known = late.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in names))
    if known.is_empty():
        return np.full(len(edges) - 1, np.nan)
    counts = known.select(pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in names)).to_series().to_numpy()
    return np.histogram(known["ready_ns"].to_numpy(), edges, weights=counts)[0] / np.diff(edges) * 1e9


def _phase(phases: pl.DataFrame, at_ns: int) -> str:
    begun = phases.filter(pl.col("at_ns") <= at_ns).sort("at_ns")
    return str(begun["phase"].cast(pl.String)[-1]) if len(begun) else ""


def _there(tables: Tables, at_ns: int) -> int:
    """Users in a session at that time. A log-in's row comes when it has ended: who types and has none is there."""
    ended = pl.col("ended_ns")
    told = tables.sessions.filter((pl.col("started_ns") <= at_ns) & (ended.is_null() | (ended > at_ns)))
    begun = tables.interactions.filter(pl.col("sent_ns") <= at_ns)["user"].unique()
    return len(told) + len(begun.filter(~begun.is_in(tables.sessions["user"].implode())))


def _bands(typed: pl.DataFrame, sessions: pl.DataFrame, edges: Floats) -> dict[int, dict[str, Floats]]:
    """For each user, the share of every column in each state."""
    width = np.diff(edges)
    last = dict(typed.group_by("user").agg(pl.col("ready_ns").max()).rows())
    came = dict(sessions.group_by("user").agg(pl.col("started_ns").min()).rows())
    left = dict(sessions.filter(pl.col("ended_ns").is_not_null()).group_by("user").agg(pl.col("ended_ns").max()).rows())
    inside = typed.filter((pl.col("ready_ns") > edges[0]) & PROMPTED_NS.lt(edges[-1])).sort("sent_ns")
    by_user = {int(user): mine for (user,), mine in inside.group_by("user")}
    bands = {}
    for user in sorted({*sessions["user"].to_list(), *last}):
        band = {state: np.zeros(len(width)) for state in STATES}
        for state, (begins, ends, weights) in _stretches(by_user.get(user, inside.clear())).items():
            band[state] += _overlap(begins, ends, weights, edges)
        since, until = float(last.get(user) or came.get(user) or 0), min(float(left.get(user, edges[-1])), edges[-1])
        if until > max(since, edges[0]):
            one = np.ones(1)
            band["not known yet"] += _overlap(one * since, one * until, one, edges)
        bands[int(user)] = {state: values / width for state, values in band.items()}
    return bands


Stretches = tuple[Floats, Floats, Floats]
"""Beginnings and ends in ns, and the share of that time that counts."""


def _stretches(mine: pl.DataFrame) -> dict[str, Stretches]:
    """One user's time by state: an interaction's parts have all of its response time, each with its share."""
    known = mine.select(CPU_NS, RESPONSE_NS, PROMPTED_NS.alias("prompted_ns"), *_NUMBERS)
    number = {column.name: column.cast(pl.Float64).fill_null(0.0).to_numpy() for column in known}
    sent, ready, length = number["sent_ns"], number["ready_ns"], np.maximum(number["response_ns"], 1.0)
    parts = {
        "running": number["cpu_ns"],
        "ready": number["ready_wait_ns"],
        "page wait": number["paging_wait_ns"],
        "disk wait": number["io_wait_ns"],
    }
    # Of several processes at once the parts are longer than the response: each keeps its proportion.
    told = np.maximum(sum(parts.values(), np.zeros(len(mine))), length)
    found: dict[str, Stretches] = {name: (sent, ready, value / told) for name, value in parts.items()}
    found["other wait"] = (sent, ready, 1.0 - sum(parts.values(), np.zeros(len(mine))) / told)
    typing = sent - number["typing_ns"]
    found["typing"] = (typing, sent, np.ones(len(mine)))
    found["thinking"] = (number["prompted_ns"], typing, np.ones(len(mine)))
    return found


_NUMBERS = ("sent_ns", "ready_ns", "ready_wait_ns", "paging_wait_ns", "io_wait_ns", "typing_ns")


def _overlap(begins: Floats, ends: Floats, weights: Floats, edges: Floats) -> Floats:
    """How much of each column the stretches cover, in ns: the difference of what they cover up to its two edges."""
    until = np.clip(edges[:, None] - begins[None, :], 0.0, np.maximum(ends - begins, 0.0)[None, :])
    return np.diff((until * weights[None, :]).sum(axis=1))


def _spanned(frame: pl.DataFrame, edges: Floats) -> pl.DataFrame:
    """The rows whose span touches the window: of one that is shorter than a span, the figures are the span's."""
    begun = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    return frame.filter((pl.col("at_ns") > edges[0]) & (begun < edges[-1]))


def _has_processors(time: pl.DataFrame) -> pl.Expr:
    return pl.lit(bool(time["processor"].is_not_null().any()))


def _column(edges: Floats) -> pl.Expr:
    """The column in which a row's span begins, or the first one."""
    begun = pl.col("at_ns").cast(pl.Float64) - pl.col("span_ns").cast(pl.Float64)
    place: pl.Expr = (begun - edges[0]) / (edges[1] - edges[0])
    return place.floor().clip(0, len(edges) - 2).cast(pl.Int64).alias("column")


def _filled(frame: pl.DataFrame, name: str, edges: Floats, rows: pl.DataFrame) -> Floats:
    """One value a column; where spans are longer than columns, one holds until the next, the last to its span's end."""
    found = np.full(len(edges) - 1, np.nan)
    for column, value in frame.select("column", name).rows():
        found[column] = value
    known = np.flatnonzero(~np.isnan(found))
    if len(known):
        last = float(rows["at_ns"].max() or 0)  # type: ignore[arg-type]
        end = max(round((last - edges[0]) / (edges[1] - edges[0])), int(known[-1]) + 1)
        for at, until in zip(known, [*known[1:], end], strict=True):
            found[at:until] = found[at]
    return found


def _means(frame: pl.DataFrame, value: str, edges: Floats) -> Floats:
    rows = _spanned(frame, edges)
    means = rows.group_by(_column(edges)).agg(pl.col(value).mean().alias("mean")).sort("column")
    return _filled(means, "mean", edges, rows)


def _rates(faults: pl.DataFrame, edges: Floats, kinds: tuple[str, ...]) -> Floats:
    """Faults of these kinds a second; all NaN where no fault was metered."""
    rows = _spanned(faults, edges).with_columns(_column(edges), wanted=pl.col("kind").cast(pl.String).is_in(kinds))
    spans = rows.group_by("column", "at_ns").agg(
        pl.col("span_ns").max(), count=pl.when(pl.col("wanted")).then(pl.col("count")).otherwise(0).sum()
    )
    sums = spans.group_by("column").agg(pl.col("count").sum(), pl.col("span_ns").sum()).sort("column")
    return _filled(sums.with_columns(rate=pl.col("count") * 1e9 / pl.col("span_ns")), "rate", edges, rows)


def _is_busy() -> pl.Expr:
    name = pl.col("category").cast(pl.String)
    idle: pl.Expr = name.str.starts_with("idle") | name.is_in(["steal", "iowait"])
    return idle.not_()


def _busy(time: pl.DataFrame, edges: Floats) -> Floats:
    busy = pl.when(_is_busy()).then(pl.col("time_ns")).otherwise(0).sum()
    sums = time.group_by(_column(edges)).agg(busy.alias("busy"), pl.col("time_ns").sum()).sort("column")
    return _filled(sums.with_columns(share=pl.col("busy") / pl.col("time_ns")), "share", edges, time)


def _shares(time: pl.DataFrame) -> dict[str, float]:
    total = float(time["time_ns"].sum() or 0)
    sums = time.group_by(pl.col("category").cast(pl.String), maintain_order=True).agg(pl.col("time_ns").sum())
    return {str(name): float(value) / total for name, value in sums.rows()} if total else {}


def _processes(processes: pl.DataFrame, edges: Floats, processors: int) -> dict[str, Floats]:
    """The names of processes that used most; the groups that a run has (users, driver) are told elsewhere."""
    rows = _spanned(processes, edges).with_columns(_column(edges), who=pl.col("who").cast(pl.String))
    own = rows.filter(~pl.col("who").is_in(GROUPS)).with_columns(length=pl.col("span_ns").max().over("column", "at_ns"))
    most = own.group_by("who").agg(pl.col("cpu_ns").sum()).sort("cpu_ns", "who", descending=[True, False]).head(_MOST)
    lengths = own.unique(["column", "at_ns"]).group_by("column").agg(pl.col("length").sum())
    found = {}
    for name in most["who"].to_list():
        used = own.filter(pl.col("who") == name).group_by("column").agg(pl.col("cpu_ns").sum())
        joined = lengths.join(used, on="column", how="left").with_columns(
            share=pl.col("cpu_ns").fill_null(0) / pl.col("length") / processors
        )
        found[str(name)] = _filled(joined.sort("column"), "share", edges, own)
    return found


_MOST = 8


def _users_share(processes: pl.DataFrame, processors: int) -> float:
    told = processes.filter(pl.col("who").cast(pl.String) == USERS_LABEL)
    return float(told["cpu_ns"].sum()) / float(told["span_ns"].sum()) / processors if len(told) else np.nan


def _commands(late: pl.DataFrame) -> tuple[Command, ...]:
    rows = late.with_columns(
        response=RESPONSE_NS.cast(pl.Float64), cpu=CPU_NS.cast(pl.Float64), name=pl.col("command").cast(pl.String)
    )
    found = []
    for (name,), mine in rows.group_by("name"):
        values = np.sort(mine["response"].to_numpy())
        p90 = sorted_quantile(values, 0.9) if len(values) >= 10 else None
        mean = mine["cpu"].mean()
        used = float(mean) if isinstance(mean, float) else None
        found.append(Command(str(name), len(values), sorted_quantile(values, 0.5), p90, float(values.mean()), used))
    return tuple(sorted(found, key=lambda one: (-one.count, one.name)))


def _waiters(late: pl.DataFrame) -> tuple[Waiter, ...]:
    wait = pl.col("ready_wait_ns").cast(pl.Float64)
    by = late.group_by("user").agg(wait.sum().alias("sum"), wait.max().alias("longest")).filter(pl.col("sum") > 0)
    return tuple(Waiter(*row) for row in by.sort("sum", "user", descending=[True, False]).rows())


def _lateness(late: pl.DataFrame) -> float | None:
    if late.is_empty():
        return None
    by = late.select(LATENESS_NS).to_series().to_numpy()
    return sorted_quantile(np.sort(by.astype(np.float64)), 0.99)
