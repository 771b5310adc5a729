"""Models of measured points against exact answers and simulated machines, and the width of their intervals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loadgo.notation.figures import NOT_MEASURED, digits
from loadgo.sizing.curve import LoadPoint, MeasuredFigure, MixClass, Target, TargetVerdict
from loadgo.sizing.models.answers import ModelCapacity
from loadgo.sizing.models.basis import apportion_users
from loadgo.sizing.models.demands import Demand, demands_of, saturation_users
from loadgo.sizing.models.extrapolation import ModelFigures
from loadgo.sizing.models.models import MOST_RESPONSE_MISS, Models, models_of
from loadgo.sizing.report.chart_data import model_curve
from loadgo.theory.populations import Class as Population
from loadgo.theory.populations import Station, populations
from support.capacity_results import capacity_of, rows_by_name, table_titled
from support.known_capacity import (
    BUSY,
    EXACT,
    HIDDEN_S,
    MEAN,
    P90,
    SERVERS,
    THINK_S,
    exact,
    exact_response_s,
    exacts,
    mixed,
    point,
    seeds,
    simulated,
)

MEASURED = (5, 15, 30, 36)


@pytest.fixture(scope="module")
def models() -> Models:
    """The central server, measured exactly at four numbers of users."""
    return made(*MEASURED)


def made(*users: int) -> Models:
    """The models of exact points."""
    found = models_of(exacts(*users), SERVERS)
    assert found is not None
    return found


def holds(models: Models, by: str) -> ModelCapacity:
    """The capacity by one model."""
    return next(one for one in models.holds if one.by == by)


def busy(at: ModelFigures) -> dict[str, float]:
    """The utilisation of each resource."""
    return {name: found.value for name, found in at.utilisation.items()}


def judged_by(target: Target, *users: int) -> Models:
    """The models of points that were judged by this target alone."""
    points = [replace(one, verdicts=tuple(v for v in one.verdicts if v.target == target)) for one in exacts(*users)]
    found = models_of(points, SERVERS)
    assert found is not None
    return found


def test_demands_by_the_utilisation_law_and_the_delay_are_those_of_the_network(models: Models) -> None:
    assert [(one.resource, one.servers) for one in models.demands] == [("processors", 2), ("disk", 1)]
    assert [one.seconds for one in models.demands] == pytest.approx([0.6, 0.2], rel=1e-12)
    assert models.delay_s == pytest.approx(HIDDEN_S, rel=1e-6)
    assert models.saturation_users == pytest.approx((0.6 + 0.2 + HIDDEN_S + THINK_S) / 0.3)


def test_mean_values_from_exact_points_have_no_error_and_extrapolate_exactly(models: Models) -> None:
    found = models.mean_values
    assert found is not None
    assert found.held_out is not None
    assert abs(found.throughput_miss.throughput) < 1e-6
    assert abs(found.held_out.response or 1.0) < 1e-6
    last = found.curve[-1]
    assert last.users > max(MEASURED)
    assert last.throughput.value == pytest.approx(EXACT.throughput([last.users])[0], rel=1e-9)
    assert last.response_s.value == pytest.approx(exact_response_s(last.users), rel=1e-6)
    assert busy(last) == pytest.approx(EXACT.utilisation([last.users]), rel=1e-9)


def test_every_curve_lies_between_its_bounds(models: Models) -> None:
    assert models.mean_values is not None
    for found, bounds in zip(models.mean_values.curve, models.bounds, strict=True):
        assert found.users == bounds.users
        assert bounds.balanced_least * (1 - 1e-9) <= found.throughput.value <= bounds.balanced_most * (1 + 1e-9)
        assert bounds.quickest_s - 1e-9 <= found.response_s.value <= bounds.slowest_s + 1e-9


def test_the_capacity_by_mean_values_is_that_of_the_network() -> None:
    most = max(n for n in range(1, 200) if exact_response_s(n) <= MEAN.limit)
    judged_figures = judged_by(MEAN, 5, 15, 30)
    assert holds(judged_figures, "mean values").users == most
    assert holds(judged_figures, "mean values").extrapolated
    bounds = holds(judged_figures, "bounds")
    assert bounds.at_least is not None
    assert bounds.at_most is not None
    assert bounds.at_least <= most <= bounds.at_most


def test_a_target_on_a_quantile_uses_its_ratio_to_the_mean_nearest_to_the_limit() -> None:
    judged_figures = judged_by(P90, 5, 15, 30)
    assert [one.at_users for one in judged_figures.asked] == [30]
    assert judged_figures.asked[0].ratio == pytest.approx(2.0)
    assert holds(judged_figures, "mean values").users == max(
        n for n in range(1, 200) if 2 * exact_response_s(n) <= P90.limit
    )


def test_mean_values_judge_a_target_on_utilisation() -> None:
    most = max(n for n in range(1, 200) if EXACT.utilisation([n])["processors"] <= BUSY.limit)
    assert holds(judged_by(BUSY, 5, 15, 36), "mean values").users == most


def test_the_capacity_by_utilisation_has_the_interval_of_the_demand() -> None:
    points = [
        replace(
            one, utilisation={name: share * off for name, share in one.utilisation.items()}, verdicts=one.verdicts[2:]
        )
        for one, off in zip(exacts(5, 15, 30), (0.95, 1.05, 1.0), strict=True)
    ]
    found = models_of(points, SERVERS)
    assert found is not None
    held = holds(found, "mean values")
    assert held.users is not None
    assert held.at_least is not None
    assert held.at_most is not None
    assert held.at_least < held.users < held.at_most


def test_of_several_targets_the_strictest_decides() -> None:
    found = holds(made(*MEASURED), "mean values")
    assert found.target == BUSY
    assert found.users == holds(judged_by(BUSY, *MEASURED), "mean values").users


def test_the_capacity_by_models_is_0_if_no_number_of_users_meets_the_target() -> None:
    target = Target("mean < 100ms", "mean", None, "most", 0.1, None)
    points = [
        replace(one, verdicts=(TargetVerdict(target, "missed", one.response_s["mean"], None),)) for one in exacts(5, 30)
    ]
    found = models_of(points, SERVERS)
    assert found is not None
    assert holds(found, "mean values").users == 0
    assert holds(found, "bounds").at_most == 0


def test_points_with_few_users_of_a_simulated_machine_predict_many_users() -> None:
    found = models_of(simulated((4, 12, 24)), SERVERS)
    truth = populations([Population("users", 80, 10.0)], [Station("processors", (0.6,), 2), Station("disk", (0.2,))])
    assert found is not None
    assert found.mean_values is not None
    last = found.mean_values.curve[-1]
    assert last.users > 36
    assert last.throughput.value == pytest.approx(truth.throughput([last.users])[0], rel=0.02)
    assert last.response_s.value == pytest.approx(truth.response_s([last.users])[0], rel=0.06)
    assert last.throughput.interval is not None
    assert last.throughput.interval.low < last.throughput.value < last.throughput.interval.high


@pytest.mark.long
def test_from_at_most_24_users_mean_values_find_the_capacity_of_41_within_one_user() -> None:
    """The claim holds for each of 20 seeds, and the bounds always contain the truth."""
    truth = populations([Population("users", 80, 10.0)], [Station("processors", (0.6,), 2), Station("disk", (0.2,))])
    most = max(n for n in range(1, 80) if truth.response_s([n])[0] <= MEAN.limit)
    assert most == 41
    for points in seeds((4, 12, 24), range(1, 21)):
        found = models_of([replace(p, verdicts=p.verdicts[:1]) for p in points], SERVERS)
        assert found is not None
        solved, bounds = holds(found, "mean values"), holds(found, "bounds")
        assert solved.users is not None
        assert abs(solved.users - most) <= 1
        assert bounds.at_least is not None
        assert bounds.at_most is not None
        assert bounds.at_least <= most <= bounds.at_most


def test_demands_that_grow_with_the_users_have_a_note_and_widen_the_interval() -> None:
    first, last = exact(10), exact(40)
    grown = replace(last, utilisation={"processors": 0.99, "disk": 0.9}, throughput=replace(last.throughput, value=2.0))
    found = models_of([first, grown], SERVERS)
    assert found is not None
    assert any("demand of disk is 2.2 times as large with 40 users as with 10" in note for note in found.notes)
    assert found.mean_values is not None
    between = found.mean_values.curve[-1].throughput.interval
    assert between is not None
    assert between.high > 1.3 * between.low
    assert abs(found.mean_values.throughput_miss.throughput) < 0.05
    assert found.mean_values.held_out is not None
    assert found.mean_values.held_out.throughput > 0.2


def test_a_model_that_misses_a_measured_point_by_far_is_not_drawn_and_tells_no_capacity() -> None:
    """Users wait for memory, which is no resource here, and longer the more they are."""
    alone, mean = exact(1), 12.0
    crowded = replace(
        exact(20),
        throughput=MeasuredFigure(20 / (mean + alone.think_s)),
        response_s={"mean": MeasuredFigure(mean)},
        utilisation={"processors": 0.5, "disk": 0.2},
    )
    found = models_of([alone, crowded], SERVERS)
    assert found is not None
    assert found.mean_values is not None
    assert found.mean_values.wrong
    assert found.mean_values.largest_response_miss > MOST_RESPONSE_MISS
    assert (found.drawn, found.drawn_bounds) == ((), ())
    (note,) = [note for note in found.notes if note.startswith("The mean values and the bounds are not drawn")]
    assert (
        f"with 1 user the model's mean response is {digits(1 + found.mean_values.largest_response_miss)} times" in note
    )
    capacity = capacity_of([alone, crowded])
    assert {row["what"] for row in model_curve(capacity, lambda at: at.throughput)} == set()
    assert rows_by_name(table_titled(capacity, "Capacity by"))["mean values"][0] == NOT_MEASURED
    good = models_of(exacts(1, 20), SERVERS)
    assert good is not None
    assert good.drawn == good.models


def test_demands_that_differ_by_chance_do_not_grow() -> None:
    first, last = replace(exact(10), interactions=40), exact(40)
    busier = replace(last, utilisation={name: 1.3 * share for name, share in last.utilisation.items()})
    assert [one.grows for one in demands_of([first, busier], SERVERS)] == [False, False]
    enough = replace(first, interactions=5000)
    assert [one.grows for one in demands_of([enough, busier], SERVERS)] == [True, True]


def test_other_work_on_the_machine_is_no_demand_of_the_users() -> None:
    """A third of both processors is busy with other work, which makes the users' demand half as long again."""
    slowed = populations([Population("users", 80, 10.0)], [Station("processors", (0.9,), 2), Station("disk", (0.2,))])

    def shared(users: int) -> LoadPoint:
        rate, busy = slowed.throughput([users])[0], slowed.utilisation([users])
        whole = {"processors": 1 / 3 + 2 / 3 * busy["processors"], "disk": busy["disk"]}
        return point(users, rate, slowed.response_s([users])[0], whole)

    models = models_of([shared(n) for n in (3, 8, 16, 22)], SERVERS)
    assert models is not None
    processors, disk = models.demands
    assert [one.background for one in (processors, disk)] == pytest.approx([1 / 3, 0.0])
    assert [one.seconds for one in (processors, disk)] == pytest.approx([0.9, 0.2])
    assert models.mean_values is not None
    last = models.mean_values.curve[-1]
    assert last.users > 30
    assert last.throughput.value == pytest.approx(slowed.throughput([last.users])[0], rel=1e-6)
    assert busy(last) == pytest.approx(shared(last.users).utilisation, rel=1e-6)
    assert any("33.3 % of processors is busy whatever the users do" in note for note in models.notes)


