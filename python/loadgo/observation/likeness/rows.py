"""The commands of an observation and of a run in one form: a row for each, in its session.

A session of a run is a pass of a user through the script. A row's session is a number, and sessions of one side have
numbers of their own. Unknown figures are null.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from loadgo.observation.accounting import TICK_NS
from loadgo.observation.figures_file import FiguresDescription, KeptFigures
from loadgo.records.interactions import CPU_NS, IS_UNANSWERED, RESPONSE_NS

FIGURE_COLUMNS = (
    "cpu_ns", "cpu_most_ns", "faults", "faults_major", "read_bytes", "written_bytes", "storage_read_bytes",
    "storage_written_bytes", "processes", "ready_wait_ns", "io_wait_ns", "elapsed_ns", "waiting_ns", "think_ns",
    "typing_ns",
)  # fmt: skip
"""The figures of a row. `waiting_ns` is the elapsed time less processor time and waits for a processor."""
NEVER_IN_RUNS = ("read_bytes", "written_bytes", "storage_read_bytes", "storage_written_bytes", "processes")
"""The figures that no run counts for each interaction."""

_MOST_PASSES = 1 << 31
"""The number of a session has the user's number times this in it. No user makes as many passes."""


@dataclass(frozen=True)
class SideRows:
    """The commands of one side: `class`, `session`, `place` in it, `command`, and `FIGURE_COLUMNS` as numbers."""

    rows: pl.DataFrame
    span_s: float

    def knows(self, column: str) -> bool:
        """Whether any row has this figure."""
        return self.rows[column].count() > 0


def observed_rows(figures: KeptFigures) -> SideRows:
    """The rows of an observation."""
    steps_ns = figures.description.rounded_steps * TICK_NS
    cpu = CPU_NS.cast(pl.Float64)
    rows = figures.rows.with_columns(
        cpu_ns=cpu,
        cpu_most_ns=cpu + steps_ns * pl.col("processes").cast(pl.Float64).fill_null(1.0),
        faults=pl.col("faults_minor"),
        io_wait_ns=pl.lit(None, pl.Float64),
        typing_ns=pl.lit(figures.description.typing_mean_ns, pl.Float64),
    )
    return SideRows(_in_form(rows), figures.description.observed_s)


def run_rows(interactions: pl.DataFrame, classes: pl.Expr, description: FiguresDescription, span_s: float) -> SideRows:
    """The rows of a run, from its classified interactions. `classes` gives the class of each; null ones are left out.

    Where the observed think times have the typing in them, so have those of the run.
    """
    has_typing = description.typing_mean_ns is not None
    think, typing = pl.col("think_ns").cast(pl.Float64), pl.col("typing_ns").cast(pl.Float64)
    rows = (
        interactions.sort("user", "sent_ns", maintain_order=True)
        .with_columns(pl.col("command").cast(pl.String), **{"class": classes})
        .filter(pl.col("class").is_not_null())
        .with_columns(
            session=pl.col("user").cast(pl.Int64) * _MOST_PASSES + pl.col("pass").cast(pl.Int64),
            place=pl.int_range(pl.len()).over("user", "pass"),
            is_answered=~IS_UNANSWERED,
            think_ns=think if has_typing else think + typing,
            typing_ns=typing if has_typing else pl.lit(0.0),
        )
        .filter("is_answered")
        .with_columns(
            cpu_ns=CPU_NS.cast(pl.Float64),
            cpu_most_ns=CPU_NS.cast(pl.Float64),
            faults=pl.col("faults_minor"),
            elapsed_ns=RESPONSE_NS,
            **{name: pl.lit(None, pl.Float64) for name in NEVER_IN_RUNS},
        )
    )
    return SideRows(_in_form(rows), span_s)


def _in_form(rows: pl.DataFrame) -> pl.DataFrame:
    """The columns of a side. Many processes at once may use more than the elapsed time: they wait for nothing then."""
    numbers = [name for name in FIGURE_COLUMNS if name != "waiting_ns"]
    known = rows.with_columns(pl.col(numbers).cast(pl.Float64))
    waiting = (pl.col("elapsed_ns") - pl.col("cpu_ns") - pl.col("ready_wait_ns").fill_null(0.0)).clip(0.0)
    return known.with_columns(waiting_ns=waiting).select(
        pl.col("class").cast(pl.String),
        pl.col("session", "place").cast(pl.Int64),
        pl.col("command").cast(pl.String),
        *FIGURE_COLUMNS,
    )


def successive(side: SideRows) -> pl.DataFrame:
    """The pairs of commands of a session: each row with the command `before` it, if that was seen and is known."""
    ordered = side.rows.sort("session", "place", maintain_order=True)
    return ordered.with_columns(
        before=pl.col("command").shift(1).over("session"), gap=pl.col("place").diff().over("session")
    ).filter(pl.col("before").is_not_null() & (pl.col("gap") == 1))
