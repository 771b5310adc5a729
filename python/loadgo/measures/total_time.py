"""Total time: 100 % of every processor's time in categories, and who used the time that was not idle.

What neither the users, nor the driver, nor the meters used is *unattributed*: kernel workers that move terminal bytes
(charged to nobody), and other people's processes. The account of `/proc/stat` counts in ticks, so that this line has a
resolution, which is said. The laboratory is the driver, the threads that sample and write, and the meters' programs in
the kernel: what these take is calibrated, and runs within whatever they measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.records.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.measures.meters import Meters
    from loadgo.records.tables import Tables

TICK_NS = 10_000_000
"""USER_HZ is 100 on every Linux that there is."""

GROUPS = ("users", "driver", "meters", "supervisor")
"""Rows of `processes` that are of several processes: all users together, the laboratory, a machine's supervisor."""

INSTRUMENT = "meters"
"""The category of what the meters' own programs took."""

# What is busy first, then what is idle: a host's meters and a simulated machine's, and the kernel's own account.
_ORDER = (
    *("user", "nice", "system", "primitive", "page fault", "segment fault", "bound fault", "irq", "softirq"),
    *("interrupt", "soft interrupt", "getwork", "terminal", "wall crossing", "network", "process creation"),
    *("kernel thread", "uncharged", INSTRUMENT, "steal", "iowait", "idle", "idle zero", "idle loading"),
    *("idle not eligible", "idle governed", "idle page wait", "idle disk wait", "idle dispatch"),
)
_TICKING = frozenset(("system", "nice", "irq", "softirq", "iowait", "idle"))
_WAITING = ("idle zero", "idle page wait", "idle disk wait", "idle dispatch", "idle", "iowait")
"""Idle time in which nobody who was let run wanted a processor: 1973's zero and non-multiprogramming idle."""

# What is counted in each category: kinds of faults, names of primitives, or all of these.
_FAULTS = {
    "page fault": ("major", "minor", "swap-in", "write-protect"),
    "segment fault": ("segment",),
    "bound fault": ("bound",),
    "interrupt": ("interrupt",),
    "soft interrupt": ("soft interrupt",),
}
_PRIMITIVES = {
    "terminal": ("line in", "line out"),
    "wall crossing": ("wall crossing",),
    "network": ("network message",),
    "process creation": ("process creation",),
}


@dataclass(frozen=True)
class Category:
    """One category of processor time."""

    name: str
    time_ns: int
    by_processor_ns: tuple[int, ...]
    """In the order of `TotalTime.processors`."""
    busy: bool
    """False for idle time, and for time that a hypervisor gave to others."""
    in_non_idle: bool
    """Whether it is in the base of the percent of non-idle: all time but the idle time in which nobody wanted a
    processor."""
    count: int | None
    """How many faults, primitives or dispatches it was; None where that is not counted."""
    each_ns: float | None
    """The processor time of one of them."""


@dataclass(frozen=True)
class Account:
    """Who used the busy time, in nanoseconds of all processors together; None is not measured."""

    busy_ns: int
    users_ns: int | None
    driver_ns: int | None
    meters_ns: int | None
    """The threads that sample and write."""
    instrument_ns: int | None
    """The meters' programs in the kernel, by calibration; they run in the time of all others."""
    supervisor_ns: int | None
    """The supervisor's time, where that is told apart: on a simulated machine, which has no driver and no meters."""
    unattributed_ns: int | None
    """Busy time of nobody of these; below zero by as much as the resolution."""
    resolution_ns: int
    """How far the busy time may be off: a tick a processor at each end."""
    laboratory_ns: int | None
    """The laboratory's own time: driver, sampling and writing, instrument. At most this: what the instrument takes
    within the driver is in both."""


@dataclass(frozen=True)
class TotalTime:
    """All processors' time over `span_ns`."""

    span_ns: int
    kind: Literal["kernel's ticks", "meters", "machine"]
    """Whose account it is."""
    processors: tuple[str, ...]
    wall_ns: int | None
    """The span times the number of processors; None when that is not known."""
    categories: tuple[Category, ...]
    account: Account

    @property
    def total_ns(self) -> int:
        """The time of all processors."""
        return sum(category.time_ns for category in self.categories)

    @property
    def non_idle_ns(self) -> int:
        """The base of the percent of non-idle."""
        return sum(category.time_ns for category in self.categories if category.in_non_idle)

    @property
    def busy_share(self) -> float:
        """Busy time of all time, 0 to 1."""
        return self.account.busy_ns / self.total_ns if self.total_ns else 0.0

    @property
    def others_share(self) -> float | None:
        """What neither the users nor loadgo had, nor nobody, of all time, 0 to 1; None where that is not told apart."""
        left = self.account.unattributed_ns
        return None if left is None or not self.total_ns else max(0.0, left / self.total_ns)

    def share_of(self, part_ns: float | None) -> float | None:
        """`part_ns` of all time, 0 to 1; None of what is not measured."""
        return None if part_ns is None or not self.total_ns else part_ns / self.total_ns

    def time_of(self, *names: str) -> int:
        """The time in all of these categories."""
        return sum(category.time_ns for category in self.categories if category.name in names)


