"""The hosts of a run on a fleet side by side: response by host, and whether one is surely slower or faster.

Each host is compared with all others together, by the ratio of their p90. Users are drawn again on each side.
Stretches of time are drawn on both sides at once, since a busy driver or network is that of all hosts. The interval is
the wider of the two, and takes five users and five stretches. One of several hosts may differ by chance. So each
interval is so wide that all hold together in 95 of 100 runs (C. E. Bonferroni, 1936). A host that was calm by chance
has a short interval, too, and would be called faster in too many runs. So each interval reaches at least as far as
the median of all hosts' intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.measures.usage import USAGE_MEANS, Usage, usage_in
from loadgo.records.fleets import HOST_COLUMN, HostOfRun, hosts_of_run, is_metering_of_hosts
from loadgo.records.interactions import IS_UNSEEN, RESPONSE_OR_INFINITE_NS, span_in_waits
from loadgo.records.phases import Stretch
from loadgo.records.tolerated import tolerated_losses
from loadgo.stats.cluster_bootstrap import quantile_replicates
from loadgo.stats.quantiles import QUANTILE_REPLICATES, Response, Sample, responses, samples_needed
from loadgo.stats.resample import (
    FEWEST_UNITS,
    Floats,
    Integers,
    Interval,
    drawn,
    interval_of,
    stretch_count,
    too_short,
    wider,
)
from loadgo.stats.student import INTERVAL_CONFIDENCE, student_reach

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

COMPARED_QUANTILE = 0.9
_SEEDS = (19760101, 19760102)
"""Seeds of the draws of users on the two sides, which are independent."""

Verdict = Literal["slower", "faster", "not known"]


@dataclass(frozen=True)
class HostLost:
    """The loss of a host while its users typed."""

    reason: str
    at_s: float | None
    """When it was noticed, since the run began."""
    tolerated: bool
    """Whether the run was to count without so many hosts."""


@dataclass(frozen=True)
class HostFigures:
    """One host of a fleet in a run."""

    name: str
    address: str
    first_user: int
    last_user: int
    processors: int | None
    response: Response
    usage: Usage
    busy_share: float | None
    """Busy share of the host's processors, 0 to 1; None where it was not measured."""
    ratio: float | None
    """The p90 of response over that of all other hosts; None where one of them has none."""
    ratio_low: float | None
    """The lower end of the ratio's interval; None without one."""
    ratio_high: float | None
    verdict: Verdict
    """Whether the interval lies above 1, below 1, or neither."""
    lost: HostLost | None

    @property
    def users(self) -> int:
        """Number of users."""
        return self.last_user - self.first_user + 1


def lost_hosts(conditions: Mapping[str, Any]) -> dict[str, HostLost]:
    """The hosts of a fleet run that were lost, by name."""
    tolerated = tolerated_losses(conditions).hosts
    return {
        host.name: HostLost(host.lost, host.entry.get("lost_at_s"), host.name in tolerated)
        for host in hosts_of_run(conditions)
        if host.lost
    }


def hosts_figures(tables: Tables, stretch: Stretch, rows: pl.DataFrame) -> tuple[HostFigures, ...]:
    """The figures of each host of a run on a fleet; empty for any other run, and without users.

    The tables are those of `tables_of_load`, and `rows` those of `phases.classified_in`.
    """
    hosts = hosts_of_run(tables.conditions)
    if not hosts or is_metering_of_hosts(tables.conditions):
        return ()
    lost = lost_hosts(tables.conditions)
    compared = _Compared.of(rows, stretch, [host.name for host in hosts if host.name not in lost])
    ratios = _with_common_reach(
        [_NO_RATIO if host.name in lost else compared.ratio_of(compared.hosts == host.name) for host in hosts]
    )
    return tuple(
        _figures(total_time_of(own, stretch), rows, host, compared, ratio, lost.get(host.name))
        for host, own, ratio in zip(hosts, tables.by_host, ratios, strict=True)
    )


_Ratio = tuple[float | None, Interval | None]
"""A host's p90 over that of the others, and its interval."""
_NO_RATIO: _Ratio = (None, None)


def _with_common_reach(ratios: Sequence[_Ratio]) -> list[_Ratio]:
    """The ratios with intervals that reach at least as far down and up, as factors, as in the median of the hosts."""
    known = [(ratio, interval) for ratio, interval in ratios if ratio is not None and interval is not None]
    if not known:
        return list(ratios)
    down = float(np.median([interval.low / ratio for ratio, interval in known]))
    up = float(np.median([interval.high / ratio for ratio, interval in known]))
    return [
        (ratio, None)
        if ratio is None or interval is None
        else (ratio, Interval(min(interval.low, ratio * down), max(interval.high, ratio * up)))
        for ratio, interval in ratios
    ]


