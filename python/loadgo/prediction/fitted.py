"""The fit in a machine file, and settings of the machine that are drawn from the fit's covariance.

A draw multiplies each fitted value by e^z, where z is normal with the fit's covariance. So values are positive, and a
relative uncertainty is the same at any size. A correlation r has the value (1 + r) / (1 - r), the logarithm of which is
twice Fisher's z: so r stays between -1 and 1. A value that was changed since the fit (`--set`, or a machine that is
`like` the fitted machine) is not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadgo.notation.keys import parts_of
from loadgo.notation.laws import Law, read_law, scaled, spread_out, written
from loadgo.notation.toml_text import toml_table

Floats = NDArray[np.float64]

_LARGEST_CORRELATION_RATIO = 0.999
"""A correlation beyond it counts as this one, so that its odds have a logarithm."""
_TEXT_TOLERANCE = 1e-5
"""Largest relative change of a value that was written as text and read again."""


@dataclass(frozen=True)
class Parameter:
    """A value of the machine that was fitted to runs."""

    key: str
    """The key as in `--set`."""
    of: str
    """`mean` or `spread`: the property of the law under the key; `correlation` for a correlation."""
    value: str
    low: str | None
    high: str | None
    source: str


@dataclass(frozen=True)
class Fitted:
    """The table `[fit]` of a machine file."""

    script: str
    runs: tuple[str, ...]
    users: tuple[int, ...]
    interactions: int
    assumed: tuple[str, ...]
    warnings: tuple[str, ...]
    """Reasons to doubt the fit, such as a mean response that the machine misses."""
    parameters: tuple[Parameter, ...]
    covariance: Floats
    """Covariance of the natural logarithms of the parameters, of shape (parameters, parameters); empty if unknown.

    Of a correlation it is that of the logarithm of its odds.
    """
    reference: str = ""
    """Time of a piece of the reference work at the speed at which the demands hold; empty where it is not known."""


def correlation_odds(correlation: float) -> float:
    """The odds (1 + r) / (1 - r) of a correlation r, which are over 0."""
    bounded = min(max(correlation, -_LARGEST_CORRELATION_RATIO), _LARGEST_CORRELATION_RATIO)
    return (1.0 + bounded) / (1.0 - bounded)


def correlation_of_odds(odds: float) -> float:
    """The correlation with these odds."""
    return (odds - 1.0) / (odds + 1.0)


def fitted_in(text: str) -> Fitted | None:
    """The fit in a machine's merged text; None if the machine was not fitted."""
    section = toml_table(text).get("fit")
    if section is None:
        return None
    return Fitted(
        script=section.get("script", ""),
        runs=tuple(section.get("runs", ())),
        users=tuple(section.get("users", ())),
        interactions=section.get("interactions", 0),
        assumed=tuple(section.get("assumed", ())),
        warnings=tuple(section.get("warnings", ())),
        parameters=tuple(_parameter(row) for row in section.get("parameters", ())),
        covariance=np.array(section.get("covariance", ()), dtype=np.float64),
        reference=section.get("reference", ""),
    )


def _parameter(row: Mapping[str, str]) -> Parameter:
    return Parameter(
        key=row["key"],
        of=row.get("of", "mean"),
        value=row["value"],
        low=row.get("low"),
        high=row.get("high"),
        source=row.get("source", ""),
    )


def drawn_settings(text: str, draws: int, seed: int = 1) -> list[tuple[str, ...]]:
    """Draws settings of a machine's merged `text`, as `--set` takes them: one tuple for each of `draws`.

    The list is empty if the machine was not fitted, has no covariance, or has none of the fitted values any more.
    Draw k does not depend on the number of draws.
    """
    fit = fitted_in(text)
    if fit is None or not len(fit.covariance):
        return []
    laws = _laws_as_fitted(toml_table(text), fit)
    if not laws:
        return []
    root = _square_root(fit.covariance)
    factors = [np.exp(root @ np.random.default_rng([seed, draw]).standard_normal(len(root))) for draw in range(draws)]
    return [tuple(_settings(fit, laws, draw)) for draw in factors]


def _settings(fit: Fitted, laws: Mapping[str, Law], factors: Floats) -> list[str]:
    drawn_laws = dict(laws)
    for parameter, factor in zip(fit.parameters, factors, strict=True):
        if parameter.key in drawn_laws:
            change = _CHANGES.get(parameter.of, scaled)
            drawn_laws[parameter.key] = change(drawn_laws[parameter.key], float(factor))
    return [f"{key}={written(law)}" for key, law in drawn_laws.items()]


def _correlated(law: Law, factor: float) -> Law:
    """The correlation whose odds are `factor` times as large."""
    return replace(law, values=(correlation_of_odds(correlation_odds(law.mean) * factor),))


_CHANGES = {"spread": spread_out, "correlation": _correlated}


def keys_as_fitted(text: str, fit: Fitted) -> frozenset[str]:
    """The keys under which the machine of a merged `text` still has the fit's laws."""
    return frozenset(_laws_as_fitted(toml_table(text), fit))


def _laws_as_fitted(machine: Mapping[str, Any], fit: Fitted) -> dict[str, Law]:
    """The laws that the machine still has as they were fitted, by key."""
    laws: dict[str, Law | None] = {}
    for parameter in fit.parameters:
        law = laws.get(parameter.key, law_at(machine, parameter.key))
        laws[parameter.key] = law if law is not None and _has_fitted_value(law, parameter) else None
    return {key: law for key, law in laws.items() if law is not None}


def _has_fitted_value(law: Law, parameter: Parameter) -> bool:
    fitted = read_law(parameter.value).mean if parameter.of == "mean" else float(parameter.value)
    current = law.spread if parameter.of == "spread" else law.mean
    return abs(current - fitted) <= _TEXT_TOLERANCE * abs(fitted)


def law_at(machine: Mapping[str, Any], key: str) -> Law | None:
    """The law under a dotted key, in which a name with dots has quotes; None if the machine has no such key."""
    node: Any = machine
    for name in parts_of(key):
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = node[name]
    return read_law(node) if isinstance(node, str | int | float) else None


def _square_root(covariance: Floats) -> Floats:
    """A matrix whose product with its transpose is the covariance. Negative eigenvalues, from rounding, become 0."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root: Floats = vectors * np.sqrt(np.clip(values, 0.0, None))
    return root
