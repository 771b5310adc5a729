"""A run on several hosts while it goes: the meters of each host are placed on the run's clock, and a loss is seen."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.notation.figures import duration, share
from loadgo.records.fleet_streams import HostStreams
from loadgo.records.fleets import FLEET_FOLDER
from loadgo.records.following import follow, latest_ns
from loadgo.records.host_places import ControllerLock
from loadgo.records.tables import Tables, read_conditions
from loadgo.watching.answer import answer
from loadgo.watching.play import title_of
from loadgo.watching.server import PageMessages
from loadgo.watching.terminal import ScreenContext, screen
from loadgo.watching.window import window_of
from support.fleets import GrowingHost, growing_far_run, growing_run, metered_fleet_run
from support.run_files import written_run
from support.run_lock import lock_held
from support.watched import heads

SLOWNESS, BUSY = (1.0, 4.0, 1.0), (0.2, 0.3, 0.95)
NAMES = ("ash", "birch", "cedar")
S = 1_000_000_000


@pytest.fixture(scope="module")
def measured() -> Tables:
    return metered_fleet_run(SLOWNESS, BUSY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def hosts(folder: Path, measured: Tables) -> dict[str, GrowingHost]:
    return growing_run(folder, measured)


def streams(folder: Path) -> HostStreams:
    return HostStreams(folder, read_conditions(folder))


def at_host(rows: pl.DataFrame, name: str) -> list[int]:
    """The instants of a host's rows, each once."""
    return rows.filter(pl.col("host").cast(pl.String) == name)["at_ns"].unique().sort().to_list()


