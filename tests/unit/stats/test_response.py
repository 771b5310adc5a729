"""Response times: exact quantiles, and the reason where there is none."""

import numpy as np
import pytest
from loadgo.stats.quantiles import Response, Sample, responses, samples_needed
from loadgo.stats.resample import stretch_count


def of(values: list[float], users: int = 1) -> Response:
    """The response times `values`, dealt out to `users` in turn, in one run."""
    places = np.arange(len(values))
    stretches = places * stretch_count(len(values)) // max(len(values), 1)
    return responses(Sample.resampled(np.array(values), places % users, stretches))


@pytest.mark.statistical
def test_an_interval_holds_where_all_users_wait_in_one_queue() -> None:
    """Everybody's response follows one slow level: users are alike, stretches of time are not."""
    held = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        level = np.repeat(random.normal(0, 1, 120), 50)
        values = 10 + level + random.normal(0, 1, 6000)
        median = of(list(values), users=50).quantile("p50")
        assert median.low_ns is not None
        assert median.high_ns is not None
        held += median.low_ns <= 10 <= median.high_ns
    assert 88 <= held <= 100, f"{held} of 100 intervals hold the median"


def test_quantiles_of_raw_values_are_those_of_numpy() -> None:
    values = np.random.default_rng(3).exponential(1e9, 1000)
    found = of(list(values))
    for name, probability in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        assert found.quantile(name).value_ns == pytest.approx(np.quantile(values, probability), rel=1e-12)
    assert found.mean_ns == pytest.approx(values.mean())
    assert found.max_ns == values.max()


def test_a_quantile_needs_as_many_samples_as_its_tail_has_one_of() -> None:
    assert [samples_needed(p) for p in (0.5, 0.9, 0.95, 0.99)] == [2, 10, 20, 100]
    assert of([1.0] * 99).quantile("p99").state == "too few samples"
    assert of([1.0] * 99).quantile("p99").value_ns is None
    assert of([1.0] * 100).quantile("p99").value_ns == 1.0


def test_a_line_that_was_never_answered_ranks_last() -> None:
    found = of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, np.inf, np.inf])
    assert found.quantile("p50").value_ns == 5.5
    assert found.quantile("p90").state == "never"
    assert found.quantile("p90").value_ns is None
    assert (found.count, found.answered, found.mean_ns, found.max_ns) == (10, 8, 4.5, 8.0)


def test_intervals_hold_their_quantile_and_need_five_users_or_stretches() -> None:
    values = list(np.random.default_rng(5).exponential(1.0, 400))
    found = of(values, users=20).quantile("p90")
    assert found.value_ns is not None
    assert found.low_ns is not None
    assert found.high_ns is not None
    assert found.low_ns < found.value_ns < found.high_ns
    few = of(values, users=4).quantile("p90")
    assert few.low_ns is not None
    assert few.low_ns < found.value_ns < (few.high_ns or 0.0)
    assert of(values[:40], users=4).quantile("p90").low_ns is None


def test_nothing_has_no_quantile_and_no_mean() -> None:
    found = of([])
    assert (found.count, found.mean_ns, found.max_ns) == (0, None, None)
    assert {quantile.state for quantile in found.quantiles} == {"too few samples"}


def test_an_unknown_quantile_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        of([1.0]).quantile("p42")
