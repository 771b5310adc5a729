"""The line on trust: its word, and what the records and the hosts of runs say for and against their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loadgo.measures.audit import Loss
from loadgo.measures.other_work import OtherWork
from loadgo.measures.run_evidence import evidence_of
from loadgo.measures.run_warnings import RunFacts, facts_in, run_warnings
from loadgo.measures.summary import summarize
from loadgo.measures.trust import A_MODEL, Evidence, effect_on, trust_in_words
from support.synthetic import Work, closed_loop


@pytest.fixture(scope="module")
def good() -> RunFacts:
    """The facts about a long quiet run on a host."""
    return facts_in(summarize(closed_loop(20, 30, [Work("edit", 0.05)], think_s=2.0)))


@pytest.mark.parametrize(
    ("evidence", "is_warned", "is_low", "line"),
    [
        (Evidence((), ("nothing lost",)), False, False, "high. Nothing lost."),
        (Evidence(), False, False, "high."),
        (Evidence(("one run",), ("nothing lost",)), False, False, "moderate: one run. What holds: nothing lost."),
        (Evidence(("one run",)), False, True, "low: one run."),
        (
            Evidence(("one run",), ("nothing lost",)),
            True,
            False,
            "low: the warnings above say why; one run. What holds: nothing lost.",
        ),
    ],
)
def test_the_word_follows_from_warnings_and_doubts(
    evidence: Evidence, is_warned: bool, is_low: bool, line: str
) -> None:
    assert trust_in_words(evidence, is_warned=is_warned, is_low=is_low) == f"Trust: {line}"


@pytest.mark.parametrize(
    ("against", "is_warned", "line"),
    [
        ((), False, "high. They cannot tell whether B changes CPU. Nothing lost."),
        (
            ("one run",),
            False,
            "moderate: one run. They cannot tell whether B changes CPU. What holds: ",
        ),
        ((), True, "low: the warnings above say why. They cannot tell whether B changes CPU. "),
    ],
)
def test_where_a_part_of_the_answer_cannot_be_told_the_trust_is_in_the_data(
    against: tuple[str, ...], is_warned: bool, line: str
) -> None:
    """`Trust: high` below `cannot tell` read as if the answer were sure."""
    evidence, untold = Evidence(against, ("nothing lost",), A_MODEL), effect_on(["CPU"])
    shown = trust_in_words(evidence, is_warned=is_warned, untold=untold)
    assert shown.startswith(f"Trust in the data: {line}")
    assert shown.endswith(f" {A_MODEL}.")
    assert trust_in_words(evidence, is_warned=is_warned).startswith("Trust: ")
    assert effect_on([]) == ""
    alone = trust_in_words(Evidence(), is_warned=False, untold=untold)
    assert alone == "Trust in the data: high. They cannot tell whether B changes CPU."


def test_of_several_runs_the_worst_counts(good: RunFacts) -> None:
    quiet, disturbed = (replace(good, other_work=OtherWork(share)) for share in (0.01, 0.07))
    assert evidence_of([quiet]).grounds[-1] == "the host was quiet"
    both = evidence_of([quiet, disturbed])
    assert both.against == ("other programs had up to 7.0 % of the processors' time",)
    assert "the host was quiet" not in both.grounds
    assert any(ground.startswith("lines were typed on time (at most ") for ground in both.grounds)


def test_a_run_on_a_simulated_machine_is_called_a_model(good: RunFacts) -> None:
    simulated = replace(good, system={"kind": "machine"}, other_work=None)
    evidence = evidence_of([simulated])
    assert evidence.scope == A_MODEL
    assert A_MODEL not in evidence.grounds, "it is no merit"
    assert trust_in_words(evidence, is_warned=False).endswith(f"no record lost. {A_MODEL}.")
    assert evidence.and_also(["one run"]).scope == A_MODEL
    assert evidence_of([good]).scope == evidence_of([good, simulated]).scope == ""


def test_other_work_that_is_not_known_on_another_host_lowers_the_trust(good: RunFacts) -> None:
    """Where the meters there were lost, a busy host has no warning. That must not look like a quiet one."""
    lost = replace(good, system={"kind": "host", "name": "ssh://login1"}, other_work=None)
    assert evidence_of([lost]).against == ("how much other programs used on ssh://login1 is not known",)
    assert trust_in_words(evidence_of([lost]), is_warned=False).startswith("Trust: moderate: ")
    assert not evidence_of([replace(lost, is_metering=True)]).against


def test_lines_without_an_answer_lower_the_trust(good: RunFacts) -> None:
    """The lines of several runs are counted together."""
    assert good.sent > 0
    assert good.unanswered == 0
    some = replace(good, sent=1_000, unanswered=51)
    (doubt,) = evidence_of([some]).against
    assert doubt == "51 of 1,000 lines had no answer"
    assert evidence_of([some, replace(some, sent=200, unanswered=1)]).against == ("52 of 1,200 lines had no answer",)
    assert trust_in_words(evidence_of([some]), is_warned=False).startswith(f"Trust: moderate: {doubt}. ")


def test_a_machine_that_was_fitted_to_other_numbers_of_users_is_doubted(good: RunFacts) -> None:
    (doubt,) = evidence_of([replace(good, fitted_users=(5, 10))]).against
    assert doubt.startswith("the machine was fitted to runs with 5 and 10 users")


def test_what_is_lost_or_late_is_no_ground(good: RunFacts) -> None:
    late = replace(good, driver=replace(good.driver, lateness_p99_ns=5e6, late_lines=9))
    assert not any("typed on time" in ground for ground in evidence_of([good, late]).grounds)
    assert "no record lost" in evidence_of([good]).grounds


def test_lost_records_are_told_before_the_driver_and_other_work(good: RunFacts) -> None:
    """The figures' coverage comes first. Where records are lost, that can be why a law is broken."""
    late = replace(good.driver, host_share=0.2)
    lost = Loss("record", "No space left on device", 7)
    audit = None if good.audit is None else replace(good.audit, verdict="broken")
    bad = replace(good, finished=False, driver=late, losses=(lost,), audit=audit, other_work=OtherWork(0.9))
    warnings = run_warnings(bad)
    assert [text.partition(":")[0] for text in warnings[:3]] == [
        "The run was cut off (loadgo was killed, or could write no more)",
        "7 records are lost",
        "INVALID",
    ]
    assert "busy with other things" in warnings[3]
    assert "Lost records can be the cause" in warnings[4]
