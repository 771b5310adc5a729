"""A speed-up taken apart on simulated machines: factors multiply, a change that does nothing is found out."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.attribution.causes import taken_apart
from loadgo.attribution.measured_runs import speedup_of
from loadgo.attribution.results import Speedup
from loadgo.attribution.speedup import change_of, speedup
from loadgo.decomposition.reading import read_interval
from loadgo.measures.account import RunAccount
from loadgo.notation.figures import duration
from support.small_machine import laid

CHANGES = ["processor: processors.speed=2", "memory.frames=96", "nothing: storage.disk.service=exponential(30ms)"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Speedup:
    script, machine = laid(tmp_path_factory.mktemp("speedup"))
    return speedup(script, on=str(machine), changes=CHANGES, users=4, passes=2, runs=5)


@pytest.mark.long
def test_the_causes_of_every_figure_multiply_to_it(made: Speedup) -> None:
    assert {one.measure for one in made.causes} >= {"elapsed", "CPU", "response"}
    for told in made.causes:
        product = math.prod(cause.factor for cause in told.causes)
        assert product == pytest.approx(told.ratio, rel=1e-12)
        assert math.fsum(cause.saved for cause in told.causes) == pytest.approx(told.before - told.after, rel=1e-9)


def test_the_links_of_every_chain_multiply_to_it(made: Speedup) -> None:
    assert made.bookkeeping
    for chain in made.bookkeeping:
        assert math.prod(link.factor for link in chain.links) == pytest.approx(chain.ratio, rel=1e-12)
        assert math.prod(one.factor for one in chain.factors) == pytest.approx(chain.ratio, rel=1e-12)


def test_a_change_that_changes_nothing_has_the_factor_1(made: Speedup) -> None:
    for told in made.causes:
        cause = next(cause for cause in told.causes if cause.name == "nothing")
        assert (cause.factor, cause.first, cause.last, cause.interacts) == (1.0, 1.0, 1.0, False)


def test_the_processor_is_the_same_by_three_roads(made: Speedup) -> None:
    ratios = {road.name: road.ratio for road in made.roads if road.to == "work"}
    assert ratios == pytest.approx(dict.fromkeys(ratios, 2.0), rel=1e-6)
    assert len(ratios) == 3


def test_bookkeeping_of_the_work_and_the_cause_agree_on_the_bracket(made: Speedup) -> None:
    cpu = next(told for told in made.causes if told.measure == "CPU")
    processor = cpu.causes[0]
    assert min(processor.first, processor.last) <= processor.factor <= max(processor.first, processor.last)
    assert processor.interval is not None
    assert processor.interval.holds(processor.factor)


def test_the_headline_goes_from_a_figure_to_a_figure_by_what_each_change_is_worth(made: Speedup) -> None:
    told = next(one for one in made.causes if one.measure == "response")
    words = " ".join(made.report(width=120).split())
    before, after = duration(told.before), duration(told.after)
    whole = f"Simulated response is {before} without the changes (A) and {after} with all of them (B)"
    interval = f" (95 %: {read_interval(told.interval)})"
    first = f"×{1 / told.causes[0].factor:.3f} by processor"
    effects = f"B is ×{told.after / told.before:.3f} of A{interval}. That is the product of {first} and ×"
    assert f"{whole}: {effects}" in words
    assert "by nothing" not in words


def test_the_page_says_that_it_is_simulated_what_it_covers_and_what_elapsed_is(made: Speedup) -> None:
    words = " ".join(made.report(width=120).split())
    whole = "(simulated); the figures are of whole runs, which end when every user has typed the script 2 times"
    assert whole in words
    assert "Elapsed is the length of the run over the number of its interactions, of all users together" in words


def test_causes_and_bookkeeping_are_in_tables_of_their_own(made: Speedup) -> None:
    text = made.report(width=120)
    assert "What each change did to elapsed" in text
    assert "Where the changes show in the meters, for one interaction" in text
    assert max(map(len, made.report(width=80).splitlines())) <= 80
    assert json.loads(made.report("json"))["causes"][0]["causes"][0]["name"] == "processor"
    assert "Causes" in made.report("md")
    assert "Causes" in made.report("html")


@pytest.mark.parametrize("format", ["text", "md", "html"])
def test_every_ratio_of_a_page_is_b_over_a(made: Speedup, format: str) -> None:
    page = made.report(format)
    assert isinstance(page, str)
    assert "B ÷ A" in page
    assert "A ÷ B" not in page
    for caused in made.causes:
        assert f"×{caused.after / caused.before:.3f}" in page


def test_the_json_has_b_over_a_beside_a_over_b(made: Speedup) -> None:
    members = made.to_dict()
    for stored in (*members["causes"], *members["bookkeeping"], *members["roads"], *members["waterfalls"]):
        assert stored["b_over_a"] * stored["ratio"] == pytest.approx(1.0)
        assert stored["b_over_a"] == pytest.approx(stored["after"] / stored["before"])
        if stored["interval"] is not None:
            assert stored["b_over_a_interval"]["low"] * stored["interval"]["high"] == pytest.approx(1.0)
    cause = members["causes"][0]["causes"][0]
    assert cause["b_over_a_first"] * cause["first"] == pytest.approx(1.0)
    assert cause["b_over_a_last"] * cause["last"] == pytest.approx(1.0)


def test_the_csv_has_b_over_a_beside_a_over_b(made: Speedup) -> None:
    row = made.frame().row(0, named=True)
    assert row["b_over_a"] * row["factor"] == pytest.approx(1.0)
    assert row["b_over_a_low"] <= row["b_over_a"] <= row["b_over_a_high"]


def test_a_change_is_one_value_or_several_with_a_name() -> None:
    assert change_of("processors.speed=2").name == "processors.speed=2"
    drum = change_of("drum: storage.drum.sectors=4; storage.drum.revolution=8ms")
    assert (drum.name, drum.set) == ("drum", ("storage.drum.sectors=4", "storage.drum.revolution=8ms"))
    with pytest.raises(ValueError, match="write KEY=VALUE"):
        change_of("faster")


def test_too_many_changes_and_a_host_are_refused_in_words() -> None:
    seven = [f"supervisor.getwork={number}ms" for number in range(7)]
    with pytest.raises(ValueError, match="7 changes: there must be 1 to 6"):
        speedup("light", on="multics-645", changes=seven)
    with pytest.raises(ValueError, match="loadgo cannot change a host"):
        speedup("light", on="here", changes=["a.b=1"])


def test_measured_runs_need_every_choice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there are no runs with cpu\+disk"):
        speedup_of({"": [tmp_path], "cpu": [tmp_path], "disk": [tmp_path]})


def test_a_column_without_any_interaction_is_left_out_and_the_table_says_so(made: Speedup) -> None:
    alone = replace(
        made,
        causes=tuple(
            replace(told, causes=tuple(replace(cause, first=cause.factor, last=cause.factor) for cause in told.causes))
            for told in made.causes
        ),
    )
    text = alone.report(width=120)
    assert "depends on others" not in text.partition("No change")[0]
    assert "No change's factor surely depends on the others by more than 10 %." in text


def test_a_change_that_interacts_has_its_column(made: Speedup) -> None:
    first = made.causes[0]
    partner = replace(first.causes[0], first=2.0, last=1.0, apart=None)
    dependent = replace(made, causes=(replace(first, causes=(partner, *first.causes[1:])), *made.causes[1:]))
    assert "made last   depends on others" in dependent.report(width=120)


def test_lines_without_an_answer_lower_the_trust_in_a_simulated_speedup() -> None:
    account = RunAccount(100.0, 1e9, 1.0, {"user": 5e8, "idle": 5e8}, {}, {"cpu": 5e8, "response": 1e9}, unanswered=7)
    change = (change_of("processors.speed=2"),)
    attributed = taken_apart("t", change, [[account] * 5, [replace(account, unanswered=0)] * 5], (1, 2, 3, 4, 5), ())
    assert attributed.evidence.against == ("35 of 1,000 lines had no answer",)
    assert "moderate: 35 of 1,000 lines had no answer" in attributed.report(width=200)
