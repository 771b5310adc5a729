"""A change as number of events times the time of one: the notes of March 1969, and identities on random draws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.decomposition.parts import parts_of
from loadgo.measures.account import OUTPUT_LINES, RunAccount

MS = 1e6
above_0 = st.floats(1e-3, 1e9)


def account(time_ms: dict[str, float], counts: dict[str, float]) -> RunAccount:
    """One interaction's account."""
    whole = sum(time_ms.values()) * MS
    return RunAccount(1.0, whole, 1.0, {name: ms * MS for name, ms in time_ms.items()}, counts, {"cpu": whole})


def test_half_of_the_gain_in_page_faults_and_half_of_that_because_they_are_shorter() -> None:
    """March 1969: the script takes 15 % less, a fault 14.1 instead of 15.3 ms, process creation 15 % more.

    The number of faults before and after follows from these.
    """
    mean, fewer = 37.5 / 1.2, 37.5 / 14.7
    before, after = mean + fewer / 2, mean - fewer / 2
    faults = before * 15.3, after * 14.1
    old = account(
        {"user": 1000 - faults[0] - 30, "page fault": faults[0], "process creation": 30},
        {"page fault": before, "process creation": 0.01, OUTPUT_LINES: 11},
    )
    new = account(
        {"user": 850 - faults[1] - 34.5, "page fault": faults[1], "process creation": 34.5},
        {"page fault": after, "process creation": 0.01, OUTPUT_LINES: 11},
    )
    both_sides = parts_of([old], [new], paired=True)
    assert both_sides.busy is not None
    assert both_sides.busy.change / both_sides.busy.before == pytest.approx(-0.15)
    parts = {part.name: part for part in both_sides.parts}
    fault, creation = parts["page fault"], parts["process creation"]
    assert fault.change / both_sides.busy.change == pytest.approx(0.5)
    assert (fault.by_count, fault.by_each) == pytest.approx((-37.5 * MS, -37.5 * MS))
    assert creation.change / creation.before == pytest.approx(0.15)
    assert (creation.by_count, creation.by_each) == pytest.approx((0, 4.5 * MS))
    by_line = {line.name: line for line in both_sides.output}
    assert by_line["page faults"].before == pytest.approx(before / 11)
    assert by_line["processor time"].before - by_line["processor time"].after == pytest.approx(150 * MS / 11)


@given(above_0, above_0, above_0, above_0)
def test_number_and_time_of_one_are_all_of_the_change(n0: float, c0: float, n1: float, c1: float) -> None:
    sides = [account({"user": 1.0, "page fault": n * c}, {"page fault": n}) for n, c in ((n0, c0), (n1, c1))]
    there, back = (parts_of([a], [b], paired=True).parts[1] for a, b in (sides, sides[::-1]))
    assert there.by_count is not None
    assert there.by_each is not None
    assert back.by_count is not None
    scale = max(n0 * c0, n1 * c1, abs(n1 - n0) * (c0 + c1)) * MS
    assert abs(there.by_count + there.by_each - there.change) <= 1e-12 * scale
    assert abs(there.by_count - (n1 - n0) * (c0 + c1) / 2 * MS) <= 1e-9 * scale
    assert abs(there.by_count + back.by_count) <= 1e-9 * scale


def test_what_is_not_counted_on_both_sides_is_not_split() -> None:
    old = account({"user": 10, "page fault": 5}, {"page fault": 2})
    part = parts_of([old], [account({"user": 10, "page fault": 4}, {})], paired=True).parts[1]
    assert (part.change, part.by_count, part.by_each) == (-1 * MS, None, None)


def test_events_that_take_as_long_as_before_have_no_effect_of_their_time() -> None:
    """The rest of the arithmetic would be shown as a part of a picosecond."""
    old = account({"page fault": 147.0 * 2.32}, {"page fault": 147.0, OUTPUT_LINES: 1})
    new = account({"page fault": 155.3 * 2.32}, {"page fault": 155.3, OUTPUT_LINES: 1})
    (fault,) = (part for part in parts_of([old], [new], paired=True).parts if part.name == "page fault")
    assert fault.by_each == 0
    assert fault.by_count == pytest.approx(fault.change)
