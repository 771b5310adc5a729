"""The data of each chart by its name, for JSON and CSV, without the drawing library."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from loadgo.documents.palette import category_colors
from loadgo.errors import BadArgument
from loadgo.measures.summary import Summary
from loadgo.reporting.charts import chart_data, meter_chart_data
from loadgo.reporting.charts.chart_data import ChartData
from loadgo.reporting.charts.over_time import over_time_data

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


def chart_data_of(name: str, summary: Summary, tables: Tables) -> ChartData:
    """The data of the chart called `name`. Raises `ValueError` for an unknown chart."""
    if name not in CHART_DATA_BUILDERS:
        raise BadArgument(f"there is no chart {name!r}; there are {', '.join(CHART_DATA_BUILDERS)}")
    return CHART_DATA_BUILDERS[name](summary, tables)


def time_frame(tables: Tables) -> ChartData:
    """The processors' time over the run, with categories in the order of the stack."""
    categories = tables.time["category"].cast(pl.String).unique().to_list()
    return chart_data.time_by_category(tables, list(category_colors(categories)))


CHART_DATA_BUILDERS: dict[str, Callable[[Summary, Tables], ChartData]] = {
    "response": chart_data.response_bins,
    "throughput": lambda _, tables: chart_data.load_over_time(tables),
    "users": lambda _, tables: chart_data.load_over_time(tables),
    "time": lambda _, tables: time_frame(tables),
    "faults": lambda _, tables: meter_chart_data.fault_times(tables),
    "interrupts": lambda _, tables: meter_chart_data.fault_times(tables, interrupts=True),
    "primitives": meter_chart_data.primitive_times,
    "segments": lambda summary, _: meter_chart_data.segment_faults(summary),
    "profile": lambda summary, _: meter_chart_data.segment_samples(summary),
    "queue": lambda _, tables: meter_chart_data.ready_over_time(tables),
    "lengths": lambda _, tables: meter_chart_data.lengths_over_time(tables),
    "timeline": lambda _, tables: chart_data.user_waits(tables),
    "over-time": over_time_data,
}
"""Functions that compute the data of charts, by the chart's name."""
