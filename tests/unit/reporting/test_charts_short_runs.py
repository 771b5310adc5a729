"""Every chart of a run with no more than three interactions: a picture of finite size, or a refusal in words."""

import re
from dataclasses import replace
from functools import cache

import pytest
from loadgo.errors import BadArgument
from loadgo.measures.summary import Summary, summarize
from loadgo.records.tables import Tables
from loadgo.reporting.charts.charts import CHART_BUILDERS, chart
from loadgo.reporting.report import render
from support.synthetic import interaction, run_of
from support.synthetic_meters import metered_host

RESPONSES_S = (0.002, 40.0, 1.0)
WITHOUT_ANSWERS = {"response", "timeline"}
"""The charts that have nothing to show without an interaction."""


@cache
def short_run(count: int) -> tuple[Summary, Tables]:
    """A run of `count` interactions, with all meters, and its summary."""
    rows = [interaction(1, 10 + 20 * place, response_s) for place, response_s in enumerate(RESPONSES_S[:count])]
    run = replace(metered_host(), interactions=run_of(rows).interactions)
    return summarize(run, phases="all"), run


@pytest.mark.long
@pytest.mark.parametrize("count", range(4))
@pytest.mark.parametrize("name", CHART_BUILDERS)
def test_a_chart_of_a_few_interactions_is_a_picture_of_finite_size(name: str, count: int) -> None:
    summary, run = short_run(count)
    if not count and name in WITHOUT_ANSWERS:
        with pytest.raises(BadArgument, match="has nothing to show"):
            render(summary, run, "svg", chart=name)
        return
    svg, png = (render(summary, run, kind, chart=name) for kind in ("svg", "png"))
    assert isinstance(svg, str)
    assert isinstance(png, bytes)
    assert not re.search(r"NaN|Infinity|undefined|e\+\d", svg)
    assert png.startswith(b"\x89PNG")


def test_one_interaction_is_a_small_part_of_its_axis() -> None:
    run = run_of([interaction(1, 0, 0.0035)])
    drawn = chart("response", summarize(run), run)
    low, high = drawn.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert high / low == pytest.approx(10.0, rel=1e-3)
    assert "1 interaction in all" in drawn.caption
