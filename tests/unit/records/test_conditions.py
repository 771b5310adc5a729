"""The conditions of a run: each once."""

from pathlib import Path

import loadgo
from loadgo.records.conditions import conditions_of
from loadgo.records.tables import tables


def prices_in(folder: Path) -> list[str]:
    return sorted(name for name in conditions_of(folder, tables(folder).conditions) if "tariff" in name)


def test_the_prices_of_a_simulated_machine_are_conditions_once(results_folder: Path) -> None:
    assert prices_in(results_folder / "a") == ["machine tariff.shifts.1", "machine tariff.shifts.2"]
    (results_folder / "a" / "machine.toml").rename(results_folder / "a" / "kept.toml")
    try:
        assert "tariff.shifts.1" in prices_in(results_folder / "a")
    finally:
        (results_folder / "a" / "kept.toml").rename(results_folder / "a" / "machine.toml")


def test_sides_at_one_tariff_name_it_once(results_folder: Path) -> None:
    a, b = (str(results_folder / name) for name in "ab")
    one = loadgo.cost_against(a, b)._presentation().document().notes
    assert [label for label, _ in one if label.startswith("Tariff")] == ["Tariff"]
    two = loadgo.cost_against(a, b, tariff="default", against_tariff="cloud")._presentation().document().notes
    assert [label for label, _ in two if label.startswith("Tariff")] == ["Tariff A", "Tariff B"]
