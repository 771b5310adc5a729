"""The speed of the processors in a stretch, by the pieces of a reference work that loadgo does beside the users.

A piece is always the same work, so its processor time is the inverse of the speed. The processors take turns. Each of
them is compared with itself, since processors of one host may differ.

The longest tenth of the pieces is left out: interrupts and other guests have cut into them. The error of such a mean is
that of values of which the longest tenth counts as its shortest (J. Tukey and D. McLaughlin, Sankhya A 25 (1963), page
331). It is taken from differences between successive pieces (J. von Neumann et al., Annals of Mathematical Statistics
12 (1941), page 153). A slow change within a half is no error of its mean, and is not in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.notation.figures import share
from loadgo.records.phases import lies_in
from loadgo.stats.student import student_reach

if TYPE_CHECKING:
    from loadgo.records.phases import Stretch
    from loadgo.records.tables import Tables

FEWEST_PIECES = 20
"""The fewest pieces whose halves are compared."""
CHANGE_WARNING_SHARE = 0.05
"""A change of speed between the halves of a run that is a warning, if it is surely no chance."""
_KEPT_SHARE = 0.9
"""The share of the pieces, the shortest, whose mean is taken. It followed commands' times best (docs/fit.md)."""
_DEGREES_OF_DIFFERENCE = 2 / 3
"""Degrees of freedom that each successive difference adds to the variance (von Neumann, 1941)."""

PieceTimes = NDArray[np.float64]
"""Processor times of pieces, in nanoseconds or over a mean."""


@dataclass(frozen=True)
class ProcessorSpeed:
    """The speed of the processors in a stretch, as times of one piece of the reference work."""

    pieces: int
    mean_ns: float
    """Mean processor time of a piece, without the longest tenth; each processor counts alike."""
    error_ns: float
    """Standard error of `mean_ns`."""
    slow: float
    """The speed over the mean speed that a tenth of the pieces was below."""
    fast: float
    """The speed over the mean speed that a tenth of the pieces was above."""
    later_ratio: float
    """Time of a piece in the second half of the stretch over that in the first."""
    later_low: float
    later_high: float
    """The ends of the 95 % interval of `later_ratio`."""

    @property
    def has_changed(self) -> bool:
        """Whether the halves differ by more than chance."""
        return not self.later_low <= 1.0 <= self.later_high

    @property
    def is_large(self) -> bool:
        """Whether the halves differ by so much that the run's figures are in doubt."""
        return self.has_changed and abs(self.later_ratio - 1) > CHANGE_WARNING_SHARE


def processor_speed_of(tables: Tables, stretch: Stretch) -> ProcessorSpeed | None:
    """The speed of the processors in a stretch; None where it was not measured, or by too few pieces."""
    frame = tables.processor_speed
    return None if frame.is_empty() else speed_in(frame.filter(lies_in(stretch)), stretch.start_ns, stretch.end_ns)


def speed_in(pieces: pl.DataFrame, start_ns: int, end_ns: int) -> ProcessorSpeed | None:
    """The speed of the processors by `pieces`, rows of `processor_speed` from `start_ns` to `end_ns`.

    None if they are too few, or no processor has some in both halves.
    """
    middle_ns = (start_ns + end_ns) // 2
    halves = [_by_processor(pieces, is_later, middle_ns) for is_later in (False, True)]
    processors = sorted(halves[0].keys() & halves[1].keys())
    times = [np.concatenate([half[processor] for half in halves]) for processor in processors]
    if sum(map(len, times)) < FEWEST_PIECES:
        return None
    means = np.array([_kept_mean(each) for each in times])
    shortened = [
        np.concatenate([_shortened(half[processor]) for half in halves]) / mean
        for processor, mean in zip(processors, means, strict=True)
    ]
    differences = np.concatenate([np.diff(each) for each in shortened])
    variance = float((differences**2).mean()) / 2 / _KEPT_SHARE**2
    degrees = max(1, round(_DEGREES_OF_DIFFERENCE * len(differences)))
    ratio, error = _later_over_earlier(halves, processors, variance)
    reach = math.exp(student_reach(degrees) * error)
    speeds = np.concatenate([mean / each for each, mean in zip(times, means, strict=True)])
    counts = np.array([len(each) for each in times])
    return ProcessorSpeed(
        pieces=int(counts.sum()),
        mean_ns=float(means.mean()),
        error_ns=float(np.sqrt((means**2 * variance / counts).sum())) / len(means),
        slow=float(np.quantile(speeds, 0.1)),
        fast=float(np.quantile(speeds, 0.9)),
        later_ratio=ratio,
        later_low=ratio / reach,
        later_high=ratio * reach,
    )


def speed_clause(speed: ProcessorSpeed) -> str:
    """The clause on the second half of a stretch, as `in its second half they were 4.2 % slower (95 %: 1.9 to 6.6 %)`.

    It says *slower* or *faster* for what is not chance alone.
    """
    if not speed.has_changed:
        largest = max(1 - speed.later_low, speed.later_high - 1)
        return f"both halves were equally fast, within {share(largest)} (95 %)"
    word = "slower" if speed.later_ratio > 1 else "faster"
    # A speed is the inverse of a time.
    estimate, *ends = (abs(1 / time - 1) for time in (speed.later_ratio, speed.later_low, speed.later_high))
    low, high = (share(end) for end in sorted(ends))
    return f"in its second half they were {share(estimate)} {word} (95 %: {low} to {high})"


def speed_warnings(speed: ProcessorSpeed | None) -> list[str]:
    """A warning if the speed surely changed by much."""
    if speed is None or not speed.is_large:
        return []
    return [
        f"The processors' speed changed during the run: {speed_clause(speed)}. Processor times and responses changed "
        "with it, and are means of both halves. Other guests of the machine, its frequency, or a load that changed can "
        "be the cause. Run again, or compare by `loadgo ab`, which runs both sides in turn."
    ]


def _by_processor(pieces: pl.DataFrame, is_later: bool, middle_ns: int) -> dict[int, PieceTimes]:
    """The times of the pieces of each processor in one half, in the order of time."""
    is_in_half = (pl.col("at_ns") > middle_ns) == is_later
    rows = pieces.filter(is_in_half).sort("at_ns").select("processor", pl.col("cpu_ns").cast(pl.Float64))
    parts = rows.partition_by("processor", as_dict=True)
    return {int(processor): part["cpu_ns"].to_numpy() for (processor,), part in parts.items()}


def _kept_mean(times: PieceTimes) -> float:
    """The mean of the shortest times, `_KEPT_SHARE` of all."""
    kept = np.sort(times)[: math.ceil(_KEPT_SHARE * len(times))]
    return float(kept.mean())


def _shortened(times: PieceTimes) -> PieceTimes:
    """The times in their order, of which none is longer than those that `_kept_mean` keeps."""
    longest = np.sort(times)[math.ceil(_KEPT_SHARE * len(times)) - 1]
    shortened: PieceTimes = np.minimum(times, longest)
    return shortened


def _later_over_earlier(
    halves: list[dict[int, PieceTimes]], processors: list[int], variance: float
) -> tuple[float, float]:
    """The ratio of the halves' times as the mean of all processors, and the standard error of its logarithm."""
    logs = [math.log(_kept_mean(halves[1][each]) / _kept_mean(halves[0][each])) for each in processors]
    errors = [variance * (1 / len(halves[0][each]) + 1 / len(halves[1][each])) for each in processors]
    return math.exp(sum(logs) / len(logs)), math.sqrt(sum(errors)) / len(logs)
