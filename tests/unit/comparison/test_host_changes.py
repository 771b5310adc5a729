"""A change point among the like runs of a host is named where it lies between the sides of a comparison."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.comparison.compare import of_sides
from loadgo.comparison.document import comparison_document, comparison_json
from loadgo.comparison.headline import conditions_sentence
from loadgo.comparison.side import Side
from loadgo.records.conditions import DifferingCondition
from support.live_sides import response, side


def changed_host() -> Side:
    """Sixteen like runs, a minute apart, of a host that takes half as long again from the ninth on."""
    like = side(1, [1.0] * 8 + [1.5] * 8)
    return replace(like, folders=tuple(Path(f"run-{number}") for number in range(1, 17)))


def test_a_change_of_the_host_between_the_sides_is_named() -> None:
    """The verdict alone, `cannot tell`, read as if nothing but chance were there. It is said once."""
    comparison = of_sides(side(3, [1.0]), side(14, [1.5]), like_runs=[changed_host()])
    assert response(comparison) == "cannot tell", "how much the like runs differ includes the change"
    document = comparison_document(comparison)
    (sentence,) = [line for line in document.warnings if line.startswith("The host itself changed between A and B: ")]
    assert "of its 16 runs like these, those from run-9 on have responses that are " in sentence
    assert " % longer than those up to run-8. That alone may make the difference" in sentence
    assert "Compare two runs up to run-8, or two from run-9 on. To tell, run A and B in turn, " in sentence
    assert not any("host itself changed" in line for line in document.further_answers)
    assert sentence in json.loads(comparison_json(comparison))["warnings"]
    assert document.trust.startswith("Trust in the data: ")
    assert "They cannot tell whether B changes response" in document.trust


def test_a_change_that_is_not_between_the_sides_is_not_named() -> None:
    comparison = of_sides(side(3, [1.0]), side(6, [1.25]), like_runs=[changed_host()])
    assert comparison.rows.between.change_between is None
    assert "The host changed" not in str(comparison_document(comparison))


def test_a_change_that_may_be_between_the_sides_is_named() -> None:
    """B was made when the first run after the change was: nobody knows on which side of it."""
    comparison = of_sides(side(3, [1.0]), side(9, [1.25]), like_runs=[changed_host()])
    change = comparison.rows.between.change_between
    assert change is not None
    assert change.relative == pytest.approx(0.5, abs=0.1)
    late = of_sides(side(9, [1.0]), side(14, [1.25]), like_runs=[changed_host()])
    assert late.rows.between.change_between is None


def test_no_single_condition_that_differs_is_hidden() -> None:
    """The fourth of four was the cause, and the sentence said `and 1 more condition`."""
    four = [DifferingCondition(f"key {number}", "1", "2") for number in range(4)]
    named = "key 0 (1 in A, 2 in B), key 1 (1 in A, 2 in B), key 2 (1 in A, 2 in B) and key 3 (1 in A, 2 in B)"
    assert conditions_sentence(four) == f"What differs: {named}."
