"""Total time: 100 % of every processor's time in categories, and the owners of the busy time.

Busy time of neither the users, nor the driver, nor the sampling threads is *unattributed*: kernel workers that move
terminal bytes, and other processes. `/proc/stat` counts in ticks, so the unattributed time has a resolution.

loadgo's own time is that of the driver, the threads that sample and write, and the meter programs in the kernel. The
time of the meter programs is estimated from windows in which the kernel clocked them, and else by calibration at the
start. It is a part of the time that the programs measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.measures.meter_price import MeterPrice, meter_price_of
from loadgo.measures.sampled_time import SAMPLED_CATEGORIES, dividing_clock_hz, sampling_error_ns
from loadgo.records.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

TICK_NS = 10_000_000
"""Length of a tick of `/proc/stat`: USER_HZ is 100 on every Linux."""

OWNER_GROUPS = ("users", "driver", "meters", "supervisor")
"""Owners in the table `processes` that are groups: all users, the driver, the sampling threads, the supervisor."""

METER_PROGRAMS_CATEGORY = "meters"
"""The category of the meter programs' time."""

KERNEL_CATEGORIES = (
    *("kernel thread", "interrupt", "soft interrupt", "getwork", "irq", "softirq", "uncharged"),
    METER_PROGRAMS_CATEGORY,
)
"""Categories of the kernel's own time, which belongs to nobody."""

# Busy categories, then idle ones, of a host's meters, of a simulated machine, and of the kernel's own account.
_CATEGORY_ORDER = (
    *("user", "nice", "system", "primitive", "page fault", "segment fault", "bound fault", "irq", "softirq"),
    *("interrupt", "soft interrupt", "getwork", "terminal", "wall crossing", "network", "process creation"),
    *(
        "lock wait",
        "kernel thread",
        "uncharged",
        METER_PROGRAMS_CATEGORY,
        "steal",
        "iowait",
        "idle",
        "idle zero",
        "idle loading",
    ),
    *("idle not eligible", "idle governed", "idle page wait", "idle disk wait", "idle dispatch"),
)
HELD_UP_CATEGORIES = ("idle page wait", "idle disk wait", "idle governed")
"""Idle time that somebody could have used. The kernel's own account has `iowait` for it, which names no cause."""
TICK_CATEGORIES = frozenset(("system", "nice", "irq", "softirq", "iowait", "idle"))
"""Categories of the kernel's own account, which counts ticks."""
_UNWANTED_IDLE = ("idle zero", "idle page wait", "idle disk wait", "idle dispatch", "idle", "iowait")
"""Idle time in which no eligible process wanted a processor: 1973's zero and non-multiprogramming idle."""


@dataclass(frozen=True)
class Category:
    """One category of processor time."""

    name: str
    time_ns: int
    error_ns: float | None
    """Half of the 95 % interval of `time_ns`, where samples of a clock divide the busy time; None elsewhere."""
    by_processor_ns: tuple[int, ...]
    """Time on each processor, in the order of `TotalTime.processors`."""
    busy: bool
    """False for idle time, and for time that a hypervisor gave to others."""
    in_non_idle: bool
    """Whether the category belongs to the non-idle time, the base of the column *of non-idle*."""
    count: int | None
    """Number of faults, system calls or dispatches; None where they are not counted."""
    each_ns: float | None
    """Mean processor time of one event."""


@dataclass(frozen=True)
class BusyTime:
    """The busy time by owner, in nanoseconds of all processors together; None means not measured."""

    busy_ns: int
    users_ns: int | None
    driver_ns: int | None
    meters_ns: int | None
    """Time of the threads that sample and write."""
    instrument_ns: int | None
    """Time of the meter programs in the kernel, which lies within the time of all others.

    From the windows of `price`; by calibration at the start where there is no price.
    """
    price: MeterPrice | None
    """The time of the meters, with its interval; None where the kernel clocked none of their programs."""
    supervisor_ns: int | None
    """Time of the supervisor on a simulated machine, which has no driver and no sampling threads."""
    unattributed_ns: int | None
    """Busy time of no owner above; it may be negative by at most the resolution."""
    resolution_ns: int
    """Largest error of the busy time: a tick for each processor at each end."""
    laboratory_ns: int | None
    """loadgo's own time: driver, sampling and writing, meter programs.

    This is an upper bound, since meter programs that run within the driver's time are counted twice.
    """


