"""The places of other hosts' records on their run's clock, and the lock of the controller that receives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from loadgo.records.host_places import PLACE_FILE, ControllerLock, HostPlace, has_controller, read_place, write_place


@pytest.mark.parametrize(
    "place",
    [
        HostPlace(),
        HostPlace(-1_523_000_001, 41_000),
        HostPlace(7, 2, 'the agent was lost: "killed"\nthere', 12.437),
        HostPlace(None, None, "it has not said when it began", 1.0),
    ],
)
def test_a_place_is_read_as_it_was_written(place: HostPlace, tmp_path: Path) -> None:
    write_place(tmp_path, HostPlace(1, 1, "before", 1.0))
    write_place(tmp_path, place)
    assert read_place(tmp_path) == place
    assert [path.name for path in tmp_path.iterdir()] == [PLACE_FILE]


@pytest.mark.parametrize("content", [b"", b"begins_ns = ", b"begins_ns = 'soon'\nbound_ns = 1.5", b"\xff\xfe"])
def test_a_place_that_says_nothing_is_no_place(content: bytes, tmp_path: Path) -> None:
    assert read_place(tmp_path) is None
    (tmp_path / PLACE_FILE).write_bytes(content)
    assert read_place(tmp_path) in (None, HostPlace())


def test_a_controller_is_seen_until_it_releases_its_lock(tmp_path: Path) -> None:
    assert not has_controller(tmp_path / "missing")
    assert not has_controller(tmp_path)
    lock = ControllerLock(tmp_path)
    assert has_controller(tmp_path)
    assert has_controller(tmp_path), "looking changes nothing"
    lock.release()
    assert not has_controller(tmp_path)
    lock.release()
    ControllerLock(tmp_path).release()
