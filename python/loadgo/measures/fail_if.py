"""What a `--fail-if` condition comes to for a run.

A figure that was not measured, or has too few samples, is neither above nor below its limit: the finding is then
unknown, and an unknown finding fails the run, since a check that could not be made must not pass for one that was.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

from loadgo.measures.summary import Command, Summary
from loadgo.notation.comparisons import Both, Comparison, Condition, Dimension
from loadgo.notation.figures import digits, duration, number, plain, quantile, share

Truth = bool | None
"""None: it cannot be told."""


@dataclass(frozen=True)
class Finding:
    """What a condition came to."""

    holds: Truth
    """True: the run fails. None: a figure is missing, and the run must not pass for good."""
    text: str
    """Every figure in words."""

    @property
    def failed(self) -> bool:
        """Whether the run fails by this condition."""
        return self.holds is not False


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def evaluate(condition: Condition, summary: Summary) -> Finding:
    """What the condition comes to for a run; raises `ConditionError` for a command that nobody typed."""
    if isinstance(condition, Comparison):
        return _compared(condition, summary)
    left, right = evaluate(condition.left, summary), evaluate(condition.right, summary)
    both = isinstance(condition, Both)
    decisive = not both
    if left.holds is decisive or right.holds is decisive:
        holds: Truth = decisive
    else:
        holds = None if None in (left.holds, right.holds) else both
    return Finding(holds, f"{left.text} {'and' if both else 'or'} {right.text}")


def _compared(condition: Comparison, summary: Summary) -> Finding:
    row = _row(condition, summary)
    value, shown = _figure(condition, row, summary)
    name = f"{condition.figure}({plain(condition.command)})" if condition.command is not None else condition.figure
    if value is None:
        return Finding(None, f"{name} cannot be told ({shown})")
    if condition.is_share_of_lines:
        value = value / row.response.count if row.response.count else 0.0
        shown = share(value)
    limit = share(condition.limit) if condition.is_share_of_lines else _written(condition.limit, condition.dimension)
    holds = _COMPARE[condition.compare](value, condition.limit)
    return Finding(holds, f"{name} is {shown}, {'' if holds else 'not '}{condition.compare} {limit}")


def _row(condition: Comparison, summary: Summary) -> Command:
    if condition.command is None:
        return summary.everything
    try:
        return summary.command(condition.command)
    except KeyError:
        raise condition.unknown_command([row.name for row in summary.commands]) from None


def _figure(condition: Comparison, row: Command, summary: Summary) -> tuple[float | None, str]:
    """A figure's value, None when it cannot be told, and how it is printed."""
    name = condition.figure
    if name in ("p50", "p90", "p95", "p99"):
        found = row.response.quantile(name)
        value = math.inf if found.state == "never" else found.value_ns
        return value, "too few samples" if found.state == "too few samples" else quantile(found)
    value = _value(name, row, summary)
    return (None, "not measured") if value is None else (value, _written(value, condition.dimension))


def _value(name: str, row: Command, summary: Summary) -> float | None:
    values: dict[str, float | None] = {
        "mean": row.response.mean_ns,
        "max": row.response.max_ns if row.response.answered == row.response.count else math.inf,
        "cpu": row.usage.cpu_ns,
        "ready_wait": row.usage.ready_wait_ns,
        "paging_wait": row.usage.paging_wait_ns,
        "io_wait": row.usage.io_wait_ns,
        "faults": row.usage.faults_minor,
        "major_faults": row.usage.faults_major,
        "count": row.response.count,
        "errors": row.outcomes.errors,
        "failed": row.outcomes.failed,
        "timeouts": row.outcomes.timeouts,
        "died": row.outcomes.died,
        "unconfirmed": row.outcomes.unconfirmed,
        "cost": row.cost,
        "lost": sum(loss.count for loss in summary.losses),
        "refused": summary.sessions.refused,
        "throughput": summary.stretch.per_second,
        "lateness_p50": summary.driver.lateness_p50_ns,
        "lateness_p99": summary.driver.lateness_p99_ns,
        "lateness_max": summary.driver.lateness_max_ns,
    }
    return values[name]


def _written(value: float, dimension: Dimension) -> str:
    if dimension == "rate":
        return f"{number(value)}/s"
    return {"time": duration, "money": digits}.get(dimension, number)(value)
