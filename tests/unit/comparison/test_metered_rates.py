"""Two meterings compared by second: rates, shares, intervals, estimates, and what only one side has."""

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl
import pytest
from loadgo.comparison.compare import Comparison, of_sides
from loadgo.comparison.difference import Difference
from loadgo.comparison.document import comparison_document, comparison_json
from loadgo.comparison.metered_rates import ComparedRates, RateRow, compared_rates
from loadgo.comparison.presentation import presentation
from loadgo.comparison.side import Side, side_of_runs
from loadgo.documents.as_text import text_document
from loadgo.measures import metered_rates
from loadgo.measures.metered_rates import MeteredRate, MeteredRates, metered_rates_of
from loadgo.records.phases import stretch_of
from loadgo.records.tables import Tables
from loadgo.stats.student import student_reach
from support.synthetic import S, empty_run
from support.synthetic_meters import PRIMITIVES, metered_alone

SECOND_NS = 1e9


@cache
def metering() -> Tables:
    """A metering without a command, in whose conditions no meter is missing."""
    return metered_alone()


def side(name: str, *runs: Tables) -> Side:
    """A side of meterings."""
    return side_of_runs(name, runs, "all", "default", {})


def compared(a: Tables, b: Tables) -> Comparison:
    """Two meterings compared, one a side."""
    return of_sides(side("a", a), side("b", b))


def rates(a: Tables, b: Tables) -> ComparedRates:
    """The rates of two meterings that both have some."""
    found = compared_rates(side("a", a), side("b", b), 0.05)
    assert found is not None
    return found


def row(found: ComparedRates, kind: str, name: str) -> RateRow:
    """The row of this name."""
    return next(one for one in found.rows if (one.kind, one.name) == (kind, name))


def with_calls(run: Tables, **factors: int) -> Tables:
    """The metering with so many times as many system calls of these names; with 0 there are none."""
    counts = pl.col("count")
    for name, factor in factors.items():
        counts = pl.when(pl.col("name").cast(pl.String) == name).then(counts * factor).otherwise(counts)
    calls = run.primitives.with_columns(count=counts.cast(pl.UInt64))
    kept = [name for name, factor in factors.items() if factor == 0]
    return replace(run, primitives=calls.filter(~pl.col("name").cast(pl.String).is_in(kept)))


def text_of(comparison: Comparison, *, full: bool = False) -> str:
    """The comparison as it is printed."""
    return text_document(comparison_document(comparison), width=140, color=False, short=not full)


def test_the_same_metering_twice_differs_in_nothing() -> None:
    found = rates(metering(), metering())
    assert {one.difference.verdict for one in found.rows} <= {"no difference", "cannot tell", "equal"}
    assert all(one.difference.change == 0 for one in found.rows)
    assert {one.kind for one in found.rows} == {"time", "primitives", "faults", "interrupts", "queue"}


def test_rates_are_counts_by_second_and_shares_of_all_time() -> None:
    found = rates(metering(), metering())
    assert row(found, "primitives", "read").difference.before == pytest.approx(PRIMITIVES["read"][0], rel=0.2)
    total = sum(one.difference.before or 0 for one in found.rows_of("primitives") if one.name != "all")
    whole, busy = found.whole("primitives"), found.whole("time")
    assert whole is not None
    assert busy is not None
    assert whole.difference.before == pytest.approx(total)
    categories = {one.name: one.difference.before or 0 for one in found.rows_of("time") if one.name != "busy"}
    assert sum(categories.values()) == pytest.approx(1)
    busy_sum = sum(part for name, part in categories.items() if not name.startswith("idle"))
    assert busy.difference.before == pytest.approx(busy_sum)


