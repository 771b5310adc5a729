"""`--junit` and `--summary` on run, report and compare: the same results as the exit status, written before it ends."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from xml.etree import ElementTree

import loadgo
import polars as pl
import pytest
from loadgo.cli.app import app
from loadgo.cli.ci import run_checks
from loadgo.cli.run import _print_reasons
from loadgo.measures.summary import summarize
from support.made_laboratory import FIRST_START, made_run
from support.outside import NEEDS_FULL_DEVICE
from support.small_machine import laid
from support.synthetic import closed_loop
from typer.testing import CliRunner


def invoked(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


def cases(path: Path) -> dict[str, str]:
    """The test cases of a file: `failure`, `error` or `system-out` by name."""
    return {str(case.get("name")): case[0].tag for case in ElementTree.parse(path).iter("testcase")}


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    return made_run(tmp_path / "slow", FIRST_START, 2.0)


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    return made_run(tmp_path / "fast", FIRST_START, 1.0)


def test_a_run_has_its_conditions_and_its_own_checks(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    status, _ = invoked(
        "run", script, "--on", machine, "--users", "2", "--passes", "3", "--out", tmp_path / "out",
        "--fail-if", "mean > 1ns", "--fail-if", "p99 > 1h", "--fail-if", "count = 0",
        "--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md",
    )  # fmt: skip
    assert status == 1
    assert cases(tmp_path / "junit.xml") == {
        "fails if mean > 1ns": "failure",
        "fails if p99 > 1h": "error",
        "fails if count = 0": "system-out",
        "the run came to its end": "system-out",
        "the driver was in time": "system-out",
        "no records were lost": "system-out",
    }
    assert "2 of 6 checks failed" in (tmp_path / "summary.md").read_text()
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").iter("testsuite")
    assert float(suite.get("time", 0)) > 0, "the run's length"


def test_a_report_appends_its_summary_and_agrees_with_its_exit_status(slow: Path, tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("before\n")
    for limit, status, tag in (("1s", 1, "failure"), ("9s", 0, "system-out")):
        files = ("--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md")
        assert invoked("report", slow, "--fail-if", f"p90(compile) > {limit}", *files)[0] == status
        assert cases(tmp_path / "junit.xml") == {f"fails if p90(compile) > {limit}": tag}
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("before\n### loadgo: day: ❌ 1 of 1 checks failed")
    assert "✅ all passed" in text


def test_a_comparison_has_a_case_for_each_threshold(slow: Path, fast: Path, tmp_path: Path) -> None:
    files = ("--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md")
    status, _ = invoked("compare", fast, slow, "--worse", "5%", "--worse", "p90=500%", *files)
    found = cases(tmp_path / "junit.xml")
    assert list(found) == [
        "response not worse by more than 5 %",
        "cpu not worse by more than 5 %",
        "p90 response not worse by more than 500 %",
    ]
    assert found["p90 response not worse by more than 500 %"] == "system-out"
    assert (status, "failure" in found.values() or "error" in found.values()) == (1, True)
    assert "slow against fast" in (tmp_path / "summary.md").read_text()


def with_full_output(*arguments: str | Path) -> tuple[int, str]:
    """The exit status and the standard error of a command whose standard output is a full device."""
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "loadgo", *map(str, arguments)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.processes
@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_report_that_cannot_be_printed_costs_no_checks_of_a_run(tmp_path: Path, quiet: tuple[str, ...]) -> None:
    script, machine = laid(tmp_path)
    files = ("--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md", "--out", tmp_path / "out")
    options = ("--on", machine, "--users", "2", "--passes", "3", "--fail-if", "mean > 1ns", *quiet)
    status, told = with_full_output("run", script, *options, *files)
    assert (status, cases(tmp_path / "junit.xml")["fails if mean > 1ns"]) == (2, "failure")
    assert "1 of 4 checks failed" in (tmp_path / "summary.md").read_text()
    assert f"the run is in {tmp_path / 'out'}: name it by this folder, since `last` and `loadgo runs` know" in told
    assert "loadgo: failed: mean" in told
    assert "the standard output: No space left on device" in told
    assert "Exception" not in told


@pytest.mark.processes
@NEEDS_FULL_DEVICE
def test_a_report_or_comparison_that_cannot_be_printed_costs_no_checks(slow: Path, fast: Path, tmp_path: Path) -> None:
    for arguments in (("report", slow, "--fail-if", "p90 > 1s"), ("compare", fast, slow, "--worse", "5%")):
        junit = tmp_path / f"{arguments[0]}.xml"
        status, told = with_full_output(*arguments, "--junit", junit)
        assert (status, {"failure", "error"}.isdisjoint(cases(junit).values())) == (2, False)
        assert "the standard output: No space left on device" in told


@NEEDS_FULL_DEVICE
def test_a_check_file_that_cannot_be_written_costs_neither_the_other_nor_the_report(slow: Path, tmp_path: Path) -> None:
    condition = ("--fail-if", "p90(compile) > 1s")
    files = ("--junit", "/dev/full", "--summary", tmp_path / "summary.md")
    status, told = invoked("report", slow, *condition, *files)
    assert status == 2
    assert "1 of 1 checks failed" in (tmp_path / "summary.md").read_text()
    assert "failed: p90(compile)" in told
    assert "Response time" in told
    assert "/dev/full: No space left on device" in told
    status, told = invoked("report", slow, *condition, "--junit", "/dev/full", "--summary", "/dev/full")
    assert (status, told.count("/dev/full: No space left on device")) == (2, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "slow", "--junit", "junit.xml"),
        ("report", "slow", "--failed", "--junit", "junit.xml"),
        ("compare", "slow", "slow", "--summary", "summary.md"),
        ("report", "slow", "--fail-if", "p90 > 1s", "--junit", "none/junit.xml"),
        ("run", "typical-user", "--on", "ctss", "--junit", "none/junit.xml"),
    ],
)
def test_files_without_checks_and_places_that_cannot_be_written_are_refused_before_the_work(
    slow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert invoked(*arguments)[0] == 2
    assert sorted(tmp_path.iterdir()) == before


SAME = "and --junit are both"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("report", "slow", "--fail-if", "p90 > 1s", "--summary", ""), "--summary': it is empty"),
        (("report", "slow", "--fail-if", "p90 > 1s", "--junit", "-"), "--junit - would mix"),
        (("run", "typical-user", "--on", "ctss", "--summary", "-"), "--summary - would mix"),
        (("compare", "slow", "slow", "--worse", "5%", "--summary", "s", "--junit", "./s"), "--junit and --summary are"),
        (("compare", "slow", "slow", "--worse", "5%", "-o", "same", "--junit", "same"), f"-o {SAME}"),
        (("report", "slow", "--fail-if", "p90 > 1s", "-o", "slow/../same", "--junit", "same"), f"-o {SAME}"),
        (("run", "typical-user", "--on", "ctss", "--out", "new", "--junit", "new"), f"--out {SAME}"),
        (("profile", "--of", "slow", "--folded", "same", "--pprof", "same"), "--folded and --pprof are both"),
        (("profile", "--of", "slow", "--folded", "-"), "--folded - would mix"),
    ],
)
def test_a_file_without_a_name_of_its_own_is_refused_before_the_work(
    slow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    status, told = invoked(*arguments)
    assert (status, reason in " ".join(told.split())) == (2, True), told
    assert sorted(tmp_path.iterdir()) == before


def test_a_device_may_take_both_files(slow: Path) -> None:
    files = ("--junit", "/dev/null", "--summary", "/dev/null")
    assert invoked("report", slow, "--fail-if", "p90(compile) > 9s", *files)[0] == 0


def test_a_late_driver_has_its_cause_in_the_checks_and_after_a_quiet_run(capsys: pytest.CaptureFixture[str]) -> None:
    run = closed_loop(10, 20)
    planned = (pl.col("sent_ns").cast(pl.Int64) - 2_000_000).clip(0).cast(pl.UInt64)
    late = summarize(replace(run, interactions=run.interactions.with_columns(planned_ns=planned)))
    finished = cast("loadgo.Run", SimpleNamespace(summary=late, outcome="done", bad=True))
    (in_time,) = (check for check in run_checks(finished) if check.name == "the driver was in time")
    assert in_time.verdict == "failed"
    assert "lines were sent more than 1.00 ms late (p99 2.00 ms)" in in_time.text
    _print_reasons(finished)
    told = " ".join(capsys.readouterr().err.split())
    assert "INVALID: the host woke the driver late" in told
    assert "lines were sent more than 1.00 ms late (p99 2.00 ms)" in told
