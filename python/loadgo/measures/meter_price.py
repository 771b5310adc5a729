"""The price of the meters: processor time that they took, by random windows in which the kernel clocked their programs.

The windows' beginnings are a Poisson sample of the run. The programs' time in all windows, over the busy time in
them, estimates the programs' share of all busy time. It is a ratio estimator (Cochran, Sampling
Techniques, 1977, chapter 6): its standard error follows from the scatter of the windows around the ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from loadgo.stats.student import student_reach

FEWEST_WINDOWS = 4
"""Number of windows from which on a price is estimated: fewer have no scatter to speak of."""


@dataclass(frozen=True)
class PriceOfMeter:
    """The time of one meter's programs in a stretch, estimated from windows."""

    meter: str
    """`clock` is the program at the ticks of the clock that divides busy time."""
    runs: float
    """Number of runs of its programs in the stretch."""
    time_ns: float
    error_ns: float
    """Half of the 95 % interval of `time_ns`."""
    has_calls: bool
    """Whether the time that the kernel takes to call the programs is in `time_ns`."""


@dataclass(frozen=True)
class MeterPrice:
    """The time that the meters took in a stretch."""

    windows: int
    windows_ns: int
    """Length of all windows."""
    programs_ns: float
    """Time of the programs in the kernel, estimated from the windows, with the kernel's calls of them."""
    error_ns: float
    """Half of the 95 % interval of `programs_ns`."""
    reading_ns: int | None
    """Time of the threads that sample and write, by the kernel's own account; None when it was not measured."""
    share: float
    """The share of both in the busy time, 0 to 1."""
    share_error: float
    """Half of the 95 % interval of `share`."""
    by_meter: tuple[PriceOfMeter, ...]
    """The meters, the dearest first."""


@dataclass(frozen=True)
class _Windows:
    """The busy time, the price and the price's own error in each window."""

    busy_ns: Sequence[float]
    price_ns: Sequence[float]
    call_error_ns: float
    """The standard error of all windows' calls together. It is the same in each window, so more windows leave it."""

    def share_and_error(self) -> tuple[float, float]:
        """The share of the busy time, and half of its 95 % interval."""
        busy_ns, count = sum(self.busy_ns), len(self.busy_ns)
        share = sum(self.price_ns) / busy_ns
        squares = sum((price - share * busy) ** 2 for price, busy in zip(self.price_ns, self.busy_ns, strict=True))
        error_ns = math.hypot(math.sqrt(squares * count / (count - 1)), self.call_error_ns)
        return share, student_reach(count - 1) * error_ns / busy_ns


def meter_price_of(rows: pl.DataFrame, busy_ns: int, reading_ns: int | None) -> MeterPrice | None:
    """The price of the meters in a stretch of `busy_ns`, whose windows have the `rows` of the table `meter_price`.

    None with too few windows, or if the processors were idle in all of them.
    """
    priced = rows.select(
        "at_ns",
        "busy_ns",
        "span_ns",
        pl.col("meter").cast(pl.String),
        runs=pl.col("runs").cast(pl.Float64),
        price_ns=(pl.col("run_ns") + pl.col("call_ns").fill_null(0)).cast(pl.Float64),
        call_error_ns=pl.col("call_error_ns").fill_null(0).cast(pl.Float64),
        has_calls=pl.col("call_ns").is_not_null(),
    )
    by_window = pl.col("price_ns").sum(), pl.col("call_error_ns").sum(), pl.col("busy_ns", "span_ns").first()
    windows = priced.group_by("at_ns", maintain_order=True).agg(by_window)
    in_windows_ns = int(windows["busy_ns"].sum())
    if len(windows) < FEWEST_WINDOWS or not in_windows_ns or not busy_ns:
        return None
    programs, error = _windows_in(windows).share_and_error()
    meters = [
        _price_of_meter(str(meter), frame, busy_ns, in_windows_ns)
        for (meter,), frame in priced.group_by("meter", maintain_order=True)
    ]
    return MeterPrice(
        windows=len(windows),
        windows_ns=int(windows["span_ns"].sum()),
        programs_ns=programs * busy_ns,
        error_ns=error * busy_ns,
        reading_ns=reading_ns,
        share=programs + (reading_ns or 0) / busy_ns,
        share_error=error,
        by_meter=tuple(sorted(meters, key=lambda one: -one.time_ns)),
    )


def _price_of_meter(meter: str, frame: pl.DataFrame, busy_ns: int, in_windows_ns: int) -> PriceOfMeter:
    """The price of one meter, which has a row in each window."""
    share, error = _windows_in(frame).share_and_error()
    return PriceOfMeter(
        meter=meter,
        runs=float(frame["runs"].sum()) * busy_ns / in_windows_ns,
        time_ns=share * busy_ns,
        error_ns=error * busy_ns,
        has_calls=bool(frame["has_calls"].all()),
    )


def _windows_in(frame: pl.DataFrame) -> _Windows:
    return _Windows(frame["busy_ns"].to_list(), frame["price_ns"].to_list(), float(frame["call_error_ns"].sum()))
