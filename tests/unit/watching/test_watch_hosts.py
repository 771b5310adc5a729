"""Several hosts watched at once: a band for each, the busiest first, on the page and in the terminal."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.records.fleet_streams import HostStreams
from loadgo.records.following import follow
from loadgo.records.tables import read_conditions
from loadgo.watching.server import PageMessages
from loadgo.watching.window import window_of
from support.fleets import growing_metering, metered_fleet
from support.run_files import written_run
from support.run_lock import lock_held
from support.watched import heads

BUSY = (0.2, 0.3, 0.95)


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    return written_run(tmp_path / "run", metered_fleet(BUSY))


def test_the_terminal_has_a_row_for_each_host_and_names_the_busiest(ended: Path) -> None:
    with loadgo.watch(ended) as watching:
        lines = watching.picture(100, 30).splitlines()
    assert lines[0].startswith("3 hosts of hosts.toml")
    assert lines[1].startswith("Full: processors of cedar 9"), "one full host is not averaged away"
    assert ", of all hosts 4" in lines[1]
    rows = [line.split()[0] for line in lines if line.startswith(("ash", "birch", "cedar"))]
    assert rows == ["cedar", "birch", "ash"]


def test_the_share_of_a_host_is_of_its_own_processors(ended: Path) -> None:
    tables = follow(ended).all_tables()
    window = window_of(tables, 60 * 10**9, 60 * 10**9, 60)
    assert [host.name for host in window.hosts] == ["ash", "birch", "cedar"]
    assert [host.busy_share for host in window.hosts] == pytest.approx(BUSY, abs=0.06)
    assert window.busy_share == pytest.approx(float(np.mean([host.busy_share for host in window.hosts])))


def test_no_two_processors_share_a_number(ended: Path) -> None:
    whose = follow(ended).all_tables().time.group_by("processor").agg(pl.col("host").n_unique())
    assert sorted(whose.rows()) == [(0, 1), (2, 1), (4, 1)], "each entry says that its host has two processors"


def test_the_page_is_told_which_processors_are_whose(ended: Path) -> None:
    page = PageMessages(follow(ended), {})
    page.read()
    first, *others = heads(b"".join(page.messages))
    assert [(host["name"], host["first"], host["last"]) for host in first["hosts"]] == [
        ("ash", 0, 1),
        ("birch", 2, 3),
        ("cedar", 4, 5),
    ]
    assert {head["table"] for head in others if "table" in head} >= {"time", "queue"}


def test_rows_of_hosts_that_go_on_come_in_the_order_of_time_on_one_clock(tmp_path: Path) -> None:
    begin_s = {"ash": -1.5, "birch": 0.25}
    folder = tmp_path / "run"
    hosts = growing_metering(folder, metered_fleet((0.2, 0.6), seconds=20), begin_s)
    streams = HostStreams(folder, read_conditions(folder))
    assert streams.new_rows() == {}
    hosts["ash"].come(5)
    hosts["birch"].come(3)
    first = streams.new_rows()["time"]
    assert first["at_ns"].max() == 3_250_000_000, "ash has come to 3.5 s, birch to 3.25 s"
    ash = first.filter(pl.col("host").cast(pl.String) == "ash")
    assert ash["at_ns"].min() == 1_500_000_000, "ash's first two spans began before the metering"
    hosts["ash"].come(20)
    hosts["birch"].come(20)
    second = streams.new_rows()["time"]
    joined = pl.concat([first, second])
    assert joined["at_ns"].is_sorted()
    assert second["at_ns"].max() == 18_500_000_000
    assert set(joined["host"].cast(pl.String)) == {"ash", "birch"}


def test_a_host_that_sends_nothing_any_more_does_not_hold_the_others_back(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    hosts = growing_metering(folder, metered_fleet((0.2, 0.6), seconds=20), {"ash": 0.0, "birch": 0.0})
    streams = HostStreams(folder, read_conditions(folder))
    hosts["ash"].come(4)
    hosts["birch"].come(20)
    assert streams.new_rows()["time"]["at_ns"].max() == 17_000_000_000, "birch's rows wait for at most three seconds"
    hosts["ash"].come(20)
    late = streams.new_rows()["time"]
    assert late["at_ns"].min() == 17_000_000_000, "what comes too late is not before what was given"
    assert late["at_ns"].is_sorted()


def test_rows_of_the_future_move_no_other_host_and_wait_for_their_time(tmp_path: Path) -> None:
    """A hostile host may send instants of a day that has not come."""
    folder, now = tmp_path / "run", datetime.now(UTC)
    measured = metered_fleet((0.2, 0.6), seconds=20)
    begun = replace(measured, conditions=measured.conditions | {"started": now - timedelta(hours=1)})
    hosts = growing_metering(folder, begun, {"ash": 0.0, "birch": 86_400.0})
    streams = HostStreams(folder, read_conditions(folder))
    hosts["ash"].come(8)
    hosts["birch"].come(8)
    first = streams.new_rows()["time"]
    assert first["at_ns"].max() == 5_000_000_000, "ash waits for birch for at most three seconds"
    hosts["ash"].come(20)
    rest = streams.last_rows()["time"]
    assert rest["at_ns"].unique().sort().to_list() == [second * 10**9 for second in range(6, 21)]
    assert set(pl.concat([first, rest])["host"].cast(pl.String)) == {"ash"}


def test_at_the_end_no_row_waits_for_a_host_that_sends_nothing_any_more(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    hosts = growing_metering(folder, metered_fleet((0.2, 0.6), seconds=20), {"ash": 0.0, "birch": 0.0})
    following = follow(folder)
    with lock_held(folder):
        hosts["ash"].come(4)
        hosts["birch"].come(20)
        assert following.new_rows()["time"]["at_ns"].max() == 17_000_000_000
        assert not following.ended
    rest = following.new_rows()["time"]
    assert following.ended
    assert rest["at_ns"].unique().to_list() == [18_000_000_000, 19_000_000_000, 20_000_000_000]
    assert set(rest["host"].cast(pl.String)) == {"birch"}


def test_a_picture_of_hosts_fits_the_smallest_screen(ended: Path) -> None:
    with loadgo.watch(ended) as watching:
        lines = next(watching.pictures(lambda: os.terminal_size((60, 17))))
    assert len(lines) <= 16
    assert all(len(line) <= 60 for line in lines)
