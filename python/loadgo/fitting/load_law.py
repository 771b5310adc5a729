"""How the commands' processor time depends on the load, regressed over runs with several loads.

With a load u, the busy share of the processors, a command takes d (1 + b u) of a processor. The time d is its own; the
slope b is that of all commands that do not certainly differ. Each run gives one point: its processor time over that of
as many commands at their overall means. The points are weighted by their variances, within the run and between runs:
R. DerSimonian and N. Laird, Controlled Clinical Trials 7 (1986), page 177. A slope that the runs hardly show is drawn
towards 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.fitting.reading import RunReading
from loadgo.fitting.system import processor_count
from loadgo.fitting.uncertainty import Grouping, ResampledValue, resampled_sums
from loadgo.fitting.values import FittedValue
from loadgo.notation.figures import as_code, in_words
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law
from loadgo.stats.resample import Floats
from loadgo.stats.student import student_reach

INDEPENDENT_WORK = "a command's processor time is independent of the users"
"""The assumption of a fit to runs of one load."""
UNSEEN_DEPENDENCE = (
    f"{INDEPENDENT_WORK}: other programs took so much of the host that its runs do not show how it depends on them"
)
"""The assumption of a fit to runs of several loads on a busy host."""
_USUAL_SLOPES = 0.3
"""Standard deviation of slopes of hosts, as far as they were measured. A slope of the runs counts against it."""
_SMALL_SLOPE_SHARE = 0.05
"""A slope that is surely smaller, and may be 0, is left out."""
_LEAST_FACTOR, _MOST_FACTOR = 0.05, 20.0
"""Ends between which a draw of processor time under full load over that without load is held."""
_FEWEST_DRIFT_DEGREES = 2
"""With two loads, four runs show how much the speed differs between runs; fewer say next to nothing of it."""
_FEWEST_OWN_INTERACTIONS = 20
_OWN_STANDARD_ERRORS = 4.0
"""A command has a dependence of its own if it has so many interactions in each run, and differs by so many errors."""
_DRIFT_SEED = 19860901
_MANY_DEGREES = 1000


_Times = tuple[Floats, Floats]
"""Processor time, and that of as many commands at their overall means, by resample (rows) and run (columns)."""


@dataclass(frozen=True)
class RunLoads:
    """The load of each run, as the fitted machine has it."""

    shares: Floats
    """Busy share of the processors, by run."""
    drifts: bool
    """Whether the processors' speed may differ from run to run, as on hosts."""
    spread: float = 0.0
    """Standard deviation of the logarithm of the speed, where a reference work has shown it and it is taken out."""


@dataclass(frozen=True)
class LoadFactor:
    """Processor time under full load over that without load, of one command or of all."""

    resampled: ResampledValue
    low: float
    high: float
    """The ends of its 95 % interval."""

    @property
    def is_small(self) -> bool:
        """Whether the factor is surely near 1, and may be 1."""
        return self.low <= 1 <= self.high and max(1 - self.low, self.high - 1) < _SMALL_SLOPE_SHARE

    @property
    def interval_in_words(self) -> str:
        """How much more or less processor time a command takes under full load."""
        return " to ".join(f"{100 * (end - 1):+.0f} %".replace("-", "−") for end in (self.low, self.high))


