"""A window of a run's time, as a watcher sees it: users, processors, faults and memory, in columns of equal length.

The tables have an interaction once it has ended. In a live run, the state of a user since the last answer is *not known
yet*: the user may think, type or wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.measures.other_work import OtherWork, other_work_in
from loadgo.measures.total_time import OWNER_GROUPS, is_busy
from loadgo.records.fleets import is_fleet_run
from loadgo.records.following import PROVISIONAL_KEY, latest_ns
from loadgo.records.interactions import CPU_NS, IS_ANSWERED, IS_MEASURED, LATENESS_NS, PROMPTED_NS, RESPONSE_NS
from loadgo.records.meter_windows import stretched
from loadgo.records.phases import unsteady_count
from loadgo.stats.quantiles import sorted_quantile
from loadgo.stats.resample import Floats
from loadgo.watching.fault_times import FaultTimes, fault_times
from loadgo.watching.hosts import LostHost, WindowHost, hosts_in, only_lost_host
from loadgo.watching.memory_holders import USERS_LABEL, Holdings, holdings
from loadgo.watching.series import (
    binned_rates,
    bins_of,
    busy_series,
    column_of,
    filled_series,
    mean_series,
    rows_in_window,
)

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

USER_STATES = ("running", "CPU wait", "page wait", "disk wait", "other wait", "typing", "thinking", "not known yet")
"""The states of a user."""
SERVED_STATES_COUNT = 5
"""Number of states in which an interaction is. Their times are known, but not their order."""

_WAITING_KINDS = ("major", "swap-in", "major unclocked")
_FAULT_KINDS = ("minor", "minor unclocked", "write-protect", "segment", "bound", *_WAITING_KINDS)
_FAULT_COLUMNS = ("faults_minor", "faults_major")
"""Columns of interactions that count faults. They stand in for the meter's fault rows, at the end of interactions."""
_TIME_COLUMNS = ("sent_ns", "ready_ns", "ready_wait_ns", "paging_wait_ns", "io_wait_ns", "typing_ns")
_SHOWN_PROCESSES = 8
_FEWEST_P90_VALUES = 10
"""With fewer response times the p90 would be the maximum."""

TimeStretches = tuple[Floats, Floats, Floats]
"""Beginnings and ends in ns, and the share of each stretch that counts."""


@dataclass(frozen=True)
class WindowCommand:
    """One command's interactions in the window."""

    name: str
    count: int
    p50_ns: float
    p90_ns: float | None
    """None with too few interactions."""
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
class WatchWindow:
    """A window of a run. A series has a value for each column, in order of time; NaN means *not measured*."""

    start_ns: int
    end_ns: int
    phase: str
    users: int
    """Users that are logged in at the end of the window."""
    states: Mapping[str, Floats]
    """Mean number of users in each state."""
    bands: Mapping[int, Mapping[str, Floats]]
    """For each user, the share of each column in each state."""
    ready: Floats
    """Mean length of the run queue."""
    waiters: tuple[Waiter, ...]
    """The users who waited in the run queue, the longest sum first."""
    busy: Floats
    """Share of the processors' time that was busy."""
    metered_until_ns: float
    """The end of the last row of the processors' time in the window; the window's end without one."""
    time: Mapping[str, float]
    """Share of each category in the processors' time, over the window. Empty where it was not measured."""
    processes: Mapping[str, Floats]
    """Share of all processors' time by process name, the busiest process first. Empty where it was not measured."""
    hosts: tuple[WindowHost, ...]
    """The hosts of a run or metering of several, in their order; empty for one."""
    lost_host: LostHost | None
    """The only other host, if it was lost by the window's end."""
    users_share: float
    """Share of all users' processes in all processors' time, over the window; NaN where it was not measured."""
    has_supervisor: bool
    """Whether a simulated machine's supervisor had a part of that time."""
    other_work: OtherWork | None
    """Work of the host beside the users; None where it was not measured."""
    faults: Floats
    """Page faults a second."""
    major: Floats
    """Page faults a second that waited for a device."""
    fault_ns: tuple[float, float] | None
    """Mean processor time of a fault, and mean wait of a fault that waited; None where they are not metered."""
    fault_cpu: FaultTimes | None
    """Processor times of faults: of each fault that does not wait, and the span's mean of those that wait."""
    fault_waits: FaultTimes | None
    """Times of faults that wait, with their handling: each fault, or the mean of a span where faults are summed."""
    memory: Holdings | None
    """None where it was not measured."""
    answered: int
    """Interactions that ended in the window."""
    silent_ns: float
    """Time from the last of these to the window's end; the window's length without one."""
    charged: int | None
    """Number of these whose processor time is known so far; None where that is final."""
    unsteady: int
    """Number of these outside the steady phase, as in `unsteady_count`."""
    per_second: Floats
    """Answers a second."""
    commands: tuple[WindowCommand, ...]
    """The commands in the window, the most frequent first."""
    response_ns: Mapping[float, float]
    """Quantiles of the response time of all commands, by probability."""
    lateness_ns: float | None
    """The p99 of the driver's lateness; None without lines."""
    lost: int
    """Records lost until the end of the window."""

    @property
    def width_ns(self) -> int:
        """The length of the window."""
        return self.end_ns - self.start_ns

    @property
    def busy_share(self) -> float:
        """Busy share of the processors' time over the window; NaN where it was not measured."""
        return sum(part for name, part in self.time.items() if is_busy(name)) if self.time else np.nan

    @property
    def waiting(self) -> Mapping[str, float]:
        """Shares of the first five states in the sum of the window's response times; empty without response times."""
        sums = {name: float(np.nansum(self.states[name])) for name in USER_STATES[:SERVED_STATES_COUNT]}
        total = sum(sums.values())
        return {name: value / total for name, value in sums.items()} if total else {}


