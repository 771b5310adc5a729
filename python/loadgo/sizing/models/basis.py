"""The inputs of the models of a capacity: classes of users, think times, service demands, and delays.

The delay is the part of the measured response that the queues at the resources do not explain. No other user lengthens
it. Examples are latencies of devices without meters, sleeps and pauses of programs. It is estimated from the points
with short queues. In a mix, a class has the same share of each resource as of the processor time, if that was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from loadgo.sizing.curve import ClassFigures, LoadPoint, MixClass
from loadgo.sizing.models.demands import Demand, demands_of
from loadgo.theory.job_bounds import JobBounds, job_bounds
from loadgo.theory.populations import Class as Population
from loadgo.theory.populations import Populations, Station, populations

QUIET_UTILISATION_SHARE = 0.7
"""The delay is estimated from points whose busiest resource is less busy than this: queues add little there."""
_DELAY_ROUNDS = 6
"""Rounds of the estimate: each solves the queues with the delay so far, and corrects the delay by the result."""

DemandEnd = Literal[0, 1, 2]
"""The index of a demand's three values: its lower end, the demand itself, its upper end."""
NetworkByUsers = Callable[[int], Populations]
"""A function that returns a network solved for this number of users, or for more."""


@dataclass(frozen=True)
class UserClassModel:
    """One class of users in the models, or all users as one class."""

    name: str
    weight: int
    think_s: float
    scale: float
    """Ratio of the class's demands to the mean demands of all classes."""
    delay_s: float
    """The part of the class's mean response that no resource explains."""


@dataclass(frozen=True)
class ModelBasis:
    """The inputs of the models."""

    points: tuple[LoadPoint, ...]
    """Usable points in ascending order of users; never empty."""
    demands: tuple[Demand, ...]
    """The service demands; empty where no resource was measured."""
    kinds: tuple[UserClassModel, ...]
    think_s: float
    delay_s: float
    """The part of the mean response that no resource explains."""

    @property
    def most_users(self) -> int:
        """Largest measured number of users."""
        return self.points[-1].users

    @property
    def knee(self) -> float | None:
        """The saturation point N*, in users; None where no resource was measured."""
        largest = max((demand.seconds / demand.servers for demand in self.demands), default=0.0)
        demand_s = sum(demand.seconds for demand in self.demands)
        return (demand_s + self.think_s + self.delay_s) / largest if largest else None

    @property
    def busiest(self) -> str | None:
        """The resource that is saturated first; None where no resource was measured."""
        first = max(self.demands, key=lambda demand: demand.seconds / demand.servers, default=None)
        return None if first is None else first.resource

    def bounds(self, users: int) -> JobBounds:
        """The bounds with `users` users; only where there are demands."""
        seconds = [demand.with_users(users)[1] for demand in self.demands]
        return job_bounds(users, self.think_s, seconds, [demand.servers for demand in self.demands], self.delay_s)


def model_basis(
    points: Sequence[LoadPoint], servers: Mapping[str, int | None], classes: Sequence[MixClass]
) -> ModelBasis | None:
    """The inputs of the models from the usable points; None without such a point."""
    used = sorted(usable_points(points), key=lambda point: point.users)
    if not used:
        return None
    demands = demands_of(used, servers)
    user_classes = class_models(used, demands, classes)
    think_s = _weighted_mean([(point.think_s, point.interactions) for point in used])
    return ModelBasis(tuple(used), demands, user_classes, think_s, _mean_delay(user_classes, used))


def usable_points(points: Sequence[LoadPoint]) -> list[LoadPoint]:
    """The points that models may use: valid, steady, and with a throughput."""
    return [
        point for point in points if point.valid and point.steady and point.throughput.value > 0 and point.interactions
    ]


def class_models(
    points: Sequence[LoadPoint], demands: Sequence[Demand], classes: Sequence[MixClass]
) -> tuple[UserClassModel, ...]:
    """The classes of the mix, or one class for all users, with their delays."""
    if not classes:
        think_s = _weighted_mean([(point.think_s, point.interactions) for point in points])
        undelayed: tuple[UserClassModel, ...] = (UserClassModel("users", 1, think_s, 1.0, 0.0),)
    else:
        undelayed = _mix_classes(points, classes)
    return _with_delays(undelayed, points, demands)


