"""What the meters tell of a stretch: faults by kind and by segment, primitives, and how long queues were.

A quantile is the lower bound of the histogram's bucket that it lies in: it was at least about that long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.measures.queues import Queue, ReadyQueue, measures_of, queues_of, ready_of
from loadgo.records.phases import Stretch

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

By = Literal["command", "user"]
BY = ("command", "user")
"""Whose faults and primitives can be told apart."""

MOST_FUNCTIONS = 100

_QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99}


@dataclass(frozen=True)
class Metered:
    """Faults of one kind, or primitives of one name; None is not measured."""

    name: str
    count: int
    errors: int | None
    """How many of them failed."""
    faults: int | None
    """Page faults within them."""
    cpu_ns: int | None
    """The processor time of all of them."""
    wait_ns: int | None
    """What was waited for all of them, beside that."""
    time_ns: int | None
    """From beginning to end, of all of them."""
    mean_ns: float | None
    """From beginning to end, of one."""
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None


@dataclass(frozen=True)
class Segment:
    """Faults on one thing that is paged, and how often the profile met it: a mapped file, or a machine's command."""

    name: str
    faults_minor: int | None
    faults_major: int | None
    samples: int | None


@dataclass(frozen=True)
class Function:
    """How often the profile found a processor in a function itself, not in what it called."""

    name: str
    """The kernel's end in `_[k]`."""
    samples: int
    share: float
    """Of all samples, 0 to 1."""


@dataclass(frozen=True)
class Part:
    """What the meters tell of one command, or of one user."""

    whose: str
    faults: tuple[Metered, ...]
    primitives: tuple[Metered, ...]


@dataclass(frozen=True)
class Meters:
    """All that the meters tell, in `span_ns` of the system's time; empty where nothing was metered."""

    span_ns: int
    faults: tuple[Metered, ...]
    segments: tuple[Segment, ...]
    functions: tuple[Function, ...]
    """Where the profile found the processors most, at most `MOST_FUNCTIONS` of them."""
    primitives: tuple[Metered, ...]
    interrupts: tuple[Metered, ...]
    """By device; the soft ones follow, by their kind."""
    queues: tuple[Queue, ...]
    ready: ReadyQueue | None
    """The processors' queue; None when it was not measured."""
    eligible: float | None
    """Processes that were multiprogrammed, on average."""
    asking: float | None
    """Processes that wanted to be, and were not."""
    by: By | None
    """Whose `parts` are; None when nobody asked for them."""
    parts: tuple[Part, ...]
    """In the order of the busiest; empty where the meters did not tell them apart."""
    command: Part | None
    """What the one command did that was metered without a load; None without one, and where no kind was metered."""


def meters_of(tables: Tables, stretch: Stretch, by: By | None = None) -> Meters:
    """The meters' account of the stretch; with its parts by command or by user, when asked for."""
    queue = _within(tables.queue, tables, stretch)
    measures, span_ns = measures_of(queue), _span_ns(queue)
    of_processors = measures.get("processors", {})
    alone = _metered_command(tables)
    timed = _timed_faults(tables, stretch), _timed_primitives(tables, stretch)
    faults, primitives = (rows if alone is None else _told_as(alone, rows) for rows in timed)
    found = metered(everybodys(faults))
    return Meters(
        span_ns=span_ns,
        faults=found,
        segments=_segments(_within(tables.segments, tables, stretch)),
        functions=_functions(_within(tables.stacks, tables, stretch)),
        primitives=metered(everybodys(primitives)),
        interrupts=_by_device(faults),
        queues=queues_of(measures, span_ns),
        ready=ready_of(measures.get("processors"), span_ns, _interruptions(found)),
        eligible=of_processors.get("eligible"),
        asking=of_processors.get("asking"),
        by=by,
        parts=_parts(faults, primitives, by) if by else (),
        command=next(iter(_parts(faults, primitives, "command")), None) if alone is not None else None,
    )


def _metered_command(tables: Tables) -> str | None:
    """The name of the one command of a host that was metered without a load; None without one."""
    if tables.conditions.get("kind") != "meter" or tables.interactions.is_empty():
        return None
    return str(tables.interactions["command"].cast(pl.String)[0])


