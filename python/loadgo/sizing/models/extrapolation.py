"""A model of measured points, followed from one number of users to another: exact mean values, or the scalability law.

Each figure has the model's own doubt: mean values are solved again with the least and the most that an interaction may
ask of each resource; the law has the interval of its regression. Neither holds the doubt that it is the right model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadgo.sizing.curve import Figure
from loadgo.sizing.models.basis import Basis, End, Kind, Networks, networks, users_of
from loadgo.sizing.models.demands import Demand
from loadgo.stats.resample import Interval
from loadgo.theory.populations import Populations
from loadgo.theory.scalability import FittedLaw

MOST_USERS = 20_000
"""No model is followed further."""
_ENDS: tuple[End, End] = (0, 2)


@dataclass(frozen=True)
class At:
    """What a model says of one number of users."""

    users: int
    throughput: Figure
    response_s: Figure
    """The mean."""
    utilisation: Mapping[str, Figure]
    """Of each server of each resource."""


@dataclass(frozen=True)
class Follow:
    """A model that can be asked for any number of users from one on."""

    at: Callable[[int], At]
    reach: int
    """The most users that it can be asked for."""


def follow_mean_values(basis: Basis, wanted: int, least: int = 0) -> Follow:
    """Exact mean values for up to `wanted` users, or as many as can be solved, but not fewer than were measured.

    Raises `ValueError` where fewer than `least`, or than were measured, can be solved.
    """
    kinds, (solved, ends, reach) = basis.kinds, _solved(basis, wanted, max(least, basis.most_users))

    def at(users: int) -> At:
        here = users_of(kinds, users)
        throughput, response_s = _totals(solved(users), here, kinds)
        told = [_totals(one(users), here, kinds) for one in ends]
        return At(
            users=users,
            throughput=Figure(throughput, _span([x for x, _ in told])),
            response_s=Figure(response_s, _span([r for _, r in told])),
            utilisation=_busy(
                basis.demands, solved(users).utilisation(here), [one(users).utilisation(here) for one in ends]
            ),
        )

    return Follow(at, reach)


def follow_law(law: FittedLaw, think_s: float, demands: Sequence[Demand], reach: int) -> Follow:
    """The scalability law, with the response N / X - Z and the utilisation X D / c that go with its throughput."""

    def at(users: int) -> At:
        throughput, between = law.law.throughput(users), law.prediction_interval(users)
        response = None
        if between is not None:
            slowest = users / between.low - think_s if between.low > 0 else float("inf")
            response = Interval(max(0.0, users / between.high - think_s), max(0.0, slowest))
        return At(
            users=users,
            throughput=Figure(throughput, between),
            response_s=Figure(max(0.0, users / throughput - think_s), response),
            utilisation=_busy(
                demands, *_shares(demands, throughput, () if between is None else (between.low, between.high))
            ),
        )

    return Follow(at, min(reach, MOST_USERS))


def _solved(basis: Basis, wanted: int, least: int) -> tuple[Networks, tuple[Networks, ...], int]:
    """The network; the same with the least and the most of the demands, where they differ; and how far it reaches."""
    demands, kinds, reach = basis.demands, basis.kinds, min(wanted, MOST_USERS)
    differ = any(demand.least_s != demand.most_s for demand in demands)
    while True:
        try:
            ends = tuple(networks(kinds, demands, reach, end) for end in _ENDS) if differ else ()
            return networks(kinds, demands, reach), ends, reach
        except ValueError:
            if reach <= least:
                raise
            reach = max(least, reach // 2)


def _busy(
    demands: Sequence[Demand], busy: Mapping[str, float], ends: Sequence[Mapping[str, float]]
) -> dict[str, Figure]:
    """How busy each resource is with the users, of what others leave of it, as a share of the whole with the others."""

    def whole(demand: Demand, shares: Mapping[str, float]) -> float:
        return demand.background + (1.0 - demand.background) * shares[demand.resource]

    return {d.resource: Figure(whole(d, busy), _span([whole(d, end) for end in ends])) for d in demands}


def _shares(
    demands: Sequence[Demand], throughput: float, ends: Sequence[float]
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """X D / c for this throughput, and for both ends of its doubt."""
    shares = [{d.resource: rate * d.seconds / d.servers for d in demands} for rate in (throughput, *ends)]
    return shares[0], shares[1:]


def _totals(solved: Populations, here: Sequence[int], kinds: Sequence[Kind]) -> tuple[float, float]:
    """Throughput and mean response of all classes together, delays with it."""
    rates, responses = solved.throughput(here), solved.response_s(here)
    whole = sum(rates)
    waited = sum(x * (r + kind.delay_s) for x, r, kind in zip(rates, responses, kinds, strict=True))
    return whole, waited / whole if whole else 0.0


def _span(values: Sequence[float]) -> Interval | None:
    return Interval(min(values), max(values)) if values else None
