"""Models of the measured points as functions of the number of users: exact mean values, and the scalability law.

Each figure has an interval. Mean values are solved again with the lower and upper ends of the demands. The law has the
interval of its regression. Neither interval includes the error of a wrong model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadgo.sizing.curve import MeasuredFigure
from loadgo.sizing.models.basis import (
    DemandEnd,
    ModelBasis,
    NetworkByUsers,
    UserClassModel,
    apportion_users,
    solve_networks,
)
from loadgo.sizing.models.demands import Demand
from loadgo.stats.resample import Interval
from loadgo.theory.populations import Populations
from loadgo.theory.scalability import FittedLaw

MOST_MODELLED_USERS = 20_000
"""Most users for which a model is evaluated."""
_DEMAND_ENDS: tuple[DemandEnd, DemandEnd] = (0, 2)


@dataclass(frozen=True)
class ModelFigures:
    """The figures of a model for one number of users."""

    users: int
    throughput: MeasuredFigure
    response_s: MeasuredFigure
    """Mean response time."""
    utilisation: Mapping[str, MeasuredFigure]
    """Utilisation of each server, by resource."""


@dataclass(frozen=True)
class FollowedModel:
    """A model that can be evaluated for any number of users from 1 to `reach`."""

    at: Callable[[int], ModelFigures]
    reach: int
    """Most users for which the model can be evaluated."""


def follow_mean_values(basis: ModelBasis, most_users: int, needed_users: int = 0) -> FollowedModel:
    """Exact mean values for up to `most_users` users, or for as many as can be solved.

    Raises `ValueError` if they cannot be solved for `needed_users`, or for the users of the largest point.
    """
    needed = max(needed_users, basis.most_users)
    user_classes, (solved, ends, reach) = basis.kinds, _solve_ends(basis, most_users, needed)

    def at(users: int) -> ModelFigures:
        counts = apportion_users(user_classes, users)
        throughput, response_s = _totals(solved(users), counts, user_classes)
        totals = [_totals(network(users), counts, user_classes) for network in ends]
        return ModelFigures(
            users=users,
            throughput=MeasuredFigure(throughput, _interval_of([throughput_end for throughput_end, _ in totals])),
            response_s=MeasuredFigure(response_s, _interval_of([response_end for _, response_end in totals])),
            utilisation=_utilisation_figures(
                basis.demands,
                solved(users).utilisation(counts),
                [network(users).utilisation(counts) for network in ends],
            ),
        )

    return FollowedModel(at, reach)


def follow_law(law: FittedLaw, think_s: float, demands: Sequence[Demand], reach: int) -> FollowedModel:
    """The scalability law, with the response N / X - Z and the utilisation X D / c that follow from its throughput."""

    def at(users: int) -> ModelFigures:
        throughput, interval = law.law.throughput(users), law.prediction_interval(users)
        response_interval = None
        if interval is not None:
            slowest_s = users / interval.low - think_s if interval.low > 0 else float("inf")
            response_interval = Interval(max(0.0, users / interval.high - think_s), max(0.0, slowest_s))
        return ModelFigures(
            users=users,
            throughput=MeasuredFigure(throughput, interval),
            response_s=MeasuredFigure(max(0.0, users / throughput - think_s), response_interval),
            utilisation=_utilisation_figures(
                demands, *_shares(demands, throughput, () if interval is None else (interval.low, interval.high))
            ),
        )

    return FollowedModel(at, min(reach, MOST_MODELLED_USERS))


def _solve_ends(
    basis: ModelBasis, most_users: int, needed: int
) -> tuple[NetworkByUsers, tuple[NetworkByUsers, ...], int]:
    """The network, the networks with the lower and upper ends of the demands if they differ, and the most users."""
    demands, user_classes, reach = basis.demands, basis.kinds, min(most_users, MOST_MODELLED_USERS)
    differ = any(demand.least_s != demand.most_s for demand in demands)
    while True:
        try:
            ends = tuple(solve_networks(user_classes, demands, reach, end) for end in _DEMAND_ENDS) if differ else ()
            return solve_networks(user_classes, demands, reach), ends, reach
        except ValueError:
            if reach <= needed:
                raise
            reach = max(needed, reach // 2)


def _utilisation_figures(
    demands: Sequence[Demand], busy: Mapping[str, float], ends: Sequence[Mapping[str, float]]
) -> dict[str, MeasuredFigure]:
    """The utilisation of each resource with its background, from `busy`, its utilisation without the background."""

    def with_background(demand: Demand, shares: Mapping[str, float]) -> float:
        return demand.background + (1.0 - demand.background) * shares[demand.resource]

    return {
        demand.resource: MeasuredFigure(
            with_background(demand, busy), _interval_of([with_background(demand, end_shares) for end_shares in ends])
        )
        for demand in demands
    }


def _shares(
    demands: Sequence[Demand], throughput: float, ends: Sequence[float]
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """The utilisation X D / c for this throughput, and for both ends of its interval."""
    shares = [
        {demand.resource: rate * demand.seconds / demand.servers for demand in demands} for rate in (throughput, *ends)
    ]
    return shares[0], shares[1:]


def _totals(solved: Populations, counts: Sequence[int], user_classes: Sequence[UserClassModel]) -> tuple[float, float]:
    """Throughput and mean response of all classes together, with their delays."""
    rates, responses = solved.throughput(counts), solved.response_s(counts)
    throughput = sum(rates)
    weighted_response = sum(
        rate * (response_s + user_class.delay_s)
        for rate, response_s, user_class in zip(rates, responses, user_classes, strict=True)
    )
    return throughput, weighted_response / throughput if throughput else 0.0


def _interval_of(values: Sequence[float]) -> Interval | None:
    return Interval(min(values), max(values)) if values else None