def test_a_resource_that_other_work_fills_has_no_demand() -> None:
    points = [replace(one, utilisation={**one.utilisation, "processors": 0.995}) for one in exacts(3, 8, 16)]
    found = models_of(points, SERVERS)
    assert found is not None
    assert [one.resource for one in found.demands] == ["disk"]
    assert any(note.startswith("Processors had no idle time with any number of users") for note in found.notes)
    full = models_of([replace(one, utilisation={"processors": 0.999}) for one in exacts(60, 80)], SERVERS)
    assert full is not None
    assert [one.resource for one in full.demands] == ["processors"]


def test_a_growing_demand_is_interpolated_and_its_trend_is_the_upper_end() -> None:
    found = Demand("disk", 1, 0.3, ((10, 0.2), (20, 0.3), (40, 0.5)), grows=True)
    assert found.with_users(15) == pytest.approx((0.2, 0.25, 0.3))
    assert found.with_users(40) == pytest.approx((0.3, 0.5, 0.5))
    assert found.with_users(70) == pytest.approx((0.3, 0.5, 0.8))
    assert found.with_users(5) == pytest.approx((0.2, 0.2, 0.3))
    assert replace(found, grows=False).with_users(70) == pytest.approx((0.2, 0.3, 0.5))


def test_a_point_with_few_interactions_counts_for_no_error_and_no_interval() -> None:
    odd = replace(exact(1), interactions=20, utilisation={"processors": 0.015, "disk": 0.01})
    found = models_of([odd, *exacts(15, 30)], SERVERS)
    assert found is not None
    assert [one.by_users[0][0] for one in found.demands] == [15, 15]
    assert found.mean_values is not None
    assert abs(found.mean_values.throughput_miss.throughput) < 0.01


