"""Two sides compared command by command: the mean of each row on both sides, the difference, and its interval.

If both sides typed the same script, an interaction has a counterpart: the same user at the same place of the script.
Users are then resampled in pairs, so differences between users cancel. Otherwise the users of each side are resampled
separately. With five or more runs on each side, runs are resampled, in pairs if their seeds are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
import polars as pl

from loadgo.comparison.between_runs import (
    NO_DRIFT,
    BetweenRuns,
    RunMeans,
    between_runs_of,
    run_means,
    with_drift,
    with_host_change,
)
from loadgo.comparison.cells import (
    ResampledRows,
    by_stretch,
    by_unit,
    cells_of,
    count_spreads,
    in_counterpart_stretches,
    paired_cells,
    quantiles_of,
    with_stretches,
)
from loadgo.comparison.difference import (
    QUANTILES_BY_MEASURE,
    Difference,
    Resampled,
    are_two_independent_ways,
    difference_of,
    interval_of_counts,
)
from loadgo.comparison.one_sided import rows_of_one_side, users_of_one_side
from loadgo.comparison.side import COMPARED_MEASURES, Side
from loadgo.comparison.two_way import Spread, spread_of_rows
from loadgo.comparison.unanswered import added_by_unanswered
from loadgo.errors import BadArgument
from loadgo.notation.margin import DEFAULT_MARGIN_SHARE
from loadgo.records.interactions import span_in_waits
from loadgo.stats.resample import FEWEST_UNITS, Floats, Integers, too_short

MOST_LINES = 40
"""Most lines in all passes for which rows are lines. With more lines, rows are commands."""
WAIT_MEASURES = ("ready wait", "paging wait", "I/O wait")
QUEUEING_MEASURES = ("response", *WAIT_MEASURES, "cycle", "throughput", *QUANTILES_BY_MEASURE)
"""Measures that depend on the queue, which all users of a run share. Resampling users cannot judge them alone."""
_FEWEST_ANSWERS = 2
"""Fewest interactions of a row on each side for an interval. Each resample of a single one has the same mean."""
_MOST_RUN_USERS = 2**32
_SEED, _OTHER_SEED = 19730517, 19690519


@dataclass(frozen=True)
class Row:
    """A command, a line of the script in one pass, or a sum of such rows."""

    label: str
    kind: Literal["row", "subtotal", "total"]
    measures: Mapping[str, Difference]
    counts: tuple[int, int] | None = None
    """Number of measured interactions of each side. None if a side is printed."""


@dataclass(frozen=True)
class Matched:
    """The rows that both sides have."""

    by: Literal["line", "command"]
    paired: bool
    unit: Literal["user", "run"]
    units: tuple[int, int]
    """Number of units that were resampled on each side."""
    rows: tuple[Row, ...]
    """The rows with sub-totals and the total. Empty if the sides have nothing in common."""
    whole: Mapping[str, Difference]
    """All measures of the whole script or of the mean interaction, with quantiles of response and the throughput."""
    left_out: tuple[str, ...]
    """Sentences about rows that only one side has, and about users without a counterpart."""
    waits: float | None = None
    """Length of a run in mean waits if it is too short to judge response times; else None.

    It is the smaller number of the two sides.
    """
    between: BetweenRuns = NO_DRIFT
    """The knowledge of how much the runs differ by themselves."""


@dataclass(frozen=True)
class _Plan:
    """How the rows and the units of two sides correspond."""

    by: Literal["line", "command"]
    paired: bool
    unit: Literal["user", "run"]
    kinds: tuple[str, str]
    drawn_together: bool
    """Whether units are resampled in pairs: they typed the same, and have the same seeds."""
    same_draws: bool
    """Whether both sides are simulated with the same seeds, so that users draw the same in each interaction."""
    fixed_spans: tuple[bool, bool]
    """Whether the runs of each side lasted a fixed time."""
    counts_tell: bool
    """Whether the throughput's interval is by counts: the users of each side were drawn by themselves."""
    keys: pl.DataFrame
    """The rows, with the columns row, pass and line or command, and label."""

    @property
    def key_columns(self) -> list[str]:
        """The columns that identify a row."""
        return ["pass", "line"] if self.by == "line" else ["command"]


