"""Bounds on a closed network that need no solution: asymptotic ones, and those of balanced jobs, which lie closer.

The asymptotic bounds hold whatever the laws are. Those of balanced jobs hold for networks with exact mean values: such
a network is not faster than one with the same total spread evenly over its stations, nor slower than one in which all
of it is asked of stations as busy as the busiest (Zahorjan, Sevcik, Eager and Galler, Communications of the ACM 25
(1982), page 134; with think time Lazowska, Zahorjan, Graham and Sevcik, Quantitative System Performance, 1984,
chapter 5). They are told for single servers: c servers are not faster than one that is c times as fast, and not slower
than that one and a delay of (c - 1) / c of the demand (Seidmann, Schweitzer and Shalev-Oren 1987), so both hold here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.theory.queueing import bounds


@dataclass(frozen=True)
class JobBounds:
    """Between what throughput and response lie with one number of users."""

    users: float
    most_throughput: float
    """At most, by the asymptotic bounds."""
    least_response_s: float
    """At least, by the asymptotic bounds."""
    balanced_most: float
    """Throughput at most, by balanced jobs."""
    balanced_least: float
    """Throughput at least, by balanced jobs."""
    quickest_s: float
    """Response at least, by balanced jobs."""
    slowest_s: float
    """Response at most, by balanced jobs."""


def job_bounds(
    users: float, think_s: float, demands_s: Sequence[float], servers: Sequence[int], delay_s: float = 0.0
) -> JobBounds:
    """The bounds for users who think, ask stations for `demands_s`, and wait `delay_s` where nobody is in their way.

    Some demand must be above 0; times are seconds.
    """
    away_s = think_s + delay_s
    widest = bounds(users, away_s, demands_s, servers)
    quick = [demand / count for demand, count in zip(demands_s, servers, strict=True) if demand > 0.0]
    beside_s = sum(demands_s) - sum(quick)
    even = _cycle_s(users, away_s, sum(quick), sum(quick) / len(quick), away_s)
    crowded = _cycle_s(users, away_s + beside_s, sum(quick), max(quick), (away_s + beside_s) / users)
    most = min(widest.throughput, users / even)
    least = users / crowded
    return JobBounds(
        users=users,
        most_throughput=widest.throughput,
        least_response_s=widest.response_s + delay_s,
        balanced_most=most,
        balanced_least=least,
        quickest_s=max(widest.response_s + delay_s, users / most - think_s),
        slowest_s=users / least - think_s,
    )


def _cycle_s(users: float, away_s: float, total_s: float, each_s: float, others_away_s: float) -> float:
    """From prompt to prompt: service, and the queue of the others in proportion to the time that they are there."""
    return away_s + total_s + (users - 1.0) * each_s / (1.0 + others_away_s / total_s)