@dataclass(frozen=True)
class TotalTime:
    """The time of all processors over `span_ns`."""

    span_ns: int
    kind: Literal["kernel's ticks", "meters", "machine"]
    """The source of the categories."""
    processors: tuple[str, ...]
    wall_ns: int | None
    """The span × the number of processors; None when that number is not known."""
    categories: tuple[Category, ...]
    account: BusyTime

    @property
    def total_ns(self) -> int:
        """Time of all categories, on all processors."""
        return sum(category.time_ns for category in self.categories)

    @property
    def non_idle_ns(self) -> int:
        """The time of the categories that are `in_non_idle`."""
        return sum(category.time_ns for category in self.categories if category.in_non_idle)

    @property
    def busy_share(self) -> float:
        """Busy share of all time, 0 to 1."""
        return self.account.busy_ns / self.total_ns if self.total_ns else 0.0

    @property
    def others_share(self) -> float | None:
        """Share of others in all time, 0 to 1: not the users', loadgo's or the kernel's own. None if unknown.

        It is a lower bound. All time of interrupts and of meter programs is subtracted, and a part of it may lie within
        the users' and the driver's time.
        """
        unattributed_ns = self.account.unattributed_ns
        if unattributed_ns is None or not self.total_ns:
            return None
        return max(unattributed_ns - self.category_time_ns(*KERNEL_CATEGORIES), 0) / self.total_ns

    def share_of(self, part_ns: float | None) -> float | None:
        """The share of `part_ns` in all time, 0 to 1; None if `part_ns` was not measured."""
        return None if part_ns is None or not self.total_ns else part_ns / self.total_ns

    def category_time_ns(self, *names: str) -> int:
        """Sum of the time in these categories."""
        return sum(category.time_ns for category in self.categories if category.name in names)


def is_busy(category: str) -> bool:
    """Whether a processor works in `category`: it is neither idle nor taken by the hypervisor."""
    return not category.startswith("idle") and category not in ("iowait", "steal")


def total_time_of(tables: Tables, stretch: Stretch, counts: Mapping[str, int] | None = None) -> TotalTime | None:
    """The processors' time in the stretch; None when it was not measured. `counts` has the events by category."""
    spans = spans_in(tables.time, stretch)
    if spans.is_empty():
        return None
    by_processor = _time_by_processor(spans)
    processors = sorted(by_processor["processor"].unique().to_list(), key=lambda name: (len(name), name))
    times = {(category, processor): int(time) for processor, category, time in by_processor.rows()}
    parts_ns = {
        name: [times.get((name, processor), 0) for processor in processors] for name in _category_names(by_processor)
    }
    errors_ns = _sampling_errors(parts_ns, dividing_clock_hz(tables.conditions.get("meters", {})))
    categories = tuple(
        _category(name, parts, (counts or {}).get(name), errors_ns.get(name)) for name, parts in parts_ns.items()
    )
    span_ns = int(spans.group_by("at_ns").agg(pl.col("span_ns").max())["span_ns"].sum())
    kind = _account_kind(tables, categories)
    number = _processor_count(tables) if processors == ["all"] else len(processors)
    return TotalTime(
        span_ns=span_ns,
        kind=kind,
        processors=tuple(processors),
        wall_ns=None if number is None else span_ns * number,
        categories=categories,
        account=_busy_time(
            categories,
            spans_in(tables.processes, stretch),
            spans_in(tables.meter_price, stretch),
            2 * len(processors) * TICK_NS if kind == "kernel's ticks" else 0,
        ),
    )


