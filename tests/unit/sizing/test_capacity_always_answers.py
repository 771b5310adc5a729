"""A search on a host with other work: it always answers with what is known, its confidence, and what would help."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.errors import BadRun
from loadgo.measures.tariff import load_tariff
from loadgo.records.tables import Tables
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.search import trial_log
from loadgo.sizing.search.narrowing import narrowing_of
from loadgo.sizing.search.outcomes import CapacityFound, NextTrial, NoNumberMeets, SearchGoal, Undecided
from loadgo.sizing.search.points import points_of
from loadgo.sizing.search.results import TrialRecord
from loadgo.sizing.search.rounds import SearchResult, TrialLength, run_search
from loadgo.sizing.search.search import next_step, outcome_so_far
from loadgo.sizing.search.standing import known_range, target_standing
from loadgo.sizing.search.trial_log import MOST_INVALID_TRIALS, REPEAT_PAUSES_S
from loadgo.sizing.search.trials import CapacityTrial, TrialQuestions, trial_from
from loadgo.sizing.search.validity import late_lines
from loadgo.sizing.targets import parse_targets
from support.capacity_results import capacity_of, table_titled
from support.known_capacity import exacts
from support.made_trials import made_trial, slow_share
from support.synthetic import Work, closed_loop

GOAL = SearchGoal(parse_targets("p90 < 1s"), 32, None, 200_000, 8, live=True)
LATE = "9 of 40 lines were sent too late"
MakeTrial = Callable[[NextTrial, int], CapacityTrial]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the pauses before a trial is repeated."""
    monkeypatch.setattr(trial_log, "REPEAT_PAUSES_S", (0.0,) * len(REPEAT_PAUSES_S))


