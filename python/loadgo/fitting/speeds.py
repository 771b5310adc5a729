"""The speed of the processors in each run of a fit, by the reference work, and processor times at equal speed.

A slow processor takes longer for the reference work and for the commands alike. But the users' own load may slow the
reference work as well, by caches and cores that they share. How processor time depends on that load is the machine's
own (`cpu_when_busy`), and dividing would take it away. So the pieces within each run are regressed on the users' share
of the processors in the second around them. Only where this surely changes them little between the loads of the runs
do their times tell the speed of the host.

The times are drawn towards their mean by their own errors (W. James and C. Stein, 1961), so that a difference between
runs that is chance alone changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from loadgo.fitting.system import processor_count
from loadgo.measures.processor_speed import processor_speed_of
from loadgo.notation.figures import duration
from loadgo.notation.laws import amount
from loadgo.records.phases import lies_in
from loadgo.stats.resample import Floats
from loadgo.stats.student import student_reach

if TYPE_CHECKING:
    from loadgo.fitting.reading import RunReading

MOST_OWN_SHARE = 0.03
"""Largest relative difference that the users' loads may make between the reference work of two runs of a fit."""
_FEWEST_SPREAD_RUNS = 4
"""Fewest runs that show how much the speed differs between runs: a deviation of fewer is worth little."""
_MANY_DEGREES = 1000


@dataclass(frozen=True)
class OwnEffect:
    """The change of the reference work's time from no load of the users to all processors busy with them."""

    change: float
    """The change of the logarithm."""
    reach: float
    """Half of the 95 % interval of `change`."""

    def is_small(self, loads: Floats) -> bool:
        """Whether the effect surely makes little difference between runs with these loads."""
        return (abs(self.change) + self.reach) * float(np.ptp(loads)) <= MOST_OWN_SHARE

    @property
    def in_words(self) -> str:
        """The effect, as `+0.3 % ± 2.9 %`."""
        return f"{100 * self.change:+.1f} % ± {100 * self.reach:.1f} %".replace("-", "−")


@dataclass(frozen=True)
class RunSpeeds:
    """The speeds of the runs of a fit."""

    times_ns: Floats
    """Mean time of a piece of the reference work, by run."""
    errors: Floats
    """Standard errors of their logarithms."""
    loads: Floats
    """Mean share of the processors that the users had beside the pieces, by run; 0 where it is not known."""
    effect: OwnEffect | None
    """None where the runs do not show the users' share of the processors."""
    is_wanted: bool = True
    """Whether processor times are to be brought to equal speed, if the runs allow it."""

    @property
    def reference_ns(self) -> float:
        """The time of a piece at the mean speed of the runs."""
        return float(np.exp(np.log(self.times_ns).mean()))

    @property
    def is_used(self) -> bool:
        """Whether processor times are brought to equal speed."""
        is_possible = self.effect is not None and self.effect.is_small(self.loads)
        return self.is_wanted and len(self.times_ns) > 1 and is_possible

    @property
    def factors(self) -> Floats:
        """Factors for the processor times of each run at equal speed; 1 if these are left as they are."""
        if not self.is_used:
            return np.ones_like(self.times_ns)
        logs = np.log(self.times_ns)
        scatter, chance = float(logs.var(ddof=1)), float((self.errors**2).mean())
        trust = max(0.0, 1 - chance / scatter) if scatter > 0 else 0.0
        factors: Floats = np.exp(-trust * (logs - logs.mean()))
        return factors

    @property
    def spread(self) -> float:
        """Deviation of the logarithm of the speed from run to run, which a predicted run has too.

        0 where times are left as they are, and of too few runs.
        """
        runs = len(self.times_ns)
        if not self.is_used or runs < _FEWEST_SPREAD_RUNS:
            return 0.0
        logs = np.log(self.factors)
        return float(logs.std(ddof=1)) * student_reach(runs - 1) / student_reach(_MANY_DEGREES)

    @property
    def reference_text(self) -> str:
        """The time of a piece as the machine file has it."""
        return amount(float(f"{self.reference_ns:.4g}"), timed=True)

    @property
    def in_words(self) -> str:
        """A sentence on the speeds, and whether processor times were brought to equal speed."""
        speeds = self.reference_ns / self.times_ns
        piece = f"a piece of the reference work took {duration(self.reference_ns)}"
        if len(speeds) == 1:
            return f"the demands hold at the speed of the run, at which {piece}"
        between = f"the runs' processors were at {speeds.min():.2f} to {speeds.max():.2f} of their mean speed"
        own = "from idle to busy, the users would change that by"
        if self.is_used:
            return f"{between}; processor times are those at the mean, at which {piece} ({own} {self.effect_in_words})"
        if not self.is_wanted:
            return f"{between}; processor times are as measured, at the mean of which {piece}"
        if self.effect is None:
            return (
                f"{between}; how much the users' own load did to that is not known, so processor times are as measured"
            )
        return f"{between}; {own} {self.effect_in_words}, so processor times are as measured"

    @property
    def effect_in_words(self) -> str:
        """The effect of the users' load, or an empty text."""
        return self.effect.in_words if self.effect else ""