@dataclass(frozen=True)
class LoadLaw:
    """How the processor time of the commands depends on the load."""

    loads: Floats
    """The load of each run."""
    shared: LoadFactor
    """The factor of all commands without an own one."""
    own: Mapping[str, LoadFactor]
    """The factors of commands that certainly differ from the others."""
    drift: float
    """Standard deviation of the logarithm of the processors' speed from run to run; 0 where none is seen."""
    noise: tuple[Floats, ...]
    """Factors for the processor time of each run (columns) in each resample (rows), of each grouping."""

    def factor_of(self, command: str) -> ResampledValue | None:
        """The factor of a command; None if its processor time does not depend on the load."""
        if command in self.own:
            return self.own[command].resampled
        return None if self.shared.is_small else self.shared.resampled

    @property
    def values(self) -> tuple[FittedValue, ...]:
        """The values of the machine file: the factors, and the doubt in the speed."""
        factors = {} if self.shared.is_small else {"processors": self.shared}
        factors |= {dotted("commands", name): factor for name, factor in self.own.items()}
        source = f"processor time under full load over that without load, regressed over {len(self.loads)} runs"
        fitted = [
            FittedValue(f"{table}.cpu_when_busy", _plain(factor.resampled.value), source, mean=factor.resampled)
            for table, factor in factors.items()
        ]
        if self.drift > 0:
            source = f"1 by definition; the speed differed between {len(self.loads)} runs, and may again"
            fitted.append(FittedValue("processors.speed", _plain(1.0), source, deviation=self.drift))
        return tuple(fitted)

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions of the machine about the load, in words."""
        own = f"; {in_words([as_code(name) for name in self.own])} by a share of their own" if self.own else ""
        if not self.shared.is_small:
            shared = "the same share for all commands" if not self.own else "the same share for all other commands"
            return (f"a command's processor time changes in proportion to the load, by {shared}{own}",)
        which = "the other commands' processor time" if self.own else "a command's processor time"
        return (
            f"{which} is independent of the load: under full load it would differ by {self.shared.interval_in_words} "
            f"(95 %), which is left out{own}",
        )


def _plain(value: float) -> Law:
    return Law("fixed", (value,), timed=False)


def run_loads(readings: Sequence[RunReading], interrupt_ns: float, spread: float = 0.0) -> RunLoads | None:
    """The load of each run; None where the runs cannot show what depends on it.

    `interrupt_ns` is the busy time of each interaction on a host that no interaction was charged with.
    `spread` is that of `RunLoads`.
    """
    # Where memory differs too, processor time depends on both.
    limits = {str((reading.conditions.get("limit"), reading.machine.get("memory"))) for reading in readings}
    is_metered = all(len(reading.rows) and reading.span_s > 0 for reading in readings)
    if len({reading.load_key for reading in readings}) < 2 or len(limits) > 1 or not is_metered:
        return None
    if readings[0].kind == "machine" and any(reading.total is None for reading in readings):
        return None
    return RunLoads(np.array(load_shares(readings, interrupt_ns)), readings[0].kind == "host", spread)


def load_shares(readings: Sequence[RunReading], interrupt_ns: float) -> list[float]:
    """The busy share of the processors in each run, as the fitted machine has it.

    On a host the busy time of users alone counts, since the machine has no other load.
    """
    return [min(_load_share(reading, interrupt_ns), 1.0) for reading in readings]


def _load_share(reading: RunReading, interrupt_ns: float) -> float:
    if reading.kind == "machine":
        return reading.total.busy_share if reading.total else 0.0
    used_ns = float(reading.rows["cpu"].sum()) + interrupt_ns * len(reading.rows)
    return used_ns / (1e9 * reading.span_s * processor_count(reading)) if reading.span_s else 0.0


def fit_load_law(rows: pl.DataFrame, work_ns: Floats, groupings: Sequence[Grouping], runs: RunLoads) -> LoadLaw:
    """Regresses the processor time `work_ns` of the interactions on the load of their runs."""
    table = _WorkTable(rows, work_ns, len(runs.shares))
    weights, drift = _weights(table, runs)
    noise = tuple(_drift_noise(len(grouping.weights), len(runs.shares), drift) for grouping in groupings)
    sums = _CommandSums(table, groupings, noise)

    def slopes_of(names: Sequence[str]) -> list[Floats]:
        return [_slopes(totals, expected, weights, runs.shares) for totals, expected in sums.of(names)]

    commands = list(table.names)
    own_factors: dict[str, LoadFactor] = {}
    while len(commands) > 1:
        scores = {
            name: _difference(
                sums.of([name]), sums.of([each for each in commands if each != name]), weights, runs.shares
            )
            for name in commands
            if table.fewest(name) >= _FEWEST_OWN_INTERACTIONS
        }
        farthest = max(scores, key=lambda name: scores[name], default="")
        if scores.get(farthest, 0.0) < _OWN_STANDARD_ERRORS:
            break
        own_factors[farthest] = _load_factor(slopes_of([farthest]))
        commands.remove(farthest)
    shared = _load_factor(slopes_of(commands))
    # The doubt of a mean over the runs is in their draws only where the processor time depends on the load.
    speed = drift if not shared.is_small else drift * (1 + 1 / len(runs.shares)) ** 0.5
    return LoadLaw(runs.shares, shared, own_factors, float(np.hypot(speed, runs.spread)), noise)


def _difference(alone: Sequence[_Times], others: Sequence[_Times], weights: Floats, loads: Floats) -> float:
    """The difference of two slopes in its standard errors; 0 for a small one.

    It is the slope of one time over the other, in which the speed of a run cancels out.
    """
    pairs = zip(alone, others, strict=True)
    slopes = [_slopes(total * below, expected * above, weights, loads) for (total, expected), (above, below) in pairs]
    error = max((float(np.std(draws[1:])) for draws in slopes if len(draws) > 1), default=np.inf)
    size = abs(float(slopes[0][0]))
    return size / error if size > _SMALL_SLOPE_SHARE and error > 0 else 0.0


def _load_factor(slopes: Sequence[Floats]) -> LoadFactor:
    """The factor with these slopes in the resamples of each grouping, drawn towards 1 by what is usual."""
    slope = float(slopes[0][0])
    error = max((float(np.std(draws[1:])) for draws in slopes if len(draws) > 1), default=_USUAL_SLOPES)
    trust = _USUAL_SLOPES**2 / (_USUAL_SLOPES**2 + error**2)
    middle, reach = trust * slope, student_reach(_MANY_DEGREES) * error * trust**0.5
    drawn = tuple(np.clip(1 + middle + (draws - slope) * trust**0.5, _LEAST_FACTOR, _MOST_FACTOR) for draws in slopes)
    value = ResampledValue(float(drawn[0][0]), drawn)
    return LoadFactor(value, max(1 + middle - reach, _LEAST_FACTOR), min(1 + middle + reach, _MOST_FACTOR))


def _drift_noise(draws: int, runs: int, drift: float) -> Floats:
    """Factors for the processor time of each run, as its speed differs from run to run; 1 in the first row."""
    logs = np.random.default_rng(_DRIFT_SEED).standard_normal((draws, runs)) * drift
    logs[0] = 0.0
    factors: Floats = np.exp(logs)
    return factors


@dataclass(frozen=True)
class LoadedWork:
    """The processor time of one command's interactions, and how it depends on the load."""

    rows: pl.DataFrame
    work_ns: Floats
    """Processor times of all interactions."""
    selected: Floats
    """1 for the interactions of the command, else 0."""
    law: LoadLaw
    factor: ResampledValue

    @property
    def unloaded_ns(self) -> Floats:
        """The processor times that all interactions would have without load, if they were of the command."""
        shares = _demand_shares(np.array([self.factor.value]), self.law.loads)[0]
        unloaded: Floats = self.work_ns / shares[self.rows["run"].to_numpy()]
        return unloaded