def test_points_that_are_not_steady_or_not_valid_are_left_out_with_a_note() -> None:
    points = [*exacts(5, 15), replace(exact(30), steady=False), replace(exact(36), valid=False)]
    found = models_of(points, SERVERS)
    assert found is not None
    assert found.used == (5, 15)
    assert "Not used, since not steady or not valid: 30 and 36 users." in found.notes
    assert models_of(points[2:], SERVERS) is None
    assert models_of([], SERVERS) is None


def test_two_points_give_mean_values_and_no_law() -> None:
    found = made(5, 30)
    assert found.mean_values is not None
    assert found.scalability is None
    assert any("needs 3 different numbers of users" in note for note in found.notes)


def test_without_a_measured_resource_only_the_law_is_left() -> None:
    found = models_of([replace(one, utilisation={}) for one in exacts(*MEASURED)], SERVERS)
    assert found is not None
    assert (found.demands, found.bounds, found.mean_values, found.saturation_users) == ((), (), None, None)
    assert [one.by for one in found.holds] == ["scalability law"]


def test_a_resource_with_any_number_of_servers_has_no_demand() -> None:
    found = models_of(exacts(*MEASURED), {"processors": 2, "disk": None})
    assert found is not None
    assert [one.resource for one in found.demands] == ["processors"]
    assert found.delay_s > HIDDEN_S


