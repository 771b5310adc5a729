"""The evaluation of `--fail-if` conditions for a run.

A figure that was not measured, or has too few samples, is neither above nor below its limit, so the result is unknown.
An unknown result fails the run: a check that was impossible must not look like a check that passed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from loadgo.measures.fail_if_figures import ConditionResult, Truth, parse_run_condition
from loadgo.measures.summary import CommandSummary, LoadSummary, Summary
from loadgo.notation.comparisons import Both, Comparison, Condition, ConditionError, Dimension
from loadgo.notation.figures import digits, duration, interval, number, plain, quantile, share
from loadgo.stats.quantiles import samples_needed

_QUANTILES = ("p50", "p90", "p95", "p99")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def with_conditions(summary: Summary, conditions: Sequence[str]) -> Summary:
    """The summary with the result of each condition.

    A condition that cannot be read, or whose command nobody happened to type, is not decided, and fails.
    """
    return replace(summary, fail_if=tuple(_result(condition, summary) for condition in conditions))


def conditions_in(run_toml: Mapping[str, Any]) -> tuple[str, ...]:
    """The conditions that a run had, from the content of its `run.toml`."""
    entries = run_toml.get("fail_if")
    known = entries if isinstance(entries, list) else []
    return tuple(str(entry["condition"]) for entry in known if isinstance(entry, dict) and "condition" in entry)


def _result(condition: str, summary: Summary) -> ConditionResult:
    try:
        return replace(evaluate(parse_run_condition(condition), summary), condition=condition)
    except ConditionError as error:
        return ConditionResult(None, f"{condition} cannot be decided: {error.mistake}", condition)


def evaluate(condition: Condition, summary: Summary) -> ConditionResult:
    """Evaluates a condition for a run. A command without interactions raises `ConditionError`."""
    if isinstance(condition, Comparison):
        return _evaluate_comparison(condition, summary)
    left, right = evaluate(condition.left, summary), evaluate(condition.right, summary)
    is_conjunction = isinstance(condition, Both)
    decisive = not is_conjunction
    if left.holds is decisive or right.holds is decisive:
        holds: Truth = decisive
    else:
        holds = None if None in (left.holds, right.holds) else is_conjunction
    deciding = [part for part in (left, right) if part.holds is decisive] or [left, right]
    is_open = (
        any(part.is_open for part in (left, right)) if holds is not decisive else all(part.is_open for part in deciding)
    )
    return ConditionResult(holds, f"{left.text} {'and' if is_conjunction else 'or'} {right.text}", is_open=is_open)


def _evaluate_comparison(condition: Comparison, summary: Summary) -> ConditionResult:
    row = _row(condition, summary)
    measured, shown = _figure_in_words(condition, row, summary)
    name = f"{condition.figure}({plain(condition.command)})" if condition.command is not None else condition.figure
    if measured is None:
        return ConditionResult(None, f"{name} cannot be told ({shown})")
    limit = format_figure(condition.limit, condition.dimension)
    if condition.is_share_of_lines:
        measured = measured / row.response.count if row.response.count else 0.0
        shown, limit = share(measured), share(condition.limit)
    holds = _COMPARE[condition.compare](measured, condition.limit)
    text = f"{name} is {shown}, {'' if holds else 'not '}{condition.compare} {limit}"
    doubt = _doubt(condition, row)
    return ConditionResult(holds, f"{text}{doubt}", is_open=bool(doubt))


def _doubt(condition: Comparison, row: CommandSummary) -> str:
    """A clause if the interval of a quantile holds the limit; empty if not, and for a figure without an interval."""
    if condition.figure not in _QUANTILES:
        return ""
    known = row.response.quantile(condition.figure)
    if known.low_ns is None or known.high_ns is None or not known.low_ns <= condition.limit <= known.high_ns:
        return ""
    return f", but its 95 % interval, {interval(known)}, holds the limit"


def _row(condition: Comparison, summary: Summary) -> CommandSummary:
    if condition.command is None:
        return summary.everything
    try:
        return summary.command(condition.command)
    except KeyError:
        raise condition.unknown_command([row.name for row in summary.commands]) from None


def _figure_in_words(condition: Comparison, row: CommandSummary, summary: Summary) -> tuple[float | None, str]:
    """A figure's value, None when it is not known, and its text."""
    name = condition.figure
    if name in _QUANTILES:
        response_quantile = row.response.quantile(name)
        value = math.inf if response_quantile.state == "never" else response_quantile.value_ns
        if response_quantile.state == "too few samples":
            needed = samples_needed(response_quantile.probability)
            return None, f"too few samples: {number(row.response.count)} of the {needed} that it needs"
        return value, quantile(response_quantile)
    value = figure_values(row, summary)[name]
    return (None, "not measured") if value is None else (value, format_figure(value, condition.dimension))


def figure_values(row: CommandSummary, summary: LoadSummary) -> dict[str, float | None]:
    """All figures that conditions may name but quantiles, by name; None where a figure was not measured."""
    return {
        "mean": row.response.mean_ns,
        "max": row.response.max_ns if row.response.answered == row.response.count else math.inf,
        "cpu": row.usage.cpu_ns,
        "ready_wait": row.usage.ready_wait_ns,
        "paging_wait": row.usage.paging_wait_ns,
        "io_wait": row.usage.io_wait_ns,
        "throttled": row.usage.throttled_ns,
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


def format_figure(value: float, dimension: Dimension) -> str:
    """A figure with its unit."""
    if dimension == "rate":
        return f"{number(value)}/s"
    return {"time": duration, "money": digits}.get(dimension, number)(value)
