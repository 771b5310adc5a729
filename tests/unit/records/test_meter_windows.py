"""Rows of the sampled meters' windows, for the stretches for which the windows stand."""

import polars as pl
from loadgo.records.meter_windows import stretched, window_parts
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns


def faults_of(count: int, at_ns: int) -> pl.DataFrame:
    """A row of the table `faults`, of a window of 50 ms."""
    row = {"at_ns": at_ns, "span_ns": 50, "kind": "minor", "count": count, "cpu_ns": 7 * count}
    return with_columns(pl.DataFrame([row]), COLUMNS_BY_TABLE["faults"])


def windows_at(*ends_ns: int) -> pl.DataFrame:
    """Windows of 50 ns, each for 1000."""
    rows = [{"at_ns": at, "span_ns": 50, "stretch_ns": 1000, "busy_ns": 40, "cost_ns": 1} for at in ends_ns]
    return with_columns(pl.DataFrame(rows), COLUMNS_BY_TABLE["meter_windows"])


def test_counts_and_times_are_those_of_the_part_of_the_run() -> None:
    (row,) = stretched(faults_of(3, 1025), windows_at(525, 1025, 2025)).to_dicts()
    assert (row["at_ns"], row["span_ns"]) == (1500, 750)
    assert (row["count"], row["cpu_ns"], row["wait_ns"]) == (3 * 15, 21 * 15, None)


def test_parts_neither_overlap_nor_leave_gaps() -> None:
    parts = window_parts(windows_at(525, 625, 2025, 2900)).to_dicts()
    ends = [part["at_ns"] for part in parts]
    begins = [part["at_ns"] - part["span_ns"] for part in parts]
    assert begins == [0, *ends[:-1]]
    assert ends[-1] == 2875 + 500


def test_rows_of_other_meters_stay() -> None:
    faults = faults_of(3, 90)
    assert stretched(faults, windows_at(90).clear()).equals(faults)
    assert stretched(faults, windows_at(7)).to_dicts() == faults.to_dicts()