def _figures(
    total: TotalTime | None,
    rows: pl.DataFrame,
    host: HostOfRun,
    compared: _Compared,
    of_host: _Ratio,
    lost: HostLost | None,
) -> HostFigures:
    is_here, (ratio, interval) = compared.hosts == host.name, of_host
    processors = host.entry.get("processors")
    own = rows.filter(pl.col(HOST_COLUMN).cast(pl.String) == host.name)
    return HostFigures(
        name=host.name,
        address=host.address,
        first_user=host.first_user,
        last_user=host.last_user,
        processors=int(processors) if processors else None,
        response=compared.response_of(is_here),
        usage=usage_in(own.select(USAGE_MEANS).row(0, named=True)),
        busy_share=None if total is None else total.busy_share,
        ratio=ratio,
        ratio_low=None if interval is None else interval.low,
        ratio_high=None if interval is None else interval.high,
        verdict=_verdict(interval),
        lost=lost,
    )


def _verdict(interval: Interval | None) -> Verdict:
    if interval is None or interval.holds(1.0):
        return "not known"
    return "slower" if interval.low > 1.0 else "faster"


@dataclass(frozen=True)
class _Compared:
    """All response times of the stretch, each with its host, its user and its stretch of time."""

    values_ns: Floats
    """Ascending. Infinite for a line that was never answered."""
    users: Integers
    stretches: Integers
    hosts: Any
    """The name of each value's host."""
    judged: bool
    kept: Any
    """Whether each value is of a host that was not lost: these are compared."""
    confidence: float
    """Confidence of each host's interval."""

    @staticmethod
    def of(rows: pl.DataFrame, stretch: Stretch, compared_hosts: Sequence[str]) -> _Compared:
        """The response times in `rows`, of which those of `compared_hosts` are compared."""
        rows = rows.filter(~IS_UNSEEN)
        values = rows.select(RESPONSE_OR_INFINITE_NS).to_series().to_numpy()
        order = np.argsort(values, kind="stable")
        sent = rows["sent_ns"].to_numpy().astype(np.float64)
        waits = span_in_waits(rows, stretch.span_ns)
        count = stretch_count(len(rows), waits)
        hosts = rows[HOST_COLUMN].cast(pl.String).to_numpy()[order]
        share = (sent - sent.min(initial=np.inf)) / max(float(np.ptp(sent)) if len(sent) else 1.0, 1.0)
        return _Compared(
            values_ns=values[order].astype(np.float64),
            users=rows["user"].to_numpy().astype(np.int64)[order],
            stretches=np.minimum(share * count, count - 1).astype(np.int64)[order],
            hosts=hosts,
            judged=not too_short(1, waits),
            kept=np.isin(hosts, compared_hosts),
            confidence=1 - (1 - INTERVAL_CONFIDENCE) / max(len(compared_hosts), 1),
        )

    def response_of(self, chosen: Any) -> Response:
        """The figures of the chosen values."""
        users = np.unique(self.users[chosen], return_inverse=True)[1].astype(np.int64)
        return responses(Sample.resampled(self.values_ns[chosen], users, self.stretches[chosen], judged=self.judged))

    def ratio_of(self, chosen: Any) -> _Ratio:
        """The p90 of the chosen values over that of all others, and its interval."""
        sides = chosen, self.kept & ~chosen
        if min(np.count_nonzero(side) for side in sides) < samples_needed(COMPARED_QUANTILE):
            return None, None
        by_users, by_stretches = (
            self._logs(sides, self.users, _SEEDS),
            self._logs(sides, self.stretches, _SEEDS[:1] * 2),
        )
        ratio = by_users[0][0]
        if not np.isfinite(ratio):
            return None, None
        intervals = [self._interval(*by_users), self._interval(*by_stretches)]
        is_known = self.judged and None not in intervals
        return float(np.exp(ratio)), wider(intervals) if is_known else None

    def _logs(self, sides: tuple[Any, Any], owners: Integers, seeds: tuple[int, ...]) -> tuple[Floats, int]:
        """The logarithm of the ratio in each resample of the owners, and the smaller number of owners of both sides.

        With one seed for both sides they share the owners, which are then drawn together.
        """
        logs, counts = [], []
        is_shared = seeds[0] == seeds[1]
        for mask, seed in zip(sides, seeds, strict=True):
            names, own = np.unique(owners if is_shared else owners[mask], return_inverse=True)
            own = own[mask] if is_shared else own
            weights = drawn(len(names), seed, QUANTILE_REPLICATES)
            (replicates,) = quantile_replicates(
                self.values_ns[mask], own.astype(np.int64), weights, [COMPARED_QUANTILE]
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                logs.append(np.log(replicates))
            counts.append(len(np.unique(own)))
        length = min(len(values) for values in logs)
        with np.errstate(invalid="ignore"):
            return logs[0][:length] - logs[1][:length], min(counts)

    def _interval(self, logs: Floats, units: int) -> Interval | None:
        """The interval of the ratio from resamples of its logarithm, wide enough for all hosts together."""
        found = interval_of(logs, units) if units >= FEWEST_UNITS else None
        if found is None:
            return None
        widening = student_reach(units - 1, self.confidence) / student_reach(units - 1)
        centre = float(logs[0])
        low, high = centre - widening * (centre - found.low), centre + widening * (found.high - centre)
        return Interval(float(np.exp(low)), float(np.exp(high)))
