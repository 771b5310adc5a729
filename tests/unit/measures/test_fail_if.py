"""Conditions that fail a run: read before it, with the column of a mistake; a figure that is missing never passes."""

import dataclasses
import pickle

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.measures.fail_if import conditions_in, evaluate, with_conditions
from loadgo.measures.fail_if_figures import CONDITION_FIGURES, ConditionResult, check_commands, parse_run_condition
from loadgo.measures.summary import Summary, summarize
from loadgo.notation.comparisons import MOST_NESTED_BRACKETS, ConditionError
from support.synthetic import Work, closed_loop, empty_run, interaction, run_of


@pytest.fixture(scope="module")
def summary() -> Summary:
    """A closed loop of two commands."""
    return summarize(closed_loop(20, 40, [Work("edit", 0.05), Work("cc -o prime", 0.2)], think_s=5.0))


def found(text: str, summary: Summary) -> ConditionResult:
    """The result of the condition `text`."""
    return evaluate(parse_run_condition(text), summary)


def mistake(text: str) -> ConditionError:
    """The mistake in `text`."""
    with pytest.raises(ConditionError) as caught:
        parse_run_condition(text)
    return caught.value


@pytest.mark.parametrize("compare", [">", ">=", "<", "<=", "=", "==", "!="])
def test_figures_are_compared_as_python_compares_them(compare: str, summary: Summary) -> None:
    p90 = summary.command("edit").response.quantile("p90").value_ns
    assert p90 is not None
    for limit_ms in (1, 100_000):
        told = found(f"p90(edit) {compare} {limit_ms}ms", summary)
        assert told.holds is eval(f"{p90} {'==' if compare == '=' else compare} {limit_ms * 1e6}")


@pytest.mark.parametrize("figure", sorted(set(CONDITION_FIGURES.dimensions) - {"throttled"}))
def test_every_figure_of_a_run_can_be_told(figure: str, summary: Summary) -> None:
    unit = {"time": "ms", "rate": "/s"}.get(CONDITION_FIGURES.dimensions[figure], "")
    assert found(f"{figure} > 1000000000{unit}", summary).holds is False
    assert found(f"{figure} >= 0", summary).holds is True


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("errors > 0 or count > 0", True),
        ("errors > 0 and count > 0", False),
        ("count > 0 or count > 0 and errors > 0", True),
        ("(count > 0 or count > 0) and errors > 0", False),
        ("p90('cc -o prime') > 0 and mean(cc -o prime) < 1h", True),
        ("errors > 1%", False),
        ("count(edit) >= 1 AND throughput < 1000/min", True),
    ],
)
def test_and_binds_tighter_than_or_and_brackets_tightest(text: str, holds: bool, summary: Summary) -> None:
    assert found(text, summary).holds is holds


def test_units_are_converted(summary: Summary) -> None:
    mean = summary.everything.response.mean_ns
    assert mean is not None
    for unit, ns in (("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("h", 3.6e12)):
        assert found(f"mean > {mean / ns * 0.99:.12f}{unit}", summary).holds is True
        assert found(f"mean > {mean / ns * 1.01:.12f} {unit}", summary).holds is False


def test_a_finding_says_the_figure_and_the_limit(summary: Summary) -> None:
    assert found("errors > 0", summary) == ConditionResult(False, "errors is 0, not > 0")
    assert found("lateness_p99 < 1ms", summary).text == "lateness_p99 is 20.0 µs, < 1.00 ms"


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "a figure is missing"),
        ("p91 > 1s", 1, "did you mean p99?"),
        ("p90(edit) > 1", 13, "such as 500ms"),
        ("p90 > 1kg", 7, "'1kg' does not fit"),
        ("p90 >", 6, "is compared with a time"),
        ("p90", 4, "must be compared"),
        ("p90 > 1s and", 13, "a figure is missing"),
        ("p90() > 1s", 5, "a command's name is missing"),
        ("(errors > 0", 12, "a `)` is missing"),
        ("errors(edit > 0", 13, "a `)` is missing after the command"),
        ("lost(edit) > 0", 6, "leave the brackets out"),
        ("errors > 0 errors > 1", 12, "`and`, `or` or the end"),
        ("throughput < 5", 14, "such as 5/s"),
        ("cost > 1s", 8, "tariff's currency"),
        ('p90("edit) > 1s', 5, "must end with the same quote"),
        ("errors > 0)", 11, "`and`, `or` or the end"),
    ],
)
def test_a_mistake_names_its_column_and_what_would_be_right(text: str, column: int, says: str) -> None:
    told = mistake(text)
    assert told.column == column
    assert says in told.mistake
    assert str(told).splitlines()[-1].index("^") == 4 + column - 1


def test_a_mistake_can_be_pickled() -> None:
    told = mistake("p91 > 1s")
    copied = pickle.loads(pickle.dumps(told))
    assert (str(copied), copied.column, copied.arguments) == (str(told), 1, ("fail_if",))


def test_an_unknown_command_names_the_known_ones(summary: Summary) -> None:
    with pytest.raises(ConditionError, match="the commands are: edit, cc -o prime") as caught:
        found("count > 0 and p90(edt) > 1s", summary)
    assert caught.value.column == 19
    with pytest.raises(ConditionError, match="the commands are: edit"):
        check_commands(parse_run_condition("p90(edt) > 1s or count > 0"), ["edit"])
    check_commands(parse_run_condition("p90(edit) > 1s or count > 0"), ["edit"])


