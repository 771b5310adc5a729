"""The figures of a run that conditions of `fail_if` compare, such as `p90(edit) > 1s and errors > 0`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loadgo.notation.comparisons import Comparison, Condition, Figures, parse_condition

Truth = bool | None
"""Whether a condition holds; None means that it is not known."""


@dataclass(frozen=True)
class ConditionResult:
    """The result of a condition for a run."""

    holds: Truth
    """True: the run fails. None: a figure is missing, and the run fails too."""
    text: str
    """The figures of the condition, in words."""
    condition: str = ""
    """The whole condition, as it was given."""
    is_open: bool = False
    """Whether the 95 % interval of the deciding figure holds its limit, so that chance decided."""

    @property
    def failed(self) -> bool:
        """Whether this condition fails the run."""
        return self.holds is not False


CONDITION_FIGURES = Figures(
    "fail_if",
    of_commands={
        "time": "p50 p90 p95 p99 mean max cpu ready_wait paging_wait io_wait throttled",
        "number": "faults major_faults count",
        "count": "errors failed timeouts died unconfirmed",
        "money": "cost",
    },
    of_run={"number": "lost refused", "rate": "throughput", "time": "lateness_p50 lateness_p99 lateness_max"},
)


def parse_run_condition(text: str) -> Condition:
    """Parses the condition in `text`. A mistake raises `ConditionError` with its column."""
    return parse_condition(text, CONDITION_FIGURES)


def check_conditions(texts: Iterable[str], known_names: list[str]) -> None:
    """Raises `ConditionError` for a condition with a mistake, or with a command that is not in `known_names`."""
    for text in texts:
        check_commands(parse_run_condition(text), known_names)


def check_commands(condition: Condition, known_names: list[str]) -> None:
    """Raises `ConditionError` when the condition names a command that is not in `known_names`."""
    if isinstance(condition, Comparison):
        if condition.command is not None and condition.command not in known_names:
            raise condition.unknown_command(known_names)
    else:
        check_commands(condition.left, known_names)
        check_commands(condition.right, known_names)
