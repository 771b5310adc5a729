"""Answers with a known truth: a jump beside a line, the crossing of a limit, utilisations, and growing demands."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.records.phases import Stretch
from loadgo.sizing.knobs.search import KnobTrial, standing_of
from loadgo.sizing.models.basis import UserClassModel, solve_networks
from loadgo.sizing.models.demands import Demand
from loadgo.sizing.resources import busy_spans, utilisations
from loadgo.sizing.search.outcomes import CapacityFound, SearchGoal
from loadgo.sizing.search.search import outcome_so_far
from loadgo.sizing.search.trials import BatchSums
from loadgo.sizing.targets import parse_targets
from support.made_knobs import KNOB
from support.made_trials import made_trial
from support.synthetic import Work, closed_loop


def test_a_jump_between_neighbours_is_the_answer_though_a_line_beyond_it_crosses_beside() -> None:
    """No line of 10 users is slow, and 15 % of those of 11; the shares above fall on a line that begins at 10.5."""
    goal = SearchGoal(parse_targets("p90 < 1s"), 100, None, 200_000, 40, live=False)
    slow = {5: 0.0, 10: 0.0, 11: 0.15, 12: 0.3, 13: 0.5, 14: 0.7}
    trials = [made_trial(users, 4000, share, users) for users, share in slow.items()]
    assert outcome_so_far(trials, goal, "") == CapacityFound(10, 10, 10, 0, enough=True)


@pytest.mark.parametrize(("side", "sense"), [("at most", 1), ("at least", -1)])
def test_the_crossing_of_a_limit_is_where_its_power_law_meets_the_target(side: str, sense: int) -> None:
    """The mean is 2 s with 3 processors, and in proportion to them or to their inverse."""
    goal = SearchGoal(parse_targets("mean < 2s"), 60, None, 1, 16, live=True)
    trials = [
        KnobTrial(
            value,
            replace(
                made_trial(60, 60, 0.0, 1),
                tallies=(BatchSums(np.full(12, 20 * (value / 3) ** sense), np.full(12, 10.0)),),
            ),
        )
        for value in (0.75, 1.5, 2.5, 3.5, 6.0, 8.0)
    ]
    standing = standing_of(KNOB, trials, goal)
    assert standing.side == side
    assert standing.crossing is not None
    assert standing.crossing.users == pytest.approx(3.0, rel=1e-3)
    assert standing.crossing.low < 3.0 < standing.crossing.high
    for end in (standing.crossing.low, standing.crossing.high):
        assert abs(math.log(end / 3)) < 1


def test_the_utilisation_of_a_store_is_its_busy_time_over_that_of_all_its_servers() -> None:
    """Two spans of 1 s of a store with two servers: 0.5 s and 0.9 s of 4 s. Requests and queues are no busy time."""
    run = closed_loop(2, 5, [Work("edit", 0.1)])
    rows = [
        (at, 1_000_000_000, name, measure, value)
        for at, busy in ((1_000_000_000, 5e8), (2_000_000_000, 9e8))
        for name, measure, value in (("disk", "busy_ns", busy), ("disk", "requests", 40.0), ("tape", "busy_ns", busy))
    ]
    names = ("at_ns", "span_ns", "queue", "measure", "value")
    table = pl.DataFrame(dict(zip(names, zip(*rows, strict=True), strict=True)))
    queue = pl.DataFrame(
        {name: table[name] if name in names else pl.Series([None] * len(table)) for name in run.queue.schema}
    ).cast(run.queue.schema)  # type: ignore[arg-type]
    whole = Stretch("all", 0, 10_000_000_000, 0, 0, 0, 0, None)
    spans = busy_spans(replace(run, queue=queue), whole, {"processors": 2, "disk": 2, "tape": None})
    assert utilisations({"disk": spans["disk"]}) == pytest.approx({"disk": 1.4 / 4})
    assert "tape" not in spans, "a store with any number of servers cannot saturate"


def test_one_demand_that_grows_is_solved_for_each_number_of_users() -> None:
    """Alone, a user waits for both demands: 0.1 s with one user, though it is 0.4 s with ten, and 0.2 s."""
    growing = Demand("processors", 1, 0.2, ((1, 0.1), (10, 0.4)), grows=True)
    steady = Demand("disk", 1, 0.2, ((1, 0.2), (10, 0.2)), grows=False)
    network = solve_networks([UserClassModel("users", 1, 5.0, 1.0, 0.0)], [growing, steady], 40)
    assert network(1).response_s([1]) == pytest.approx((0.3,))
    assert network(10).utilisation([10])["processors"] == pytest.approx(network(10).throughput([10])[0] * 0.4)
