"""The figures of one run of an experiment, and the logarithm of the ratio of two runs' figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.measures.audit import is_remote
from loadgo.measures.limits import unreachable_limits

if TYPE_CHECKING:
    from loadgo.measures.summary import CommandSummary
    from loadgo.pairing.reference import ReferenceWork
    from loadgo.running.run import Run

MEAN_MEASURES = ("response", "cpu")
"""Measures that are means over interactions. Each command has them too."""
RUN_MEASURES = ("response", "p90 response", "cpu", "throughput")
"""The measures of a run: times in nanoseconds, and interactions a second."""


@dataclass(frozen=True)
class CommandMeans:
    """The means of one command's interactions, in nanoseconds; None where not measured."""

    count: int
    response: float | None
    cpu: float | None

    def mean(self, measure: str) -> float | None:
        """The mean called `measure`, in nanoseconds."""
        return self.response if measure == "response" else self.cpu


@dataclass(frozen=True)
class RunFigures:
    """The figures of one run."""

    folder: Path
    whole: Mapping[str, float | None]
    """The measures of all interactions together."""
    commands: Mapping[str, CommandMeans]
    errors: int
    others_share: float | None
    """The share of other work in the processors' time, 0 to 1; None where it is not known."""
    fit_warnings: tuple[str, ...] = ()
    """Reasons to doubt the fit of a simulated machine."""
    limit_warnings: tuple[str, ...] = ()
    """The limits that the host cannot reach."""
    is_elsewhere: bool = False
    """Whether the users' programs ran on another host."""
    reference_ns: float | None = None
    """The mean processor time of a piece of the reference work beside the run; None where there was none."""


def figures_of(run: Run, reference: ReferenceWork | None = None) -> RunFigures:
    """The figures of the steady phase of a run, beside which the reference work was done."""
    summary = run.summary
    everything = summary.everything
    span_s = summary.stretch.span_ns / 1e9
    conditions = {"system": summary.run.system, "usage": summary.run.usage}
    return RunFigures(
        folder=run.folder,
        whole={
            "response": everything.response.mean_ns,
            "p90 response": everything.response.quantile("p90").value_ns,
            "cpu": everything.usage.cpu_ns,
            "throughput": everything.response.answered / span_s if span_s > 0 else None,
        },
        commands={command.name: _means(command) for command in summary.commands if command.response.count},
        errors=everything.outcomes.errors,
        others_share=None if summary.other_work is None else summary.other_work.share,
        fit_warnings=summary.fit_warnings,
        limit_warnings=unreachable_limits(summary.run.limit, summary.run.system),
        is_elsewhere=is_remote(conditions),
        reference_ns=None if reference is None else _reference_ns(run, reference),
    )


def _reference_ns(run: Run, reference: ReferenceWork) -> float | None:
    """The mean of the reference work during the steady phase; None if the run's start is not known."""
    stretch = run.summary.stretch
    try:
        start_ns = int(datetime.fromisoformat(run.summary.run.started).timestamp() * 1e9)
    except ValueError:
        return None
    return reference.mean_ns(start_ns + stretch.start_ns, start_ns + stretch.end_ns)


def _means(command: CommandSummary) -> CommandMeans:
    return CommandMeans(command.response.count, command.response.mean_ns, command.usage.cpu_ns)


def log_ratio(a: RunFigures, b: RunFigures, measure: str, command: str | None = None) -> float | None:
    """The logarithm of B's figure over A's, of one command or of all; None if a figure is not known or 0.

    Both means are over the commands that both runs typed, weighted with the mix of both runs together. Otherwise they
    would differ if one run had typed a long command once more, or had come further in the script.
    """
    if command is not None:
        sides = [run.commands.get(command) for run in (a, b)]
        return _log(*(None if side is None else side.mean(measure) for side in sides))
    if measure in MEAN_MEASURES and a.commands and b.commands:
        common = [
            name for name in common_commands(a, b) if None not in (_mean(a, name, measure), _mean(b, name, measure))
        ]
        weights = {name: a.commands[name].count + b.commands[name].count for name in common}
        return _log(_mixed(a, measure, weights), _mixed(b, measure, weights))
    return _log(a.whole[measure], b.whole[measure])


def reference_log_ratio(a: RunFigures, b: RunFigures) -> float | None:
    """The logarithm of the reference work's time beside B over that beside A; None where it is not known."""
    return _log(a.reference_ns, b.reference_ns)


def common_commands(a: RunFigures, b: RunFigures) -> list[str]:
    """The commands that both runs typed."""
    return [name for name in a.commands if name in b.commands]


def _mean(run: RunFigures, command: str, measure: str) -> float | None:
    return run.commands[command].mean(measure)


def _mixed(run: RunFigures, measure: str, weights: Mapping[str, int]) -> float | None:
    """The mean of the commands in `weights`, each of which has one. None without any."""
    total = sum(weight * (_mean(run, name, measure) or 0.0) for name, weight in weights.items())
    return total / sum(weights.values()) if weights else None


def _log(before: float | None, after: float | None) -> float | None:
    return math.log(after / before) if before and after else None
