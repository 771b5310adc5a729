"""The data behind each chart by its name, without what draws it: for JSON and CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from loadgo.errors import BadArgument
from loadgo.measures.summary import Summary
from loadgo.reporting import chart_data
from loadgo.reporting import meter_chart_data as data
from loadgo.reporting.category_colors import category_colors
from loadgo.reporting.chart_data import Plotted

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


def frame_of(name: str, summary: Summary, tables: Tables) -> Plotted:
    """What the chart called `name` draws; raises `ValueError` for an unknown one."""
    if name not in FRAMES:
        raise BadArgument(f"chart {name!r} is none of {', '.join(FRAMES)}")
    return FRAMES[name](summary, tables)


def time_frame(tables: Tables) -> Plotted:
    """Total time over the run, in the order in which it is stacked."""
    there = tables.time["category"].cast(pl.String).unique().to_list()
    return chart_data.time_by_category(tables, list(category_colors(there)))


FRAMES: dict[str, Callable[[Summary, Tables], Plotted]] = {
    "response": chart_data.response_bins,
    "throughput": lambda _, tables: chart_data.load_over_time(tables),
    "users": lambda _, tables: chart_data.load_over_time(tables),
    "time": lambda _, tables: time_frame(tables),
    "faults": lambda _, tables: data.fault_times(tables),
    "interrupts": lambda _, tables: data.fault_times(tables, interrupts=True),
    "primitives": data.primitive_times,
    "segments": lambda summary, _: data.segment_faults(summary),
    "profile": lambda summary, _: data.segment_samples(summary),
    "queue": lambda _, tables: data.ready_over_time(tables),
    "lengths": lambda _, tables: data.lengths_over_time(tables),
    "timeline": lambda _, tables: chart_data.user_waits(tables),
}
"""By the names of the charts."""
