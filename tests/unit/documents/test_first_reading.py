"""Places that a reader who has seen nothing else misread: each has its meaning beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from loadgo.documents.result import Result
from loadgo.fitting.trial import FittedCheck

MakeResult = Callable[[str], Result]


def text_of(result: Result, width: int = 120) -> str:
    return " ".join(str(result.report("text", width=width)).split())


@pytest.mark.parametrize("width", [80, 120])
def test_a_sweep_says_what_is_busy_and_what_its_times_are_of(made: MakeResult, width: int) -> None:
    text = text_of(made("Sweep"), width)
    assert "processors busy" in text
    assert "mean, p50 to p99: of the response time. A store, such as a disk, may be full" in text


def test_a_simulation_explains_who_is_present(made: MakeResult) -> None:
    assert "present the mean number of those who wait at a station or are served by it." in text_of(made("Simulation"))


def test_a_factor_by_meters_is_not_read_as_the_meter_s_own_ratio(made: MakeResult) -> None:
    assert "A factor is what one meter's change made of the whole" in text_of(made("Speedup"))


@pytest.mark.parametrize(("off", "error", "is_named"), [(-0.3, 0.05, True), (-0.3, 0.2, False), (0.02, None, False)])
def test_a_fit_that_is_right_in_one_figure_names_the_one_that_is_not(
    made: MakeResult, off: float, error: float | None, is_named: bool
) -> None:
    fit: Any = made("Fit")
    run, users = fit.fitted.runs[0], fit.fitted.users[0]
    mean = FittedCheck(run, users, "mean response", 1e9, 1.001e9, True)
    other = FittedCheck(run, users, "throughput", 1.0, 1.0 + off, False, error)
    text = text_of(replace(fit, checks=(mean, other)))
    assert ("Farthest off is the throughput, 30.0 % too low." in text) == is_named
    assert ("its throughput is 30.0 % too low" in text.partition("Trust: ")[2]) == is_named
