"""Two sides compared command by command: the mean of each row, their difference, and its interval.

Where both did the same script, an interaction has its counterpart: the same user at the same place of the script. Then
users are drawn again in pairs, and what differs between users cancels. Else each side's users are drawn on their own.
Of five runs a side or more it is whole runs that are drawn, paired by their seeds where these are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from loadgo.comparison.cells import (
    Drawn,
    both_there,
    by_stretch,
    by_unit,
    cells_of,
    mirrored,
    quantiles_of,
    with_stretches,
)
from loadgo.comparison.side import MEASURES, Side
from loadgo.errors import BadArgument
from loadgo.stats.resample import FEWEST_UNITS, Floats, Interval, interval_of, quantile_interval, too_short, wider

MOST_LINES = 40
"""Of more lines in all passes together, rows are commands."""
QUANTILES = {"p50 response": 0.5, "p90 response": 0.9}
WAITS = ("ready wait", "paging wait", "I/O wait")
QUEUED = ("response", *WAITS, "cycle", "throughput", *QUANTILES)
"""What all meet who wait at one time: it is not judged by users who met it together."""
_USERS_A_RUN = 2**32
_SEED, _OTHER_SEED = 19730517, 19690519

Verdict = Literal["better", "worse", "no difference", "lower", "higher", "equal", "not known"]
"""`lower` and `higher` are what the figures say where there is no interval to judge by."""


@dataclass(frozen=True)
class Difference:
    """One figure on both sides; None is not known."""

    measure: str
    before: float | None
    after: float | None
    interval: Interval | None
    """Of `after - before`."""
    before_interval: Interval | None = None
    after_interval: Interval | None = None
    extrapolated: bool = False
    more_is_better: bool = False

    @property
    def change(self) -> float | None:
        """`after - before`."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def relative(self) -> float | None:
        """The change as a part of what was before."""
        return None if self.change is None or not self.before else self.change / self.before

    @property
    def verdict(self) -> Verdict:
        """Whether the second side is better, in a word."""
        if self.change is None:
            return "not known"
        if self.interval is None:
            return "equal" if self.change == 0 else "higher" if self.change > 0 else "lower"
        if self.interval.low <= 0 <= self.interval.high:
            return "no difference"
        return "better" if (self.change > 0) == self.more_is_better else "worse"


@dataclass(frozen=True)
class Row:
    """A command, or a line of the script in one of its passes; or several together."""

    label: str
    kind: Literal["row", "subtotal", "total"]
    measures: Mapping[str, Difference]


@dataclass(frozen=True)
class Matched:
    """All rows that both sides have."""

    by: Literal["line", "command"]
    paired: bool
    unit: Literal["user", "run"]
    units: tuple[int, int]
    """How many were drawn from, on each side."""
    rows: tuple[Row, ...]
    """Sub-totals and the total among them; empty where the sides have nothing in common."""
    whole: Mapping[str, Difference]
    """The script, or the mean interaction: every measure, response quantiles and throughput."""
    left_out: tuple[str, ...]
    """Rows that only one side has, and users without a counterpart, in words."""
    waits: float | None = None
    """How many mean waits a run lasts, on the side where they are fewer, if these are too few to judge what is waited
    for; else None.
    """


@dataclass(frozen=True)
class _Plan:
    """How the sides are matched."""

    by: Literal["line", "command"]
    paired: bool
    unit: Literal["user", "run"]
    kinds: tuple[str, str]
    mirrored: bool
    """The same seeds on simulated machines: what users draw is the same, interaction by interaction."""
    keys: pl.DataFrame
    """Columns: row, the key's, label."""

    @property
    def on(self) -> list[str]:
        return ["pass", "line"] if self.by == "line" else ["command"]


def matched(a: Side, b: Side, by: Literal["line", "command"] | None = None) -> Matched:
    """The comparison of `b` with `a`; by line where that is possible and the rows are few, unless `by` says how."""
    plan = _plan(a, b, by)
    left, right = (_in_units(side, plan) for side in (a, b))
    lost = _left_out(a, b, plan)
    if plan.paired:
        both = set(left["unit"].unique()) & set(right["unit"].unique())
        alone = _without_counterpart(left, right, len(both))
        lost += alone
        if alone:
            left, right = (frame.filter(pl.col("unit").is_in(list(both))) for frame in (left, right))
    waits = min(_waits(a), _waits(b)) if plan.unit == "user" else math.inf
    runs = min(frame["run"].n_unique() for frame in (a.rows, b.rows))
    short = too_short(runs, waits)
    rows, whole = _rows(plan, left, right, waits)
    if short:
        rows = tuple(replace(row, measures=_unjudged(row.measures)) for row in rows)
        whole = _unjudged(whole)
    units = (left["unit"].n_unique(), right["unit"].n_unique())
    told = waits if short and whole else None
    return Matched(plan.by, plan.paired, plan.unit, units, rows, whole, tuple(lost), told)


