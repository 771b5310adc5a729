"""Bytes of a likeness: what was observed beside what the run's script is to move, and in words what nobody knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.observation.figures_file import figures_path, read_figures
from loadgo.observation.likeness.results import ComparedBytes, Likeness
from support.accounting_records import made_day, written_accounting
from support.made_likeness import READ_A_SECOND, STORED, made_observation, made_run
from support.small_machine import laid


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script whose commands read by their processor time and write as much as `STORED` says."""
    place = tmp_path_factory.mktemp("bytes")
    made_observation(place)
    return place / "monday.toml"


def rows_of(likeness: Likeness) -> Mapping[tuple[str, str], ComparedBytes]:
    return {(row.command, row.moved): row for row in likeness.bytes}


def reasons(likeness: Likeness) -> Mapping[str, str]:
    return {gap.figure: gap.reason for gap in likeness.not_compared}


def shown(likeness: Likeness, *, full: bool = False) -> str:
    return " ".join(likeness.report(width=200, full=full).split())


def test_the_observed_bytes_are_those_of_the_figures(script: Path, tmp_path: Path) -> None:
    rows = rows_of(loadgo.likeness(script, made_run(tmp_path / "run", script)))
    kept = read_figures(figures_path(script)).rows
    for command, stored in STORED.items():
        runs = kept.filter(pl.col("command") == command)
        read = rows[command, "read by calls"]
        assert read.runs == len(runs)
        assert read.observed == pytest.approx(runs["read_bytes"].mean())
        cpu_ns = float(runs["cpu_user_ns"].sum() + runs["cpu_system_ns"].sum())
        assert read.observed == pytest.approx(cpu_ns / 1e9 * READ_A_SECOND / len(runs), rel=1e-3)
        assert rows[command, "written to storage"].observed == stored


def test_the_script_moves_as_much_with_the_processor_time_of_the_same_run(script: Path, tmp_path: Path) -> None:
    rows = rows_of(loadgo.likeness(script, made_run(tmp_path / "run", script)))
    for command in ("build", "test"):
        read = rows[command, "read by calls"]
        assert read.relative == pytest.approx(0, abs=1e-4)
        assert read.distance == pytest.approx(0, abs=0.02)
        assert read.script_p90 == pytest.approx(read.observed_p90, rel=0.05)
        assert read.observed_correlation == pytest.approx(1, abs=1e-3)
        assert read.script_correlation == pytest.approx(1, abs=1e-3)
        assert rows[command, "written to storage"].script == STORED[command]
    assert rows["build", "written to storage"].observed_correlation is None  # each run writes the same


def test_another_number_of_bytes_in_the_script_is_found_with_its_size(script: Path, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", script)
    text = (run / "script.toml").read_text()
    (run / "script.toml").write_text(re.sub(r" 2000000\b", " 500000", text))
    rows = rows_of(loadgo.likeness(script, run))
    assert rows["build", "written to storage"].relative == pytest.approx(-0.75)
    assert rows["build", "written to storage"].distance == pytest.approx(0.75)
    assert rows["test", "written to storage"].relative == 0


def test_the_report_says_whose_bytes_they_are(script: Path, tmp_path: Path) -> None:
    likeness = loadgo.likeness(script, made_run(tmp_path / "run", script))
    for report in (shown(likeness, full=True), likeness.report("md"), likeness.report("html")):
        assert "A run does not count the bytes of a command." in report
    assert "build heavy written to storage 2.00 MB 2.00 MB 0.0 %" in shown(likeness, full=True)
    assert "bytes written to storage: a run does not count them for each interaction" in shown(likeness)
    assert "are to move, against those observed: read by calls 0.0 %, written by calls" in shown(likeness)
    assert reasons(likeness)["bytes read"].startswith("a run does not count them for each interaction; the table of")
    assert reasons(likeness)["time waiting for storage"] == "live observation does not have it"
    assert not [row for row in likeness.figures if row.measure.startswith("bytes")]


def test_bytes_of_small_jobs_are_named_as_left_out(script: Path, tmp_path: Path) -> None:
    made = tmp_path / "monday.toml"
    figures_path(made).write_bytes(figures_path(script).read_bytes())
    text = re.sub(r"( 3 [\d.]+) \d+ 100 4096 0\"", r'\1"', script.read_text())
    made.write_text(text)
    likeness = loadgo.likeness(made, made_run(tmp_path / "run", made))
    quick = rows_of(likeness)["quick", "read by calls"]
    assert (quick.script, quick.relative) == (0, -1)
    assert "left out –" in shown(likeness, full=True)
    assert "left out: the few processes of so small a job move about as many bytes anyway." in shown(
        likeness, full=True
    )


def test_a_line_of_ones_own_has_no_bytes_in_the_script(tmp_path: Path) -> None:
    made_observation(tmp_path, typed={"test": "true"})
    likeness = loadgo.likeness(tmp_path / "monday.toml", made_run(tmp_path / "run", tmp_path / "monday.toml"))
    rows = rows_of(likeness)
    assert (rows["test", "read by calls"].script, rows["test", "read by calls"].relative) == (None, None)
    assert rows["build", "read by calls"].script is not None
    assert reasons(likeness)["bytes of test"] == "the run's script types no stand-in for it"


def test_sources_and_machines_without_bytes_say_so(script: Path, tmp_path: Path) -> None:
    _, machine = laid(tmp_path)
    run = loadgo.run(script, on=str(machine), users=2, duration="10min", out=tmp_path / "simulated")
    simulated = loadgo.likeness(script, run)
    assert simulated.bytes == ()
    assert reasons(simulated)["bytes read"] == "a simulated machine moves no bytes: its file says what a command uses"
    assert "Bytes that commands move" not in shown(simulated, full=True)

    loadgo.observe(written_accounting(tmp_path / "pacct", made_day(60)), output=tmp_path / "a.toml")
    options = {"users": 2, "duration": "1h", "think": "fixed(1s)", "out": tmp_path / "accounted"}
    accounted = loadgo.likeness(tmp_path / "a.toml", loadgo.run(tmp_path / "a.toml", on=str(machine), **options))
    assert accounted.bytes == ()
    for figure in ("bytes read", "bytes written", "bytes read from storage", "bytes written to storage"):
        assert reasons(accounted)[figure] == "process accounting does not have it"


def test_a_kernel_that_counts_no_storage_is_named(tmp_path: Path) -> None:
    made_observation(tmp_path, has_storage_counts=False)
    likeness = loadgo.likeness(tmp_path / "monday.toml", made_run(tmp_path / "run", tmp_path / "monday.toml"))
    assert {row.moved for row in likeness.bytes} == {"read by calls", "written by calls"}
    assert "CONFIG_TASK_IO_ACCOUNTING" in reasons(likeness)["bytes read from storage"]
