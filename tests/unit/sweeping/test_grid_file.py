"""Grid files: what they mean, and the place and the remedy of each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from loadgo.errors import BadArgument, Mistake
from loadgo.sweeping.grid import Grid, Point
from loadgo.sweeping.grid_file import grid_of, parse_grid, read_grid

WHOLE = """
title = "a grid"
script = "light"
machines = ["multics-645", "mine.toml"]
users = { from = 5, to = 20, step = 5 }
seeds = 2
duration = "10min"
[set]
"processors.speed" = [1, 2]
[set.memory]
frames = [256]
"""


def test_a_grid_is_all_combinations_with_the_seeds_changing_first() -> None:
    grid = parse_grid(WHOLE)
    assert grid.machines == ("multics-645", "mine.toml")
    assert grid.users == (5, 10, 15, 20)
    assert grid.seeds == (1, 2)
    assert grid.settings == {"processors.speed": ("1", "2"), "memory.frames": ("256",)}
    assert grid.variants == (
        {"processors.speed": "1", "memory.frames": "256"},
        {"processors.speed": "2", "memory.frames": "256"},
    )
    assert grid.load == {"duration": "10min"}
    assert grid.point_count == 2 * 2 * 4 * 2
    points = [point for batch in range(grid.batch_count) for point in grid.points(batch)]
    assert [point.index for point in points] == list(range(32))
    assert points[:3] == [Point(0, 0, 0, 5, 1), Point(1, 0, 0, 5, 2), Point(2, 0, 0, 10, 1)]
    assert points[-1] == Point(31, 1, 1, 20, 2)


def test_batches_hold_every_point_once_whatever_their_size() -> None:
    for batch in (1, 3, 7, 32, 50):
        grid = parse_grid(f"batch = {batch}\n{WHOLE}")
        points = [point.index for number in range(grid.batch_count) for point in grid.points(number)]
        assert points == list(range(32))


def test_many_points_have_few_batches() -> None:
    for seeds, points, count in ((1000, 1, 1000), (10_000, 10, 1000), (100_000, 250, 400)):
        grid = parse_grid(f'machine = "a"\nusers = 1\nseeds = {seeds}')
        assert (grid.batch_points, grid.batch_count) == (points, count)


def test_paths_start_at_the_folder_of_the_grid(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text('machines = ["mine.toml", "ctss"]\nseeds = [3, 1]\n')
    grid = read_grid(file)
    assert grid.machines == ("mine.toml", "ctss")
    assert [grid.path_of(name) for name in grid.machines] == [str(tmp_path / "mine.toml"), "ctss"]
    assert grid.seeds == (3, 1)
    assert grid.measure == "mean"


MISTAKES = {
    "machines = [": (1, 13, "this is not TOML"),
    'seeds = 1\nmachine = "a"\nuser = 3': (3, 1, "user is not known; did you mean users?"),
    "users = 5": (1, 1, "a grid needs machines"),
    'machine = "a"\nmachines = ["b"]': (1, 1, "machine and machines mean the same"),
    'machines = ["a", "a"]': (1, 1, "machines has 'a' twice"),
    "machines = [1]": (1, 1, "machines takes names or paths"),
    'script = "light"\nmachine = "a"': (1, 1, "a grid with a script needs users"),
    'machine = "a"\nusers = [0]': (2, 1, "users has 0, and 1 to 1,000,000 are possible"),
    'machine = "a"\n  users = [2, 2]': (2, 3, "users has 2 twice"),
    'machine = "a"\nusers = "many"': (2, 1, "users takes whole numbers: write users = [5, 10, 20]"),
    'machine = "a"\nusers = { from = 9, to = 3 }': (2, 1, "users has no such range"),
    'machine = "a"\nusers = { from = 1, til = 3 }': (2, 1, "til is not known"),
    'machine = "a"\nseeds = 0': (2, 1, "seeds = 0 is a number of seeds"),
    'machine = "a"\nset = 3': (2, 1, "set is a table"),
    'machine = "a"\n[set]\n"memory.frames" = []': (3, 9, "write the values of memory.frames"),
    'machine = "a"\n[set]\n"memory.frames" = [1, 1.0]': (3, 2, "memory.frames has 1.0 twice"),
    'machine = "a"\n[set]\n"memory.frames" = 1\n[set.memory]\nframes = 2': (3, 9, "set has memory.frames twice"),
    'machine = "a"\nmeasure = "p98"': (2, 1, "p98 is not known; did you mean p99?"),
    'machine = "a"\nbatch = 0': (2, 1, "batch is a number of simulations"),
    'machine = "a"\nthink = "5s"': (2, 1, "think is for a script"),
    'machine = "a"\nuntil = "time=1h"\nduration = 5': (2, 1, "duration and until mean the same"),
    'machine = "a"\nseeds = 100000\nusers = { from = 1, to = 100000 }': (2, 1, "at most 100,000,000: divide it"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_has_its_place_and_remedy(text: str) -> None:
    line, column, words = MISTAKES[text]
    with pytest.raises(Mistake) as raised:
        parse_grid(text)
    assert words in raised.value.message
    assert (raised.value.line, raised.value.column) == (line, column)


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text("users = 5")
    with pytest.raises(Mistake, match=r"grid\.toml, line 1, column 1: a grid needs machines"):
        read_grid(tmp_path / "grid.toml")


def test_a_mapping_is_a_grid_too() -> None:
    assert grid_of({"machine": "ctss", "seeds": [4]}) == Grid(machines=("ctss",), seeds=(4,))
    with pytest.raises(BadArgument, match="`grid`: a grid needs machines"):
        grid_of({})
