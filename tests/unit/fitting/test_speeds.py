"""Processor times at equal speed of the host: made-up runs whose speeds, and whose own effect on them, are known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from loadgo.fitting.reading import RunReading
from loadgo.fitting.speeds import MOST_OWN_SHARE, OwnEffect, RunSpeeds, at_equal_speed, own_effect, run_speeds
from loadgo.records.phases import Stretch
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns
from support.fit_readings import reading, rows

S, PIECE_NS, CPU_NS = 1_000_000_000, 1e6, 50e6
LENGTH_S, PIECES_PER_S = 120, 2
SERIES, SCATTER = 400, 0.05
SMALL = OwnEffect(0.0, 0.02)


def made(speed: float, load: float, own_change: float, seed: int) -> RunReading:
    """A run of two minutes whose users have `load` of two processors on average, more in some seconds than in others.

    Pieces and commands take `speed` times as long; pieces also more with the load, by `own_change` at full load.
    """
    draws = np.random.default_rng(seed)
    shares = np.clip(load + 0.1 * draws.standard_normal(LENGTH_S), 0, 1)
    beside = np.repeat(shares, PIECES_PER_S)
    times = PIECE_NS * speed * np.exp(own_change * beside + SCATTER * draws.standard_normal(len(beside)))
    seconds = np.arange(1, LENGTH_S + 1)
    pieces = pl.DataFrame(
        {
            "at_ns": ((np.arange(len(beside)) + 0.5) * S / PIECES_PER_S).astype(np.int64),
            "span_ns": np.full(len(beside), 1_000_000),
            "processor": np.arange(len(beside)) % 2,
            "cpu_ns": times.astype(np.int64),
        }
    )
    users = pl.DataFrame(
        {"at_ns": seconds * S, "span_ns": S, "who": "users", "cpu_ns": (shares * 2 * S).astype(np.int64)}
    )
    work = [CPU_NS * speed] * 40
    return reading(
        **dict.fromkeys(("think", "machine", "total", "stores", "switches", "supervisor", "supervisor_whole_run")),
        id=f"run-{seed}",
        asked_pace={},
        kind="host",
        users=2,
        span_s=float(LENGTH_S),
        lost=0,
        conditions={"loadgo": "0.1.0", "system": {"name": "here", "processors": 2}, "meters": {"tier": "cheap"}},
        rows=rows(cpu=work, system=[0.25 * each for each in work], response=[each + 3e6 for each in work]),
        stretch=Stretch("steady", 0, LENGTH_S * S, 40, 0, 0, 0, None),
        tables=SimpleNamespace(
            processor_speed=with_columns(pieces, COLUMNS_BY_TABLE["processor_speed"]),
            processes=with_columns(users, COLUMNS_BY_TABLE["processes"]),
        ),
    )


def runs(own_change: float) -> list[RunReading]:
    """Six runs of two loads in turns, at speeds from 0.9 to 1.1."""
    speeds = (1.1, 0.95, 0.9, 1.05, 1.0, 1.08)
    return [
        made(speed, load, own_change, seed)
        for seed, (speed, load) in enumerate(zip(speeds, (0.2, 0.6) * 3, strict=True))
    ]


def mean_cpu(readings: list[RunReading]) -> list[float]:
    """The mean processor time of each run."""
    return [float(one.rows["cpu"].to_numpy().mean()) for one in readings]


def test_runs_at_different_speeds_agree_at_equal_speed() -> None:
    measured = runs(own_change=0.0)
    speeds = run_speeds(measured)
    assert speeds is not None
    assert speeds.is_used
    equal = at_equal_speed(measured, speeds)
    assert np.std(np.log(mean_cpu(measured))) > 0.06
    assert np.std(np.log(mean_cpu(equal))) < 0.012
    assert np.mean(mean_cpu(equal)) == pytest.approx(CPU_NS, rel=0.03)
    assert speeds.reference_ns == pytest.approx(PIECE_NS, rel=0.03)
    assert speeds.spread > 0.07, "a run that is predicted has a speed of its own"


def test_what_is_not_processor_time_stays_as_it_was() -> None:
    measured = runs(own_change=0.0)
    for one in at_equal_speed(measured, run_speeds(measured)):
        np.testing.assert_allclose((one.rows["response"] - one.rows["cpu"]).to_numpy(), 3e6)
        np.testing.assert_allclose((one.rows["system"] / one.rows["cpu"]).to_numpy(), 0.25)


def test_pieces_that_the_users_slow_change_nothing() -> None:
    measured = runs(own_change=0.3)
    speeds = run_speeds(measured)
    assert speeds is not None
    assert speeds.effect is not None
    assert speeds.effect.change == pytest.approx(0.3, abs=speeds.effect.reach)
    assert not speeds.is_used
    assert mean_cpu(at_equal_speed(measured, speeds)) == mean_cpu(measured)
    assert speeds.spread == 0
    assert speeds.in_words.endswith("so processor times are as measured")


def test_intervals_of_the_users_effect_hold_the_truth() -> None:
    hits = 0
    for seed in range(SERIES):
        draws = np.random.default_rng(seed)
        shares = [level + 0.1 * draws.standard_normal(40) for level in (0.1, 0.5)]
        pieces = [
            speed * np.exp(0.04 * share + SCATTER * draws.standard_normal(40))
            for speed, share in zip((1, 1.2), shares, strict=True)
        ]
        effect = own_effect(list(zip(pieces, shares, strict=True)))
        assert effect is not None
        hits += abs(effect.change - 0.04) <= effect.reach
    assert 0.92 <= hits / SERIES <= 0.975


def test_a_difference_that_may_be_chance_is_taken_for_chance() -> None:
    by_chance = RunSpeeds(np.array([1.0, 1.01, 0.99]) * PIECE_NS, np.full(3, 0.02), np.zeros(3), SMALL)
    assert by_chance.factors.tolist() == [1.0, 1.0, 1.0]
    surely = replace(by_chance, times_ns=np.array([1.0, 1.2, 0.9]) * PIECE_NS, errors=np.full(3, 0.001))
    np.testing.assert_allclose(surely.factors * surely.times_ns, surely.reference_ns, rtol=1e-3)


def test_one_run_and_runs_without_the_users_share_stay_as_they_are() -> None:
    one = RunSpeeds(np.array([PIECE_NS]), np.array([0.01]), np.array([0.2]), SMALL)
    assert one.factors.tolist() == [1.0]
    assert one.in_words == (
        "the demands hold at the speed of the run, at which a piece of the reference work took 1.00 ms"
    )
    unknown = RunSpeeds(np.array([1.0, 1.2]) * PIECE_NS, np.full(2, 0.01), np.array([0.1, 0.6]), None)
    assert unknown.factors.tolist() == [1.0, 1.0]
    assert "is not known, so processor times are as measured" in unknown.in_words
    wide = replace(unknown, effect=OwnEffect(0.0, 2.1 * MOST_OWN_SHARE))
    assert not wide.is_used
    assert replace(wide, loads=np.array([0.3, 0.6])).is_used, "between nearer loads the effect makes less difference"
    unwanted = replace(wide, loads=np.array([0.3, 0.6]), is_wanted=False)
    assert unwanted.factors.tolist() == [1.0, 1.0]
    assert "processor times are as measured, at the mean of which" in unwanted.in_words
    assert own_effect([]) is None
    assert own_effect([(np.ones(9), np.full(9, 0.5))]) is None


def test_runs_that_cannot_be_compared_have_no_speeds() -> None:
    first, second = runs(0.0)[:2]
    for other in (
        {"loadgo": "0.2.0"},
        {"meters": {"tier": "exact"}},
        {"system": {"name": "ssh://elsewhere", "processors": 2}},
    ):
        assert run_speeds([first, replace(second, conditions={**second.conditions, **other})]) is None
    without = replace(second, tables=SimpleNamespace(processor_speed=second.tables.processor_speed.clear()))
    assert run_speeds([first, without]) is None
    assert run_speeds([replace(first, kind="machine")]) is None
