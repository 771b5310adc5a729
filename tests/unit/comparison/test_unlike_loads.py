"""Sides with different loads: said first, and nothing is better or worse. The rows that a headline names or counts."""

from dataclasses import replace

import pytest
from loadgo.comparison.compare import of_sides, thresholds_of
from loadgo.comparison.document import comparison_document
from loadgo.comparison.headline import rows_sentence
from loadgo.comparison.unlike_loads import unlike_loads
from loadgo.records.conditions import DifferingCondition
from loadgo.stats.resample import Interval
from support.compared_rows import side

FACTORS = {"compile": 1.84, "edit": 1.0, "run": 0.58}


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        (DifferingCondition("users", "12", "16"), "users (12 in A, 16 in B)"),
        (DifferingCondition("think", "exponential(5s)", "fixed(1s)"), "think (exponential(5s) in A, fixed(1s) in B)"),
        (DifferingCondition("typing", "", "12 chars/s"), "typing (none in A, 12 chars/s in B)"),
        (DifferingCondition("script's text", "1 bytes", "2 bytes"), "the script's text"),
    ],
)
def test_different_loads_are_said_first_and_nothing_is_better_or_worse(
    condition: DifferingCondition, named: str
) -> None:
    a = side("a", 1, dict.fromkeys(FACTORS, 1.0), {condition.name: condition.before})
    b = side("b", 2, FACTORS, {condition.name: condition.after})
    comparison = of_sides(a, b, by="command", thresholds=thresholds_of("5%"))
    document = comparison_document(comparison)
    assert document.answer.startswith(
        f"The loads differ: {named}. That alone may explain each change, so nothing is called better or worse. "
    )
    rows = {row.label: row.measures["response"].verdict for row in comparison.rows.rows}
    assert (rows["compile"], rows["run"]) == ("higher", "lower")
    assert "lower in `run`" in " ".join(document.further_answers)
    assert not {row.measures["response"].verdict for row in comparison.by_command.rows} & {"better", "worse"}
    assert comparison.rows.whole["throughput"].verdict not in ("better", "worse")
    assert document.trust.startswith("Trust: moderate: the loads differ")
    assert "Else what loadgo set is the same." in document.further_answers
    assert all("the loads differ" in finding.text for finding in comparison.findings)
    alike = of_sides(a, replace(b, conditions=a.conditions), by="command")
    assert {row.measures["response"].verdict for row in alike.rows.rows if row.kind == "row"} >= {"better", "worse"}


def test_a_side_that_does_not_tell_its_users_has_no_other_load() -> None:
    assert unlike_loads([DifferingCondition("users", "", "20"), DifferingCondition("kernel", "5", "6")]) == ()


def test_the_headline_and_the_table_name_as_many_commands() -> None:
    conditions = {"kernel": "6.1"}
    compared = of_sides(side("a", 1, dict.fromkeys(FACTORS, 1.0), conditions), side("b", 2, FACTORS, conditions))
    compile_, edit, run = compared.rows.rows[:3]
    near = replace(edit.measures["response"], interval=Interval(1e-3, 1e9), before=2e9, after=2.4e9)
    rows = (compile_, replace(edit, measures=edit.measures | {"response": near}), run, *compared.rows.rows[3:])
    assert near.verdict == "worse"
    table = replace(compared, rows=replace(compared.rows, rows=rows))
    assert ", and probably worse in 1 more" in rows_sentence(table.rows)
    assert "probably" not in rows_sentence(compared.rows)
    assert rows_sentence(compared.rows).startswith("By command, response is surely worse in `compile`")