def is_busy(category: str) -> bool:
    """Whether a processor works in `category`: not when idle by any cause, nor when a hypervisor took it away."""
    return not category.startswith("idle") and category not in ("iowait", "steal")


def total_time_of(tables: Tables, stretch: Stretch, counts: Mapping[str, int] | None = None) -> TotalTime | None:
    """The processors' time in the stretch; None when it was not measured. `counts` are by category."""
    spans = spans_in(tables.time, stretch)
    if spans.is_empty():
        return None
    by_processor = _by_processor(spans)
    processors = sorted(by_processor["processor"].unique().to_list(), key=lambda name: (len(name), name))
    categories = tuple(_category(name, by_processor, processors, counts or {}) for name in _names(by_processor))
    span_ns = int(spans.group_by("at_ns").agg(pl.col("span_ns").max())["span_ns"].sum())
    kind = _kind(tables, categories)
    number = _number(tables) if processors == ["all"] else len(processors)
    return TotalTime(
        span_ns=span_ns,
        kind=kind,
        processors=tuple(processors),
        wall_ns=None if number is None else span_ns * number,
        categories=categories,
        account=_account(
            categories,
            spans_in(tables.processes, stretch),
            2 * len(processors) * TICK_NS if kind == "kernel's ticks" else 0,
        ),
    )


def counts_of(meters: Meters) -> dict[str, int]:
    """By category of processor time, how many faults, primitives and dispatches the meters counted."""
    kinds = {row.name: row.count for row in meters.faults}
    names = {row.name: row.count for row in meters.primitives}
    told = {category: [kinds[kind] for kind in of if kind in kinds] for category, of in _FAULTS.items()}
    told |= {category: [names[name] for name in of if name in names] for category, of in _PRIMITIVES.items()}
    told["primitive"] = list(names.values())
    if meters.ready is not None and meters.ready.switches is not None:
        told["getwork"] = [meters.ready.switches]
    return {category: sum(found) for category, found in told.items() if found}


def _by_processor(spans: pl.DataFrame) -> pl.DataFrame:
    """Time by processor and category; rows for all processors only where no processor has its own."""
    own = spans.filter(pl.col("processor").is_not_null())
    return (
        (own if len(own) else spans)
        .with_columns(pl.col("processor").cast(pl.String).fill_null("all"), pl.col("category").cast(pl.String))
        .group_by("processor", "category")
        .agg(pl.col("time_ns").cast(pl.Int64).sum())
    )


def _names(by_processor: pl.DataFrame) -> list[str]:
    found: list[str] = by_processor["category"].unique().to_list()
    return sorted(found, key=lambda name: (_ORDER.index(name) if name in _ORDER else -1, name))


def _category(name: str, by_processor: pl.DataFrame, processors: list[str], counts: Mapping[str, int]) -> Category:
    mine = by_processor.filter(pl.col("category") == name).select("processor", "time_ns")
    times = {str(processor): int(time) for processor, time in mine.rows()}
    parts = tuple(times.get(processor, 0) for processor in processors)
    count = counts.get(name)
    return Category(
        name=name,
        time_ns=sum(parts),
        by_processor_ns=parts,
        busy=is_busy(name),
        in_non_idle=name not in _WAITING,
        count=count,
        each_ns=sum(parts) / count if count else None,
    )


def _account(categories: tuple[Category, ...], processes: pl.DataFrame, resolution_ns: int) -> Account:
    used = _groups(processes)
    busy = sum(category.time_ns for category in categories if category.busy)
    users, driver, meters = used.get("users"), used.get("driver"), used.get("meters")
    supervisor = used.get("supervisor")
    known = users is not None and (driver is not None or supervisor is not None)
    instrument = [category.time_ns for category in categories if category.name == INSTRUMENT]
    laboratory = [part for part in (driver, meters, *instrument) if part is not None]
    return Account(
        busy_ns=busy,
        users_ns=users,
        driver_ns=driver,
        meters_ns=meters,
        instrument_ns=sum(instrument) if instrument else None,
        supervisor_ns=supervisor,
        unattributed_ns=busy - sum(filter(None, (users, driver, meters, supervisor))) if known else None,
        resolution_ns=resolution_ns,
        laboratory_ns=sum(laboratory) if laboratory else None,
    )


def _groups(processes: pl.DataFrame) -> dict[str, int]:
    """The time of all users together, of the laboratory's threads, and of a machine's supervisor."""
    everybodys = processes.filter(pl.col("user").is_null())
    by = everybodys.group_by(pl.col("who").cast(pl.String)).agg(pl.col("cpu_ns").sum())
    return {str(who): int(time) for who, time in by.rows() if who in GROUPS}


def _kind(tables: Tables, categories: tuple[Category, ...]) -> Literal["kernel's ticks", "meters", "machine"]:
    """A simulated machine and the meters count exactly, the kernel in ticks."""
    if tables.conditions.get("system", {}).get("kind", "host") == "machine":
        return "machine"
    ticking = any(category.name in _TICKING for category in categories)
    return "kernel's ticks" if ticking else "meters"


def _number(tables: Tables) -> int | None:
    """How many processors there are, as the run's conditions have it."""
    told = tables.conditions.get("system", {}).get("processors")
    return int(told) if told else None
