"""Counts in a watched window: in bins of a second or of ten answers, spread over the window's columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from loadgo.watching.series import binned_rates, bins_of
from loadgo.watching.window import window_of
from support.synthetic import S, interaction, run_of


@pytest.mark.parametrize(
    ("width_s", "answers", "bins"), [(60, 30, 6), (60, 300, 30), (60, 6000, 60), (3, 300, 3), (0.5, 300, 1)]
)
def test_a_bin_is_a_second_or_longer_and_has_ten_answers_on_the_mean(width_s: float, answers: int, bins: int) -> None:
    assert bins_of(answers / (width_s * S), width_s * S, 600) == bins


def test_bins_are_no_more_than_columns() -> None:
    assert bins_of(1e-3, 100 * S, 40) == 40


def test_a_bin_fills_its_columns_and_the_mean_is_that_of_the_counts() -> None:
    edges = np.linspace(0.0, 10.0 * S, 101)
    rates = binned_rates(np.array([0.5, 1.0, 1.5, 10.0]) * S, np.array([1.0, 1.0, 4.0, 2.0]), edges, 10)
    assert rates[:10] == pytest.approx(2.0)
    assert rates[10:20] == pytest.approx(4.0)
    assert rates[90:] == pytest.approx(2.0)
    assert rates.mean() == pytest.approx(8.0 / 10.0)


def test_faults_of_interactions_are_counted_in_the_bins_of_answers() -> None:
    rows = [interaction(1, at, 0.1) for at in np.linspace(1, 59, 120)]
    run = run_of(rows)
    counts = {"faults_minor": pl.lit(30, pl.UInt32), "faults_major": pl.lit(0, pl.UInt32)}
    window = window_of(run_of(run.interactions.with_columns(**counts).to_dicts()), 60 * S, 60 * S, 600)
    assert window.faults.max() < 4 * window.faults.mean()
    assert window.faults.mean() == pytest.approx(120 * 30 / 60)
    assert len(np.unique(window.faults.round(6))) <= 24
    assert window.major.max() == 0