def matched(
    a: Side,
    b: Side,
    by: Literal["line", "command"] | None = None,
    like_runs: Sequence[Side] = (),
    margin: float = DEFAULT_MARGIN_SHARE,
) -> Matched:
    """Compares `b` with `a` row by row. Rows are lines if both sides have few lines in common, unless `by` is given.

    `like_runs` are groups of runs beside those of the sides that show how much runs differ by themselves. `margin` is
    the relative change that is too small to matter.
    """
    plan = _plan(a, b, by)
    between = between_runs_of(a, b, runs_are_drawn=plan.unit == "run", like_runs=like_runs)
    group_means = [run_means(_in_units(group, plan), len(plan.keys)) for group in between.groups]
    between = with_host_change(between, a, b, [means.whole_responses() for means in group_means])
    left, right = (_in_units(side, plan) for side in (a, b))
    left_out = rows_of_one_side(a, b, plan.by, plan.key_columns)
    if plan.paired:
        common_units = set(left["unit"].unique()) & set(right["unit"].unique())
        unpaired = users_of_one_side(left, right, len(common_units))
        left_out += unpaired
        if unpaired:
            left, right = (frame.filter(pl.col("unit").is_in(list(common_units))) for frame in (left, right))
    waits = min(_waits(a), _waits(b)) if plan.unit == "user" else math.inf
    runs = min(frame["run"].n_unique() for frame in (a.rows, b.rows))
    is_short = too_short(runs, waits)
    rows, whole = _rows(plan, (left, right), waits, between, group_means)
    if is_short:
        rows = tuple(replace(row, measures=_unjudged(row.measures)) for row in rows)
        whole = _unjudged(whole)
    rows = tuple(replace(row, measures=_with_margin(row.measures, margin)) for row in rows)
    whole = _with_margin(whole, margin)
    units = (left["unit"].n_unique(), right["unit"].n_unique())
    shown_waits = waits if is_short and whole else None
    return Matched(plan.by, plan.drawn_together, plan.unit, units, rows, whole, tuple(left_out), shown_waits, between)


def _waits(side: Side) -> float:
    """Length of a run in mean waits; infinite if no user waits, or the waits are not known."""
    span_ns = sum(stretch.span_ns for stretch in side.stretches) / max(len(side.stretches), 1)
    return span_in_waits(side.rows, span_ns, WAIT_MEASURES, pl.col("response") - pl.col("cpu").fill_null(0.0))


def _unjudged(measures: Mapping[str, Difference]) -> dict[str, Difference]:
    """Removes the intervals of measures that depend on the queue."""

    return {
        name: without_intervals(difference) if name in QUEUEING_MEASURES else difference
        for name, difference in measures.items()
    }


def without_intervals(difference: Difference) -> Difference:
    """The difference with its figures alone."""
    return replace(difference, interval=None, before_interval=None, after_interval=None, within_runs=None)


def _with_margin(measures: Mapping[str, Difference], margin: float) -> dict[str, Difference]:
    return {name: replace(difference, margin=margin) for name, difference in measures.items()}


def _plan(a: Side, b: Side, by: Literal["line", "command"] | None) -> _Plan:
    is_same_script = a.lines == b.lines and bool(a.lines)
    is_printed = a.kind == "printed" or b.kind == "printed"
    lines = [side.rows.select("pass", "line", "command").unique() for side in (a, b)]
    common = lines[0].join(lines[1], on=["pass", "line", "command"])
    can_match_lines = (is_same_script or (is_printed and len(common) > 0)) and a.has_passes and b.has_passes
    chosen: Literal["line", "command"] = "line" if can_match_lines and len(common) <= MOST_LINES else "command"
    if by is not None:
        if by == "line" and not can_match_lines:
            raise BadArgument("by line: the two sides have not done the same lines; compare them by command")
        chosen = by
    runs = [frame["run"].n_unique() for frame in (a.rows, b.rows)]
    unit: Literal["user", "run"] = "run" if min(runs) >= FEWEST_UNITS else "user"
    users = [set(side.rows.select("run", "user").unique().rows()) for side in (a, b)]
    has_same_units = runs[0] == runs[1] and (unit == "run" or users[0] == users[1])
    paired = is_same_script and has_same_units and (unit == "user" or a.seeds == b.seeds)
    kinds = (a.kind, b.kind)
    drawn_together = paired and a.seeds == b.seeds
    same_draws = drawn_together and kinds == ("machine", "machine")
    counts_tell = unit == "user" and not drawn_together
    spans, keys = (a.has_fixed_span, b.has_fixed_span), _keys(a, b, chosen, common)
    return _Plan(chosen, paired, unit, kinds, drawn_together, same_draws, spans, counts_tell, keys)


def _keys(a: Side, b: Side, by: str, common: pl.DataFrame) -> pl.DataFrame:
    if by == "line":
        return common.sort("pass", "line").with_row_index("row").with_columns(label=pl.col("command"))
    first = a.rows.group_by("command").agg(pl.col("line").min())
    shared = first.join(b.rows.select("command").unique(), on="command").sort("line", "command")
    return shared.with_row_index("row").with_columns(label=pl.col("command"), **{"pass": pl.lit(1, pl.Int64)})


