"""The figures of a change, worked out by hand: what would give a verdict, how far drift reaches, and counts."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.comparison.compare import of_sides
from loadgo.comparison.difference import Allowance, Difference, Resampled, difference_of, interval_with
from loadgo.comparison.figures import change
from loadgo.comparison.side import Side
from loadgo.comparison.two_way import (
    Spread,
    reach_of,
    reach_of_counts,
    spread_of_both,
    spread_of_counts,
    spread_of_resamples,
    spread_of_rows,
)
from loadgo.measures.account import RunAccount
from loadgo.stats.resample import Interval
from support.live_sides import side

T_1000 = 1.96234
"""Student's t of 1000 degrees of freedom, which stands for the normal distribution's."""


def change_of(relative: float, half_log: float = 0.1, **fields: object) -> Difference:
    """A figure of 100 that changes by a share; the interval of its logarithm reaches so far to either side."""
    log = math.log1p(relative)
    interval = Interval(100 * math.expm1(log - half_log), 100 * math.expm1(log + half_log))
    return replace(Difference("response", 100.0, 100 * (1 + relative), interval), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("relative", "width"),
    [(0.1, 0.09531), (-0.1, 0.10536), (0.0, 0.04879), (0.01, 0.04879 - 0.00995), (-0.01, 0.04879 - 0.01005)],
)
def test_the_width_that_gives_a_verdict_leaves_out_0_or_lies_within_the_margin(relative: float, width: float) -> None:
    """A change of 10 % is shown by less than ln 1.1; one of 1 % by the rest to ln 1.05, the margin's end."""
    assert change_of(relative).log_width == pytest.approx(width, abs=1e-5)


def test_a_figure_that_vanishes_has_no_width() -> None:
    gone = Difference("response", 100.0, 0.0, Interval(-100.0, -50.0))
    assert (gone.log_width, gone.times_longer, gone.pairs_needed) == (None, None, None)
    unknown = Difference("response", None, 1.0, None)
    assert (unknown.change, unknown.relative, unknown.verdict, unknown.log_width) == (None, None, "not known", None)
    assert Difference("response", 0.0, 1.0, Interval(0.5, 1.5)).relative is None


def test_twice_the_width_takes_four_times_the_interactions() -> None:
    """The interval reaches ln 1.1 × 2 to either side, and ln 1.1 is needed."""
    assert change_of(0.1, 2 * math.log(1.1)).times_longer == pytest.approx(4.0)
    assert replace(change_of(0.1), interval=None).times_longer is None
    assert replace(change_of(0.1), interval=Interval(-100.0, 50.0)).times_longer is None


def test_pairs_needed_are_those_of_students_t() -> None:
    """A pair's logarithm scatters by 0.2, and ln 1.1 is needed: 1.19 t(n - 1) 0.2 / √n is first below it at n = 27."""
    by_runs = change_of(0.1, run_deviation=0.2 / math.sqrt(2))
    widths = {n: 1.19 * t * 0.2 / math.sqrt(n) for n, t in ((26, 2.0595), (27, 2.0555))}
    assert widths[27] < math.log(1.1) < widths[26]
    assert by_runs.pairs_needed == 27
    assert change_of(0.1, 0.2 * T_1000).pairs_needed == 27, "else from the scatter within the runs"
    assert replace(by_runs, interval=None).pairs_needed is None


def test_the_deviation_of_one_run_is_that_of_the_mean_times_the_root_of_half_the_runs() -> None:
    """The difference of two means of n runs has the variance 2 s² / n."""
    assert change_of(0.0, 0.1 * T_1000).deviation_of_runs(8) == pytest.approx(0.2, rel=1e-4)
    assert change_of(0.0, 0.1 * T_1000).deviation_of_runs(2) == pytest.approx(0.1, rel=1e-4)
    assert change_of(0.0).deviation_of_runs(0) is None
    assert replace(change_of(0.0), interval=Interval(-100.0, 1.0)).deviation_of_runs(2) is None


def test_an_allowance_reaches_as_far_as_students_t_of_the_runs_of_each_side() -> None:
    """t(9) is 2.262. Two runs a side have the variance s² (1/2 + 1/2), and a simulated side has none."""
    assert Allowance(0.1, 9, (2, 2), added=False).reach == pytest.approx(0.2262, abs=1e-4)
    assert Allowance(0.1, 9, (4, 0), added=False).reach == pytest.approx(0.1131, abs=1e-4)


