"""Changes of `run.toml` itself, which its last line shows."""

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadRun


def test_a_change_of_run_toml_is_seen_also_where_the_results_of_conditions_were_added(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    loadgo.run("typical-user", on="multics-6180", users=5, passes=1, seed=3, out=folder, fail_if=["p50 > 1h"])
    verification = loadgo.verify(folder)
    assert {check.name: check.verdict for check in verification.checks}["run.toml"] == "holds"
    run_toml = folder / "run.toml"
    run_toml.write_text(run_toml.read_text().replace("users = 5", "users = 4"))
    assert {check.name for check in loadgo.verify(folder).of("broken")} == {"run.toml"}


def test_prices_in_run_toml_that_no_tariff_has_are_a_finding(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    loadgo.run("typical-user", on="multics-6180", users=5, passes=1, seed=3, out=folder)
    run_toml = folder / "run.toml"
    run_toml.write_text(run_toml.read_text().replace("shifts", "shibts"))
    broken = {check.name: check.text for check in loadgo.verify(folder).of("broken")}
    assert set(broken) == {"run.toml", "the records can be judged"}
    assert "shibts" in broken["the records can be judged"]
    with pytest.raises(BadRun, match="prices of the machine that are damaged"):
        loadgo.report(folder)
