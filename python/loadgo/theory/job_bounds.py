"""Bounds on the throughput and response of a closed network, without solving it: asymptotic, and for balanced jobs.

The asymptotic bounds hold for any distribution. The closer bounds for balanced jobs hold for networks with exact mean
values. Such a network is at best as fast as one with the same total demand spread evenly over its stations. At worst
it is as slow as one whose stations are all as busy as the busiest. Source: Zahorjan, Sevcik, Eager and Galler,
Communications of the ACM 25 (1982), page 134. With think time: Lazowska, Zahorjan, Graham and Sevcik, Quantitative
System Performance, 1984, chapter 5.

These bounds are stated for single servers. A station of c servers is not faster than one server of c times the speed.
It is not slower than that server followed by a delay of (c - 1) / c of the demand (Seidmann, Schweitzer and
Shalev-Oren 1987). So both bounds hold here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.theory.queueing import bounds


@dataclass(frozen=True)
class JobBounds:
    """Bounds on throughput and response with one number of users."""

    users: float
    most_throughput: float
    """Upper asymptotic bound of the throughput."""
    least_response_s: float
    """Lower asymptotic bound of the response time."""
    balanced_most: float
    """Upper bound of the throughput for balanced jobs."""
    balanced_least: float
    """Lower bound of the throughput for balanced jobs."""
    quickest_s: float
    """Lower bound of the response time for balanced jobs."""
    slowest_s: float
    """Upper bound of the response time for balanced jobs."""


def job_bounds(
    users: float, think_s: float, demands_s: Sequence[float], servers: Sequence[int], delay_s: float = 0.0
) -> JobBounds:
    """The bounds for users who think, need `demands_s` of the stations, and wait `delay_s` without any queue.

    At least one demand must be above 0. Times are in seconds.
    """
    away_s = think_s + delay_s
    asymptotic = bounds(users, away_s, demands_s, servers)
    fast_demands_s = [demand / count for demand, count in zip(demands_s, servers, strict=True) if demand > 0.0]
    extra_delay_s = sum(demands_s) - sum(fast_demands_s)
    balanced_cycle_s = _cycle_s(users, away_s, sum(fast_demands_s), sum(fast_demands_s) / len(fast_demands_s), away_s)
    delays_s = away_s + extra_delay_s
    worst_cycle_s = _cycle_s(users, delays_s, sum(fast_demands_s), max(fast_demands_s), delays_s / users)
    most_throughput = min(asymptotic.throughput, users / balanced_cycle_s)
    least_throughput = users / worst_cycle_s
    return JobBounds(
        users=users,
        most_throughput=asymptotic.throughput,
        least_response_s=asymptotic.response_s + delay_s,
        balanced_most=most_throughput,
        balanced_least=least_throughput,
        quickest_s=max(asymptotic.response_s + delay_s, users / most_throughput - think_s),
        slowest_s=users / least_throughput - think_s,
    )


def _cycle_s(users: float, away_s: float, total_s: float, each_s: float, others_away_s: float) -> float:
    """Time from prompt to prompt: away, in service, and in the queue, behind the other users who are not away."""
    return away_s + total_s + (users - 1.0) * each_s / (1.0 + others_away_s / total_s)