def test_drift_widens_an_interval_and_never_narrows_it() -> None:
    """Logarithms of 0.3 and 0.4 to either side together reach 0.5 where both count, else 0.4."""
    within = Interval(100 * math.expm1(-0.3), 100 * math.expm1(0.3))
    deviation = 0.4 / 2.2622
    for added, reach in ((True, 0.5), (False, 0.4)):
        wide = interval_with(Allowance(deviation, 9, (1, 0), added=added), 100.0, 100.0, within)
        ends = (math.log1p(wide.low / 100), math.log1p(wide.high / 100))
        assert ends == pytest.approx((-reach, reach), abs=1e-4)
    tiny = interval_with(Allowance(deviation / 100, 9, (1, 0), added=False), 100.0, 100.0, within)
    assert (tiny.low, tiny.high) == pytest.approx((within.low, within.high))
    gone = interval_with(Allowance(deviation, 9, (1, 0), added=False), 100.0, 100.0, Interval(-100.0, 20.0))
    assert gone.low == -100.0, "an end at which nothing is left stays there"


def test_lines_without_an_answer_may_turn_a_verdict() -> None:
    worse = Difference("response", 100.0, 110.0, Interval(5.0, 15.0), by_unanswered=Interval(-8.0, 2.0))
    assert worse.with_unanswered == Interval(-3.0, 17.0)
    assert (worse.may_turn, worse.verdict, worse.cannot_tell_by) == (True, "cannot tell", "unanswered")
    sure = replace(worse, by_unanswered=Interval(-4.0, 2.0))
    assert (sure.with_unanswered, sure.may_turn, sure.verdict) == (Interval(1.0, 17.0), False, "worse")
    alone = replace(worse, interval=None)
    assert alone.with_unanswered == Interval(2.0, 12.0)
    assert (alone.may_turn, alone.verdict) == (False, "higher")
    assert replace(worse, by_unanswered=None).with_unanswered == Interval(5.0, 15.0)


@pytest.mark.parametrize(
    ("after", "interval", "more_is_better", "has_merit", "verdict"),
    [
        (110.0, Interval(5.0, 15.0), False, True, "worse"),
        (110.0, Interval(5.0, 15.0), True, True, "better"),
        (90.0, Interval(-15.0, -5.0), True, True, "worse"),
        (110.0, Interval(5.0, 15.0), False, False, "higher"),
        (90.0, Interval(-15.0, -5.0), False, False, "lower"),
        (110.0, None, False, True, "higher"),
        (90.0, None, True, True, "lower"),
        (100.0, None, False, True, "equal"),
    ],
)
def test_a_verdict_says_better_only_where_it_may(
    after: float, interval: Interval | None, more_is_better: bool, has_merit: bool, verdict: str
) -> None:
    found = Difference("x", 100.0, after, interval, more_is_better=more_is_better, has_merit=has_merit)
    assert found.verdict == verdict
    assert found.differs == (interval is not None)


def test_two_ways_of_drawing_add_what_each_has_more_than_single_interactions() -> None:
    """With 1000 degrees of freedom t² is 3.851. Interactions 0.01; users 0.03 add 0.02; stretches 0.005 add nothing."""
    spreads = [Spread(variance, 1000) for variance in (0.01, 0.03, 0.005)]
    assert reach_of(*spreads) == pytest.approx(math.sqrt(3.8508 * 0.03), rel=1e-4)
    # With 4 degrees of freedom the users' part has t² = 2.7764².
    few = Spread(0.03, 4)
    assert reach_of(spreads[0], few, spreads[2]) == pytest.approx(math.sqrt(3.8508 * 0.01 + 7.7087 * 0.02), rel=1e-4)
    assert reach_of_counts(Spread(0.01, 1000), Spread(0.01, 1000), few) == pytest.approx(
        math.sqrt(3.8508 * 0.01 + 7.7087 * 0.02), rel=1e-4
    )


def test_variances_of_two_sides_add_with_welchs_degrees() -> None:
    assert spread_of_both(Spread(1.0, 9), Spread(1.0, 9)) == Spread(2.0, 18)


