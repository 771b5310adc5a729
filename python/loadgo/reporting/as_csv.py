"""The report as CSV, in full precision: a line for each command, and one for all; or the data behind a chart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from loadgo.documents.as_csv import csv_lines, safe_cell
from loadgo.documents.as_json import members_of
from loadgo.measures.json_keys import JSON_KEYS
from loadgo.measures.summary import CommandSummary, Summary
from loadgo.reporting.chart_frames import frame_of
from loadgo.stats.quantiles import REPORTED_QUANTILES

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


def csv_report(summary: Summary) -> str:
    """Columns are named with their units; an empty cell is not measured, or too few samples; `never` has no end."""
    commands = [*summary.commands, summary.everything]
    tariff = summary.cost.tariff.name
    rows = [_row(command, "all" if command is commands[-1] else "command", tariff) for command in commands]
    return csv_lines([rows[0], *(map(safe_cell, row.values()) for row in rows)])


def chart_csv(chart: str, summary: Summary, tables: Tables) -> str:
    """The data behind the chart called `chart`, a line for each mark; raises `ValueError` for an unknown one."""
    frame = frame_of(chart, summary, tables).frame
    texts = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Categorical)]
    tame = [pl.col(name).cast(pl.String).map_elements(safe_cell, return_dtype=pl.String) for name in texts]
    return frame.with_columns(tame).write_csv()


def _row(command: CommandSummary, kind: str, tariff: str) -> dict[str, object]:
    found: dict[str, object] = {"row": kind, "command": command.name, "count": command.response.count}
    found |= members_of(command.outcomes, JSON_KEYS)
    for probability in REPORTED_QUANTILES:
        quantile = command.response.quantile(f"p{probability * 100:g}")
        value = math.inf if quantile.state == "never" else quantile.value_ns
        found |= {
            f"{quantile.name}_ns": value,
            f"{quantile.name}_low_ns": quantile.low_ns,
            f"{quantile.name}_high_ns": quantile.high_ns,
        }
    found |= {"mean_ns": command.response.mean_ns, "max_ns": command.response.max_ns}
    return found | members_of(command.usage, JSON_KEYS) | {"cost": command.cost, "tariff": tariff}
