"""The figures of the index: those of the whole summary, though they are made of fewer tables."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path

import pytest
from loadgo.laboratory.run_figures import RUN_FIGURES, figures_of
from loadgo.measures.fail_if import figure_values
from loadgo.measures.fail_if_figures import CONDITION_FIGURES
from loadgo.measures.summary import CommandSummary, Summary, summarize
from loadgo.notation.comparisons import NamedFigure
from loadgo.records.tables import tables
from support.made_laboratory import FIRST_START, made_run
from support.places import TESTS

RUNS = sorted(path.parent for path in (TESTS / "runs").rglob("run.toml") if path.parent.name != "damaged")
NAMES = " ".join((*CONDITION_FIGURES.of_commands.values(), *CONDITION_FIGURES.of_run.values())).split()


def known(row: CommandSummary, summary: Summary) -> dict[str, float | None]:
    """Every figure that a condition can name, of a row of the whole summary."""
    quantiles = {
        quantile.name: math.inf if quantile.state == "never" else quantile.value_ns
        for quantile in row.response.quantiles
    }
    return {**quantiles, **figure_values(row, summary)}


def check_figures(folder: Path) -> None:
    """Fails unless the index has each figure of the summary, and as exactly."""
    stored, summary = figures_of(folder), summarize(tables(folder))
    assert stored.damage == ""
    assert list(stored.commands) == [row.name for row in summary.commands]
    for command, row in [(None, summary.everything), *((row.name, row) for row in summary.commands)]:
        for name in NAMES if command is None else [name for name in NAMES if name not in RUN_FIGURES]:
            figure, expected = NamedFigure(name, "time", command), known(row, summary)[name]
            assert stored.value(figure) == (None if expected is None else pytest.approx(expected, rel=1e-8)), figure


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_the_index_has_the_figures_of_the_summary(folder: Path) -> None:
    check_figures(folder)


def test_the_index_has_the_figures_of_a_run_of_users(tmp_path: Path) -> None:
    check_figures(made_run(tmp_path / "few", FIRST_START, 1.0, passes=1))
    check_figures(made_run(tmp_path / "many", FIRST_START + timedelta(days=1), 1.0, users="9", passes=40))
