"""What models make of the measured points of a capacity: bounds, exact mean values and the scalability law, together.

Each has its own extrapolation, and its doubt: the mean values are solved with the least and the most that any point
asks of each resource, the law has its interval of regression. How far each is off at the points that were measured, and
at the greatest when that is left out of the fit, is told beside: a model that misses what is known tells nothing of
what is not. Mean values need constant demands and nobody holding two resources at once; the law knows no think time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from loadgo.notation.figures import people
from loadgo.sizing.curve import Class, Point
from loadgo.sizing.models.answers import Asked, Holds, asked_of, bounds_hold, model_holds, wanted_reach
from loadgo.sizing.models.basis import Basis, Kind, basis_of
from loadgo.sizing.models.demands import Demand, own_told, taken_by_others, telling
from loadgo.sizing.models.extrapolation import MOST_USERS, At, Follow, follow_law, follow_mean_values
from loadgo.theory.job_bounds import JobBounds
from loadgo.theory.scalability import FittedLaw, fitted_law

Name = Literal["mean values", "scalability law"]

_Made = TypeVar("_Made")

_STEPS = 60
"""Points of a curve, about."""

MOST_TIMES = 10
"""The scalability law is asked for at most so many times the users that were measured: it knows no resource's end."""
_OVER = 1.05
"""A law that is above the bounds by more than this is told."""


@dataclass(frozen=True)
class Miss:
    """How far a model is off at a measured point, relative: 0.1 is a tenth more than measured."""

    users: int
    throughput: float
    response: float | None


@dataclass(frozen=True)
class Model:
    """One model, followed over the users."""

    name: Name
    curve: tuple[At, ...]
    """Somewhat beyond what was measured."""
    throughput_miss: Miss
    """At the telling point where its throughput is off the most."""
    response_miss: Miss | None
    """At the telling point where its response is off the most; None where no response was measured."""
    held_out: Miss | None
    """At the point with the most users, when the model is made without it; None where too few are left."""


@dataclass(frozen=True)
class Models:
    """All models of one capacity."""

    used: tuple[int, ...]
    """The numbers of users that they are made from."""
    think_s: float
    demands: tuple[Demand, ...]
    kinds: tuple[Kind, ...]
    delay_s: float
    """Of the mean interaction, what no resource explains."""
    saturation_users: float | None
    """N*: from there on the first resource has no time left; None where no resource was measured."""
    saturates: str | None
    """That resource."""
    bounds: tuple[JobBounds, ...]
    """Over the users; empty where no resource was measured."""
    mean_values: Model | None
    scalability: Model | None
    law: FittedLaw | None
    asked: tuple[Asked, ...]
    """The targets that models can be asked for."""
    holds: tuple[Holds, ...]
    """How many users each would hold."""
    notes: tuple[str, ...]
    """What no model could be made of, and what to doubt."""

    @property
    def models(self) -> tuple[Model, ...]:
        """Those that there are."""
        return tuple(one for one in (self.mean_values, self.scalability) if one is not None)


def models_of(
    points: Sequence[Point], servers: Mapping[str, int | None], classes: Sequence[Class] = ()
) -> Models | None:
    """The models of these points; None where no point is valid and steady.

    `servers` has how many servers each resource of `Point.utilisation` has; `classes` are those of a mix.
    """
    basis = basis_of(points, servers, classes)
    if basis is None:
        return None
    without = basis_of(basis.points[:-1], servers, classes)
    asked, grid, notes = asked_of(basis.points), _grid(basis), _doubts(points, basis)
    wanted = max(grid[-1], wanted_reach(asked, basis.demands, basis.think_s))
    solved = _or_note("mean values", notes, lambda: follow_mean_values(basis, wanted)) if basis.demands else None
    law = _or_note("scalability law", notes, lambda: _law(basis))
    fitted = follow_law(law, basis.think_s, basis.demands, MOST_TIMES * basis.most_users) if law else None
    notes += _too_much(grid, basis, law)
    return Models(
        used=tuple(one.users for one in basis.points),
        think_s=basis.think_s,
        demands=basis.demands,
        kinds=basis.kinds,
        delay_s=basis.delay_s,
        saturation_users=basis.knee,
        saturates=basis.busiest,
        bounds=tuple(basis.bounds(n) for n in grid) if basis.demands else (),
        mean_values=_model("mean values", solved, basis, grid, _solved_without(without, basis)),
        scalability=_model("scalability law", fitted, basis, grid, _fitted_without(without)),
        law=law,
        asked=asked,
        holds=_holds(basis, asked, solved, fitted),
        notes=tuple(notes),
    )


