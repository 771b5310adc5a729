"""The results of an experiment: its pairs, and each measure's change with its interval and verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadgo.documents.result import Result
from loadgo.notation.margin import is_within_margin
from loadgo.pairing.run_figures import MEAN_MEASURES, RUN_MEASURES, RunFigures, log_ratio, reference_log_ratio
from loadgo.pairing.variant import Variant
from loadgo.running.load import Load
from loadgo.stats.adjusted_mean import AdjustedMean, adjusted_mean
from loadgo.stats.repeated_interval import FEWEST_OBSERVATIONS, observations_needed, repeated_interval
from loadgo.stats.resample import Interval

DEFAULT_MOST_PAIRS = 30
"""The largest number of pairs by default."""

Letter = Literal["A", "B"]
Verdict = Literal["better", "worse", "no difference", "cannot tell"]
End = Literal["decided", "most pairs", "time limit", "left out too often", "stopped"]


@dataclass(frozen=True)
class Pair:
    """Two runs, one of each variant, close in time and with the same seed."""

    seed: int
    first: Letter
    """The variant that ran first."""
    a: RunFigures
    b: RunFigures
    progress: float
    """The part of the experiment's pairs, or of its time, that was over after the pair: 1 if no pair follows."""


@dataclass(frozen=True)
class LeftOut:
    """A run that did not measure its variant. Its pair was run again."""

    letter: Letter
    folder: Path
    reason: str


@dataclass(frozen=True)
class Change:
    """The change of one measure from A to B, over all pairs that have it."""

    measure: str
    command: str | None
    """The command; None for all commands together."""
    logs: tuple[float, ...]
    """The logarithm of B's figure over A's, pair by pair."""
    pairs: tuple[int, ...]
    """The number of each of these pairs in the experiment, from 1."""
    progress: tuple[float, ...]
    """The part of the experiment that was over after each of these pairs."""
    a: float
    """The geometric mean of A's figures."""
    margin: float
    """The relative change that counts as no difference."""
    reference_logs: tuple[float, ...] | None = None
    """The logarithm of the reference work's time beside B over that beside A, pair by pair; None if not known.

    The change of processor time is that at equal speed of the processors.
    """

    @property
    def b(self) -> float:
        """The geometric mean of B's figures."""
        return self.a * (1 + self.relative)

    @property
    def relative(self) -> float:
        """The relative change: 0.1 is 10 % more than A."""
        return math.expm1(self.mean.value)

    @property
    def mean(self) -> AdjustedMean:
        """The mean of the logarithms, adjusted for the reference work's where that is known."""
        return adjusted_mean(self.logs, self.reference_logs)

    @property
    def is_at_equal_speed(self) -> bool:
        """Whether `mean` is that at equal speed of the processors."""
        return self.mean.slope != 0

    @property
    def pair_logs(self) -> tuple[float, ...]:
        """`logs`, at equal speed of the processors if `mean` is: then `mean` is their mean, too."""
        slope = self.mean.slope
        references = self.reference_logs or (0.0,) * len(self.logs)
        return tuple(log - slope * reference for log, reference in zip(self.logs, references, strict=True))

    @property
    def interval(self) -> Interval | None:
        """The interval of `relative`, which holds at whatever pair the experiment stops. None with too few pairs."""
        logs = repeated_interval(self.logs, self.progress, self.reference_logs)
        return None if logs is None else Interval(math.expm1(logs.low), math.expm1(logs.high))

    @property
    def verdict(self) -> Verdict:
        """`better` or `worse` if the interval leaves out 0; else `no difference` if it lies within the margin."""
        interval = self.interval
        if interval is None:
            return "cannot tell"
        if interval.low > 0 or interval.high < 0:
            return "better" if (self.relative > 0) == (self.measure == "throughput") else "worse"
        is_small = is_within_margin(interval.low, interval.high, self.margin)
        return "no difference" if is_small else "cannot tell"

    @property
    def more_pairs(self) -> int | None:
        """The number of further pairs that would narrow the interval to the margin; None if it is not known.

        The scatter of fewer pairs than an interval needs says too little about that of many.
        """
        if len(self.logs) < FEWEST_OBSERVATIONS:
            return None
        deviation = self.mean.error * math.sqrt(len(self.logs))
        needed = observations_needed(deviation, math.log1p(self.margin))
        return None if needed is None else max(1, needed - len(self.logs))


@dataclass(frozen=True, repr=False)
class Experiment(Result, presented_by="loadgo.pairing.presentation:presentation"):
    """An interleaved experiment: its variants, its pairs, and how B differs from A."""

    a: Variant
    b: Variant
    load: Load
    margin: float
    """The relative change that counts as no difference."""
    decisive: tuple[str, ...]
    """The measures that had to be decided."""
    pairs: tuple[Pair, ...]
    left_out: tuple[LeftOut, ...]
    end: End | None
    """The reason why it ended; None in progress, and in the file of an experiment that failed or was killed."""
    folder: Path
    """The folder with the runs and `experiment.json`."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The change of each measure that is known on both sides."""
        return _known(self._change(measure, None) for measure in RUN_MEASURES)

    @property
    def command_changes(self) -> tuple[Change, ...]:
        """The changes of each command that both variants have."""
        names = dict.fromkeys(name for pair in self.pairs for name in pair.a.commands)
        return _known(self._change(measure, name) for name in names for measure in MEAN_MEASURES)

    @property
    def fit_warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the fit of the variants' machines, from the runs of the pairs."""
        return tuple(dict.fromkeys(text for run in self._runs for text in run.fit_warnings))

    @property
    def limit_warnings(self) -> tuple[str, ...]:
        """The limits of the variants that their host cannot reach, from the runs of the pairs."""
        return tuple(dict.fromkeys(text for run in self._runs for text in run.limit_warnings))

    @property
    def _runs(self) -> tuple[RunFigures, ...]:
        return tuple(run for pair in self.pairs for run in (pair.a, pair.b))

    def change(self, measure: str) -> Change | None:
        """The change of one measure; None if it is not known."""
        return next((change for change in self.changes if change.measure == measure), None)

    @property
    def decided(self) -> bool:
        """Whether each decisive measure that is known has a verdict. The answer names those that are not known."""
        verdicts = [change.verdict for change in self.changes if change.measure in self.decisive]
        return bool(verdicts) and "cannot tell" not in verdicts

    def _change(self, measure: str, command: str | None) -> Change | None:
        logs, a_logs, numbers, progress = [], [], [], []
        references: list[float | None] = []
        for number, pair in enumerate(self.pairs, 1):
            means = pair.a.commands.get(command) if command is not None else None
            before = pair.a.whole[measure] if command is None else means and means.mean(measure)
            ratio = log_ratio(pair.a, pair.b, measure, command)
            if ratio is not None and before:
                logs.append(ratio)
                a_logs.append(math.log(before))
                numbers.append(number)
                progress.append(pair.progress)
                references.append(reference_log_ratio(pair.a, pair.b))
        if not logs:
            return None
        a = math.exp(math.fsum(a_logs) / len(a_logs))
        known = tuple(log for log in references if log is not None)
        reference_logs = known if measure == "cpu" and len(known) == len(logs) else None
        return Change(measure, command, tuple(logs), tuple(numbers), tuple(progress), a, self.margin, reference_logs)


def _known(changes: Iterable[Change | None]) -> tuple[Change, ...]:
    return tuple(change for change in changes if change is not None)
