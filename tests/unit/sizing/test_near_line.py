"""The line near a crossing: which trials it includes, on a curve that is straight near its limit and bends farther."""

import math
from dataclasses import replace

import numpy as np
import pytest
from loadgo.sizing.search.crossing import crossing_of
from loadgo.sizing.search.near_line import find_crossing
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.search import next_step
from loadgo.sizing.search.trials import BatchSums, CapacityTrial
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial

TARGETS = parse_targets("mean < 2s")
GOAL = SearchGoal(TARGETS, 200, None, 200_000, 40, live=False)
CROSSING, SLOPE = 100.5, 0.05
NEAR, FAR = (92, 96, 100, 104, 109), (82, 119)


def trial(users: int, bend: float, scatter: float) -> CapacityTrial:
    """A trial of twelve batches, whose means scatter by a share about e^(slope × distance + bend) times the limit."""
    mean_s = 2.0 * math.exp(SLOPE * (users - CROSSING) + bend)
    shares = 1 + scatter * np.array([-1.0, 1.0] * 6)
    return replace(made_trial(users, 60, 0.0, users), tallies=(BatchSums(10 * mean_s * shares, np.full(12, 10.0)),))


def curve(scatter: float, far_scatter: float) -> list[CapacityTrial]:
    """Trials on a straight line near the crossing; those that are farther are slower than the line by 8 %."""
    near = [trial(users, 0.0, scatter) for users in NEAR]
    return [*near, *(trial(users, 0.08, far_scatter) for users in FAR)]


def test_a_bend_far_from_the_crossing_does_not_move_it() -> None:
    """All trials together would cross about 0.46 users lower: 2/7 of the bend over the slope."""
    trials = curve(0.2, 0.2)
    whole = crossing_of(TARGETS[0], [each.users for each in trials], [each.tallies[0] for each in trials])
    assert whole is not None
    assert whole.users == pytest.approx(CROSSING - 0.08 / SLOPE * 2 / 7, abs=0.05)
    found = find_crossing(trials, GOAL, 100.0)
    assert found is not None
    assert found[0].users == pytest.approx(CROSSING, abs=0.001)
    near = crossing_of(TARGETS[0], NEAR, [each.tallies[0] for each in trials[: len(NEAR)]])
    assert near is not None
    assert (found[0].low, found[0].high) == pytest.approx((near.low, near.high))


@pytest.mark.parametrize(("scatter", "far_scatter"), [(0.8, 0.8), (0.02, 0.5)])
def test_all_trials_count_where_the_crossing_is_uncertain_or_near_ones_agree_by_chance(
    scatter: float, far_scatter: float
) -> None:
    """Six half-widths of a wide interval reach all trials. A narrower interval of fewer trials is no better one."""
    trials = curve(scatter, far_scatter)
    whole = crossing_of(TARGETS[0], [each.users for each in trials], [each.tallies[0] for each in trials])
    found = find_crossing(trials, GOAL, 100.0)
    assert whole is not None
    assert found is not None
    assert found[0].users == pytest.approx(whole.users)
    assert (found[0].low, found[0].high) == pytest.approx((whole.low, whole.high))


def test_the_line_reaches_as_far_from_its_own_crossing_as_from_that_of_all_trials() -> None:
    """All trials cross at 101.6, a tenth of which reaches down to 91.4; the line of these crosses at 100.5.

    From the middle of both, a line of the same upper end reaches down to 90.3: it includes 91 users, but not 88.
    """
    trials = [trial(users, 0.0, 0.2) for users in (88, 91, *NEAR)] + [trial(users, -0.25, 0.2) for users in (83, 118)]
    whole = crossing_of(TARGETS[0], [each.users for each in trials], [each.tallies[0] for each in trials])
    assert whole is not None
    assert whole.users == pytest.approx(101.6, abs=0.02)
    found = find_crossing(trials, GOAL, 100.0)
    assert found is not None
    assert found[0].users == pytest.approx(CROSSING, abs=0.001)
    assert found[0].weight == pytest.approx(120 * len((91, *NEAR)))


@pytest.mark.parametrize(("users", "following"), [(4, 12), (20, 40), (36, 45), (48, 60)])
def test_a_host_far_below_its_limit_has_more_users_by_the_time_that_it_is_busy(users: int, following: int) -> None:
    """At 50 users the processors are full and p90 is about at its limit: 49.7 by the asymptotes.

    From 4 users the search goes to three times as many; from 20 to 0.8 × 49.7; from there on to 1.25 times as many.
    """
    goal = SearchGoal(parse_targets("p90 < 1s"), 100, None, 200_000, 40, live=True)
    found = next_step([made_trial(users, 400, 0.0, 1)], goal)
    assert (found.users, found.interactions) == (following, 200)  # type: ignore[union-attr]


@pytest.mark.parametrize(("users", "following"), [(10, 20), (20, 25)])
def test_a_limit_of_busy_time_is_reached_with_users_in_proportion(users: int, following: int) -> None:
    """With 50 users the processors are full, so with 25 they are half busy; a host has 0.8 of these, or 1.25 times."""
    goal = SearchGoal(parse_targets("busy < 50%"), 100, None, 200_000, 40, live=True)
    found = next_step([made_trial(users, 400, 0.0, 1)], goal)
    assert found.users == following  # type: ignore[union-attr]
