"""Regressions of a fit and the choice of its laws, worked out by hand: stores, spans, pages, limits of laws."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from loadgo.errors import BadArgument
from loadgo.fitting.law_choice import _exponential_limit, _normal_limit, choose_law
from loadgo.fitting.memory import _fit_device, _pages_by_command
from loadgo.fitting.reading import RunReading, StoreUse
from loadgo.fitting.supervisor import fit_stores
from loadgo.fitting.system import known_values
from loadgo.fitting.unowned_time import fit_unowned_time
from loadgo.notation.laws import Law
from loadgo.records.phases import Stretch
from scipy import stats
from support.fit_readings import reading, rows


@pytest.mark.parametrize(
    ("count", "normal", "exponential"), [(10, 0.262, 0.325), (20, 0.192, 0.234), (30, 0.159, 0.192)]
)
def test_the_limits_of_laws_are_lilliefors_own(count: int, normal: float, exponential: float) -> None:
    """The 5 % points of his tables of 1967 (as corrected by Dallal and Wilkinson, 1986) and 1969."""
    assert _normal_limit(count) == pytest.approx(normal, abs=0.003)
    assert _exponential_limit(count) == pytest.approx(exponential, abs=0.003)


def paged(faults: list[float], **columns: list[Any]) -> RunReading:
    """A run with 20 frames for each of five users."""
    machine = {"memory": {"residence": "paging", "frames": 110, "wired": 10}}
    return reading(machine=machine, users=5, rows=rows(faults=faults, **columns))


def test_a_command_has_as_many_pages_as_a_tenth_of_its_interactions_have_faults() -> None:
    """Three of 30 interactions have 40 faults, and none has more."""
    others = [float(number) for number in range(1, 28)]
    assert _pages_by_command([paged([40.0] * 3 + others)]) == {"edit": 40}
    assert _pages_by_command([paged([40.0] * 2 + others + [28.0])]) == {}
    assert _pages_by_command([paged([10.0] * 3 + [float(number) for number in range(11, 38)])]) == {}, "many have more"
    assert _pages_by_command([paged([1.0] * 30)]) == {}


def test_an_interaction_whose_faults_are_not_known_counts_as_one_without() -> None:
    """Four with 2 faults are the most common: three have 1, and of three it is not known."""
    known: list[Any] = [2.0] * 4 + [1.0] * 3
    assert _pages_by_command([paged([*known, None, None, None])]) == {"edit": 2}


def test_the_paging_device_of_a_host_serves_in_the_mean_wait_of_a_fault() -> None:
    (device,) = _fit_device([paged([25.0] * 4, paging=[500.0] * 4)])
    assert (device.law, device.deviation) == (Law("exponential", (20.0,), timed=True), pytest.approx(0.1))
    (idle,) = _fit_device([paged([25.0] * 4)])
    assert (idle.law, idle.deviation) == (Law("fixed", (0.0,), timed=True), None)


def stretch(end_ns: int) -> Stretch:
    """A steady stretch from 0 to this instant."""
    return Stretch("all", 0, end_ns, 0, 0, 0, 0, None)


def test_requests_to_several_stores_are_regressed_on_the_commands_that_ended() -> None:
    """In each of 40 parts one `a` ends, and in every other part one `b` besides. Disk: 2 a + 3 b, ± 1 by turns of two.

    The errors are those of least squares with the weights 1 / (interactions of the part), over 40 - 2 degrees.
    """
    parts, second = 40, 1_000_000_000
    has_b = np.arange(parts) % 2
    disk = 2.0 + 3.0 * has_b + np.where(np.arange(parts) // 2 % 2, 1.0, -1.0)
    at = [(part + 1) * second for part in range(parts)]
    queue = pl.DataFrame(
        {
            "at_ns": at * 2,
            "span_ns": [second] * (2 * parts),
            "queue": ["disk"] * parts + ["tape"] * parts,
            "measure": ["requests"] * (2 * parts),
            "value": [*disk, *([1.0] * parts)],
        }
    )
    middles = [(part + 0.5) * second for part in range(parts)]
    b_ends = [middle for middle, has in zip(middles, has_b, strict=True) if has]
    measured = rows(
        command=["a"] * parts + ["b"] * len(b_ends),
        line=[1] * parts + [2] * len(b_ends),
        ready_at=[*middles, *b_ends],
    )
    run = reading(
        machine={},
        stores={"disk": StoreUse(disk.sum(), 1.0), "tape": StoreUse(40.0, 1.0)},
        rows=measured,
        stretch=stretch(parts * second),
        tables=SimpleNamespace(queue=queue),
    )
    fitted = {value.key: value for value in fit_stores([run], measured, [], "").values}
    means = {key: value.law.mean for key, value in fitted.items()}
    assert means["commands.a.requests.tape"] == pytest.approx(1.0)
    assert means["commands.a.requests.disk"] == pytest.approx(2.0, abs=1e-6)
    assert means["commands.b.requests.disk"] == pytest.approx(3.0, abs=1e-6)
    # The parts with `a` alone determine a, so its variance is s² / 20; those with both give a + b, with s² × 2 / 20.
    # The residuals are ±1, over √1 or √2: s² = (20 + 10) / 38.
    square = 30 / 38
    assert fitted["commands.a.requests.disk"].deviation == pytest.approx(math.sqrt(square / 20) / 2.0)
    assert fitted["commands.b.requests.disk"].deviation == pytest.approx(math.sqrt(square / 20 + square / 10) / 3.0)


def spans(interval: int | None = None, count: int = 40, many: int = 1, others_s: Sequence[int] = ()) -> RunReading:
    """A run with spans of a second; each other one has `many` interactions that cost 3 ms owned by nobody.

    In the seconds `others_s`, other programs use half a second.
    """
    second = 1_000_000_000
    has = np.arange(count) % 2 * many
    other = np.isin(np.arange(count), others_s) * 5e8
    noise = np.where(np.arange(count) // 2 % 2, 1e5, -1e5)
    time = pl.DataFrame(
        {
            "at_ns": [(number + 1) * second for number in range(count)],
            "span_ns": [second] * count,
            "processor": [0] * count,
            "category": ["user"] * count,
            "time_ns": (10e6 + 3e6 * has + noise + 2e6 * has + other).astype(np.int64),
        }
    )
    ends = [(number + 0.5) * second for number in range(count) for _ in range(has[number])]
    return reading(
        conditions={} if interval is None else {"usage": {"every": interval}},
        tables=SimpleNamespace(time=time),
        stretch=stretch(count * second),
        rows=rows(cpu=[2e6] * len(ends), sent=[end - 1e6 for end in ends], ready_at=ends),
    )


def test_time_that_no_interaction_owns_is_regressed_on_the_spans() -> None:
    """10 ms a second without an interaction, 3 ms more with one, which is charged 2 ms itself; ±0.1 ms by turns.

    Points are of five spans, with two or three interactions; their noise is ±0.1 ms, so a slope is 0.2 ms off at most.
    """
    unowned = fit_unowned_time([spans()])
    assert unowned is not None
    assert unowned.interaction_ns == pytest.approx(3e6, abs=2e5)
    assert unowned.background == pytest.approx(0.01, rel=0.02)
    assert 0 < unowned.error_ns <= 2e5
    assert unowned.spans == 40
    assert fit_unowned_time([spans(interval=2)]) is None, "the usage of most interactions was not read"
    assert fit_unowned_time([spans(interval=1)]) == unowned


def test_other_programs_that_come_and_go_are_no_time_of_interactions() -> None:
    """Half a second of others in ten seconds of the run with many interactions: its rate alone would say 13 ms each."""
    few, many = spans(), spans(many=5, others_s=range(10))
    unowned = fit_unowned_time([few, many])
    assert unowned is not None
    assert unowned.interaction_ns == pytest.approx(3e6, rel=0.1)
    assert unowned.background == pytest.approx(0.01 + 0.125 / 2, rel=0.1)


def test_runs_without_a_difference_in_their_interactions_show_no_time_of_them() -> None:
    unowned = fit_unowned_time([spans(many=0)])
    assert unowned is not None
    assert (unowned.interaction_ns, unowned.error_ns) == (0.0, 0.0)
    assert unowned.background == pytest.approx(0.01, rel=0.01)


def test_a_log_normal_law_has_the_spread_that_follows_from_its_logarithms() -> None:
    """Logarithms that deviate by 0.5 make times whose deviation is √(e^0.25 - 1) of their mean, 0.533."""
    places = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    law = choose_law(1e6 * np.exp(0.5 * places / places.std(ddof=1))).law
    assert (law.name, law.spread) == ("lognormal", pytest.approx(0.5329, abs=1e-3))
    assert law.mean == pytest.approx(1e6 * math.exp(0.125), rel=0.01)


def test_the_scheduler_of_a_host_is_as_its_kernel_was_recorded() -> None:
    system = {"processors": 2, "tick_ns": 4_000_000, "packs": True}
    recorded = dict(known_values(reading(kind="host", conditions={"system": system})).tables)
    assert recorded["processors.slice"] == "1.4ms"
    assert (recorded["processors.tick"], recorded["processors.packs"]) == ("4ms", True)
    older = dict(known_values(reading(kind="host", conditions={"system": {"processors": 2}})).tables)
    assert not {"processors.tick", "processors.packs"} & set(older)


@pytest.mark.parametrize("tick_ns", [0, 10**18])
def test_a_tick_that_no_kernel_has_is_refused_with_its_place(tick_ns: int) -> None:
    run = reading(id="odd", kind="host", conditions={"system": {"processors": 2, "tick_ns": tick_ns}})
    with pytest.raises(
        BadArgument, match=r"odd: `system.tick_ns` in run.toml is \d+, and a kernel's tick is 1 to 10 ms"
    ):
        known_values(run)
