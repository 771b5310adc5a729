"""The interactions of a run with what follows from the recorded columns, each derived column defined once.

A user's time is cut at the prompts into classes: thinking, typing, waiting for the system, and the driver's lateness.
From a prompt to the sending are `think_ns + typing_ns`, of which the driver's lateness (`sent_ns - planned_ns`) is a
class of its own; from the sending to the next prompt the user waits. Integers, so that the parts are the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

USED = (
    "cpu_user_ns",
    "cpu_system_ns",
    "faults_minor",
    "faults_major",
    "ready_wait_ns",
    "paging_wait_ns",
    "io_wait_ns",
    "bytes_out",
)
"""The columns that say what an interaction used."""
CLASSES = ("thinking_ns", "typed_ns", "driver_ns", "waiting_ns")
"""The columns of `with_classes` that are all of a user's time together."""


def _ns(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Int64)


MEASURED = pl.col("outcome").cast(pl.String) != "extrapolated"
"""Whether a row was recorded; the other rows are computed for users who died."""
ANSWERED = pl.col("ready_ns").is_not_null()
CPU_NS = (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).alias("cpu_ns")
"""Processor time, user and system; null where it was not measured."""
RESPONSE_NS = (_ns("ready_ns") - _ns("sent_ns")).alias("response_ns")
"""From the sending to the prompt; null where no prompt came."""
LATENESS_NS = (_ns("sent_ns") - _ns("planned_ns")).clip(0).alias("lateness_ns")
"""How late the driver sent the line."""
PROMPTED_NS = _ns("sent_ns") - _ns("typing_ns") - _ns("think_ns")
"""The instant of the prompt before the line, where its user began to think."""
RESPONSE_LESS_CPU = RESPONSE_NS.cast(pl.Float64) - CPU_NS.cast(pl.Float64).fill_null(0.0)
CYCLE_NS = pl.sum_horizontal(*CLASSES).alias("cycle_ns")
"""From prompt to prompt, of rows of `with_classes`."""


@dataclass(frozen=True)
class Classes:
    """Where the users' time went."""

    thinking_ns: int
    typing_ns: int
    waiting_ns: int
    driver_ns: int
    """Lines that were sent late."""

    @property
    def total_ns(self) -> int:
        """All of the users' time."""
        return self.thinking_ns + self.typing_ns + self.waiting_ns + self.driver_ns


def with_classes(interactions: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
    """`interactions` with `response_ns` (null: not answered), `lateness_ns`, and the classes of each row's time.

    The classes are `thinking_ns`, `typed_ns`, `waiting_ns` and `driver_ns`.
    A wait that no prompt ended lasts until the user's next prompt, or the end of the session, as far as the records
    tell.
    """
    numbers = ("planned_ns", "sent_ns", "ready_ns", "typing_ns", "think_ns")
    return (
        _with_session_end(interactions.with_columns(pl.col(*numbers).cast(pl.Int64)), sessions)
        .with_columns(
            LATENESS_NS,
            RESPONSE_NS,
            gap_ns=pl.col("think_ns") + pl.col("typing_ns"),
            next_prompt_ns=PROMPTED_NS.shift(-1).over("user", order_by="sent_ns"),
        )
        .with_columns(
            driver_ns=pl.min_horizontal("lateness_ns", "gap_ns"),
            waiting_ns=(pl.coalesce("ready_ns", "next_prompt_ns", "ended_ns", "sent_ns") - pl.col("sent_ns")).clip(0),
        )
        .with_columns(typed_ns=pl.min_horizontal(pl.col("typing_ns"), pl.col("gap_ns") - pl.col("driver_ns")))
        .with_columns(thinking_ns=pl.col("gap_ns") - pl.col("driver_ns") - pl.col("typed_ns"))
        .drop("gap_ns", "next_prompt_ns", "ended_ns")
    )


def classes_of(rows: pl.DataFrame) -> Classes:
    """The sums over `rows`, which come from `with_classes`."""
    thinking, typed, driver, waiting = rows.select(pl.col(*CLASSES).sum()).row(0)
    return Classes(thinking_ns=thinking, typing_ns=typed, waiting_ns=waiting, driver_ns=driver)


def _with_session_end(interactions: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
    ends = sessions.group_by("user").agg(pl.col("ended_ns").cast(pl.Int64).max())
    return interactions.join(ends, on="user", how="left", maintain_order="left")


def waits_in(
    rows: pl.DataFrame,
    span_ns: float,
    metered: Sequence[str] = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns"),
    unmetered: pl.Expr = RESPONSE_LESS_CPU,
) -> float:
    """How many mean waits for the system a span lasts; infinite where nobody waits.

    A wait is the sum of its `metered` columns, or where the first of them is empty, the `unmetered` expression.
    """
    known = [name for name in metered if rows[name].count()]
    waited = pl.sum_horizontal(pl.col(known).cast(pl.Float64)) if metered[0] in known else unmetered
    mean = rows.select(waited.mean()).item()
    return span_ns / mean if span_ns and mean and mean > 0 else float("inf")
