"""A part of a script's day as a load: sessions arrive at the rates of the hours, and what cannot be is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument
from loadgo.running.day_arrivals import mean_rate, minute_of_day
from support.command_line import typed
from support.small_machine import MACHINE

HOUR_NS = 3_600_000_000_000
SCRIPT = """\
lines = ["ls"]
[arrivals]
"12:00" = "0/h"
"09:00" = "200/h"
"10:00" = "40/h"
"13:00" = "1/min"
"""
RATES = ((540, 200.0), (600, 40.0), (720, 0.0), (780, 60.0))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The script and a machine."""
    script, machine = tmp_path / "day.toml", tmp_path / "machine.toml"
    script.write_text(SCRIPT, encoding="utf-8")
    machine.write_text(MACHINE, encoding="utf-8")
    return script, machine


def test_sessions_arrive_at_the_rates_of_the_hours(files: tuple[Path, Path], tmp_path: Path) -> None:
    script, machine = files
    run = loadgo.run(script, on=machine, users=600, arrivals="09:30", duration="9h", seed=3, out=tmp_path / "run")
    planned = loadgo.tables(run).sessions["planned_ns"].cast(pl.Float64) / HOUR_NS
    parts = [(0.0, 0.5, 100.0), (0.5, 2.5, 80.0), (2.5, 3.5, 0.0), (3.5, 9.0, 330.0)]
    for begin, end, expected in parts:
        count = int(planned.is_between(begin, end, closed="left").sum())
        assert abs(count - expected) <= 4 * expected**0.5, (begin, end, count)
    assert planned.max() < 9.0, "users who did not arrive have no session"
    load = tomllib.loads((run.folder / "run.toml").read_text(encoding="utf-8"))["load"]
    assert (load["model"], load["arrivals_from"]) == ("open", "09:30")
    assert load["arrivals_per_second"] == pytest.approx(510 / (9 * 3600))
    assert "at the script's rates from 09:30" in " ".join(run.report().split())


def test_as_many_users_arrive_as_come_at_the_rates(files: tuple[Path, Path], tmp_path: Path) -> None:
    script, machine = files
    run = loadgo.run(script, on=machine, arrivals="09:00", duration="2h", out=tmp_path / "run")
    arrived = len(loadgo.tables(run).sessions)
    assert abs(arrived - 240) <= 4 * 240**0.5
    assert run.summary.run.users == arrived
    assert f"{arrived} users" in run.report()


def test_the_number_of_arrivals_is_not_cut_at_its_mean(files: tuple[Path, Path], tmp_path: Path) -> None:
    script, machine = files
    counts = []
    for seed in range(12):
        run = loadgo.run(script, on=machine, arrivals="2/h", duration="3h", seed=seed, out=tmp_path / f"run-{seed}")
        counts.append(len(loadgo.tables(run).sessions))
    assert max(counts) > 6 > min(counts)
    assert abs(sum(counts) - 72) <= 4 * 72**0.5


def test_the_throughput_of_arrivals_is_their_number_over_the_time(files: tuple[Path, Path], tmp_path: Path) -> None:
    script, machine = files
    runs = [
        loadgo.run(script, on=machine, arrivals=rate, duration="3h", seed=seed, out=tmp_path / f"run-{seed}")
        for seed, rate in enumerate(("60/h", "120/h"))
    ]
    compared = loadgo.compare(runs[0].folder, runs[1].folder).rows.whole["throughput"]
    reported = [run.summary.stretch.per_second for run in runs]
    assert (compared.before, compared.after) == pytest.approx(reported)
    assert compared.interval is None


@pytest.mark.parametrize(
    ("minute", "length_s", "expected"),
    [(540, 3600, 200), (570, 3600, 120), (720, 7200, 60), (540, 86400, 1480), (700, 86400 * 2, 2960), (0, 32400, 540)],
)
def test_the_mean_rate_is_that_of_the_part(minute: int, length_s: float, expected: float) -> None:
    assert mean_rate(RATES, minute, length_s) * length_s == pytest.approx(expected)


def test_what_cannot_be_played_is_refused_with_the_remedy(files: tuple[Path, Path], tmp_path: Path) -> None:
    script, machine = files
    (tmp_path / "plain.toml").write_text('lines = ["ls"]', encoding="utf-8")
    asked = ("run", script, "--on", machine)
    assert "give --for" in typed(tmp_path, *asked, "--arrivals", "09:00", status=2).stderr
    nobody = typed(tmp_path, *asked, "--arrivals", "12:15", "--for", "30min", status=2).stderr
    assert "the script's rates are 0 from 12:15 on" in " ".join(nobody.split())
    assert "09:00 for a script's own" in typed(tmp_path, *asked, "--arrivals", "9:00", "--for", "1h", status=2).stderr
    with pytest.raises(BadArgument, match="the script has no rates over the day"):
        loadgo.run(tmp_path / "plain.toml", on=machine, arrivals="09:00", duration="1h", out=tmp_path / "run")


def test_a_time_of_the_day_is_told_from_a_rate() -> None:
    assert [minute_of_day(asked) for asked in ("09:30", " 00:00", "23:59")] == [570, 0, 1439]
    assert [minute_of_day(asked) for asked in ("30/min", "24:00", "9:30", 0.5, None)] == [None] * 5
