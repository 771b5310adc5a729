"""A report's intervals of response times hold the truth about as often as they say, in queues that all users wait in.

A closed queue with exponential service and think times, 200 runs each; the truth is the quantile of a run 300 times as
long. Quantiles of short runs lean to one side, and no drawing again shows that: there the share is lower, and held too.
"""

from __future__ import annotations

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
LONG = 300_000


def response_of(run: QueueRun) -> Response:
    """The response times as a report has them."""
    span = run.sent[-1] - run.sent[0]
    waits = float(span / (run.response - run.service).mean())
    count = stretch_count(len(run.sent), waits)
    stretches = np.minimum((run.sent - run.sent[0]) / span * count, count - 1).astype(np.int64)
    return responses(Sample.resampled(run.response, run.users, stretches, judged=not too_short(1, waits)))


@pytest.mark.parametrize(
    ("users", "think_s", "interactions", "least"),
    [
        (2, 2.0, 400, 0.88),
        (3, 4.0, 400, 0.88),
        (5, 8.0, 400, 0.88),
        (20, 60.0, 1000, 0.9),
        (20, 18.0, 1000, 0.89),
        (20, 5.0, 1000, 0.86),
        (200, 260.0, 2000, 0.74),
        (20, 24.0, 120, 0.62),
    ],
    ids=["2 users", "3 users", "5 users", "an idle server", "a busy one", "a full one", "nearly M/M/1", "a short run"],
)
def test_intervals_of_p90_hold_the_truth(users: int, think_s: float, interactions: int, least: float) -> None:
    truth = float(np.quantile(queue_run(users, think_s, LONG, 99_991).response, 0.9))
    found = [response_of(queue_run(users, think_s, interactions, seed)).quantile("p90") for seed in range(RUNS)]
    known = [one for one in found if one.low_ns is not None and one.high_ns is not None]
    held = sum((one.low_ns or 0.0) <= truth <= (one.high_ns or 0.0) for one in known) / len(known)
    assert len(known) >= 0.9 * RUNS
    assert least <= held <= 0.99, f"{held:.3f} of {len(known)}"


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
