"""Where hosts' records lie is told while the run goes: when it is known, when it changes, and when a host is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from loadgo.hosts.clock import Exchange, FarClock
from loadgo.records.host_places import HostPlace, has_controller, read_place
from loadgo.running.elsewhere import live_places
from loadgo.running.elsewhere.live_places import HostLoss, LivePlaces

AHEAD_NS = 3 * 10**15
"""The clock there minus the clock here."""
FIRST_NS = 10**12
"""The beginning of the exchanges, on the clock here."""


def exchange(here_ns: int, offset_ns: int, bound_ns: int = 1000) -> Exchange:
    """An exchange around this instant, in which the clocks were so far apart."""
    sent_ns = here_ns - bound_ns + 1
    came_ns = here_ns + offset_ns
    return Exchange("middle", sent_ns, came_ns, came_ns, sent_ns + 2 * (bound_ns - 1))


def clock(bound_ns: int = 1000, ahead_ns: int = AHEAD_NS) -> FarClock:
    return FarClock((exchange(FIRST_NS, ahead_ns, bound_ns),))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    folder = tmp_path / "other-hosts" / "ash"
    folder.mkdir(parents=True)
    (folder / "run.toml").write_text("format = 1")
    return folder


@pytest.fixture
def each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets each call look at the clock, however soon after the one before."""
    monkeypatch.setattr(live_places, "_LOOK_EVERY_NS", 0)


def test_a_place_is_told_once_the_records_have_a_folder_and_the_run_a_beginning(tmp_path: Path, records: Path) -> None:
    with LivePlaces(records.parent) as places:
        places.tell(records, clock(), AHEAD_NS, None)
        assert read_place(records) is None, "nobody knows when the run began"
        places.hear({"at_s": 0.0})
        places.tell(tmp_path / "missing", clock(), AHEAD_NS, None)
        assert not has_controller(records.parent)
        places.tell(records, clock(), AHEAD_NS, None)
        assert has_controller(records.parent)
        told = read_place(records)
    assert told is not None
    assert told.bound_ns == 1000
    assert not has_controller(records.parent)


def test_a_beginning_is_on_the_clock_of_the_run(records: Path) -> None:
    with LivePlaces(records.parent, origin_ns=FIRST_NS) as places:
        places.tell(records, clock(), FIRST_NS + AHEAD_NS - 1_500_000_000, None)
    assert read_place(records) == HostPlace(-1_500_000_000, 1000)


@pytest.mark.usefixtures("each_look")
def test_later_rows_are_placed_by_the_later_offset(records: Path) -> None:
    now_ns = time.monotonic_ns()
    # Both exchanges are over, so that the later offset holds from now on.
    drifted = FarClock((exchange(now_ns - 10**10, AHEAD_NS), exchange(now_ns - 10**9, AHEAD_NS + 7_000_000)))
    with LivePlaces(records.parent, origin_ns=now_ns - 10**9) as places:
        places.tell(records, clock(), AHEAD_NS + now_ns, None)
        assert read_place(records) == HostPlace(10**9, 1000)
        places.tell(records, drifted, AHEAD_NS + now_ns, None)
    assert read_place(records) == HostPlace(10**9 - 7_000_000, 1000)


@pytest.mark.usefixtures("each_look")
def test_what_no_picture_shows_is_not_written_again(records: Path) -> None:
    with LivePlaces(records.parent, origin_ns=FIRST_NS) as places:
        for ahead_ns, bound_ns in ((AHEAD_NS, 1000), (AHEAD_NS + 90_000, 1000), (AHEAD_NS, 950)):
            places.tell(records, clock(bound_ns, ahead_ns), AHEAD_NS, None)
            assert read_place(records) == HostPlace(-FIRST_NS, 1000)
        places.tell(records, clock(800), AHEAD_NS, None)
    assert read_place(records) == HostPlace(-FIRST_NS, 800)


def test_a_loss_is_told_at_once(records: Path) -> None:
    with LivePlaces(records.parent, origin_ns=FIRST_NS) as places:
        for loss in (None, HostLoss("the agent was lost", FIRST_NS + 2_500_000_000)):
            places.tell(records, clock(), AHEAD_NS, loss)
    assert read_place(records) == HostPlace(-FIRST_NS, 1000, "the agent was lost", 2.5)


def test_a_host_without_a_clock_is_told_to_be_lost(records: Path) -> None:
    with LivePlaces(records.parent, origin_ns=FIRST_NS) as places:
        places.tell(records, None, None, HostLoss("the agent was lost", FIRST_NS + 10**9))
    assert read_place(records) == HostPlace(None, None, "the agent was lost", 1.0)


def test_a_progress_that_comes_late_makes_the_beginning_no_later(records: Path) -> None:
    began_ns = time.monotonic_ns()
    with LivePlaces(records.parent) as places:
        places.hear({"at_s": (time.monotonic_ns() - began_ns) / 1e9})
        places.hear({"at_s": -1000.0})
        places.tell(records, clock(), AHEAD_NS + began_ns, None)
        told = read_place(records)
    assert told is not None
    assert told.begins_ns is not None
    assert told.begins_ns > -1_000_000_000_000


def test_a_disk_that_refuses_is_no_error(records: Path) -> None:
    (records.parent / "controller.lock").mkdir()
    with LivePlaces(records.parent, origin_ns=FIRST_NS) as places:
        places.tell(records, clock(), AHEAD_NS, None)
    assert read_place(records) is None
