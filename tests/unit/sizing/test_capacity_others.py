"""Other work on the host of a search: its time is no demand of the users, and the answer reports it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.measures.tariff import load_tariff
from loadgo.records.tables import Tables
from loadgo.sizing.curve import LoadPoint
from loadgo.sizing.models.models import Models, models_of
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.report.limiting import first_saturation
from loadgo.sizing.resources import ServerCounts, cpu_limit_servers
from loadgo.sizing.search.near_line import find_crossing, quiet_crossing
from loadgo.sizing.search.neighbours import busy_warning, neighbours_in_words, neighbours_of
from loadgo.sizing.search.outcomes import CapacityFound, SearchGoal, Undecided
from loadgo.sizing.search.points import point_of
from loadgo.sizing.search.quiet_host import with_quiet_capacity
from loadgo.sizing.search.results import Neighbours, QuietCapacity
from loadgo.sizing.search.trials import CapacityTrial, TrialQuestions, trial_from
from loadgo.sizing.targets import parse_targets
from support.capacity_results import capacity_of, rows_by_name, table_titled
from support.known_capacity import MEAN, SERVERS, exact, exact_response_s, exacts, point
from support.made_trials import made_trial, slow_share
from support.synthetic import S, Work, closed_loop

HOST: ServerCounts = {"processors": 2}
USERS = (5, 15, 25)
OWN_S = 0.6
WANTED = SearchGoal((MEAN,), 100, None, 10**6, 60, live=True)
SHARE_GOAL = replace(WANTED, targets=parse_targets("p90 < 1s"))


def on_busy_host(users: int, others: float) -> LoadPoint:
    """The central server's point, on a host where other work also takes this share of the processors."""
    quiet = exact(users)
    busy = {**quiet.utilisation, "processors": min(0.96, quiet.utilisation["processors"] + others)}
    return replace(quiet, utilisation=busy, users_cpu_s=OWN_S, others=others)


def models(*points: LoadPoint) -> Models:
    """The models of these points."""
    found = models_of(points, SERVERS)
    assert found is not None
    return found


def beside_others(run: Tables, share: float) -> Tables:
    """The run on a host where other work takes this share of the processors' idle time."""
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


def tried(run: Tables, servers: ServerCounts = HOST) -> CapacityTrial:
    """The trial of 6 users that has these records."""
    return trial_from(run, TrialQuestions(6, "seed 1", parse_targets("mean < 3s"), servers, load_tariff()))


def test_the_demand_at_the_processors_is_the_users_own_time() -> None:
    processors = models(*(on_busy_host(users, 0.004 * users) for users in USERS)).demands[0]
    assert processors.seconds == pytest.approx(OWN_S / (1 - 0.02), rel=1e-9)
    assert not processors.grows
    charged = models(
        *(replace(point, users_cpu_s=None, others=None) for point in (on_busy_host(n, 0.3) for n in USERS))
    )
    assert charged.demands[0].most_s > 1.2 * OWN_S


def test_other_work_at_every_point_lengthens_the_demands_and_has_a_note() -> None:
    shared = models(*(on_busy_host(users, share) for users, share in zip(USERS, (0.4, 0.25, 0.2), strict=True)))
    processors = shared.demands[0]
    assert processors.background == pytest.approx(0.2)
    assert processors.seconds == pytest.approx(OWN_S / 0.8)
    (note,) = [note for note in shared.notes if note.startswith("20.0 % of processors is taken by other work.")]
    assert "the models let other work go first" in note


def test_the_saturation_point_is_the_same_everywhere() -> None:
    capacity_result = capacity_of(exacts(5, 15, 30, 34))
    first = first_saturation(capacity_result.models)
    assert capacity_result.models is not None
    assert first is not None
    assert (first.resource, first.users) == ("processors", capacity_result.models.saturation_users)
    answer = answer_of(CapacityFound(34, 34, 34, 0, enough=True), capacity_result.points, WANTED, AnswerContext(first))
    knee = "Processors would be full first: from 37.3 users on, if nobody ever had to wait (N*)"
    busy_percent = 100 * exact(34).utilisation["processors"]
    assert answer.in_words.endswith(f"{knee}; with 34 users they are {busy_percent:.1f} % busy.")
    assert rows_by_name(table_titled(capacity_result, "Service demands"))["processors"][-1] == "37.3 users"


