"""The choice of the next trial in a capacity search, and the decision that the answer is precise enough.

First trials are short, and only trials near the answer are long. MLRsearch (IETF draft bmwg-mlrsearch) does the same
for packet rates, where lost packets take the place of slow interactions. On a simulated machine, the first trial has
one user. The utilisation of its busiest resource suggests the next number of users.

Once a number of users significantly misses a target, a line through all near trials gives the crossing (`crossing`).
More and longer trials follow on both sides of it, until the interval of the answer is narrow enough. Where a curve
jumps and no line fits, the search continues by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from loadgo.notation.figures import counted
from loadgo.sizing.resources import PROCESSORS_RESOURCE
from loadgo.sizing.search.crossing import LimitCrossing
from loadgo.sizing.search.near_line import MOST_LINE_EXCESS_LOGITS, find_crossing, half_width, line_reach, trials_near
from loadgo.sizing.search.outcomes import (
    LONGEST_TRIALS_REASON,
    CapacityFound,
    EveryNumberMeets,
    NextTrial,
    NoNumberMeets,
    SearchGoal,
    SearchOutcome,
    Undecided,
)
from loadgo.sizing.search.standing import (
    RANGE_CONFIDENCES,
    excess_with,
    known_range,
    measured_excess,
    target_standing,
    trials_with,
    worst_target,
)
from loadgo.sizing.search.trials import CapacityTrial

FIRST_TRIAL_INTERACTIONS = 60
"""Interactions of the first trial. Fewer than in later trials: it only finds the scale."""
TRIED_BETWEEN_USERS = 3
"""This many numbers of users in the bracket are tried before one of them is tried again, longer."""
END_TRIALS_RATIO = 2
"""An end of the bracket is tried again when the numbers within have more than this many times its interactions."""
BRACKET_SHARE = 0.08
"""Trials are placed within ±8 % of the estimated crossing."""
LEAP_MARGIN_LOGITS = 0.5
"""With all targets this far below their limits, on their scales, the search leaps before they are met significantly."""
FIRST_TRIAL_DIVISOR = 8
"""On a host, the first trial has this part of the largest number of users: trials take too long to begin with 1."""
NARROW_INTERVAL_RATIO = 0.42
"""Largest half-width of the crossing, as a ratio to the wanted width of the answer plus 1.

