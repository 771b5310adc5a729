"""The figures of a run that conditions of `fail_if` compare, such as `p90(edit) > 1s and errors > 0`."""

from __future__ import annotations

from loadgo.notation.comparisons import Comparison, Condition, Figures, parse_condition

FIGURES = Figures(
    "fail_if",
    of_commands={
        "p50": "time",
        "p90": "time",
        "p95": "time",
        "p99": "time",
        "mean": "time",
        "max": "time",
        "cpu": "time",
        "ready_wait": "time",
        "paging_wait": "time",
        "io_wait": "time",
        "faults": "number",
        "major_faults": "number",
        "count": "number",
        "errors": "count",
        "failed": "count",
        "timeouts": "count",
        "died": "count",
        "unconfirmed": "count",
        "cost": "money",
    },
    of_run={
        "lost": "number",
        "refused": "number",
        "throughput": "rate",
        "lateness_p50": "time",
        "lateness_p99": "time",
        "lateness_max": "time",
    },
)


def parse(text: str) -> Condition:
    """The condition in `text`; raises `ConditionError` with the column of a mistake."""
    return parse_condition(text, FIGURES)


def check_commands(condition: Condition, known: list[str]) -> None:
    """Raises `ConditionError` when the condition names a command that is not among `known` (the script's)."""
    if isinstance(condition, Comparison):
        if condition.command is not None and condition.command not in known:
            raise condition.unknown_command(known)
    else:
        check_commands(condition.left, known)
        check_commands(condition.right, known)
