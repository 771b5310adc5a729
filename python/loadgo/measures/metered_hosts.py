"""Hosts that were metered side by side without a load: the time of each, and which one surely differs.

A host is compared with the mean of all others at the same time, stretch by stretch. So what came upon all hosts at once
is no difference. The interval of the mean difference is Student's over the stretches, wide enough for all hosts and
figures together (C. E. Bonferroni, 1936). The host that differs most is named and left out. Then the rest are compared
again while they are more than two, since of two hosts nobody knows which one is unlike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from loadgo.measures.hosts import HostLost, lost_hosts
from loadgo.measures.queues import MEAN_MEASURES
from loadgo.measures.total_time import HELD_UP_CATEGORIES, is_busy, total_time_of
from loadgo.measures.whose_time import OwnerTime, whose_time_of
from loadgo.records.fleets import hosts_of_run, is_metering_of_hosts
from loadgo.records.phases import Stretch, spans_in
from loadgo.stats.resample import FEWEST_UNITS, Floats
from loadgo.stats.student import INTERVAL_CONFIDENCE, student_reach

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

HostFigure = Literal["busy", "held up", "run queue"]
"""A figure that is compared: the busy share, the share of idle time in which somebody waited, or the run queue."""

LEAST_DIFFERENCE: Mapping[HostFigure, float] = {"busy": 0.05, "held up": 0.05, "run queue": 1.0}
"""Smaller differences are not worth a name, however sure: 5 points of the processors' time, and one waiting task."""
_HELD_UP_CATEGORIES = (*HELD_UP_CATEGORIES, "iowait")
"""Idle time that somebody could have used, by loadgo's meters or by the kernel's own account."""
_MOST_STRETCHES = 20
_SPANS_A_STRETCH = 2
_FEWEST_IN_STEPS = 3
"""Among fewer hosts than this nobody knows which one is unlike, unless there were no more from the beginning."""


@dataclass(frozen=True)
class MeteredHost:
    """A host of the metering. None means not measured."""

    name: str
    address: str
    processors: int | None
    busy_share: float | None
    """Busy share of the processors' time, 0 to 1."""
    user_share: float | None
    """Share of the processors' time in programs, outside the kernel."""
    held_up_share: float | None
    """Share of the processors' time that was idle while somebody waited for a page, a disk or under a quota."""
    run_queue: float | None
    """Mean number of tasks that waited for a processor."""
    most: OwnerTime | None
    """The programs of one name that used most processor time."""
    most_share: float | None
    """The share of `most` in the processors' time."""
    lost: HostLost | None


@dataclass(frozen=True)
class HostDifference:
    """A figure in which a host surely differs from the others."""

    host: str
    figure: HostFigure
    value: float
    others: float
    """The mean of the others with which it was compared."""
    low: float
    """The lower end of the difference's interval."""
    high: float


@dataclass(frozen=True)
class MeteredHosts:
    """All hosts of a metering of several."""

    hosts: tuple[MeteredHost, ...]
    differences: tuple[HostDifference, ...]
    """The sure and noticeable ones: the host that differs most first, and of each host the greatest first."""
    judged: bool
    """Whether there were enough stretches to compare the hosts."""


def metered_hosts_of(tables: Tables, stretch: Stretch) -> MeteredHosts | None:
    """The hosts of a metering of several, from the tables of `tables_of_load`; None for anything else."""
    if not is_metering_of_hosts(tables.conditions):
        return None
    hosts = hosts_of_run(tables.conditions)
    lost = lost_hosts(tables.conditions)
    figures = [
        _figures(own, stretch, host.name, host.address, lost.get(host.name))
        for host, own in zip(hosts, tables.by_host, strict=True)
    ]
    compared = {host.name: own for host, own in zip(hosts, tables.by_host, strict=True) if host.name not in lost}
    series = _series_by_figure(compared, stretch)
    return MeteredHosts(tuple(figures), _differences(series), judged=any(len(own) > 1 for own in series.values()))


def _figures(own: Tables, stretch: Stretch, name: str, address: str, lost: HostLost | None) -> MeteredHost:
    total, queue = total_time_of(own, stretch), _ready_rows(own, stretch)
    processes = whose_time_of(own, stretch).processes
    most = processes[0] if processes else None
    count = own.conditions.get("system", {}).get("processors")
    return MeteredHost(
        name=name,
        address=address,
        processors=int(count) if count else None,
        busy_share=None if total is None else total.busy_share,
        user_share=None if total is None else total.share_of(total.category_time_ns("user", "nice")),
        held_up_share=None if total is None else total.share_of(total.category_time_ns(*_HELD_UP_CATEGORIES)),
        run_queue=float(np.average(queue["value"], weights=queue["span_ns"])) if len(queue) else None,
        most=most,
        most_share=None if total is None or most is None else total.share_of(most.cpu_ns),
        lost=lost,
    )


