"""The figures of rows, by hand: the interval of independent interactions, rows of few answers, and rows of the JSON."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from loadgo.comparison.compare import of_sides
from loadgo.comparison.side import Side
from scipy import stats
from support.compared_rows import rows_of_run, side

USERS = PASSES = 8


def even_side(name: str, seed: int, mean_ns: float, share: float) -> Side:
    """A side whose interactions take a share more and less than the mean in turn, for each user and in each pass."""
    signs = (-1.0) ** np.add.outer(np.arange(PASSES), np.arange(USERS))
    made = side(name, seed, {"edit": 1.0})
    return replace(made, rows=rows_of_run(0, seed, mean_ns * (1 + share * signs), "edit"))


def test_users_and_stretches_that_are_alike_leave_the_interval_of_independent_interactions() -> None:
    """The mean of n interactions that deviate by a share c has the relative variance c² / (n - 1)."""
    response = of_sides(even_side("a", 1, 2e9, 0.5), even_side("b", 2, 3e9, 0.25), by="command").rows.whole["response"]
    degrees = USERS * PASSES - 1
    variances = [share**2 / degrees for share in (0.5, 0.25)]
    welch = sum(variances) ** 2 / sum(variance**2 / degrees for variance in variances)
    reach = stats.t.ppf(0.975, welch) * math.sqrt(sum(variances))
    assert response.interval is not None
    assert response.interval.low == pytest.approx(3e9 * math.exp(-reach) - 2e9, rel=1e-3)
    assert response.interval.high == pytest.approx(3e9 * math.exp(reach) - 2e9, rel=1e-3)


@pytest.mark.parametrize("few", ["a", "b"])
def test_a_command_that_one_side_hardly_typed_has_figures_without_an_interval(few: str) -> None:
    """The other command, and all interactions together, have one."""
    sides = [side(name, seed, {"edit": 1.0, "compile": 2.0}) for seed, name in enumerate("ab")]
    rows = sides["ab".index(few)].rows
    kept = rows.filter((rows["command"] == "edit") | (rows["pass"] == 1) & (rows["user"] == 1))
    sides["ab".index(few)] = replace(sides["ab".index(few)], rows=kept)
    found = {row.label: row for row in of_sides(sides[0], sides[1], by="command").rows.rows}
    assert min(found["compile"].counts or ()) == 1
    assert found["compile"].measures["response"].change is not None
    assert found["compile"].measures["response"].interval is None
    assert found["edit"].measures["response"].interval is not None
    assert found["a mean interaction"].measures["response"].interval is not None


def test_the_json_has_each_command_once_and_no_total_among_them() -> None:
    sides = [side(name, seed, {"edit": 1.0, "compile": 2.0}) for seed, name in enumerate("ab")]
    members = json.loads(str(of_sides(sides[0], sides[1]).report("json")))
    assert [row["label"] for row in members["commands"]] == ["edit", "compile"]
    for row in members["commands"]:
        mean = sides[0].rows.filter(sides[0].rows["command"] == row["label"])["response"].mean()
        assert row["measures"]["response"]["before"] == pytest.approx(mean)


def test_one_machine_with_the_same_users_on_both_sides_differs_by_nothing() -> None:
    same = side("a", 1, {"edit": 1.0, "compile": 2.0})
    response = of_sides(same, replace(same, name="b")).rows.whole["response"]
    assert response.interval is not None
    assert (response.interval.low, response.interval.high) == pytest.approx((0.0, 0.0), abs=1e-3)
