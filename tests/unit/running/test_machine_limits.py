"""Limits of each user of a simulated machine: what is refused, what the report says, and that all time adds up."""

from __future__ import annotations

from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument, Refused

MACHINE = """
title = "a login node"
source = "made for a test"
processors = { count = 1, discipline = "linux", slice = "3ms" }
[commands."*"]
cpu = "100ms"
"""
SCRIPT = 'name = "busy"\nthink = "none"\nlines = ["work"]\n'


@pytest.fixture
def on(tmp_path: Path) -> str:
    (tmp_path / "machine.toml").write_text(MACHINE)
    (tmp_path / "busy.toml").write_text(SCRIPT)
    return str(tmp_path / "machine.toml")


def run(on: str, tmp_path: Path, limit_each: str, users: int = 2, **options: object) -> loadgo.Run:
    script = tmp_path / "busy.toml"
    return loadgo.run(script, on=on, users=users, duration=20, limit_each=limit_each, out=tmp_path / "run", **options)  # type: ignore[arg-type]


def test_each_user_gets_the_quota_and_the_report_says_what_it_cost(on: str, tmp_path: Path) -> None:
    limited_run = run(on, tmp_path, "cpus=0.3")
    costs = limited_run.summary.limit_costs
    assert costs is not None
    assert [cost.user for cost in costs.users] == [1, 2]
    for cost in costs.users:
        assert cost.cpu_ns == pytest.approx(0.3 * 20e9, rel=0.02)
        assert cost.throttled_ns == pytest.approx(0.7 * 20e9, rel=0.2)
        assert cost.throttled_share == pytest.approx(1, abs=0.02)
        assert cost.memory_peak_bytes is cost.pids_refusals is None
    text = limited_run.report("text")
    assert "Limits for each user" in text
    assert "The limits held back 2 of 2 users: the processor quota was used up for" in " ".join(text.split())
    assert limited_run.summary.run.limit_each == {"cpus": 0.3}
    assert limited_run.notes == ()


def test_idle_time_under_a_quota_is_governed_and_all_time_adds_up(on: str, tmp_path: Path) -> None:
    limited_run = run(on, tmp_path, "cpus=0.2", meters="exact")
    frames = loadgo.tables(limited_run)
    time = frames.time.group_by("category").agg(pl.col("time_ns").sum())
    spans = dict(time.rows())
    assert set(spans) == {"user", "idle governed"}
    rows = frames.interactions.filter(pl.col("outcome").cast(pl.String) == "ok")
    assert len(rows) > 30
    parts = sum(pl.col(name).cast(pl.Int64) for name in ("cpu_user_ns", "cpu_system_ns", "ready_wait_ns", "io_wait_ns"))
    assert rows.select((parts - (pl.col("ready_ns") - pl.col("sent_ns")).cast(pl.Int64)).abs().max()).item() == 0
    assert frames.user_limits["cpu_ns"].sum() == spans["user"]


def test_a_weight_divides_the_processor(on: str, tmp_path: Path) -> None:
    costs = run(on, tmp_path, "nice=5").summary.limit_costs
    assert costs is not None
    assert costs.users[0].cpu_ns == pytest.approx(10e9, rel=0.02)
    assert costs.users[0].periods is None


def test_a_quota_of_a_processor_or_more_is_told_to_hold_nobody(on: str, tmp_path: Path) -> None:
    limited_run = run(on, tmp_path, "cpus=2")
    assert any("a quota of 1 processor or more holds nobody back" in note for note in limited_run.notes)
    assert "The limits held nobody back." in " ".join(limited_run.report("text").split())


@pytest.mark.parametrize(
    ("limit_each", "said"),
    [
        ("memory=1G", "memory is for a host: .*memory.frames=512"),
        ("cpus=0.5,swap=0", "swap is for a host"),
        ("pids=20", "a user is one process there"),
        ("io=20M", "storage.disk.servers=2"),
        ("cpus=0", "cpus=0.5"),
        ("cpus=nan", "cpus"),
        ("disk=1", "cannot be limited"),
    ],
)
def test_limits_that_a_machine_does_not_have_are_refused_with_what_it_has(
    on: str, tmp_path: Path, limit_each: str, said: str
) -> None:
    with pytest.raises(BadArgument, match=said):
        run(on, tmp_path, limit_each)


def test_a_discipline_without_weights_refuses_nice_before_anybody_logs_in(on: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"processors\.discipline=linux"):
        loadgo.run(
            tmp_path / "busy.toml", on="multics-645", users=1, passes=1, limit_each="nice=5", out=tmp_path / "run"
        )
    assert not (tmp_path / "run").exists()


def test_one_class_of_a_search_is_limited_alone(on: str, tmp_path: Path) -> None:
    (tmp_path / "calm.toml").write_text('name = "calm"\nthink = "exponential(2s)"\nlines = ["edit"]\n')
    answered = loadgo.capacity_of_limit(
        mix=f"{tmp_path / 'busy.toml'}=2,{tmp_path / 'calm.toml'}=4",
        on=on,
        vary="limit-each.busy.cpus=0.05:1",
        target="mean(edit) < 150ms",
        shortest="200s",
        set=["commands.edit.cpu=exponential(60ms)"],
        out=tmp_path / "search",
    )
    assert (answered.end, answered.side) == ("found", "at most")
    assert answered.answer is not None
    assert 0.05 < answered.answer < 1
    assert answered.recommended == ()
    assert "limit_each" in (tmp_path / "search").glob("trial-*/run.toml").__next__().read_text()
