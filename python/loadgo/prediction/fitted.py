"""What a machine file says of its own fit, and the machine drawn again within that doubt.

A drawing multiplies each fitted value by e^z, where z is normal with the fit's covariance: values are positive, and
what is known to one part in ten stays so at any size. A value that has been changed since the fit (`--set`, or a
machine that is `like` the fitted one) is no longer the fit's, and is left as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadgo.notation.keys import parts_of
from loadgo.notation.laws import Law, read_law, scaled, spread_out, written

Floats = NDArray[np.float64]

_SAME = 1e-5
"""Of a value that was written and read again, by how much of itself it may differ."""


@dataclass(frozen=True)
class Parameter:
    """A value of the machine that was found from runs."""

    key: str
    """As `--set` has it."""
    of: str
    """`mean` or `spread`: what of the law that stands there."""
    value: str
    low: str | None
    high: str | None
    source: str


@dataclass(frozen=True)
class Fitted:
    """What a machine file says of its fit (`[fit]`)."""

    script: str
    runs: tuple[str, ...]
    users: tuple[int, ...]
    interactions: int
    assumed: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    covariance: Floats
    """Of the natural logarithms of the parameters: shape (parameters, parameters); empty where it is not known."""


def fitted_in(text: str) -> Fitted | None:
    """What a machine's text, as it is printed, says of its fit; None where the machine was not fitted."""
    told = tomllib.loads(text).get("fit")
    if told is None:
        return None
    return Fitted(
        script=told.get("script", ""),
        runs=tuple(told.get("runs", ())),
        users=tuple(told.get("users", ())),
        interactions=told.get("interactions", 0),
        assumed=tuple(told.get("assumed", ())),
        parameters=tuple(_parameter(one) for one in told.get("parameters", ())),
        covariance=np.array(told.get("covariance", ()), dtype=np.float64),
    )


def _parameter(told: Mapping[str, str]) -> Parameter:
    return Parameter(
        key=told["key"],
        of=told.get("of", "mean"),
        value=told["value"],
        low=told.get("low"),
        high=told.get("high"),
        source=told.get("source", ""),
    )


def drawn_settings(text: str, draws: int, seed: int = 1) -> list[tuple[str, ...]]:
    """The machine of a printed `text` drawn again so many times: each drawing is what `--set` would be given.

    Empty where the machine was not fitted, its covariance is not known, or nothing of the fit is left in it. Drawing k
    is the same however many are asked for.
    """
    fit = fitted_in(text)
    if fit is None or not len(fit.covariance):
        return []
    laws = _laws(tomllib.loads(text), fit)
    if not laws:
        return []
    roots = _root(fit.covariance)
    factors = [np.exp(roots @ np.random.default_rng([seed, draw]).standard_normal(len(roots))) for draw in range(draws)]
    return [tuple(_settings(fit, laws, one)) for one in factors]


def _settings(fit: Fitted, laws: Mapping[str, Law], factors: Floats) -> list[str]:
    drawn = dict(laws)
    for parameter, factor in zip(fit.parameters, factors, strict=True):
        if parameter.key in drawn:
            change = spread_out if parameter.of == "spread" else scaled
            drawn[parameter.key] = change(drawn[parameter.key], float(factor))
    return [f"{key}={written(law)}" for key, law in drawn.items()]


def keys_as_fitted(text: str, fit: Fitted) -> frozenset[str]:
    """The keys under which the machine of a printed `text` still has the fit's laws."""
    return frozenset(_laws(tomllib.loads(text), fit))


def _laws(machine: Mapping[str, Any], fit: Fitted) -> dict[str, Law]:
    """By key, the laws that the machine has as they were fitted."""
    found: dict[str, Law | None] = {}
    for parameter in fit.parameters:
        law = found.get(parameter.key, law_at(machine, parameter.key))
        is_the_fit_s = law is not None and _close(law, parameter)
        found[parameter.key] = law if is_the_fit_s else None
    return {key: law for key, law in found.items() if law is not None}


def _close(law: Law, parameter: Parameter) -> bool:
    fitted = read_law(parameter.value).mean if parameter.of == "mean" else float(parameter.value)
    now = law.mean if parameter.of == "mean" else law.spread
    return abs(now - fitted) <= _SAME * abs(fitted)


def law_at(machine: Mapping[str, Any], key: str) -> Law | None:
    """The law under a dotted key, whose names may hold quotes where they hold dots."""
    place: Any = machine
    for part in parts_of(key):
        if not isinstance(place, Mapping) or part not in place:
            return None
        place = place[part]
    return read_law(place) if isinstance(place, str | int | float) else None


def _root(covariance: Floats) -> Floats:
    """A matrix whose product with its transpose is the covariance; what rounding made negative is 0."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root: Floats = vectors * np.sqrt(np.clip(values, 0.0, None))
    return root
