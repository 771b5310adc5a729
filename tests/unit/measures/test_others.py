"""The share of other programs in a host's processor time, and the warnings about it."""

import dataclasses

import polars as pl
import pytest
from loadgo.comparison.compare import of_sides
from loadgo.comparison.document import comparison_document
from loadgo.comparison.side import side_of_runs
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.words import warnings
from support.synthetic import closed_loop


def beside(others: float, category: str = "user") -> Tables:
    """A run whose users have a sixth of the host, while something else has this share of it."""
    run = closed_loop(10, 20)
    moved = (pl.col("span_ns") * others).cast(pl.Int64)
    name = pl.col("category").cast(pl.String)
    time = pl.when(name == category).then(pl.col("time_ns") + moved).otherwise(pl.col("time_ns").cast(pl.Int64))
    time = pl.when(name == "idle").then(pl.col("time_ns") - moved).otherwise(time)
    return dataclasses.replace(run, time=run.time.with_columns(time_ns=time.cast(pl.UInt64)))


def others_share(run: Tables) -> float:
    """The measured share."""
    total = summarize(run).total_time
    assert total is not None
    assert total.others_share is not None
    return total.others_share


def test_others_have_what_belongs_to_nobody_and_is_not_the_kernels_own() -> None:
    none = others_share(beside(0.0))
    assert none < 0.01
    assert others_share(beside(0.2)) == pytest.approx(none + 0.2, abs=0.001)
    assert others_share(beside(0.2, "softirq")) == pytest.approx(none, abs=0.001)


def test_the_report_warns_of_a_tenth_whatever_the_users_have() -> None:
    assert warnings(summarize(beside(0.08))) == []
    (warning,) = warnings(summarize(beside(0.12)))
    assert warning.startswith("The host was busy with other things: 12.6 % of its processors' time")


def test_a_comparison_names_the_side_that_was_busy() -> None:
    quiet, busy = (
        side_of_runs(name, (beside(others),), "steady", "default", {}) for name, others in (("a", 0.0), ("b", 0.2))
    )
    shown = comparison_document(of_sides(quiet, busy)).warnings
    assert [line[:47] for line in shown] == ["b: the host was busy with other things, which h"]