def test_a_law_beyond_the_bounds_has_a_note() -> None:
    assert any("more throughput than the resources can give" in note for note in made(2, 6, 12, 20).notes)


def test_one_point_gives_mean_values_without_intervals_and_without_held_out_errors() -> None:
    found = made(15)
    assert found.mean_values is not None
    assert found.mean_values.held_out is None
    assert found.mean_values.curve[-1].throughput.interval is None
    assert found.mean_values.curve[-1].throughput.value == pytest.approx(
        EXACT.throughput([found.mean_values.curve[-1].users])[0], rel=1e-6
    )


def test_the_saturation_point_of_a_point_comes_from_its_own_demands() -> None:
    assert saturation_users(exact(30), SERVERS) == pytest.approx((THINK_S + 0.8) / 0.3)
    assert saturation_users(replace(exact(30), utilisation={}), SERVERS) is None


def test_an_unused_resource_has_no_demand() -> None:
    idle = [point(5, 0.5, 0.7, {"processors": 0.2, "disk": 0.0})]
    assert [one.resource for one in demands_of(idle, SERVERS)] == ["processors"]


CLASSES = (MixClass("heavy", 1), MixClass("ordinary", 3), MixClass("light", 6))


def test_a_mix_is_solved_by_its_classes_and_extrapolates_exactly() -> None:
    """Heavy users need four times the processor time of light ones, and four times the disk time."""
    kinds = [Population("heavy", 6, 20.0), Population("ordinary", 18, 10.0), Population("light", 36, 5.0)]
    network = populations(kinds, [Station("processors", (1.2, 0.6, 0.3), 2), Station("disk", (0.4, 0.2, 0.1))])
    points = [mixed([("heavy", n, 1.2), ("ordinary", 3 * n, 0.6), ("light", 6 * n, 0.3)], network) for n in (1, 2)]
    found = models_of(points, SERVERS, CLASSES)
    assert found is not None
    assert [kind.weight for kind in found.kinds] == [1, 3, 6]
    scales = [kind.scale for kind in found.kinds]
    assert [scale / scales[2] for scale in scales] == pytest.approx([4.0, 2.0, 1.0])
    assert found.mean_values is not None
    far = next(one for one in found.mean_values.curve if one.users >= 30)
    whole = apportion_users(found.kinds, far.users)
    assert far.throughput.value == pytest.approx(sum(network.throughput(whole)), rel=0.01)


@pytest.mark.parametrize(
    "heavy_users", [(12, 14, 15, 16, 20, 32), (25, 30, 38)], ids=["below and beyond", "all beyond"]
)
def test_a_mix_that_fills_the_processors_shows_no_other_work(heavy_users: tuple[int, ...]) -> None:
    """Beyond saturation, light users have a larger part of the interactions, and there is no other work."""
    kinds = [Population("heavy", 40, 10.0), Population("light", 120, 10.0)]
    network = populations(kinds, [Station("processors", (1.2, 0.1), 2)])
    points = [mixed([("heavy", n, 1.2), ("light", 3 * n, 0.1)], network) for n in heavy_users]
    found = models_of(points, {"processors": 2}, (MixClass("heavy", 1), MixClass("light", 3)))
    assert found is not None
    assert found.demands[0].background == 0.0
    assert not any("busy whatever" in note or "others use" in note for note in found.notes)
    assert found.mean_values is not None
    assert found.mean_values.response_miss is not None
    assert abs(found.mean_values.response_miss.response or 1.0) < 0.001


@pytest.mark.parametrize("users", [1, 2, 9, 10, 47, 100])
def test_users_are_apportioned_by_weight_and_none_is_lost(users: int) -> None:
    kinds = made(5).kinds[0]
    counts = apportion_users([replace(kinds, weight=weight) for weight in (1, 3, 6)], users)
    assert sum(counts) == users
    assert all(abs(count - users * weight / 10) < 1 for count, weight in zip(counts, (1, 3, 6), strict=True))