def _told_as(command: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with all that the one user did told as `command`: the meters know whose it was, not of which line."""
    named = pl.when(pl.col("user").is_not_null()).then(pl.lit(command)).alias("command")
    return rows.with_columns(named)


def metered(rows: pl.DataFrame) -> tuple[Metered, ...]:
    """Sums and quantiles by `name`, in the order of the rows; columns as `_timed_faults` makes them."""
    sums = (
        rows.filter(pl.col("bucket_ns").is_null())
        .group_by("name", maintain_order=True)
        .agg(
            pl.col("count").sum(),
            *(_measured_sum(column) for column in ("errors", "faults", "cpu_ns", "wait_ns", "time_ns")),
        )
    )
    marks = _quantiles(rows.filter(pl.col("bucket_ns").is_not_null()))
    return tuple(_metered(row, marks.get(row["name"], {})) for row in sums.iter_rows(named=True))


def _metered(row: Mapping[str, Any], marks: Mapping[str, int]) -> Metered:
    count, time_ns = int(row["count"]), row["time_ns"]
    return Metered(
        name=str(row["name"]),
        count=count,
        errors=row["errors"],
        faults=row["faults"],
        cpu_ns=row["cpu_ns"],
        wait_ns=row["wait_ns"],
        time_ns=time_ns,
        mean_ns=time_ns / count if count and time_ns is not None else None,
        p50_ns=marks.get("p50_ns"),
        p90_ns=marks.get("p90_ns"),
        p99_ns=marks.get("p99_ns"),
    )


def most_time_first(told: Sequence[Metered]) -> tuple[Metered, ...]:
    """Ordered by processor time; where that was not measured, by time from beginning to end."""
    return tuple(sorted(told, key=lambda row: (-(row.cpu_ns or 0), -(row.time_ns or 0), -row.count)))


def everybodys(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that are of all users, commands and devices together: the others are parts of them."""
    return rows.filter(pl.all_horizontal(pl.col("^(user|command|device)$").is_null()))


def _by_device(faults: pl.DataFrame) -> tuple[Metered, ...]:
    """Interrupts, then soft ones, by what interrupted: what took the most processor time first, unclocked ones last."""
    mine = faults.filter(pl.col("device").is_not_null() & pl.col("user").is_null() & pl.col("command").is_null())
    device = pl.col("device") + pl.col("name").str.extract("( unclocked)$").fill_null("")
    kinds = [metered(mine.filter(pl.col("name") == kind).with_columns(name=device)) for kind in _INTERRUPTS]
    return tuple(row for found in kinds for row in sorted(found, key=lambda row: -(row.cpu_ns or 0)))


_INTERRUPTS = ("interrupt", "interrupt unclocked", "soft interrupt", "soft interrupt unclocked")
"""Kinds of the table `faults`. The kernel counted the unclocked ones; no program of the meters ran at them."""


def _timed_faults(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The faults of the stretch with the columns name, errors, faults and time_ns: handling and waiting together."""
    return _within(tables.faults, tables, stretch).select(
        pl.col("kind").cast(pl.String).alias("name"),
        pl.col("device").cast(pl.String),
        *("user", "command", "bucket_ns", "count", "cpu_ns", "wait_ns"),
        errors=pl.lit(None, pl.UInt64),
        faults=pl.lit(None, pl.UInt64),
        time_ns=pl.col("cpu_ns") + pl.col("wait_ns"),
    )


def _timed_primitives(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The primitives of the stretch in the same columns; a machine's time is all of the processor."""
    rows = _within(tables.primitives, tables, stretch)
    machine = tables.conditions.get("system", {}).get("kind", "host") == "machine"
    return rows.select(
        pl.col("name").cast(pl.String),
        *("user", "command", "bucket_ns", "count", "errors", "faults", "time_ns", "wait_ns"),
        device=pl.lit(None, pl.String),
        cpu_ns=pl.col("time_ns") if machine else pl.col("time_ns") - pl.col("wait_ns"),
    )


def _within(frame: pl.DataFrame, tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The rows whose span lies wholly in the stretch; all, when not even the processors' time has such a span."""
    begins = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    inside = (begins >= stretch.start_ns) & (pl.col("at_ns") <= stretch.end_ns)
    whole = frame if tables.time.is_empty() else tables.time
    return frame if whole.filter(inside).is_empty() else frame.filter(inside)


def _measured_sum(column: str) -> pl.Expr:
    """The sum of what was measured; null when nothing was."""
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum()).alias(column)


def _quantiles(buckets: pl.DataFrame) -> dict[str, dict[str, int]]:
    """By name, the bucket in which each quantile lies."""
    counts = buckets.group_by("name", "bucket_ns").agg(pl.col("count").sum()).sort("name", "bucket_ns")
    below = pl.col("count").cum_sum().over("name", order_by="bucket_ns")
    told = counts.with_columns(below=below, all=pl.col("count").sum().over("name"))
    marks = [
        pl.col("bucket_ns").filter(pl.col("below") >= q * pl.col("all")).first().alias(mark)
        for mark, q in _QUANTILES.items()
    ]
    rows = told.filter(pl.col("all") > 0).group_by("name").agg(marks)
    return {str(row.pop("name")): row for row in rows.iter_rows(named=True)}


def _segments(frame: pl.DataFrame) -> tuple[Segment, ...]:
    """The segments, the most samples first, then the most faults; rows by user are parts of those of all."""
    everybody = frame.filter(pl.col("user").is_null())
    columns = ("faults_minor", "faults_major", "samples")
    found = (
        (everybody if len(everybody) else frame)
        .group_by(pl.col("segment").cast(pl.String), maintain_order=True)
        .agg(_measured_sum(name) for name in columns)
    )
    faults = pl.sum_horizontal("faults_minor", "faults_major")
    ordered = found.sort(pl.col("samples"), faults, descending=True, nulls_last=True, maintain_order=True)
    return tuple(Segment(*row) for row in ordered.rows())


def _functions(stacks: pl.DataFrame) -> tuple[Function, ...]:
    """The innermost functions of the stacks, the most samples first."""
    by_stack = stacks.group_by("stack").agg(pl.col("samples").sum())
    found = (
        by_stack.group_by(pl.col("stack").cast(pl.String).str.split(";").list.last().alias("name"))
        .agg(pl.col("samples").sum())
        .sort("samples", "name", descending=[True, False])
    )
    whole = int(found["samples"].sum())
    return tuple(
        Function(_of_frame(name), samples, samples / whole) for name, samples in found.head(MOST_FUNCTIONS).rows()
    )


def _of_frame(frame: str) -> str:
    """A frame as it is read: its function, and the file it is in."""
    segment, parted, function = frame.rpartition("`")
    return f"{function} ({segment.rpartition('/')[2]})" if parted else frame


def _parts(faults: pl.DataFrame, primitives: pl.DataFrame, by: By) -> tuple[Part, ...]:
    """One for each command or user, the one with the most faults and primitives first."""
    mine = {"faults": _of_each(faults, by), "primitives": _of_each(primitives, by)}
    counts: dict[str, int] = {}
    for rows in mine.values():
        for whose, frame in rows.items():
            done = int(frame.filter(pl.col("bucket_ns").is_null())["count"].sum())
            counts[whose] = counts.get(whose, 0) + done
    return tuple(
        Part(whose, *(metered(rows[whose]) if whose in rows else () for rows in mine.values()))
        for whose in sorted(counts, key=lambda whose: -counts[whose])
    )


def _of_each(rows: pl.DataFrame, by: By) -> dict[str, pl.DataFrame]:
    """The rows of each command or user: those that are of nothing else, where there are such, else all of theirs."""
    other = "user" if by == "command" else "command"
    mine = rows.filter(pl.col(by).is_not_null() & pl.col("device").is_null())
    alone = mine.filter(pl.col(other).is_null())
    chosen = (alone if len(alone) else mine).with_columns(pl.col(by).cast(pl.String))
    return {str(whose): frame for (whose,), frame in chosen.group_by(by, maintain_order=True)}


def _interruptions(faults: tuple[Metered, ...]) -> int | None:
    """How many interrupts there were; None where they were not metered."""
    told = [row.count for row in faults if row.name in _INTERRUPTS]
    return sum(told) if told else None


def _span_ns(frame: pl.DataFrame) -> int:
    return int(frame.group_by("at_ns").agg(pl.col("span_ns").max())["span_ns"].sum())
