"""The words of every document of the recorded runs: today's terms, unless a document's vocabulary was chosen."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from loadgo.comparison.compare import compare
from loadgo.costs.cost import cost
from loadgo.documents.chart import svg
from loadgo.measures.summary import summarize
from loadgo.records.tables import tables
from loadgo.reporting.charts.charts import charts
from loadgo.watching.terminal import ScreenContext, screen
from loadgo.watching.window import window_of
from support.reported_pages import REPORTED, RUNS, reported_page

OLD_WORDS = re.compile(
    r"\b(?:getwork|primitives?|segment faults?|bound faults?|wall crossings?|line (?:in|out)|idle zero|idle governed"
    r"|idle (?:page|disk) wait|idle dispatch|idle not eligible|uncharged|unclocked|unattributed|the laboratory|headway"
    r"|ready wait|paging wait|I/O wait|ready (?:list|queue)|pre-emptions|nobody wants)\b",
    re.IGNORECASE,
)


def found_in(text: str) -> set[str]:
    """The old words in a text."""
    return {word.lower() for word in OLD_WORDS.findall(text)}


def shown(page: str) -> str:
    """The text and the charts' data of an HTML page, without its styles, ids and code."""
    specs = re.findall(r'id="specs">(.*?)</script>', page, flags=re.DOTALL)
    values = [json.dumps(list(json.loads(spec).values()), ensure_ascii=False) for spec in specs]
    without_code = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", without_code)) + " ".join(values)


@pytest.mark.parametrize("format", ["text", "html", "md"])
@pytest.mark.parametrize("run", RUNS)
def test_a_report_has_todays_words(run: str, format: str) -> None:
    views: tuple[dict[str, Any], ...] = ({}, {"by": "command"})
    for view in views + tuple({"full": True, **view} for view in views if format == "text"):  # others are always full
        page = reported_page(run, format, **view)
        explained = {"headway"} if format == "html" else set()  # in the sentence that a page has for a word
        assert found_in(shown(page) if format == "html" else page) <= explained


@pytest.mark.long
@pytest.mark.parametrize("run", ["live-exact", "sim-645"])
def test_charts_have_todays_words(run: str) -> None:
    measured = tables(REPORTED / run)
    for chart in charts(summarize(measured), measured):
        words = " | ".join(html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg(chart)))
        assert found_in(words) == set(), chart.name


@pytest.mark.parametrize("run", ["live-exact", "sim-645"])
def test_the_watch_screen_has_todays_words(run: str) -> None:
    measured = tables(REPORTED / run)
    end = int(measured.time["at_ns"].max())  # type: ignore[arg-type]
    window = window_of(measured, end, end, 60)
    text = "\n".join(map(str, screen(window, ScreenContext("t", "ended"), 120, 60)))
    assert "idle: nothing to run" in text
    assert found_in(text) == set()


@pytest.mark.parametrize("format", ["text", "html", "md"])
def test_a_comparison_and_its_parts_have_todays_words(format: str) -> None:
    for a, b in (("sim-645", "sim-645"), ("damaged", "live-exact")):
        page = compare(REPORTED / a, REPORTED / b).report(format)
        assert found_in(shown(page) if format == "html" else page) == set()


def test_a_cost_has_todays_words() -> None:
    for run in ("live-exact", "sim-645"):
        assert found_in(cost(REPORTED / run).report()) == set()


def test_a_documents_vocabulary_has_its_words() -> None:
    page = reported_page("sim-645", "text", vocabulary="1973")
    assert {"getwork", "bound faults"} <= found_in(page)
