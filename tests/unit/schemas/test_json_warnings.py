"""The JSON of every result has the warnings that stand over its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from loadgo.documents.result import Result
from support.results import MAKERS

WITHOUT_DOUBT = {"RunList", "MachineList", "ScriptList", "AbilityList", "Reproduction"}
"""Types of results whose pages never have a warning."""


def page_warnings(result: Result) -> list[str]:
    """The warnings over the page of a result."""
    return list(result._presentation().document().warnings)


def waiting(ready: Any) -> Result:
    """The ready message of a command that waited for a processor for most of its time."""
    run = replace(ready.runs[0], ready_wait_ns=ready.runs[0].real_ns)
    return replace(ready, runs=(run,) * len(ready.runs))


DOUBTED: dict[str, Callable[[Any], Result]] = {
    "Sweep": lambda sweep: replace(sweep, stopped=True, fit_warnings=("The fit is doubtful.",)),
    "Simulation": lambda simulation: replace(simulation, end="most", fit_warnings=("The fit is doubtful.",)),
    "Profile": lambda profile: replace(profile, lost=((7, "samples"),)),
    "Ready": waiting,
    "Transferred": lambda transferred: replace(
        transferred, rows=(replace(transferred.rows[0], broke_off="the other end died"), *transferred.rows[1:])
    ),
    "CommandTransfer": lambda transfer: replace(transfer, unsent=2, lost=1),
    "Apart": lambda apart: replace(apart, table=replace(apart.table, contradictions=("row 3: bits are not bytes",))),
    "KnobCapacity": lambda capacity: replace(capacity, limit_warnings=("The limit cannot be reached.",)),
    "Verification": lambda verification: replace(
        verification, checks=(replace(verification.checks[0], verdict="broken"), *verification.checks[1:])
    ),
    "Fit": lambda fit: replace(fit, warnings=("there are few interactions",)),
    "Speedup": lambda speedup: replace(speedup, warnings=("The runs differ otherwise.",)),
}
"""By result: the same result with a reason for a warning."""


@pytest.mark.parametrize("name", sorted({name for name in MAKERS if name.split()[0] not in WITHOUT_DOUBT}))
def test_json_has_the_warnings_of_the_page(name: str, made: Callable[[str], Result]) -> None:
    assert made(name).to_dict()["warnings"] == page_warnings(made(name))


@pytest.mark.parametrize("name", DOUBTED)
def test_json_has_a_warning_that_a_result_gives_reason_for(name: str, made: Callable[[str], Result]) -> None:
    result = DOUBTED[name](made(name))
    assert set(page_warnings(result)) - set(page_warnings(made(name)))
    assert result.to_dict()["warnings"] == page_warnings(result)


def test_results_without_warnings_are_those_without_the_key(made: Callable[[str], Result]) -> None:
    assert not any(page_warnings(made(name)) for name in WITHOUT_DOUBT)
