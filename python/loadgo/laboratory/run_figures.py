"""The figures of one run that a history may show: those of `--fail-if`, for all commands and for each command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from loadgo.errors import LoadgoError
from loadgo.measures.fail_if import figure_values
from loadgo.measures.fail_if_figures import CONDITION_FIGURES
from loadgo.measures.run_remarks import run_remarks
from loadgo.measures.summary import CommandSummary, LoadSummary, summarize_load
from loadgo.notation.comparisons import NamedFigure
from loadgo.records.tables import load_tables

RUN_FIGURES = frozenset(" ".join(CONDITION_FIGURES.of_run.values()).split())
"""The names of figures of a whole run, which no command has."""
_NEVER = "never"
_DAMAGE = (OSError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""Errors in the figures of a run with odd values in its files, such as an infinite number of users."""

StoredValue = float | str | None
"""A figure as it is stored: a number, `never` for an infinite one, None where it was not measured."""


@dataclass(frozen=True)
class StoredFigures:
    """The figures of a run, or the reason why there are none."""

    whole: Mapping[str, StoredValue] = field(default_factory=dict)
    """Figures of the whole run, and of all commands together, by name."""
    commands: Mapping[str, Mapping[str, StoredValue]] = field(default_factory=dict)
    damage: str = ""
    """The reason why the run cannot be read."""
    unfit: str = ""
    """The reason why the run does not measure its system: a late driver, or lost records."""
    remarks: str = ""
    """The limits of the run's users, and reasons to doubt its figures, as in `run_remarks`."""

    def value(self, figure: NamedFigure) -> float | None:
        """A figure's value; None where it is not known."""
        values = self.whole if figure.command is None else self.commands.get(figure.command, {})
        value = values.get(figure.name)
        if value == _NEVER:
            return math.inf
        return float(value) if isinstance(value, int | float) else None

    def as_json(self) -> dict[str, Any]:
        """The figures in JSON's types."""
        texts = {"damage": self.damage, "unfit": self.unfit, "remarks": self.remarks}
        return {"whole": self.whole, "commands": self.commands, **texts}


def figures_from_json(members: Mapping[str, Any]) -> StoredFigures:
    """The figures from `as_json`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    whole, commands = dict(members["whole"]), {str(name): dict(row) for name, row in members["commands"].items()}
    values = [*whole.values(), *(value for row in commands.values() for value in row.values())]
    if not all(value is None or value == _NEVER or type(value) in (int, float) for value in values):
        raise ValueError("a stored figure is no number")
    return StoredFigures(whole, commands, str(members["damage"]), str(members["unfit"]), str(members["remarks"]))


def figures_of(folder: Path) -> StoredFigures:
    """The figures of the steady phase of the run in `folder`. A run that cannot be read has the reason instead."""
    try:
        tables = load_tables(folder)
        return replace(_figures_of(summarize_load(tables)), remarks=run_remarks(tables))
    except (*_DAMAGE, LoadgoError, pl.exceptions.PolarsError) as error:
        return StoredFigures(damage=str(error) or type(error).__name__)


def _figures_of(summary: LoadSummary) -> StoredFigures:
    commands = {row.name: _row(row, summary) for row in summary.commands}
    whole = _row(summary.everything, summary) | {
        name: _stored(value)
        for name, value in figure_values(summary.everything, summary).items()
        if name in RUN_FIGURES
    }
    return StoredFigures(whole, commands, unfit=_unfit(summary))


def _row(row: CommandSummary, summary: LoadSummary) -> dict[str, StoredValue]:
    quantiles = {
        quantile.name: _NEVER if quantile.state == "never" else _stored(quantile.value_ns)
        for quantile in row.response.quantiles
    }
    values = {name: _stored(value) for name, value in figure_values(row, summary).items() if name not in RUN_FIGURES}
    return quantiles | values


def _stored(value: float | None) -> StoredValue:
    if value is None or math.isnan(value):
        return None
    return _NEVER if math.isinf(value) else float(f"{value:.9g}")


def _unfit(summary: LoadSummary) -> str:
    lost = sum(loss.count for loss in summary.losses)
    if not summary.driver.valid:
        return "the driver was late or was the bottleneck"
    return "records were lost" if lost else ""
