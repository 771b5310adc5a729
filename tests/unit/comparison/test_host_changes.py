"""A change point among the like runs of a host is a difference to be found, and no scatter."""

import json
from dataclasses import replace
from pathlib import Path

from loadgo.comparison.compare import of_sides
from loadgo.comparison.document import comparison_document, comparison_json
from loadgo.comparison.headline import conditions_sentence
from loadgo.comparison.side import Side
from loadgo.records.conditions import DifferingCondition
from support.live_sides import MEAN_NS, response, side


def changed_host() -> Side:
    """Sixteen like runs, a minute apart, of a host that takes half as long again from the ninth on."""
    like = side(1, [1.0] * 8 + [1.5] * 8)
    return replace(like, folders=tuple(Path(f"run-{number}") for number in range(1, 17)))


def test_a_change_of_the_host_is_no_scatter_of_its_runs() -> None:
    """One run of each level was called `cannot tell`: the step itself counted as how much runs differ by chance."""
    a, b = side(3, [1.0]), side(14, [1.5])
    comparison = of_sides(a, b, like_runs=[changed_host()])
    assert response(comparison) == "worse"
    interval = comparison.rows.whole["response"].interval
    assert interval is not None
    assert 0.3 * MEAN_NS < interval.low < interval.high < 0.8 * MEAN_NS
    assert (comparison.rows.between.like_runs, comparison.rows.between.degrees) == (16, 14)
    document = comparison_document(comparison)
    (sentence,) = [line for line in document.further_answers if line.startswith("The host changed between A and B: ")]
    assert "in its 16 like runs, from run-9 on, responses are " in sentence
    assert sentence.endswith(" % longer than up to run-8. `loadgo history` shows it.")
    assert sentence in json.loads(comparison_json(comparison))["answer"]
    assert "include how much 16 runs of this host differed on one level" in document.trust


def test_runs_on_one_side_of_a_change_are_judged_by_the_scatter_there() -> None:
    comparison = of_sides(side(3, [1.0]), side(6, [1.25]), like_runs=[changed_host()])
    assert (response(comparison), comparison.rows.between.change_between) == ("worse", None)
    assert "The host changed" not in str(comparison_document(comparison))


def test_a_change_of_the_host_between_sides_that_differ_is_not_taken_for_theirs() -> None:
    a, b = side(3, [1.0]), side(14, [1.5])
    comparison = of_sides(a, b, like_runs=[changed_host(), changed_host()])
    assert response(comparison) == "cannot tell"
    assert comparison.rows.between.degrees == 30
    (warning,) = [line for line in comparison_document(comparison).warnings if "The host changed" in line]
    assert "That alone may make the difference: compare runs on one side of the change." in warning


def test_no_single_condition_that_differs_is_hidden() -> None:
    """The fourth of four was the cause, and the sentence said `and 1 more condition`."""
    four = [DifferingCondition(f"key {number}", "1", "2") for number in range(4)]
    named = "key 0 (1 in A, 2 in B), key 1 (1 in A, 2 in B), key 2 (1 in A, 2 in B) and key 3 (1 in A, 2 in B)"
    assert conditions_sentence(four) == f"What differs: {named}."
