"""Small amounts of money are of a million interactions or hours in every format for people; each cost has its trust."""

import re
from pathlib import Path

import loadgo
import pytest
from support.places import TESTS

LIVE = str(TESTS / "runs" / "reported" / "live-exact")
REMOTE = str(TESTS / "runs" / "reported" / "transferred")
SIMULATED = str(TESTS / "runs" / "reported" / "sim-645")
UNREADABLE = re.compile(r"\$0\.0000")


@pytest.mark.parametrize("format", ["text", "md", "html"])
@pytest.mark.parametrize(("run", "tariff"), [(LIVE, "default"), (LIVE, "cloud"), (REMOTE, "default")])
def test_no_cost_has_four_zeros_behind_the_point(run: str, tariff: str, format: str) -> None:
    costs = loadgo.cost(run, tariff=tariff)
    page = str(costs.report(format, width=160))
    assert "cost of 1,000,000" in page
    assert not UNREADABLE.findall(page)
    by_user = str(loadgo.cost(run, tariff=tariff, by="user").report("text", width=80))
    assert not UNREADABLE.findall(by_user)


def test_the_parts_of_the_rows_and_of_the_items_are_of_the_same_million_interactions() -> None:
    text = str(loadgo.cost(LIVE, tariff="cloud").report("text", width=160))
    (total,) = re.findall(r"A million interactions cost (\$[\d.]+),", text)
    (row,) = (line for line in text.splitlines() if line.startswith("all "))
    assert row.split()[2] == total
    assert row.split()[-3] == total
    parts = [float(cell) for cell in re.findall(r"^(?:output|the machine) .*\$([\d.]+) +[\d.]+ %$", text, re.MULTILINE)]
    assert sum(parts) == pytest.approx(float(total[1:]), rel=0.01)


def test_a_charge_that_is_small_on_one_side_alone_is_of_a_million_interactions_too() -> None:
    text = str(loadgo.cost_against(LIVE, SIMULATED).report("text", width=160))
    assert "Charges for 1,000,000 interactions" in text
    assert not UNREADABLE.findall(text.partition("Performance")[0].partition("Charges")[2])
    assert "10,100" in text
    assert "10100.000" not in text


def test_dear_prices_are_of_one_interaction_and_of_the_run() -> None:
    text = str(loadgo.cost(SIMULATED).report("text", width=160))
    assert "in all" in text.partition("By command")[2]
    assert "an interaction" in text
    assert "1,000,000" not in text


def test_each_cost_has_its_trust_and_says_why_the_same_runs_compare_otherwise(results_folder: Path) -> None:
    costs = loadgo.cost([results_folder / "a", results_folder / "c"])
    against = loadgo.cost_against(str(results_folder / "a"), str(results_folder / "b"))
    for result in (loadgo.cost(LIVE), costs, against):
        assert "\nTrust: " in str(result.report("text"))
    for result in (costs, against):
        notes = dict(result._presentation().document().notes)
        assert "`loadgo compare`" in notes["Mix"]