def run_speeds(readings: Sequence[RunReading], *, is_wanted: bool = True) -> RunSpeeds | None:
    """The speeds of the runs; None unless all had the same reference work on one host, with the same meters.

    `is_wanted` is that of `RunSpeeds`.
    """
    if readings[0].kind != "host" or len({str(_conditions_of(reading)) for reading in readings}) > 1:
        return None
    speeds = [processor_speed_of(reading.tables, reading.stretch) for reading in readings]
    known = [speed for speed in speeds if speed is not None]
    if len(known) < len(speeds):
        return None
    beside = [_pieces_and_shares(reading) for reading in readings]
    return RunSpeeds(
        times_ns=np.array([speed.mean_ns for speed in known]),
        errors=np.array([speed.error_ns / speed.mean_ns for speed in known]),
        loads=np.array([float(shares.mean()) if len(shares) else 0.0 for _, shares in beside]),
        effect=own_effect(beside),
        is_wanted=is_wanted,
    )


def at_equal_speed(readings: Sequence[RunReading], speeds: RunSpeeds | None) -> list[RunReading]:
    """The runs with the processor times that they would have had at equal speed. Responses change by as much."""
    if speeds is None or not speeds.is_used:
        return list(readings)
    return [
        replace(one, rows=_scaled(one.rows, float(factor)))
        for one, factor in zip(readings, speeds.factors, strict=True)
    ]


def _scaled(rows: pl.DataFrame, factor: float) -> pl.DataFrame:
    return rows.with_columns(
        response=pl.col("response") + pl.col("cpu") * (factor - 1),
        cpu=pl.col("cpu") * factor,
        system=pl.col("system") * factor,
    )


def _conditions_of(reading: RunReading) -> tuple[Any, ...]:
    """The version, host and meters of a run, which decide what the reference work takes."""
    conditions = reading.conditions
    system = conditions.get("system", {})
    tier = conditions.get("meters", {}).get("tier")
    return conditions.get("loadgo"), system.get("name"), system.get("hostname"), tier


def own_effect(runs: Sequence[tuple[Floats, Floats]]) -> OwnEffect | None:
    """The effect of the users' share of the processors on the pieces' times, regressed within each run.

    A run is the times of its pieces and the shares beside them. None where too few have a share, or none varies.
    """
    away = [(np.log(times) - np.log(times).mean(), shares - shares.mean()) for times, shares in runs if len(times)]
    if not away:
        return None
    times, shares = np.concatenate([one for one, _ in away]), np.concatenate([one for _, one in away])
    degrees, squares = len(times) - len(away) - 1, float(shares @ shares)
    if degrees < 1 or squares <= 0:
        return None
    change = float(times @ shares) / squares
    residuals = times - change * shares
    error = (float(residuals @ residuals) / degrees / squares) ** 0.5
    return OwnEffect(change, student_reach(min(degrees, _MANY_DEGREES)) * error)


def _pieces_and_shares(reading: RunReading) -> tuple[Floats, Floats]:
    """The times of a run's pieces over the mean of their processor, and the users' share of the processors beside each.

    The longest are among them: to leave them out would leave out most of those beside a large share.
    """
    own = reading.tables.processes.filter((pl.col("who").cast(pl.String) == "users") & pl.col("user").is_null())
    share = pl.col("cpu_ns") / (pl.col("span_ns") * processor_count(reading))
    spans = own.filter(pl.col("span_ns") > 0).select("at_ns", share=share).sort("at_ns")
    pieces = reading.tables.processor_speed.filter(lies_in(reading.stretch)).sort("at_ns")
    time = pl.col("cpu_ns").cast(pl.Float64)
    beside = (
        pieces.select("at_ns", time=time / time.mean().over("processor"))
        .join_asof(spans, on="at_ns", strategy="forward")
        .drop_nulls()
    )
    return beside["time"].to_numpy(), beside["share"].to_numpy()