def _in_units(side: Side, plan: _Plan) -> pl.DataFrame:
    """The rows that both sides have, with the unit that each belongs to."""
    unit = pl.col("run") if plan.unit == "run" else pl.col("run") * _MOST_RUN_USERS + pl.col("user")
    keys = plan.keys.select(*plan.key_columns, "row")
    return side.rows.with_columns(unit=unit).join(keys, on=plan.key_columns, how="inner")


def _rows(
    plan: _Plan,
    frames: tuple[pl.DataFrame, pl.DataFrame],
    waits: float,
    between: BetweenRuns,
    group_means: Sequence[RunMeans],
) -> tuple[tuple[Row, ...], Mapping[str, Difference]]:
    left, right = frames
    if not len(plan.keys) or left.is_empty() or right.is_empty():
        return (), {}
    resamples = _resamples(plan, left, right, waits)
    extrapolated = {int(row) for frame in frames for row in frame.filter(pl.col("extrapolated"))["row"].unique()}
    mix = _mix(left, right, len(plan.keys)) if plan.by == "command" else np.ones(len(plan.keys))
    added = added_by_unanswered(frames, resamples[0][:2], len(plan.keys))
    counts = None if "printed" in plan.kinds else [_measured_counts(frame, len(plan.keys)) for frame in frames]

    @cache  # The sub-total of a pass with one line is that line, and the total of one row is that row.
    def measures_of(row_indices: tuple[int, ...], row_weights: tuple[float, ...]) -> Mapping[str, Difference]:
        indices, weights = list(row_indices), np.array(row_weights)
        is_marked = bool(extrapolated & set(indices))
        measures = {
            name: with_drift(
                difference_of(name, _summed(resamples, name, indices, weights), is_marked),
                between,
                [means.summed(name, indices, weights) for means in group_means],
            )
            for name in COMPARED_MEASURES
        }
        by_unanswered = None if added is None else added.summed(indices, weights)
        return measures | {"response": replace(measures["response"], by_unanswered=by_unanswered)}

    def row(label: str, kind: Literal["row", "subtotal", "total"], indices: list[int]) -> Row:
        weights = mix[indices] if kind != "row" else np.ones(len(indices))
        measures = measures_of(tuple(indices), tuple(weights))
        count = _count_of(counts, indices)
        if kind == "row" and count is not None and min(count) < _FEWEST_ANSWERS:
            measures = {name: without_intervals(difference) for name, difference in measures.items()}
        return Row(label, kind, measures, count)

    rows: list[Row] = []
    passes = plan.keys["pass"].to_list()
    for number in dict.fromkeys(passes):
        indices = [index for index, pass_number in enumerate(passes) if pass_number == number]
        rows += [row(str(plan.keys["label"][index]), "row", [index]) for index in indices]
        if len(set(passes)) > 1:
            rows.append(row(f"sub-total, pass {number}", "subtotal", indices))
    name = "a mean interaction" if plan.by == "command" else "the whole script"
    total = row(name, "total", list(range(len(passes))))
    rows.append(total)
    cycles = [means.summed("cycle", list(range(len(passes))), mix) for means in group_means]
    spreads = count_spreads(frames, plan.fixed_spans, waits) if plan.counts_tell else (None, None)
    throughput = with_drift(_throughput(resamples, mix, frames, spreads), between, cycles)
    quantiles = {
        measure: with_drift(difference, between, [means.quantiles[measure] for means in group_means])
        for measure, difference in _quantiles(left, right, resamples, bool(extrapolated)).items()
    }
    return tuple(rows), {**total.measures, "throughput": throughput, **quantiles}


def _measured_counts(frame: pl.DataFrame, rows: int) -> Integers:
    """Number of measured interactions of each row."""
    counts: Integers = np.bincount(frame.filter(~pl.col("extrapolated"))["row"].to_numpy(), minlength=rows)
    return counts


def _count_of(counts: Sequence[Integers] | None, indices: list[int]) -> tuple[int, int] | None:
    """The number of interactions of each side in these rows together."""
    return None if counts is None else (int(counts[0][indices].sum()), int(counts[1][indices].sum()))


def _quantiles(
    left: pl.DataFrame, right: pl.DataFrame, resamples: list[_ResampledSides], extrapolated: bool
) -> dict[str, Difference]:
    """The differences of the quantiles of response."""
    probabilities = tuple(QUANTILES_BY_MEASURE.values())
    quantiles = [(quantiles_of(left, a, probabilities), quantiles_of(right, b, probabilities)) for a, b, _ in resamples]
    differences = {}
    for index, measure in enumerate(QUANTILES_BY_MEASURE):
        pairs = [
            Resampled(before[index], after[index], (a.units, b.units), together)
            for (before, after), (a, b, together) in zip(quantiles, resamples, strict=True)
        ]
        differences[measure] = difference_of(measure, pairs, extrapolated)
    return differences


