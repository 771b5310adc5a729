"""Sweeps that end early: what is done is kept, and the same call goes on."""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

import loadgo
import pytest
from loadgo.errors import Refused
from support.sweeps import LastFirst, own_load_grid


def test_a_part_that_a_full_disk_stops_at_its_start_goes_on_later(tmp_path: Path) -> None:
    grid = own_load_grid(tmp_path)

    def sweep_part() -> loadgo.Sweep:
        return loadgo.sweep(grid, executor=LastFirst(1), part="1/2", out=tmp_path / "part")

    points = sweep_part().points
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            sweep_part()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sweep_part().points == points


class EndsAfterTwo(LastFirst):
    """An executor whose workers end after two tasks."""

    def submit(self, call: Callable[..., Any], task: Any, /) -> Future[Any]:  # type: ignore[override]
        """Computes the task."""
        if len(self.computed) == 2:
            raise BrokenExecutor("no worker is left")
        return super().submit(call, task)


def test_a_sweep_whose_executor_has_ended_keeps_its_points_and_says_so(tmp_path: Path) -> None:
    words = r"\(no worker is left\): call again with a new one; the results so far are kept, and the same call goes on"
    with pytest.raises(Refused, match=words):
        loadgo.sweep(own_load_grid(tmp_path), executor=EndsAfterTwo(1), out=tmp_path / "out")
    assert len(list((tmp_path / "out" / "points").iterdir())) == 2
