"""`loadgo.merge`: the parts of a sweep made into one whole, the same bytes as if it had been computed as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, BadRun
from loadgo.notation.figures import in_words
from loadgo.running.folders import check_out
from loadgo.sweeping.folder import (
    WHOLE_SWEEP,
    SweepPart,
    batch_path,
    done_batches,
    keep_batch,
    open_folder,
    read_identity,
    read_part,
    work_in,
)
from loadgo.sweeping.grid import Grid
from loadgo.sweeping.plan import differing_keys
from loadgo.sweeping.result_of_folder import sweep_of
from loadgo.sweeping.results import Sweep

DEFAULT_FOLDER = "merged.sweep"
_MOST_NAMED_PARTS = 20
"""Largest number of parts that a message lists."""


@dataclass(frozen=True)
class _PartFolder:
    """The folder of a part of a sweep."""

    path: Path
    part: SweepPart
    identity: Mapping[str, Any]


def merge(*parts: str | Path, out: str | Path | None = None) -> Sweep:
    """Makes one sweep of all its parts. Its folder is the same bytes as that of the whole sweep.

        result = loadgo.merge(*Path("parts").iterdir(), out="whole")

    Args:
        parts: The folders of the parts, in any order.
        out: The folder of the whole, by default `merged.sweep`. It must be new, or of the same sweep.

    Returns:
        `Sweep` with the figures of each configuration.

    Raises:
        loadgo.errors.BadArgument: Parts are missing, doubled, not complete, or of different sweeps; the text names
            them.
        loadgo.errors.BadRun: A folder is no sweep's.
    """
    check_out(out)
    if not parts:
        raise BadArgument("`parts`: name the folders of the parts").about("parts")
    folders = [_PartFolder(Path(path), read_part(Path(path)), read_identity(Path(path))) for path in parts]
    grid = grid_of_identity(folders[0].identity)
    _check(folders, grid)
    target = Path(out) if out is not None else Path(DEFAULT_FOLDER)
    with work_in(target):
        open_folder(target, folders[0].identity, WHOLE_SWEEP)
        for folder in folders:
            _copy_batches(folder, target, grid)
    return sweep_of(target, grid, WHOLE_SWEEP)


def _copy_batches(folder: _PartFolder, target: Path, grid: Grid) -> None:
    """Copies the batches of a part that the target does not have."""
    batches = set(folder.part.batches(grid.batch_count))
    for batch in sorted(batches - done_batches(target, batches)):
        keep_batch(target, batch, batch_path(folder.path, batch).read_bytes())


def _check(folders: Sequence[_PartFolder], grid: Grid) -> None:
    """Raises `BadArgument` unless the folders are all parts of one sweep, each once and complete."""
    first = folders[0]
    for folder in folders:
        differing = differing_keys(first.identity, folder.identity)
        if differing:
            raise BadArgument(
                f"{folder.path} and {first.path} are of different sweeps, which differ in: {', '.join(differing)}"
            )
    counts = sorted({folder.part.count for folder in folders})
    if len(counts) > 1:
        raise BadArgument(
            f"the parts are of sweeps that were divided differently: into {in_words([str(count) for count in counts])} "
            "parts"
        )
    problems = [*_doubled(folders), *_missing(folders, counts[0]), *_incomplete(folders, grid)]
    if problems:
        raise BadArgument("; ".join(problems))


def _doubled(folders: Sequence[_PartFolder]) -> list[str]:
    by_part: dict[int, list[str]] = {}
    for folder in folders:
        by_part.setdefault(folder.part.number, []).append(str(folder.path))
    return [
        f"part {number} is there {len(paths)} times, in {in_words(paths)}: leave all but one out"
        for number, paths in sorted(by_part.items())
        if len(paths) > 1
    ]


def _missing(folders: Sequence[_PartFolder], count: int) -> list[str]:
    numbers = sorted({*range(1, count + 1)} - {folder.part.number for folder in folders})
    if not numbers:
        return []
    named = [f"{number}/{count}" for number in numbers[:_MOST_NAMED_PARTS]]
    more = f" and {len(numbers) - len(named)} more" if len(numbers) > len(named) else ""
    is_one = len(numbers) == 1
    return [f"part{'' if is_one else 's'} {', '.join(named)}{more} {'is' if is_one else 'are'} missing"]


def _incomplete(folders: Sequence[_PartFolder], grid: Grid) -> list[str]:
    problems = []
    for folder in folders:
        batches = folder.part.batches(grid.batch_count)
        done = done_batches(folder.path, batches)
        if len(done) < len(batches):
            points = f"{grid.points_in(done):,} of {grid.points_in(batches):,} simulations"
            problems.append(f"{folder.path}, part {folder.part}, has {points}: run that part again, and it goes on")
    return problems


def grid_of_identity(identity: Mapping[str, Any]) -> Grid:
    """The grid of a folder's `sweep.toml`. Raises `BadRun` if the file lacks a key, or has a wrong value."""
    try:
        return _grid_of(identity)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRun(f"the parts' sweep.toml is damaged: {type(error).__name__}, {error}") from error


def _grid_of(identity: Mapping[str, Any]) -> Grid:
    return Grid(
        machines=tuple(identity["machines"]),
        script=identity["script"] or None,
        users=numbers_in(identity["users"]) or (None,),
        settings={key: tuple(values) for key, values in identity["settings"].items()},
        seeds=numbers_in(identity["seeds"]),
        load=identity["load"],
        measure=identity["measure"],
        title=identity["title"],
        batch=identity["batch"],
    )


def numbers_in(text: str) -> tuple[int, ...]:
    """The numbers that `1-20, 40` stands for."""
    ranges = [item.strip().partition("-") for item in text.split(",") if item.strip()]
    return tuple(number for first, _, last in ranges for number in range(int(first), int(last or first) + 1))
