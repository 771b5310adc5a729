"""The figures of rows, by hand: the interval of independent interactions, rows of few answers, and rows of the JSON."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.comparison.compare import of_sides, side_of
from loadgo.comparison.side import Side
from loadgo.comparison.thresholds import Threshold
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


def test_a_mean_interaction_has_the_mean_of_both_mixes_and_each_command_its_own_mean() -> None:
    """A types both commands as often, B types `compile` in a third of its passes alone."""
    a, b = (side(name, seed, {"edit": 1.0, "compile": 2.0}) for seed, name in enumerate("ab"))
    b = replace(b, rows=b.rows.filter((b.rows["command"] == "edit") | (b.rows["pass"] % 3 == 1)))
    counts = [len(b.rows.filter(b.rows["command"] == name)) for name in ("edit", "compile")]
    mix = [(1 / 2 + count / sum(counts)) / 2 for count in counts]
    members = json.loads(str(of_sides(a, b, by="command").report("json")))
    assert [row["label"] for row in members["commands"]] == ["edit", "compile"]
    for key, rows in (("before", a.rows), ("after", b.rows)):
        means = [rows.filter(rows["command"] == name)["response"].mean() for name in ("edit", "compile")]
        assert [row["measures"]["response"][key] for row in members["commands"]] == pytest.approx(means)
        weighted = sum(share * mean for share, mean in zip(mix, means, strict=True))  # type: ignore[operator]
        assert members["whole"]["response"][key] == pytest.approx(weighted)


def test_the_json_has_the_commands_of_sides_that_are_compared_line_by_line() -> None:
    a, b = (side(name, seed, {"edit": 1.0, "compile": 2.0}, passes=6) for seed, name in enumerate("ab"))
    compared = of_sides(a, b, by="line")
    assert compared.rows.by == "line"
    commands = json.loads(str(compared.report("json")))["commands"]
    assert [row["label"] for row in commands] == ["edit", "compile"]
    means = [a.rows.filter(a.rows["command"] == name)["response"].mean() for name in ("edit", "compile")]
    assert [row["measures"]["response"]["before"] for row in commands] == pytest.approx(means)


@pytest.mark.parametrize("key", ["pass", "line"])
def test_passes_and_lines_of_a_printed_table_are_numbered_from_one_as_those_of_runs(key: str) -> None:
    numbers = side_of("mpl-16:ctss").rows[key].unique().sort().to_list()
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_throughput_is_the_users_of_a_run_over_the_mean_time_from_prompt_to_prompt() -> None:
    """Eight users who take 10 s, and twice 8 users who take 6 s and 10 s in turns: 0.8/s and 1/s."""
    shape = (PASSES, USERS)
    turns_s = np.where(np.arange(PASSES) % 2, 6.0, 10.0)[:, None] + np.zeros(USERS)
    made = even_side("a", 1, 2e9, 0.1)
    a = replace(made, rows=rows_of_run(0, 1, np.full(shape, 2e9), "edit", cycle=np.full(shape, 10e9)))
    runs = [rows_of_run(run, run, np.full(shape, 2e9), "edit", cycle=1e9 * turns_s) for run in (0, 1)]
    b = replace(made, name="b", rows=pl.concat(runs), tables=made.tables * 2, stretches=made.stretches * 2)
    throughput = of_sides(a, b, by="command").rows.whole["throughput"]
    assert (throughput.before, throughput.after) == pytest.approx((0.8, 1.0))
    assert throughput.relative == pytest.approx(0.25)


@pytest.mark.parametrize(("percent", "is_failed"), [(40.0, True), (60.0, False)])
def test_a_failed_threshold_stands_over_the_page_with_its_figure(percent: float, is_failed: bool) -> None:
    sides = even_side("a", 1, 2e9, 0.1), even_side("b", 2, 3e9, 0.1)
    compared = of_sides(*sides, by="command", thresholds=[Threshold("response", percent)])
    warnings = [text for text in json.loads(str(compared.report("json")))["warnings"] if text.startswith("Failed")]
    assert warnings == (["Failed: response is 50.0 % more: worse by more than 40 %."] if is_failed else [])


def test_one_machine_with_the_same_users_on_both_sides_differs_by_nothing() -> None:
    same = side("a", 1, {"edit": 1.0, "compile": 2.0})
    response = of_sides(same, replace(same, name="b")).rows.whole["response"]
    assert response.interval is not None
    assert (response.interval.low, response.interval.high) == pytest.approx((0.0, 0.0), abs=1e-3)