_ResampledSides = tuple[ResampledRows, ResampledRows, bool]
"""Resamples of both sides by one kind of unit, and whether these were drawn together."""


def _resamples(plan: _Plan, left: pl.DataFrame, right: pl.DataFrame, waits: float) -> list[_ResampledSides]:
    """Resamples of both sides by user and by stretch of time, or by run."""
    rows = len(plan.keys)
    a, b = cells_of(left, "unit", rows), cells_of(right, "unit", rows)
    if plan.paired:
        a, b = paired_cells(a, b)
    units = by_unit(a, _SEED), by_unit(b, _SEED if plan.drawn_together else _OTHER_SEED)
    resamples = [(*units, plan.drawn_together)]
    if plan.unit == "user" and "printed" not in plan.kinds:
        frames = [with_stretches(frame, waits) for frame in (left, right)]
        if plan.same_draws:
            frames[1] = in_counterpart_stretches(frames[1], frames[0])
        stretches = [cells_of(frame, "stretch", rows) for frame in frames]
        has_same_stretches = plan.same_draws and stretches[0].units == stretches[1].units
        seeds = (_SEED + 1, _SEED + 1 if has_same_stretches else _OTHER_SEED + 1)
        strata = (plan.keys["command"].rank("dense").cast(pl.Int64) - 1).to_numpy()
        sides = [
            by_stretch(cells, {name: means[0] for name, means in side.means.items()}, strata, seed)
            for cells, side, seed in zip(stretches, units, seeds, strict=True)
        ]
        resamples.append((sides[0], sides[1], has_same_stretches))
    return resamples


def _mix(left: pl.DataFrame, right: pl.DataFrame, rows: int) -> Floats:
    """Each row's share of the interactions: the mean of both sides, so that both are weighted alike."""
    counts = [np.bincount(frame["row"].to_numpy(), minlength=rows) / len(frame) for frame in (left, right)]
    mix: Floats = (counts[0] + counts[1]) / 2
    return mix


def _summed(resamples: list[_ResampledSides], name: str, indices: list[int], weights: Floats) -> list[Resampled]:
    """A measure's sum over rows in all resamples, with the spread of interactions where the interval needs it."""
    sums = []
    for a, b, together in resamples:
        before, after = (
            _weighted_sum(side.means[name], indices, weights) if name in side.means else None for side in (a, b)
        )
        sums.append(Resampled(before, after, (a.units, b.units), together))
    if are_two_independent_ways(sums):
        a, b, _ = resamples[0]
        spreads = _interactions(a, name, indices, weights), _interactions(b, name, indices, weights)
        sums[0] = replace(sums[0], interactions=spreads)
    return sums


def _weighted_sum(means: Floats, indices: list[int], weights: Floats) -> Floats:
    """The weighted sum of some rows in each resample. Most sums have a single row, and need no matrix product."""
    is_single = len(indices) == 1
    total: Floats = means[:, indices[0]] * weights[0] if is_single else means[:, indices] @ weights
    return total


def _interactions(side: ResampledRows, name: str, indices: list[int], weights: Floats) -> Spread | None:
    """The spread of a side's sum over rows if its interactions are independent."""
    if name not in side.means:
        return None
    degrees = side.counts[name][indices] - 1
    variances = side.squares[name][indices] / np.maximum(degrees, 1.0) / np.maximum(degrees + 1, 1.0)
    return spread_of_rows(side.means[name][0][indices], variances, degrees, weights)


def _throughput(
    resamples: list[_ResampledSides],
    mix: Floats,
    frames: tuple[pl.DataFrame, pl.DataFrame],
    counts: tuple[Spread | None, Spread | None],
) -> Difference:
    """Interactions a second while all users are there: users over the mean time from prompt to prompt."""
    users = [frame.select("run", "user").n_unique() / frame["run"].n_unique() for frame in frames]
    pairs = []
    cycles = _summed(resamples, "cycle", list(range(len(mix))), mix)
    for (a, b, _), cycle in zip(resamples, cycles, strict=True):
        rates = [
            number * mix.sum() * 1e9 / (side.means["cycle"] @ mix) if "cycle" in side.means else None
            for side, number in zip((a, b), users, strict=True)
        ]
        pairs.append(replace(cycle, before=rates[0], after=rates[1]))
    by_stretches = difference_of("throughput", pairs, extrapolated=False, more_is_better=True)
    return replace(by_stretches, interval=interval_of_counts(pairs[0], counts) or by_stretches.interval)