def _waits(side: Side) -> float:
    """How many mean waits a run lasts; infinite where that is not known, or nobody waits."""
    known = [name for name in WAITS if side.rows[name].count()]
    waited = pl.sum_horizontal(known) if "ready wait" in known else pl.col("response") - pl.col("cpu").fill_null(0.0)
    mean = side.rows.select(waited.mean()).item()
    if not side.stretches or not mean or mean <= 0:
        return math.inf
    return sum(one.span_ns for one in side.stretches) / len(side.stretches) / float(mean)


def _unjudged(measures: Mapping[str, Difference]) -> dict[str, Difference]:
    """What is waited for without intervals."""

    def without(one: Difference) -> Difference:
        return replace(one, interval=None, before_interval=None, after_interval=None)

    return {name: without(one) if name in QUEUED else one for name, one in measures.items()}


def _plan(a: Side, b: Side, by: Literal["line", "command"] | None) -> _Plan:
    same = a.lines == b.lines and bool(a.lines)
    printed = a.kind == "printed" or b.kind == "printed"
    places = [side.rows.select("pass", "line", "command").unique() for side in (a, b)]
    common = places[0].join(places[1], on=["pass", "line", "command"])
    lines = (same or (printed and len(common) > 0)) and a.passes and b.passes
    chosen: Literal["line", "command"] = "line" if lines and len(common) <= MOST_LINES else "command"
    if by is not None:
        if by == "line" and not lines:
            raise BadArgument("by line: the two sides have not done the same lines; compare them by command")
        chosen = by
    runs = [frame["run"].n_unique() for frame in (a.rows, b.rows)]
    unit: Literal["user", "run"] = "run" if min(runs) >= FEWEST_UNITS else "user"
    users = [set(side.rows.select("run", "user").unique().rows()) for side in (a, b)]
    alike = runs[0] == runs[1] and (unit == "run" or users[0] == users[1])
    paired = same and alike and (unit == "user" or a.seeds == b.seeds)
    kinds = (a.kind, b.kind)
    mirrored = paired and kinds == ("machine", "machine") and a.seeds == b.seeds
    return _Plan(chosen, paired, unit, kinds, mirrored, _keys(a, b, chosen, common))


def _keys(a: Side, b: Side, by: str, common: pl.DataFrame) -> pl.DataFrame:
    if by == "line":
        return common.sort("pass", "line").with_row_index("row").with_columns(label=pl.col("command"))
    first = a.rows.group_by("command").agg(pl.col("line").min())
    shared = first.join(b.rows.select("command").unique(), on="command").sort("line", "command")
    return shared.with_row_index("row").with_columns(label=pl.col("command"), **{"pass": pl.lit(1, pl.Int64)})


def _in_units(side: Side, plan: _Plan) -> pl.DataFrame:
    """The rows that both sides have, with the unit that each belongs to."""
    unit = pl.col("run") if plan.unit == "run" else pl.col("run") * _USERS_A_RUN + pl.col("user")
    keys = plan.keys.select(*plan.on, "row")
    return side.rows.with_columns(unit=unit).join(keys, on=plan.on, how="inner")


def _rows(
    plan: _Plan, left: pl.DataFrame, right: pl.DataFrame, waits: float
) -> tuple[tuple[Row, ...], Mapping[str, Difference]]:
    if not len(plan.keys) or left.is_empty() or right.is_empty():
        return (), {}
    ways = _ways(plan, left, right, waits)
    extrapolated = {int(row) for frame in (left, right) for row in frame.filter(pl.col("extrapolated"))["row"].unique()}
    mix = _mix(left, right, len(plan.keys)) if plan.by == "command" else np.ones(len(plan.keys))

    def row(label: str, kind: Literal["row", "subtotal", "total"], places: list[int]) -> Row:
        share = mix[places] if kind != "row" else np.ones(len(places))
        marked = bool(extrapolated & set(places))
        told = {name: _told(name, [_summed(way, name, places, share) for way in ways], marked) for name in MEASURES}
        return Row(label, kind, told)

    found: list[Row] = []
    passes = plan.keys["pass"].to_list()
    for number in dict.fromkeys(passes):
        places = [place for place, one in enumerate(passes) if one == number]
        found += [row(str(plan.keys["label"][place]), "row", [place]) for place in places]
        if len(set(passes)) > 1:
            found.append(row(f"sub-total, pass {number}", "subtotal", places))
    name = "a mean interaction" if plan.by == "command" else "the whole script"
    everything = row(name, "total", list(range(len(passes))))
    found.append(everything)
    whole = dict(everything.measures)
    at = tuple(QUANTILES.values())
    whole["throughput"] = _throughput(ways, mix, (left, right))
    spread = [(quantiles_of(left, a, at), quantiles_of(right, b, at), n) for a, b, n in ways]
    for place, quantile in enumerate(QUANTILES):
        pairs = [_Pair(before[place], after[place], n) for before, after, n in spread]
        whole[quantile] = _told(quantile, pairs, bool(extrapolated))
    return tuple(found), whole


