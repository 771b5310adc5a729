"""The meters' figures of a stretch: faults by kind and by mapping, system calls, interrupts, and lengths of queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.measures.event_totals import EventTotals, event_totals, measured_sum
from loadgo.measures.lock_waits import LockWaits, interactions_beside, lock_waits_of
from loadgo.measures.queues import Queue, ReadyQueue, measures_of, queues_of, ready_of
from loadgo.measures.sampled_events import SampledEvents, sampled_events
from loadgo.measures.window_sample import window_sample
from loadgo.records.phases import Stretch, lies_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

BreakdownColumn = Literal["command", "user"]
BREAKDOWN_COLUMNS = ("command", "user")
"""Columns by which faults and system calls can be divided."""

MOST_FUNCTIONS = 100
"""Largest number of functions in a summary."""


@dataclass(frozen=True)
class MappingTotals:
    """Faults and samples of one mapping; on a simulated machine, of one command."""

    name: str
    faults_minor: int | None
    faults_major: int | None
    samples: int | None


@dataclass(frozen=True)
class FunctionSamples:
    """Samples of the clock profile in one function, without the functions that it called."""

    name: str
    """A kernel function's name ends in `_[k]`."""
    samples: int
    share: float
    """Share of all samples, 0 to 1."""


@dataclass(frozen=True)
class MetersOfPart:
    """The meters' figures of one command or one user."""

    whose: str
    faults: tuple[EventTotals, ...]
    primitives: tuple[EventTotals, ...]


@dataclass(frozen=True)
class MeteredWindows:
    """The random windows from which the figures of system calls, faults and interrupts are estimated."""

    number: int
    covered_ns: int
    """The length of all of them."""
    share: float
    """The share of them in the stretch, 0 to 1."""


@dataclass(frozen=True)
class Meters:
    """The meters' figures of a stretch; empty where nothing was metered."""

    span_ns: int
    windows: MeteredWindows | None
    """The windows of the sampled meters; None where every event was counted, or none."""
    faults: tuple[EventTotals, ...]
    fault_correction_ns: float | None
    """Processor time of a page fault that no program can clock, its entry and return, less what the meters add.

    By calibration at the start, on the shortest page fault; None where faults were not clocked. A `mean_ns` lacks it.
    """
    segments: tuple[MappingTotals, ...]
    functions: tuple[FunctionSamples, ...]
    """Functions with the most samples, at most `MOST_FUNCTIONS`."""
    primitives: tuple[EventTotals, ...]
    interrupts: tuple[EventTotals, ...]
    """Interrupts by device, then soft interrupts by kind."""
    locks: tuple[LockWaits, ...]
    """Waits for locks, the most time first."""
    queues: tuple[Queue, ...]
    ready: ReadyQueue | None
    """The processors' queue; None when it was not measured."""
    eligible: float | None
    """Mean number of eligible processes."""
    asking: float | None
    """Mean number of processes that wanted to be eligible and were not."""
    by: BreakdownColumn | None
    """The column that divides `parts`; None without parts."""
    parts: tuple[MetersOfPart, ...]
    """The commands or users, the busiest first; empty where the meters did not distinguish them."""
    command: MetersOfPart | None
    """The one command of a run without a load; None without such a command, or where nothing was metered."""


def meters_of(tables: Tables, stretch: Stretch, by: BreakdownColumn | None = None) -> Meters:
    """The meters' figures of the stretch, with parts by command or by user if `by` names one."""
    queue = _rows_within(tables.queue, tables, stretch)
    measures, span_ns = measures_of(queue), _span_ns(queue)
    of_processors = measures.get("processors", {})
    command = _metered_command(tables)
    sampled = sampled_events(tables.window_events, window_sample(tables, stretch))
    timed = _timed_faults(tables, stretch), _timed_calls(tables, stretch)
    faults, primitives = (rows if command is None else _with_command(command, rows) for rows in timed)
    fault_totals = _totals(host_wide_rows(faults), sampled)
    return Meters(
        span_ns=span_ns,
        windows=_metered_windows(sampled),
        faults=fault_totals,
        fault_correction_ns=_fault_correction_ns(tables.conditions),
        segments=_mapping_totals(_rows_within(tables.segments, tables, stretch)),
        functions=_function_samples(_rows_within(tables.stacks, tables, stretch)),
        primitives=_totals(host_wide_rows(primitives), sampled, are_cut=True),
        interrupts=_interrupt_totals(faults, sampled),
        locks=_lock_waits(tables, stretch, span_ns),
        queues=queues_of(measures, span_ns),
        ready=ready_of(measures.get("processors"), span_ns, _interrupt_count(fault_totals)),
        eligible=of_processors.get("eligible"),
        asking=of_processors.get("asking"),
        by=by,
        parts=_meters_by_part(faults, primitives, by) if by else (),
        command=None if command is None else next(iter(_meters_by_part(faults, primitives, "command")), None),
    )


