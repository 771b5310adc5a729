"""The line through the trials near the crossing of a search, and the reach of "near"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loadgo.sizing.search.crossing import LimitCrossing, crossing_of
from loadgo.sizing.search.host_line import host_crossing
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.standing import excess_with, tallies_of
from loadgo.sizing.search.trials import CapacityTrial

LINE_REACH_SHARE, LINE_REACH_USERS = 0.2, 3.0
"""The line includes trials within this share of the crossing, or this number of users."""
NARROW_REACH_INTERVALS, NARROW_REACH_SHARE = 6.0, 0.1
"""The second line includes trials within this many half-widths of the crossing's interval, or this share of it."""
MOST_LINE_EXCESS_LOGITS = 3.0
"""Trials with a larger excess, on the scale of their target, are not on a straight line with the others."""


def find_crossing(trials: Sequence[CapacityTrial], goal: SearchGoal, around: float) -> tuple[LimitCrossing, int] | None:
    """The lowest crossing of a ceiling, with the index of the ceiling, from trials near `around`.

    The interval is that of the lowest crossing of all ceilings. A first line uses trials in a wide range, which give a
    significant slope. A second line uses nearer trials, where curvature is small compared with the uncertainty. If its
    interval is the narrower one, it is narrow by chance, and the first line is used.
    """
    wide = _crossing_in_reach(trials, goal, around, line_reach(around))
    if wide is None:
        return None
    reach = min(
        max(NARROW_REACH_INTERVALS * half_width(wide[0]), NARROW_REACH_SHARE * wide[0].users, LINE_REACH_USERS),
        line_reach(wide[0].users),
    )
    near = _crossing_in_reach(trials, goal, wide[0].users, reach)
    if near is not None:
        # The next trials are placed around this second crossing, so its line must reach them.
        half_distance = (near[0].users - wide[0].users) / 2
        near = _crossing_in_reach(trials, goal, wide[0].users + half_distance, reach + abs(half_distance))
    return near if near is not None and half_width(near[0]) >= half_width(wide[0]) else wide


def quiet_crossing(trials: Sequence[CapacityTrial], goal: SearchGoal, around: float) -> LimitCrossing | None:
    """The lowest crossing of a ceiling on a host without other work, predicted from trials near `around`.

    None if the trials permit no prediction: their shares of other work must differ enough.
    """
    if not goal.live or any(trial.others is None for trial in trials):
        return None
    crossing = _crossing_in_reach(trials, goal, around, line_reach(around), at_others=0.0)
    return None if crossing is None else crossing[0]


def _crossing_in_reach(
    trials: Sequence[CapacityTrial], goal: SearchGoal, around: float, reach: float, at_others: float | None = None
) -> tuple[LimitCrossing, int] | None:
    near = [trial for trial in trials if abs(trial.users - around) <= reach]
    crossings = []
    for target_index in goal.ceilings:
        straight = [trial for trial in near if _is_on_line(target_index, trial, goal)]
        line = _line_crossing(target_index, straight, goal, at_others)
        if line is not None:
            crossings.append((line, target_index))
    if not crossings:
        return None
    first, binding = min(crossings, key=lambda pair: pair[0].users)
    low, high = min(crossing.low for crossing, _ in crossings), min(crossing.high for crossing, _ in crossings)
    return replace(first, low=low, high=high), binding


def _line_crossing(
    target_index: int, trials: Sequence[CapacityTrial], goal: SearchGoal, at_others: float | None
) -> LimitCrossing | None:
    target = goal.targets[target_index]
    if goal.live:
        return host_crossing(target, target_index, trials, at_others)
    return crossing_of(target, [trial.users for trial in trials], tallies_of(target_index, trials))


def half_width(crossing: LimitCrossing) -> float:
    """Half of the width of a crossing's interval, in users."""
    return (crossing.high - crossing.low) / 2


def _is_on_line(target_index: int, trial: CapacityTrial, goal: SearchGoal) -> bool:
    excess = excess_with(target_index, [trial], goal)
    return excess is not None and abs(excess.value) <= MOST_LINE_EXCESS_LOGITS and not trial.refused


def trials_near(trials: Sequence[CapacityTrial], users: float) -> list[CapacityTrial]:
    """The trials that a line around `users` may include."""
    return [trial for trial in trials if abs(trial.users - users) <= line_reach(users)]


def line_reach(users: float) -> float:
    """The largest distance of a line's trials from `users`."""
    return max(LINE_REACH_USERS, LINE_REACH_SHARE * users)
