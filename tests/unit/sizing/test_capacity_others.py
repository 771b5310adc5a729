"""Others on a host in a search for the capacity: their time is no demand of the users, and the answer says of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.measures.tariff import load_tariff
from loadgo.records.tables import Tables
from loadgo.sizing.answer import AnswerContext, answer_of, first_saturation
from loadgo.sizing.curve import LoadPoint
from loadgo.sizing.models.models import Models, models_of
from loadgo.sizing.near_line import find_crossing, quiet_crossing
from loadgo.sizing.neighbours import neighbours_in_words, neighbours_of, with_quiet_capacity
from loadgo.sizing.outcomes import CapacityFound, SearchGoal, Undecided
from loadgo.sizing.points import point_of
from loadgo.sizing.results import Neighbours
from loadgo.sizing.targets import parse_targets
from loadgo.sizing.trials import CapacityTrial, TrialQuestions, trial_from
from support.capacity_results import capacity_of, rows_by_name, table_titled
from support.known_capacity import MEAN, SERVERS, exact, exacts
from support.made_trials import made_trial, slow_share
from support.synthetic import S, Work, closed_loop

USERS = (5, 15, 25)
OWN_S = 0.6
WANTED = SearchGoal((MEAN,), 100, None, 10**6, 60, live=True)
SHARE_GOAL = replace(WANTED, targets=parse_targets("p90 < 1s"))


def on_busy_host(users: int, others: float) -> LoadPoint:
    """The central server's point, on a host whose processors others keep busy for this share besides."""
    quiet = exact(users)
    busy = {**quiet.utilisation, "processors": min(0.96, quiet.utilisation["processors"] + others)}
    return replace(quiet, utilisation=busy, users_cpu_s=OWN_S, others=others)


def models(*points: LoadPoint) -> Models:
    """The models of these points."""
    told = models_of(points, SERVERS)
    assert told is not None
    return told


def beside_others(run: Tables, share: float) -> Tables:
    """The run on a host on which others take this share of the processors' idle time."""
    idle = pl.when(pl.col("category").cast(pl.String) == "idle").then(pl.col("time_ns"))
    taken = (idle.max().over("at_ns", "processor") * share).cast(pl.Int64)
    change = (
        pl.when(pl.col("category").cast(pl.String) == "idle")
        .then(-taken)
        .when(pl.col("category").cast(pl.String) == "user")
        .then(taken)
        .otherwise(0)
    )
    time = run.time.with_columns(time_ns=(pl.col("time_ns").cast(pl.Int64) + change).cast(run.time.schema["time_ns"]))
    return replace(run, time=time)


def tried(run: Tables) -> CapacityTrial:
    """A trial of 6 users that left these records."""
    return trial_from(run, TrialQuestions(6, "seed 1", parse_targets("mean < 3s"), {"processors": 2}, load_tariff()))


def test_what_an_interaction_asks_of_the_processors_is_the_users_own_time() -> None:
    processors = models(*(on_busy_host(users, 0.004 * users) for users in USERS)).demands[0]
    assert processors.seconds == pytest.approx(OWN_S / (1 - 0.02), rel=1e-9)
    assert not processors.grows
    charged = models(*(replace(one, users_cpu_s=None, others=None) for one in (on_busy_host(n, 0.3) for n in USERS)))
    assert charged.demands[0].most_s > 1.2 * OWN_S


def test_what_others_keep_whatever_the_users_do_slows_the_rest_and_is_told() -> None:
    told = models(*(on_busy_host(users, share) for users, share in zip(USERS, (0.4, 0.25, 0.2), strict=True)))
    processors = told.demands[0]
    assert processors.background == pytest.approx(0.2)
    assert processors.seconds == pytest.approx(OWN_S / 0.8)
    assert any(note.startswith("20% of processors is taken by others") for note in told.notes)


def test_the_resource_that_is_full_first_is_one_number_everywhere() -> None:
    capacity_result = capacity_of(exacts(5, 15, 30, 34))
    first = first_saturation(capacity_result.models)
    assert capacity_result.models is not None
    assert first is not None
    assert (first.resource, first.users) == ("processors", capacity_result.models.saturation_users)
    answer = answer_of(CapacityFound(34, 34, 34, 0, enough=True), capacity_result.points, WANTED, AnswerContext(first))
    assert "Processors would be saturated first, from 37.3 users on." in answer.in_words
    assert rows_by_name(table_titled(capacity_result, "Service demands"))["processors"][-1] == "37.3 users"


def test_a_trial_tells_the_users_time_from_that_of_others() -> None:
    """Interactions of 100 ms of processor time, whatever else the host does."""
    run = closed_loop(6, 60, [Work("edit", 0.1)])
    quiet, busy = tried(run), tried(beside_others(run, 0.5))
    assert busy.whose is not None
    assert quiet.whose is not None
    assert busy.whose.others - quiet.whose.others == pytest.approx(0.45, abs=0.08)
    assert busy.whose.users_processors == quiet.whose.users_processors
    point = point_of([busy], parse_targets("mean < 3s"))
    own_s = (
        run.interactions.select((pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).cast(pl.Float64).mean()).item() / S
    )
    assert point.users_cpu_s == pytest.approx(own_s, rel=0.1)
    assert point.utilisation["processors"] > 1.5 * (point.users_cpu_s or 0.0) * point.throughput.value / 2


