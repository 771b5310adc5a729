"""The rounds of a search over a limit: trials that fail, that are not valid, or that are interrupted."""

import errno
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.errors import BadRun
from loadgo.running.prepared import RunSettings
from loadgo.sizing.knobs.find import result_of
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.knobs.rounds import KnobRounds, run_knob_rounds
from loadgo.sizing.knobs.search import first_values
from loadgo.sizing.search import trial_log
from loadgo.sizing.search.trial_log import MOST_INVALID_TRIALS
from loadgo.sizing.search.trials import CapacityTrial
from support.made_knobs import GOAL, KNOB, search_of, searched, slow_at
from support.made_trials import made_trial

LATE = "9 of 40 lines were sent too late"
MakeTrial = Callable[[float, int], CapacityTrial]


def rounds_of(make: MakeTrial) -> KnobRounds:
    """The rounds of a search whose trials come from `make`."""
    return run_knob_rounds(make, KNOB, GOAL, threading.Event())


def made_at(value: float, index: int, *, why: str = "") -> CapacityTrial:
    return made_trial(60, 400, slow_at(value), index, why=why)


def answered(rounds: KnobRounds, **changes: object) -> KnobCapacity:
    search = search_of(**changes)
    return result_of(search, search.site_at(8.0), GOAL, rounds)


@pytest.fixture
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the pauses before a trial is repeated."""
    monkeypatch.setattr(trial_log, "REPEAT_PAUSES_S", (0.0, 0.0))


def test_a_trial_that_fails_ends_the_search_with_what_failed_and_what_is_known() -> None:
    def make(value: float, index: int) -> CapacityTrial:
        if index == 4:
            raise OSError(errno.ENOSPC, "No space left on device", "/tmp/trial")
        return made_at(value, index)

    rounds = rounds_of(make)
    assert [each.value for each in rounds.trials] == first_values(KNOB)[:4]
    told = answered(rounds)
    failed = "a trial with cpus=3.36 failed: /tmp/trial: No space left on device"
    assert told.why == failed
    assert told.in_words.endswith(f"The search ended early: {failed}.")
    assert (told.end, told.interval is not None) == ("found", True)
    assert json.loads(told.report("json"))["why"] == failed
    assert "the search ended early" in " ".join(told.report("text").split())


def test_an_error_of_the_first_trial_is_raised() -> None:
    with pytest.raises(BadRun, match="its folder is full"):
        rounds_of(lambda value, index: (_ for _ in ()).throw(BadRun("its folder is full")))


@pytest.mark.usefixtures("_no_pauses")
def test_a_trial_that_is_not_valid_is_repeated_and_its_reason_is_kept() -> None:
    rounds = rounds_of(lambda value, index: made_at(value, index, why=LATE if index in (1, 2) else ""))
    tried = [(each.value, each.trial.valid) for each in rounds.in_order[:4]]
    assert tried == [(1.41, True), (8, False), (8, False), (8, True)]
    assert (rounds.why, rounds.given_up, len(rounds.left_out)) == ("", (), 2)
    told = answered(rounds)
    assert told.end == "found"
    assert [record.used for record in told.each_trial[:4]] == [True, False, False, True]
    assert told.notes == (f"a trial with cpus=8, which is not valid: {LATE}.",) * 2
    assert LATE in " ".join(told.report("text").split())


@pytest.mark.usefixtures("_no_pauses")
def test_a_value_without_a_valid_trial_is_given_up_and_the_search_goes_on() -> None:
    """The upper end is never valid: the targets are met below, and nothing is claimed about the whole range."""

    def make(value: float, index: int) -> CapacityTrial:
        return made_trial(60, 400, 0.001, index, why=LATE if value == 8 else "")

    rounds = rounds_of(make)
    assert [each.value for each in rounds.trials] == [1.41, 0.25, 0.595, 3.36]
    assert rounds.given_up == (f"with cpus=8 is valid: {LATE}",)
    told = answered(rounds)
    assert (told.end, told.answer, told.why) == ("open", 3.36, "")
    assert told.in_words == (
        "Every tried value from 0.25 processors to 3.4 processors each keeps p90 < 1s. "
        f"No trial with cpus=8 is valid: {LATE}."
    )


@pytest.mark.usefixtures("_no_pauses")
def test_without_any_valid_trial_the_search_ends_soon_and_decides_nothing() -> None:
    rounds = rounds_of(lambda value, index: made_at(value, index, why=LATE))
    assert len(rounds.in_order) == MOST_INVALID_TRIALS
    told = answered(rounds)
    assert (told.end, told.answer, told.recommended) == ("open", None, ())
    assert "--shortest" not in told.in_words
    assert told.in_words.endswith("The search ended early: 6 trials were not valid.")
    assert f"No trial is valid: {LATE}." in " ".join(told.report("text").split())


def test_an_interrupted_trial_is_left_out_and_the_search_is_called_stopped() -> None:
    stop = threading.Event()

    def make(value: float, index: int) -> CapacityTrial:
        if index == 3:
            stop.set()
        return replace(made_at(value, index), cut_short=index == 3)

    rounds = run_knob_rounds(make, KNOB, GOAL, stop)
    assert (rounds.stopped, rounds.why, len(rounds.trials)) == (True, "", 3)
    assert [each.trial.interrupted for each in rounds.left_out] == [True]
    assert answered(rounds).end == "stopped"


def test_a_search_without_a_complete_trial_says_so() -> None:
    stop = threading.Event()
    stop.set()
    told = answered(run_knob_rounds(made_at, KNOB, GOAL, stop))
    assert told.in_words.startswith("Not decided: no trial was complete")
    text = " ".join(told.report("text").split())
    assert "Trials none was complete." in text.replace(":", "")


def test_a_result_that_cannot_be_written_is_a_note_and_the_answer_is_kept(tmp_path: Path) -> None:
    blocked = tmp_path / "out"
    blocked.write_text("a file where the folder should be")
    told = answered(KnobRounds(tuple(searched(3)), ()), out=blocked)
    assert told.end == "found"
    assert told.folder is None
    assert told.notes[0].startswith("capacity-of-limit.json: the result could not be written to ")


def test_the_settings_in_words_have_all_that_the_trials_have_but_the_limit_that_is_varied() -> None:
    settings = RunSettings(think="fixed(1s)", typing="12 chars/s", limit="memory=4G", meters="none")
    told = answered(KnobRounds(tuple(searched(3)), ()), settings=settings, limit_each=["pids=200", "hog-cpu:nice=5"])
    assert told.settings == (
        "think fixed(1s)",
        "typing 12 chars/s",
        "limit memory=4G",
        "limit-each pids=200",
        "meters none",
        "limit-each hog-cpu:nice=5",
    )
