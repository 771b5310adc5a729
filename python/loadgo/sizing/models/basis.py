"""What models of a capacity are made from: the kinds of users, what they think and ask, and what nothing explains.

What is left of the measured response when the queues at the resources are taken off is a delay, in which nobody is in
another's way: latencies of devices that were not metered, sleeps, pauses of the programs themselves. It is told by the
quiet points. Of a mix of classes, a class's share of a resource is its share of the processor time, where that was
metered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from loadgo.sizing.curve import Class, ClassPoint, Point
from loadgo.sizing.models.demands import Demand, demands_of
from loadgo.theory.job_bounds import JobBounds, job_bounds
from loadgo.theory.networks import Class as Population
from loadgo.theory.networks import Station
from loadgo.theory.populations import Populations, populations

QUIET = 0.7
"""Points with no resource busier than this tell the delay: where queues are short, the rest of a response is seen."""
_ROUNDS = 6
"""The queues with the delay, and the delay with the queues, in turn."""

End = Literal[0, 1, 2]
"""Which of a demand's three: the least that it may be, the demand itself, the most."""
Networks = Callable[[int], Populations]
"""A network that has the answers of so many users, and perhaps of fewer."""


@dataclass(frozen=True)
class Kind:
    """Users of one class, or all of them."""

    name: str
    weight: int
    think_s: float
    scale: float
    """Its demands over those of the mean interaction."""
    delay_s: float
    """Of its response, what no resource explains."""


@dataclass(frozen=True)
class Basis:
    """What models are made from: measured points, by users, and what they say of an interaction."""

    points: tuple[Point, ...]
    """At least one."""
    demands: tuple[Demand, ...]
    """Empty where no resource was measured."""
    kinds: tuple[Kind, ...]
    think_s: float
    delay_s: float
    """Of the mean interaction, what no resource explains."""

    @property
    def most_users(self) -> int:
        """The most users that were measured."""
        return self.points[-1].users

    @property
    def knee(self) -> float | None:
        """N*: from there on the first resource has no time left; None where no resource was measured."""
        most = max((demand.seconds / demand.servers for demand in self.demands), default=0.0)
        return (sum(one.seconds for one in self.demands) + self.think_s + self.delay_s) / most if most else None

    @property
    def busiest(self) -> str | None:
        """The resource that is the first to have no time left; None where no resource was measured."""
        first = max(self.demands, key=lambda demand: demand.seconds / demand.servers, default=None)
        return None if first is None else first.resource

    def bounds(self, users: int) -> JobBounds:
        """The bounds with so many users; only where there are demands."""
        seconds = [demand.with_users(users)[1] for demand in self.demands]
        return job_bounds(users, self.think_s, seconds, [one.servers for one in self.demands], self.delay_s)


def basis_of(points: Sequence[Point], servers: Mapping[str, int | None], classes: Sequence[Class]) -> Basis | None:
    """The basis of those points that models may use; None where there are none."""
    used = sorted(usable(points), key=lambda one: one.users)
    if not used:
        return None
    demands = demands_of(used, servers)
    kinds = kinds_of(used, demands, classes)
    think_s = _mean([(one.think_s, one.interactions) for one in used])
    return Basis(tuple(used), demands, kinds, think_s, _mean_delay(kinds, used))


def usable(points: Sequence[Point]) -> list[Point]:
    """The points that models may use: valid, steady, and with a throughput."""
    return [one for one in points if one.valid and one.steady and one.throughput.value > 0 and one.interactions]


def kinds_of(points: Sequence[Point], demands: Sequence[Demand], classes: Sequence[Class]) -> tuple[Kind, ...]:
    """Each class of the mix, or one kind for all, with the delay that no resource explains."""
    if not classes:
        think_s = _mean([(one.think_s, one.interactions) for one in points])
        bare: tuple[Kind, ...] = (Kind("users", 1, think_s, 1.0, 0.0),)
    else:
        bare = _of_mix(points, classes)
    return _delayed(bare, points, demands)


