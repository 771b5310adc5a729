"""Figures of a side and of what bounds a verdict, each computed by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from loadgo.comparison.between_runs import between_runs_of
from loadgo.comparison.cells import ResampledRows
from loadgo.comparison.compare import of_sides, side_of
from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Matched, _waits
from loadgo.comparison.thresholds import Threshold, _judged
from loadgo.comparison.unanswered import MOST_TIMES_WAITED, added_by_unanswered
from loadgo.stats.interval import Interval
from support.live_sides import PASSES, USERS, side
from support.run_files import written_run
from support.synthetic import interaction, run_of


def test_the_throughput_of_a_side_is_its_interactions_over_the_time_of_its_runs() -> None:
    # Each run of such a side has 1000 s.
    assert side(1, [1.0]).interactions_per_second == pytest.approx(USERS * PASSES / 1000, rel=1e-12)
    assert side(1, [1.0, 1.0]).interactions_per_second == pytest.approx(USERS * PASSES / 1000, rel=1e-12)
    assert replace(side(1, [1.0]), stretches=()).interactions_per_second is None


def test_a_run_is_as_many_waits_long_however_many_runs_a_side_has() -> None:
    made = side(1, [1.0])
    one = replace(made, rows=made.rows.with_columns(pl.lit(None, pl.Float64).alias("ready wait"), cpu=pl.lit(0.5e9)))
    # A run of such a side takes 1000 s. A wait is a response without its half second of a processor.
    mean_wait_s = made.rows["response"].mean() / 1e9 - 0.5  # type: ignore[operator]
    assert _waits(one) == pytest.approx(1000 / mean_wait_s, rel=1e-12)
    twice = replace(one, stretches=one.stretches * 2)
    assert _waits(twice) == pytest.approx(_waits(one), rel=1e-12)
    longer = tuple(replace(stretch, end_ns=3 * stretch.end_ns) for stretch in one.stretches)
    assert _waits(replace(one, stretches=longer)) == pytest.approx(3 * _waits(one), rel=1e-12)


def test_only_live_runs_count_as_runs_that_may_drift() -> None:
    host, machine = side(1, [1.0, 1.0]), side(4, [1.0, 1.0, 1.0], kind="machine")
    assert between_runs_of(machine, host, runs_are_drawn=False).live_runs == (0, 2)
    assert between_runs_of(host, machine, runs_are_drawn=False).live_runs == (2, 0)


def test_a_wait_that_a_simulated_side_lacks_has_no_allowance_for_the_drift_of_the_other() -> None:
    """No share of nothing is known, however much the runs of the host differ."""
    host = side(1, [1.0, 1.02, 0.98, 1.0, 1.02, 0.98])
    waits = pl.col("ready wait") + pl.col("response") / 4
    host = replace(host, rows=host.rows.with_columns(waits.alias("ready wait")))
    whole = of_sides(side(9, [1.0], kind="machine"), host).rows.whole
    assert whole["response"].drift == "allowed"
    wait = whole["ready wait"]
    assert (wait.before, wait.relative, wait.drift) == (0.0, None, "not known")
    assert wait.after == pytest.approx(host.rows["response"].mean() / 4)  # type: ignore[operator]


def test_like_runs_whose_starts_are_not_known_show_the_drift_all_the_same() -> None:
    made = [side(first, [1.0, 1.02, 0.98]) for first in (1, 4)]
    for one in made:
        for tables in one.tables:
            tables.conditions.pop("started")
    compared = of_sides(*made)
    assert compared.rows.between.reason == ""
    assert compared.rows.whole["response"].drift == "allowed"


def test_a_side_is_described_with_the_number_of_its_runs_if_it_has_several() -> None:
    compared = of_sides(side(1, [1.0, 1.02, 0.98]), side(4, [1.0]))
    text = " ".join(str(compared.report("text", width=200, full=True)).split())
    assert "A: s, a host: , 3 runs" in text
    assert "1 runs" not in text


def test_moments_of_a_side_run_from_the_first_sending_to_the_last(tmp_path: Path) -> None:
    """Lines of 1 s that are sent at 5, 10, and 15 s."""
    rows = [interaction(1, at, 1.0) for at in (5.0, 10.0, 15.0)]
    found = side_of(str(written_run(tmp_path / "run", run_of(rows, users=1)))).rows
    assert found["moment"].to_list() == pytest.approx([0.0, 0.5, 1.0])
    assert found["end"].to_list() == pytest.approx([0.1, 0.6, 1.1])


@pytest.mark.parametrize(("most_worse", "failed"), [(0.0497, False), (0.0503, None)])
def test_a_threshold_is_open_only_if_unanswered_lines_may_take_the_difference_over_it(
    most_worse: float, failed: bool | None
) -> None:
    response = Difference(
        "response", 100.0, 101.0, Interval(0.5, 1.5), by_unanswered=Interval(0.0, 100 * most_worse - 1)
    )
    rows = Matched("line", True, "user", (4, 4), (), {"response": response}, (), None)
    assert _judged(Threshold("response", 5.0), rows).failed is failed


def test_lines_without_an_answer_add_what_they_would_have_taken_less_what_they_count_as() -> None:
    # Before, half of the lines had no answer after 6 s; after, one in four after 4 s. Answers took 2 s and 3 s.
    before = pl.DataFrame({"row": [0, 0], "response": [2.0, None], "waited": [None, 6.0]})
    after = pl.DataFrame({"row": [0, 0, 0, 0], "response": [3.0, 3.0, 3.0, None], "waited": [None, None, None, 4.0]})
    nothing = {"squares": {}, "counts": {}, "weights": np.ones((1, 1)), "units": 1, "unit_indices": np.zeros(1, int)}
    sides = tuple(ResampledRows(means={"response": np.array([[mean]])}, **nothing) for mean in (2.0, 3.0))  # type: ignore[arg-type]
    added = added_by_unanswered((before, after), sides, 1)  # type: ignore[arg-type]
    assert added is not None
    # The share that A leaves more, 1/4, has taken 6 s at least: the change becomes lower by that, and by up to more.
    assert added.most == pytest.approx([-0.25 * (6.0 - 2.0)])
    assert added.least == pytest.approx([-0.25 * (MOST_TIMES_WAITED * 6.0 - 2.0)])
    other = added_by_unanswered((after, before), sides[::-1], 1)  # type: ignore[arg-type]
    assert other is not None
    assert other.least == pytest.approx([0.25 * (6.0 - 2.0)])
    assert other.most == pytest.approx([0.25 * (MOST_TIMES_WAITED * 6.0 - 2.0)])
