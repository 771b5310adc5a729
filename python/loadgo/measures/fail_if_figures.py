"""The figures of a run that conditions of `fail_if` compare, such as `p90(edit) > 1s and errors > 0`."""

from __future__ import annotations

from loadgo.notation.comparisons import Comparison, Condition, Figures, parse_condition

FIGURES = Figures(
    "fail_if",
    of_commands={
        "time": "p50 p90 p95 p99 mean max cpu ready_wait paging_wait io_wait",
        "number": "faults major_faults count",
        "count": "errors failed timeouts died unconfirmed",
        "money": "cost",
    },
    of_run={"number": "lost refused", "rate": "throughput", "time": "lateness_p50 lateness_p99 lateness_max"},
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
