"""A prediction judged: whether what was measured is where it was said to be, and whether that can be told at all.

The interval of measured less predicted holds 0 when the prediction may be right; the wider it is, the more surely it
does. So it must also be short: *inside* is only what is shown to be within the limit, at 95 %. Where the prediction
carries the doubt in its machine's parameters, that is in the interval too: both sides' intervals are put together as
Zou and Donner did (Statistics in Medicine 27 (2008), page 1693), since neither need be symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from loadgo.comparison.rows import Difference
from loadgo.errors import BadArgument
from loadgo.notation.quantities import percentage
from loadgo.stats.resample import Interval

WITHIN = 0.2
"""How far from the prediction the interval of a figure may reach, as a part of the prediction, when nothing is said."""
JUDGED = ("response", "p90 response", "cpu", "throughput")
"""What a prediction is judged by."""

Judgement = Literal["inside", "outside", "too wide to judge", "not to be judged"]


@dataclass(frozen=True)
class Judged(Difference):
    """A predicted figure beside the measured one."""

    within: float = WITHIN
    """How far off it may be, as a part of the prediction."""
    doubt: Interval | None = None
    """What the doubt in the machine's parameters makes of the prediction, as factors; None where there is none."""

    @property
    def reach(self) -> float | None:
        """How far off the prediction may be at 95 %, as a part of it; None without an interval."""
        if self.interval is None or not self.before:
            return None
        return max(abs(self.interval.low), abs(self.interval.high)) / abs(self.before)

    @property
    def judgement(self) -> Judgement:
        """`outside`: not by chance; `inside`: off by no more than `within`; else that cannot be told."""
        if self.reach is None:
            return "not to be judged"
        if self.verdict != "no difference":
            return "outside"
        return "inside" if self.reach <= self.within else "too wide to judge"


def judged_of(
    whole: Mapping[str, Difference], doubts: Mapping[str, Interval], within: float = WITHIN
) -> tuple[Judged, ...]:
    """The figures of `whole` that a prediction is judged by; `doubts` are the parameters' factors by measure."""
    return tuple(_judged(whole[name], doubts.get(name), within) for name in JUDGED if name in whole)


def share_of(text: str) -> float:
    """`20%` as a part of one; raises `ValueError` in words."""
    percent = percentage(text)
    if not percent:
        raise BadArgument(f"`within={text}`: write a percentage over 0, such as 20%").about("within")
    return percent / 100


def _judged(told: Difference, doubt: Interval | None, within: float) -> Judged:
    own = {field.name: getattr(told, field.name) for field in fields(Difference)}
    if doubt is not None:
        predicted = _with_doubt(told.before, told.before_interval, doubt)
        own |= {"before_interval": predicted, "interval": _difference(told, predicted)}
    return Judged(**own, within=within, doubt=doubt)


def _with_doubt(value: float | None, chance: Interval | None, doubt: Interval) -> Interval | None:
    """The interval of a prediction, chance and parameters together; they are independent."""
    if value is None:
        return None
    by_chance = chance or Interval(value, value)
    low = math.hypot(value - by_chance.low, value * max(0.0, 1 - doubt.low))
    high = math.hypot(by_chance.high - value, value * max(0.0, doubt.high - 1))
    return Interval(value - low, value + high)


def _difference(told: Difference, predicted: Interval | None) -> Interval | None:
    """The interval of measured less predicted; None where one of the two has none."""
    measured = told.after_interval
    if told.change is None or told.before is None or told.after is None or predicted is None or measured is None:
        return None
    low = math.hypot(told.after - measured.low, predicted.high - told.before)
    high = math.hypot(measured.high - told.after, told.before - predicted.low)
    return Interval(told.change - low, told.change + high)