def users_of(kinds: Sequence[Kind], users: int) -> list[int]:
    """So many users apportioned to the kinds by their weights: by the greatest remainders, the first first."""
    whole = sum(kind.weight for kind in kinds)
    counts = [users * kind.weight // whole for kind in kinds]
    remainders = sorted(range(len(kinds)), key=lambda at: (-(users * kinds[at].weight % whole), at))
    for at in remainders[: users - sum(counts)]:
        counts[at] += 1
    return counts


def networks(kinds: Sequence[Kind], demands: Sequence[Demand], most: int, end: End = 1) -> Networks:
    """The network of the kinds at the resources, for any number of users up to `most`.

    Where demands grow, a network is made for each number that is asked for. Raises `ValueError` as `populations` does.
    """
    if not any(demand.grows for demand in demands):
        whole = _network(kinds, demands, [demand.with_users(most)[end] for demand in demands], most)
        return lambda users: whole
    _network(kinds, demands, [demand.seconds for demand in demands], most)
    return cache(lambda users: _network(kinds, demands, [demand.with_users(users)[end] for demand in demands], users))


def _network(kinds: Sequence[Kind], demands: Sequence[Demand], seconds: Sequence[float], most: int) -> Populations:
    sizes = [_most_of(kind, kinds, most) for kind in kinds]
    classes = [Population(k.name, n, k.think_s + k.delay_s) for k, n in zip(kinds, sizes, strict=True)]
    stations = [
        Station(demand.resource, tuple(s * kind.scale for kind in kinds), demand.servers)
        for demand, s in zip(demands, seconds, strict=True)
    ]
    return populations(classes, stations)


def _most_of(kind: Kind, kinds: Sequence[Kind], most: int) -> int:
    """The most users of a kind among up to `most` users."""
    whole = sum(one.weight for one in kinds)
    return min(most, most * kind.weight // whole + 1)


def _of_mix(points: Sequence[Point], classes: Sequence[Class]) -> tuple[Kind, ...]:
    """Each class with its think time, and what its interactions take over the mean one."""
    count: dict[str, float] = {}
    think: dict[str, float] = {}
    cpu: dict[str, float | None] = {}
    for one in classes:
        mine = [(told, told.throughput * point.seconds) for point in points for told in _told(point, one.name)]
        count[one.name] = sum(n for _, n in mine)
        think[one.name] = _mean([(told.think_s, n) for told, n in mine])
        known = [(told.cpu_s, n) for told, n in mine if told.cpu_s is not None]
        cpu[one.name] = _mean(known) if known and len(known) == len(mine) else None
    taken = [(c, count[name]) for name, c in cpu.items() if c is not None]
    mean = _mean(taken) if len(taken) == len(classes) else 0.0
    return tuple(
        Kind(one.name, one.weight, think[one.name], (cpu[one.name] or 0.0) / mean if mean else 1.0, 0.0)
        for one in classes
    )


def _told(point: Point, name: str) -> list[ClassPoint]:
    return [one for one in point.classes if one.name == name and one.throughput > 0]


def _mean(values: Sequence[tuple[float, float]]) -> float:
    weight = sum(w for _, w in values)
    return sum(v * w for v, w in values) / weight if weight else 0.0


def _mean_delay(kinds: Sequence[Kind], points: Sequence[Point]) -> float:
    """Each class counts by its interactions."""
    if len(kinds) == 1:
        return kinds[0].delay_s
    rates = {kind.name: sum(t.throughput * p.seconds for p in points for t in _told(p, kind.name)) for kind in kinds}
    return _mean([(kind.delay_s, rates[kind.name]) for kind in kinds])


def _delayed(kinds: tuple[Kind, ...], points: Sequence[Point], demands: Sequence[Demand]) -> tuple[Kind, ...]:
    """The kinds with their delays, by the quiet points, or else that with the fewest users."""
    quiet = [one for one in points if max(one.utilisation.values(), default=0.0) < QUIET]
    told = [one for one in quiet or [min(points, key=lambda one: one.users)] if "mean" in one.response_s]
    if not told:
        return kinds
    for _ in range(_ROUNDS if demands else 1):
        solved = networks(kinds, demands, max(one.users for one in told)) if demands else None
        kinds = tuple(_corrected(kind, at, kinds, told, solved) for at, kind in enumerate(kinds))
    return kinds


def _corrected(kind: Kind, at: int, kinds: Sequence[Kind], points: Sequence[Point], solved: Networks | None) -> Kind:
    """The kind with its delay changed by what the measured responses exceed those of the network."""
    missing = []
    for point in points:
        here = users_of(kinds, point.users)
        measured = _measured_s(point, kind, len(kinds))
        if measured is not None and here[at]:
            queued = solved(point.users).response_s(here)[at] if solved else 0.0
            missing.append((measured - queued - kind.delay_s, float(point.interactions)))
    return Kind(kind.name, kind.weight, kind.think_s, kind.scale, max(0.0, kind.delay_s + _mean(missing)))


def _measured_s(point: Point, kind: Kind, kinds: int) -> float | None:
    if kinds == 1 and not point.classes:
        return point.response_s["mean"].value
    return next((one.response_s for one in _told(point, kind.name)), None)