def test_more_system_calls_are_higher_and_named_and_neither_better_nor_worse() -> None:
    comparison = compared(metering(), with_calls(metering(), read=3))
    assert comparison.metered is not None
    reads = row(comparison.metered, "primitives", "read").difference
    assert reads.after == pytest.approx(3 * (reads.before or 0))
    assert (reads.verdict, reads.has_merit) == ("higher", False)
    document = comparison_document(comparison)
    assert document.answer.startswith("B against A, by second of the host: cannot tell for busy time (")
    assert "system calls are higher (+" in document.answer
    assert "Of the system calls, surely higher: `read` (+200" in " ".join(document.further_answers)
    assert "give 3 of each" in " ".join(document.further_answers)
    assert "total time was not measured" not in text_of(comparison, full=True)
    assert "a and b have no interactions: the host is compared by second" in text_of(comparison)


def test_a_call_that_one_side_never_made_is_named() -> None:
    comparison = compared(metering(), with_calls(metering(), read=0))
    assert comparison.metered is not None
    reads = row(comparison.metered, "primitives", "read").difference
    assert (reads.after, reads.verdict) == (0.0, "lower")
    assert "Never in B: read." in text_of(comparison)


def test_what_only_one_side_metered_is_named() -> None:
    comparison = compared(metering(), replace(metering(), primitives=metering().primitives.clear()))
    assert comparison.metered is not None
    assert comparison.metered.one_sided == {"primitives": "a"}
    assert "Only a metered system calls: there is nothing to compare." in text_of(comparison)
    assert not comparison.metered.rows_of("primitives")


def test_other_meters_are_warned_of_and_what_a_clock_divides_is_not_judged() -> None:
    run = metering()
    cheap = replace(run, conditions=run.conditions | {"meters": {"tier": "cheap", "clock_hz": 237}})
    comparison = compared(run, cheap)
    assert "A was metered by the exact meters, B by the cheap ones" in " ".join(
        comparison_document(comparison).warnings
    )
    assert comparison.metered is not None
    users = row(comparison.metered, "time", "user").difference
    assert (users.verdict, users.cannot_tell_by) == ("cannot tell", "estimate")
    assert row(comparison.metered, "time", "idle zero").difference.cannot_tell_by != "estimate"


def test_a_short_metering_has_no_intervals_and_says_so() -> None:
    short = replace(metering(), **{name: getattr(metering(), name).filter(pl.col("at_ns") <= 6 * S) for name in
                                   ("time", "faults", "primitives", "queue", "processes")})  # fmt: skip
    comparison = compared(short, with_calls(short, read=2))
    assert comparison.metered is not None
    assert not comparison.metered.has_intervals
    document = comparison_document(comparison)
    assert "The meterings are too short for intervals: chance may explain the changes." in document.answer
    assert document.trust.startswith("Trust: low: the meterings are too short for intervals")


