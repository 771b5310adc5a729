"""The intervals of a comparison hold the truth about as often as they say: 100 seeds each, with known means.

At 95 %, of 100 intervals fewer than 89 hold the truth in one of a hundred laboratories.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.comparison.compare import compare
from loadgo.comparison.headline import rows_sentence
from loadgo.comparison.rows import Matched, matched
from loadgo.comparison.side import Side
from loadgo.records.phases import Stretch
from support.compared_rows import rows_of_run
from support.small_machine import laid
from support.synthetic import closed_loop

pytestmark = pytest.mark.statistical

SEEDS = range(100)
MEAN, FASTER = 2e9, 0.8
LINES = (("edit x", "edit"),)


def side(seed: int, mean: float, *, users: int = 12, passes: int = 5, run: int = 0) -> Side:
    """A run of users of whom each is a third slower or faster than others, and each interaction half again."""
    random = np.random.default_rng(seed)
    own = random.gamma(9, 1 / 9, users)
    took = mean * own * random.gamma(4, 1 / 4, (passes, users))
    frame = rows_of_run(run, seed, took, "edit", cpu=took)
    stretch = Stretch("all", 0, int(1e12), len(frame), 0, 0, 0, None)
    return Side(str(seed), "host", "", frame, (), {}, LINES, stretches=(stretch,))


def held(compared: Sequence[Matched], measure: str, truth: float) -> int:
    """How many of the intervals of the relative change, which are those that reports show, hold the truth."""
    differences = [one.whole[measure] for one in compared]
    assert all(one.interval for one in differences)
    return sum(one.interval is not None and one.interval.holds(truth * (one.before or 0)) for one in differences)


def several(seeds: Sequence[int], mean: float) -> Side:
    """As many runs as there are seeds, as one side."""
    runs = [side(seed, mean, users=4, run=number) for number, seed in enumerate(seeds)]
    frame = pl.concat([one.rows for one in runs])
    return Side("several", "host", "", frame, (), {}, LINES, stretches=tuple(one.stretches[0] for one in runs))


def one_run(seed: int) -> Matched:
    return matched(side(seed, MEAN), side(seed + 1000, FASTER * MEAN), "command")


def six_runs(seed: int) -> Matched:
    a, b = range(6 * seed, 6 * seed + 6), range(6 * seed + 1000, 6 * seed + 1006)
    return matched(several(a, MEAN), several(b, FASTER * MEAN), "command")


@pytest.mark.parametrize("laboratory", [one_run, six_runs])
def test_intervals_of_a_mean_hold_the_truth(laboratory: Callable[[int], Matched]) -> None:
    compared = [laboratory(seed) for seed in SEEDS]
    assert held(compared, "response", FASTER - 1) >= 89


def test_two_runs_that_are_alike_are_called_different_no_more_often_than_is_said() -> None:
    compared = [matched(side(seed, MEAN), side(seed + 1000, MEAN), "command") for seed in SEEDS]
    for measure in ("response", "cpu", "p50 response", "p90 response"):
        assert held(compared, measure, 0.0) >= 89, measure
    assert held(compared, "response", 0.0) <= 99


def alike(seed: int, factor: float = 1.0) -> Side:
    """A run of 8 users who differ by chance alone, 10 interactions each, which all take `factor` times as long."""
    random = np.random.default_rng(seed)
    own = side(seed, MEAN, users=8, passes=10)
    times = pl.Series(factor * MEAN * random.lognormal(0, 1, len(own.rows)))
    return replace(own, kind="machine", rows=own.rows.with_columns(response=times, cpu=times))


def test_a_short_run_has_an_interval_hardly_wider_than_the_scatter_asks_for() -> None:
    """The wider of two intervals from 8 units each, paired across different seeds, was 1.4 times as wide."""
    changes, halves = [], []
    for seed in range(200):
        difference = matched(alike(seed), alike(seed + 1000)).whole["cpu"]
        assert difference.interval is not None
        assert difference.before is not None
        assert difference.after is not None
        ends = [1 + end / difference.before for end in (difference.interval.low, difference.interval.high)]
        changes.append(np.log(difference.after / difference.before))
        halves.append(float(np.log(ends[1] / ends[0])) / 2)
    asked = 1.96 * float(np.std(changes))
    assert np.mean(halves) / asked <= 1.25
    assert sum(abs(change) <= half for change, half in zip(changes, halves, strict=True)) >= 180


def with_commands(seed: int) -> Side:
    """A run of 8 users, each slower or faster by a third, who type ten commands five times."""
    random = np.random.default_rng(seed)
    own = random.lognormal(0, 0.3, 8)
    frames = [
        rows_of_run(0, seed, MEAN * own * random.lognormal(0, 1, (5, 8)), f"command {number}").with_columns(
            cpu=pl.Series((MEAN / 2 * own * random.lognormal(0, 1, (5, 8))).ravel()), line=pl.lit(number, pl.Int64)
        )
        for number in range(1, 11)
    ]
    stretch = Stretch("all", 0, int(1e12), 400, 0, 0, 0, None)
    lines = tuple((f"command {number}", f"command {number}") for number in range(1, 11))
    return Side(str(seed), "machine", "", pl.concat(frames), (), {}, lines, stretches=(stretch,))


def test_chance_names_a_row_in_the_headline_of_at_most_5_of_100_comparisons() -> None:
    named = [rows_sentence(matched(with_commands(seed), with_commands(seed + 10_000), "command")) for seed in SEEDS]
    assert sum(map(bool, named)) <= 10


def test_runs_that_drift_are_called_different_no_more_often_than_is_said() -> None:
    """Each run is up to a half slower or faster than the next: the scatter within the runs is a quarter of that."""
    random = np.random.default_rng(7)
    called, called_within = 0, 0
    for seed in range(100):
        factors = random.lognormal(0, 0.3, 10)
        runs = [alike(100 * seed + number, factor) for number, factor in enumerate(factors)]
        live = [replace(one, kind="host") for one in runs]
        frames = [one.rows.with_columns(run=pl.lit(number, pl.Int64)) for number, one in enumerate(live[2:])]
        like = replace(live[2], rows=pl.concat(frames))
        difference = matched(live[0], live[1], like_runs=[like]).whole["cpu"]
        assert difference.within_runs is not None
        called += difference.verdict in ("better", "worse")
        called_within += not difference.within_runs.holds(0.0)
    assert called <= 10
    assert called_within >= 25


def waiting(seed: int, share: float) -> Side:
    """The run with so much of every response waited for, of which the run lasts 50 mean responses."""
    own = side(seed, MEAN)
    rows = own.rows.with_columns((share * pl.col("response")).alias("ready wait"))
    span = int(50 * rows.select(pl.col("response").mean()).item())
    stretch = Stretch("all", 0, span, len(rows), 0, 0, 0, None)
    return Side(own.name, "host", "", rows, (), {}, LINES, stretches=(stretch,))


def test_a_run_that_lasts_a_few_waits_is_not_judged_by_what_is_waited_for() -> None:
    long, short = waiting(1, 0.9), waiting(2, 0.9)
    assert matched(long, short).waits is None
    brief = Stretch("all", 0, long.stretches[0].span_ns // 10, 60, 0, 0, 0, None)
    cut = Side(short.name, "host", "", short.rows, (), {}, LINES, stretches=(brief,))
    matched_rows = matched(long, cut)
    assert matched_rows.waits == pytest.approx(50 / 10 / 0.9, rel=0.3)
    assert {name for name, one in matched_rows.whole.items() if one.interval} == {"cpu"}
    assert matched_rows.whole["response"].verdict in ("higher", "lower")


def test_who_does_not_wait_is_judged_however_short_the_run() -> None:
    brief = Stretch("all", 0, int(4 * MEAN), 60, 0, 0, 0, None)
    a, b = (Side("x", "host", "", side(seed, MEAN).rows, (), {}, LINES, stretches=(brief,)) for seed in (1, 2))
    matched_rows = matched(a, b)
    assert matched_rows.waits is None
    assert matched_rows.whole["response"].interval is not None


def test_a_short_run_on_a_saturated_machine_says_why_there_is_no_verdict_and_what_to_do(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    for seed in (1, 2):
        loadgo.run(script, on=str(machine), users=20, passes=1, seed=seed, out=tmp_path / str(seed))
    comparison = compare(tmp_path / "1", tmp_path / "2")
    text = " ".join(comparison.report(width=120, full=True).split())
    assert comparison.rows.waits is not None
    assert f"What users wait for is not judged: a run lasts {comparison.rows.waits:.0f} of its mean waits" in text
    assert 2 < comparison.rows.waits < 10
    assert "Take longer runs (10 waits), or 5 on each side." in text
    assert comparison.rows.whole["cpu"].interval is not None
    assert json.loads(comparison.report("json"))["rows"]["waits"] == pytest.approx(comparison.rows.waits)


def queueing(seed: int, users: int, service_ns: float, interactions: int) -> Side:
    """A run of a fixed time, of users who think for a second and wait for one processor, first come, first served."""
    random = np.random.default_rng(seed)
    waiting = [(float(moment), user) for user, moment in enumerate(random.exponential(1e9, users))]
    heapify(waiting)
    end_ns = interactions * max(service_ns, (1e9 + 2 * service_ns) / users)
    free_ns, rows = 0.0, []
    while waiting[0][0] < end_ns:
        sent_ns, user = heappop(waiting)
        free_ns = max(free_ns, sent_ns) + service_ns * random.gamma(4, 1 / 4)
        next_ns = free_ns + random.exponential(1e9)
        rows.append((user, sent_ns / end_ns, free_ns - sent_ns, next_ns - sent_ns))
        heappush(waiting, (next_ns, user))
    owners, moments, responses, cycles = map(np.array, zip(*rows, strict=True))
    ends = moments + responses / end_ns
    frame = rows_of_run(0, seed, responses.reshape(-1, 1), "edit", cpu=responses, cycle=cycles, end=ends)
    frame = frame.with_columns(
        user=pl.Series(owners).cast(pl.Int64), moment=pl.Series(moments), line=pl.lit(1, pl.Int64)
    )
    load = {"users": users, "duration_s": end_ns / 1e9}
    tables = replace(closed_loop(2, 5), conditions={"load": load, "system": {"kind": "machine"}})
    stretch = Stretch("all", 0, int(end_ns), len(frame), 0, 0, 0, None)
    return Side(str(seed), "machine", "", frame, (), {}, LINES, tables=(tables,), stretches=(stretch,))


QUEUES = {
    "5 users, hardly busy, short": (5, 0.02e9, 120),
    "8 users, a third busy": (8, 0.04e9, 600),
    "20 users, three quarters busy": (20, 0.04e9, 600),
    "20 users, saturated": (20, 0.08e9, 600),
    "60 users, saturated": (60, 0.05e9, 600),
    "60 users, hardly busy, short": (60, 0.002e9, 300),
}


@pytest.mark.parametrize("queue", QUEUES)
def test_intervals_of_throughput_hold_equality_and_are_hardly_wider_than_the_scatter(queue: str) -> None:
    """200 pairs each. Fewer than 181 (of 95 %) hold it in one of a hundred laboratories."""
    compared = [matched(queueing(seed, *QUEUES[queue]), queueing(seed + 1000, *QUEUES[queue])) for seed in range(200)]
    changes, halves = [], []
    for one in compared:
        difference = one.whole["throughput"]
        assert difference.interval is not None
        assert difference.before is not None
        assert difference.after is not None
        ends = [1 + end / difference.before for end in (difference.interval.low, difference.interval.high)]
        changes.append(float(np.log(difference.after / difference.before)))
        halves.append(float(np.log(ends[1] / ends[0])) / 2)
    width = np.mean(halves) / (1.96 * np.std(changes))
    covered = sum(abs(change) <= half for change, half in zip(changes, halves, strict=True))
    assert covered >= 181, (width, covered)
    assert width <= 1.35, (width, covered)
