"""What an interaction costs over the load: a point for each number of users, at each tariff.

A rented machine costs the same, busy or idle: with few users there, each pays for much of it. Processor time costs more
on an idle machine too: every interaction wakes it up, and what is done for nobody in particular is shared by fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadgo.costs.cost import Point
from loadgo.costs.priced import Figure, in_mix
from loadgo.measures.charged_use import Use
from loadgo.measures.tariff import Tariff


@dataclass(frozen=True)
class Load:
    """One number of users; None is not known."""

    users: int
    throughput: float | None
    """Interactions a second."""
    busy: float | None
    """The share of all processors' time that was busy, 0 to 1, without the laboratory's part."""
    response_ns: float | None
    """The mean response time."""
    interaction: Figure
    """In the mix of commands that all loads have in common."""
    user_hour: Figure
    whole: float | None
    """An interaction, were all that the machine did charged to users; None where processor time is not charged for."""


@dataclass(frozen=True)
class Curve:
    """The cost of an interaction at one tariff, by the number of users."""

    tariff: Tariff
    loads: tuple[Load, ...]

    @property
    def dearest(self) -> Load | None:
        """Where an interaction costs most; None where no cost is known."""
        return max(self._known(), key=lambda load: load.interaction.value or 0.0, default=None)

    @property
    def cheapest(self) -> Load | None:
        """Where an interaction costs least; None where no cost is known."""
        return min(self._known(), key=lambda load: load.interaction.value or 0.0, default=None)

    @property
    def times(self) -> float | None:
        """How many times as much it costs where it costs most."""
        if self.dearest is None or self.cheapest is None or not self.cheapest.interaction.value:
            return None
        return (self.dearest.interaction.value or 0.0) / self.cheapest.interaction.value

    def _known(self) -> list[Load]:
        return [load for load in self.loads if load.interaction.value is not None]


def curves(points: Sequence[Point]) -> tuple[Curve, ...]:
    """A curve for each tariff; `points` are by their number of users. An interaction is in one mix of commands."""
    tariffs = [one.tariff for one in points[0].priced]
    mix = mix_of(points)
    return tuple(Curve(tariff, tuple(_load(point, at, mix) for point in points)) for at, tariff in enumerate(tariffs))


def mix_of(points: Sequence[Point]) -> dict[str, float]:
    """The share of each command in all that was typed, of those commands that every point has."""
    typed = [Counter(point.typed) for point in points]
    everywhere = [{row.name for row in point.priced[0].rows} for point in points]
    both = sum(typed, Counter())
    kept = {name: count for name, count in both.items() if all(name in there for there in everywhere)}
    return {name: count / sum(kept.values()) for name, count in kept.items()}


def left_out(points: Sequence[Point]) -> list[str]:
    """The commands that not every point has: they are not in the mix."""
    mix = mix_of(points)
    return sorted({name for point in points for name in point.typed} - mix.keys())


def _load(point: Point, at: int, mix: Mapping[str, float]) -> Load:
    use, told = point.use, point.priced[at]
    answered = float(use.cells["response_ns known"].sum())
    each, beside = in_mix(use, told.tariff, mix), told.uncharged
    machine = use.machine
    return Load(
        users=point.users,
        throughput=_throughput(use),
        busy=None if machine is None else (machine.busy_ns - machine.laboratory_ns) / machine.total_ns,
        response_ns=float(use.cells["response_ns"].sum()) / answered if answered else None,
        interaction=each,
        user_hour=told.user_hour,
        whole=None if each.value is None or beside is None else each.value + beside,
    )


def _throughput(use: Use) -> float | None:
    """Interactions a second of all the runs' time; None where one of them covers too short a time to tell."""
    if not use.held.elapsed_ns or any(one.per_second is None for one in use.stretches):
        return None
    return use.interactions / use.held.elapsed_ns * 1e9