def _totals(rows: pl.DataFrame, sampled: SampledEvents | None, *, are_cut: bool = False) -> tuple[EventTotals, ...]:
    return event_totals(rows) if sampled is None else sampled.totals(rows, are_cut=are_cut)


def _metered_windows(sampled: SampledEvents | None) -> MeteredWindows | None:
    if sampled is None:
        return None
    sample = sampled.sample
    return MeteredWindows(len(sample.at_ns), int(sample.lengths_ns.sum()), sample.share)


def _lock_waits(tables: Tables, stretch: Stretch, span_ns: int) -> tuple[LockWaits, ...]:
    beside = interactions_beside(_rows_within(tables.time, tables, stretch), tables.interactions)
    return lock_waits_of(_rows_within(tables.lock_waits, tables, stretch), beside, span_ns)


def _fault_correction_ns(conditions: Mapping[str, Any]) -> float | None:
    price = conditions.get("meters", {}).get("calibration", {}).get("fault")
    return None if price is None else float(price["bare_ns"]) - float(price["clocked_ns"])


def _metered_command(tables: Tables) -> str | None:
    """The name of the one command that `loadgo meter` ran; None without such a command."""
    if tables.conditions.get("kind") != "meter" or tables.interactions.is_empty():
        return None
    return str(tables.interactions["command"].cast(pl.String)[0])


