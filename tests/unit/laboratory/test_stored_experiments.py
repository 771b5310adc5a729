"""Stored results read back: the document is the one that was printed, and a damaged file is named."""

import json
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadRun
from loadgo.laboratory.stored_experiments import stored_capacity, stored_experiment
from support.small_machine import laid


@pytest.fixture(scope="module")
def capacity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, loadgo.Capacity]:
    """A capacity and the folder of its trials."""
    folder = tmp_path_factory.mktemp("stored")
    script, machine = laid(folder)
    out = folder / "capacity"
    found = loadgo.capacity(script, target="p90 < 30s", on=str(machine), max_users=6, trials=6, longest="2min", out=out)
    return out, found


def test_a_capacity_is_shown_as_it_was_found(capacity: tuple[Path, loadgo.Capacity]) -> None:
    folder, found = capacity
    stored = stored_capacity(folder)
    assert stored.report("json") == found.report("json")
    assert stored.report("text", width=100) == found.report("text", width=100)
    assert str(stored.report("html")).startswith("<!doctype html>")


def test_an_experiment_is_shown_as_it_was_found(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    slow, fast = (loadgo.Variant(script, on=str(machine), set=(f"processors.speed={speed}",)) for speed in (1, 2))
    found = loadgo.ab(slow, fast, users=3, duration="1min", most_pairs=3, out=tmp_path / "ab")
    stored = stored_experiment(tmp_path / "ab")
    assert stored.report("json") == found.report("json")
    assert stored.report("text", width=100) == found.report("text", width=100)


@pytest.mark.parametrize(
    "change", [{"points": 3}, {"targets": [{}]}, {"answer": "4"}, {"end": "never"}, {"limits": None}]
)
def test_a_damaged_capacity_is_named(
    capacity: tuple[Path, loadgo.Capacity], tmp_path: Path, change: dict[str, object]
) -> None:
    members = json.loads((capacity[0] / "capacity.json").read_text())
    (tmp_path / "capacity.json").write_text(json.dumps(members | change))
    with pytest.raises(BadRun, match="is no result of loadgo capacity, or is damaged"):
        stored_capacity(tmp_path)


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", "[" * 50_000])
def test_files_that_are_no_results_are_named(tmp_path: Path, text: str) -> None:
    for name, read in (("capacity.json", stored_capacity), ("experiment.json", stored_experiment)):
        (tmp_path / name).write_text(text)
        with pytest.raises(BadRun, match="or is damaged"):
            read(tmp_path)