def _or_note(name: str, notes: list[str], make: Callable[[], _Made]) -> _Made | None:
    """What is made, or a note why it cannot be."""
    try:
        return make()
    except ValueError as refusal:
        notes.append(f"No {name}: {refusal}.")
        return None


def _law(basis: Basis) -> FittedLaw:
    return fitted_law([one.users for one in basis.points], [one.throughput.value for one in basis.points])


def _too_much(grid: Sequence[int], basis: Basis, law: FittedLaw | None) -> list[str]:
    """From where on the law would have a resource that has no time left do more than it can."""
    if law is None or not basis.demands:
        return []
    full = [n for n in grid if n >= (basis.knee or 0.0)]
    over = [n for n in full if law.law.throughput(n) > basis.bounds(n).most_throughput * _OVER]
    if not over:
        return []
    return [f"The scalability law has more throughput than the resources can give, from {people(over[0])} on."]


def _solved_without(without: Basis | None, basis: Basis) -> Follow | None:
    """The mean values made without the point with the most users; None where nothing is left to make them of."""
    if without is None or not without.demands:
        return None
    return _or_note("", [], lambda: follow_mean_values(without, basis.most_users, basis.most_users))


def _fitted_without(without: Basis | None) -> Follow | None:
    law = _or_note("", [], lambda: _law(without)) if without is not None else None
    return follow_law(law, without.think_s, (), MOST_USERS) if law and without else None


def _model(
    name: Name, follow: Follow | None, basis: Basis, grid: Sequence[int], without: Follow | None
) -> Model | None:
    """The model over the users, with what it misses; None where there is none."""
    if follow is None:
        return None
    misses = [_miss(follow, point) for point in telling(basis.points)]
    answered = [miss for miss in misses if miss.response is not None]
    return Model(
        name=name,
        curve=tuple(follow.at(n) for n in grid if n <= follow.reach),
        throughput_miss=max(misses, key=lambda one: abs(one.throughput)),
        response_miss=max(answered, key=lambda one: abs(one.response or 0.0), default=None),
        held_out=None if without is None else _miss(without, basis.points[-1]),
    )


def _miss(follow: Follow, point: Point) -> Miss:
    told, mean = follow.at(point.users), point.response_s.get("mean")
    return Miss(
        users=point.users,
        throughput=told.throughput.value / point.throughput.value - 1.0,
        response=told.response_s.value / mean.value - 1.0 if mean and mean.value else None,
    )


def _holds(basis: Basis, asked: Sequence[Asked], solved: Follow | None, fitted: Follow | None) -> tuple[Holds, ...]:
    found = [bounds_hold(basis.bounds, asked, basis.most_users)] if basis.demands else []
    for name, follow in (("mean values", solved), ("scalability law", fitted)):
        if follow is not None:
            found.append(model_holds(name, follow, asked, basis.most_users))
    return tuple(one for one in found if one is not None)


def _grid(basis: Basis) -> list[int]:
    """The numbers of users of a curve: to half as many again as measured, or past the knee where that is near."""
    most = basis.most_users
    last = min(max(1.5 * most, 1.2 * (basis.knee or 0.0)), max(3.0 * most, 10.0), MOST_USERS)
    end = max(most, round(last))
    even = {1 + round(step * (end - 1) / _STEPS) for step in range(_STEPS + 1)}
    return sorted(even | {one.users for one in basis.points})


def _doubts(points: Sequence[Point], basis: Basis) -> list[str]:
    """What was left out, and what a model with constant demands does not hold."""
    found = []
    if left := sorted({one.users for one in points} - {one.users for one in basis.points}):
        found.append(f"Not used, since not steady or not valid: {people(*left)}.")
    for name in dict.fromkeys(name for point in basis.points for name in point.utilisation):
        if taken_by_others(basis.points, name):
            found.append(
                f"{name.capitalize()} had no time left at any point, though the users did more and more: others use "
                "what users leave, and no model can tell how much they need."
            )
    for one in basis.demands:
        if one.background:
            whose = "taken by others" if own_told(basis.points, one.resource) else "busy whatever the users do"
            found.append(
                f"{one.background:.0%} of {one.resource} is {whose}: taken off, and the demands of "
                f"{one.resource} are {1 / (1 - one.background):.2f} times as long by it."
            )
        if one.grows:
            (first, before), (last, after) = one.by_users[0], one.by_users[-1]
            found.append(
                f"An interaction asks {after / before:.1f} times as much of {one.resource} with {people(last)} as with "
                f"{first}: mean values follow that from point to point; beyond, it may stay so or grow on."
            )
    return found
