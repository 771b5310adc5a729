"""The price of the meters in reports: a sentence with its interval, a table by meter, JSON, and why it is not known."""

from __future__ import annotations

import dataclasses
import html
import json
from typing import Any

import pytest
from loadgo.documents.formats import ReportFormat
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.meter_price import price_line
from loadgo.reporting.report import render
from loadgo.reporting.view import View
from support.printed_rows import without_spans
from support.synthetic import S, frame
from support.synthetic_meters import metered_host

BUSY_NS, WINDOWS = 50_000_000, 6


def with_meters(run: Tables, **section: object) -> Tables:
    return dataclasses.replace(run, conditions=run.conditions | {"meters": section})


def priced(**calls: int | None) -> Tables:
    """A metered host with a window in each of its first seconds; `calls` are the calls' time and its error."""
    called = {"call_ns": 100_000, "call_error_ns": 0} | calls
    rows: list[dict[str, Any]] = [
        {"at_ns": second * S, "span_ns": 40_000_000, "busy_ns": BUSY_NS, "meter": meter, "runs": runs}
        | {"run_ns": run_ns + second % 2 * 10_000}
        | called
        for second in range(1, WINDOWS + 1)
        for meter, runs, run_ns in (("clock", 40, 150_000), ("queue", 100, 50_000))
    ]
    return with_meters(dataclasses.replace(metered_host(), meter_price=frame(rows, "meter_price")), tier="cheap")


def page(run: Tables, name: ReportFormat = "text", width: int = 80, *, is_full: bool = True) -> str:
    made = render(summarize(run), run, name, width=width, view=View(full=is_full))
    assert isinstance(made, str)
    return made


def line(run: Tables) -> str:
    summary = summarize(run)
    assert summary.total_time is not None
    return price_line(summary.total_time, summary.run.meters)


def test_the_price_stands_in_the_short_report_with_its_interval() -> None:
    run = priced()
    account = summarize(run).total_time.account  # type: ignore[union-attr]
    reading = (account.meters_ns or 0) / account.busy_ns
    share = (150_000 + 50_000 + 2 * 100_000 + 10_000) / BUSY_NS
    assert line(run) == (
        f"The meters took {100 * (share + reading):.2f} % ± 0.02 % of the busy time: their programs in the kernel "
        f"{100 * share:.2f} %, by 6 random windows of 40.0 ms, sampling and writing {100 * reading:.2f} %."
    )
    assert "The meters took" in page(run, width=300, is_full=False)


@pytest.mark.parametrize("name", ["text", "md", "html"])
def test_the_full_report_divides_the_price_by_meter(name: ReportFormat) -> None:
    run = priced()
    text = html.unescape(without_spans(page(run, name, width=200)))
    assert "Price of the meters" in text
    assert "sampling clock" in text
    assert text.index("sampling clock") < text.index("all programs")


def test_json_has_the_price_and_own_time_uses_it() -> None:
    run = priced()
    account = json.loads(page(run, "json"))["total_time"]["account"]
    price = account["price"]
    assert [one["meter"] for one in price["by_meter"]] == ["clock", "queue"]
    assert price["windows"] == WINDOWS
    assert account["instrument_ns"] == round(price["programs_ns"])
    assert account["laboratory_ns"] == account["driver_ns"] + account["meters_ns"] + account["instrument_ns"]


def test_calls_that_could_not_be_measured_are_named() -> None:
    assert line(priced(call_ns=None, call_error_ns=None)).endswith(
        "The kernel's calls of sampling clock and run queue are not in it."
    )


def test_the_price_of_dearer_tiers_is_a_lower_bound() -> None:
    assert "may have paid more" not in line(priced())
    assert line(with_meters(priced(), tier="exact")).endswith("what the meters displaced in caches is not in it.")


def test_a_run_without_a_price_says_why() -> None:
    estimated = {"price of the meters": "by random windows of 40 ms"}
    short = with_meters(metered_host(), tier="cheap", estimated=estimated)
    assert line(short).startswith("What the meters took was not measured: the kernel clocked their programs in fewer")
    none = line(with_meters(metered_host(), tier="none", notes=["no kernel meters: it takes root"]))
    assert none.startswith("No meter was loaded into the kernel; sampling and writing took ")
    reason = {"price of the meters": "the kernel's clock of programs (BPF_ENABLE_STATS): Operation not permitted"}
    absent = with_meters(metered_host(), tier="cheap", not_here=reason)
    why = f"What the meters took was not measured: {reason['price of the meters']}."
    assert line(absent) == why
    text = " ".join(page(absent, width=1000).split())
    assert text.count(why) == text.count(reason["price of the meters"]) == 1
