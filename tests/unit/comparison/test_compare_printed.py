"""Printed tables compared: what two documents say of their own figures, and what they did not see."""

import pytest
from loadgo.comparison.compare import Comparison, compare
from loadgo.comparison.document import comparison_json


@pytest.fixture(scope="module")
def machines() -> Comparison:
    return compare("csr-rfc-20:645", "csr-rfc-20:6180")


@pytest.fixture(scope="module")
def systems() -> Comparison:
    return compare("mpl-16:ctss", "mpl-16:multics")


def links(made: Comparison, measure: str) -> dict[str, float]:
    chain = next(chain for chain in made.chains if chain.measure == measure)
    return {link.name: link.factor for link in chain.links}


def test_elapsed_time_is_work_overhead_and_the_idle_time_that_the_document_did_not_see(machines: Comparison) -> None:
    assert links(machines, "elapsed") == pytest.approx({"work": 2.0385, "overhead": 1.4529, "idle": 0.9224}, abs=1e-4)
    assert next(chain.ratio for chain in machines.chains) == pytest.approx(249.7 / 91.4, rel=1e-12)


def test_the_overhead_is_taken_apart_down_to_the_meters(machines: Comparison) -> None:
    factors = {one.name: one.factor for one in machines.chains[0].factors}
    told = {
        "page fault: how many": 1.0534,
        "page fault: how long each": 1.0676,
        "drum interrupt": 1.1052,
        "getwork": 1.1030,
        "segment fault": 1.0467,
        "idle not eligible": 1.0052,
        "idle page wait": 1.0073,
    }
    assert {name: factors[name] for name in told} == pytest.approx(told, abs=1e-4)


def test_total_processor_time_is_2_92_and_what_the_meters_lack_of_it_is_a_factor_of_its_own(
    machines: Comparison,
) -> None:
    told = links(machines, "CPU")
    assert told["work"] * told["overhead"] * told["charged ÷ metered"] == pytest.approx(14213 / 4860, rel=1e-12)
    assert told["charged ÷ metered"] == pytest.approx(0.998, abs=5e-4)


def test_first_shift_prices_are_the_same_on_both_and_the_others_are_not(machines: Comparison) -> None:
    assert links(machines, "cost, shift 1")["price"] == pytest.approx(0.995, abs=1e-3)
    assert links(machines, "cost, shift 2")["price"] == pytest.approx(0.785, abs=1e-3)
    assert links(machines, "cost, shift 3")["price"] == pytest.approx(0.390, abs=1e-3)


def test_good_and_virtual_processor_time_contradict_their_own_definitions(machines: Comparison) -> None:
    broken = [check.text for _, check in machines.checks if check.verdict == "broken"]
    assert len(broken) == 1
    assert "good CPU time (7999 for 7989.9)" in broken[0]
    assert "virtual CPU time (9002 for 8527.8)" in broken[0]


def test_the_process_that_died_is_marked_wherever_the_side_is_named(machines: Comparison) -> None:
    page = machines.report(width=100)
    assert "A: csr-rfc-20:645 (in part extrapolated), as printed: " in " ".join(page.split())
    assert "one of twenty processes ended approximately 80% through the script" in " ".join(page.split())


def test_a_printed_date_and_a_time_of_day_are_no_two_conditions_called_time(machines: Comparison) -> None:
    names = [condition.name for condition in machines.conditions]
    assert {"date", "time of day"} <= set(names)
    assert not {"Time", "time"} & set(names)


def test_faults_are_told_as_how_many_and_how_long(machines: Comparison) -> None:
    part = next(part for part in machines.parts.parts if part.name == "page fault")
    assert part.each_before == pytest.approx(3.316e6, rel=1e-3)
    assert part.each_after == pytest.approx(2.323e6, rel=1e-3)
    assert part.by_count is not None
    assert part.by_each is not None
    assert part.by_count + part.by_each == pytest.approx(part.change, rel=1e-12)


def test_the_totals_are_those_of_the_table_with_its_misprints_set_right(systems: Comparison) -> None:
    totals = {row.label: row.measures["cpu"] for row in systems.rows.rows if row.kind != "row"}
    told = {label: (one.before, one.after) for label, one in totals.items()}
    expected = {
        "sub-total, pass 1": (30.4e9, 43.8e9),
        "sub-total, pass 2": (30.1e9, 40.7e9),
        "the whole script": (60.5e9, 84.5e9),
    }
    for label, (before, after) in expected.items():
        assert told[label] == pytest.approx((before, after))
    assert any("2-rename/ctss-total is printed 4.4" in note for note in systems.a.notes)


def test_processor_time_and_page_time_are_apart(systems: Comparison) -> None:
    whole = systems.rows.whole
    assert (whole["work"].before, whole["work"].after) == pytest.approx((46.6e9, 51.3e9))
    assert (whole["page"].before, whole["page"].after) == pytest.approx((13.9e9, 33.2e9))
    assert whole["faults"].after == pytest.approx(4150)


def test_print_gives_no_verdict_and_says_what_it_does_not_know(systems: Comparison) -> None:
    assert {row.measures["cpu"].verdict for row in systems.rows.rows} <= {"higher", "lower", "equal"}
    assert systems.rows.whole["response"].verdict == "not known"
    assert "There are none: they need 5 users or runs" in comparison_page_text(systems)


def comparison_page_text(made: Comparison) -> str:
    return " ".join(made.report(width=120, full=True).split())


def test_every_format_has_the_answer(systems: Comparison) -> None:
    assert '"answer": "B against A: CPU +39.7 %. What differs: ' in comparison_json(systems)
    for page in (
        systems.report(),
        systems.report("md"),
        systems.report("html"),
    ):
        assert "39.7 %" in page


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_is_no_wider_than_asked(machines: Comparison, systems: Comparison, width: int) -> None:
    for made in (machines, systems):
        assert max(map(len, made.report(width=width).splitlines())) <= width


def test_a_side_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="csr-rfc-20 has csr-rfc-20:645, csr-rfc-20:6180"):
        compare("csr-rfc-20", "csr-rfc-20:645")
    with pytest.raises(ValueError, match="rfc-392 has none"):
        compare("rfc-392:a", "csr-rfc-20:645")
