"""Machines between two machine files: every choice of the tables that differ is a machine."""

import math
from pathlib import Path

import pytest
from loadgo import _loadgo
from loadgo.attribution.between_machines import speedup_between
from loadgo.attribution.machine_differences import between
from loadgo.attribution.runs import Load
from loadgo.attribution.speedup import speedup
from support.small_machine import MACHINE, laid

FASTER = MACHINE.replace("count      = 2", "count      = 2\nspeed      = 2").replace(
    "frames           = 64", "frames = 96"
)
OTHER_DEVICE = MACHINE.replace('device           = "drum"', 'device = "bulk"').replace(
    "[storage.disk]", '[storage.bulk]\nkind   = "bulk"\naccess = "1ms"\n\n[storage.disk]'
)


def two(folder: Path, after: str) -> tuple[str, str]:
    """The small machine and another as files."""
    _, machine = laid(folder)
    other = folder / "other.toml"
    other.write_text(after)
    return str(machine), str(other)


def test_the_tables_that_differ_are_the_changes_and_tell_their_values(tmp_path: Path) -> None:
    found = between(*two(tmp_path, FASTER), ())
    assert {change.name: change.set for change in found.changes()} == {
        "processors": ("processors.speed 1 → 2",),
        "memory": ("memory.frames 64 → 96",),
    }
    assert [found.text(choice) for choice in (0, 3)] == [found.before, found.after]
    parsed = [_loadgo.parse_machine(found.text(choice), [])["text"] for choice in (1, 2)]
    assert ["speed = 2" in text for text in parsed] == [True, False]
    assert ["frames = 96" in text for text in parsed] == [False, True]


def test_a_store_that_only_one_machine_has_is_no_change_of_its_own(tmp_path: Path) -> None:
    found = between(*two(tmp_path, OTHER_DEVICE), ())
    assert [change.name for change in found.changes()] == ["memory"]


def test_tables_that_need_each_other_are_one_change(tmp_path: Path) -> None:
    """Without a page to ask for, a store between them is asked for nothing; a discipline of swapping needs no pages."""
    swapped = MACHINE[: MACHINE.index("[memory]")] + MACHINE[MACHINE.index("[multiprogramming]") :]
    swapped = swapped.replace("[multiprogramming]\nlimit = 2\n", "").replace("pages          = 40\n", "")
    found = between(*two(tmp_path, swapped.replace("pages          = 20\n", "")), ())
    for choice in range(1 << len(found.groups)):
        _loadgo.parse_machine(found.text(choice), [])
    assert sum(len(tables) for tables in found.groups) >= len(found.groups)


def test_two_machines_that_are_alike_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing differs between"):
        between(*two(tmp_path, MACHINE.replace("A small machine", "Another title")), ())
    with pytest.raises(ValueError, match="leave `changes` out"):
        speedup("light", on="ctss", to="tenex", changes=["processors.speed=2"])
    with pytest.raises(ValueError, match="factors 7: there can be 2 to 6"):
        speedup("light", on="ctss", to="tenex", factors=7)
    with pytest.raises(ValueError, match="loadgo cannot change a host"):
        speedup("light", on="ctss", to="here")


def test_between_two_files_is_what_the_same_values_are_as_changes(tmp_path: Path) -> None:
    script, _ = laid(tmp_path)
    before, after = two(tmp_path, FASTER)
    speedup_result = speedup(script, on=before, to=after, users=4, passes=1, runs=2)
    named = ["processors: processors.speed=2", "memory: memory.frames=96"]
    given = speedup(script, on=before, changes=named, users=4, passes=1, runs=2)
    for one, other in zip(speedup_result.causes, given.causes, strict=True):
        assert (one.measure, one.before, one.after) == (other.measure, other.before, other.after)
        assert [cause.factor for cause in one.causes] == [cause.factor for cause in other.causes]


def test_of_too_many_tables_those_that_do_least_are_one(tmp_path: Path) -> None:
    script, _ = laid(tmp_path)
    much = FASTER.replace("limit = 2", "limit = 3").replace('wall_crossing    = "0.1ms"', 'wall_crossing = "0.11ms"')
    before, after = two(tmp_path, much)
    speedup_result = speedup_between(Load(script, users=4, passes=1), before, after, (1,), factors=2)
    assert [change.name for change in speedup_result.changes] == [
        "processors",
        "the rest (memory, multiprogramming, supervisor)",
    ]
    for told in speedup_result.causes:
        assert math.prod(cause.factor for cause in told.causes) == pytest.approx(told.ratio, rel=1e-12)
    assert "memory.frames 64 → 96" in speedup_result.report(width=200)
