"""A report's intervals of response times hold the truth about as often as they say, in queues that all users wait in.

A closed queue with exponential service and think times, 200 runs each. The truth is exact: a user who arrives finds
the queue as if that user did not exist (the arrival theorem). Quantiles of short runs lean to one side, and no method
sees that in one run. So the intervals are compared with a textbook's on the same runs: ten batches and Student's t
(A. M. Law, Simulation Modeling and Analysis, 9.5).
"""

from __future__ import annotations

from math import lgamma, log, sqrt
from pathlib import Path

import loadgo
import numpy as np
import pytest
from loadgo.comparison.compare import compare
from loadgo.measures.summary import summarize
from loadgo.stats.quantiles import Response, Sample, responses
from loadgo.stats.resample import stretch_count, too_short
from support.queue_runs import QueueRun, queue_run
from support.small_machine import laid

pytestmark = pytest.mark.statistical

RUNS = 200
FEWEST_AS_SAID = 182
"""Number of 200 intervals at 95 % that hold the truth; fewer do in one of a hundred laboratories."""
BATCHES, STUDENT_T = 10, 2.262
RARELY = 2.33
"""Standard errors by which a difference is too low by chance once in a hundred times."""


def response_of(run: QueueRun) -> Response:
    """The response times as a report has them."""
    span = run.sent[-1] - run.sent[0]
    waits = float(span / (run.response - run.service).mean())
    count = stretch_count(len(run.sent), waits)
    stretches = np.minimum((run.sent - run.sent[0]) / span * count, count - 1).astype(np.int64)
    return responses(Sample.resampled(run.response, run.users, stretches, judged=not too_short(1, waits)))


def true_p90_s(users: int, think_s: float) -> float:
    """The 90 % quantile of the response time, with a mean service time of 1 s."""
    others = np.arange(users)
    chances = np.cumprod(np.concatenate(([1.0], (users - others[1:]) / think_s)))
    chances /= chances.sum()
    factorials = np.array([lgamma(k + 1) for k in others])

    def slower(response_s: float) -> float:
        """The share of responses above `response_s`: of n + 1 services in a row, at most n are over by then."""
        return float(chances @ np.cumsum(np.exp(others * log(response_s) - response_s - factorials)))

    low, high = 1e-6, 10.0 * users
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if slower(middle) > 0.1 else (low, middle)
    return low


def textbook_holds(run: QueueRun, truth: float) -> bool:
    """Whether the interval of ten batches' quantiles holds the truth."""
    batches = [np.quantile(batch, 0.9) for batch in np.array_split(run.response, BATCHES)]
    half = STUDENT_T * np.std(batches, ddof=1) / sqrt(BATCHES)
    return bool(abs(np.quantile(run.response, 0.9) - truth) <= half)


@pytest.mark.parametrize(
    ("users", "think_s", "interactions", "is_long"),
    [
        (2, 2.0, 400, True),
        (3, 4.0, 400, True),
        (5, 8.0, 400, True),
        (20, 60.0, 1000, True),
        (20, 18.0, 1000, True),
        (20, 5.0, 1000, True),
        (200, 260.0, 2000, False),
        (20, 24.0, 120, False),
    ],
    ids=["2 users", "3 users", "5 users", "an idle server", "a busy one", "a full one", "nearly M/M/1", "a short run"],
)
def test_intervals_of_p90_hold_the_truth(users: int, think_s: float, interactions: int, is_long: bool) -> None:
    truth = true_p90_s(users, think_s)
    ours_hold, textbook_hold = [], []
    for seed in range(RUNS):
        run = queue_run(users, think_s, interactions, seed)
        p90 = response_of(run).quantile("p90")
        assert p90.low_ns is not None
        assert p90.high_ns is not None
        ours_hold.append(p90.low_ns <= truth <= p90.high_ns)
        textbook_hold.append(textbook_holds(run, truth))
    differ = sum(ours != theirs for ours, theirs in zip(ours_hold, textbook_hold, strict=True))
    assert sum(ours_hold) >= sum(textbook_hold) - RARELY * sqrt(differ)
    assert not is_long or FEWEST_AS_SAID <= sum(ours_hold) < RUNS


@pytest.mark.parametrize("users", [3, 12])
def test_a_report_and_a_comparison_give_a_quantile_the_same_interval(users: int, tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    runs = [
        loadgo.run(script, on=str(machine), users=users, passes=120 // users, seed=seed, out=tmp_path / str(seed))
        for seed in (1, 2)
    ]
    compared = compare(runs[0], runs[1], by="command", phases="all").rows.whole["p90 response"]
    reported = summarize(loadgo.tables(runs[0]), phases="all").everything.response.quantile("p90")
    interval = compared.before_interval
    assert interval is not None
    assert reported.value_ns == pytest.approx(compared.before)
    assert (reported.low_ns, reported.high_ns) == pytest.approx((interval.low, interval.high), rel=0.1)
