"""Runs whose time of page faults random windows estimate: the doubt is in intervals and verdicts, and is named."""

import math
from dataclasses import replace

import polars as pl
import pytest
from loadgo.comparison.compare import Comparison, of_sides
from loadgo.comparison.difference import Difference
from loadgo.comparison.document import comparison_document
from loadgo.comparison.side import Side, _fault_time
from loadgo.documents.as_text import text_document
from loadgo.measures.event_totals import EventTotals
from loadgo.measures.meters import MeteredWindows, meters_of
from loadgo.records.phases import stretch_of
from support.compared_rows import side
from support.synthetic_meters import metered_host


def faulting(name: str, seed: int, page_share: float, error_share: float) -> Side:
    """A side whose page faults took this share of the processor time, with this doubt."""
    made = side(name, seed, {"compile": 1.0})
    rows = made.rows.with_columns(
        cpu=pl.col("response"), page=pl.col("response") * page_share, work=pl.col("response") * (1 - page_share)
    )
    source = "the number of page faults times the mean processor time of one by the meters"
    return replace(made, rows=rows, fault_source=source, fault_error_share=error_share)


def compared(first: float, second: float, error_share: float) -> Comparison:
    """Two sides with these shares of page faults, both with the same doubt."""
    return of_sides(faulting("a", 1, first, error_share), faulting("b", 1, second, error_share), by="command")


def page(comparison: Comparison) -> Difference:
    """The processor time of page faults, of a mean interaction."""
    return comparison.rows.whole["page"]


def test_the_doubt_of_estimates_is_in_the_interval_of_the_parts_and_not_of_the_whole() -> None:
    clocked, estimated = compared(0.2, 0.25, 0.0), compared(0.2, 0.25, 0.1)
    exact, wide = page(clocked), page(estimated)
    assert exact.interval is not None
    assert wide.interval is not None
    doubt = math.hypot(0.1 * (wide.before or 0), 0.1 * (wide.after or 0))
    assert wide.estimate_doubt == pytest.approx(doubt)
    assert wide.interval.high - (wide.change or 0) == pytest.approx(
        math.hypot(doubt, exact.interval.high - (exact.change or 0))
    )
    assert estimated.rows.whole["cpu"] == clocked.rows.whole["cpu"]
    assert estimated.rows.whole["work"].estimate_doubt == pytest.approx(doubt)


def test_a_change_within_the_doubt_cannot_be_told() -> None:
    assert page(compared(0.2, 0.25, 0.0)).verdict == "worse"
    within = page(compared(0.2, 0.25, 0.5))
    assert (within.verdict, within.cannot_tell_by) == ("cannot tell", "estimate")
    unknown = page(compared(0.2, 0.25, math.inf))
    assert (unknown.verdict, unknown.interval) == ("cannot tell", None)


def test_estimates_are_marked_and_their_doubt_is_named() -> None:
    text = " ".join(text_document(comparison_document(compared(0.2, 0.25, 0.1)), width=160, color=False).split())
    assert "A page, estimated" in text
    assert "CPU of page faults ≈" in text
    assert "≈: estimated from random windows" in text
    assert "The doubt of the estimate is ± 10.0 % in A and ± 10.0 % in B" in text
    assert "estimated" not in text_document(comparison_document(compared(0.2, 0.25, 0.0)), width=160, color=False)


def test_windows_give_the_time_of_a_fault_an_error_and_clocked_faults_have_none() -> None:
    run = metered_host()
    meters = meters_of(run, stretch_of(run, "all"))
    assert _fault_time(meters)[2] == 0.0
    fault = EventTotals("minor", 1000, None, None, 2_000_000, 0, None, None, None, None, None, 30, 80_000)
    sampled = replace(meters, faults=(fault,), windows=MeteredWindows(9, 450_000_000, 0.01))
    mean_ns, source, error = _fault_time(sampled)
    assert (mean_ns, error) == (2000.0, pytest.approx(math.hypot(0.03, 0.04)))
    assert source.endswith("estimated from 9 random windows")
    few = replace(sampled, faults=(replace(fault, count_error=None),))
    assert math.isinf(_fault_time(few)[2])
