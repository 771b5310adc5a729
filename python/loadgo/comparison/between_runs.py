"""How much runs of a host differ by themselves, and whether enough is known of that for a verdict.

Users and stretches of time are drawn again within each run. Between two runs the host itself changes: other programs
come and go, memory fills, clocks change. One run a side has no measure of that. The measure is the scatter of like
runs, which have the same script, users and conditions. They are the runs of a side itself if there are several, and
earlier or later runs beside them. The logarithms of their figures have one pooled variance. The interval of a
difference is at least that of Student's t with this variance.

Like runs may contain a change point, such as a new kernel. The allowance includes it, and a sentence names it. The
scatter within the levels would be narrower, but how often it would be wrong has not been measured.

From five runs a side whole runs are drawn again, and the scatter is in the interval already. A neighbour that came
for all runs of one side is not in their scatter, so such sides have no allowance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from loadgo.comparison.cells import cells_of
from loadgo.comparison.difference import QUANTILES_BY_MEASURE, Allowance, Difference, Drift, interval_with
from loadgo.comparison.side import Side
from loadgo.stats.change_points import change_points
from loadgo.stats.resample import Floats

FEWEST_DEGREES = 4
"""Fewest degrees of freedom of an allowance: five like runs, or three runs a side."""
NEIGHBOUR_TOLERANCE = 0.05
"""Largest change of the neighbours' share of a host's processors that counts as none."""
MOST_GAP_SPANS = 3.0
"""Longest time between the sides, in lengths of the time in which the like runs were made.

Runs of a few minutes do not show how a host changes from day to day.
"""


@dataclass(frozen=True)
class HostChange:
    """A change of the level of like runs' response."""

    last_before: str
    """The name of the last run before the change."""
    first_after: str
    relative: float
    """The relative change of the mean response."""


@dataclass(frozen=True)
class BetweenRuns:
    """The knowledge of how much the runs of both sides differ by themselves."""

    drift: Drift
    groups: tuple[Side, ...] = ()
    """Like runs, each group with two or more. A side of several runs is a group."""
    live_runs: tuple[int, int] = (0, 0)
    """Number of live runs of each side."""
    added: bool = False
    """Whether the like runs repeat the same draws, while the two sides have different ones."""
    drawn_runs: int = 0
    """Number of runs of each side, if whole runs are drawn; else 0."""
    reason: str = ""
    """Why the like runs give no allowance, in words. Empty if they do, and if none is needed."""
    change_between: HostChange | None = None
    """The largest change of the like runs' level that lies between the sides."""

    @property
    def like_runs(self) -> int:
        """Number of like runs in all groups."""
        return sum(group.run_count for group in self.groups)

    @property
    def like_runs_in_words(self) -> str:
        """The like runs, with what makes them like."""
        return f"{self.like_runs} runs of this host with the script, users and conditions of A or of B"

    @property
    def degrees(self) -> int:
        """Degrees of freedom of their scatter."""
        return self.like_runs - len(self.groups)


NO_DRIFT = BetweenRuns("none")
"""The value for sides that are simulated or printed."""


@dataclass(frozen=True)
class RunMeans:
    """The figures of each run of a group of like runs."""

    means: Mapping[str, Floats]
    """By measure, the mean of each row in each run, of shape (runs, rows)."""
    quantiles: Mapping[str, Floats]
    """The quantiles of response by measure, of each run."""

    def summed(self, name: str, indices: list[int], weights: Floats) -> Floats | None:
        """The sum over these rows in each run."""
        return self.means[name][:, indices] @ weights if name in self.means else None

    def whole_responses(self) -> Floats:
        """The sum of all rows' mean responses in each run. NaN for a run that lacks a row; empty if none is known."""
        means = self.means.get("response")
        return np.empty(0) if means is None else means.sum(axis=1)


def between_runs_of(a: Side, b: Side, *, runs_are_drawn: bool, like_runs: Sequence[Side] = ()) -> BetweenRuns:
    """Judges whether the sides' own runs and the `like_runs` beside them show enough of drift."""
    sides = (a, b)
    if all(side.kind != "host" for side in sides):
        return NO_DRIFT
    live = [side for side in sides if side.kind == "host"]
    if runs_are_drawn:
        reason = _neighbours_against(live)
        drawn_runs = min(side.run_count for side in sides)
        return BetweenRuns("not known" if reason else "allowed", drawn_runs=drawn_runs, reason=reason)
    groups = tuple(side for side in (*live, *like_runs) if side.run_count > 1)
    live_runs = (a.run_count if a.kind == "host" else 0, b.run_count if b.kind == "host" else 0)
    has_one_seed = all(len(set(group.seeds)) == 1 for group in groups)
    added = len(live) == 1 or (has_one_seed and a.seeds != b.seeds)
    known = BetweenRuns("allowed", groups, live_runs, added)
    reason = _reason_against(known, live)
    return replace(known, drift="not known", reason=reason) if reason else known