def test_a_limit_on_the_users_processors_is_the_resource_that_they_saturate() -> None:
    """The users may use half of a processor of two; an interaction takes 0.1 s of it, whatever else the host does."""
    servers = cpu_limit_servers(0.5, {"processors": 2})
    run = beside_others(closed_loop(6, 60, [Work("edit", 0.1)]), 0.5)
    point = point_of([tried(run, servers)], parse_targets("mean < 3s"))
    used = (point.users_cpu_s or 0.0) * point.throughput.value
    assert point.utilisation["limit cpus=0.5"] == pytest.approx(used / 0.5, rel=1e-6)
    found = models_of([point], servers)
    assert found is not None
    assert [demand.resource for demand in found.demands] == ["limit cpus=0.5"]
    assert found.demands[0].seconds == pytest.approx((point.users_cpu_s or 0.0) / 0.5, rel=1e-6)
    first = first_saturation(found)
    assert first is not None
    context = AnswerContext(first)
    words = answer_of(CapacityFound(6, 6, 6, 0, enough=True), [point], WANTED, context).in_words
    assert f"Limit cpus=0.5 {'is' if first.users <= 6 else 'would be'} full first" in words


def test_with_a_limit_models_name_the_waits_for_processors_that_other_work_fills() -> None:
    points = [
        replace(
            exact(users), utilisation={"processors": 0.99, "limit cpus=0.5": users / 50}, users_cpu_s=OWN_S, others=0.9
        )
        for users in USERS
    ]
    found = models_of(points, cpu_limit_servers(0.5, HOST))
    assert found is not None
    assert [demand.resource for demand in found.demands] == ["limit cpus=0.5"]
    assert any("Processors had no idle time" in note and "leave out the waits for them" in note for note in found.notes)


@pytest.mark.parametrize(
    ("middle", "counts"), [(1.0, (1000, 1000, 2000)), (2.0, (1000, 2000, 2000)), (1.5, (300, 5, 300))]
)
def test_a_full_resource_is_other_works_if_the_most_throughput_is_more_than_the_least(
    middle: float, counts: tuple[int, int, int]
) -> None:
    """One interaction a second with 5 users, and two with 25, whatever 15 users had, and how few of them were seen."""
    points = [
        replace(point(users, throughput, 1.0, {"processors": 0.99}), interactions=count)
        for users, throughput, count in zip(USERS, (1.0, middle, 2.0), counts, strict=True)
    ]
    (note,) = [note for note in models(*points).notes if "no idle time" in note]
    assert note.startswith("Processors had no idle time with any number of users, although the throughput grew")


def test_a_resource_that_one_number_of_users_did_not_meter_is_not_called_full_with_any() -> None:
    points = exacts(*USERS)
    disk_shares = ({}, {"disk": 0.99}, {"disk": 0.99})
    known = [
        replace(measured, utilisation={"processors": measured.utilisation["processors"], **share})
        for measured, share in zip(points, disk_shares, strict=True)
    ]
    assert not any("no idle time with any number" in note for note in models(*known).notes)
    everywhere = [replace(one, utilisation={**one.utilisation, "disk": 0.99}) for one in points]
    assert any(note.startswith("Disk had no idle time with any number") for note in models(*everywhere).notes)


def test_a_limit_as_large_as_the_host_is_no_resource() -> None:
    assert cpu_limit_servers(2.0, {"processors": 2}) == {"processors": 2}
    assert cpu_limit_servers(None, {"processors": 2}) == {"processors": 2}
    assert cpu_limit_servers(1.5, {"processors": 2}) == {"processors": 2, "limit cpus=1.5": 2}