def window_of(tables: Tables, end_ns: int, width_ns: int, columns: int) -> WatchWindow:
    """The window of `width_ns` nanoseconds that ends at `end_ns`, with `columns` columns."""
    start_ns = max(end_ns - width_ns, 0)
    edges = np.linspace(start_ns, max(end_ns, start_ns + 1), columns + 1)
    typed = tables.interactions.filter(IS_ANSWERED & IS_MEASURED)
    ended = typed.filter((pl.col("ready_ns") > start_ns) & (pl.col("ready_ns") <= end_ns))
    bands = _state_bands(typed, tables.sessions, edges)
    processes = rows_in_window(tables.processes, edges)
    time = rows_in_window(tables.time, edges).filter(pl.col("processor").is_not_null() | ~_has_processors(tables.time))
    processors = max(len(set(time["processor"].to_list())), 1)
    queue = tables.queue.filter(pl.col("queue").cast(pl.String) == "processors")
    faults = stretched(tables.faults, tables.meter_windows)
    host_faults = faults.filter(pl.all_horizontal(pl.col("user", "command", "device").is_null()))
    timed_faults = rows_in_window(host_faults, edges).filter(pl.col("kind").cast(pl.String).is_in(_FAULT_KINDS))
    bins = bins_of(len(typed) / max(latest_ns(tables), 1), edges[-1] - edges[0], columns)
    fault_rates, major = _fault_series(host_faults.filter(pl.col("bucket_ns").is_null()), ended, edges, bins)
    ready_ns = ended["ready_ns"].cast(pl.Float64).to_numpy()
    return WatchWindow(
        start_ns=start_ns,
        end_ns=end_ns,
        phase=_phase_at(tables.phases, end_ns),
        users=_logged_in_users(tables, end_ns),
        states={state: sum((band[state] for band in bands.values()), np.zeros(columns)) for state in USER_STATES},
        bands=bands,
        ready=mean_series(queue.filter(pl.col("measure").cast(pl.String) == "ready"), edges),
        waiters=_waiters(ended),
        busy=busy_series(time, edges),
        metered_until_ns=float(time["at_ns"].max() or end_ns),  # type: ignore[arg-type]
        time=_category_shares(time),
        processes=_process_shares(tables.processes, edges, processors),
        hosts=hosts_in(tables, ended, edges),
        lost_host=lost if (lost := only_lost_host(tables.conditions)) and lost.lost_ns <= end_ns else None,
        users_share=_users_share(processes, processors),
        has_supervisor=bool((processes["who"].cast(pl.String) == "supervisor").any()),
        other_work=other_work_in(tables, rows_in_window(tables.time, edges), processes),
        faults=fault_rates,
        major=major,
        fault_ns=_mean_fault_ns(timed_faults.filter(pl.col("bucket_ns").is_null())),
        fault_cpu=fault_times(timed_faults, "cpu_ns", _WAITING_KINDS),
        fault_waits=fault_times(timed_faults, "wait_ns", _WAITING_KINDS),
        memory=None if is_fleet_run(tables.conditions) else holdings(tables.memory, start_ns, end_ns),
        answered=len(ended),
        charged=ended["cpu_user_ns"].count() if tables.conditions.get(PROVISIONAL_KEY) else None,
        silent_ns=end_ns - float(ready_ns.max()) if len(ready_ns) else end_ns - start_ns,
        unsteady=unsteady_count(tables.phases, ended),
        per_second=binned_rates(ready_ns, np.ones(len(ready_ns)), edges, bins),
        commands=_commands(ended),
        response_ns=_response_quantiles(ended),
        lateness_ns=_lateness_p99_ns(ended),
        lost=int(tables.lost.filter(pl.col("at_ns") <= end_ns)["count"].sum()),
    )


