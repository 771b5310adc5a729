"""Small grids for tests of sweeps, and the bytes of their folders."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from support.model_machines import repairman
from support.small_machine import laid

GRID = """
title = "terminals"
machines = ["repairman.toml"]
users = [2, 5, 9]
seeds = 4
until = "interactions=1000"
batch = 5
[set]
"processors.speed" = [1, 2]
"""
POINTS = 24
"""Number of points of `GRID`."""
LONG_GRID = 'machine = "repairman.toml"\nusers = [3, 4]\nseeds = 20\nuntil = "interactions=200000"\nbatch = 1\n'
"""Forty points that take a few seconds together."""


def own_load_grid(folder: Path, text: str = GRID) -> Path:
    """A grid file of a machine under its own load, and the machine."""
    (folder / "repairman.toml").write_text(repairman(3, "exponential(0.3s)"))
    (folder / "grid.toml").write_text(text)
    return folder / "grid.toml"


def script_grid(folder: Path) -> Path:
    """A grid file of a script on a machine that has a disk and pages."""
    script, machine = laid(folder)
    lines = [f'script = "{Path(script).name}"', f'machine = "{Path(machine).name}"']
    lines += ["users = [2, 3]", "seeds = 2", 'duration = "2min"']
    (folder / "script-grid.toml").write_text("\n".join(lines))
    return folder / "script-grid.toml"


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class LastFirst(Executor):
    """An executor without workers: it computes the tasks that wait in the reverse order, when the queue is full."""

    def __init__(self, most_waiting: int = 4) -> None:
        self.computed: list[int] = []
        self._most_waiting = most_waiting
        self._waiting: list[tuple[Future[Any], Callable[..., Any], Any]] = []

    def submit(self, call: Callable[..., Any], task: Any, /) -> Future[Any]:  # type: ignore[override]
        """Keeps the task, or computes all that wait."""
        future: Future[Any] = Future()
        self._waiting.append((future, call, task))
        is_last_batch = hasattr(task, "points") and task.points[-1].index == POINTS - 1
        if len(self._waiting) == self._most_waiting or is_last_batch:
            while self._waiting:
                future_of_task, call_of_task, next_task = self._waiting.pop()
                self.computed.append(next_task.number)
                future_of_task.set_result(call_of_task(next_task))
        return future