def mean_without_load(work: LoadedWork, groupings: Sequence[Grouping]) -> ResampledValue:
    """The command's mean processor time without load, with the dependence of each resample."""
    draws = []
    for grouping, factors, noise in zip(groupings, work.factor.draws, work.law.noise, strict=True):
        is_run = [work.selected * (work.rows["run"].to_numpy() == run) for run in range(len(work.law.loads))]
        totals = np.column_stack([resampled_sums(grouping, work.work_ns * one) for one in is_run]) * noise
        counts = np.column_stack([resampled_sums(grouping, one) for one in is_run])
        with np.errstate(invalid="ignore", divide="ignore"):
            draws.append(totals.sum(axis=1) / (counts * _demand_shares(factors, work.law.loads)).sum(axis=1))
    return ResampledValue(float(draws[0][0]), tuple(draws))


def _demand_shares(factors: Floats, loads: Floats) -> Floats:
    """The processor time under each load (columns) over that without load, for each factor (rows)."""
    shares: Floats = 1 + np.outer(factors - 1, loads)
    return shares


class _WorkTable:
    """The processor time of interactions by run, beside that of as many commands at their overall means."""

    def __init__(self, rows: pl.DataFrame, work_ns: Floats, runs: int) -> None:
        of_command = pl.col("work").mean().over("command")
        means = rows.select("command").with_columns(pl.Series("work", work_ns)).select(of_command).to_series()
        self.names = [str(name) for name in rows["command"].unique().sort()]
        self._command, self._run = rows["command"].to_numpy(), rows["run"].to_numpy()
        self._work, self._mean, self._runs = work_ns, means.to_numpy(), runs

    def fewest(self, name: str) -> int:
        """The smallest number of interactions of a command in a run."""
        return int(np.bincount(self._run[self._command == name], minlength=self._runs).min())

    def resampled(self, grouping: Grouping, name: str) -> _Times:
        """Both times of a command, by resample (rows) and run (columns)."""
        parts = [((self._command == name) & (self._run == run)).astype(np.float64) for run in range(self._runs)]
        totals = [resampled_sums(grouping, self._work * part) for part in parts]
        expected = [resampled_sums(grouping, self._mean * part) for part in parts]
        return np.column_stack(totals), np.column_stack(expected)

    def points(self) -> tuple[Floats, Floats]:
        """The ratio of the two times of each run, and its variance by chance within the run."""
        ratios, variances = np.empty(self._runs), np.empty(self._runs)
        for run in range(self._runs):
            chosen = self._run == run
            expected = max(float(self._mean[chosen].sum()), 1.0)
            ratios[run] = float(self._work[chosen].sum()) / expected
            variances[run] = float(((self._work - ratios[run] * self._mean)[chosen] ** 2).sum()) / expected**2
        return ratios, np.maximum(variances, 1e-12)


