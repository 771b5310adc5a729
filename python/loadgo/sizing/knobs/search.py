"""The choice of the next value of a limit, and the value at which the targets are just met.

The first trials are spread evenly over the range, on the scale of ratios. On a host, a line through the trials over the
logarithm of the value says where the targets are just met (`host_line`). Further trials lie on both sides of it. On a
simulated machine trials cost little, and there are enough to see that the curve is no line. There it is a parabola
through trials close to the crossing (`curved_crossing`). Limits of memory and processes fail at once: there the range
between two values is halved until they are neighbours. A limit may help some users and hinder others, so that the
targets may be missed at both ends of the range. Then the search is for the largest value that meets them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from loadgo.sizing.curve import TargetStanding
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.results import KnobSide
from loadgo.sizing.search.crossing import LimitCrossing
from loadgo.sizing.search.curved_crossing import curved_crossing, rough_crossing
from loadgo.sizing.search.host_line import host_crossing
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.standing import tallies_of, target_standing
from loadgo.sizing.search.trials import CapacityTrial

FIRST_VALUES = 5
"""Number of values that are tried first, the ends of the range among them."""
OPEN_TRIALS = 2
"""A value that has stayed open in this many trials is left for values beside it."""
NARROW_RATIO = 1.35
"""A search ends when the upper end of the interval is at most this many times the lower one."""
_ADJACENT_RATIO = 1.06
"""Two values of this ratio are neighbours, of which one meets the targets and the other does not."""
_BRACKET_FACTORS = (0.85, 1.18)
"""Trials near the crossing are placed at these ratios to it, in turn."""
_OCTAVE_STEPS = 1e3
"""Positions on the line are logarithms in thousandths, since a trial has a whole number there."""
_NEAR_OCTAVES = 1.6
"""Trials within this many doublings of the bracket are on the line: farther away the curve is not straight."""
CLOSE_OCTAVES = 0.5
"""On a simulated machine, at most trials within this many doublings of the crossing are on the curve of the answer."""
_CLOSE_HALF_WIDTHS, _LEAST_CLOSE_OCTAVES = 2.0, 0.2
"""They are within this many half-widths of its interval, and at least within so many doublings."""
_WIDER_REACHES_OCTAVES = (1.0, 1.6)
"""Where trials so close do not show on which sides the limit is met and missed, those farther away count, too."""
_REACH_PARTS = (0.5, 0.9, 0.25)
"""Pairs of trials are placed at these parts of the reach, in turn: a parabola needs more than two values."""
_CLOSE_ROUNDS = 3
"""The curve is moved to the trials around its own crossing this many times."""

CrossingOfTarget = Callable[[SearchGoal, int, Sequence[CapacityTrial]], LimitCrossing | None]
"""A function from the number of a target and placed trials to the target's crossing."""


@dataclass(frozen=True)
class KnobTrial:
    """A trial with a value of the limit."""

    value: float
    trial: CapacityTrial


@dataclass(frozen=True)
class KnobStanding:
    """The findings of all trials about the range."""

    stands: Mapping[float, TargetStanding]
    """The standing of each value that was tried."""
    side: KnobSide
    bracket: tuple[float, float] | None
    """The neighbouring values between which the answer lies; None without a met and a missed one."""
    crossing: LimitCrossing | None
    """The crossing, in values of the limit; None while no line fits."""
    follows_curve: bool = False
    """Whether the answer is that of a curve, however near two values are: single trials near it differ by chance."""
    is_rough: bool = False
    """Whether there are too few close trials for a curve: the crossing places trials, and is no answer."""
    wants_closer: bool = False
    """Whether the curve would be better with trials closer to the crossing."""
    reach_octaves: float = CLOSE_OCTAVES
    """The trials of the curve are to be within this many doublings of the crossing."""

    def is_narrow(self, knob: Knob) -> bool:
        """Whether no value lies between the ends of the bracket that would be worth a trial."""
        if self.bracket is None or self.follows_curve:
            return False
        low, high = self.bracket
        return high <= _ADJACENT_RATIO * low or knob.rounded(math.sqrt(low * high)) in self.bracket


def first_values(knob: Knob) -> list[float]:
    """The values of the first trials: the middle, then the ends, then those between."""
    step = (knob.high / knob.low) ** (1 / (FIRST_VALUES - 1))
    spread = [knob.rounded(knob.low * step**index) for index in range(FIRST_VALUES)]
    middle = FIRST_VALUES // 2
    ends = [spread[middle], spread[-1], spread[0]]
    return list(dict.fromkeys([*ends, *spread]))


