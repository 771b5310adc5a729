"""Identities of comparisons on random records: swapped they are inverted, parts add up, factors multiply."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadgo.comparison.rows import Difference, matched
from loadgo.comparison.side import COMPARED_MEASURES, ROW_SCHEMA, Side
from loadgo.decomposition.chains import chains
from loadgo.decomposition.parts import parts_of
from loadgo.decomposition.roads import Road, roads_of
from loadgo.decomposition.tables import road_notes
from loadgo.measures.account import RunAccount
from loadgo.stats.resample import Interval
from loadgo.stats.shapley import effects

CATEGORIES = ("user", "page fault", "getwork", "interrupt", "idle page wait", "idle zero")
COUNTED = ("page fault", "getwork", "interrupt")
OPPOSITE = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
times = st.floats(1e3, 1e12)


@st.composite
def accounts(draw: st.DrawFn, runs: int) -> list[RunAccount]:
    """Random meters of several runs: categories that fill the time, counts, and charges."""
    run_accounts = []
    for _ in range(runs):
        spent = {name: draw(times) for name in CATEGORIES}
        span_ns = sum(spent.values())
        cpu = draw(st.floats(0.5, 2)) * (spent["user"] + spent["page fault"])
        used = {
            "cpu": cpu,
            "programs": spent["user"],
            "response": cpu * draw(st.floats(1, 50)),
            "ready wait": draw(times),
        }
        counts = {name: draw(st.floats(1, 1e6)) for name in COUNTED}
        number = float(draw(st.integers(1, 1000)))
        run_accounts.append(RunAccount(number, span_ns, 1.0, spent, counts, used, {"t": draw(st.floats(1e-3, 1e3))}))
    return run_accounts


pairs = st.integers(1, 7).flatmap(lambda runs: st.tuples(accounts(runs), accounts(runs)))


def inverted(one: Interval | None, other: Interval | None) -> bool:
    """Whether the interval of a factor is one over the other's."""
    if one is None or other is None:
        return one is other
    return math.isclose(one.low * other.high, 1, rel_tol=1e-9) and math.isclose(one.high * other.low, 1, rel_tol=1e-9)


