"""The result of a sweep, from its folder: the figures of the points that are done."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from loadgo.notation.figures import counted
from loadgo.sweeping.configurations import configurations_of, portions_of, problems_of
from loadgo.sweeping.folder import SweepPart, done_batches, read_identity
from loadgo.sweeping.grid import Grid
from loadgo.sweeping.results import Sweep, damage_named, scan_points
from loadgo.sweeping.words import answer


def sweep_of(
    folder: Path,
    grid: Grid,
    part: SweepPart,
    *,
    repeated: int = 0,
    stop: threading.Event | None = None,
) -> Sweep:
    """The result of the points that are done in a folder."""
    batches = part.batches(grid.batch_count)
    with damage_named(folder):
        configurations = configurations_of(portions_of(folder, grid), grid)
        has_problems = any(configuration.problems for configuration in configurations)
        problems = problems_of(scan_points(folder)) if has_problems else ()
    expected = grid.points_in(batches)
    done = grid.points_in(done_batches(folder, batches))
    sweep_without_words = Sweep(
        folder=folder,
        title=grid.title,
        script=grid.script,
        measure=grid.measure,
        part="" if part.count == 1 else str(part),
        points_expected=expected,
        points=done,
        configurations=configurations,
        problems=problems,
        repeated=repeated,
        stopped=stop is not None and stop.is_set() and done < expected,
        fit_warnings=tuple(read_identity(folder).get("fit_warnings", ())),
        conditions=_conditions(grid),
    )
    return replace(sweep_without_words, in_words=answer(sweep_without_words))


def _conditions(grid: Grid) -> str:
    """The seeds and the length of each simulation of a grid, in words."""
    length = [f"{name} {value}" for name, value in grid.load.items()]
    phase = [] if grid.script is None else ["figures of the steady phase"]
    return ", ".join([f"{counted(len(grid.seeds), 'seed')} each", *length, *phase])
