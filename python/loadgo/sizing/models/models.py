"""The models of a capacity's measured points: bounds, exact mean values and the scalability law.

Each model extrapolates with an interval (`extrapolation`). Each also has its errors at the measured points, and at the
point with the most users when it is made without that point. A model that misses known points does not predict others.
Mean values assume that no user holds two resources at once. The law ignores think time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from loadgo.notation.figures import capitalized, digits, people, share
from loadgo.sizing.curve import LoadPoint, MixClass
from loadgo.sizing.models.answers import (
    ModelCapacity,
    ModelTarget,
    capacity_bounds,
    model_capacity,
    model_targets,
    users_that_miss_all,
)
from loadgo.sizing.models.basis import ModelBasis, UserClassModel, model_basis
from loadgo.sizing.models.demands import Demand, has_own_time, is_taken_by_others, well_measured_points
from loadgo.sizing.models.extrapolation import (
    MOST_MODELLED_USERS,
    FollowedModel,
    ModelFigures,
    follow_law,
    follow_mean_values,
)
from loadgo.sizing.resources import is_cpu_limit
from loadgo.theory.job_bounds import JobBounds
from loadgo.theory.scalability import FittedLaw, fitted_law

ModelName = Literal["mean values", "scalability law"]

_Result = TypeVar("_Result")

MOST_RESPONSE_MISS = 0.5
"""A model that misses a measured mean response by more than this share of it is not drawn, and tells no capacity."""

_CURVE_STEPS = 60
"""Approximate number of points of a curve."""

MOST_LAW_USERS_RATIO = 10
"""The scalability law is evaluated for at most this many times the measured users, since it has no saturation."""
_ABOVE_BOUNDS_RATIO = 1.05
"""A note reports where the law has more than this many times the throughput of the bounds."""


@dataclass(frozen=True)
class ModelMiss:
    """The relative errors of a model at a measured point: 0.1 is 10 % more than measured."""

    users: int
    throughput: float
    response: float | None


@dataclass(frozen=True)
class CapacityModel:
    """One model, with its figures over the users and its errors."""

    name: ModelName
    curve: tuple[ModelFigures, ...]
    """The figures over the users, from 1 to a number beyond the measured points."""
    throughput_miss: ModelMiss
    """The errors at the well measured point with the largest error of the throughput."""
    response_miss: ModelMiss | None
    """The errors at the well measured point with the largest error of the response; None without a response."""
    held_out: ModelMiss | None
    """The errors at the point with the most users, of a model made without it; None if too few points are left."""

    @property
    def largest_response_miss(self) -> float:
        """The largest relative error of the mean response at a well measured point; 0 without a response."""
        return (self.response_miss.response if self.response_miss else None) or 0.0

    @property
    def wrong(self) -> bool:
        """Whether the model misses the mean response of a measured point by far."""
        return abs(self.largest_response_miss) > MOST_RESPONSE_MISS


@dataclass(frozen=True)
class Models:
    """All models of one capacity."""

    used: tuple[int, ...]
    """The numbers of users of the points that the models use."""
    think_s: float
    demands: tuple[Demand, ...]
    kinds: tuple[UserClassModel, ...]
    delay_s: float
    """The part of the mean response that no resource explains."""
    saturation_users: float | None
    """The saturation point N*, in users; None where no resource was measured."""
    saturates: str | None
    """The resource that is saturated first; None where no resource was measured."""
    bounds: tuple[JobBounds, ...]
    """The bounds over the users; empty where no resource was measured."""
    mean_values: CapacityModel | None
    scalability: CapacityModel | None
    law: FittedLaw | None
    asked: tuple[ModelTarget, ...]
    """The targets in the terms of the models."""
    holds: tuple[ModelCapacity, ...]
    """The capacity by each model."""
    notes: tuple[str, ...]
    """Sentences on unused points, models that could not be made, and limits of the models."""

    @property
    def models(self) -> tuple[CapacityModel, ...]:
        """The mean values and the scalability law, without one that could not be made."""
        return tuple(model for model in (self.mean_values, self.scalability) if model is not None)

    @property
    def drawn(self) -> tuple[CapacityModel, ...]:
        """The models that give back the measured points, at least roughly."""
        return tuple(model for model in self.models if not model.wrong)

    @property
    def left_out(self) -> tuple[CapacityModel, ...]:
        """The models that miss a measured point by far."""
        return tuple(model for model in self.models if model.wrong)

    @property
    def drawn_bounds(self) -> tuple[JobBounds, ...]:
        """The bounds; empty where the mean values, which have the same demands and the same delay, are wrong."""
        return () if self.mean_values is not None and self.mean_values.wrong else self.bounds


def models_of(
    points: Sequence[LoadPoint], servers: Mapping[str, int | None], classes: Sequence[MixClass] = ()
) -> Models | None:
    """The models of these points; None where no point is valid and steady.

    `servers` has the number of servers of each resource in `LoadPoint.utilisation`; `classes` are those of a mix.
    """
    basis = model_basis(points, servers, classes)
    if basis is None:
        return None
    held_out_basis = model_basis(basis.points[:-1], servers, classes)
    targets, grid, notes = model_targets(basis.points), _curve_users(basis), _basis_notes(points, basis)
    reach = max(grid[-1], users_that_miss_all(targets, basis.demands, basis.think_s))
    solved = _try_model("mean values", notes, lambda: follow_mean_values(basis, reach)) if basis.demands else None
    law = _try_model("scalability law", notes, lambda: _fit_law(basis))
    followed_law = (
        follow_law(law, basis.think_s, basis.demands, MOST_LAW_USERS_RATIO * basis.most_users) if law else None
    )
    notes += _above_bounds_note(grid, basis, law)
    mean_values = _followed_model("mean values", solved, basis, grid, _mean_values_without(held_out_basis, basis))
    scalability = _followed_model("scalability law", followed_law, basis, grid, _law_without(held_out_basis))
    notes += [_wrong_note(model) for model in (mean_values, scalability) if model is not None and model.wrong]
    return Models(
        used=tuple(point.users for point in basis.points),
        think_s=basis.think_s,
        demands=basis.demands,
        kinds=basis.kinds,
        delay_s=basis.delay_s,
        saturation_users=basis.knee,
        saturates=basis.busiest,
        bounds=tuple(basis.bounds(users) for users in grid) if basis.demands else (),
        mean_values=mean_values,
        scalability=scalability,
        law=law,
        asked=targets,
        holds=_model_capacities(basis, targets, solved, followed_law),
        notes=tuple(notes),
    )


def _try_model(name: str, notes: list[str], make: Callable[[], _Result]) -> _Result | None:
    """The result of `make`; if it raises `ValueError`, None and a note."""
    try:
        return make()
    except ValueError as refusal:
        notes.append(f"No {name}: {refusal}.")
        return None


def _fit_law(basis: ModelBasis) -> FittedLaw:
    return fitted_law([point.users for point in basis.points], [point.throughput.value for point in basis.points])


def _above_bounds_note(grid: Sequence[int], basis: ModelBasis, law: FittedLaw | None) -> list[str]:
    """A note if the law has more throughput than the bounds allow, with the fewest users where it has."""
    if law is None or not basis.demands:
        return []
    saturated = [users for users in grid if users >= (basis.knee or 0.0)]
    above = [
        users
        for users in saturated
        if law.law.throughput(users) > basis.bounds(users).most_throughput * _ABOVE_BOUNDS_RATIO
    ]
    if not above:
        return []
    return [f"The scalability law has more throughput than the resources can give, from {people(above[0])} on."]


def _wrong_note(model: CapacityModel) -> str:
    """The sentence on a model that is not drawn."""
    users = people(model.response_miss.users) if model.response_miss else ""
    miss = (
        f"with {users} the model's mean response is {digits(1.0 + model.largest_response_miss)} times the measured one"
    )
    if model.name == "scalability law":
        return f"The scalability law is not drawn, and tells no capacity: {miss}."
    return (
        f"The mean values and the bounds are not drawn, and tell no capacity: {miss}. Users may wait for something "
        "that is no resource here, such as memory, and the longer the more they are."
    )


def _mean_values_without(without: ModelBasis | None, basis: ModelBasis) -> FollowedModel | None:
    """The mean values of a model without the point with the most users; None where they cannot be made."""
    if without is None or not without.demands:
        return None
    return _try_model("", [], lambda: follow_mean_values(without, basis.most_users, basis.most_users))


def _law_without(without: ModelBasis | None) -> FollowedModel | None:
    law = _try_model("", [], lambda: _fit_law(without)) if without is not None else None
    return follow_law(law, without.think_s, (), MOST_MODELLED_USERS) if law and without else None


def _followed_model(
    name: ModelName, follow: FollowedModel | None, basis: ModelBasis, grid: Sequence[int], without: FollowedModel | None
) -> CapacityModel | None:
    """The model with its curve and its errors; None without a model."""
    if follow is None:
        return None
    misses = [_model_miss(follow, point) for point in well_measured_points(basis.points)]
    answered = [miss for miss in misses if miss.response is not None]
    return CapacityModel(
        name=name,
        curve=tuple(follow.at(users) for users in grid if users <= follow.reach),
        throughput_miss=max(misses, key=lambda miss: abs(miss.throughput)),
        response_miss=max(answered, key=lambda miss: abs(miss.response or 0.0), default=None),
        held_out=None if without is None else _model_miss(without, basis.points[-1]),
    )


def _model_miss(follow: FollowedModel, point: LoadPoint) -> ModelMiss:
    figures, mean = follow.at(point.users), point.response_s.get("mean")
    return ModelMiss(
        users=point.users,
        throughput=figures.throughput.value / point.throughput.value - 1.0,
        response=figures.response_s.value / mean.value - 1.0 if mean and mean.value else None,
    )


def _model_capacities(
    basis: ModelBasis, targets: Sequence[ModelTarget], solved: FollowedModel | None, fitted: FollowedModel | None
) -> tuple[ModelCapacity, ...]:
    capacities = [capacity_bounds(basis.bounds, targets, basis.most_users)] if basis.demands else []
    for name, follow in (("mean values", solved), ("scalability law", fitted)):
        if follow is not None:
            capacities.append(model_capacity(name, follow, targets, basis.most_users))
    return tuple(holds for holds in capacities if holds is not None)


def _curve_users(basis: ModelBasis) -> list[int]:
    """The numbers of users of a curve, up to 1.5 times the measured ones, or past a near saturation point."""
    most = basis.most_users
    last = min(max(1.5 * most, 1.2 * (basis.knee or 0.0)), max(3.0 * most, 10.0), MOST_MODELLED_USERS)
    end = max(most, round(last))
    even = {1 + round(step * (end - 1) / _CURVE_STEPS) for step in range(_CURVE_STEPS + 1)}
    return sorted(even | {point.users for point in basis.points})


def _basis_notes(points: Sequence[LoadPoint], basis: ModelBasis) -> list[str]:
    """Notes on unused points, resources that other work fills, backgrounds, and growing demands."""
    notes = []
    if unused := sorted({point.users for point in points} - {point.users for point in basis.points}):
        notes.append(f"Not used, since not steady or not valid: {people(*unused)}.")
    for name in dict.fromkeys(name for point in basis.points for name in point.utilisation):
        if is_taken_by_others(basis.points, name):
            is_left_out = any(is_cpu_limit(demand.resource) for demand in basis.demands)
            effect = "the models leave out the waits for them" if is_left_out else "the users' demand is not known"
            notes.append(
                f"{capitalized(name)} had no idle time with any number of users, although the throughput grew: other "
                f"work uses what the users leave, so {effect}."
            )
    for demand in basis.demands:
        if demand.background:
            is_own = has_own_time(basis.points, demand.resource)
            reason = "taken by other work" if is_own else "busy whatever the users do"
            note = (
                f"{share(demand.background)} of {demand.resource} is {reason}. It is no demand of the users, but makes "
                f"their demands {1 / (1 - demand.background):.2f} times as long."
            )
            if is_own:
                note += (
                    " So the models let other work go first. The kernel shares the processors among all, so the "
                    "response times of the models may be too long, and their numbers of users too small."
                )
            notes.append(note)
        if demand.grows:
            (first, before), (last, after) = demand.by_users[0], demand.by_users[-1]
            notes.append(
                f"The demand of {demand.resource} is {after / before:.1f} times as large with {people(last)} as with "
                f"{first}. Mean values interpolate it; with more users it may stay constant or grow on."
            )
    return notes