def test_a_clock_alone_gives_a_short_metering_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doubt of a clock is not that of how a share varies from second to second. A change within it is not told."""

    def clocked(share: float) -> MeteredRates:
        return MeteredRates(
            "cheap", S, 237, None, {"time": (MeteredRate("user", share, is_estimate=True, error=0.03),)}
        )

    for after, verdict in ((0.24, "cannot tell"), (0.3, "higher")):
        found = iter([clocked(0.2), clocked(after)])
        monkeypatch.setattr("loadgo.comparison.metered_rates.metered_rates_of", lambda *_, found=found: next(found))
        users = row(rates(metering(), metering()), "time", "user").difference
        assert (users.verdict, users.interval) == (verdict, None)


def test_a_run_without_any_meters_is_not_compared_by_second() -> None:
    assert compared_rates(side("a", metering()), side("b", empty_run(kind="meter")), 0.05) is None


def test_every_format_has_the_rates() -> None:
    comparison = compared(metering(), with_calls(metering(), read=3))
    members = json.loads(comparison_json(comparison))
    reads = [one for one in members["metered"]["rows"] if one["name"] == "read"]
    assert (reads[0]["figure"]["measure"], reads[0]["figure"]["verdict"]) == ("a second", "higher")
    frame = presentation(comparison).frames["rows"]()
    assert frame.filter(pl.col("kind") == "primitives", pl.col("row") == "read")["verdict"].to_list() == ["higher"]


def made(*values: float, seconds: int = 20, windows: int | None = None, **figure: Any) -> list[MeteredRates]:
    """Meterings that have one system call, with these rates."""
    return [
        MeteredRates("sampled", seconds * S, 0, windows, {"primitives": (MeteredRate("read", value, **figure),)})
        for value in values
    ]


def judged(monkeypatch: pytest.MonkeyPatch, a: list[MeteredRates], b: list[MeteredRates]) -> Difference:
    """The difference of the one system call of these meterings."""
    found = iter([*a, *b])
    monkeypatch.setattr("loadgo.comparison.metered_rates.metered_rates_of", lambda tables, stretch: next(found))
    sides = side("a", *[metering()] * len(a)), side("b", *[metering()] * len(b))
    compared = compared_rates(*sides, 0.05)
    assert compared is not None
    return row(compared, "primitives", "read").difference


def test_a_change_within_the_doubt_of_two_estimates_is_no_difference_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    within = judged(
        monkeypatch,
        made(100.0, is_estimate=True, error=30.0, windows=9),
        made(145.0, is_estimate=True, error=40.0, windows=9),
    )
    assert (within.verdict, within.cannot_tell_by, within.estimate_doubt) == ("cannot tell", "estimate", 50.0)
    assert within.interval is not None
    assert within.interval.high == pytest.approx(45 + 50)
    beyond = judged(
        monkeypatch,
        made(100.0, is_estimate=True, error=30.0, windows=9),
        made(151.0, is_estimate=True, error=40.0, windows=9),
    )
    assert beyond.verdict == "higher"


def test_an_estimate_without_an_interval_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(
        monkeypatch,
        made(100.0, is_estimate=True, error=None, windows=2),
        made(900.0, by_stretch=(890.0, 910.0, 900.0, 905.0, 895.0)),
    )
    assert (found.verdict, found.cannot_tell_by, found.interval) == ("cannot tell", "estimate", None)
    assert math.isinf(found.estimate_doubt)


def test_the_interval_of_counted_rates_is_student_of_their_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(
        monkeypatch,
        made(3.0, by_stretch=(1.0, 2.0, 3.0, 4.0, 5.0)),
        made(30.0, by_stretch=(30.0, 30.0, 30.0, 30.0, 30.0, 30.0)),
    )
    half = student_reach(4) * math.sqrt(2.5 / 5)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (pytest.approx(27 - half), pytest.approx(27 + half))


def test_three_meterings_a_side_are_judged_by_their_own_scatter(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = {"is_estimate": True, "error": 1000.0, "windows": 9}
    found = judged(monkeypatch, made(10.0, 11.0, 12.0, **figure), made(20.0, 21.0, 22.0, **figure))
    half = student_reach(2) * math.sqrt(2 / 3)
    assert found.interval is not None
    assert found.interval.high == pytest.approx(10 + half)
    assert found.verdict == "higher"


def test_a_metering_is_divided_into_stretches_only_if_it_is_long_enough() -> None:
    run = metering()
    found = metered_rates_of(run, stretch_of(run, "all"))
    assert found is not None
    assert {len(one.by_stretch) for one in found.by_kind["time"]} == {metered_rates._MOST_STRETCHES}
    reads = next(one for one in found.by_kind["primitives"] if one.name == "read")
    assert sum(reads.by_stretch) / len(reads.by_stretch) == pytest.approx(reads.value, rel=0.05)


def test_a_metering_whose_first_span_begins_late_has_its_stretches_too() -> None:
    run = metering()
    late = {
        name: frame.with_columns(pl.col("at_ns") + 5_000_000_000)
        for name, frame in run.frames().items()
        if name in ("time", "primitives", "queue", "faults")
    }
    delayed = replace(run, **late)  # type: ignore[arg-type]
    usual, found = (metered_rates_of(tables, stretch_of(tables, "all")) for tables in (run, delayed))
    assert usual is not None
    assert found is not None
    for kind in ("time", "primitives"):
        by_stretch = [[one.by_stretch for one in rates.by_kind[kind]] for rates in (usual, found)]  # type: ignore[index]
        assert by_stretch[0] == by_stretch[1]