def _response_quantiles(ended: pl.DataFrame) -> dict[float, float]:
    """The p50 and the p90 of the response times, by probability; each only with enough of them."""
    response = np.sort(ended.select(RESPONSE_NS.cast(pl.Float64)).to_series().to_numpy())
    fewest = {0.5: 2, 0.9: _FEWEST_P90_VALUES}
    return {p: sorted_quantile(response, p) for p, count in fewest.items() if len(response) >= count}


def _fault_series(faults: pl.DataFrame, ended: pl.DataFrame, edges: Floats, bins: int) -> tuple[Floats, Floats]:
    """All faults a second, and those that waited for a device: metered ones, else those that interactions counted."""
    if len(faults):
        return _fault_rates(faults, edges, _FAULT_KINDS), _fault_rates(faults, edges, _WAITING_KINDS)
    every, (_, waiting) = _FAULT_COLUMNS, _FAULT_COLUMNS
    return _counted_rates(ended, edges, bins, every), _counted_rates(ended, edges, bins, (waiting,))


def _mean_fault_ns(faults: pl.DataFrame) -> tuple[float, float] | None:
    """Mean processor time of the timed faults, and mean wait of those that wait, in ns; None without timed faults."""
    clocked = faults.filter(pl.col("cpu_ns").is_not_null())
    count = int(clocked["count"].sum())
    waited = clocked.filter(pl.col("kind").cast(pl.String).is_in(_WAITING_KINDS))
    if not count:
        return None
    waits = int(waited["count"].sum())
    return float(clocked["cpu_ns"].sum()) / count, float(waited["wait_ns"].sum() or 0) / waits if waits else 0.0


def _counted_rates(ended: pl.DataFrame, edges: Floats, bins: int, names: Sequence[str]) -> Floats:
    """Sum of these columns of interactions a second, at the end of each interaction; all NaN where not measured."""
    measured = ended.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in _FAULT_COLUMNS))
    if measured.is_empty():
        return np.full(len(edges) - 1, np.nan)
    counts = measured.select(pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in names)).to_series().to_numpy()
    return binned_rates(measured["ready_ns"].cast(pl.Float64).to_numpy(), counts, edges, bins)


def _phase_at(phases: pl.DataFrame, at_ns: int) -> str:
    begun = phases.filter(pl.col("at_ns") <= at_ns).sort("at_ns")
    return str(begun["phase"].cast(pl.String)[-1]) if len(begun) else ""


