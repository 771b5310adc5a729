"""The cost of an interaction over the load: runs of one script on one system, in one mix of commands."""

import json
import re
from dataclasses import replace
from pathlib import Path

import loadgo
import pytest
from loadgo.costs.cost import Costs, cost
from loadgo.costs.curve import Curve, curves, left_out, mix_of
from loadgo.costs.curve_document import curve_answer
from loadgo.costs.document import costs_document
from loadgo.costs.priced import Figure
from loadgo.documents.as_text import text_document
from loadgo.measures.other_work import OtherWork
from loadgo.stats.resample import Interval
from support.small_machine import laid

LOADS = (1, 4, 12)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the small script on the small machine, and some that are of another script or machine."""
    folder = tmp_path_factory.mktemp("priced")
    laid(folder)
    machine = str(folder / "small-machine.toml")
    for users in LOADS:
        loadgo.run(folder / "small.toml", on=machine, users=users, passes=4, out=folder / f"n{users}")
    loadgo.run(folder / "small.toml", on=machine, users=4, passes=4, seed=2, out=folder / "n4-again")
    loadgo.run(folder / "small.toml", on=machine, users=4, think="fixed(1s)", out=folder / "hasty")
    loadgo.run(folder / "small.toml", on=machine, users=4, set=["processors.speed=2"], out=folder / "faster")
    other = folder / "other.toml"
    other.write_text('name = "other"\npasses = 2\nthink = "fixed(2s)"\nlines = ["list"]\n')
    loadgo.run(other, on=machine, users=2, out=folder / "other")
    return folder


@pytest.fixture(scope="module")
def made(room: Path) -> Costs:
    """The curve at the rented machine's price and at the small machine's own, in whatever order the runs are named."""
    return cost([room / f"n{users}" for users in reversed(LOADS)], tariff=["cloud", "machine:1"])


def test_points_are_in_the_order_of_their_users(made: Costs) -> None:
    assert [point.users for point in made.points] == list(LOADS)
    assert [load.users for load in curves(made.points)[0].loads] == list(LOADS)


def test_an_idle_rented_machine_is_where_an_interaction_costs_most(made: Costs) -> None:
    rented = curves(made.points)[0]
    assert rented.dearest is not None
    assert rented.cheapest is not None
    assert rented.dearest.users == 1
    assert rented.cheapest.users == 12
    assert rented.times == pytest.approx(
        (rented.dearest.interaction.value or 0) / (rented.cheapest.interaction.value or 1)
    )
    assert (rented.times or 0) > 2


def test_every_load_pays_the_whole_rent(made: Costs) -> None:
    for point in made.points:
        rented = point.priced[0]
        rent = next(item for item in rented.items if item.name == "the machine")
        assert rent.amount == pytest.approx(rented.tariff.machine_hour * point.use.held.elapsed_ns / 3.6e12)
        logged_in = point.use.held.logged_in_ns / point.use.held.elapsed_ns
        assert (rented.user_hour.value or 0) * logged_in == pytest.approx(0.10, rel=0.001)


def test_an_interaction_is_in_one_mix_at_every_load(made: Costs) -> None:
    """Different lines in the steady part of two loads make no difference in price."""
    mix = mix_of(made.points)
    assert sum(mix.values()) == pytest.approx(1)
    for place, point in enumerate(made.points):
        told = point.priced[1]
        by = {row.name: row.each.value or 0.0 for row in told.rows}
        expected = sum(share * by[name] for name, share in mix.items())
        assert curves(made.points)[1].loads[place].interaction.value == pytest.approx(expected)
    assert left_out(made.points) == []


def test_runs_with_as_many_users_are_one_point(room: Path) -> None:
    both = cost(f"{room / 'n4'},{room / 'n4-again'}", tariff="machine:1")
    assert len(both.points) == 1
    assert both.points[0].runs == ("n4", "n4-again")
    apart = [cost(room / name, tariff="machine:1").points[0] for name in both.points[0].runs]
    each = [(one.priced[0].interaction.value or 0, one.use.interactions) for one in apart]
    together = sum(value * count for value, count in each) / sum(count for _, count in each)
    assert both.points[0].priced[0].interaction.value == pytest.approx(together)


def test_a_run_that_is_named_twice_counts_once(room: Path) -> None:
    assert cost([room / "n4", room / "n4"]).points[0].runs == ("n4",)


def test_the_page_tells_the_ratio_the_table_and_bars_in_80_columns(made: Costs) -> None:
    shown = text_document(costs_document(made), width=80)
    assert max(map(len, shown.splitlines())) <= 80
    assert "with 1 user," in shown
    assert "times the second, at $0.09 a" in shown.replace("\n", " ")
    assert "█" in shown
    assert "By number of users (tariff: cloud)" in shown
    assert "cost by command (tariff: cloud)" in shown


def test_the_html_page_has_a_chart_for_each_tariff(made: Costs) -> None:
    page = made.report("html")
    assert 'id="chart-cost-0"' in page
    assert 'id="chart-cost-1"' in page
    assert "https://" not in page


def test_a_tariff_that_is_named_twice_is_priced_once(room: Path, made: Costs) -> None:
    twice = cost([room / f"n{users}" for users in LOADS], tariff=["cloud", "machine:1", "cloud"])
    assert [priced.tariff for priced in twice.points[0].priced] == [priced.tariff for priced in made.points[0].priced]
    assert 'id="chart-cost-2"' not in twice.report("html")


def test_the_json_holds_every_point_in_full(made: Costs) -> None:
    document = json.loads(made.report("json"))
    assert [point["users"] for point in document["points"]] == list(LOADS)
    rows = document["points"][0]["tariffs"][0]["rows"]
    assert rows[-1]["name"] == "all"
    curve: Curve = curves(made.points)[0]
    assert [load["interaction"]["value"] for load in document["curves"][0]["loads"]] == [
        load.interaction.value for load in curve.loads
    ]
    assert "| users |" in made.report("md")


def test_conditions_that_differ_beside_the_users_are_told(room: Path) -> None:
    mixed = cost([room / "n1", room / "hasty"])
    assert any(text.startswith("think: ") for text in mixed.differing)
    assert "the runs differ in more than users: think" in mixed.report().replace("\n", " ")


@pytest.mark.parametrize(
    ("names", "asked", "says"),
    [
        (["n1", "other"], {}, "other has not typed the script of n1: price each with a loadgo cost of its own"),
        (["n1", "faster"], {}, "n1 and faster are of different systems (machine processors.speed: 1, 2)"),
        (["n1"], {"tariff": "nonsense"}, "tariff nonsense: is not bundled"),
        (["n1"], {"tariff": "machine:9"}, "has no shift 9; it has 1, 2"),
        (["n1"], {"by": "line"}, "by: 'line' is neither command nor user"),
        (["n1"], {"phases": "some"}, "phases: 'some' is neither of steady, all"),
        ([], {}, "no run is named"),
    ],
)
def test_what_is_no_curve_is_refused_in_words(room: Path, names: list[str], asked: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        cost([room / name for name in names], **asked)  # type: ignore[arg-type]


def test_a_run_in_which_nobody_typed_anything_is_refused_in_words(room: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    empty.joinpath("run.toml").write_text(
        'format = 1\nid = "empty"\nname = "nothing"\nfinished = false\n[load]\nusers = 1\n'
    )
    with pytest.raises(ValueError, match="nobody typed anything in empty: there is nothing to price"):
        cost(empty)


def test_of_very_many_users_the_dearest_are_shown_and_the_rest_is_told(room: Path) -> None:
    loadgo.run(room / "other.toml", on=str(room / "small-machine.toml"), users=60, out=room / "many")
    made = cost(room / "many", by="user", phases="all")
    assert len(made.points[0].priced[0].rows) == 60
    page = made.report(width=100)
    assert sum(line.startswith("user ") for line in page.splitlines()) == 41  # with the heading
    assert "20 rows with lower costs" in page
    assert len(json.loads(made.report("json"))["points"][0]["tariffs"][0]["rows"]) == 61


def test_a_curve_without_a_known_cost_says_so(room: Path, tmp_path: Path) -> None:
    tariff = tmp_path / "memory.toml"
    tariff.write_text('title = "memory alone"\nsource = "this test"\ncurrency = "$"\nmemory_gigabyte_hour = 1.0\n')
    unknown = cost([room / "n1", room / "n4"], tariff=str(tariff))
    assert not unknown.known
    assert costs_document(unknown).answer == "The cost is not known: a charged quantity was not measured."


@pytest.mark.parametrize(("reach", "words"), [(1.01, "times the second"), (9.0, "cannot tell which is higher")])
def test_costs_with_overlapping_intervals_are_not_called_different(made: Costs, reach: float, words: str) -> None:
    curve = curves(made.points)[0]
    loads = tuple(
        replace(load, interaction=Figure(value, Interval(value / reach, value * reach)))
        for load in curve.loads
        if (value := load.interaction.value)
    )
    assert words in curve_answer([replace(curve, loads=loads)])


def test_a_table_says_whose_busy_time_it_prices(made: Costs) -> None:
    """On a busy host most of the price of all busy time is that of other programs."""
    calm = " ".join(text_document(costs_document(made), width=160).split())
    assert "busy (loadgo left out)" in calm
    assert "work of other programs, which" not in calm
    facts = tuple(replace(run, other_work=OtherWork(0.94)) for run in made.facts)
    busy = " ".join(text_document(costs_document(replace(made, facts=facts)), width=160).split())
    assert "with the work of other programs, which had up to 94.0 % of the processors' time." in busy


def test_a_users_hour_on_a_rented_machine_says_how_many_share_it(room: Path) -> None:
    rented = costs_document(cost(room / "n4", tariff="cloud")).answer
    assert re.search(
        r"a (user's hour|million users' hours) \$\S+ with 4 users sharing the machine \(\S+ % busy\), at", rented
    )
    assert "alone on the machine" in costs_document(cost(room / "n1", tariff="cloud")).answer
    assert "machine (" not in costs_document(cost(room / "n4", tariff="machine:1")).answer
