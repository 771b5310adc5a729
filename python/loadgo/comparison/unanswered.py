"""The time that lines without an answer may add to the change of a mean response, which leaves them out.

Nobody knows when such a line would have been answered. It takes at least as long as it was waited for, and is slower
than the mean of those that were answered. The upper bound is `MOST_TIMES_WAITED` times that, chosen by hand. The share
that both sides left without an answer counts as equally slow on both, so only what one side has more is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.comparison.cells import ResampledRows
from loadgo.stats.resample import Floats, Interval

MOST_TIMES_WAITED = 10.0
"""A verdict holds if it is the same up to this many times the time for which the lines were waited for."""


@dataclass(frozen=True)
class AddedTime:
    """The least and the most that lines without an answer may add to the change of each row's mean response."""

    least: Floats
    most: Floats

    def summed(self, indices: Sequence[int], weights: Floats) -> Interval | None:
        """The sum over rows. None if one side has no more lines without an answer than the other in these rows."""
        least, most = (float(bound[list(indices)] @ weights) for bound in (self.least, self.most))
        return Interval(least, most) if least or most else None


@dataclass(frozen=True)
class _Unanswered:
    """The lines without an answer of one side, by row."""

    shares: Floats
    waited: Floats
    """The mean time for which they were waited for, at least the mean of those that were answered."""
    means: Floats
    """The mean response of those that were answered."""

    def added(self, shares: Floats, times: float) -> Floats:
        """The time that these shares of lines add to the means if they take `times` the time waited for."""
        added: Floats = np.where(shares > 0, shares * (times * self.waited - self.means), 0.0)
        return added


def added_by_unanswered(
    frames: tuple[pl.DataFrame, pl.DataFrame], sides: tuple[ResampledRows, ResampledRows], rows: int
) -> AddedTime | None:
    """The time that lines without an answer may add. None if all lines were answered, or if a side has no responses.

    The frames have the columns `row`, `response` and `waited`.
    """
    if any("response" not in side.means for side in sides) or not any(frame["waited"].count() for frame in frames):
        return None
    a, b = (_unanswered(frame, side, rows) for frame, side in zip(frames, sides, strict=True))
    more_in_a, more_in_b = np.maximum(a.shares - b.shares, 0.0), np.maximum(b.shares - a.shares, 0.0)
    least = b.added(more_in_b, 1.0) - a.added(more_in_a, MOST_TIMES_WAITED)
    most = b.added(more_in_b, MOST_TIMES_WAITED) - a.added(more_in_a, 1.0)
    return AddedTime(least, most)


def _unanswered(frame: pl.DataFrame, side: ResampledRows, rows: int) -> _Unanswered:
    means = np.nan_to_num(side.means["response"][0])
    unanswered = frame.filter(pl.col("waited").is_not_null())
    places = unanswered["row"].to_numpy()
    counts = np.bincount(places, minlength=rows)
    answered = np.bincount(frame.filter(pl.col("response").is_not_null())["row"].to_numpy(), minlength=rows)
    waited = np.maximum(unanswered["waited"].to_numpy(), means[places])
    means_waited = np.bincount(places, waited, rows) / np.maximum(counts, 1)
    return _Unanswered(counts / np.maximum(counts + answered, 1), means_waited, means)