Without this limit, a wide interval may end the search by chance: its ends are rounded to whole users.
"""
ANSWER_EVIDENCE_SHARE = 0.1
"""The trials at the answer have at least this share of the interactions of the line, so that it is measured too."""
FEWEST_HOST_TRIALS = 8
"""On a host, at least this many trials are near the crossing, so that they show how much trials differ."""
MOST_HOST_TRIAL_RATIO = 3
"""On a host, a trial has at most this many times the interactions of a short one: there, more trials help more."""
MOST_LEAP_RATIO = 3
"""On a shared host, the next trial has at most this many times the users of the largest trial before."""


_NEAR_LIMIT_REASON = "the answer is too close to --max-users"


@dataclass(frozen=True)
class _UserBracket:
    """Two numbers of users between which the answer lies."""

    met: int
    """The most users, below `missed`, that significantly meet all ceilings. Without any: one below the fewest."""
    missed: int | None
    """The fewest users that significantly miss a ceiling; None without such a number."""
    binding: int
    """The index of the target that is missed most, or is nearest to its limit."""


def next_step(trials: Sequence[CapacityTrial], goal: SearchGoal, left_out: int = 0) -> NextTrial | SearchOutcome:
    """The next trial after `trials`, or the outcome of the search. `left_out` more trials count to their limit."""
    if not trials:
        users = goal.max_users // FIRST_TRIAL_DIVISOR if goal.live else 1
        return NextTrial(max(goal.fewest_users, users), min(FIRST_TRIAL_INTERACTIONS, goal.short_interactions))
    bracket = _bracket(trials, goal)
    if len(trials) + left_out >= goal.most_trials:
        count = len(trials) + left_out
        return outcome_so_far(trials, goal, f"{counted(count, 'trial')} {'was' if count == 1 else 'were'} too few")
    if bracket.missed == goal.fewest_users:
        return NoNumberMeets(bracket.binding)
    if bracket.missed is None:
        return _search_upwards(trials, goal, bracket)
    return _search_inwards(trials, goal, bracket)


def _bracket(trials: Sequence[CapacityTrial], goal: SearchGoal) -> _UserBracket:
    tried = sorted({trial.users for trial in trials})
    stands = {users: target_standing(users, trials, goal) for users in tried}
    all_missed = [users for users in tried if stands[users] == "missed"]
    all_met = [users for users in tried if stands[users] == "met"]
    # On a host, trials may contradict each other: the bracket then contains all that do.
    least_missed = max(all_met, default=0) if goal.live else 0
    missed = min((users for users in all_missed if users > least_missed), default=None)
    too_few = goal.fewest_users - 1
    met = max((users for users in all_met if users < min(all_missed, default=math.inf)), default=too_few)
    return _UserBracket(met, missed, worst_target(missed or max(tried), trials, goal))


def _longer_trial(
    users: int, trials: Sequence[CapacityTrial], goal: SearchGoal, otherwise: SearchOutcome
) -> NextTrial | SearchOutcome:
    """Another trial with `users` users, as long as all before together, or `otherwise` if it would be too long."""
    interactions = _interactions_with(users, trials)
    if interactions >= goal.most_interactions:
        return otherwise
    return NextTrial(users, max(interactions, goal.short_interactions))


def _search_upwards(
    trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket
) -> NextTrial | SearchOutcome:
    """The next step while no number of users has missed a target: more users, or the end of the search."""
    fewest_tried, most_tried = min(trial.users for trial in trials), max(trial.users for trial in trials)
    is_open = bracket.met < most_tried
    if most_tried >= goal.max_users:
        if not is_open:
            return EveryNumberMeets(most_tried)
        return _longer_trial(most_tried, trials, goal, known_range(trials, goal, _NEAR_LIMIT_REASON))
    largest_excess = max((measured_excess(ceiling, most_tried, trials, goal) for ceiling in goal.ceilings), default=0.0)
    if is_open and largest_excess > 0 and most_tried == goal.fewest_users:
        who = "one user alone is" if most_tried == 1 else f"{most_tried:,} users, the fewest, are"
        reason = f"{who} too close to the limit of a target"
        return _longer_trial(most_tried, trials, goal, known_range(trials, goal, reason))
    if bracket.met < goal.fewest_users < fewest_tried and largest_excess > 0:
        return NextTrial(max(goal.fewest_users, fewest_tried // 2), goal.short_interactions)
    if is_open and largest_excess > -LEAP_MARGIN_LOGITS:
        next_users = math.ceil(1.1 * most_tried)
    else:
        next_users = _leap_users(most_tried, trials, goal)
    return NextTrial(min(goal.max_users, max(most_tried + 1, next_users)), goal.short_interactions)


def _leap_users(most_tried: int, trials: Sequence[CapacityTrial], goal: SearchGoal) -> int:
    """The next number of users where `most_tried` are far from the limits: at the estimated limit, or twice as many."""
    guess = min(_estimated_limit_users(trials, goal), float(goal.max_users))
    leap = max(2 * most_tried, math.ceil(guess)) if guess > 1.1 * most_tried else math.ceil(1.25 * most_tried)
    if not goal.live:
        return leap
    careful = max(math.ceil(0.8 * guess), math.ceil(1.25 * most_tried))
    return min(leap, MOST_LEAP_RATIO * most_tried, careful)


def _estimated_limit_users(trials: Sequence[CapacityTrial], goal: SearchGoal) -> float:
    """The estimated number of users at a limit, from the asymptotes of the largest trial; infinite without busy time.

    A resource with utilisation U with N users is saturated with N* = N / U users. With more users, the response time R
    follows from N = N* (R + Z) / (R_light + Z).
    """
    trial = max(trials, key=lambda candidate: (candidate.users, candidate.counted))
    # Other work is not the users': a host that it fills is not saturated by them.
    own = {} if trial.processors is None else {PROCESSORS_RESOURCE: trial.processors.users}
    busy = max({**trial.utilisation, **own}.values(), default=0.0)
    if busy <= 0:
        return math.inf
    saturation, cycle = trial.users / min(busy, 1.0), trial.think_s + (trial.response_s or 0.0)
    guesses = [2.0 * saturation]
    for target_index in goal.ceilings:
        target = goal.targets[target_index]
        if target.measure == "busy":
            guesses.append(trial.users * target.limit / max(trial.utilisation.get(str(target.command), 0.0), 1e-6))
        elif (target.share is not None or target.measure == "mean") and target.command is None:
            mean = target.limit / (math.log(1 / target.share) if target.share else 1.0)
            guesses.append(saturation * max((mean + trial.think_s) / cycle, 0.5))
    return min(guesses)


def _search_inwards(
    trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket
) -> NextTrial | SearchOutcome:
    """The next step after a number of users has missed a target: the answer is below it."""
    crossing_and_target = _refined_crossing(trials, goal, bracket)
    if crossing_and_target is None:
        return _search_between(trials, goal, bracket, _interpolated_users(trials, goal, bracket))
    crossing, binding = crossing_and_target
    answer = _found_capacity(crossing, binding, goal)
    is_few = goal.live and len(trials_near(trials, crossing.users)) < FEWEST_HOST_TRIALS
    if not answer.enough or is_few or not _has_trials_around(trials, crossing.users):
        between = _only_untried(trials, goal, bracket)
        users = between or _users_beside(trials, goal, crossing)
        return NextTrial(users, goal.short_interactions if between else _next_interactions(goal, crossing))
    interactions = _interactions_with(answer.users, trials)
    if interactions < ANSWER_EVIDENCE_SHARE * crossing.weight and answer.users >= goal.fewest_users:
        return NextTrial(answer.users, max(goal.short_interactions, math.ceil(ANSWER_EVIDENCE_SHARE * crossing.weight)))
    if not _was_decided_before(trials[:-1], goal):
        return NextTrial(_users_beside(trials, goal, crossing), _next_interactions(goal, crossing))
    return answer


def _refined_crossing(
    trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket
) -> tuple[LimitCrossing, int] | None:
    """The crossing with the index of its target, fitted again from the trials near the last estimate."""
    around, best = _interpolated_users(trials, goal, bracket), None
    for _ in range(3):
        crossing_and_target = find_crossing(trials, goal, around)
        if crossing_and_target is None:
            break
        best = crossing_and_target
        around = min(max(crossing_and_target[0].users, 1.0), float(goal.max_users))
    return None if best is None or _is_denied_by_jump(best[0], trials, goal, bracket) else best


def _is_denied_by_jump(
    crossing: LimitCrossing, trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket
) -> bool:
    """Whether trials show a jump of the curve, so that a line through them says nothing about the answer.

    The lower end of the bracket meets every target by far. Either the next number of users misses a target, or the line
    has its crossing below that end.
    """
    is_jump = bracket.missed is not None and bracket.missed - bracket.met == 1
    if goal.live or bracket.met < goal.fewest_users or not (is_jump or crossing.users < bracket.met):
        return False
    excesses = [measured_excess(target_index, bracket.met, trials, goal) for target_index in goal.ceilings]
    return all(excess < -MOST_LINE_EXCESS_LOGITS for excess in excesses)


def _was_decided_before(trials: Sequence[CapacityTrial], goal: SearchGoal) -> bool:
    """Whether the answer was narrow enough by these trials too; two checks in succession prevent an end by chance."""
    bracket = _bracket(trials, goal)
    crossing_and_target = _refined_crossing(trials, goal, bracket) if bracket.missed is not None else None
    return crossing_and_target is not None and _found_capacity(*crossing_and_target, goal).enough


def _interpolated_users(trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket) -> float:
    """The number of users with an excess of 0 on a line between the ends of the bracket, some way from both ends."""
    low, high = bracket.met, bracket.missed or goal.max_users
    below = excess_with(bracket.binding, trials_with(low, trials), goal)
    above = excess_with(bracket.binding, trials_with(high, trials), goal)
    share = 0.5
    if below is not None and above is not None and math.isfinite(below.value) and above.value > below.value:
        share = -below.value / (above.value - below.value)
    return low + min(max(share, 0.2), 0.8) * (high - low)


def _search_between(
    trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket, around: float
) -> NextTrial | SearchOutcome:
    """The next step without a line: a trial between the ends of the bracket, or at its ends if they are adjacent."""
    assert bracket.missed is not None
    if bracket.missed - bracket.met == 1:
        unconfirmed = _unconfirmed_users(trials, goal, bracket)
        if unconfirmed:
            return NextTrial(unconfirmed, goal.short_interactions)
        return _decide_adjacent(trials, goal, bracket)
    tried = {trial.users for trial in trials}
    untried = [users for users in range(bracket.met + 1, bracket.missed) if users not in tried]
    between = sorted(users for users in tried if bracket.met < users < bracket.missed)
    near = [users for users in between if abs(users - around) <= line_reach(around)]
    if untried and len(near) < TRIED_BETWEEN_USERS:
        distance = max(1.0, BRACKET_SHARE * around) * (1 if len(near) % 2 else -1) if near else 0.0
        return NextTrial(min(untried, key=lambda users: abs(users - around - distance)), goal.short_interactions)
    undecided = known_range(trials, goal, LONGEST_TRIALS_REASON)
    if not between:
        return undecided
    # Long trials between short ends give no line a slope, so the ends are tried again too, half as long.
    ends = [users for users in (bracket.met, bracket.missed) if users >= goal.fewest_users]
    weights = dict.fromkeys(between, 1) | dict.fromkeys(ends, END_TRIALS_RATIO)
    next_users = min(weights, key=lambda users: weights[users] * _interactions_with(users, trials))
    return _longer_trial(next_users, trials, goal, undecided)


def _interactions_with(users: int, trials: Sequence[CapacityTrial]) -> int:
    return sum(trial.counted for trial in trials_with(users, trials))


def _unconfirmed_users(trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket) -> int:
    """An end of the bracket that only one trial on a shared host supports; 0 without such an end."""
    counts = {users: len(trials_with(users, trials)) for users in (bracket.missed or 0, bracket.met)}
    return next((users for users, count in counts.items() if goal.live and users and count == 1), 0)


def _decide_adjacent(
    trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket
) -> NextTrial | SearchOutcome:
    """The next step where one number of users meets the targets, and one more user misses a target.

    Other trials may contradict these: fewer users miss the target, or more users meet it. Then trials differ by more
    than their batches show, as on a host with other work. The answer lies between the contradicting numbers.
    """
    assert bracket.missed is not None
    tried = {trial.users for trial in trials if not trial.refused}
    values = {users: measured_excess(bracket.binding, users, trials, goal) for users in tried}
    low = min([bracket.met, *(users - 1 for users, value in values.items() if value > 0)])
    high = max([bracket.met, *(users for users, value in values.items() if value < 0)])
    if high - low <= _wanted_width(bracket.met, goal):
        return CapacityFound(bracket.met, low, high, bracket.binding, enough=True)
    near = [users for users in values if low <= users <= high + 1]
    least_measured = min(near, key=lambda users: _interactions_with(users, trials))
    answer = CapacityFound(bracket.met, low, high, bracket.binding, enough=False)
    return _longer_trial(least_measured, trials, goal, answer)


def _found_capacity(crossing: LimitCrossing, binding: int, goal: SearchGoal) -> CapacityFound:
    too_few = goal.fewest_users - 1
    users = max(math.floor(crossing.users), too_few)
    low, high = max(math.floor(crossing.low), too_few), min(math.floor(crossing.high), goal.max_users)
    users = min(users, goal.max_users)
    width = _wanted_width(users, goal)
    is_narrow = high - low <= width and half_width(crossing) <= wanted_half_width(users, goal)
    return CapacityFound(users, min(low, users), max(high, users), binding, is_narrow, crossing)


def _wanted_width(users: int, goal: SearchGoal) -> int:
    return goal.within if goal.within is not None else max(1, round(0.02 * users))


def wanted_half_width(users: int, goal: SearchGoal) -> float:
    """The half-width of the crossing's interval at which a capacity of `users` is precise enough."""
    return NARROW_INTERVAL_RATIO * (1 + _wanted_width(users, goal))


