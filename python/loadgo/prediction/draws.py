"""Draws of a fitted machine's parameters from the fit's covariance.

A draw that makes no valid machine, such as a share above 1, is replaced by another. So the drawn values follow the
law of the parameters, truncated to valid machines. Values that were replaced since the fit are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.prediction.fitted import drawn_settings, fitted_in, keys_as_fitted

MOST_TRIES_PER_DRAW = 100
"""Largest number of draws for each valid one. Where more are needed, the covariance does not describe the machine."""

Settings = tuple[str, ...]
"""Values of a machine file as `--set` takes them: `commands.edit.cpu=83ms`."""


@dataclass(frozen=True)
class UncertainParameters:
    """The parameters of a machine that can be drawn."""

    parameters: tuple[str, ...]
    """Each a key of the machine file, and `mean` or `spread`."""
    set_aside: tuple[str, ...]
    """Keys whose fitted values were replaced."""
    users: tuple[int, ...]
    """The numbers of users in the runs from which the machine was fitted."""
    runs: tuple[str, ...]
    """The names of these runs."""


def uncertain_parameters(text: str) -> UncertainParameters | None:
    """The parameters that can be drawn of a machine's merged text; None for a machine without a fit or covariance."""
    fit = fitted_in(text)
    if fit is None or not fit.covariance.size:
        return None
    unchanged = keys_as_fitted(text, fit)
    return UncertainParameters(
        parameters=tuple(
            f"{parameter.key} {parameter.of}" for parameter in fit.parameters if parameter.key in unchanged
        ),
        set_aside=tuple(dict.fromkeys(parameter.key for parameter in fit.parameters if parameter.key not in unchanged)),
        users=fit.users,
        runs=fit.runs,
    )


def draw_parameters(
    text: str, count: int, seed: int, is_valid: Callable[[Settings], bool]
) -> tuple[tuple[Settings, ...], int]:
    """Draws `count` valid settings of a machine's merged text. Returns them and the number of invalid draws.

    The same seed gives the same draws. Raises `ValueError` if hardly any draw is valid.
    """
    valid: list[Settings] = []
    tries = 0
    while len(valid) < count:
        if tries >= MOST_TRIES_PER_DRAW * count:
            raise BadArgument(
                f"only {len(valid)} of {tries:,} draws from the fit's covariance make a valid machine: "
                "fit it from more interactions"
            )
        for settings in drawn_settings(text, tries + count, seed)[tries:]:
            if len(valid) < count:
                tries += 1
                valid += [settings] if is_valid(settings) else []
    return tuple(valid), tries - count