def _with_command(command: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, with `command` in each row that has a user. Without a load, no line names the command."""
    named = pl.when(pl.col("user").is_not_null()).then(pl.lit(command)).alias("command")
    return rows.with_columns(named)


def host_wide_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows for all users, commands and devices together; all other rows are parts of these."""
    return rows.filter(pl.all_horizontal(pl.col("^(user|command|device)$").is_null()))


def counted_events(tables: Tables, stretch: Stretch) -> dict[str, pl.DataFrame]:
    """The events of the whole host in each span, by name. Columns: at_ns, span_ns, name, count."""
    faults, calls = _timed_faults(tables, stretch), _timed_calls(tables, stretch)
    frames = {
        "primitives": host_wide_rows(calls),
        "faults": host_wide_rows(faults),
        "interrupts": _device_rows(faults).with_columns(name=_DEVICE_NAME),
    }
    columns = ("at_ns", "span_ns", "name", "count")
    return {kind: rows.filter(pl.col("bucket_ns").is_null()).select(columns) for kind, rows in frames.items()}


_DEVICE_NAME = pl.col("device") + pl.col("name").str.extract("( unclocked)$").fill_null("")


def _device_rows(faults: pl.DataFrame) -> pl.DataFrame:
    return faults.filter(pl.col("device").is_not_null() & pl.col("user").is_null() & pl.col("command").is_null())


def _interrupt_totals(faults: pl.DataFrame, sampled: SampledEvents | None) -> tuple[EventTotals, ...]:
    """Interrupts, then soft interrupts, by device: the largest processor time first, untimed ones last."""
    device_rows = _device_rows(faults)
    if device_rows.is_empty():
        return ()
    kinds = [
        _totals(device_rows.filter(pl.col("name") == kind).with_columns(name=_DEVICE_NAME), sampled)
        for kind in _INTERRUPTS
    ]
    return tuple(row for totals in kinds for row in sorted(totals, key=lambda row: -(row.cpu_ns or 0)))


CLOCKED_FAULTS = ("minor", "major", "swap-in", "write-protect", "segment", "bound")
"""Kinds of page faults of which the exact tier clocks the beginning and the end."""
_INTERRUPTS = ("interrupt", "interrupt unclocked", "soft interrupt", "soft interrupt unclocked")
"""Kinds of the table `faults`. The kernel counted the *unclocked* ones, and no meter program timed them."""


def _timed_faults(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The faults of the stretch with the columns name, errors, faults and time_ns (processor time and wait)."""
    return _rows_within(tables.faults, tables, stretch).select(
        pl.col("kind").cast(pl.String).alias("name"),
        pl.col("device").cast(pl.String),
        *("at_ns", "span_ns", "user", "command", "bucket_ns", "count", "cpu_ns", "wait_ns"),
        errors=pl.lit(None, pl.UInt64),
        faults=pl.lit(None, pl.UInt64),
        time_ns=pl.col("cpu_ns") + pl.col("wait_ns"),
    )


def _timed_calls(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The system calls of the stretch in the columns of `_timed_faults`.

    The time of a machine's operation is processor time, and so is that of a call in windows, which cut its waits.
    """
    rows = _rows_within(tables.primitives, tables, stretch)
    machine = tables.conditions.get("system", {}).get("kind", "host") == "machine"
    calls = rows.select(
        pl.col("name").cast(pl.String),
        *("at_ns", "span_ns", "user", "command", "bucket_ns", "count", "errors", "faults", "time_ns", "wait_ns"),
        device=pl.lit(None, pl.String),
        cpu_ns=pl.col("time_ns") if machine else pl.col("time_ns") - pl.col("wait_ns"),
    )
    cut_times = [pl.lit(None, pl.UInt64).alias(name) for name in ("time_ns", "wait_ns")]
    return calls if tables.meter_windows.is_empty() else calls.with_columns(cut_times)


def _rows_within(frame: pl.DataFrame, tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The rows whose span lies in the stretch; all rows if the processors' time has no such span."""
    if frame.is_empty():
        return frame
    spans = frame if tables.time.is_empty() else tables.time
    return frame if spans.filter(lies_in(stretch)).is_empty() else frame.filter(lies_in(stretch))


def _mapping_totals(frame: pl.DataFrame) -> tuple[MappingTotals, ...]:
    """The mappings, the most samples first, then the most faults; rows of a user are parts of the host-wide rows."""
    host_wide = frame.filter(pl.col("user").is_null())
    columns = ("faults_minor", "faults_major", "samples")
    sums = (
        (host_wide if len(host_wide) else frame)
        .group_by(pl.col("segment").cast(pl.String), maintain_order=True)
        .agg(measured_sum(name) for name in columns)
    )
    faults = pl.sum_horizontal("faults_minor", "faults_major")
    ordered = sums.sort(pl.col("samples"), faults, descending=True, nulls_last=True, maintain_order=True)
    return tuple(MappingTotals(*row) for row in ordered.rows())


def _function_samples(stacks: pl.DataFrame) -> tuple[FunctionSamples, ...]:
    """The innermost functions of the stacks, the most samples first."""
    by_stack = stacks.group_by("stack").agg(pl.col("samples").sum())
    by_function = (
        by_stack.group_by(pl.col("stack").cast(pl.String).str.split(";").list.last().alias("name"))
        .agg(pl.col("samples").sum())
        .sort("samples", "name", descending=[True, False])
    )
    all_samples = int(by_function["samples"].sum())
    return tuple(
        FunctionSamples(_function_label(name), samples, samples / all_samples)
        for name, samples in by_function.head(MOST_FUNCTIONS).rows()
    )


def _function_label(frame: str) -> str:
    """The label of a stack frame: its function, and the file of its mapping."""
    segment, separator, function = frame.rpartition("`")
    return f"{function} ({segment.rpartition('/')[2]})" if separator else frame


def _meters_by_part(faults: pl.DataFrame, primitives: pl.DataFrame, by: BreakdownColumn) -> tuple[MetersOfPart, ...]:
    """The figures of each command or user; the one with the most faults and system calls is first."""
    tables_by_name = {"faults": _rows_by_owner(faults, by), "primitives": _rows_by_owner(primitives, by)}
    counts: dict[str, int] = {}
    for rows in tables_by_name.values():
        for whose, frame in rows.items():
            count = int(frame.filter(pl.col("bucket_ns").is_null())["count"].sum())
            counts[whose] = counts.get(whose, 0) + count
    return tuple(
        MetersOfPart(whose, *(event_totals(rows[whose]) if whose in rows else () for rows in tables_by_name.values()))
        for whose in sorted(counts, key=lambda whose: -counts[whose])
    )


def _rows_by_owner(rows: pl.DataFrame, by: BreakdownColumn) -> dict[str, pl.DataFrame]:
    """The rows of each command or user. Those of a command without a user are sums over its users, if there are any.

    Those of a user without a command are no sums: they are of the log-in.
    """
    owned = rows.filter(pl.col(by).is_not_null() & pl.col("device").is_null())
    sums = owned.filter(pl.col("user").is_null())
    chosen = (sums if len(sums) else owned).with_columns(pl.col(by).cast(pl.String))
    return {str(whose): frame for (whose,), frame in chosen.group_by(by, maintain_order=True)}


def _interrupt_count(faults: tuple[EventTotals, ...]) -> int | None:
    """Number of interrupts; None where they were not metered."""
    counts = [row.count for row in faults if row.name in _INTERRUPTS]
    return sum(counts) if counts else None


def _span_ns(frame: pl.DataFrame) -> int:
    return int(frame.group_by("at_ns").agg(pl.col("span_ns").max())["span_ns"].sum())
