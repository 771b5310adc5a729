"""Commands whose processor time and waits rise or fall together: how surely, and how much more their sum varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from loadgo.notation.figures import as_code, in_words
from loadgo.stats.resample import Floats

_FEWEST_INTERACTIONS = 30
_SURE_SHARE = 0.01
"""A dependence is told if chance alone shows as much in fewer cases than this share."""
_SMALL_VARIANCE_SHARE = 0.1
"""A smaller change of the variance of processor time and wait together is not told."""


@dataclass(frozen=True)
class Dependence:
    """How much more the sum of processor time and wait varies than the machine draws it."""

    command: str
    variance_ratio: float


@dataclass(frozen=True)
class WorkAndWait:
    """Processor time and wait of a command's interactions, in nanoseconds, each less its mean in the same run."""

    command: str
    work: Floats
    wait: Floats
    runs: pl.Series

    @property
    def covariance(self) -> float:
        """The covariance of processor time and wait within the runs."""
        return float((self.work * self.wait).mean())

    def variance_ratio(self, drawn_covariance: float) -> float:
        """The variance of their sum over the one that it has with another covariance."""
        apart = float(self.work.var() + self.wait.var())
        return (apart + 2 * self.covariance) / (apart + 2 * drawn_covariance)

    def dependence(self, drawn_covariance: float = 0.0) -> Dependence | None:
        """The dependence that a machine with this covariance does not draw; None for a small one."""
        ratio = self.variance_ratio(drawn_covariance)
        return Dependence(self.command, ratio) if abs(ratio - 1.0) > _SMALL_VARIANCE_SHARE else None

    def is_surely_dependent(self) -> bool:
        """Whether one depends on the other: Spearman's rank correlation within the runs, at 1 %."""
        if len(self.work) < _FEWEST_INTERACTIONS or not (np.ptp(self.work) and np.ptp(self.wait)):
            return False
        ranks = [_ranks(values, self.runs) for values in (self.work, self.wait)]
        return bool(stats.pearsonr(*ranks).pvalue < _SURE_SHARE)


def work_and_wait(rows: pl.DataFrame, waits: Floats, command: str) -> WorkAndWait:
    """Processor time and wait of the `command` within the runs; `waits` are those of all `rows`."""
    chosen = rows.with_columns(wait=pl.Series(waits)).filter(pl.col("command") == command)
    work, wait = (_centred(chosen[name], chosen["run"]) for name in ("cpu", "wait"))
    return WorkAndWait(command, work, wait, chosen["run"])


def dependences(rows: pl.DataFrame, waits: Floats) -> list[Dependence]:
    """The commands whose waits surely depend on their processor time, in their order.

    `rows` are interactions, and `waits` their waits in nanoseconds.
    """
    names = rows["command"].unique(maintain_order=True).to_list()
    pairs = [work_and_wait(rows, waits, str(name)) for name in names]
    found = [pair.dependence() for pair in pairs if pair.is_surely_dependent()]
    return [one for one in found if one is not None]


def dependence_words(found: Sequence[Dependence], waited_for: str) -> tuple[str, ...]:
    """An assumption of the machine, in words, for the commands that contradict it; nothing if none does."""
    if not found:
        return ()
    told = [
        f"{as_code(one.command)} (their sum has {one.variance_ratio:.2f} times the variance, so its longest responses "
        f"are predicted too {'short' if one.variance_ratio > 1 else 'long'})"
        for one in found
    ]
    return (f"processor time and {waited_for} rise or fall together more than the machine draws it: {in_words(told)}",)


def _centred(values: pl.Series, runs: pl.Series) -> Floats:
    """The values, each less its mean in the same run."""
    return _by_run(values, runs, pl.col("value") - pl.col("value").mean().over("run"))


def _ranks(values: Floats, runs: pl.Series) -> Floats:
    """The rank of each value in its run, from -1/2 to 1/2."""
    return _by_run(pl.Series(values), runs, (pl.col("value").rank().over("run") - 0.5) / pl.len().over("run") - 0.5)


def _by_run(values: pl.Series, runs: pl.Series, of: pl.Expr) -> Floats:
    made: Floats = pl.DataFrame({"value": values, "run": runs}).select(of).to_series().to_numpy()
    return made
