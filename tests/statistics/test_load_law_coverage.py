"""The interval of the dependence of processor time on the load holds the truth, over many known machines."""

from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.fitting.load_law import fit_load_law, run_loads
from loadgo.fitting.reading import read_runs
from loadgo.fitting.uncertainty import fit_covariance, log_interval, resample_groupings
from support.loaded_machine import THREE_COMMANDS, machine_under_load

pytestmark = pytest.mark.statistical

SEEDS = 100
FACTORS = (0.6, 0.8, 1.3)


def test_intervals_hold_the_dependence_of_known_machines(tmp_path: Path) -> None:
    """At least 90 of 100 intervals, from three minutes each with 2 and 10 users."""
    (tmp_path / "three.toml").write_text(THREE_COMMANDS)
    held = 0
    for seed in range(SEEDS):
        factor = FACTORS[seed % len(FACTORS)]
        (tmp_path / "truth.toml").write_text(machine_under_load(factor))
        runs = [run(tmp_path, users, seed) for users in (2, 10)]
        low, high = interval(runs)
        held += low <= factor <= high
    assert held >= 90, held


def run(folder: Path, users: int, seed: int) -> Path:
    """A run of three minutes on the known machine."""
    out = folder / f"{users}-{seed}"
    script, machine = folder / "three.toml", str(folder / "truth.toml")
    loadgo.run(script, on=machine, users=users, duration="3min", seed=100 * seed + users, out=out)
    return out


def interval(folders: list[Path]) -> tuple[float, float]:
    """The 95 % interval of the dependence that a fit to these runs finds."""
    readings = read_runs(folders)
    rows = pl.concat([reading.rows for reading in readings])
    groupings, loads = resample_groupings(rows), run_loads(readings, 0.0)
    assert loads is not None
    value = fit_load_law(rows, rows["cpu"].to_numpy(), groupings, loads).shared.resampled
    covariance = fit_covariance([value], groupings)
    assert np.isfinite(value.value)
    return log_interval(value.value, float(covariance.deviations[0]), covariance.degrees[0])