def _logged_in_users(tables: Tables, at_ns: int) -> int:
    """Number of users in a session at `at_ns`. A user who types and has no row of a session is logged in."""
    ended_ns = pl.col("ended_ns")
    sessions = tables.sessions.filter((pl.col("started_ns") <= at_ns) & (ended_ns.is_null() | (ended_ns > at_ns)))
    typing_users = tables.interactions.filter(pl.col("sent_ns") <= at_ns)["user"].unique()
    return len(sessions) + len(typing_users.filter(~typing_users.is_in(tables.sessions["user"].implode())))


def _state_bands(typed: pl.DataFrame, sessions: pl.DataFrame, edges: Floats) -> dict[int, dict[str, Floats]]:
    """For each user, the share of every column in each state."""
    width = np.diff(edges)
    last_ready_ns = dict(typed.group_by("user").agg(pl.col("ready_ns").max()).rows())
    started_ns = dict(sessions.group_by("user").agg(pl.col("started_ns").min()).rows())
    ended_sessions = sessions.filter(pl.col("ended_ns").is_not_null())
    ended_ns = dict(ended_sessions.group_by("user").agg(pl.col("ended_ns").max()).rows())
    inside = typed.filter((pl.col("ready_ns") > edges[0]) & PROMPTED_NS.lt(edges[-1])).sort("sent_ns")
    by_user = {int(user): rows for (user,), rows in inside.group_by("user")}
    bands = {}
    for user in sorted({*sessions["user"].to_list(), *last_ready_ns}):
        band = {state: np.zeros(len(width)) for state in USER_STATES}
        for state, (begins, ends, weights) in _stretches_by_state(by_user.get(user, inside.clear())).items():
            band[state] += _overlap(begins, ends, weights, edges)
        since = float(last_ready_ns.get(user) or started_ns.get(user) or 0)
        until = min(float(ended_ns.get(user, edges[-1])), edges[-1])
        if until > max(since, edges[0]):
            band["not known yet"] += _overlap(np.array([since]), np.array([until]), np.ones(1), edges)
        bands[int(user)] = {state: values / width for state, values in band.items()}
    return bands


def _stretches_by_state(rows: pl.DataFrame) -> dict[str, TimeStretches]:
    """One user's stretches by state.

    The order of an interaction's parts is unknown: each is spread over the whole response time, weighted by its share.
    """
    times = rows.select(CPU_NS, RESPONSE_NS, PROMPTED_NS.alias("prompted_ns"), *_TIME_COLUMNS)
    values_by_name = {column.name: column.cast(pl.Float64).fill_null(0.0).to_numpy() for column in times}
    sent, ready = values_by_name["sent_ns"], values_by_name["ready_ns"]
    length = np.maximum(values_by_name["response_ns"], 1.0)
    parts = {
        "running": values_by_name["cpu_ns"],
        "CPU wait": values_by_name["ready_wait_ns"],
        "page wait": values_by_name["paging_wait_ns"],
        "disk wait": values_by_name["io_wait_ns"],
    }
    # With several processes at once the parts are longer than the response: each keeps its proportion.
    whole = np.maximum(sum(parts.values(), np.zeros(len(rows))), length)
    stretches: dict[str, TimeStretches] = {name: (sent, ready, value / whole) for name, value in parts.items()}
    stretches["other wait"] = (sent, ready, 1.0 - sum(parts.values(), np.zeros(len(rows))) / whole)
    typing = sent - values_by_name["typing_ns"]
    stretches["typing"] = (typing, sent, np.ones(len(rows)))
    stretches["thinking"] = (values_by_name["prompted_ns"], typing, np.ones(len(rows)))
    return stretches


def _overlap(begins: Floats, ends: Floats, weights: Floats, edges: Floats) -> Floats:
    """Time in ns of each column that the stretches cover: what they cover until its end, less until its beginning."""
    until = np.clip(edges[:, None] - begins[None, :], 0.0, np.maximum(ends - begins, 0.0)[None, :])
    return np.diff((until * weights[None, :]).sum(axis=1))


def _has_processors(time: pl.DataFrame) -> pl.Expr:
    return pl.lit(bool(time["processor"].is_not_null().any()))