def test_a_command_that_is_typed_twice_is_named_once() -> None:
    with pytest.raises(ConditionError, match=r"the commands are: edit, compile\n"):
        check_commands(parse_run_condition("p50(x) > 1s"), ["edit", "compile", "edit", "compile"])


def test_a_figure_that_was_not_measured_is_neither_above_nor_below_and_does_not_pass() -> None:
    run = run_of([interaction(1, at, 1) for at in (2, 4, 6)])
    unmeasured = summarize(run)
    for text in ("cpu > 1s", "cpu < 1s", "p99 > 1h", "p99 < 1h"):
        told = found(text, unmeasured)
        assert told.holds is None
        assert told.failed
        assert "cannot be told" in told.text
    assert found("cpu > 1s and count > 100", unmeasured).holds is False
    assert found("cpu > 1s or count > 0", unmeasured).holds is True
    assert found("cpu > 1s or count > 100", unmeasured).holds is None


def test_lines_that_were_never_answered_are_slower_than_any_limit() -> None:
    rows = [interaction(1, at, None if at < 6 else 1) for at in range(2, 22)]
    summary_of_run = summarize(run_of(rows))
    assert found("p90 > 10h", summary_of_run).holds is True
    assert found("max > 10h", summary_of_run).holds is True
    assert found("timeouts = 20%", summary_of_run).holds is True


def test_an_empty_run_passes_no_check_of_its_speed() -> None:
    assert found("p90 > 1s", summarize(empty_run())).failed
    assert not found("errors > 0", summarize(empty_run())).failed


def test_losses_are_counted() -> None:
    run = closed_loop(5, 10)
    lost = pl.DataFrame({"at_ns": [1], "user": [1], "what": ["record"], "count": [3], "reason": ["full"]})
    summary_of_run = summarize(dataclasses.replace(run, lost=lost.cast(run.lost.schema)))
    assert found("lost = 3", summary_of_run).holds is True


@given(st.text(alphabet="p90()<>=! \"'.%/0123456789abcdemnorstu", max_size=40))
def test_any_text_is_a_condition_or_a_mistake_with_a_column(text: str) -> None:
    column = 1
    try:
        parse_run_condition(text)
    except ConditionError as told:
        column = told.column
    assert 1 <= column <= len(text) + 1


def test_a_summary_has_the_result_of_each_condition(summary: Summary) -> None:
    held, missing, broken = with_conditions(summary, ["count > 0", "p90(nobody) > 1s", "p90 >"]).fail_if
    assert (held.condition, held.holds, held.failed) == ("count > 0", True, True)
    assert (missing.holds, missing.failed) == (None, True)
    assert missing.text == "p90(nobody) > 1s cannot be decided: " + (
        "there is no command 'nobody'; the commands are: edit, cc -o prime"
    )
    assert (broken.holds, broken.failed) == (None, True)


@pytest.mark.parametrize("damaged", [None, 3, "p90 > 1s", [3], [{"text": "no condition"}]])
def test_conditions_of_a_damaged_run_are_none(damaged: object) -> None:
    assert conditions_in({"fail_if": damaged}) == ()


@pytest.mark.parametrize("depth", [MOST_NESTED_BRACKETS + 1, 50_000])
def test_too_many_brackets_are_refused_at_their_column(depth: int) -> None:
    refused = mistake("(" * depth + "errors = 0" + ")" * depth)
    assert (refused.column, refused.mistake) == (101, "a condition has at most 100 brackets within each other")


def test_as_many_brackets_as_allowed_change_nothing(summary: Summary) -> None:
    depth = MOST_NESTED_BRACKETS
    text = "(" * depth + "errors = 0" + ")" * depth + " and (errors = 0)"
    assert found(text, summary).holds is found("errors = 0", summary).holds


def test_too_few_samples_say_how_many_there_are_and_how_many_are_needed() -> None:
    few = summarize(closed_loop(4, 12, [Work("edit", 0.05)], think_s=5.0))
    count = few.everything.response.count
    assert 2 <= count < 100
    told = found("p99 > 1s", few)
    assert told == ConditionResult(None, f"p99 cannot be told (too few samples: {count} of the 100 that it needs)")


def test_a_quantile_whose_interval_holds_the_limit_is_decided_by_chance_and_says_so(summary: Summary) -> None:
    p90 = summary.everything.response.quantile("p90")
    assert p90.value_ns is not None
    assert p90.low_ns is not None
    assert p90.high_ns is not None
    within, beyond = (p90.value_ns + p90.high_ns) / 2, 2 * p90.high_ns
    found_open = found(f"p90 > {within:.3f}ns", summary)
    assert found_open.holds is False
    assert found_open.is_open
    assert "but its 95 % interval, " in found_open.text
    assert not found(f"p90 > {beyond:.3f}ns", summary).is_open
    assert found(f"p90 > {within:.3f}ns and p90 > {beyond:.3f}ns", summary).is_open is False
    assert found(f"p90 > {within:.3f}ns or p90 > {beyond:.3f}ns", summary).is_open
    assert not found(f"p90 > {within:.3f}ns or count > 0", summary).is_open


def test_throttled_time_is_not_measured_of_users_without_a_quota(summary: Summary) -> None:
    result = found("throttled > 1h", summary)
    assert (result.holds, result.text) == (None, "throttled cannot be told (not measured)")
