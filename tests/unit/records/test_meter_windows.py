"""Rows of the sampled meters' windows, for the stretches for which the windows stand."""

import polars as pl
from loadgo.records.meter_windows import stretched
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns


def faults_of(count: int, at_ns: int) -> pl.DataFrame:
    """A row of the table `faults`, of a window of 50 ms."""
    row = {"at_ns": at_ns, "span_ns": 50, "kind": "minor", "count": count, "cpu_ns": 7 * count}
    return with_columns(pl.DataFrame([row]), COLUMNS_BY_TABLE["faults"])


def windows_at(at_ns: int) -> pl.DataFrame:
    """A window that stands for twenty times its length."""
    row = {"at_ns": at_ns, "span_ns": 50, "stretch_ns": 1000, "busy_ns": 40, "cost_ns": 1}
    return with_columns(pl.DataFrame([row]), COLUMNS_BY_TABLE["meter_windows"])


def test_counts_and_times_are_those_of_the_stretch() -> None:
    (row,) = stretched(faults_of(3, 90), windows_at(90)).to_dicts()
    assert (row["count"], row["cpu_ns"], row["span_ns"], row["wait_ns"]) == (60, 420, 1000, None)


def test_rows_of_other_meters_stay() -> None:
    faults = faults_of(3, 90)
    assert stretched(faults, windows_at(90).clear()).equals(faults)
    assert stretched(faults, windows_at(7)).to_dicts() == faults.to_dicts()