def standing_of(knob: Knob, trials: Sequence[KnobTrial], goal: SearchGoal) -> KnobStanding:
    """The findings so far. On a host, a crossing outside of the bracket is none: the curve is no line there."""
    values = sorted({each.value for each in trials})
    stands = {value: _stands_at(value, trials, goal) for value in values}
    met = [value for value in values if stands[value] == "met"]
    missed = [value for value in values if stands[value] == "missed"]
    side: KnobSide = "at least" if met and missed and max(met) > max(missed) else "at most"
    bracket = None
    if met and missed:
        bracket = _bracket_above(met, missed) if side == "at most" else _bracket_below(met, missed)
    if bracket and knob.is_smooth and not goal.live:
        close = _close_crossing(trials, goal, side, bracket)
        return replace(close, stands=stands)
    crossing = _crossing(trials, goal, side, _around(bracket), _line_of) if bracket and knob.is_smooth else None
    if bracket and crossing and not bracket[0] <= crossing.users <= bracket[1]:
        crossing = None
    return KnobStanding(stands, side, bracket, crossing)


def next_value(
    knob: Knob, trials: Sequence[KnobTrial], standing: KnobStanding, given_up: Sequence[float] = ()
) -> float | None:
    """The value of the next trial; None if the answer is precise enough, or nothing is left to try.

    Values that were given up, since no trial with them was valid, count as tried.
    """
    tried = [*(each.value for each in trials), *given_up]
    for value in first_values(knob):
        if value not in tried:
            return value
    if standing.bracket is None:
        return _undecided(knob, tried, standing)
    if standing.is_narrow(knob):
        return None
    if standing.crossing is None:
        low, high = standing.bracket
        between = knob.rounded(math.sqrt(low * high))
        # Between is a value that neither meets nor misses the targets: its neighbours are tried, then it again.
        return between if between not in tried else _between(knob, tried, low, high)
    crossing = standing.crossing
    if crossing.low > 0 and crossing.high <= NARROW_RATIO * crossing.low and not standing.wants_closer:
        return None
    if not standing.follows_curve:
        return _beside(knob, tried, crossing.users, _NEAR_OCTAVES)
    part = _REACH_PARTS[len(tried) // 2 % len(_REACH_PARTS)]
    step = 2 ** (part * standing.reach_octaves)
    return _beside(knob, tried, crossing.users, standing.reach_octaves, (1 / step, step))


def _beside(
    knob: Knob,
    tried: Sequence[float],
    crossing: float,
    octaves: float,
    factors: tuple[float, float] = _BRACKET_FACTORS,
) -> float:
    """A value beside the crossing, on the side of it that has fewer trials within so many doublings."""
    below = sum(value < crossing for value in tried if _is_near(value, crossing, octaves))
    above = sum(value >= crossing for value in tried if _is_near(value, crossing, octaves))
    return knob.rounded(crossing * factors[below > above])


def _between(knob: Knob, tried: Sequence[float], low: float, high: float) -> float:
    """A value within the bracket, of those that were tried least."""
    quarters = [knob.rounded(low * (high / low) ** (part / 4)) for part in (1, 2, 3)]
    return min(quarters, key=tried.count)


def _undecided(knob: Knob, tried: Sequence[float], standing: KnobStanding) -> float | None:
    """A value that is neither met nor missed, tried again; None if all values agree.

    A value that stays open in `OPEN_TRIALS` trials gives way to values between it and its decided neighbour.
    """
    undecided = [value for value, stands in standing.stands.items() if stands == "open"]
    if not undecided:
        return None
    least = min(undecided, key=tried.count)
    between = _beside_open(knob, tried, standing)
    return least if tried.count(least) < OPEN_TRIALS or between is None else between


def _beside_open(knob: Knob, tried: Sequence[float], standing: KnobStanding) -> float | None:
    """The middle of the widest gap between an open value and a decided one; None if all gaps are narrow."""
    values = sorted(standing.stands)
    gaps = [
        (high / low, knob.rounded(math.sqrt(low * high)))
        for low, high in itertools.pairwise(values)
        if high > NARROW_RATIO * low and (standing.stands[low] == "open") != (standing.stands[high] == "open")
    ]
    return max((gap for gap in gaps if gap[1] not in tried), default=(0.0, None))[1]


def _is_near(value: float, crossing: float, octaves: float) -> bool:
    return abs(math.log2(value / crossing)) < octaves


def _around(bracket: tuple[float, float]) -> tuple[float, float]:
    """The values that are so near to the bracket that a line may have them."""
    return bracket[0] / 2**_NEAR_OCTAVES, bracket[1] * 2**_NEAR_OCTAVES


def _close_crossing(
    trials: Sequence[KnobTrial], goal: SearchGoal, side: KnobSide, bracket: tuple[float, float]
) -> KnobStanding:
    """The crossing by a parabola through trials close to it, without the standing of single values.

    The reach shrinks with the interval, since the curve is no parabola either. Without enough close trials the crossing
    is rough.
    """
    centre = _rough_crossing(trials, goal, side) or math.sqrt(bracket[0] * bracket[1])
    rough = LimitCrossing(centre, *bracket, 0.0, 0.0)
    standing = KnobStanding({}, side, bracket, rough, follows_curve=True, is_rough=True, wants_closer=True)
    for _ in range(_CLOSE_ROUNDS):
        close = _crossing(trials, goal, side, _within(centre, standing.reach_octaves), _curve_of)
        if close is None:
            break
        centre = close.users
        half_width = math.log2(close.high / close.low) / 2
        reach = min(standing.reach_octaves, max(_CLOSE_HALF_WIDTHS * half_width, _LEAST_CLOSE_OCTAVES))
        standing = replace(standing, crossing=close, is_rough=False, wants_closer=False, reach_octaves=reach)
    else:
        return standing
    for reach in _WIDER_REACHES_OCTAVES if standing.is_rough else ():
        close = _crossing(trials, goal, side, _within(centre, reach), _curve_of)
        if close is not None:
            return replace(standing, crossing=close, is_rough=False)
    return replace(standing, wants_closer=True)


def _within(centre: float, octaves: float) -> tuple[float, float]:
    """The values within so many doublings of the centre."""
    return centre / 2**octaves, centre * 2**octaves


def _rough_crossing(trials: Sequence[KnobTrial], goal: SearchGoal, side: KnobSide) -> float | None:
    """The value about which trials are placed: the first crossing of a target by steps through all trials."""
    sign = 1 if side == "at most" else -1
    placed = _placed([each for each in trials if each.trial.valid], sign)
    positions = [trial.users for trial in placed]
    found = [rough_crossing(goal.targets[index], positions, tallies_of(index, placed)) for index in goal.ceilings]
    known = [position for position in found if position is not None]
    return 2 ** (sign * min(known) / _OCTAVE_STEPS) if known else None


def _placed(trials: Sequence[KnobTrial], sign: int) -> list[CapacityTrial]:
    """The trials with their positions as numbers of users: logarithms that grow towards the side that is missed."""
    return [replace(each.trial, users=round(sign * _OCTAVE_STEPS * math.log2(each.value))) for each in trials]


def _stands_at(value: float, trials: Sequence[KnobTrial], goal: SearchGoal) -> TargetStanding:
    same = [each.trial for each in trials if each.value == value]
    return target_standing(same[0].users, same, goal)


def _bracket_above(met: Sequence[float], missed: Sequence[float]) -> tuple[float, float]:
    """The largest value that meets the targets, and the smallest above it that misses them."""
    return max(met), min(value for value in missed if value > max(met))


def _bracket_below(met: Sequence[float], missed: Sequence[float]) -> tuple[float, float]:
    """The largest value that misses the targets, and the smallest above it that meets them."""
    return max(missed), min(value for value in met if value > max(missed))


def _crossing(
    trials: Sequence[KnobTrial],
    goal: SearchGoal,
    side: KnobSide,
    ends: tuple[float, float],
    crossing_of_target: CrossingOfTarget,
) -> LimitCrossing | None:
    """The first crossing of a target over the logarithm of the value, of trials between these ends."""
    sign = 1 if side == "at most" else -1
    near = [each for each in trials if each.trial.valid and ends[0] <= each.value <= ends[1]]
    placed = _placed(near, sign)
    found = [crossing for index in goal.ceilings if (crossing := crossing_of_target(goal, index, placed)) is not None]
    if not found:
        return None
    first = min(found, key=lambda crossing: crossing.users)
    found_ends = [2 ** (sign * position / _OCTAVE_STEPS) for position in (first.low, first.high)]
    value = 2 ** (sign * first.users / _OCTAVE_STEPS)
    return LimitCrossing(value, min(found_ends), max(found_ends), first.slope, first.weight)


def _line_of(goal: SearchGoal, index: int, placed: Sequence[CapacityTrial]) -> LimitCrossing | None:
    """The crossing of the target with this index by a line. Each trial on a host has an effect of its own."""
    return host_crossing(goal.targets[index], index, placed)


def _curve_of(goal: SearchGoal, index: int, placed: Sequence[CapacityTrial]) -> LimitCrossing | None:
    """The crossing of the target with this index by a parabola."""
    return curved_crossing(goal.targets[index], [trial.users for trial in placed], tallies_of(index, placed))