def _has_trials_around(trials: Sequence[CapacityTrial], crossing: float) -> bool:
    """Whether there are trials on both sides of the crossing and near it."""
    near = [trial.users for trial in trials_near(trials, crossing)]
    return min(near, default=math.inf) <= crossing <= max(near, default=-math.inf)


def _only_untried(trials: Sequence[CapacityTrial], goal: SearchGoal, bracket: _UserBracket) -> int:
    """The only number of users between the ends of a bracket, if it was not tried; else 0."""
    middle = bracket.met + 1
    is_single = not goal.live and bracket.missed == middle + 1 and middle > goal.fewest_users
    return middle if is_single and all(trial.users != middle for trial in trials) else 0


def _users_beside(trials: Sequence[CapacityTrial], goal: SearchGoal, crossing: LimitCrossing) -> int:
    """A number of users on the side of the crossing that has fewer interactions."""
    middle = crossing.users
    distance = max(1.0, min(BRACKET_SHARE * middle, half_width(crossing)))
    near = trials_near(trials, middle)
    below = sum(trial.counted for trial in near if trial.users <= middle)
    above = sum(trial.counted for trial in near if trial.users > middle)
    users = math.floor(middle - distance + 0.5) if below <= above else math.ceil(middle + distance - 0.5)
    return min(max(users, goal.fewest_users), goal.max_users)