def searched(make: MakeTrial, goal: SearchGoal = GOAL, seed: int = 1) -> SearchResult:
    """The result of a search on a host whose trials come from `make`."""

    def run_trial(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        return make(step, seed)

    return run_search(run_trial, goal, seed=seed)


def run_with(late_lines: int = 0, late_ns: int = 0, lost: int = 0) -> Tables:
    """A run with this many lines sent late by `late_ns`, and stopped with `lost` lines in flight."""
    run = closed_loop(6, 60, [Work("edit", 0.1)])
    due = pl.when(pl.int_range(pl.len()) % (len(run.interactions) // max(late_lines, 1)) == 0) if late_lines else None
    rows = run.interactions
    if due is not None:
        planned = due.then(pl.col("planned_ns").cast(pl.Int64) - late_ns).otherwise(pl.col("planned_ns").cast(pl.Int64))
        rows = rows.with_columns(planned.clip(0).cast(rows.schema["planned_ns"]).alias("planned_ns"))
    reason = "the run was stopped before the system was ready again"
    losses = pl.DataFrame({"at_ns": [1], "user": [None], "what": ["interaction"], "count": [lost], "reason": [reason]})
    return replace(run, interactions=rows, lost=losses.cast(run.lost.schema) if lost else run.lost)


def trial_of(run: Tables, *, cut_short: bool = False, target: str = "p90 < 1s") -> CapacityTrial:
    """The trial that has these records."""
    targets = parse_targets(target)
    return trial_from(run, TrialQuestions(6, "seed 1", targets, {"processors": 1}, load_tariff(), cut_short))


def test_the_reason_for_a_wide_interval_is_no_number_of_users_far_above_it() -> None:
    """With 24 users no trial is valid; the search below ends at its largest number of trials."""

    def make(step: NextTrial, seed: int) -> CapacityTrial:
        return made_trial(step.users, 400, slow_share(step.users, 10), seed, why=LATE if step.users >= 24 else "")

    result = searched(make, replace(GOAL, max_users=64, most_trials=10))
    assert isinstance(result.outcome, CapacityFound)
    assert any(trial.users == 24 for trial in result.left_out)
    assert result.outcome.high < 23
    assert (result.outcome.enough, result.outcome.why) == (False, "10 trials were too few")


def test_a_range_below_the_numbers_without_a_valid_trial_keeps_its_reason() -> None:
    """The response jumps from 10 to 11 users, so no line fits; with 24 users no trial is valid."""

    def make(step: NextTrial, seed: int) -> CapacityTrial:
        share = 0.01 if step.users <= 10 else 0.9
        return made_trial(step.users, 400, share, seed, why=LATE if step.users >= 24 else "")

    result = searched(make, replace(GOAL, max_users=64, most_trials=6))
    assert isinstance(result.outcome, Undecided)
    assert result.outcome.high is not None
    assert result.outcome.high < 23
    assert result.outcome.why == "6 trials were too few"


def test_lines_in_flight_when_a_trial_is_ended_on_purpose_are_no_lost_records() -> None:
    early = trial_of(run_with(lost=30), cut_short=True)
    assert (early.valid, early.lost, early.censored) == (True, 0, 30)
    broken = trial_of(run_with(lost=30))
    assert (broken.valid, broken.lost, broken.censored) == (False, 30, 0)
    assert broken.why.startswith("30 records were lost of")


def test_a_few_late_lines_are_counted_and_make_no_trial_invalid() -> None:
    trial = trial_of(run_with(late_lines=17, late_ns=80_000_000))
    assert trial.valid
    assert trial.late == pytest.approx(0.05 * trial.counted, rel=0.3)
    assert trial_of(run_with()).late == 0


def test_a_line_is_late_from_a_twentieth_of_the_shortest_limit_on() -> None:
    targets = parse_targets("p90 < 1000s, mean < 2000s")
    made = run_with().interactions.head(2)
    rows = made.with_columns(pl.Series("lateness_ns", [50_000_000_000, 50_000_000_001]), response_ns=pl.lit(1_000_000))
    assert late_lines(rows, targets) == 1
    assert late_lines(rows, parse_targets("throughput > 1/s")) == 2, "without a limit on responses, 1 ms"


def test_a_late_line_near_the_limit_is_in_no_share_of_slow_lines() -> None:
    prompt, late = trial_of(run_with()), trial_of(run_with(late_lines=17, late_ns=10_000_000_000))
    assert prompt.unclear == 0
    assert 0 < late.unclear <= late.late
    assert late.tallies[0].weight == prompt.tallies[0].weight - late.unclear


def test_many_late_lines_make_a_trial_invalid_with_the_count() -> None:
    trial = trial_of(run_with(late_lines=90, late_ns=80_000_000))
    assert not trial.valid
    assert trial.why.startswith(f"{trial.late} of {trial.counted} lines were sent too late")


def test_a_target_below_what_a_line_takes_is_missed_and_not_blamed_on_late_lines() -> None:
    """Every line is late by over a twentieth of a microsecond, on any host."""
    target = "p90 < 1us"
    trial = trial_of(run_with(late_lines=360, late_ns=90_000), target=target)
    assert (trial.valid, trial.why, trial.late) == (True, "", 0)
    assert trial.tallies[0].ratio == 1.0
    late = trial_of(run_with(late_lines=360, late_ns=2_000_000), target=target)
    assert (late.valid, late.late) == (False, late.counted), "later than 1 ms is late for every target"


def test_an_answer_says_that_a_target_cannot_be_met_and_what_to_do() -> None:
    goal = replace(GOAL, targets=parse_targets("p90 < 1us"))
    alone = replace(trial_of(run_with(), target="p90 < 1us"), users=1)
    assert next_step([alone], goal) == NoNumberMeets(0)
    words = answer_of(NoNumberMeets(0), points_of([alone], goal), goal).in_words
    assert words.startswith("No number of users meets p90 < 1us: with one user p90 is ")
    assert "so the target cannot be met here: set its limit above what an interaction takes alone" in words


def test_small_delays_that_add_up_make_a_trial_invalid_with_their_share_of_the_time() -> None:
    """No line is late by a twentieth of the limit of 100 s."""
    trial = trial_of(run_with(late_lines=360, late_ns=2_000_000_000), target="p90 < 100s")
    assert (trial.valid, trial.late) == (False, 0)
    assert trial.why.startswith("the users waited ")
    assert "of their time for the driver, so that the load was less than asked" in trial.why


def test_a_trial_that_is_not_valid_is_repeated_and_keeps_its_reason() -> None:
    made: list[int] = []

    def make(step: NextTrial, seed: int) -> CapacityTrial:
        made.append(step.users)
        why = LATE if len(made) in (2, 3) else ""
        return made_trial(step.users, 400, slow_share(step.users, 8), seed, why=why)

    found = searched(make)
    assert made[1] == made[2] == made[3]
    assert [trial.why for trial in found.left_out] == [LATE, LATE]
    assert [trial.valid for trial in found.in_order[:4]] == [True, False, False, True]
    assert len(found.in_order) == GOAL.most_trials
    assert isinstance(found.outcome, CapacityFound | Undecided)
    assert found.outcome.low <= 8 <= (found.outcome.high or 0)


def test_with_more_users_than_the_driver_can_serve_the_answer_is_from_fewer() -> None:
    """From 16 users on no trial is valid: the search goes on with fewer users, and gives the reason."""

    def make(step: NextTrial, seed: int) -> CapacityTrial:
        return made_trial(step.users, 400, 0.001, seed, why=LATE if step.users > 15 else "")

    found = searched(make, replace(GOAL, most_trials=24))
    assert isinstance(found.outcome, Undecided)
    assert found.outcome.low == max(trial.users for trial in found.trials)
    assert 9 <= found.outcome.low <= 15
    assert (found.outcome.high, found.outcome.confidence) == (None, 0.95)
    assert LATE in found.outcome.why
    assert sum(not trial.valid for trial in found.left_out) <= MOST_INVALID_TRIALS


@pytest.mark.parametrize(
    ("users", "count", "slow", "expected"),
    [
        (
            3,
            5,
            0.0,
            "At least 3 users, more likely than not: 2 trials were too few. With 3 "
            "users 0.0 % of 5 lines take longer than 1.00 s.",
        ),
        (
            8,
            200,
            0.2,
            "1 to 7 users, more likely than not: 2 trials were too few. With one user "
            "0.0 % of 3 lines take longer than 1.00 s. With 8 users p90 is ",
        ),
        (
            8,
            5,
            0.5,
            "At most 7 users, perhaps none, with 80 % confidence: 2 trials were too few. With one user 0.0 % of "
            "3 lines take longer than 1.00 s. With 8 users 40.0 % of 5 lines take longer than 1.00 s.",
        ),
    ],
)
def test_two_trials_without_an_interval_say_who_met_the_target(
    users: int, count: int, slow: float, expected: str
) -> None:
    """Three interactions without a slow one do not say that probably not even one user meets the target."""
    trials = [made_trial(1, 3, 0.0, seed=1), made_trial(users, count, slow, seed=2)]
    outcome = outcome_so_far(trials, GOAL, "2 trials were too few")
    assert answer_of(outcome, points_of(trials, GOAL), GOAL).in_words.startswith(expected)


def test_without_a_valid_trial_the_answer_has_no_confidence() -> None:
    found = searched(lambda step, seed: made_trial(step.users, 400, slow_share(step.users, 8), seed, why=LATE))
    assert found.trials == ()
    assert isinstance(found.outcome, Undecided)
    assert found.outcome.confidence == 0.0
    assert found.outcome.low == 4
    invalid = tuple(trial.why for trial in found.left_out)
    answer = answer_of(found.outcome, points_of(found.left_out, GOAL), GOAL, AnswerContext(invalid=invalid))
    assert answer.in_words.startswith(
        "The capacity is not known. By the figures of trials that are not valid, it is at least 4 users. With 4 users"
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BadRun("its folder is full"), "its folder is full"),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/trial"), "/tmp/trial: No space left on device"),
    ],
    ids=["of loadgo", "of the system"],
)
def test_an_error_of_a_later_trial_ends_the_search_with_what_is_known(error: Exception, reason: str) -> None:
    made: list[int] = []

    def make(step: NextTrial, seed: int) -> CapacityTrial:
        made.append(step.users)
        if len(made) == 5:
            raise error
        return made_trial(step.users, 400, slow_share(step.users, 8), seed)

    found = searched(make)
    assert len(found.trials) == 4
    assert isinstance(found.outcome, CapacityFound | Undecided)
    assert found.outcome.why.endswith(f"users failed: {reason}")
    with pytest.raises(BadRun):
        searched(lambda step, seed: (_ for _ in ()).throw(BadRun("the first")))


def test_numbers_of_users_on_both_sides_of_the_limit_give_a_range_with_its_confidence() -> None:
    """No line was slow with 15 users, and 96.8 % were slow with 26."""
    trials = [made_trial(15, 300, 0.0, 1), made_trial(26, 250, 0.968, 2)]
    known = known_range(trials, GOAL, "8 trials were too few")
    assert (known.low, known.high, known.confidence) == (15, 25, 0.95)
    answer = answer_of(known, points_of(trials, GOAL), GOAL)
    assert (answer.end, answer.interval) == ("range", (15, 25))
    assert answer.in_words.startswith("15 to 25 users, with 95 % confidence: 8 trials were too few.")


def test_short_trials_carry_less_confidence_and_say_so() -> None:
    trials = [made_trial(6, 40, 0.0, 1), made_trial(20, 40, 0.35, 2)]
    known = known_range(trials, GOAL, "2 trials were too few")
    assert (known.low, known.high, known.confidence) == (6, 19, 0.8)
    words = answer_of(known, points_of(trials, GOAL), GOAL).in_words
    assert words.startswith("6 to 19 users, with 80 % confidence: 2 trials were too few.")


def test_a_range_covers_trials_that_contradict_each_other() -> None:
    slow = {5: 0.0, 8: 0.5, 10: 0.0, 14: 0.6}
    trials = [made_trial(users, 400, share, users) for users, share in slow.items()]
    known = known_range(trials, GOAL, "")
    assert known.low == 5
    assert known.high == 13


def test_only_an_answer_without_any_trial_has_no_range() -> None:
    nothing = answer_of(Undecided(0, None, "the search was stopped", 0.0), (), GOAL, AnswerContext(stopped=True))
    assert (nothing.interval, nothing.in_words) == (None, "The capacity is not known: the search was stopped.")
    one = [made_trial(4, 400, 0.1, 1)]
    assert answer_of(known_range(one, GOAL, "1 trial was too few"), points_of(one, GOAL), GOAL).interval


@pytest.mark.parametrize("others", [None, 0.5])
def test_a_wide_answer_says_how_many_more_trials_would_narrow_it(others: float | None) -> None:
    def make(step: NextTrial, seed: int) -> CapacityTrial:
        return made_trial(step.users, 150, slow_share(step.users, 8), seed, others=others)

    found = searched(make)
    narrowing = narrowing_of(found.outcome, found.trials, GOAL)
    assert narrowing is not None
    assert narrowing.trials >= 1
    assert narrowing.seconds in {trial.seconds for trial in found.trials}
    assert isinstance(found.outcome, CapacityFound | Undecided)
    assert found.outcome.low <= narrowing.least_users <= narrowing.most_users
    assert "more trial" in narrowing.in_words
    assert narrowing_of(CapacityFound(8, 8, 8, 0, enough=True), found.trials, GOAL) is None


def test_trials_that_differ_by_themselves_give_intervals_that_hold() -> None:
    """Other work slows some trials, and each trial differs by itself: 40 searches of 8 trials, for 8 users."""
    holding_searches = 0
    for seed in range(40):
        random = np.random.default_rng([seed, 7])

        def make(step: NextTrial, place: int, random: np.random.Generator = random) -> CapacityTrial:
            others = float(random.uniform(0.2, 0.8))
            effect = 0.4 * random.standard_normal() + 2.0 * (others - 0.5)
            return made_trial(step.users, 200, slow_share(step.users, 8, effect), place, others=others)

        outcome = searched(make, seed=1000 * seed).outcome
        assert isinstance(outcome, CapacityFound | Undecided)
        holding_searches += outcome.low <= 8 and (outcome.high is None or outcome.high >= 8)
    assert holding_searches >= 37


def test_the_page_shows_each_trial_and_the_json_always_has_its_keys() -> None:
    record = TrialRecord(
        users=7, name="a", seconds=15.0, interactions=40, standing="open", others=0.41, used=False, valid=False,
        why=LATE, cut_short=False, interrupted=False, censored=0, late=9, unclear=1,
    )  # fmt: skip
    early = replace(record, valid=True, why="", used=True, cut_short=True, censored=5, standing="missed")
    quiet = capacity_of(exacts(5, 15, 25))
    shown_capacity = replace(quiet, each_trial=(record, early))
    table = table_titled(shown_capacity, "Trials, in order").rows()
    assert "not valid" in table[0][-1]
    assert "41.0 %" in table[0]
    assert "ended early, 5 lines in flight" in table[1][-1]
    for form in ("text", "html", "md"):
        assert "ended early, 5 lines in flight" in " ".join(shown_capacity.report(form, width=200).split())
    for capacity in (quiet, shown_capacity):
        keys = json.loads(capacity.report("json"))
        assert {"each_trial", "neighbours", "narrowing", "confidence", "interval"} <= keys.keys()
    shown = json.loads(shown_capacity.report("json"))["each_trial"][0]
    assert (shown["others"], shown["why"], shown["late"], shown["used"]) == (0.41, LATE, 9, False)


def test_a_trial_that_is_not_valid_neither_meets_nor_misses_a_target() -> None:
    assert target_standing(4, [made_trial(4, 400, 0.0, 1)], GOAL) == "met"
    assert target_standing(4, [made_trial(4, 400, 0.0, 1, why=LATE)], GOAL) == "open"


@pytest.mark.parametrize(("late", "is_named"), [(9, True), (1, False)])
def test_a_driver_that_was_late_in_trials_that_count_lowers_the_trust(late: int, is_named: bool) -> None:
    record = TrialRecord(
        users=7, name="a", seconds=15.0, interactions=400, standing="met", others=0.01, used=True, valid=True,
        why="", cut_short=False, interrupted=False, censored=0, late=late, unclear=0,
    )  # fmt: skip
    shown = replace(capacity_of(exacts(5, 15, 25)), each_trial=(record,))
    trust = " ".join(str(shown.report("text", width=200)).split()).partition("Trust: ")[2]
    assert (f"the driver sent {late} of 400 lines late" in trust) == is_named
    unused = replace(shown, each_trial=(replace(record, used=False),))
    assert "lines late" not in str(unused.report("text", width=200))
