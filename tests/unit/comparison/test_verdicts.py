"""Verdicts of a comparison: when there is no difference, what the headline names, and what the axes show."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.comparison.chart_data import chart_rows
from loadgo.comparison.charts import comparison_charts
from loadgo.comparison.compare import Comparison, compare, of_sides, thresholds_of
from loadgo.comparison.difference import Difference
from loadgo.comparison.document import comparison_document, comparison_json
from loadgo.comparison.figures import change, change_interval, notation_for, percent_interval
from loadgo.comparison.headline import conditions_sentence, surely_differs
from loadgo.comparison.judgement import judged_of
from loadgo.comparison.tables import comparison_tables
from loadgo.decomposition.reading import read_factor, read_interval
from loadgo.documents.log_axis import FEWEST_TICKS, MOST_TICKS, change_text, change_ticks, log_ticks
from loadgo.measures.trust import A_MODEL
from loadgo.notation.margin import margin_share
from loadgo.records.conditions import DifferingCondition
from loadgo.stats.resample import Interval
from support.compared_rows import side

SLOWER_AND_FASTER = {"compile": 1.84, "edit": 1.0, "run": 0.58}


def difference(interval: tuple[float, float], *, drift: str = "none", within: tuple[float, float] | None = None) -> str:
    """The verdict on a figure of 100 with this interval of the change."""
    return Difference(
        measure="response",
        before=100.0,
        after=100.0 + sum(interval) / 2,
        interval=Interval(*interval),
        drift=drift,  # type: ignore[arg-type]
        within_runs=None if within is None else Interval(*within),
    ).verdict


def compared(factors: Mapping[str, float], **keywords: object) -> Comparison:
    """B, whose commands take so many times as long, against A, by command."""
    a = side("a", 1, dict.fromkeys(factors, 1.0), kind=str(keywords.pop("kind", "machine")))
    b = side("b", 2, factors, kind=a.kind)
    return of_sides(a, b, by="command", **keywords)  # type: ignore[arg-type]


def headline(comparison: Comparison) -> str:
    document = comparison_document(comparison)
    return " ".join((document.answer, *document.further_answers))


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((-3.0, 4.0), "no difference"),
        ((-4.7, 4.9), "no difference"),
        ((-4.9, 4.0), "cannot tell"),
        ((-3.0, 6.0), "cannot tell"),
        ((-11.0, 100.0), "cannot tell"),
        ((1.0, 100.0), "worse"),
        ((-40.0, -1.0), "better"),
        ((0.5, 2.0), "worse"),
    ],
)
def test_there_is_no_difference_only_if_the_interval_lies_within_the_margin(
    interval: tuple[float, float], verdict: str
) -> None:
    assert difference(interval) == verdict


def test_without_knowledge_of_drift_not_even_a_narrow_interval_shows_that_nothing_differs() -> None:
    assert difference((-1.0, 1.0), drift="not known") == "cannot tell"
    assert difference((-1.0, 1.0), drift="allowed", within=(-0.5, 0.5)) == "no difference"
    assert difference((-1.0, 3.0), drift="allowed", within=(0.5, 1.5)) == "no difference"
    assert difference((-1.0, 9.0), drift="allowed", within=(0.5, 1.5)) == "cannot tell"


@given(st.floats(-0.9, 9), st.floats(0.001, 2), st.sampled_from(["none", "not known"]))
def test_a_against_b_has_the_opposite_verdict_of_b_against_a(relative: float, width: float, drift: str) -> None:
    log = math.log1p(relative)
    opposite = {"better": "worse", "worse": "better"}
    verdicts = [
        difference((100 * math.expm1(sign * log - width), 100 * math.expm1(sign * log + width)), drift=drift)
        for sign in (1, -1)
    ]
    assert verdicts[1] == opposite.get(verdicts[0], verdicts[0])


def test_a_wide_interval_is_told_with_its_ends_and_with_what_would_narrow_it() -> None:
    comparison = compared({"compile": 1.02, "run": 1.01})
    assert comparison.rows.whole["response"].verdict == "cannot tell"
    document = comparison_document(comparison)
    assert document.answer.startswith("B against A: cannot tell for response (")
    assert "The interval of response includes 0 and reaches beyond the margin of 5 %." in headline(comparison)
    assert "times as many interactions would tell." in headline(comparison)
    narrow = compared({"compile": 1.02, "run": 1.01}, margin=0.3)
    assert "no difference in response beyond 30 % (" in headline(narrow)
    assert "narrow" not in headline(narrow)


def test_the_headline_names_the_commands_that_surely_differ_in_both_directions() -> None:
    comparison = compared(SLOWER_AND_FASTER)
    found = headline(comparison)
    sentence = next(text for text in found.split(". ") if text.startswith("By command, response is "))
    worse, better = sentence.split(", and ")
    assert worse.startswith("By command, response is surely worse in `compile` (+8")
    assert better.startswith("better in `run` (−4")
    assert "edit" not in sentence
    assert sentence in json.loads(comparison_json(comparison))["answer"]


def test_a_change_of_every_command_is_told_in_a_few_words() -> None:
    assert "response is surely worse in all 3 commands, most in `run` (+" in headline(
        compared({"edit": 1.5, "compile": 1.6, "run": 2.5})
    )


def test_one_live_run_a_side_names_commands_by_their_change_within_the_runs_alone() -> None:
    found = headline(compared(SLOWER_AND_FASTER, kind="host"))
    assert "By command, within the runs alone, response is lower in `run` (−4" in found
    assert "and higher in `compile` (+8" in found
    assert "so this is no verdict" in found
    assert not {"better", "worse"} & set(found.replace(",", " ").split())


def test_of_many_rows_one_that_differs_by_its_own_interval_alone_is_not_sure() -> None:
    row = Difference("response", 100.0, 110.0, Interval(1.0, 19.8))
    assert surely_differs(row, 1, 7)
    assert not surely_differs(row, 20, 7)
    assert surely_differs(replace(row, interval=Interval(7.0, 13.1)), 20, 7)


def test_an_interval_from_few_units_is_widened_by_students_t() -> None:
    row = Difference("response", 100.0, 110.0, Interval(4.0, 16.4))
    assert surely_differs(row, 20, 1000)
    assert not surely_differs(row, 20, 7)


def test_the_headline_names_the_conditions_that_were_changed_and_counts_the_others() -> None:
    cpus, seed, load = (
        DifferingCondition("cpus", "", "0.4"),
        DifferingCondition("seed", "1", "2"),
        DifferingCondition("load_average", "0.1", "3.2"),
    )
    assert conditions_sentence([seed, cpus, load]) == "What differs: limit cpus (none in A, 0.4 in B)."
    assert conditions_sentence([seed, load]) == (
        "What loadgo set is the same, but not the seeds; the host's load average differs."
    )
    assert conditions_sentence([seed]) == "What loadgo set is the same, but not the seeds."
    assert conditions_sentence([]) == "What loadgo set is the same."
    script = [DifferingCondition("script", "x", "y"), DifferingCondition("script's text", "1 bytes", "2 bytes")]
    many = [*script, *(DifferingCondition(f"key {number}", "1", "2") for number in range(6))]
    named = ", ".join(f"key {number} (1 in A, 2 in B)" for number in range(3))
    assert conditions_sentence(many) == f"What else differs: {named} and 3 more conditions."
    paid = [DifferingCondition(name, "1", "2") for name in ("title", "tariff.shifts.1", "machine processors.speed")]
    assert conditions_sentence(paid).startswith("What differs: machine processors.speed (1 in A, 2 in B), title (1 in")
    made = compared(SLOWER_AND_FASTER)
    assert "What differs: limit cpus (none in A, 0.4 in B)." in headline(replace(made, conditions=(cpus,)))


def test_each_row_has_the_number_of_its_interactions() -> None:
    a, b = side("a", 1, SLOWER_AND_FASTER), side("b", 2, SLOWER_AND_FASTER)
    fewer = replace(b, rows=b.rows.filter((pl.col("command") != "run") | (pl.col("pass") <= 12)))
    comparison = of_sides(a, fewer, by="command")
    counts = {row.label: row.counts for row in comparison.rows.rows}
    assert counts == {
        "compile": (240, 240),
        "edit": (240, 240),
        "run": (240, 144),
        "a mean interaction": (720, 624),
    }
    lines = comparison.report(width=100).splitlines()
    assert any(line.startswith("run") and "240 and 144" in line for line in lines)
    assert json.loads(comparison_json(comparison))["rows"]["rows"][2]["counts"] == [240, 144]


def test_a_threshold_is_not_passed_by_what_may_be_chance_though_nothing_can_be_told() -> None:
    comparison = compared({"compile": 1.03, "run": 1.03}, thresholds=thresholds_of("response=1%"))
    assert comparison.rows.whole["response"].verdict == "cannot tell"
    assert [(finding.failed, finding.is_open) for finding in comparison.findings] == [(False, True)]
    assert "which may be chance" in comparison.findings[0].text
    (wide,) = compared({"compile": 1.0, "run": 1.0}, thresholds=thresholds_of("response=1%")).findings
    assert (wide.is_open, wide.text.endswith("but its 95 % interval reaches beyond that")) == (True, True)


def test_no_time_falls_by_more_than_all_of_it_however_uncertain_the_prediction() -> None:
    predicted = Difference("response", 100.0, 20.0, Interval(-85.0, -75.0), Interval(97.0, 103.0), Interval(18.0, 22.0))
    (figure,) = judged_of({"response": predicted}, {"response": Interval(0.5, 4.0)})
    assert figure.interval is not None
    assert -100.0 < figure.interval.low < -80.0 < figure.interval.high


@pytest.mark.parametrize("given_margin", ["0%", "-5%", "small", 0.0, math.inf])
def test_a_margin_that_is_no_percentage_is_refused(given_margin: str | float) -> None:
    with pytest.raises(ValueError, match="write a percentage over 0, such as 5%"):
        margin_share(given_margin)


@given(st.floats(1e-9, 1e9), st.floats(1.0001, 1e9))
def test_an_axis_of_logarithms_has_ticks_at_round_numbers(low: float, ratio: float) -> None:
    ticks = log_ticks(low, low * ratio)
    assert 2 <= len(ticks) <= MOST_TICKS
    assert ticks == sorted(set(ticks))
    assert all(low * (1 - 1e-6) <= tick <= low * ratio * (1 + 1e-6) for tick in ticks)


@given(st.floats(0.01, 1.0), st.floats(1.0, 100.0))
def test_an_axis_of_changes_has_no_change_and_labels_for_all_of_its_ticks(low: float, high: float) -> None:
    ticks = change_ticks(low, high)
    assert 1.0 in ticks
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= MOST_TICKS + 4
    assert len({change_text(tick, high) for tick in ticks}) == len(ticks)
    if high / low > 2:
        assert len(ticks) >= FEWEST_TICKS


def change_texts(low: float, high: float) -> list[str]:
    return [change_text(tick, high) for tick in change_ticks(low, high)]


def test_ticks_are_those_that_readers_know() -> None:
    assert log_ticks(0.3, 400) == [1.0, 10.0, 100.0]
    assert log_ticks(1.2, 30) == [2.0, 5.0, 10.0, 20.0]
    assert change_texts(0.4, 2.2) == ["−50 %", "−20 %", "0", "+20 %", "+50 %", "+100 %"]
    assert change_texts(1 / 100, 100) == ["×0.01", "×0.1", "×1", "×10", "×100"], "one axis has one notation"
    assert change_texts(0.9, 9) == ["0", "+50 %", "+100 %", "+200 %", "+400 %"]


def test_no_chart_of_a_comparison_is_without_ticks() -> None:
    for chart in comparison_charts(compared(SLOWER_AND_FASTER)):
        text = json.dumps(chart.spec)
        assert '"type": "log"' in text
        values = [axis["values"] for axis in _axes(chart.spec) if "values" in axis]
        assert values, chart.name
        assert all(len(ticks) >= 2 for ticks in values), chart.name


def _axes(node: object) -> list[dict[str, list[float]]]:
    """Every axis in a specification."""
    if isinstance(node, list):
        return [axis for child in node for axis in _axes(child)]
    if not isinstance(node, dict):
        return []
    own = [node["axis"]] if isinstance(node.get("axis"), dict) else []
    return own + [axis for child in node.values() for axis in _axes(child)]


def test_a_change_of_ten_times_and_more_is_a_factor() -> None:
    large = Difference("response", 100.0, 138_000.0, Interval(900.0, 199_900.0))
    assert (change(large), change_interval(large)) == ("×1,380", "×10.0 to ×2,000")
    assert change_interval(replace(large, interval=Interval(-13.0, 1_100.0))) == "×0.870 to ×12.0", "one notation"
    assert change_interval(replace(large, interval=Interval(-130.0, 1_100.0))) == "×0 to ×12.0"
    assert change(replace(large, after=990.0)) == "×9.90", "as its interval"
    assert change(replace(large, after=990.0, interval=None)) == "+890 %"
    assert percent_interval(Interval(-0.14, -0.1)) == "−14 to −10 %"
    assert percent_interval(Interval(0.5, math.inf)) == "×1.50 to ×∞"


def test_changes_in_one_column_have_one_notation() -> None:
    small = Difference("cpu", 100.0, 101.24, Interval(1.152, 1.328))
    middle = Difference("cpu", 100.0, 265.0, Interval(90.0, 250.0))
    wide = Difference("cpu", 100.0, 193.0, Interval(-13.0, 1_100.0))
    large = Difference("cpu", 100.0, 1_200.0, None)
    assert notation_for([small, middle, wide]) == "percent"
    assert [change(one) for one in (small, middle, wide)] == ["+1.24 %", "+165 %", "+93 %"]
    assert change_interval(wide) == "−13 to +1100 %"
    assert (together := notation_for([small, middle, large])) == "factor"
    assert [change(one, together) for one in (small, middle, large)] == ["×1.0124", "×2.65", "×12.0"]
    assert change_interval(small, together) == "×1.0115 to ×1.0133"


def test_a_table_with_a_large_change_has_factors_and_so_has_its_headline() -> None:
    comparison = compared({"compile": 30.0, "edit": 1.0, "run": 0.58})
    document = comparison_document(comparison)
    table = next(one for one in comparison_tables(comparison) if one.title == "Response time")
    changes = next(column for column in table.columns if column.heading == "change").cells
    assert all(cell.startswith("×") for cell in changes), changes
    assert "`compile` (×" in headline(comparison)
    assert "`run` (×0.5" in headline(comparison)
    assert "%" not in document.answer.partition("(")[2].partition(")")[0]


@pytest.mark.parametrize(
    ("before", "after", "interval", "shown"),
    [
        (100.0, 207.5, Interval(65.4, 157.2), ("+108 %", "+65 to +157 %")),
        (100.0, 101.24, Interval(0.31, 2.17), ("+1.2 %", "+0.3 to +2.2 %")),
        (100.0, 101.24, Interval(1.152, 1.328), ("+1.24 %", "+1.15 to +1.33 %")),
        (100.0, 112.0, Interval(-0.3, 24.3), ("+12.0 %", "−0.3 to +24.3 %")),
        (100.0, 112.0, Interval(0.0, 24.3), ("+12 %", "0 to +24 %")),
        (100.0, 100.0, Interval(0.0, 0.0), ("0.0 %", "0.0 to 0.0 %")),
        (100.0, 139.7, None, ("+39.7 %", "–")),
        (100.0, 815.14, None, ("+715 %", "–")),
    ],
)
def test_a_change_has_as_many_digits_as_its_interval_deserves(
    before: float, after: float, interval: Interval | None, shown: tuple[str, str]
) -> None:
    difference = Difference("response", before, after, interval)
    assert (change(difference), change_interval(difference)) == shown


def test_ratios_of_a_page_are_b_over_a_as_its_changes_are() -> None:
    comparison = compare("csr-rfc-20:645", "csr-rfc-20:6180")
    text = comparison.report(width=120, full=True)
    assert "B against A, for a mean interaction: elapsed −63.4 %" in text
    row = next(line for line in text.splitlines() if line.startswith("elapsed ") and "×" in line)
    assert row.split()[-1] == "×0.366"
    assert "A ÷ B" not in text
    assert json.loads(comparison_json(comparison))["bookkeeping"][0]["ratio"] == pytest.approx(2.732, abs=1e-3)
    assert read_interval(Interval(0.5, 4.0)) == "0.250–2.000"
    assert (read_factor(250.0), read_interval(Interval(200.0, 400.0))) == ("×0.00400", "0.00250–0.00500")
    assert read_factor(0.0) == "×inf"


def test_a_command_that_is_typed_twice_has_a_row_of_its_own_in_pictures_and_headline() -> None:
    side_a, side_b = (side(name, seed, {"edit": 1.0, "again": 1.5}, passes=3) for name, seed in (("a", 1), ("b", 2)))
    twice = [replace(one, rows=one.rows.with_columns(command=pl.lit("edit"))) for one in (side_a, side_b)]
    names = [row.name for row in chart_rows(of_sides(twice[0], twice[1], by="line"), "response")]
    assert names[:3] == ["edit, pass 1", "edit (2), pass 1", "sub-total, pass 1"]
    assert len(set(names)) == len(names)


def test_a_text_is_short_first_and_says_where_the_rest_is() -> None:
    made = replace(compared(SLOWER_AND_FASTER), conditions=(DifferingCondition("cpus", "", "0.4"),))
    short, full = (made.report(width=100, full=wants_all) for wants_all in (False, True))
    assert len(short.splitlines()) <= 40 < len(full.splitlines())
    for words in ("Trust: ", "What differs: limit cpus", "Response time", "compile", "`--full` prints all tables"):
        assert words in short
    assert "Processor time" not in short
    assert made.report("md").count("\n### ") > 4, "other formats have everything"


def test_the_short_form_has_the_rows_that_changed_most() -> None:
    factors = {f"command-{number:02d}": 1.0 + number / 20 for number in range(1, 31)}
    comparison = compared(factors)
    short = comparison.report(width=100)
    shown = {line.split()[0] for line in short.splitlines() if line.startswith("command-")}
    rows = [row for row in comparison.rows.rows if row.kind == "row"]
    least_first = sorted(rows, key=lambda row: abs(math.log1p(row.measures["response"].relative or 0.0)))
    assert shown == {str(row.label) for row in least_first[-12:]}
    assert "18 rows are left out." in short


def test_the_first_screen_says_whether_to_believe_the_comparison() -> None:
    """In text, Markdown and a page the trust stands before the first table."""
    simulated = compared(SLOWER_AND_FASTER)
    trust = comparison_document(simulated).trust
    assert trust.startswith("Trust: high. The 95 % intervals are from ")
    assert trust.endswith(f"nothing else ran. {A_MODEL}.")
    doubted = comparison_document(replace(simulated, b=replace(simulated.b, unanswered=7))).trust
    assert doubted.startswith(f"Trust: moderate: in b 7 of {len(simulated.b.rows)} lines had no answer. ")
    for form in ("text", "md", "html"):
        shown = str(simulated.report(form))
        assert 0 < shown.index("Trust: high.") < shown.index("Response time"), form
    lines = str(simulated.report("text", width=80)).splitlines()
    assert any(line.startswith("Trust: ") for line in lines[:24])
    assert "Trust: high." in simulated._repr_html_()


def test_trust_is_moderate_where_the_drift_of_the_host_is_not_known() -> None:
    trust = comparison_document(compared(SLOWER_AND_FASTER, kind="host")).trust
    assert trust.startswith("Trust in the data: moderate: the intervals are those within the runs, and from ")


def test_printed_figures_have_a_low_trust() -> None:
    trust = comparison_document(compare("mpl-16:ctss", "mpl-16:multics")).trust
    assert trust == (
        "Trust: low: the warnings above say why; printed figures have no intervals, so chance may explain any of the "
        "changes."
    )
