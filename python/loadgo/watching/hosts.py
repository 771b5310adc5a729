"""The hosts of a watched run or metering of several, side by side: what is known of each, and figures in a window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from loadgo.measures.total_time import is_busy
from loadgo.records.fleet_streams import first_processors
from loadgo.records.fleets import HOST_COLUMN, HostOfRun, hosts_of_run
from loadgo.records.host_places import WIDEST_BOUND_NS
from loadgo.records.interactions import RESPONSE_NS
from loadgo.stats.quantiles import sorted_quantile
from loadgo.stats.resample import Floats
from loadgo.watching.series import busy_series, rows_in_window

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

SILENT_NS = 8_000_000_000
"""A host whose meters end so long before a window is late. Rows wait for those of other hosts for less."""
FEWEST_P90_ANSWERS = 10
"""Number of answers from which there is a p90: with fewer it would be the maximum."""


def watched_hosts(conditions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each host of a run or metering of several, as the page is told of it; empty for anything else.

    `first` and `last` are its processors, where those of all hosts are counted through.
    """
    hosts = hosts_of_run(conditions)
    first = first_processors(hosts)
    return [
        {
            "name": host.name,
            "first": first[host.name],
            "last": first[host.name] + max(int(host.entry.get("processors") or 1), 1) - 1,
            "first_user": host.first_user,
            "last_user": host.last_user,
            "lost_ns": _lost_ns(host),
            "bound_ns": _bound_ns(host),
        }
        for host in hosts
    ]


def _lost_ns(host: HostOfRun) -> float | None:
    """When the host was lost, since the run began; 0 where that is not known, and None where it was not lost."""
    return float(host.entry.get("lost_at_s") or 0.0) * 1e9 if host.lost else None


def _bound_ns(host: HostOfRun) -> int | None:
    """The largest error of the host's clock; None if it is not known yet."""
    bound_ns = host.entry.get("clock", {}).get("bound_ns")
    return bound_ns if isinstance(bound_ns, int) else None


@dataclass(frozen=True)
class LostHost:
    """The only other host of a run that goes on, which was lost."""

    name: str
    lost_ns: float
    """When it was lost, since the run began; 0 where that is not known."""


def only_lost_host(conditions: Mapping[str, Any]) -> LostHost | None:
    """The loss of the only other host of a run that goes on; None for any other run."""
    system = conditions.get("system", {})
    if not system.get("lost") or hosts_of_run(conditions):
        return None
    return LostHost(str(system.get("hostname") or system.get("name")), float(system.get("lost_at_s") or 0.0) * 1e9)


@dataclass(frozen=True)
class WindowHost:
    """One host in a window."""

    name: str
    users: int
    count: int
    """Interactions of its users that ended in the window."""
    p50_ns: float | None
    p90_ns: float | None
    """The p90 of their response times; None with fewer than ten interactions."""
    busy: Floats
    """Busy share of its processors, by column."""
    busy_share: float
    """Busy share of its processors over the window; NaN where it was not measured, as for the next two."""
    queue_length: float
    """Mean length of its run queue."""
    memory_share: float
    """Share of its memory that is neither free nor file cache."""
    lost_ns: float | None
    """When it was lost, since the run began; None if it was not lost by the window's end."""
    bound_ns: int | None
    """The largest error of its clock; None if it is not known yet."""
    silent_ns: float
    """Time from the last row of its meters to the window's end."""

    @property
    def is_late(self) -> bool:
        """Whether its meters have not come for long, although it was not lost."""
        return self.lost_ns is None and self.silent_ns > SILENT_NS

    @property
    def is_roughly_placed(self) -> bool:
        """Whether its clock is known so badly that nobody knows which of its spans belong to an answer."""
        return self.bound_ns is not None and self.bound_ns > WIDEST_BOUND_NS


def hosts_in(tables: Tables, ended: pl.DataFrame, edges: Floats) -> tuple[WindowHost, ...]:
    """The hosts of a run or a metering of several, in their order; empty for anything else.

    `ended` are the interactions that ended in the window.
    """
    return tuple(_host_in(tables, ended, edges, host) for host in hosts_of_run(tables.conditions))


def _host_in(tables: Tables, ended: pl.DataFrame, edges: Floats, host: HostOfRun) -> WindowHost:
    own = ended.filter(pl.col("user").is_between(host.first_user, host.last_user))
    response = np.sort(own.select(RESPONSE_NS.cast(pl.Float64)).to_series().to_numpy())
    all_time = _rows_of(tables.time, host.name)
    time, queue, memory = (
        rows_in_window(frame, edges)
        for frame in (all_time, _rows_of(tables.queue, host.name), _rows_of(tables.memory, host.name))
    )
    until_ns, lost_ns = float(edges[-1]), _lost_ns(host)
    last_ns = all_time.filter(pl.col("at_ns") <= until_ns)["at_ns"].max()
    return WindowHost(
        name=host.name,
        users=host.users,
        count=len(response),
        p50_ns=sorted_quantile(response, 0.5) if len(response) else None,
        p90_ns=sorted_quantile(response, 0.9) if len(response) >= FEWEST_P90_ANSWERS else None,
        busy=busy_series(time, edges),
        busy_share=_busy_share(time),
        queue_length=_queue_length(queue),
        memory_share=_memory_share(memory),
        lost_ns=lost_ns if lost_ns is not None and lost_ns <= until_ns else None,
        bound_ns=_bound_ns(host),
        silent_ns=until_ns - last_ns if isinstance(last_ns, int) else 0.0,
    )


def _rows_of(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows of a host; none where rows name no hosts."""
    return frame.filter(pl.col(HOST_COLUMN).cast(pl.String) == name) if HOST_COLUMN in frame.columns else frame.clear()


def _busy_share(time: pl.DataFrame) -> float:
    category = pl.col("category").cast(pl.String)
    names = time.select(category.unique()).to_series()
    busy_ns = time.filter(category.is_in([name for name in names if is_busy(name)]))["time_ns"].sum()
    return _ratio(float(busy_ns), float(time["time_ns"].sum()))


def _queue_length(queue: pl.DataFrame) -> float:
    is_ready = (pl.col("queue").cast(pl.String) == "processors") & (pl.col("measure").cast(pl.String) == "ready")
    mean = queue.filter(is_ready)["value"].mean()
    return float(mean) if isinstance(mean, float) else math.nan


def _memory_share(memory: pl.DataFrame) -> float:
    """The share that is in use, since the table has what is free and what is file cache."""
    return 1 - _ratio(float(memory["resident_bytes"].sum()), float(memory["size_bytes"].sum()))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