def _fault_rates(faults: pl.DataFrame, edges: Floats, kinds: tuple[str, ...]) -> Floats:
    """Faults of these kinds a second, by column; all NaN where no fault was metered."""
    rows = rows_in_window(faults, edges).with_columns(
        column_of(edges), wanted=pl.col("kind").cast(pl.String).is_in(kinds)
    )
    spans = rows.group_by("column", "at_ns").agg(
        pl.col("span_ns").max(), count=pl.when(pl.col("wanted")).then(pl.col("count")).otherwise(0).sum()
    )
    sums = spans.group_by("column").agg(pl.col("count").sum(), pl.col("span_ns").sum()).sort("column")
    return filled_series(sums.with_columns(rate=pl.col("count") * 1e9 / pl.col("span_ns")), "rate", edges, rows)


def _category_shares(time: pl.DataFrame) -> dict[str, float]:
    total = float(time["time_ns"].sum() or 0)
    sums = time.group_by(pl.col("category").cast(pl.String), maintain_order=True).agg(pl.col("time_ns").sum())
    return {str(name): float(value) / total for name, value in sums.rows()} if total else {}


def _process_shares(processes: pl.DataFrame, edges: Floats, processors: int) -> dict[str, Floats]:
    """Shares of the busiest processes by name, without the groups of a run (users, driver, sampling)."""
    rows = rows_in_window(processes, edges).with_columns(column_of(edges), who=pl.col("who").cast(pl.String))
    process_rows = rows.filter(~pl.col("who").is_in(OWNER_GROUPS)).with_columns(
        length=pl.col("span_ns").max().over("column", "at_ns")
    )
    busiest = (
        process_rows.group_by("who")
        .agg(pl.col("cpu_ns").sum())
        .sort("cpu_ns", "who", descending=[True, False])
        .head(_SHOWN_PROCESSES)
    )
    spans = process_rows.unique(["column", "at_ns"]).group_by("column").agg(pl.col("length").sum())
    shares = {}
    for name in busiest["who"].to_list():
        used = process_rows.filter(pl.col("who") == name).group_by("column").agg(pl.col("cpu_ns").sum())
        joined = spans.join(used, on="column", how="left").with_columns(
            share=pl.col("cpu_ns").fill_null(0) / pl.col("length") / processors
        )
        shares[str(name)] = filled_series(joined.sort("column"), "share", edges, process_rows)
    return shares


def _users_share(processes: pl.DataFrame, processors: int) -> float:
    users = processes.filter(pl.col("who").cast(pl.String) == USERS_LABEL)
    return float(users["cpu_ns"].sum()) / float(users["span_ns"].sum()) / processors if len(users) else np.nan


def _commands(ended: pl.DataFrame) -> tuple[WindowCommand, ...]:
    rows = ended.with_columns(
        response=RESPONSE_NS.cast(pl.Float64), cpu=CPU_NS.cast(pl.Float64), name=pl.col("command").cast(pl.String)
    )
    commands = []
    for (name,), command_rows in rows.group_by("name"):
        values = np.sort(command_rows["response"].to_numpy())
        p90 = sorted_quantile(values, 0.9) if len(values) >= _FEWEST_P90_VALUES else None
        mean = command_rows["cpu"].mean()
        used = float(mean) if isinstance(mean, float) else None
        commands.append(
            WindowCommand(str(name), len(values), sorted_quantile(values, 0.5), p90, float(values.mean()), used)
        )
    return tuple(sorted(commands, key=lambda command: (-command.count, command.name)))


def _waiters(ended: pl.DataFrame) -> tuple[Waiter, ...]:
    wait = pl.col("ready_wait_ns").cast(pl.Float64)
    waits_by_user = (
        ended.group_by("user").agg(wait.sum().alias("sum"), wait.max().alias("longest")).filter(pl.col("sum") > 0)
    )
    return tuple(Waiter(*row) for row in waits_by_user.sort("sum", "user", descending=[True, False]).rows())


def _lateness_p99_ns(ended: pl.DataFrame) -> float | None:
    if ended.is_empty():
        return None
    return sorted_quantile(np.sort(ended.select(LATENESS_NS.cast(pl.Float64)).to_series().to_numpy()), 0.99)