def test_rows_of_a_host_wait_until_its_place_is_known(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    reader = streams(folder)
    for host in hosts.values():
        host.come(10)
    assert reader.new_rows() == {}
    hosts["ash"].place(2.0)
    assert at_host(reader.new_rows()["time"], "ash") == [second * S for second in range(3, 10)]
    for name in ("birch", "cedar"):
        hosts[name].place(-1.5)
    later = reader.new_rows()["time"]
    assert at_host(later, "birch") == [9 * S], "what came too late is not before what was given"
    assert later["at_ns"].is_sorted()


def test_later_rows_are_placed_by_the_clock_as_it_is_known_then(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    reader = streams(folder)
    for host in hosts.values():
        host.come(3)
        host.place(0.0)
    assert reader.new_rows()["time"]["at_ns"].unique().sort().to_list() == [S, 2 * S, 3 * S]
    for host in hosts.values():
        host.come(5)
        host.place(0.25)
    assert reader.new_rows()["time"]["at_ns"].unique().sort().to_list() == [4_250_000_000, 5_250_000_000]


def test_a_lost_host_holds_nobody_back_and_is_named(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    following = follow(folder)
    with lock_held(folder):
        for name, host in hosts.items():
            host.place(0.0, lost="the agent was lost" if name == "birch" else "", lost_at_s=4.5)
            host.come(4 if name == "birch" else 20)
        tables = following.all_tables()
        assert at_host(tables.time, "birch") == [second * S for second in range(1, 5)]
        assert at_host(tables.time, "ash")[-1] == 20 * S, "its last rows wait for no row of a lost host"
        window = window_of(following.all_tables(), 20 * S, 20 * S, 20)
    assert [host.lost_ns for host in window.hosts] == [None, 4.5 * S, None]
    before = window_of(following.all_tables(), 4 * S, 4 * S, 4)
    assert before.hosts[1].lost_ns is None, "at that moment it was not lost yet"
    lines = screen(window, ScreenContext("work", "live"), 100, 40)
    assert lines[1].startswith("Lost: birch at 4.50 s. Full: ")
    assert any(line.startswith("birch ") and line.endswith("lost at 4.50 s") for line in lines)


def test_a_host_that_sends_nothing_is_late_and_the_others_go_on(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    following = follow(folder)
    with lock_held(folder):
        for host in hosts.values():
            host.place(0.0)
            host.come(6)
        following.all_tables()
        hosts["ash"].come(30)
        hosts["cedar"].come(30)
        following.all_tables()
        tables = following.all_tables()
    assert at_host(tables.time, "ash")[-1] == 27 * S
    window = window_of(tables, 27 * S, 27 * S, 27)
    assert [host.is_late for host in window.hosts] == [False, True, False]
    assert np.isnan(window.hosts[1].busy[10]), "no value is made up after its last span"
    row = next(line for line in screen(window, ScreenContext("work", "live"), 100, 40) if line.startswith("birch "))
    assert row.endswith("  late 21.0 s")
    assert window.silent_ns == pytest.approx(19 * S, abs=S)
    assert f", no answer in the last {duration(window.silent_ns)}; before that p90 " in answer(window)
    busiest = replace(window, hosts=tuple(replace(host, silent_ns=21 * S) for host in window.hosts))
    assert re.search(r"processors of cedar 9\S+ % busy \(no meters for 21.0 s\), of all hosts ", answer(busiest))


def test_a_clock_that_is_known_badly_is_told(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    following = follow(folder)
    with lock_held(folder):
        for name, host in hosts.items():
            host.place(0.0, bound_ns=240_000_000 if name == "cedar" else 40_000)
            host.come(10)
        following.all_tables()
        page = PageMessages(following, {})
        window = window_of(following.all_tables(), 10 * S, 10 * S, 10)
        page.read()
    assert "clock of cedar known to 240 ms only" in "\n".join(screen(window, ScreenContext("work", "live"), 100, 40))
    told = heads(b"".join(page.messages))[0]["hosts"]
    assert [host["bound_ns"] for host in told] == [40_000, 40_000, 240_000_000]


def test_the_page_is_told_of_a_loss_when_it_is_known(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    with lock_held(folder):
        page = PageMessages(follow(folder), {"width_ns": 60 * S})
        page.read()
        for host in hosts.values():
            host.place(0.0)
            host.come(5)
        page.read()
        page.read()
        hosts["ash"].place(0.0, lost="the agent was lost", lost_at_s=5.5)
        page.read()
        page.read()
        count = len(page.messages)
        page.read()
        assert len(page.messages) == count, "what has not changed is not told again"
    told = [head["hosts"] for head in heads(b"".join(page.messages)) if "hosts" in head]
    lost = [[host["lost_ns"] for host in hosts] for hosts in told]
    assert lost == [[None] * 3, [None] * 3, [5.5 * S, None, None]]
    assert [(host["first_user"], host["last_user"]) for host in told[0]] == [(1, 10), (11, 20), (21, 30)]


def test_each_host_has_its_own_figures(folder: Path, measured: Tables) -> None:
    tables = follow(written_run(folder, measured)).all_tables()
    reach_ns = latest_ns(tables)
    window = window_of(tables, reach_ns, reach_ns, 50)
    assert [host.name for host in window.hosts] == list(NAMES)
    for host, busy in zip(window.hosts, BUSY, strict=True):
        own = measured.interactions.filter(pl.col("host").cast(pl.String) == host.name)
        responses = (own["ready_ns"].cast(pl.Int64) - own["sent_ns"].cast(pl.Int64)).to_numpy()
        assert host.count == len(own)
        assert host.p90_ns == pytest.approx(float(np.quantile(responses, 0.9)))
        assert host.busy_share == pytest.approx(busy, abs=0.06)
        assert host.memory_share == pytest.approx(busy, abs=1e-6)
        assert host.queue_length == pytest.approx(4 * busy, abs=0.3)
    lines = screen(window, ScreenContext("work", "ended"), 100, 40)
    rows = [line.split() for line in lines if line.startswith(NAMES)]
    assert rows[0][0] == "birch", "the slowest is the first"
    (ash,) = (host for host in window.hosts if host.name == "ash")
    shown = next(row for row in rows if row[0] == "ash")
    assert " ".join(shown[2:4]) == duration(ash.p50_ns)
    said = answer(window)
    assert said.startswith("Full: processors of cedar 9")
    assert ", of all hosts 4" in said
    birch = window.hosts[1]
    assert f", slowest on birch ({duration(birch.p90_ns)}, {share(birch.busy_share)} busy)" in said, "not the busiest"


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (100, 30)])
def test_a_picture_of_a_run_on_several_hosts_fits_its_screen(
    size: tuple[int, int], folder: Path, measured: Tables
) -> None:
    with loadgo.watch(written_run(folder, measured)) as watching:
        lines = watching.picture(*size).splitlines()
    assert len(lines) <= size[1]
    assert max(map(len, lines)) <= size[0]
    left_out = next((line for line in lines if line.startswith("not shown: ")), "")
    assert any(line.startswith("birch ") for line in lines) or " host" in left_out
    assert size[1] < 24 or any(line.startswith("ash ") for line in lines)


def test_a_run_goes_on_until_its_hosts_records_are_placed(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    lock = ControllerLock(folder / FLEET_FOLDER)
    following = follow(folder)
    for host in hosts.values():
        host.place(0.0)
        host.come(10)
    following.new_rows()
    assert not following.ended
    for host in hosts.values():
        host.come(12)
    lock.release()
    assert following.new_rows()["time"]["at_ns"].max() == 12 * S
    assert following.ended


def test_a_killed_run_has_the_meters_that_came(folder: Path, hosts: dict[str, GrowingHost]) -> None:
    for host in hosts.values():
        host.place(0.0)
        host.come(10)
    lines = []
    for _ in range(2):
        following = follow(folder)
        tables = following.all_tables()
        assert (following.state_word, len(at_host(tables.time, "birch"))) == ("killed", 10)
        lines.append(screen(window_of(tables, 10 * S, 10 * S, 10), ScreenContext("work", "killed"), 100, 40))
    assert lines[0] == lines[1]


def test_the_only_other_host_has_all_of_its_meters(folder: Path, measured: Tables) -> None:
    far = growing_far_run(folder, measured)
    following = follow(folder)
    with lock_held(folder):
        far.come(10)
        assert following.all_tables().time.is_empty(), "its place is not known"
        far.place(0.5, bound_ns=240_000_000)
        tables = following.all_tables()
    assert "host" not in tables.time.columns
    assert tables.time["at_ns"].min() == 1_500_000_000
    assert set(tables.processes["who"].cast(pl.String)) == {"on-ash"}
    window = window_of(tables, 10 * S, 10 * S, 10)
    assert window.hosts == ()
    assert title_of(tables.conditions).endswith(" (its clock is known within 240 ms only)")
    assert window.memory is not None
    assert window.busy_share == pytest.approx(BUSY[0], abs=0.1)