def _time_by_processor(spans: pl.DataFrame) -> pl.DataFrame:
    """Time by processor and category; the processor is `all` where no processor has its own rows."""
    by_processor = spans.filter(pl.col("processor").is_not_null())
    return (
        (by_processor if len(by_processor) else spans)
        .with_columns(pl.col("processor").cast(pl.String).fill_null("all"), pl.col("category").cast(pl.String))
        .group_by("processor", "category")
        .agg(pl.col("time_ns").cast(pl.Int64).sum())
    )


def _category_names(by_processor: pl.DataFrame) -> list[str]:
    names: list[str] = by_processor["category"].unique().to_list()
    return sorted(names, key=lambda name: (_CATEGORY_ORDER.index(name) if name in _CATEGORY_ORDER else -1, name))


def _sampling_errors(parts_ns: Mapping[str, Sequence[int]], clock_hz: int) -> dict[str, float]:
    """The errors of the categories that samples divide; none without a clock. `parts_ns` has all by processor."""
    sampled = {name: parts for name, parts in parts_ns.items() if name in SAMPLED_CATEGORIES}
    if not clock_hz or any(name in TICK_CATEGORIES for name in parts_ns):
        return {}
    divided_ns = [sum(times) for times in zip(*sampled.values(), strict=True)]
    return {name: sampling_error_ns(parts, divided_ns, clock_hz) for name, parts in sampled.items()}


def _category(name: str, parts_ns: Sequence[int], count: int | None, error_ns: float | None) -> Category:
    """The category with its time on each processor and the number of its events, if that is known."""
    return Category(
        name=name,
        time_ns=sum(parts_ns),
        error_ns=error_ns,
        by_processor_ns=tuple(parts_ns),
        busy=is_busy(name),
        in_non_idle=name not in _UNWANTED_IDLE,
        count=count,
        each_ns=sum(parts_ns) / count if count else None,
    )


def _busy_time(
    categories: tuple[Category, ...], processes: pl.DataFrame, windows: pl.DataFrame, resolution_ns: int
) -> BusyTime:
    time_by_owner = _time_by_owner(processes)
    busy = sum(category.time_ns for category in categories if category.busy)
    users, driver, meters = time_by_owner.get("users"), time_by_owner.get("driver"), time_by_owner.get("meters")
    supervisor = time_by_owner.get("supervisor")
    has_owners = users is not None and (driver is not None or supervisor is not None)
    price = None if windows.is_empty() else meter_price_of(windows, busy, meters)
    instrument = [category.time_ns for category in categories if category.name == METER_PROGRAMS_CATEGORY]
    if price is not None:
        instrument = [round(price.programs_ns)]
    laboratory = [part for part in (driver, meters, *instrument) if part is not None]
    return BusyTime(
        busy_ns=busy,
        users_ns=users,
        driver_ns=driver,
        meters_ns=meters,
        instrument_ns=sum(instrument) if instrument else None,
        price=price,
        supervisor_ns=supervisor,
        unattributed_ns=busy - sum(filter(None, (users, driver, meters, supervisor))) if has_owners else None,
        resolution_ns=resolution_ns,
        laboratory_ns=sum(laboratory) if laboratory else None,
    )


def _time_by_owner(processes: pl.DataFrame) -> dict[str, int]:
    """The time of each group of `OWNER_GROUPS` that was measured."""
    host_wide = processes.filter(pl.col("user").is_null())
    sums = host_wide.group_by(pl.col("who").cast(pl.String)).agg(pl.col("cpu_ns").sum())
    return {str(owner): int(time) for owner, time in sums.rows() if owner in OWNER_GROUPS}


def _account_kind(tables: Tables, categories: tuple[Category, ...]) -> Literal["kernel's ticks", "meters", "machine"]:
    """The source of the categories: a simulated machine and the meters are exact, the kernel counts ticks."""
    if tables.conditions.get("system", {}).get("kind", "host") == "machine":
        return "machine"
    ticking = any(category.name in TICK_CATEGORIES for category in categories)
    return "kernel's ticks" if ticking else "meters"


def _processor_count(tables: Tables) -> int | None:
    """Number of processors, from `run.toml`; None where it is missing."""
    count = tables.conditions.get("system", {}).get("processors")
    return int(count) if count else None