def test_the_spread_of_resamples_is_that_of_logarithms_with_one_unit_less() -> None:
    """Logarithms ±1 in equal numbers have the variance 1, and 5 / 4 of it."""
    values = np.array([1.0, math.e, 1 / math.e, math.e, 1 / math.e])
    assert spread_of_resamples(values, 5) == Spread(pytest.approx(1.25), 4)
    assert spread_of_resamples(values, 2) == Spread(pytest.approx(2.0), 1)
    assert spread_of_resamples(values, 1) is None
    assert spread_of_resamples(np.array([1.0, 1.0, np.nan, np.nan]), 5) is None
    assert spread_of_resamples(np.array([1.0, 1.0, 0.0]), 5) is None


def test_the_spread_of_a_sum_of_rows_is_relative_to_the_sum() -> None:
    """Means 10 and 20, weights 1/2 each: the sum is 15, and its variance (4 + 16) / 4 = 5, so 5 / 225.

    Welch's degrees are 5² / (1² / 4 + 4² / 8) = 11.1.
    """
    rows = (np.array([10.0, 20.0]), np.array([4.0, 16.0]))
    halves = np.array([0.5, 0.5])
    assert spread_of_rows(*rows, np.array([4.0, 8.0]), halves) == Spread(pytest.approx(5 / 225), 11)
    assert spread_of_rows(*rows, np.array([0.0, 8.0]), halves) is None
    assert spread_of_rows(rows[0], np.zeros(2), np.array([4.0, 8.0]), halves) == Spread(0.0, 1000)


def test_the_spread_of_counts_is_worked_out_by_hand() -> None:
    """Four stretches of one run with 1, 3, 1 and 3 ends: the variance is 4/3, so 4 × 4/3 / 8² = 1/12 of 8 ends."""
    parts = np.array([0.1, 0.3, 0.35, 0.4, 0.6, 0.8, 0.85, 0.9])
    runs = np.zeros(8, dtype=np.int64)
    spread = spread_of_counts(parts, parts, runs, None, 4)
    assert spread == Spread(pytest.approx(1 / 12), 3)
    assert spread_of_counts(parts, parts, runs, None, 1) is None
    assert spread_of_counts(parts, np.full(8, np.inf), runs, None, 4) is None


def test_counts_begin_after_two_responses_and_need_half_of_all_ends() -> None:
    """Responses of 0.1 leave out the ends before 0.2; four stretches of 0.2 to 1 then have 2, 2, 2 and 1 ends."""
    ends = np.array([0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85])
    spread = spread_of_counts(ends - 0.1, ends, np.zeros(8, dtype=np.int64), None, 4)
    assert spread == Spread(pytest.approx(4 * 0.25 / 7 / 8), 3)
    late = np.array([0.1, 0.1, 0.1, 0.1, 0.9, 0.95, 0.97])
    assert spread_of_counts(late - 0.1, late, np.zeros(7, dtype=np.int64), None, 2) is None


def test_counts_of_users_who_finish_end_with_the_first_of_them() -> None:
    """User 1 ends at 0.5, so four stretches of 0.125 have 1, 1, 1 and 1 of user 0's ends and one of user 1's."""
    ends = np.array([0.1, 0.2, 0.3, 0.45, 0.9, 0.5])
    users = np.array([0, 0, 0, 0, 0, 1])
    spread = spread_of_counts(ends, ends, np.zeros(6, dtype=np.int64), users, 4)
    assert spread == Spread(pytest.approx(4 * 0.25 / 5 / 6), 3)


def test_a_change_has_its_wider_interval_where_both_sides_were_drawn_together() -> None:
    narrow, wide = (np.array([10.0, 10 + by, 10 - by, 10 + by, 10 - by]) for by in (0.1, 1.0))
    before = np.full(5, 10.0)
    drawn = [Resampled(before, after, (5, 5), True) for after in (narrow, wide)]
    change, alone = difference_of("response", drawn, False), difference_of("response", drawn[1:], False)
    assert change.interval == alone.interval
    assert (change.before, change.after, change.change) == (10.0, 10.0, 0.0)
    assert change.after_interval == alone.after_interval
    assert difference_of("response", [Resampled(None, wide, (5, 5), True)], False).before is None