def interactions_left(trials: Sequence[CapacityTrial], goal: SearchGoal) -> int | None:
    """Estimated number of interactions of the trials to come; None while no line through the trials has a crossing."""
    bracket = _bracket(trials, goal) if trials else None
    if bracket is None or bracket.missed is None:
        return None
    crossing_and_target = _refined_crossing(trials, goal, bracket)
    if crossing_and_target is None:
        return None
    crossing, _ = crossing_and_target
    wanted = wanted_half_width(math.floor(crossing.users), goal)
    lacking = crossing.weight * max((half_width(crossing) / wanted) ** 2 - 1, 0.0)
    return math.ceil(max(lacking, _next_interactions(goal, crossing)))


def _next_interactions(goal: SearchGoal, crossing: LimitCrossing) -> int:
    """The interactions of the next trial: as many as the line has, or fewer if that narrows the interval enough."""
    target_half_width = 0.9 * wanted_half_width(math.floor(crossing.users), goal)
    lacking = crossing.weight * max((half_width(crossing) / target_half_width) ** 2 - 1, 0.1)
    most = MOST_HOST_TRIAL_RATIO * goal.short_interactions if goal.live else goal.most_interactions
    return int(min(max(min(lacking, crossing.weight), goal.short_interactions), most))


def outcome_so_far(trials: Sequence[CapacityTrial], goal: SearchGoal, why: str) -> SearchOutcome:
    """The outcome of a search that ends before its answer is precise enough, for the reason `why`."""
    if not trials:
        return Undecided(0, None, why, 0.0)
    if not any(trial.valid for trial in trials):
        return known_range(trials, goal, why)
    bracket = _bracket(trials, goal)
    if bracket.missed is None:
        everything = bracket.met == goal.max_users
        return EveryNumberMeets(bracket.met) if everything else known_range(trials, goal, why)
    crossing_and_target = _refined_crossing(trials, goal, bracket)
    if crossing_and_target is not None:
        found = _found_capacity(*crossing_and_target, goal)
        return found if found.enough else replace(found, why=why)
    known = known_range(trials, goal, why)
    if known.high == known.low > 0 and known.confidence == RANGE_CONFIDENCES[0]:
        return CapacityFound(known.low, known.low, known.low, bracket.binding, enough=True)
    return known