def test_a_trial_separates_the_users_time_from_other_work() -> None:
    """Interactions of 100 ms of processor time, whatever else the host does."""
    run = closed_loop(6, 60, [Work("edit", 0.1)])
    quiet, busy = tried(run), tried(beside_others(run, 0.5))
    assert busy.processors is not None
    assert quiet.processors is not None
    idle = run.time.filter(pl.col("category").cast(pl.String) == "idle")["time_ns"].sum() / run.time["time_ns"].sum()
    assert busy.processors.others - quiet.processors.others == pytest.approx(0.5 * idle, abs=0.01)
    assert busy.processors.users_processors == quiet.processors.users_processors
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
    made = replace(capacity_of(points), neighbours=neighbours, on="here")
    words = answer_of(outcome, points, WANTED, AnswerContext(neighbours=neighbours)).in_words
    text = " ".join(replace(made, in_words=words).report(width=120).split())
    assert "60.0 % of its processors' time over all trials (50.0 % to 70.0 % from trial to trial)." in text
    assert text.count("search again when it is quiet") == text.count("50.0 % to 70.0 %") == 1, "each stood there twice"
    some = [made_trial(10, 100, 0.1, 1, others=share) for share in (0.04, 0.08)]
    words = answer_of(outcome, points, WANTED, AnswerContext(neighbours=neighbours_of(some))).in_words
    assert "other work took 6.0 % of the processors' time (4.0 % to 8.0 % from trial to trial)." in words
    assert "A quiet host may support more users: to find out, search again when it is quiet." in words


def test_an_answer_on_a_quiet_host_reports_no_other_work() -> None:
    points = [on_busy_host(users, 0.02) for users in USERS]
    quiet = AnswerContext(neighbours=neighbours_of([made_trial(10, 100, 0.1, 1, others=0.02)]))
    assert "other work" not in answer_of(CapacityFound(25, 24, 26, 0, enough=True), points, WANTED, quiet).in_words
    assert neighbours_of([made_trial(10, 100, 0.1, 1)]) is None


def test_the_page_and_the_json_have_other_work_beside_the_users_time() -> None:

    capacity_result = replace(
        capacity_of([on_busy_host(users, 0.3) for users in USERS]), neighbours=Neighbours(0.3, 0.3, 0.3)
    )
    curve = rows_by_name(table_titled(capacity_result, "Simulated"))
    assert all("30.0 %" in cells and "600 ms" in cells for cells in curve.values())
    text = capacity_result.report(width=120)
    assert "Utilisations of the processors include this time, users' CPU does not." in " ".join(text.split())
    points = json.loads(capacity_result.report("json"))["points"]
    assert [(point["others"], point["users_cpu_s"]) for point in points] == [(0.3, OWN_S)] * 3


def trials_with_effect(seed: int, least: float, most: float) -> list[CapacityTrial]:
    """Twelve trials of a host for 20 users when it is quiet; other work that took all of it would add 2 logits."""
    random = np.random.default_rng([seed, 3])
    trials = []
    for place in range(12):
        users, share = int(random.integers(14, 24)), float(random.uniform(least, most))
        slow = slow_share(users, 20, 0.4 * random.standard_normal() + 2.0 * share)
        trials.append(made_trial(users, 250, slow, 1000 * seed + place, others=share))
    return trials


def test_the_interval_predicted_for_a_quiet_host_contains_its_capacity() -> None:
    predictions = containing = 0
    for seed in range(60):
        trials = trials_with_effect(seed, 0.02, 0.5)
        found = find_crossing(trials, SHARE_GOAL, 19.0)
        quiet = None if found is None else quiet_crossing(trials, SHARE_GOAL, found[0].users)
        if quiet is not None:
            predictions += 1
            containing += quiet.low < 20.4 < quiet.high
    assert predictions >= 30
    assert containing >= 0.9 * predictions