def test_users_and_stretches_that_were_drawn_apart_give_one_interval() -> None:
    """Each kind has the variance 0.01 × 5/4 with t(4)² = 7.7087, of which interactions explain 0.005."""
    after = 20 * np.exp(np.array([0.0, 0.1, -0.1, 0.1, -0.1]))
    single = (Spread(0.0, 1000), Spread(0.005, 1000))
    kind = Resampled(np.full(5, 10.0), after, (5, 5), False, single)
    interval = difference_of("response", [kind, kind], False).interval
    assert interval is not None
    reach = math.sqrt(3.8508 * 0.005 + 2 * 7.7087 * 0.0075)
    assert interval.low == pytest.approx(20 * math.exp(-reach) - 10, rel=1e-4)
    assert interval.high == pytest.approx(20 * math.exp(reach) - 10, rel=1e-4)
    alone = difference_of("response", [replace(kind, interactions=(None, None))] * 2, False).interval
    assert alone is not None
    assert alone.high == pytest.approx(10 * math.expm1(math.log(2) + 2.7764 * math.sqrt(0.0125)), rel=1e-4)
    nothing = replace(kind, before=np.zeros(5))
    assert difference_of("response", [nothing, nothing], False).before == 0.0


def test_like_runs_of_two_sides_are_pooled_about_their_own_means() -> None:
    """Logarithms 0 and ±ln 1.2 on both sides: s² = (2 ln² 1.2 + 2 ln² 1.2) / 4. The means of runs scatter besides."""
    one, other = side(1, [1.0, 1.2, 1 / 1.2]), side(2, [2.0, 2 * 1.2, 2 / 1.2])
    found = of_sides(one, other).rows.whole["response"].run_deviation
    assert found == pytest.approx(math.log(1.2), rel=0.08)


@pytest.mark.parametrize(
    ("after", "text"), [(199.94, "+99.9 %"), (199.96, "+100 %"), (139.74, "+39.7 %"), (2.5, "−97.5 %")]
)
def test_a_change_without_an_interval_has_at_most_three_digits(after: float, text: str) -> None:
    assert change(Difference("x", 100.0, after, None)) == text


@pytest.mark.parametrize(
    ("load", "is_fixed"),
    [
        ({"duration_s": 10.0}, True),
        ({"duration_s": 10.0, "until": "p90 within 5%"}, False),
        ({"passes": 3}, False),
        ({}, False),
    ],
)
def test_the_span_of_a_run_is_fixed_by_a_duration_alone(load: dict[str, object], is_fixed: bool) -> None:
    one = side(1, [1.0, 1.0])
    last = replace(one.tables[1], conditions={**one.tables[1].conditions, "load": load})
    assert replace(one, tables=(one.tables[0], last)).has_fixed_span is is_fixed


def side_of_runs(script: str, first_seed: int, times: int) -> Side:
    """A host's six runs of a script, with the seeds from the first on. They take 1 s, 2 s, and so on, times `times`."""
    made = side(1, [1.0] * 6)
    work_ns = [times * 1e9 * number for number in range(1, 7)]
    accounts = tuple(RunAccount(100.0, ns, 1.0, {"user": ns}, {}, {"cpu": ns}) for ns in work_ns)
    rows = made.rows.with_columns(seed=pl.col("run") + first_seed)
    return replace(made, rows=rows, accounts=accounts, lines=((script, "x"),))


@pytest.mark.parametrize("script", ["edit", "another edit"])
def test_a_waterfall_of_runs_with_the_same_seeds_has_no_doubt_where_each_takes_twice_as_long(script: str) -> None:
    """Runs with other seeds are no pairs. The mean of six, of 1 s to 6 s, deviates by 22 %, that of two sides by 31 %.

    With t(5), the ratio is known within a factor of e^(2.57 × 0.31), or 2.2.
    """
    a = side_of_runs("edit", 1, 1)
    for first_seed, is_pair in ((1, True), (7, False)):
        compared = of_sides(a, side_of_runs(script, first_seed, 2), by="command")
        elapsed = json.loads(str(compared.report("json")))["waterfalls"][0]
        assert (elapsed["measure"], elapsed["ratio"]) == ("elapsed", 0.5)
        low, high = (elapsed["interval"][end] for end in ("low", "high"))
        assert ((low, high) == pytest.approx((0.5, 0.5))) == is_pair
        assert (low < 0.5 / 2 < 0.5 * 2 < high) != is_pair
