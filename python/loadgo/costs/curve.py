"""The cost of an interaction by the number of users, at each tariff.

With few users an interaction costs more, for three reasons. A rented machine costs the same, busy or idle, so each user
pays for a large part of it. An interaction takes more processor time on an idle machine, which it has to wake up. And
fewer interactions share the busy time that no interaction used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, log

from loadgo.costs.cost import Point
from loadgo.costs.priced import Figure, in_mix
from loadgo.measures.charged_use import RunUse
from loadgo.measures.tariff import Tariff


@dataclass(frozen=True)
class Load:
    """The cost and the performance with one number of users. None means not known."""

    users: int
    throughput: float | None
    """Interactions a second."""
    busy: float | None
    """The busy share of all processors' time, 0 to 1, without loadgo's own time."""
    response_ns: float | None
    """The mean response time of the answered lines."""
    answered_share: float
    """The share of the lines that were answered."""
    interaction: Figure
    """The cost of an interaction in the mix of commands that all loads have in common."""
    user_hour: Figure
    whole: float | None
    """The cost of an interaction if users paid for all busy time. None if the tariff has no price for processor time.
    """


@dataclass(frozen=True)
class Curve:
    """The cost of an interaction at one tariff, by the number of users."""

    tariff: Tariff
    loads: tuple[Load, ...]

    @property
    def dearest(self) -> Load | None:
        """The load with the highest cost of an interaction. None if no cost is known."""
        return max(self._known(), key=lambda load: load.interaction.value or 0.0, default=None)

    @property
    def cheapest(self) -> Load | None:
        """The load with the lowest cost of an interaction. None if no cost is known."""
        return min(self._known(), key=lambda load: load.interaction.value or 0.0, default=None)

    @property
    def times(self) -> float | None:
        """The highest cost of an interaction, divided by the lowest."""
        if self.dearest is None or self.cheapest is None or not self.cheapest.interaction.value:
            return None
        return (self.dearest.interaction.value or 0.0) / self.cheapest.interaction.value

    @property
    def told_apart(self) -> bool | None:
        """Whether the intervals tell the highest cost from the lowest; None without intervals."""
        if self.dearest is None or self.cheapest is None or self.times is None:
            return None
        bounds = [load.interaction.interval for load in (self.dearest, self.cheapest)]
        if any(ends is None or ends.low <= 0 for ends in bounds):
            return None
        reaches = [log(ends.high / ends.low) / 2 for ends in bounds if ends is not None]
        return log(self.times) > hypot(*reaches)

    def _known(self) -> list[Load]:
        return [load for load in self.loads if load.interaction.value is not None]


def curves(points: Sequence[Point]) -> tuple[Curve, ...]:
    """The curve for each tariff. `points` are in the order of their number of users.

    All loads are priced with the same mix of commands.
    """
    tariffs = [priced.tariff for priced in points[0].priced]
    mix = mix_of(points)
    return tuple(
        Curve(tariff, tuple(_load(point, index, mix) for point in points)) for index, tariff in enumerate(tariffs)
    )


def mix_of(points: Sequence[Point]) -> dict[str, float]:
    """Each command's share of the typed lines, for the commands that every point has."""
    totals = sum((Counter(point.typed) for point in points), Counter[str]())
    names_by_point = [{row.name for row in point.priced[0].rows} for point in points]
    counts = {name: count for name, count in totals.items() if all(name in names for names in names_by_point)}
    return {name: count / sum(counts.values()) for name, count in counts.items()}


def left_out(points: Sequence[Point]) -> list[str]:
    """The commands outside the mix, since not every point has them."""
    mix = mix_of(points)
    return sorted({name for point in points for name in point.typed} - mix.keys())


def _load(point: Point, tariff_index: int, mix: Mapping[str, float]) -> Load:
    use, priced = point.use, point.priced[tariff_index]
    answered = float(use.cells["response_ns known"].sum())
    interaction, uncharged = in_mix(use, priced.tariff, mix), priced.uncharged
    machine = use.machine
    return Load(
        users=point.users,
        throughput=_throughput(use),
        busy=None if machine is None else (machine.busy_ns - machine.laboratory_ns) / machine.total_ns,
        response_ns=float(use.cells["response_ns"].sum()) / answered if answered else None,
        answered_share=answered / use.interactions if use.interactions else 1.0,
        interaction=interaction,
        user_hour=priced.user_hour,
        whole=None if interaction.value is None or uncharged is None else interaction.value + uncharged,
    )


def _throughput(use: RunUse) -> float | None:
    """Interactions a second in the time of all runs. None if one run is too short for a rate."""
    if not use.held.elapsed_ns or any(stretch.per_second is None for stretch in use.stretches):
        return None
    return use.interactions / use.held.elapsed_ns * 1e9