def apportion_users(user_classes: Sequence[UserClassModel], users: int) -> list[int]:
    """Apportions `users` to the classes by weight and largest remainder; of equal remainders, the first class wins."""
    all_weights = sum(user_class.weight for user_class in user_classes)
    counts = [users * user_class.weight // all_weights for user_class in user_classes]
    remainders = sorted(
        range(len(user_classes)), key=lambda index: (-(users * user_classes[index].weight % all_weights), index)
    )
    for index in remainders[: users - sum(counts)]:
        counts[index] += 1
    return counts


def solve_networks(
    user_classes: Sequence[UserClassModel], demands: Sequence[Demand], most_users: int, end: DemandEnd = 1
) -> NetworkByUsers:
    """Solves the network of the classes and the resources for numbers of users up to `most_users`.

    A network whose demands grow with the users is solved for each number when needed. Raises `ValueError` as
    `populations` does.
    """
    if not any(demand.grows for demand in demands):
        seconds = [demand.with_users(most_users)[end] for demand in demands]
        network = _solve_network(user_classes, demands, seconds, most_users)
        return lambda users: network
    _solve_network(user_classes, demands, [demand.seconds for demand in demands], most_users)

    def solve(users: int) -> Populations:
        return _solve_network(user_classes, demands, [demand.with_users(users)[end] for demand in demands], users)

    return cache(solve)


def _solve_network(
    user_classes: Sequence[UserClassModel], demands: Sequence[Demand], seconds: Sequence[float], most_users: int
) -> Populations:
    sizes = [_most_class_users(user_class, user_classes, most_users) for user_class in user_classes]
    classes = [
        Population(user_class.name, size, user_class.think_s + user_class.delay_s)
        for user_class, size in zip(user_classes, sizes, strict=True)
    ]
    stations = [
        Station(demand.resource, tuple(demand_s * user_class.scale for user_class in user_classes), demand.servers)
        for demand, demand_s in zip(demands, seconds, strict=True)
    ]
    return populations(classes, stations)


def _most_class_users(user_class: UserClassModel, user_classes: Sequence[UserClassModel], most_users: int) -> int:
    """Most users of a class among up to `most_users` users."""
    all_weights = sum(other.weight for other in user_classes)
    return min(most_users, most_users * user_class.weight // all_weights + 1)


def _mix_classes(points: Sequence[LoadPoint], classes: Sequence[MixClass]) -> tuple[UserClassModel, ...]:
    """The classes of a mix with their think times and demand ratios, and without delays."""
    count: dict[str, float] = {}
    think: dict[str, float] = {}
    cpu: dict[str, float | None] = {}
    for mix_class in classes:
        weighted = [
            (figures, figures.throughput * point.seconds)
            for point in points
            for figures in _class_points(point, mix_class.name)
        ]
        count[mix_class.name] = sum(interactions for _, interactions in weighted)
        think[mix_class.name] = _weighted_mean([(figures.think_s, interactions) for figures, interactions in weighted])
        measured = [(figures.cpu_s, interactions) for figures, interactions in weighted if figures.cpu_s is not None]
        cpu[mix_class.name] = _weighted_mean(measured) if measured and len(measured) == len(weighted) else None
    cpu_and_count = [(cpu_s, count[name]) for name, cpu_s in cpu.items() if cpu_s is not None]
    mean = _weighted_mean(cpu_and_count) if len(cpu_and_count) == len(classes) else 0.0
    return tuple(
        UserClassModel(
            mix_class.name,
            mix_class.weight,
            think[mix_class.name],
            (cpu[mix_class.name] or 0.0) / mean if mean else 1.0,
            0.0,
        )
        for mix_class in classes
    )


def _class_points(point: LoadPoint, name: str) -> list[ClassFigures]:
    return [figures for figures in point.classes if figures.name == name and figures.throughput > 0]


def _weighted_mean(values: Sequence[tuple[float, float]]) -> float:
    total_weight = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values) / total_weight if total_weight else 0.0


def _mean_delay(user_classes: Sequence[UserClassModel], points: Sequence[LoadPoint]) -> float:
    """The mean delay over all interactions."""
    if len(user_classes) == 1:
        return user_classes[0].delay_s
    rates = {
        user_class.name: sum(
            figures.throughput * point.seconds for point in points for figures in _class_points(point, user_class.name)
        )
        for user_class in user_classes
    }
    return _weighted_mean([(user_class.delay_s, rates[user_class.name]) for user_class in user_classes])


def _with_delays(
    user_classes: tuple[UserClassModel, ...], points: Sequence[LoadPoint], demands: Sequence[Demand]
) -> tuple[UserClassModel, ...]:
    """The classes with their delays, from the points with short queues, or else the point with the fewest users."""
    quiet_points = [point for point in points if max(point.utilisation.values(), default=0.0) < QUIET_UTILISATION_SHARE]
    chosen = quiet_points or [min(points, key=lambda point: point.users)]
    answered = [point for point in chosen if "mean" in point.response_s]
    if not answered:
        return user_classes
    for _ in range(_DELAY_ROUNDS if demands else 1):
        solved = solve_networks(user_classes, demands, max(point.users for point in answered)) if demands else None
        user_classes = tuple(
            _with_corrected_delay(user_class, index, user_classes, answered, solved)
            for index, user_class in enumerate(user_classes)
        )
    return user_classes


def _with_corrected_delay(
    user_class: UserClassModel,
    index: int,
    user_classes: Sequence[UserClassModel],
    points: Sequence[LoadPoint],
    solved: NetworkByUsers | None,
) -> UserClassModel:
    """The class with its delay corrected by the mean difference of measured responses and those of the network."""
    unexplained = []
    for point in points:
        counts = apportion_users(user_classes, point.users)
        measured = _measured_response_s(point, user_class, len(user_classes))
        if measured is not None and counts[index]:
            queued = solved(point.users).response_s(counts)[index] if solved else 0.0
            unexplained.append((measured - queued - user_class.delay_s, float(point.interactions)))
    return replace(user_class, delay_s=max(0.0, user_class.delay_s + _weighted_mean(unexplained)))


def _measured_response_s(point: LoadPoint, user_class: UserClassModel, class_count: int) -> float | None:
    if class_count == 1 and not point.classes:
        return point.response_s["mean"].value
    return next((figures.response_s for figures in _class_points(point, user_class.name)), None)
