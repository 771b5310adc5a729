"""Total time: 100 % of every processor's time in categories, and who used the time that was not idle.

What neither the users, nor the driver, nor the meters used is *unattributed*: kernel workers that move terminal bytes
(charged to nobody), and other people's processes. The account of `/proc/stat` counts in ticks, so that this line has a
resolution, which is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.tables import Tables

TICK_NS = 10_000_000
"""USER_HZ is 100 on every Linux that there is."""

# As the kernel has them, then a simulated machine's: what is busy first.
_ORDER = (
    *("user", "nice", "system", "irq", "softirq", "steal", "iowait", "idle"),
    *("page fault", "segment fault", "bound fault", "interrupt", "getwork", "terminal", "wall crossing", "network"),
    *("process creation", "idle zero", "idle loading", "idle not eligible", "idle governed", "idle page wait"),
    *("idle disk wait", "idle dispatch"),
)


@dataclass(frozen=True)
class Category:
    """One category of processor time."""

    name: str
    time_ns: int
    by_processor_ns: tuple[int, ...]
    """In the order of `TotalTime.processors`."""
    busy: bool
    """False for idle time, and for time that a hypervisor gave to others."""


@dataclass(frozen=True)
class Account:
    """Who used the busy time, in nanoseconds of all processors together; None is not measured."""

    busy_ns: int
    users_ns: int | None
    driver_ns: int | None
    meters_ns: int | None
    supervisor_ns: int | None
    """The supervisor's time, where that is told apart: on a simulated machine, which has no driver and no meters."""
    unattributed_ns: int | None
    """Busy time of nobody of these; below zero by as much as the resolution."""
    resolution_ns: int
    """How far the busy time may be off: a tick a processor at each end."""


@dataclass(frozen=True)
class TotalTime:
    """All processors' time over `span_ns`."""

    span_ns: int
    processors: tuple[str, ...]
    categories: tuple[Category, ...]
    account: Account

    @property
    def total_ns(self) -> int:
        """The time of all processors."""
        return sum(category.time_ns for category in self.categories)

    @property
    def busy_share(self) -> float:
        """Busy time of all time, 0 to 1."""
        return self.account.busy_ns / self.total_ns if self.total_ns else 0.0

    def share_of(self, part_ns: int | None) -> float | None:
        """`part_ns` of all time, 0 to 1; None of what is not measured."""
        return None if part_ns is None or not self.total_ns else part_ns / self.total_ns


def is_busy(category: str) -> bool:
    """Whether a processor works in `category`: not when idle by any cause, nor when a hypervisor took it away."""
    return not category.startswith("idle") and category not in ("iowait", "steal")


def total_time_of(tables: Tables, stretch: Stretch) -> TotalTime | None:
    """The processors' time in the stretch; None when it was not measured."""
    spans = spans_in(tables.time, stretch)
    if spans.is_empty():
        return None
    by_processor = _by_processor(spans)
    processors = sorted(by_processor["processor"].unique().to_list(), key=lambda name: (len(name), name))
    categories = tuple(_category(name, by_processor, processors) for name in _names(by_processor))
    return TotalTime(
        span_ns=int(spans.group_by("at_ns").agg(pl.col("span_ns").max())["span_ns"].sum()),
        processors=tuple(processors),
        categories=categories,
        account=_account(categories, spans_in(tables.processes, stretch), len(processors), _ticks(tables)),
    )


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


def _category(name: str, by_processor: pl.DataFrame, processors: list[str]) -> Category:
    mine = by_processor.filter(pl.col("category") == name).select("processor", "time_ns")
    times = {str(processor): int(time) for processor, time in mine.rows()}
    parts = tuple(times.get(processor, 0) for processor in processors)
    return Category(name=name, time_ns=sum(parts), by_processor_ns=parts, busy=is_busy(name))


def _account(categories: tuple[Category, ...], processes: pl.DataFrame, processors: int, tick_ns: int) -> Account:
    used = {
        str(who): int(time)
        for who, time in processes.group_by(pl.col("who").cast(pl.String)).agg(pl.col("cpu_ns").sum()).rows()
    }
    busy = sum(category.time_ns for category in categories if category.busy)
    users, driver, meters = used.get("users"), used.get("driver"), used.get("meters")
    supervisor = used.get("supervisor")
    known = users is not None and (driver is not None or supervisor is not None)
    return Account(
        busy_ns=busy,
        users_ns=users,
        driver_ns=driver,
        meters_ns=meters,
        supervisor_ns=supervisor,
        unattributed_ns=busy - sum(used.values()) if known else None,
        resolution_ns=2 * processors * tick_ns,
    )


def _ticks(tables: Tables) -> int:
    """A tick of the account: a simulated machine counts exactly."""
    return TICK_NS if tables.conditions.get("system", {}).get("kind", "host") == "host" else 0
