"""The numbers of every document of the recorded runs: one notation for figures, units, shares and dashes."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import loadgo
import pytest
from loadgo.comparison.compare import compare
from loadgo.costs.cost import cost
from loadgo.notation.figures import digits, price_of, setting
from support.reported_pages import REPORTED, RUNS, reported_page

FORMATS = ("text", "html", "md")
FORBIDDEN = {
    "an exponent": r"(?<![\w./-])\d+(?:\.\d+)?e[+-]?\d+\b",
    "more digits than are known": r"(?<![\w.])\d+\.(?!0*\d{1,3}(?!\d))\d{5,}",
    "a share without a space": r"(?<!--within )(?<!--worse )(?<![<>=] )(?<![-=\w.])\d+(?:\.\d+)?%",
    "a micro sign of letters": r"\d us\b|μ",
    "a unit in another case": r"\d (?:KB|kb|Kb|MHZ|Ms|Sec|secs)\b",
    "a word of the machine for not known": r"\b(?:nan|NaN|None|null|inf|Infinity|undefined)\b",
    "a hyphen for a minus sign": r"(?<=[ (|>])-\d",
}


def shown(page: str) -> str:
    """The text that a reader of a page sees, without its scripts and styles. A browser shows several spaces as one."""
    without_code = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", without_code)))


def findings(text: str) -> Iterator[str]:
    """The numbers of the text that are written in another way."""
    for name, pattern in FORBIDDEN.items():
        for match in re.finditer(pattern, text):
            line = text[max(0, match.start() - 30) : match.end() + 20].replace("\n", " ")
            yield f"{name}: {match[0]!r} in {line!r}"


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("run", RUNS)
def test_a_reports_numbers_are_in_one_notation(run: str, format: str) -> None:
    views = ({}, {"by": "command"}, {"phases": "all", "vocabulary": "1973"})
    for view in views + tuple({"full": True, **view} for view in views if format == "text"):
        page = reported_page(run, format, **view)
        assert list(findings(shown(page) if format == "html" else page)) == []


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
def test_a_comparisons_numbers_are_in_one_notation(format: str) -> None:
    for a, b in (("live-exact", "sim-645"), ("sim-645", "sim-645"), ("damaged", "live-exact")):
        page = compare(REPORTED / a, REPORTED / b).report(format)
        assert list(findings(shown(page) if format == "html" else page)) == []


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("run", ["live-exact", "sim-645"])
def test_a_costs_numbers_are_in_one_notation(run: str, format: str) -> None:
    page = cost(REPORTED / run).report(format)
    assert list(findings(shown(page) if format == "html" else page)) == []


@pytest.mark.parametrize("chart", ["time", "lengths", "response", "faults"])
def test_a_pictures_numbers_are_in_one_notation(chart: str) -> None:
    picture = str(loadgo.report(REPORTED / "live-exact", format="svg", chart=chart))
    words = " | ".join(html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture))
    assert len(words) > 20
    assert list(findings(words)) == []


@pytest.mark.parametrize(
    "text",
    ["1e-06", "8389749.999998", "91.5%", "3 us", "12 KB", "nan", "change -5 %"],
)
def test_another_notation_is_found(text: str) -> None:
    assert list(findings(text))


@pytest.mark.parametrize(
    "text", ["0.000001", "8,389,750", "91.5 %", "3.00 µs", "12.0 kB", "–", "−5.0 %", "--within 5%"]
)
def test_the_notation_is_not_found(text: str) -> None:
    assert not list(findings(text))


def test_chosen_numbers_and_prices_have_no_exponent() -> None:
    assert [setting(value) for value in (1e-6, 0.5, 8389749.999998, 3.0, 1e15)] == [
        *("0.000001", "0.5", "8389750", "3", "1000000000000000"),
    ]
    assert [price_of(value, "$") for value in (508.0, 474.6, 0.0003, 1e-6)] == [
        "$508",
        "$474.60",
        "$0.0003",
        "$0.000001",
    ]
    assert digits(-0.5) == "−0.500"