@settings(deadline=None, max_examples=40)
@given(pairs)
def test_factors_multiply_and_are_one_over_themselves_the_other_way_round(
    sides: tuple[list[RunAccount], list[RunAccount]],
) -> None:
    there, back = (chains(a, b, paired=True)[0] for a, b in (sides, sides[::-1]))
    assert {chain.measure for chain in there} >= {"elapsed", "CPU", "response"}
    for one, other in zip(there, back, strict=True):
        logs = [factor.log for factor in one.factors]
        assert abs(math.fsum(logs) - math.log(one.ratio)) <= 1e-12 * (1 + math.fsum(map(abs, logs)))
        assert abs(math.fsum(link.log for link in one.links) - math.log(one.ratio)) <= 1e-12 * (
            1 + math.fsum(map(abs, logs))
        )
        assert one.ratio * other.ratio == pytest.approx(1, rel=1e-12)
        assert inverted(one.interval, other.interval)
        for factor, turned in zip(one.factors, other.factors, strict=True):
            assert (factor.name, factor.of) == (turned.name, turned.of)
            assert factor.log == pytest.approx(-turned.log, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(pairs)
def test_parts_add_up_to_the_busy_time_and_change_their_sign_the_other_way_round(
    sides: tuple[list[RunAccount], list[RunAccount]],
) -> None:
    there, back = (parts_of(a, b, paired=True) for a, b in (sides, sides[::-1]))
    assert there.busy is not None
    busy = [part for part in there.parts if part.busy]
    scale = there.busy.before + there.busy.after
    assert math.fsum(part.change for part in busy) == pytest.approx(there.busy.change, abs=1e-9 * scale)
    for part, turned in zip(there.parts, back.parts, strict=True):
        assert part.change == pytest.approx(-turned.change, abs=1e-9 * scale)
        if part.by_count is not None and part.by_each is not None and turned.by_count is not None:
            assert part.by_count + part.by_each == pytest.approx(part.change, abs=1e-9 * scale)
            assert part.by_count == pytest.approx(-turned.by_count, abs=1e-9 * scale)


@settings(deadline=None, max_examples=40)
@given(pairs)
def test_roads_lead_back_the_way_they_came(sides: tuple[list[RunAccount], list[RunAccount]]) -> None:
    there, back = (roads_of(a, b, paired=True) for a, b in (sides, sides[::-1]))
    for road, turned in zip(there, back, strict=True):
        assert road.ratio * turned.ratio == pytest.approx(1, rel=1e-12)
        assert inverted(road.interval, turned.interval)
        assert inverted(road.apart, turned.apart)


@given(st.integers(1, 4), st.data())
def test_a_change_undone_is_one_over_the_change_and_first_is_last(count: int, data: st.DataObject) -> None:
    logs = np.array([[data.draw(st.floats(-5, 5))] for _ in range(1 << count)])
    for one, other in zip(effects(logs), effects(logs[::-1]), strict=True):
        assert one.log[0] == pytest.approx(-other.log[0], abs=1e-12)
        assert one.first[0] == pytest.approx(-other.last[0], abs=1e-12)


def side(name: str, random: np.random.Generator, users: int, passes: int, commands: Sequence[str]) -> Side:
    """A random side: users who type a script of these commands, one row for each line and pass."""
    lines = tuple((f"{command} x", command) for command in commands)
    count = users * passes * len(commands)
    keys = [
        (0, 1, u, p, n + 1, c, False)
        for p in range(1, passes + 1)
        for n, c in enumerate(commands)
        for u in range(users)
    ]
    columns: dict[str, object] = dict(zip(list(ROW_SCHEMA)[:7], zip(*keys, strict=True), strict=True))
    columns["waited"] = [None] * count
    columns["moment"] = columns["end"] = np.linspace(0, 1, count)
    columns |= {measure: random.lognormal(15, 1, count) for measure in COMPARED_MEASURES}
    return Side(name, "host", name, pl.DataFrame(columns, schema=ROW_SCHEMA), (), {}, lines)


def opposed(one: Difference, other: Difference) -> None:
    """The one difference is the other, the other way round: each end is the reverse of the other's as a ratio."""
    assert (one.before, one.after) == pytest.approx((other.after, other.before), rel=1e-12)
    assert one.verdict == OPPOSITE.get(other.verdict, other.verdict)
    if one.interval is not None and other.interval is not None and one.before and other.before:
        low, high = 1 + one.interval.low / one.before, 1 + one.interval.high / one.before
        assert (low, high) == pytest.approx(
            (1 / (1 + other.interval.high / other.before), 1 / (1 + other.interval.low / other.before)), rel=1e-9
        )


@pytest.mark.long
@settings(deadline=None, max_examples=12)
@given(st.integers(0, 2**32), st.integers(5, 12), st.integers(1, 3))
def test_rows_change_their_sign_the_other_way_round_and_add_up(seed: int, users: int, passes: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (side(name, random, users, passes, ("edit", "compile", "ls")) for name in ("a", "b"))
    forward, backward = matched(a, b), matched(b, a)
    assert forward.paired
    for row, turned in zip(forward.rows, backward.rows, strict=True):
        for name, told in row.measures.items():
            if row.kind == "row":
                assert told.before == pytest.approx(turned.measures[name].after, rel=1e-12)
                assert told.change == pytest.approx(-(turned.measures[name].change or 0), rel=1e-9)
    for name in COMPARED_MEASURES:
        parts = [row.measures[name].change or 0 for row in forward.rows if row.kind == "row"]
        assert math.fsum(parts) == pytest.approx(forward.whole[name].change, rel=1e-9, abs=1e-3)
    for quantile in ("p50 response", "p90 response", "throughput"):
        assert forward.whole[quantile].change == pytest.approx(-(backward.whole[quantile].change or 0), rel=1e-9)


def test_of_runs_drawn_whole_the_intervals_too_are_inverted_the_other_way_round() -> None:
    random = np.random.default_rng(5)
    sides = []
    for name in ("a", "b"):
        runs = [side(name, random, 3, 2, ("edit", "ls")) for _ in range(6)]
        frames = [of.rows.with_columns(run=pl.lit(i, pl.Int64), seed=pl.lit(i, pl.Int64)) for i, of in enumerate(runs)]
        sides.append(Side(name, "host", name, pl.concat(frames), (), {}, runs[0].lines))
    a, b = sides
    there, back = matched(a, b), matched(b, a)
    assert (there.unit, there.paired, back.paired) == ("run", True, True)
    for name in (*COMPARED_MEASURES, "p50 response", "p90 response", "throughput"):
        opposed(there.whole[name], back.whole[name])


def test_a_small_difference_of_two_estimates_has_the_sign_of_the_ratios_that_stand_beside_it() -> None:
    first = Road("one meter", "work", 2.0, 1.0, "ns")
    other = Road("another", "work", 2.06, 1.0, "ns", apart=Interval(1.02, 1.04))
    assert road_notes([first, other])[1] == "×0.500 from one meter, ×0.485 from another: −2.9 %, more than chance."
