"""The page of a run's costs: the chart first, and no mean of a few interactions."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import polars as pl
import pytest
from loadgo.costs.cost import Costs, Point
from loadgo.costs.curve import curves
from loadgo.costs.priced import priced
from loadgo.costs.row_charts import row_charts
from loadgo.costs.trust import costs_trust
from loadgo.documents.chart import svg
from loadgo.measures.charged_use import command_counts, use_of
from loadgo.measures.run_warnings import facts_of
from loadgo.measures.tariff import Tariff
from loadgo.records.interactions import USAGE_COLUMNS
from loadgo.records.phases import stretch_of
from support.synthetic import Work, closed_loop

TARIFF = Tariff("mine", "mine", "made up", False, "$", "", cpu_hour=3600.0, connect_hour=36.0)


def costs_of(users: int, interactions: int) -> Costs:
    """The costs of users who each type so many lines of a script of three commands."""
    run = closed_loop(users, interactions, (Work("edit", 0.1), Work("compile", 0.4), Work("list", 0.05)))
    run_use = use_of([run])
    point = Point(users, ("r",), run_use, command_counts([run]), (priced(run_use, TARIFF),))
    return Costs("r", "command", (point,), (), ())


@pytest.fixture(scope="module")
def many() -> Costs:
    return costs_of(8, 30)


def test_the_costs_of_commands_are_drawn_above_the_tables(many: Costs) -> None:
    lines = many.report(width=80).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("What an interaction costs by command"))
    assert [line.split()[0] for line in lines[at + 1 : at + 4]] == ["compile", "edit", "list"]
    assert "(95 % interval $" in lines[0]
    assert lines[at + 1].count("█") > 2 * lines[at + 2].count("█") > 0
    assert at < next(number for number, line in enumerate(lines) if line.startswith("By command (tariff: "))
    assert max(map(len, lines)) <= 80
    page = many.report("html")
    assert 'id="chart-cost-rows"' in page
    (point,) = many.points
    (chart,) = row_charts(point.priced[0], point.priced[0].rows, "command")
    assert svg(chart).startswith("<svg")
    assert "95 % intervals" in chart.caption


def test_a_mean_of_a_few_interactions_is_no_figure() -> None:
    few = costs_of(1, 4)
    text = few.report(width=120)
    rows = {
        line.split()[0]: line for line in text.splitlines() if line.split()[:1] in (["edit"], ["compile"], ["list"])
    }
    assert all(line.count("few") >= 2 for line in rows.values())
    assert "few: fewer than 5 measured interactions" in " ".join(text.split())
    assert "What an interaction costs by command" not in text
    means = [row["each"]["value"] for row in json.loads(few.report("json"))["points"][0]["tariffs"][0]["rows"]]
    assert all(mean > 0 for mean in means), "the JSON has them all"


def test_no_cost_of_many_interactions_is_called_few(many: Costs) -> None:
    assert "few" not in many.report(width=120)


def test_amounts_on_an_axis_are_never_powers_of_ten(many: Costs) -> None:
    (point,) = many.points
    for times in (1, 40, 150, 4000):
        dear = priced(point.use, replace(TARIFF, cpu_hour=times * TARIFF.cpu_hour))
        (chart,) = row_charts(dear, dear.rows, "command")
        labels = re.findall(r">([^<>]*)</text>", svg(chart))
        assert len([label for label in labels if label.replace(",", "").replace(".", "").isdigit()]) > 3
        assert not [label for label in labels if re.search(r"\de[+−-]", label)]


def test_lines_without_an_answer_lower_the_trust_in_costs_and_their_means_are_not_told() -> None:
    """The cost of the one compilation of 60 that was metered is not multiplied by 60."""
    run = closed_loop(6, 30, (Work("edit", 0.1), Work("compile", 0.4)))
    rows = run.interactions
    is_lost = (pl.col("command").cast(pl.String) == "compile") & (pl.int_range(pl.len()) > 1)
    unknown = [pl.when(~is_lost).then(pl.col(name)).alias(name) for name in USAGE_COLUMNS]
    outcome = pl.when(is_lost).then(pl.lit("timeout")).otherwise(pl.col("outcome").cast(pl.String))
    lacking = replace(
        run,
        interactions=rows.with_columns(
            *unknown, ready_ns=pl.when(~is_lost).then(pl.col("ready_ns")), outcome=outcome.cast(rows["outcome"].dtype)
        ),
    )
    facts = facts_of(lacking, stretch_of(lacking))
    assert 0 < facts.unanswered < facts.sent
    use = use_of([lacking])
    point = Point(6, ("r",), use, command_counts([lacking]), (priced(use, TARIFF),))
    costs = Costs("r", "command", (point,), (), (), facts=(facts,))
    assert f"{facts.unanswered} of {facts.sent} lines had no answer" in costs_trust(costs)
    (load,) = curves((point,))[0].loads
    assert load.answered_share == pytest.approx(1 - facts.unanswered / facts.sent)
    (line,) = [line for line in costs.report(width=120).splitlines() if line.startswith("compile ")]
    assert line.split()[2:] == ["few"] * len(line.split()[2:])
