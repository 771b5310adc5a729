"""The report as CSV in full precision: a line for each command and a line for all; or the data of a chart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from loadgo.documents.as_csv import csv_lines, safe_cell, safe_polars_csv
from loadgo.documents.as_json import members_of
from loadgo.measures.json_keys import JSON_KEYS
from loadgo.measures.summary import CommandSummary, Summary
from loadgo.reporting.charts.chart_frames import chart_data_of
from loadgo.stats.quantiles import REPORTED_QUANTILES

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


def csv_report(summary: Summary) -> str:
    """The report as CSV. The names of columns have the units.

    An empty cell was not measured, or has too few samples. `never` is a time without an end.
    """
    rows = _rows(summary)
    return csv_lines([rows[0], *(map(safe_cell, row.values()) for row in rows)])


def command_frame(summary: Summary) -> pl.DataFrame:
    """The report as a frame, with the columns of the CSV. An infinite time is a time without an end."""
    rows = _rows(summary)
    return pl.DataFrame({name: [row[name] for row in rows] for name in rows[0]}, strict=False)


def chart_csv(chart: str, summary: Summary, tables: Tables) -> str:
    """The data of a chart, a line for each mark. Raises `ValueError` for an unknown chart."""
    return safe_polars_csv(chart_data_of(chart, summary, tables).frame)


def _rows(summary: Summary) -> list[dict[str, object]]:
    commands = [*summary.commands, summary.everything]
    tariff = summary.cost.tariff.name
    return [_row(command, "all" if command is commands[-1] else "command", tariff) for command in commands]


def _row(command: CommandSummary, kind: str, tariff: str) -> dict[str, object]:
    cells: dict[str, object] = {"row": kind, "command": command.name, "count": command.response.count}
    cells |= members_of(command.outcomes, JSON_KEYS)
    for probability in REPORTED_QUANTILES:
        quantile = command.response.quantile(f"p{probability * 100:g}")
        value = math.inf if quantile.state == "never" else quantile.value_ns
        cells |= {
            f"{quantile.name}_ns": value,
            f"{quantile.name}_low_ns": quantile.low_ns,
            f"{quantile.name}_high_ns": quantile.high_ns,
        }
    cells |= {"mean_ns": command.response.mean_ns, "max_ns": command.response.max_ns}
    return cells | members_of(command.usage, JSON_KEYS) | {"cost": command.cost, "tariff": tariff}