class _CommandSums:
    """Both times of each command, resampled once, with the speed of each run as it may differ."""

    def __init__(self, table: _WorkTable, groupings: Sequence[Grouping], noise: Sequence[Floats]) -> None:
        self._noise = noise
        self._sums = {name: [table.resampled(grouping, name) for grouping in groupings] for name in table.names}

    def of(self, names: Sequence[str]) -> list[_Times]:
        """Both times of some commands together, for each grouping."""
        by_grouping = zip(*(self._sums[name] for name in names), strict=True)
        return [
            (np.sum([totals for totals, _ in pairs], axis=0) * noise, np.sum([below for _, below in pairs], axis=0))
            for pairs, noise in zip(by_grouping, self._noise, strict=True)
        ]


def _weights(table: _WorkTable, runs: RunLoads) -> tuple[Floats, float]:
    """The weight of each run in the regression, and the standard deviation of the speed between runs."""
    ratios, variances = table.points()
    design = np.column_stack([np.ones_like(runs.shares), runs.shares])
    degrees = len(ratios) - 2
    if not runs.drifts or degrees < _FEWEST_DRIFT_DEGREES:
        return 1 / variances, 0.0
    weights = 1 / variances
    weighted = design.T * weights
    residuals = ratios - design @ np.linalg.lstsq(weighted @ design, weighted @ ratios, rcond=None)[0]
    spread = weights.sum() - np.trace(np.linalg.pinv(weighted @ design) @ (weighted * weights) @ design)
    between = max((float((weights * residuals**2).sum()) - degrees) / max(float(spread), 1e-12), 0.0)
    # The deviation is estimated from few runs, so that its draws have to be wider.
    widened = student_reach(min(degrees, _MANY_DEGREES)) / student_reach(_MANY_DEGREES)
    return 1 / (variances + between), between**0.5 * widened


def _slopes(totals: Floats, expected: Floats, weights: Floats, loads: Floats) -> Floats:
    """The slope b of each resample, by weighted least squares; that of all units where a resample has one load only."""
    present = expected > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(present, totals / expected, 0.0)
        weight = np.where(present, weights, 0.0)
        whole = weight.sum(axis=1)
        middle = (weight * loads).sum(axis=1) / whole
        level = (weight * ratios).sum(axis=1) / whole
        away = loads - middle[:, None]
        rise = (weight * away * ratios).sum(axis=1) / (weight * away**2).sum(axis=1)
        slopes: Floats = rise / (level - rise * middle)
    return np.where(np.isfinite(slopes), slopes, slopes[0] if np.isfinite(slopes[0]) else 0.0)
