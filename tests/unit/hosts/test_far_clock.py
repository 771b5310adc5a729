"""The clock of another host: its true offset lies within the bound, whatever the network does."""

import random

import pytest
from loadgo.hosts.clock import ClockExchanges, FarClock

DRIFT = 80e-6
"""The clock there runs 80 parts per million too fast."""
AHEAD_NS = 5_000_000_000_000
HOUR_NS = 3_600_000_000_000


def there_ns(here_ns: int) -> int:
    """The clock there, when the clock here shows `here_ns`."""
    return here_ns + AHEAD_NS + int(here_ns * DRIFT)


def answer(question: bytes, came_ns: int, left_ns: int) -> bytes:
    return question + came_ns.to_bytes(8, "big") + left_ns.to_bytes(8, "big")


def exchanged(draw: random.Random, monkeypatch: pytest.MonkeyPatch) -> FarClock:
    """A clock by exchanges of an hour over a slow network, whose two directions differ."""
    exchanges = ClockExchanges()
    stages = [("beginning", 0), *(("middle", second * 10**9) for second in range(60, 3540, 60)), ("end", HOUR_NS)]
    for stage, now_ns in stages:
        exchanges.stage = stage  # type: ignore[assignment]  # one of the stages
        monkeypatch.setattr("time.monotonic_ns", lambda now_ns=now_ns: now_ns)
        question = exchanges.question()
        came = now_ns + draw.randrange(1_000_000, 90_000_000)
        left = came + draw.randrange(1_000_000)
        back = left + draw.randrange(1_000_000, 20_000_000)
        exchanges.take(answer(question, there_ns(came), there_ns(left)), back)
    clock = exchanges.clock()
    assert clock is not None
    return clock


def test_instants_are_placed_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(200):
        clock = exchanged(random.Random(seed), monkeypatch)
        assert [exchange.stage for exchange in clock.exchanges] == ["beginning", "middle", "end"]
        instants = list(range(0, HOUR_NS, HOUR_NS // 37))
        placed = clock.here_ns([there_ns(instant) for instant in instants])
        worst = max(abs(here - instant) for here, instant in zip(placed, instants, strict=True))
        drift_inside_an_exchange_ns = 20_000
        assert worst <= clock.bound_ns + drift_inside_an_exchange_ns
        assert clock.drift_ppm == pytest.approx(80, abs=2 * clock.bound_ns / HOUR_NS * 1e6)


def test_an_instant_outside_of_the_exchanges_has_the_nearest_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = exchanged(random.Random(1), monkeypatch)
    first, last = clock.exchanges[0], clock.exchanges[-1]
    early, late = first.here_ns + first.offset_ns - 10**9, last.here_ns + last.offset_ns + 10**9
    assert clock.here_ns([early, late]) == [early - first.offset_ns, late - last.offset_ns]


def test_the_best_exchange_of_a_stage_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = ClockExchanges()
    for under_way_ns in (900, 100, 500):
        monkeypatch.setattr("time.monotonic_ns", lambda: 1000)
        exchanges.take(answer(exchanges.question(), 7000, 7000), 1000 + under_way_ns)
    clock = exchanges.clock()
    assert clock is not None
    assert [exchange.bound_ns for exchange in clock.exchanges] == [51]


def test_late_answers_of_the_middle_are_no_answers_of_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = ClockExchanges()
    exchanges.stage = "middle"
    monkeypatch.setattr("time.monotonic_ns", lambda: 1000)
    late = exchanges.question()
    exchanges.stage = "end"
    monkeypatch.setattr("time.monotonic_ns", lambda: 2000)
    prompt = exchanges.question()
    exchanges.take(answer(late, 5000, 5001), 3000)
    assert exchanges.answered == 0
    exchanges.take(answer(prompt, 6000, 6001), 3001)
    assert exchanges.answered == 1


def clock_of(monkeypatch: pytest.MonkeyPatch, *stages: tuple[str, float, float]) -> FarClock:
    """The clock by exchanges of stages, each at a second and with a bound in milliseconds."""
    exchanges = ClockExchanges()
    for stage, at_s, bound_ms in stages:
        exchanges.stage = stage  # type: ignore[assignment]  # one of the stages
        sent_ns, half_ns = int(at_s * 1e9), int(bound_ms * 1e6)
        monkeypatch.setattr("time.monotonic_ns", lambda sent_ns=sent_ns: sent_ns)
        exchanges.take(answer(exchanges.question(), sent_ns, sent_ns), sent_ns + 2 * half_ns)
    clock = exchanges.clock()
    assert clock is not None
    return clock


def bounds_ms(clock: FarClock) -> list[int]:
    return [exchange.bound_ns // 10**6 for exchange in clock.exchanges]


def test_a_slow_exchange_in_the_middle_does_not_widen_the_bound_of_good_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = (("beginning", 0, 1), ("end", 20, 1))
    slow = [("middle", second, 300) for second in (8, 10, 12)]
    assert bounds_ms(clock_of(monkeypatch, ends[0], *slow, ends[1])) == [1, 1]
    with_better = [("middle", 2, 5), *slow]
    assert bounds_ms(clock_of(monkeypatch, ends[0], *with_better, ends[1])) == [1, 5, 1]
    assert bounds_ms(clock_of(monkeypatch, ends[0], ("middle", 10, 9), ends[1])) == [1, 9, 1]


def test_without_an_end_the_last_third_stands_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    middle = [("middle", second, 2 if second in (1500, 3300) else 4) for second in range(100, 3600, 100)]
    clock = clock_of(monkeypatch, ("beginning", 0, 1), *middle)
    assert [exchange.sent_ns // 10**9 for exchange in clock.exchanges] == [0, 1500, 3300]
    assert bounds_ms(clock_of(monkeypatch, ("beginning", 0, 1), ("middle", 5, 2))) == [1, 2]


@pytest.mark.parametrize("times", [(9000, 8000), (8000, 9500), (0, 2**64 - 1)])
def test_an_answer_with_impossible_times_is_left_out(times: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = ClockExchanges()
    monkeypatch.setattr("time.monotonic_ns", lambda: 1000)
    exchanges.take(answer(exchanges.question(), *times), 2000)
    assert (exchanges.answered, exchanges.clock()) == (0, None)


def test_an_answer_to_no_question_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = ClockExchanges()
    monkeypatch.setattr("time.monotonic_ns", lambda: 1000)
    question = exchanges.question()
    exchanges.take(answer((4711).to_bytes(8, "big"), 5, 5), 2000)
    exchanges.take(b"short", 2000)
    exchanges.take(answer(question, 5, 5), 2000)
    exchanges.take(answer(question, 5, 5), 1001)  # its question is answered
    clock = exchanges.clock()
    assert clock is not None
    assert (exchanges.answered, clock.bound_ns) == (1, 501)