_Way = tuple[Drawn, Drawn, int]
"""Both sides drawn again in one way, and of how many units the fewer."""


@dataclass(frozen=True)
class _Pair:
    """A figure on both sides in every draw of one way."""

    before: Floats | None
    after: Floats | None
    units: int


def _ways(plan: _Plan, left: pl.DataFrame, right: pl.DataFrame, waits: float) -> list[_Way]:
    """The ways in which the sides are drawn again: by user and by stretch of time, or by run."""
    rows = len(plan.keys)
    a, b = cells_of(left, "unit", rows), cells_of(right, "unit", rows)
    if plan.paired:
        a, b = both_there(a, b)
    units = by_unit(a, _SEED), by_unit(b, _SEED if plan.paired else _OTHER_SEED)
    ways = [(*units, min(a.units, b.units))]
    if plan.unit == "user" and "printed" not in plan.kinds:
        cut = [with_stretches(frame, waits) for frame in (left, right)]
        if plan.mirrored:
            cut[1] = mirrored(cut[1], cut[0])
        stretches = [cells_of(frame, "stretch", rows) for frame in cut]
        seeds = (
            _SEED + 1,
            _SEED + 1 if plan.mirrored and stretches[0].units == stretches[1].units else _OTHER_SEED + 1,
        )
        strata = (plan.keys["command"].rank("dense").cast(pl.Int64) - 1).to_numpy()
        of_time = [
            by_stretch(cells, {name: means[0] for name, means in side.means.items()}, strata, seed)
            for cells, side, seed in zip(stretches, units, seeds, strict=True)
        ]
        ways.append((of_time[0], of_time[1], min(cells.units for cells in stretches)))
    return ways


def _mix(left: pl.DataFrame, right: pl.DataFrame, rows: int) -> Floats:
    """How large a part of all interactions each row is, the mean of both sides: one mix for both."""
    counts = [np.bincount(frame["row"].to_numpy(), minlength=rows) / len(frame) for frame in (left, right)]
    mix: Floats = (counts[0] + counts[1]) / 2
    return mix


def _summed(way: _Way, name: str, places: list[int], share: Floats) -> _Pair:
    before, after = (side.means[name][:, places] @ share if name in side.means else None for side in way[:2])
    return _Pair(before, after, way[2])


def _told(name: str, pairs: list[_Pair], extrapolated: bool, *, more_is_better: bool = False) -> Difference:
    """The figure, with the wider of the intervals that the ways of drawing give."""
    first = pairs[0]
    own = quantile_interval if name in QUANTILES else interval_of
    changes = [
        interval_of(pair.after[: len(pair.before)] - pair.before[: len(pair.after)], pair.units)
        for pair in pairs
        if pair.before is not None and pair.after is not None
    ]
    return Difference(
        measure=name,
        before=_estimate(first.before),
        after=_estimate(first.after),
        interval=wider(changes),
        before_interval=wider([own(pair.before, pair.units) for pair in pairs if pair.before is not None]),
        after_interval=wider([own(pair.after, pair.units) for pair in pairs if pair.after is not None]),
        extrapolated=extrapolated,
        more_is_better=more_is_better,
    )


def _estimate(values: Floats | None) -> float | None:
    return None if values is None or not np.isfinite(values[0]) else float(values[0])


def _throughput(ways: list[_Way], mix: Floats, frames: tuple[pl.DataFrame, pl.DataFrame]) -> Difference:
    """Interactions a second while everybody is there: users over the mean of their time from prompt to prompt."""
    users = [frame.select("run", "user").n_unique() / frame["run"].n_unique() for frame in frames]
    pairs = []
    for a, b, units in ways:
        rates = [
            number * mix.sum() * 1e9 / (side.means["cycle"] @ mix) if "cycle" in side.means else None
            for side, number in zip((a, b), users, strict=True)
        ]
        pairs.append(_Pair(rates[0], rates[1], units))
    return _told("throughput", pairs, extrapolated=False, more_is_better=True)


def _left_out(a: Side, b: Side, plan: _Plan) -> list[str]:
    """Rows that only one side has."""
    found = []
    for side, other in ((a, b), (b, a)):
        keys = side.rows.select(*plan.on).unique().join(other.rows.select(*plan.on).unique(), on=plan.on, how="anti")
        if plan.by == "command" and len(keys):
            found.append(f"only in {side.name}: {', '.join(sorted(keys['command']))}")
        elif len(keys):
            found.append(f"only in {side.name}: {len(keys)} lines of the script")
    return found


def _without_counterpart(left: pl.DataFrame, right: pl.DataFrame, both: int) -> list[str]:
    lost = left["unit"].n_unique() + right["unit"].n_unique() - 2 * both
    return [f"{lost} users without a counterpart on the other side are left out"] if lost else []
