"""Processor time and waits that rise together are told, with how much more their sum varies."""

import numpy as np
import polars as pl
import pytest
from loadgo.fitting.dependence import dependence_words, dependences

INTERACTIONS = 2_000


def interactions(together: float, seed: int = 1) -> tuple[pl.DataFrame, np.ndarray]:
    """Interactions of `cc`, whose two exponential parts share this part of their lengths, and of `ls`, whose do not."""
    draws = np.random.default_rng(seed)
    shared, own, other = draws.exponential(1e8, (3, INTERACTIONS))
    names = ["cc"] * INTERACTIONS + ["ls"] * INTERACTIONS
    cpu = np.concatenate([shared, draws.exponential(1e8, INTERACTIONS)])
    rows = pl.DataFrame({"command": names, "cpu": cpu, "run": [0] * len(names)})
    waits = together * shared + (1 - together) * own
    return rows, np.concatenate([waits, other])


def test_parts_that_are_equal_have_twice_the_variance_of_independent_ones() -> None:
    (found,) = dependences(*interactions(1.0))
    assert (found.command, found.variance_ratio) == ("cc", pytest.approx(2.0))
    (words,) = dependence_words([found], "disk waits")
    assert "`cc` (their sum has 2.00 times the variance, so its longest responses are predicted too short)" in words


def test_parts_of_which_one_falls_as_the_other_rises_vary_less_together() -> None:
    rows, waits = interactions(1.0)
    is_cc = (rows["command"] == "cc").to_numpy()
    (found,) = dependences(rows, np.where(is_cc, np.maximum(3e8 - waits, 0.0), waits))
    assert found.variance_ratio < 0.6
    (words,) = dependence_words([found], "disk waits")
    assert "predicted too long" in words


@pytest.mark.parametrize("seed", range(20))
def test_independent_parts_and_few_interactions_are_not_told(seed: int) -> None:
    rows, waits = interactions(0.0, seed)
    assert dependences(rows, waits) == []
    few, few_waits = interactions(1.0, seed)
    assert dependences(few.head(20), few_waits[:20]) == []
    assert dependences(rows, np.zeros(len(rows))) == []
    assert dependence_words([], "disk waits") == ()


@pytest.mark.parametrize("seed", range(5))
def test_runs_that_differ_in_both_are_no_dependence(seed: int) -> None:
    rows, waits = interactions(0.0, seed)
    second = np.random.default_rng(seed).random(len(rows)) < 0.5
    slower = rows.with_columns(cpu=np.where(second, 4.0, 1.0) * rows["cpu"].to_numpy(), run=second.astype(np.int64))
    assert dependences(slower, np.where(second, 5.0, 1.0) * waits) == []
