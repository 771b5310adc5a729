"""The report's figures of kept runs: those that it gave when each run was kept."""

from __future__ import annotations

import json

import loadgo
import pytest
from support.places import TESTS

KEPT = TESTS / "runs" / "reported"
RUNS = sorted(path.stem for path in KEPT.glob("*.json"))


def differences(kept: object, now: object, place: str = "") -> list[str]:
    """Where `now` lacks or changes what was kept; it may say more."""
    if isinstance(kept, dict) and isinstance(now, dict):
        return [line for key, value in kept.items() for line in differences(value, now.get(key), f"{place}.{key}")]
    if isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        return [line for at, value in enumerate(kept) for line in differences(value, now[at], f"{place}[{at}]")]
    return [] if kept == now else [f"{place}: {kept!r} became {now!r}"]


@pytest.mark.parametrize("run", RUNS)
def test_a_kept_run_has_the_figures_that_it_had(run: str) -> None:
    document = json.loads((KEPT / f"{run}.json").read_text())
    now = json.loads(loadgo.report(KEPT / run, format="json"))
    assert differences(document, now) == []


def test_runs_of_every_kind_are_kept() -> None:
    kinds = {"damaged", "live-exact", "metered", "sim-645", "transferred"}
    assert set(RUNS) == kinds
    assert all((KEPT / run / "run.toml").is_file() for run in RUNS)


def test_a_changed_figure_is_seen() -> None:
    kept = {"answer": {"p50": 1.0, "of": [1, 2]}, "count": 3}
    assert differences(kept, {"answer": {"p50": 1.0, "of": [1, 3]}, "count": 3, "more": 1}) == [
        ".answer.of[1]: 2 became 3"
    ]
    assert differences(kept, {"answer": {"p50": 1.0}}) == [".answer.of: [1, 2] became None", ".count: 3 became None"]