def _ready_rows(own: Tables, stretch: Stretch) -> pl.DataFrame:
    """The mean length of the run queue in each span."""
    names = pl.col("queue").cast(pl.String), pl.col("measure").cast(pl.String)
    return spans_in(own.queue, stretch).filter(names[0] == "processors", names[1] == MEAN_MEASURES[0])


def _series_by_figure(by_host: Mapping[str, Tables], stretch: Stretch) -> dict[HostFigure, dict[str, Floats]]:
    """The mean of each figure in each stretch of the metering, by host. A host without one of them is left out."""
    count = _stretch_count([own.time for own in by_host.values()])
    series: dict[HostFigure, dict[str, Floats]] = {"busy": {}, "held up": {}, "run queue": {}}
    for name, own in by_host.items():
        time = spans_in(own.time, stretch).with_columns(pl.col("category").cast(pl.String))
        busy = pl.col("category").is_in([name for name in time["category"].unique() if is_busy(name)])
        held_up = pl.col("category").is_in(_HELD_UP_CATEGORIES)
        weight = pl.col("time_ns").cast(pl.Float64)
        series["busy"][name] = _means(time.with_columns(part=busy * weight, weight=weight), stretch, count)
        series["held up"][name] = _means(time.with_columns(part=held_up * weight, weight=weight), stretch, count)
        length = pl.col("span_ns").cast(pl.Float64)
        queue = _ready_rows(own, stretch).with_columns(part=pl.col("value") * length, weight=length)
        series["run queue"][name] = _means(queue, stretch, count)
    known = {figure: {name: row for name, row in own.items() if len(row)} for figure, own in series.items()}
    return {figure: own for figure, own in known.items() if len(own) > 1}


def _stretch_count(times: Sequence[pl.DataFrame]) -> int:
    """The number of stretches, by the host with the fewest spans."""
    spans = min((time["at_ns"].n_unique() for time in times), default=0)
    return min(_MOST_STRETCHES, spans // _SPANS_A_STRETCH)


def _means(rows: pl.DataFrame, stretch: Stretch, count: int) -> Floats:
    """The mean of `part` over `weight` in each of `count` stretches; empty if one has none, or if these are too few."""
    if count < FEWEST_UNITS or rows.is_empty():
        return np.empty(0)
    middle = pl.col("at_ns").cast(pl.Float64) - pl.col("span_ns").cast(pl.Float64) / 2
    index = ((middle - stretch.start_ns) * count / max(stretch.span_ns, 1)).floor().clip(0, count - 1)
    sums = rows.group_by(index.cast(pl.Int64).alias("stretch")).agg(pl.col("part", "weight").sum()).sort("stretch")
    if len(sums) < count or not sums["weight"].min():
        return np.empty(0)
    means: Floats = (sums["part"] / sums["weight"]).to_numpy()
    return means


def _differences(series: Mapping[HostFigure, Mapping[str, Floats]]) -> tuple[HostDifference, ...]:
    """The sure and noticeable differences, host after host."""
    names = list(dict.fromkeys(name for own in series.values() for name in own))
    confidence = 1 - (1 - INTERVAL_CONFIDENCE) / max(len(names) * len(series), 1)
    differences: list[HostDifference] = []
    while len(names) >= (_FEWEST_IN_STEPS if differences else 2):
        unlike = [
            difference
            for figure, own in series.items()
            for name in names
            if (difference := _difference(figure, name, own, names, confidence)) is not None
        ]
        if not unlike:
            break
        # Of two hosts, both differ as much: the one with the larger value is named.
        first = max(unlike, key=lambda row: (_weight(row), row.value))
        differences += sorted((row for row in unlike if row.host == first.host), key=_weight, reverse=True)
        names.remove(first.host)
    return tuple(differences)


def _weight(row: HostDifference) -> float:
    """The difference beside the least one that is worth a name."""
    return round(abs(row.value - row.others) / LEAST_DIFFERENCE[row.figure], 9)


def _difference(
    figure: HostFigure, name: str, by_host: Mapping[str, Floats], names: Sequence[str], confidence: float
) -> HostDifference | None:
    """The difference of a host from the other `names`; None if it is not sure, or not noticeable."""
    others = [by_host[other] for other in names if other != name and other in by_host]
    if name not in by_host or not others:
        return None
    theirs = np.mean(others, axis=0)
    apart = by_host[name] - theirs
    mean, reach = float(apart.mean()), student_reach(len(apart) - 1, confidence)
    half = reach * float(apart.std(ddof=1)) / math.sqrt(len(apart))
    if abs(mean) < LEAST_DIFFERENCE[figure] or abs(mean) <= half:
        return None
    return HostDifference(name, figure, float(by_host[name].mean()), float(theirs.mean()), mean - half, mean + half)
