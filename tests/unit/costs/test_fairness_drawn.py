"""The fair price drawn: each shift's charges against performance, the line of fairness, and which side is dear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loadgo.costs.fairness import Fairness, Price, Ratio, cost_against
from loadgo.costs.fairness_charts import fairness_charts, fairness_frame
from loadgo.costs.fairness_pictures import fairness_pictures
from loadgo.documents.chart import png
from loadgo.stats.resample import Interval


@pytest.fixture(scope="module")
def made() -> Fairness:
    """The two machines of May 1973, with the charges as printed."""
    return cost_against("csr-rfc-20:645", "csr-rfc-20:6180")


def at(level: float, interval: Interval | None = None) -> Price:
    """A shift on which B charges so many times what is fair."""
    return Price("1", Ratio(2.0, level, None), {"cpu": Ratio(level, 1.0, interval)})


def test_the_chart_has_each_shift_by_each_measure_and_the_printed_ratios(made: Fairness) -> None:
    frame = fairness_frame(made)
    assert len(frame) == len(made.prices) * len(made.performance)
    assert frame["shift"].unique(maintain_order=True).to_list() == [price.shift for price in made.prices]
    by_cpu = frame.filter(frame["by"] == "processor time")
    assert by_cpu["performance"].to_list() == pytest.approx([1 / made.performance["cpu"].value] * len(made.prices))
    assert by_cpu["charges"].to_list() == pytest.approx([1 / price.charges.value for price in made.prices])


def test_the_line_of_fairness_goes_from_corner_to_corner(made: Fairness) -> None:
    (chart,) = fairness_charts(made)
    line = next(layer for layer in chart.spec["layer"] if layer["mark"].get("strokeDash"))
    rows = chart.spec["datasets"][line["data"]["name"]]
    assert [row["performance"] == row["charges"] for row in rows] == [True, True]
    domains = {tuple(line["encoding"][axis]["scale"]["domain"]) for axis in "xy"}
    assert domains == {tuple(row["charges"] for row in rows)}
    for price in made.prices:
        assert rows[0]["charges"] < price.charges.b_over_a < rows[1]["charges"]
    assert png(chart).startswith(b"\x89PNG")


def test_the_page_has_the_chart_and_the_terminal_a_picture_that_fits(made: Fairness) -> None:
    assert 'id="chart-fairness"' in made.report("html")
    for width in (60, 80, 120):
        text = made.report(width=width)
        assert "Dear or cheap, by processor time" in text
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("format", ["text", "md", "html"])
def test_every_ratio_of_a_page_is_b_over_a(made: Fairness, format: str) -> None:
    page = made.report(format)
    assert isinstance(page, str)
    assert "B ÷ A" in page
    assert not any(heading in page for heading in ("A ÷ B", "A / B"))
    assert all(f"×{price.charges.after / price.charges.before:.3f}" in page for price in made.prices)
    first = made.frame().row(0, named=True)
    assert first["charges_b_over_a"] * first["charges"] == pytest.approx(1.0)


def test_dear_is_right_of_what_is_fair_cheap_is_left_and_an_interval_is_drawn(made: Fairness) -> None:
    prices = (at(1.0), at(2.0), at(0.5, Interval(0.4, 0.6)))
    one = replace(made, measure="cpu", prices=prices)
    (picture,) = fairness_pictures(one)
    fair, dear, cheap = picture.lines(80)[:3]
    assert "│" not in fair
    assert dear.index("●") > dear.index("│")
    assert cheap.index("●") < cheap.index("│")
    assert cheap.count("─") > 2
