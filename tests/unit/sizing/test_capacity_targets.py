"""Targets parsed from text, and texts that are refused."""

import pytest
from loadgo.notation.comparisons import ConditionError
from loadgo.sizing.targets import check_commands, check_resources, parse_targets


@pytest.mark.parametrize(
    ("text", "measure", "command", "limit", "share"),
    [
        ("p90 < 2s", "p90", None, 2.0, 0.1),
        ("p99.5<=500ms", "p99.5", None, 0.5, 0.005),
        ("mean(edit) < 1min", "mean", "edit", 60.0, None),
        ('p50("cc prime.c") < 2 s', "p50", "cc prime.c", 2.0, 0.5),
        ("errors < 1%", "errors", None, 0.01, None),
        ("busy(drum) < 0.8", "busy", "drum", 0.8, None),
        ("busy < 80%", "busy", "processors", 0.8, None),
        ("throughput > 120/min", "throughput", None, 2.0, None),
    ],
)
def test_a_target_is_parsed(text: str, measure: str, command: str | None, limit: float, share: float | None) -> None:
    (target,) = parse_targets(text)
    assert (target.measure, target.command, target.share) == (measure, command, share)
    assert target.limit == pytest.approx(limit)
    assert target.sense == ("least" if ">" in text else "most")


def test_several_targets_may_be_in_one_text() -> None:
    assert [target.text for target in parse_targets("p90 < 2s and errors < 1%, busy < 90%")] == [
        "p90 < 2s",
        "errors < 1%",
        "busy < 90%",
    ]
    assert len(parse_targets(["p90 < 2s", "p90 < 2s"])) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p90 2s", "p90 must be compared, with one of"),
        ("p95x < 2s", "did you mean p95?"),
        ("smoothness < 2s", "no figure; there are mean, p50"),
        ("p100 < 2s", "between p0 and p100"),
        ("p90 < 2", "a time with its unit"),
        ("p90 < 2%", "'2%' does not fit: p90 is compared with a time"),
        ("p90 > 2s", "a ceiling, not a floor"),
        ("p90 = 2s", "a target is a limit: write < or >"),
        ("errors < 100%", "less than 100 %"),
        ("p90 < 0s", "the limit must be more than 0: a time"),
        ("throughput(edit) > 1/s", "leave the brackets out"),
        ("throughput > 1s", "a rate, such as 5/s"),
        ("", "no target is given"),
    ],
)
def test_a_text_that_is_not_a_target_is_refused_with_a_remedy(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_targets(text)
    assert words in str(refused.value)


def test_a_mistake_in_a_target_shows_its_column() -> None:
    with pytest.raises(ConditionError) as refused:
        parse_targets("p90 < 2s and mean(cc -o p) >= 1s")
    assert str(refused.value) == (
        "`target`, column 28: mean has a ceiling, not a floor: write <\n"
        "    p90 < 2s and mean(cc -o p) >= 1s\n"
        f"    {' ' * 27}^"
    )
    with pytest.raises(ConditionError, match="there is no command 'cc -o p'") as refused:
        check_commands(parse_targets("p90 < 2s and mean( cc  -o p) < 1s"), ["edit"])
    assert refused.value.text == "mean( cc -o p) < 1s"
    assert refused.value.column == 7


def test_a_floor_above_a_ceiling_of_the_same_measure_contradicts() -> None:
    with pytest.raises(ValueError, match="contradict"):
        parse_targets("throughput > 5/s and throughput < 3/s")


def test_unknown_commands_and_resources_are_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="the commands are: edit, run"):
        check_commands(parse_targets("p90(compile) < 1s"), ["edit", "run"])
    with pytest.raises(ValueError, match="the resources are: processors, drum"):
        check_resources(parse_targets("busy(disk) < 50%"), ["processors", "drum"])
    check_commands(parse_targets("p90(edit) < 1s, busy(drum) < 50%"), ["edit", "run"])
