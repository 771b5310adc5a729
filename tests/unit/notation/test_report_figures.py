"""Figures as they are printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.notation.figures import (
    as_code,
    counted,
    duration,
    interval,
    money,
    money_scale,
    number,
    people,
    plain,
    remaining_share,
    share,
    size,
    with_usual_times,
)
from loadgo.stats.quantiles import Quantile


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("run", "`run`"),
        ("git status", "`git status`"),
        ("", "“”"),
        (" ls", "“ ls”"),
        ("libc.so`0x1234", "“libc.so`0x1234”"),
        ("a\nb\x1b[31m", "`a�b�[31m`"),
    ],
)
def test_a_name_in_a_sentence_is_code_and_one_that_code_cannot_hold_is_quoted(name: str, shown: str) -> None:
    assert as_code(name) == shown


def test_one_is_not_many() -> None:
    assert [people(1), people(5), people(1, 5, 1036), people(1, 2)] == [
        "1 user",
        "5 users",
        "1, 5 and 1,036 users",
        "1 and 2 users",
    ]
    assert [counted(1, "interaction"), counted(0, "record")] == ["1 interaction", "0 records"]


@pytest.mark.parametrize(
    ("ns", "printed"),
    [
        (None, "–"),
        (0, "0"),
        (7, "7 ns"),
        (312.5, "312 ns"),
        (35_000, "35.0 µs"),
        (213e6, "213 ms"),
        (999.9e6, "1.00 s"),
        (1.236e9, "1.24 s"),
        (84.55e9, "84.5 s"),
        (750e9, "12.5 min"),
        (9e12, "2.50 h"),
        (float("inf"), "never"),
    ],
)
def test_a_span_has_three_digits_and_its_unit(ns: float | None, printed: str) -> None:
    assert duration(ns) == printed


def test_other_figures_have_theirs() -> None:
    assert [number(v) for v in (0, 12.34, 1234, 12_345_678, None)] == ["0", "12.3", "1,234", "12.3 M", "–"]
    assert [size(v) for v in (80, 1536, 10e9)] == ["80 B", "1.54 kB", "10.0 GB"]
    assert [share(v) for v in (0.1234, None)] == ["12.3 %", "–"]


def test_costs_are_printed_for_as_many_interactions_as_make_a_figure() -> None:
    assert [money_scale([cost, None]) for cost in (0.01, 0.0001, 1e-7, 1e-8, None)] == [1, 10**6, 10**6, 10**6, 1]
    assert money(1e-7, "$", 1_000_000) == "$0.100"
    assert money(None, "$") == "–"


def test_an_interval_names_its_unit_once_where_both_ends_share_it() -> None:
    assert interval(Quantile(0.9, "measured", 2e8, 1.98e8, 2.4e8)) == "198–240 ms"
    assert interval(Quantile(0.9, "measured", 1e9, 9e8, 1.1e9)) == "900 ms–1.10 s"
    assert interval(Quantile(0.9, "measured", 1e9, 9e8, float("inf"))) == "900 ms–never"
    assert interval(Quantile(0.9, "measured", 1e9, None, None)) == "–"


@given(st.text())
def test_no_control_sequence_reaches_a_terminal(text: str) -> None:
    shown = plain(text)
    assert all(sign >= " " and not "\x7f" <= sign <= "\x9f" for sign in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029")


@given(st.floats(min_value=1e-3, max_value=1e18))
def test_a_printed_span_is_within_half_a_percent_of_what_it_is(ns: float) -> None:
    units = {"ps": 1e-3, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "h": 3.6e12}
    figure, unit = duration(ns).replace(",", "").split(" ")
    assert float(figure) * units[unit] == pytest.approx(ns, rel=0.006)


def test_times_of_the_measuring_library_are_read_as_all_others() -> None:
    stored = "33298 us late at the median, 7us at p99, in 200 sleeps of 200 us; 12.5 us a call, a bus 5 users"
    assert with_usual_times(stored) == (
        "33.3 ms late at the median, 7.00 µs at p99, in 200 sleeps of 200 µs; 12.5 µs a call, a bus 5 users"
    )


@pytest.mark.parametrize(
    ("whole", "parts", "rest"),
    [(0.5314, (0.3504, 0.0936), "8.7 %"), (0.5, (None,), "50.0 %"), (0.1, (0.0996, 0.0004), "0.0 %")],
)
def test_the_rest_of_a_share_adds_up_as_it_is_printed(whole: float, parts: tuple[float | None, ...], rest: str) -> None:
    assert share(remaining_share(whole, *parts)) == rest