@pytest.mark.parametrize("outcome", [CapacityFound(25, 24, 26, 0, enough=True), Undecided(5, 14, "5 trials were all")])
def test_an_answer_on_a_busy_host_says_so_and_what_to_do(outcome: CapacityFound | Undecided) -> None:
    shares = (0.7, 0.6, 0.5)
    points = [on_busy_host(users, share) for users, share in zip(USERS, shares, strict=True)]
    neighbours = neighbours_of([made_trial(10, 100, 0.1, 1, others=share) for share in shares])
    words = answer_of(outcome, points, WANTED, AnswerContext(neighbours=neighbours)).in_words
    assert "That is with neighbours taking 60.0 % of the processors (50.0 % to 70.0 % from trial to trial)." in words
    assert "The trials do not tell what it would be on a quiet host: for that, search when it is quiet." in words


def test_an_answer_on_a_quiet_host_speaks_of_no_others() -> None:
    points = [on_busy_host(users, 0.02) for users in USERS]
    quiet = AnswerContext(neighbours=neighbours_of([made_trial(10, 100, 0.1, 1, others=0.02)]))
    assert "neighbours" not in answer_of(CapacityFound(25, 24, 26, 0, enough=True), points, WANTED, quiet).in_words
    assert neighbours_of([made_trial(10, 100, 0.1, 1)]) is None


def test_the_page_tells_others_beside_the_users_and_the_json_has_both() -> None:
    from loadgo.sizing.document import render_capacity

    capacity_result = replace(
        capacity_of([on_busy_host(users, 0.3) for users in USERS]), neighbours=Neighbours(0.3, 0.3, 0.3)
    )
    curve = rows_by_name(table_titled(capacity_result, "Measured"))
    assert all("30.0 %" in cells and "600 ms" in cells for cells in curve.values())
    text = render_capacity(capacity_result, "text", width=120)
    assert "other programs used 30.0 % of the processors' time, beside the kernel's own work." in " ".join(text.split())
    told = json.loads(render_capacity(capacity_result, "json"))["points"]
    assert [(one["others"], one["users_cpu_s"]) for one in told] == [(0.3, OWN_S)] * 3


def trials_with_effect(seed: int, least: float, most: float) -> list[CapacityTrial]:
    """Twelve trials of a host that holds 20 users when it is quiet; neighbours add 2 logits if they take all of it."""
    random = np.random.default_rng([seed, 3])
    trials = []
    for place in range(12):
        users, share = int(random.integers(14, 24)), float(random.uniform(least, most))
        slow = slow_share(users, 20, 0.4 * random.standard_normal() + 2.0 * share)
        trials.append(made_trial(users, 250, slow, 1000 * seed + place, others=share))
    return trials


def test_a_prediction_for_a_quiet_host_holds_its_capacity() -> None:
    told = held = 0
    for seed in range(60):
        trials = trials_with_effect(seed, 0.02, 0.5)
        found = find_crossing(trials, SHARE_GOAL, 19.0)
        quiet = None if found is None else quiet_crossing(trials, SHARE_GOAL, found[0].users)
        if quiet is not None:
            told += 1
            held += quiet.low < 20.4 < quiet.high
    assert told >= 30
    assert held >= 0.9 * told


def test_the_answer_says_what_a_quiet_host_would_hold_only_where_the_trials_tell_it() -> None:
    for least, most, is_told in ((0.02, 0.5, True), (0.7, 0.8, False)):
        predictions = 0
        for seed in range(20):
            trials = trials_with_effect(seed, least, most)
            found = find_crossing(trials, SHARE_GOAL, 18.0)
            if found is None:
                continue
            outcome = CapacityFound(18, 16, 20, 0, enough=True, crossing=found[0])
            neighbours = with_quiet_capacity(neighbours_of(trials), outcome, trials, SHARE_GOAL)
            words = neighbours_in_words(neighbours)
            predictions += "On a quiet host it would be" in words and "a prediction" in words
            assert "On a quiet host it would be" in words or "The trials do not tell" in words
        assert (predictions > 5) == is_told


def test_a_host_without_neighbours_needs_no_prediction() -> None:
    trials = trials_with_effect(1, 0.0, 0.05)
    found = find_crossing(trials, SHARE_GOAL, 19.0)
    assert found is not None
    outcome = CapacityFound(19, 18, 20, 0, enough=True, crossing=found[0])
    neighbours = with_quiet_capacity(neighbours_of(trials), outcome, trials, SHARE_GOAL)
    assert neighbours is not None
    assert neighbours.quiet is None
