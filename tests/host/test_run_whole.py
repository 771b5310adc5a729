"""The whole product on real shells: what a report says is what the records hold, and what the kernel counted."""

import json
import shutil
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.running import bundled
from support.outside import NEEDS_ROOT, Bench, left_behind
from support.paging_host import paging_alone
from support.run_files import assert_written_columns

WORK = """
name = "work"
think = "uniform(5ms, 20ms)"
typing = "2000 chars/s"
status = 0
passes = 5
lines = [
    { type = "seq 20000 | sort -n | tail -1", as = "sort" },
    { type = "printf '%s' 12345", as = "print" },
    { type = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done", as = "count" },
    { type = "test -e nowhere", as = "look", status = 1 },
]
"""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Where four users have done `WORK` once for all, in the run `kept`."""
    bench = Bench(tmp_path_factory.mktemp("worked"))
    bench.homes.mkdir()
    bench.run(bench.script(WORK), "--users", "4")
    return bench


def report_of(bench: Bench, run: str) -> dict[str, Any]:
    """The report of a run as its figures."""
    told: dict[str, Any] = json.loads(bench.typed("report", run, "--format", "json").stdout)
    return told


def test_the_figures_of_the_report_are_those_of_the_tables(worked: Bench) -> None:
    assert_written_columns(worked.folder / "kept")
    rows = worked.tables("kept").interactions.filter(pl.col("phase").cast(pl.String) == "steady")
    summary = report_of(worked, "kept")
    assert [row["name"] for row in summary["commands"]] == ["sort", "print", "count", "look"]
    for row in summary["commands"]:
        mine = rows.filter(pl.col("command").cast(pl.String) == row["name"])
        response = mine["ready_ns"].cast(pl.Int64) - mine["sent_ns"].cast(pl.Int64)
        assert row["response"]["count"] == len(mine)
        assert row["response"]["mean_ns"] == pytest.approx(response.mean())
        assert row["response"]["max_ns"] == response.max()
        assert row["response"]["quantiles"][0]["value_ns"] == pytest.approx(response.quantile(0.5, "linear"))
        assert row["usage"]["faults_minor"] == pytest.approx(mine["faults_minor"].mean())
        assert row["outcomes"]["ok"] == len(mine)
    printed = rows.filter(pl.col("command").cast(pl.String) == "print")
    assert set(printed["bytes_out"].to_list()) == {5}
    looked = rows.filter(pl.col("command").cast(pl.String) == "look")
    assert set(looked["exit_status"].to_list()) == {1}


def test_the_speed_of_the_processors_is_recorded_and_its_price_is_loadgos_own(worked: Bench) -> None:
    endless = worked.script(WORK.replace("passes = 5", "passes = 1000"), "endless")
    measured = worked.run(endless, "--users", "1", "--for", "3s", out="speed")
    pieces = measured.processor_speed.with_columns(pl.all().cast(pl.Int64))
    times = measured.time.with_columns(pl.col("processor").cast(pl.Int64))
    assert len(pieces) > 0
    assert set(pieces["processor"]) <= set(times["processor"])
    assert pieces.select((pl.col("cpu_ns") > 0).all()).item()
    assert pieces["at_ns"].is_sorted()
    sampling = measured.processes.filter(pl.col("who").cast(pl.String) == "meters")
    assert sampling["cpu_ns"].sum() > pieces["cpu_ns"].sum(), "the pieces are among what loadgo's threads took"


def test_the_users_classes_of_time_are_all_of_their_time(worked: Bench) -> None:
    """From the first prompt that counts to the last, each user thinks, types, waits, or the driver is late."""
    summary = loadgo_summary(worked, "kept")
    rows = worked.tables("kept").interactions.with_columns(
        pl.col("sent_ns", "ready_ns", "think_ns", "typing_ns").cast(pl.Int64)
    )
    there = rows.group_by("user").agg(
        (pl.col("ready_ns").max() - (pl.col("sent_ns") - pl.col("typing_ns") - pl.col("think_ns")).min()).alias("ns")
    )
    classes = summary.classes
    assert classes.total_ns == classes.thinking_ns + classes.typing_ns + classes.waiting_ns + classes.driver_ns
    assert classes.total_ns == there["ns"].sum(), "no moment is counted twice or left out"
    assert min(classes.thinking_ns, classes.typing_ns, classes.waiting_ns) > 0


def loadgo_summary(bench: Bench, run: str) -> Any:
    from loadgo.measures.summary import summarize

    return summarize(bench.tables(run), phases="all")


@NEEDS_ROOT
def test_the_interactions_add_up_to_what_the_kernel_charged_to_the_users(bench: Bench) -> None:
    """The users' group is read at the start and at the end; log-ins are no interactions, so that work must prevail.

    On a busy host the first reading may be some 10 ms late.
    """
    count = '{ type = "i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done", as = "count" }'
    heavy = f'think = "none"\nstatus = 0\npasses = 8\nlines = [{count}]\n'
    kept = bench.run(bench.script(heavy), "--users", "3")
    assert kept.conditions["usage"]["cpu"].startswith("cgroup")
    interactions = kept.interactions.select(pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).to_series().sum()
    group = kept.processes.filter(pl.col("who").cast(pl.String) == "users")["cpu_ns"].sum()
    assert interactions == pytest.approx(group, rel=0.01)


EXPECTED = {
    "typical-user": 9,
    "desk-calculator": 42,
    "absentee": 221,
    "debugging": None,
    "paging": 1,
    "light": None,
    "typical-user-c": 9,
    "remote-jobs": 11,
}


SCREENS = {"editor", "course", "notebook", "notebook-kernel", "shell-light"}
"""Scripts whose users sit in programs that fill the screen, or have prompts of their own."""


def test_every_bundled_script_is_looked_at_here() -> None:
    """The hogs (`test_limit_each.py`) and `SCREENS` (`test_keys.py`, `test_screens.py`) have tests of their own."""
    hogs = {name for name in bundled.script_names() if name.startswith("hog-")}
    assert len(hogs) == 6
    assert set(bundled.script_names()) == set(EXPECTED) | hogs | SCREENS


@pytest.mark.parametrize("script", EXPECTED)
def test_a_bundled_script_runs_with_every_status_as_expected(script: str, bench: Bench) -> None:
    if script == "typical-user-c" and shutil.which("cc") is None:
        pytest.skip("there is no cc here: install gcc")
    options = ("--users", "2", "--passes", "1", "--think", "none", "--typing", "none")
    kept = bench.run(script, *options, "--fail-if", "errors > 0 or unconfirmed > 0")
    assert set(kept.interactions["outcome"].to_list()) == {"ok"}
    assert set(kept.sessions["outcome"].to_list()) == {"done"}
    assert kept.lost.is_empty()
    each = kept.interactions.group_by("user").len()["len"].to_list()
    assert len(set(each)) == 1 if EXPECTED[script] is None else each == [EXPECTED[script]] * 2


def typed(bench: Bench, run: str) -> list[tuple[int, int, int, str, int]]:
    """The lines that each user typed, in order, with the sizes of their output."""
    rows = bench.tables(run).interactions.sort("user", "sent_ns")
    return rows.select("user", "pass", "line", pl.col("command").cast(pl.String), "bytes_out").rows()


def test_the_same_seed_types_the_same_and_another_seed_something_else(bench: Bench) -> None:
    chosen = bench.script(
        'think = "none"\npasses = 8\n'
        'lines = [{ choose = ["true", { type = "echo {random:word}", as = "say" }, "false"] }]\n'
        '[words]\nword = ["a", "bb", "ccc", "dddd"]\n'
    )
    for run, seed, users in (("one", "5", "4"), ("two", "5", "4"), ("more", "5", "7"), ("other", "6", "4")):
        bench.run(chosen, "--users", users, "--seed", seed, out=run)
    assert typed(bench, "one") == typed(bench, "two")
    assert typed(bench, "one") == [row for row in typed(bench, "more") if row[0] <= 4]
    assert typed(bench, "one") != typed(bench, "other")


def test_an_open_load_lets_users_come_one_by_one_and_waits_for_the_last(bench: Bench) -> None:
    short = bench.script('think = "none"\nlines = ["true", "echo x"]\n')
    kept = bench.run(short, "--arrivals", "20/s", "--users", "12")
    assert kept.conditions["load"]["model"] == "open"
    assert kept.conditions["load"]["arrivals_per_second"] == 20
    assert kept.sessions["outcome"].to_list() == ["done"] * 12
    planned = kept.sessions.sort("user")["planned_ns"].to_list()
    assert planned == sorted(planned)
    assert len(set(planned)) == 12
    assert (kept.sessions["started_ns"] >= kept.sessions["planned_ns"]).all()


def test_a_duration_ends_the_run_whatever_the_passes_would_be(bench: Bench) -> None:
    endless = bench.script('think = "fixed(10ms)"\npasses = 1000000\nlines = ["true"]\n')
    kept = bench.run(endless, "--users", "2", "--for", "500ms")
    assert kept.phases["phase"].to_list() == ["warm-up", "steady", "ramp-down"]
    at = dict(kept.phases.select(pl.col("phase").cast(pl.String), "at_ns").rows())
    assert at["ramp-down"] - at["steady"] >= 500_000_000
    assert kept.sessions["outcome"].to_list() == ["done", "done"]
    assert "passes" not in kept.conditions["load"]


def test_nobody_thinks_when_think_is_none(bench: Bench) -> None:
    kept = bench.run(bench.script(WORK), "--think", "none", "--typing", "none")
    assert kept.conditions["load"]["think"] == "none"
    # What is measured as think time is the driver's own: the line was due at the prompt.
    assert kept.interactions["typing_ns"].sum() == 0
    own = kept.interactions["sent_ns"] - kept.interactions["planned_ns"]
    assert (kept.interactions["think_ns"] == own).all()


@NEEDS_ROOT
def test_half_a_processor_gives_the_users_half_of_a_processor(bench: Bench) -> None:
    spin = bench.script('think = "none"\nstatus = 0\nlines = ["i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done"]\n')
    bench.run(spin, "--users", "2", "--limit", "cpus=0.5")
    row = bench.tables("kept").interactions
    used = (row["cpu_user_ns"] + row["cpu_system_ns"]).sum()
    began, ended = row["sent_ns"].min(), row["ready_ns"].max()
    # The kernel deals the quota out in slices of 5 ms a processor for every 100 ms, and the first period is a gift.
    assert used <= 0.5 * (ended - began) * 1.1 + 60_000_000
    assert bench.tables("kept").conditions["limit"] == {"cpus": 0.5}
    assert left_behind(bench) == []


@NEEDS_ROOT
def test_too_little_memory_makes_the_users_page_to_the_device_of_the_run(bench: Bench) -> None:
    if not Path("/sys/class/zram-control").exists():
        pytest.skip("there is no /dev/zram here: modprobe zram")
    work = "import os; b = bytearray(os.urandom(1 << 16)) * 768; print(sum(b[::4096]) == sum(b[::4096]))"
    page = f"""think = "none"\nstatus = 0\nneeds = ["python3"]\nlines = ['python3 -c "{work}"']\n"""
    with paging_alone():
        before = Path("/proc/swaps").read_text()
        kept = bench.run(bench.script(page), "--limit", "memory=32M,swap=zram:256M")
        assert Path("/proc/swaps").read_text() == before
    assert kept.interactions["outcome"].to_list() == ["ok"]
    assert kept.interactions["faults_major"][0] > 100
    assert kept.conditions["limit"]["memory_bytes"] == 32 << 20
    assert left_behind(bench) == []


LOOK = 'think = "none"\npasses = 4\nlines = [{ type = "test -e nowhere", as = "look", status = STATUS }]\n'


def test_conditions_that_do_not_hold_leave_the_exit_status(bench: Bench) -> None:
    conditions = ("errors > 0", "p50(look) > 1min", "lost > 0 or refused > 0")
    options = [word for condition in conditions for word in ("--fail-if", condition)]
    bench.run(bench.script(LOOK.replace("STATUS", "1")), *options)


@pytest.mark.parametrize(
    ("condition", "status"), [("failed(look) > 0", "0"), ("p99(look) < 1min", "1"), ("mean > 0s and count < 100", "1")]
)
def test_a_condition_that_holds_is_the_exit_status(condition: str, status: str, bench: Bench) -> None:
    script = bench.script(LOOK.replace("STATUS", status))
    assert "failed: " in bench.typed("run", script, "--fail-if", condition, status=1).stderr


def test_python_and_the_command_line_make_the_same_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    monkeypatch.setenv("COLUMNS", "120")
    script = bench.script(WORK)
    bench.run(script, "--users", "2", "--seed", "3", out="line")
    told: list[dict[str, Any]] = []
    run = loadgo.run(script, users=2, seed=3, out="python", progress=told.append)
    assert typed(bench, "line") == typed(bench, "python")
    assert (run.outcome, run.findings) == ("done", ())
    assert not run.summary.losses
    assert loadgo.tables(run).interactions.equals(bench.tables("python").interactions)
    assert {"phase", "at_s", "users_logged_in", "users", "interactions"} <= set(told[0])
    assert loadgo.report(run, full=True) == bench.typed("report", "python", "--full").stdout
