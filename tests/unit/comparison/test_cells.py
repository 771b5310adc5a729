"""Sums by unit and row, worked out by hand: the means of resamples, and what is counted in stretches."""

import numpy as np
import polars as pl
import pytest
from loadgo.comparison.cells import (
    Cells,
    by_stretch,
    by_unit,
    cells_of,
    count_spreads,
    in_counterpart_stretches,
    paired_cells,
    quantiles_of,
    with_stretches,
)
from loadgo.comparison.side import COMPARED_MEASURES
from loadgo.comparison.two_way import Spread
from loadgo.stats.resample import drawn


def frame(units: list[int], rows: list[int], responses: list[float | None]) -> pl.DataFrame:
    """Interactions of units in rows with these responses; other measures are not known."""
    empty = {name: pl.Series(name, [None] * len(rows), dtype=pl.Float64) for name in COMPARED_MEASURES}
    return pl.DataFrame(
        empty | {"user": units, "row": rows, "response": pl.Series(responses, dtype=pl.Float64)},
    )


def cells(sums: list[list[float]], counts: list[list[float]]) -> Cells:
    """Cells of one measure, a unit a line."""
    return Cells({"response": np.array(sums)}, {"response": np.array(counts)}, {}, len(sums), np.arange(len(sums)))


def test_cells_have_sums_counts_and_squares_about_the_mean_of_the_row() -> None:
    made = cells_of(frame([7, 7, 9, 9], [0, 1, 0, 0], [1.0, 10.0, 4.0, 7.0]), "user", 2)
    assert made.units == 2
    assert made.unit_indices.tolist() == [0, 0, 1, 1]
    assert made.sums["response"].tolist() == [[1.0, 10.0], [11.0, 0.0]]
    assert made.counts["response"].tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert made.squares["response"].tolist() == [9.0 + 0.0 + 9.0, 0.0]
    assert set(made.sums) == {"response"}


def test_an_interaction_without_a_number_counts_in_no_cell() -> None:
    made = cells_of(frame([1, 1, 2], [0, 0, 0], [1.0, float("nan"), 3.0]), "user", 1)
    assert made.counts["response"].tolist() == [[1.0], [1.0]]
    assert made.squares["response"].tolist() == [2.0]


def test_cells_that_one_side_lacks_are_cleared_on_the_other() -> None:
    a, b = paired_cells(
        cells([[1.0, 2.0], [3.0, 4.0]], [[1, 1], [1, 0]]), cells([[5.0, 6.0], [7.0, 8.0]], [[1, 0], [2, 2]])
    )
    assert a.sums["response"].tolist() == [[1.0, 0.0], [3.0, 0.0]]
    assert b.sums["response"].tolist() == [[5.0, 0.0], [7.0, 0.0]]
    assert b.counts["response"].tolist() == [[1.0, 0.0], [2.0, 0.0]]


def test_a_resample_of_units_has_the_mean_of_all_their_interactions() -> None:
    made = cells([[1.0], [2.0], [3.0], [4.0], [10.0]], [[1], [1], [1], [1], [5]])
    found, weights = by_unit(made, 5).means["response"][:, 0], drawn(5, 5)
    assert found[0] == pytest.approx(20 / 9)
    expected = (weights @ [1, 2, 3, 4, 10]) / (weights @ [1, 1, 1, 1, 5])
    assert found == pytest.approx(expected)


def test_a_resample_of_stretches_adds_residuals_about_the_mean_of_the_command() -> None:
    """The command's mean is (1 + 3 + 8) / 4 = 3. Row 0 has residuals -2 and 0 in two stretches, row 1 has 2 in one.

    Row 1 has one interaction of 5 and one of 3, so its residuals are divided by 2, and those of row 2 by 1.
    """
    sums = [[1.0, 5.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 6.0], [0.0, 0.0, 0.0]]
    counts = [[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    estimate = np.array([2.0, 4.0, 6.0])
    means = by_stretch(cells(sums, counts), {"response": estimate, "cpu": estimate}, np.array([0, 0, 1]), 5).means
    assert set(means) == {"response"}
    weights = drawn(5, 5)
    residuals = np.array([[-2.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    expected = estimate + (weights @ residuals - residuals.sum(axis=0)) / np.array([2.0, 2.0, 1.0])
    assert means["response"] == pytest.approx(expected)
    # A row with a single interaction moves by its whole residual.
    one = by_stretch(
        cells([[1.0, 0.0]] + [[0.0, 3.0]] * 4, [[1, 0]] + [[0, 1]] * 4),
        {"response": np.array([1.0, 3.0])},
        np.zeros(2, dtype=np.int64),
        5,
    )
    mean = 13 / 5
    assert one.means["response"][:, 0] == pytest.approx(1 + (weights[:, 0] - 1) * (1 - mean))


def test_stretches_are_counted_by_the_interactions_of_one_run() -> None:
    """Two runs with 36 interactions each have 36 / 9 = 4 stretches each, and eight counts have 7 degrees of freedom."""
    moments = np.tile((np.arange(36) + 0.5) / 36, 2)
    runs = np.repeat([0, 1], 36)
    one = pl.DataFrame({"moment": moments, "end": moments, "run": runs, "user": np.zeros(72, dtype=np.int64)})
    before, after = count_spreads([one, one], (True, True), np.inf)
    assert before == after == Spread(0.0, 7)
    assert with_stretches(one)["stretch"].unique().sort().to_list() == list(range(8))
    assert with_stretches(one)["stretch"].value_counts()["count"].unique().to_list() == [9]
    assert with_stretches(one, 5.0)["stretch"].n_unique() == 4


def test_a_stretch_of_an_interaction_is_that_of_its_counterpart() -> None:
    keys = {"run": [0, 0], "user": [1, 1], "pass": [1, 2], "line": [1, 1]}
    moved = in_counterpart_stretches(
        pl.DataFrame(keys | {"stretch": [0, 1]}), pl.DataFrame(keys | {"stretch": [5, 6]}).head(1)
    )
    assert moved["stretch"].to_list() == [5, 1]


def test_a_quantile_over_all_rows_needs_as_many_as_its_tail_has_one_of() -> None:
    made = frame([0] * 10, [0] * 10, [float(value) for value in range(1, 10)] + [None])
    side = by_unit(cells_of(made.with_columns(pl.col("response").fill_null(1.0)), "user", 1), 1)
    half, tenth, hundredth = quantiles_of(made, side, (0.5, 0.9, 0.99))
    assert half is not None
    assert tenth is not None
    assert half.tolist() == [5.5]
    assert np.isinf(tenth).all()
    assert hundredth is None