def test_the_answer_predicts_a_quiet_host_only_if_other_work_differs_between_trials() -> None:
    for least, most, is_predicted in ((0.02, 0.5, True), (0.7, 0.8, False)):
        predictions = 0
        for seed in range(20):
            trials = trials_with_effect(seed, least, most)
            found = find_crossing(trials, SHARE_GOAL, 18.0)
            if found is None:
                continue
            outcome = CapacityFound(18, 16, 20, 0, enough=True, crossing=found[0])
            neighbours = with_quiet_capacity(neighbours_of(trials), outcome, trials, SHARE_GOAL)
            words = neighbours_in_words(neighbours)
            predictions += "For a quiet host, the prediction is" in words
            # Of a busy host the warning says that a quiet one may support more.
            assert "For a quiet host, the prediction is" in words or (not words) == bool(
                busy_warning(neighbours, "here")
            )
        assert (predictions > 5) == is_predicted


BUSY = Neighbours(0.75, 0.7, 0.8)
HELD = Undecided(5, 15, "3 trials were too few")


def test_a_quiet_host_is_bounded_where_all_trials_had_as_much_other_work() -> None:
    points = [on_busy_host(users, 0.7) for users in USERS]
    neighbours = with_quiet_capacity(BUSY, HELD, [], WANTED, points, SERVERS)
    assert neighbours is not None
    quiet = neighbours.quiet
    assert quiet is not None
    held_when_quiet = max(users for users in range(1, 60) if exact_response_s(users) < 2.5)  # p90 is twice the mean
    most = math.floor((2.5 + 10.0) * 2 / OWN_S)
    assert (quiet.by, quiet.users, quiet.low, quiet.high) == ("bounds", None, 5, most)
    assert quiet.low < held_when_quiet <= quiet.high
    said = f"For a quiet host, the bounds are 5 to {most} users, which is no measurement: no fewer than this busy one"
    assert said in neighbours_in_words(neighbours)


def test_a_quiet_host_is_bounded_by_its_processors_however_many_users_were_tried() -> None:
    """The processors of the busy host were never idle, but those users alone would have left them idle."""
    points = [on_busy_host(users, 0.7) for users in (15, 20, 25)]
    neighbours = with_quiet_capacity(BUSY, HELD, [], WANTED, points, SERVERS)
    assert neighbours is not None
    assert neighbours.quiet == QuietCapacity("bounds", None, 5, math.floor((2.5 + 10.0) * 2 / OWN_S))


def test_a_quiet_host_holds_at_least_what_the_busy_one_holds() -> None:
    points = [on_busy_host(users, 0.7) for users in USERS]
    surely_many = Undecided(48, 60, "3 trials were too few")
    neighbours = with_quiet_capacity(BUSY, surely_many, [], WANTED, points, SERVERS)
    assert neighbours is not None
    assert neighbours.quiet == QuietCapacity("bounds", None, 48, 60)


@pytest.mark.parametrize("unknown", ["users_cpu_s", "others"])
def test_a_quiet_host_has_no_bound_where_the_users_own_time_is_not_known(unknown: str) -> None:
    points = [replace(on_busy_host(users, 0.7), **{unknown: None}) for users in USERS]  # type: ignore[arg-type]
    neighbours = with_quiet_capacity(BUSY, HELD, [], WANTED, points, SERVERS)
    assert neighbours is not None
    assert neighbours.quiet is None
    assert neighbours_in_words(neighbours) == ""
    assert "a quiet one may support more users" in busy_warning(neighbours, "here")[0]


def test_a_host_without_other_work_needs_no_prediction() -> None:
    trials = trials_with_effect(1, 0.0, 0.05)
    found = find_crossing(trials, SHARE_GOAL, 19.0)
    assert found is not None
    outcome = CapacityFound(19, 18, 20, 0, enough=True, crossing=found[0])
    neighbours = with_quiet_capacity(neighbours_of(trials), outcome, trials, SHARE_GOAL)
    assert neighbours is not None
    assert neighbours.quiet is None


@pytest.mark.parametrize(("most", "is_told"), [(0.04, False), (0.07, True), (0.2, True)])
def test_a_search_tells_other_work_from_the_share_on_that_a_report_tells(most: float, is_told: bool) -> None:
    assert bool(neighbours_in_words(Neighbours(most / 2, most / 4, most))) == is_told
