"""The remarks of lists: a run has them where its report warns, in `loadgo runs`, in a history and in the laboratory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.documents.table import Table
from loadgo.laboratory.lab_view import LaboratoryView
from loadgo.laboratory.run_index import open_index
from loadgo.measures.run_remarks import run_remarks
from loadgo.measures.run_warnings import facts_of, run_warnings
from loadgo.records.phases import stretch_of
from loadgo.records.runs import read_run
from loadgo.records.tables import load_tables, tables
from loadgo.reporting.lists.run_list import run_document
from support.made_laboratory import FIRST_START, made_run
from support.places import TESTS

REPORTED = sorted(path.parent for path in (TESTS / "runs" / "reported").glob("*/run.toml"))


@pytest.mark.parametrize("folder", REPORTED, ids=lambda folder: folder.name)
def test_a_run_has_the_remark_on_other_work_where_its_report_warns_of_it(folder: Path) -> None:
    whole = tables(folder)
    warnings = " ".join(run_warnings(facts_of(whole, stretch_of(whole))))
    remarks = run_remarks(load_tables(folder))
    assert ("other work" in remarks) == ("busy with other things" in warnings)
    assert ("INVALID" in remarks) == ("INVALID" in warnings)


def _limited_and_late(folder: Path) -> None:
    """Three made runs: a good one, one with limits, and one whose driver was late."""
    made_run(folder / "good", FIRST_START, 1.0)
    limited = made_run(folder / "limited", FIRST_START + timedelta(hours=1), 2.0)
    with (limited / "run.toml").open("a") as file:
        file.write("[limit]\ncpus = 0.4\nmemory_bytes = 512000000\n")
    late = made_run(folder / "late", FIRST_START + timedelta(hours=2), 1.0) / "interactions.parquet"
    early = pl.col("sent_ns") - 500_000_000
    pl.read_parquet(late).with_columns(planned_ns=early).write_parquet(late)


def test_limits_and_a_late_driver_are_in_the_list_of_runs_which_says_what_they_mean(tmp_path: Path) -> None:
    _limited_and_late(tmp_path)
    runs = [read_run(tmp_path / name) for name in ("good", "limited", "late")]
    document = run_document(runs)
    (table,) = document.sections
    assert isinstance(table, Table)
    column = next(column for column in table.columns if column.heading == "remarks")
    assert column.cells == ("", "limit memory=512 MB", "INVALID")
    assert column.below == ("", "limit cpus=0.4", "")
    assert document.about[0].startswith("Remarks: INVALID: the driver was late")
    assert run_document(runs[:2]).about == ("Remarks: Limit: the users were held to it.",), "no run is INVALID"
    without = run_document(runs[:1])
    (alone,) = without.sections
    assert isinstance(alone, Table)
    assert "remarks" not in [column.heading for column in alone.columns]
    assert without.about == ()


def test_a_history_and_the_laboratory_have_the_remarks_and_the_history_warns(tmp_path: Path) -> None:
    _limited_and_late(tmp_path)
    past = loadgo.history("p90", runs=tmp_path)
    text = " ".join(str(past.report("text")).split())
    assert [point.remarks for point in past.points] == ["", "limit memory=512 MB, limit cpus=0.4"]
    assert text.startswith("1 of 2 runs has a remark, such as other work of the host or a limit: a change may come")
    index = open_index(tmp_path)
    index.read_figures(index.runs)
    rows = {row["name"]: row["remarks"] for row in LaboratoryView(index).listed()["runs"]}
    assert rows == {"good": "", "limited": "limit memory=512 MB, limit cpus=0.4", "late": "INVALID"}