def with_host_change(between: BetweenRuns, a: Side, b: Side, responses: Sequence[Floats]) -> BetweenRuns:
    """`between` with the largest change point of its like runs that lies between the sides, where both are live.

    `responses` has the summed mean responses of each run, group by group. The sides' own runs are not looked at, since
    they are few.
    """
    if between.drift != "allowed" or not all(between.live_runs):
        return between
    changes: list[HostChange] = []
    for group, values in zip(between.groups, responses, strict=True):
        is_known = group is not a and group is not b and len(group.starts_s) == len(values) == group.run_count
        levels = change_points(values) if is_known and bool(np.isfinite(values).all()) else ()
        changes += [
            HostChange(group.run_names[level.index - 1], group.run_names[level.index], level.size)
            for level in levels
            if level.scale == "ratio" and not _on_one_level(a, b, group.starts_s, level.index)
        ]
    largest = max(changes, key=lambda change: abs(math.log1p(change.relative)), default=None)
    return replace(between, change_between=largest)


def _on_one_level(a: Side, b: Side, starts_s: Sequence[float], index: int) -> bool:
    """Whether all runs of both sides were surely made on the same side of a change that is before run `index`."""
    own = (*a.starts_s, *b.starts_s)
    return max(own) <= starts_s[index - 1] or min(own) >= starts_s[index]


def run_means(frame: pl.DataFrame, rows: int) -> RunMeans:
    """The figures of each run in `frame`, which has the columns `row` and `run`."""
    cells = cells_of(frame, "run", rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = {name: cells.sums[name] / cells.counts[name] for name in cells.sums}
    responses = pl.col("response").fill_null(math.inf)
    quantiles = {
        name: frame.group_by("run").agg(responses.quantile(probability, "linear")).sort("run")["response"].to_numpy()
        for name, probability in QUANTILES_BY_MEASURE.items()
    }
    return RunMeans(means, quantiles)


def with_drift(difference: Difference, between: BetweenRuns, figures_by_group: Sequence[Floats | None]) -> Difference:
    """The difference with an allowance for drift in its interval, or marked as one whose drift is not known."""
    if between.drift == "none" or not between.groups:
        deviation = difference.deviation_of_runs(between.drawn_runs)
        return replace(difference, drift=between.drift, run_deviation=deviation)
    allowance = _allowance(between, figures_by_group)
    deviation = None if allowance is None else allowance.deviation
    before, after, within = difference.before, difference.after, difference.interval
    if between.drift == "not known" or allowance is None or within is None:
        return replace(difference, drift="not known", run_deviation=deviation)
    if before is None or after is None or before <= 0 or after <= 0:
        return replace(difference, drift="not known", run_deviation=deviation)
    interval = interval_with(allowance, before, after, within)
    return replace(difference, drift="allowed", run_deviation=deviation, interval=interval, within_runs=within)


def _allowance(between: BetweenRuns, figures_by_group: Sequence[Floats | None]) -> Allowance | None:
    """The pooled scatter of the logarithms. None if too few runs have the figure, or one has no logarithm.

    A run that lacks the figure (NaN) is left out. A run with the figure 0 is not: the others would scatter by less
    than the host does.
    """
    groups = [figures[~np.isnan(figures)] for figures in figures_by_group if figures is not None]
    degrees = sum(len(figures) - 1 for figures in groups if len(figures))
    if degrees < FEWEST_DEGREES or any(((figures <= 0) | np.isinf(figures)).any() for figures in groups):
        return None
    squares = sum(
        float(((logs := np.log(figures)) - logs.mean()).__pow__(2).sum()) for figures in groups if len(figures)
    )
    return Allowance(math.sqrt(squares / degrees), degrees, between.live_runs, between.added)


def _reason_against(between: BetweenRuns, live: Sequence[Side]) -> str:
    """Why the groups give no allowance, in words; empty if they do."""
    if between.degrees < FEWEST_DEGREES:
        runs = f"{FEWEST_DEGREES + 1} runs that are like those of one side"
        return f"give 3 runs a side, or {runs} in its folder"
    changes = [abs(first.mean_others_share - second.mean_others_share) for first in live for second in live]
    if max(changes) > NEIGHBOUR_TOLERANCE + max(_range(group.others_shares) for group in between.groups):
        return (
            f"other programs' share of the processors changed more between A and B than among the {between.like_runs} "
            "runs like them"
        )
    if reason := _neighbours_against(live):
        return reason
    starts = [sum(side.starts_s) / len(side.starts_s) for side in live if side.starts_s]
    if _range(starts) > MOST_GAP_SPANS * max(_range(group.starts_s) for group in between.groups):
        return f"the {between.like_runs} runs like A or B were made in a shorter time than lies between A and B"
    return ""


def _neighbours_against(live: Sequence[Side]) -> str:
    """Why two sides of several runs give no allowance: all runs of one side had busier neighbours. Empty if not so."""
    if len(live) < 2 or min(len(side.others_shares) for side in live) < 2:
        return ""
    low, high = sorted((side.others_shares for side in live), key=lambda shares: sum(shares) / len(shares))
    if min(high) - max(low) <= 0 or sum(high) / len(high) - sum(low) / len(low) <= NEIGHBOUR_TOLERANCE:
        return ""
    return "in each run of one side the neighbours' share of the processors was larger than in any of the other"


def _range(values: Sequence[float]) -> float:
    return max(values, default=0.0) - min(values, default=0.0)
