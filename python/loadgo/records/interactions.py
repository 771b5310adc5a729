"""Derived columns of the table `interactions`, each defined once.

A user's time is divided at the prompts into classes: thinking, typing, waiting for the system, and the driver's
lateness. The time from a prompt to the sending is `think_ns + typing_ns`, which includes the lateness
(`sent_ns - planned_ns`). From the sending to the next prompt the user waits. Integers make the classes add up exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from loadgo import _loadgo

USAGE_COLUMNS = (*_loadgo.USAGE_COLUMNS, "bytes_out", "throttled_ns")
"""Columns of the resources that an interaction used, and of what the user's quota took from it."""
CLASS_COLUMNS = ("thinking_ns", "typed_ns", "driver_ns", "waiting_ns")
"""Columns of `with_classes` that add up to all of a user's time.

Unlike the recorded `typing_ns`, `typed_ns` leaves out the driver's lateness.
"""


CLASS_SUMS = (pl.col(*CLASS_COLUMNS).sum(),)
"""The aggregates of rows of `with_classes` that `classes_in` reads."""


def _ns(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Int64)


IS_MEASURED = pl.col("outcome").cast(pl.String) != "extrapolated"
"""Whether a row was recorded. The other rows are extrapolated for users who died."""
IS_ANSWERED = pl.col("ready_ns").is_not_null()
IS_UNSEEN = (pl.col("outcome").cast(pl.String) == "unconfirmed") & pl.col("ready_ns").is_null()
"""Whether keys changed nothing on the screen. Nobody can see when they were answered, so they have no response time."""
CPU_NS = (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).alias("cpu_ns")
"""Processor time, user and system; null if it was not measured."""
RESPONSE_NS = (_ns("ready_ns") - _ns("sent_ns")).alias("response_ns")
"""Time from the sending to the prompt; null if no prompt came."""
IS_UNANSWERED = pl.col("response_ns").is_null() | pl.col("outcome").cast(pl.String).is_in(["timeout", "died"])
"""Whether a line of `with_classes` had no answer: it timed out, or its session died before."""
RESPONSE_OR_INFINITE_NS = pl.when(IS_UNANSWERED).then(float("inf")).otherwise(pl.col("response_ns"))
"""The response time of a line of `with_classes`; infinite for a line without an answer."""
LATENESS_NS = (_ns("sent_ns") - _ns("planned_ns")).clip(0).alias("lateness_ns")
"""Time between the instant when the line was due and its sending."""
PROMPTED_NS = _ns("sent_ns") - _ns("typing_ns") - _ns("think_ns")
"""The instant of the prompt before the line, when the user began to think."""
RESPONSE_LESS_CPU_NS = RESPONSE_NS.cast(pl.Float64) - CPU_NS.cast(pl.Float64).fill_null(0.0)
CYCLE_NS = pl.sum_horizontal(*CLASS_COLUMNS).alias("cycle_ns")
"""Time from prompt to prompt, in rows of `with_classes`."""


@dataclass(frozen=True)
class TimeByClass:
    """The users' time by class."""

    thinking_ns: int
    typing_ns: int
    waiting_ns: int
    driver_ns: int
    """Time by which lines were sent late."""

    @property
    def total_ns(self) -> int:
        """All of the users' time."""
        return self.thinking_ns + self.typing_ns + self.waiting_ns + self.driver_ns


def with_classes(interactions: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
    """`interactions` with `response_ns` (null: not answered), `lateness_ns`, and the classes of each row's time.

    The classes are `thinking_ns`, `typed_ns`, `waiting_ns` and `driver_ns`. A wait without a prompt ends at the user's
    next prompt, or else at the end of the session. If neither is recorded, it counts as 0.
    """
    return lazy_with_classes(interactions.lazy(), sessions).collect()


def lazy_with_classes(interactions: pl.LazyFrame, sessions: pl.DataFrame) -> pl.LazyFrame:
    """`with_classes` as a query, so that a choice of rows costs no further query."""
    numbers = ("planned_ns", "sent_ns", "ready_ns", "typing_ns", "think_ns")
    ends = sessions.lazy().group_by("user").agg(pl.col("ended_ns").cast(pl.Int64).max())
    return (
        interactions.with_columns(pl.col(*numbers).cast(pl.Int64))
        .join(ends, on="user", how="left", maintain_order="left")
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


def classes_of(rows: pl.DataFrame) -> TimeByClass:
    """The sums over `rows`, which come from `with_classes`."""
    return classes_in({name: int(rows[name].sum()) for name in CLASS_COLUMNS})


def classes_in(aggregates: Mapping[str, int]) -> TimeByClass:
    """The sums from `CLASS_SUMS`."""
    thinking, typed, driver, waiting = (aggregates[name] for name in CLASS_COLUMNS)
    return TimeByClass(thinking_ns=thinking, typing_ns=typed, waiting_ns=waiting, driver_ns=driver)


def span_in_waits(
    rows: pl.DataFrame,
    span_ns: float,
    metered: Sequence[str] = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns"),
    unmetered: pl.Expr = RESPONSE_LESS_CPU_NS,
) -> float:
    """The length of a span as a multiple of the users' mean wait for the system; infinite if no user waits.

    The wait of a row is the sum of the `metered` columns. If the first of these was not measured, the wait is the
    expression `unmetered`.
    """
    measured = [name for name in metered if rows[name].count()]
    wait = pl.sum_horizontal(pl.col(measured).cast(pl.Float64)) if metered[0] in measured else unmetered
    mean = rows.select(wait.mean()).item()
    return span_ns / mean if span_ns and mean and mean > 0 else float("inf")
