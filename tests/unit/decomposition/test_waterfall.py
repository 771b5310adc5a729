"""Waterfalls, changes and distributions: what is drawn is what the tables tell, whatever the width."""

import json
import math
from html import unescape
from pathlib import Path

import loadgo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.comparison.chart_data import chart_rows, distribution_of
from loadgo.comparison.charts import comparison_charts
from loadgo.comparison.compare import Comparison, compare
from loadgo.comparison.pictures import comparison_pictures, distribution_lines
from loadgo.decomposition.chains import Chain, Factor
from loadgo.decomposition.waterfall import MOST_STEPS, chain_waterfalls
from loadgo.decomposition.waterfall_charts import waterfall_chart
from loadgo.decomposition.waterfall_pictures import waterfall_lines
from support.small_machine import laid

logs = st.lists(st.floats(-3, 3), min_size=1, max_size=40)


def chain_of(steps: list[float]) -> Chain:
    """A chain of factors that are known by their logarithms."""
    factors = tuple(Factor(f"meter {number}", "", math.exp(log), None, log, "") for number, log in enumerate(steps))
    ratio = math.exp(math.fsum(steps))
    return Chain("elapsed", "ns", 1e9, 1e9 / ratio, ratio, None, factors, factors)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """The small machine, and one with a faster processor and a slower drum."""
    folder = tmp_path_factory.mktemp("drawn")
    script, machine = laid(folder)
    sets = {"a": (), "b": ("processors.speed=1.3", "storage.drum.revolution=20ms")}
    for name, values in sets.items():
        loadgo.run(script, on=str(machine), users=12, passes=3, seed=1, set=values, out=folder / name)
    return compare(folder / "a", folder / "b")


@given(logs)
def test_steps_lead_from_the_figure_before_to_that_after_and_multiply_to_the_ratio(steps: list[float]) -> None:
    (told,) = chain_waterfalls([chain_of(steps)])
    assert told.steps[0].start == told.before
    assert told.steps[-1].end == pytest.approx(told.after, rel=1e-12)
    assert all(one.end == later.start for one, later in zip(told.steps, told.steps[1:], strict=False))
    assert math.prod(one.factor for one in told.steps) == pytest.approx(told.ratio, rel=1e-12)
    assert len(told.steps) <= MOST_STEPS + 1


@given(logs, st.integers(60, 200))
def test_a_picture_of_signs_is_no_wider_than_the_page(steps: list[float], width: int) -> None:
    (told,) = chain_waterfalls([chain_of(steps)])
    lines = waterfall_lines(told, width)
    assert max(map(len, lines)) <= width
    assert len(lines) == len(told.steps) + 3


@given(st.lists(st.floats(0.01, 2), min_size=2, max_size=8), st.booleans())
def test_bars_of_one_sign_are_as_long_as_their_logarithms(steps: list[float], more: bool) -> None:
    """Half a sign's rounding at both ends."""
    (told,) = chain_waterfalls([chain_of([-log for log in steps] if more else steps)])
    lines = waterfall_lines(told, 120)[1:-2]
    signs = [sum({"█": 2, "▌": 1, "▐": 1, "▒": 2}.get(sign, 0) for sign in line) / 2 for line in lines]
    whole = max(len(line.split("  ×")[0].rstrip()) for line in lines) - 9
    for length, log in zip(signs, steps, strict=True):
        assert length == pytest.approx(whole * log / sum(steps), abs=2.5)


def test_a_factor_above_1_is_less_and_one_below_is_more(made: Comparison) -> None:
    (elapsed, _) = chain_waterfalls(made.chains)
    bars = waterfall_chart(elapsed, "w").spec["layer"][0]
    values = waterfall_chart(elapsed, "w").spec["datasets"][bars["data"]["name"]]
    assert {row["way"] for row in values if row["to"] < row["from"]} == {"less in B"}
    assert {row["way"] for row in values if row["to"] > row["from"]} == {"more in B"}


def test_every_chart_has_something_to_show_and_a_caption(made: Comparison) -> None:
    drawn = {chart.name: chart for chart in comparison_charts(made)}
    names = ["sides-response", "changes-response", "sides-cpu", "changes-cpu", "distribution"]
    assert list(drawn) == [*names, "waterfall-1", "waterfall-2"]
    assert all(chart.caption and chart.spec["datasets"] for chart in drawn.values())


def test_rows_of_passes_have_names_of_their_own(made: Comparison) -> None:
    names = [row.name for row in chart_rows(made, "cpu")]
    assert len(set(names)) == len(names) == 13
    assert names[:2] == ["edit, pass 1", "compile, pass 1"]


def test_the_distribution_is_quantiles_of_raw_values(made: Comparison) -> None:
    distribution = distribution_of(made)
    assert distribution is not None
    ranked = made.a.rows["response"].sort().to_list()
    assert distribution.counts == (len(ranked), len(made.b.rows))
    assert distribution.a_ns[distribution.probabilities.index(0.5)] == ranked[math.ceil(0.5 * len(ranked)) - 1]
    assert list(distribution.b_ns) == sorted(distribution.b_ns)
    assert max(map(len, distribution_lines(distribution, 60))) <= 60


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_pictures_fit_pages_of_any_width(made: Comparison, width: int) -> None:
    pictures = comparison_pictures(made)
    assert [one.title.split()[0] for one in pictures] == ["How", "How", "How"]
    assert all(len(line) <= width for one in pictures for line in one.lines(width))
    assert max(map(len, made.report(width=width).splitlines())) <= max(width, 80)


def test_the_json_has_what_is_drawn(made: Comparison) -> None:
    document = json.loads(made.report("json"))
    elapsed = document["waterfalls"][0]
    assert (elapsed["kind"], elapsed["measure"]) == ("bookkeeping", "elapsed")
    assert math.prod(step["factor"] for step in elapsed["steps"]) == pytest.approx(elapsed["ratio"], rel=1e-12)
    assert len(document["distribution"]["a_ns"]) == len(document["distribution"]["probabilities"])


def test_the_page_runs_only_what_draws_and_what_is_printed_has_no_distribution(made: Comparison) -> None:
    page = made.report("html")
    assert page.count('<div class="chart"') == 7
    assert "default-src 'none'; script-src 'sha256-" in unescape(page)
    printed = compare("csr-rfc-20:645", "csr-rfc-20:6180")
    assert distribution_of(printed) is None
    assert printed.report("html").count('<div class="chart"') == 1
    assert "```text" in printed.report("md")


def test_a_command_named_to_break_a_page_breaks_none(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    line = '{ type = "ls", as = "</script>`\\u202e" }'
    script.write_text(f'name = "x"\nlogin = "sh"\npasses = 2\nthink = "fixed(1s)"\nlines = [{line}]\n')
    for name in ("a", "b"):
        loadgo.run(script, on=str(machine), users=12, passes=2, seed=1, out=tmp_path / name)
    made = compare(tmp_path / "a", tmp_path / "b")
    page = made.report("html")
    assert page.count("</script>") == page.count("<script")
    assert "\u202e" not in page
    assert "\u202e" not in made.report(width=80)
