"""A part of a run's time, as tables that can be summarized like those of a whole run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.errors import BadArgument

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_Closed = Literal["both", "right"]
_SPAN_TABLES = (
    *("time", "processes", "faults", "segments", "primitives", "queue", "stacks", "memory"),
    *("meter_price", "meter_windows", "window_events", "lock_waits", "working_sets", "processor_speed"),
)
"""Tables with a row for each span of time."""


def part_of(tables: Tables, from_ns: int, to_ns: int) -> Tables:
    """The rows of the part after `from_ns` and until `to_ns`, in nanoseconds since the run began.

    Interactions belong to the part in which their answer came, or if none came in which they were sent. Spans belong to
    the part that has their middle. A part that is shorter than a span has the spans that reach into it. A part from 0
    also has what happened at 0, such as losses before the first moment. Sessions and phases stay as they are. Raises
    `BadArgument` for a part without length.
    """
    if not 0 <= from_ns < to_ns:
        raise BadArgument(f"from {from_ns} ns to {to_ns} ns is no part of a run")
    ended = pl.coalesce("ready_ns", "sent_ns").cast(pl.Int64)
    within: _Closed = "both" if from_ns == 0 else "right"
    spans: dict[str, Any] = {name: _spans_in(getattr(tables, name), from_ns, to_ns) for name in _SPAN_TABLES}
    return replace(
        tables,
        **spans,
        interactions=tables.interactions.filter(ended.is_between(from_ns, to_ns, closed=within)),
        lost=tables.lost.filter(pl.col("at_ns").is_between(from_ns, to_ns, closed=within)),
        part_ns=(from_ns, to_ns),
        by_host=tuple(part_of(host, from_ns, to_ns) for host in tables.by_host),
    )


def _spans_in(frame: pl.DataFrame, from_ns: int, to_ns: int) -> pl.DataFrame:
    end, length = pl.col("at_ns").cast(pl.Int64), pl.col("span_ns").cast(pl.Int64)
    inside = frame.filter((end - length // 2).is_between(from_ns, to_ns, closed="right"))
    return inside if len(inside) else frame.filter((end > from_ns) & (end - length < to_ns))
