"""The doubt in a fitted machine: what is drawn of it, and the drawings that are a machine.

A drawing that is no machine (a share over 1, a law that cannot be) is drawn again: what is left is the law of the
parameters, cut off at what can be. What is set otherwise than it was fitted is no longer in doubt, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.prediction.fitted import drawn_settings, fitted_in, keys_as_fitted

MOST_TRIES = 100
"""Drawings for each that is kept: when fewer can be, the fit's covariance says nothing of the machine."""

Set = tuple[str, ...]
"""Values of a machine's file as `--set` has them: `commands.edit.cpu=83ms`."""


@dataclass(frozen=True)
class Doubt:
    """What is to be drawn of a machine."""

    parameters: tuple[str, ...]
    """Key, and `mean` or `spread`."""
    set_aside: tuple[str, ...]
    """Keys whose fitted values do not stand any more."""
    users: tuple[int, ...]
    """With how many users the machine was measured."""
    runs: tuple[str, ...]
    """In which runs."""


def doubt_in(text: str) -> Doubt | None:
    """The doubt in a machine's merged text; None where it was not fitted, or its fit has no covariance."""
    fit = fitted_in(text)
    if fit is None or not fit.covariance.size:
        return None
    stands = keys_as_fitted(text, fit)
    return Doubt(
        parameters=tuple(f"{one.key} {one.of}" for one in fit.parameters if one.key in stands),
        set_aside=tuple(dict.fromkeys(one.key for one in fit.parameters if one.key not in stands)),
        users=fit.users,
        runs=fit.runs,
    )


def drawn(text: str, count: int, seed: int, can_be: Callable[[Set], bool]) -> tuple[tuple[Set, ...], int]:
    """So many drawings of a machine's merged text for which `can_be` holds, and how many were drawn again; the same
    seed draws the same.

    Raises `ValueError` when hardly any drawing can be.
    """
    kept: list[Set] = []
    tries = 0
    while len(kept) < count:
        if tries >= MOST_TRIES * count:
            raise BadArgument(
                f"of {tries:,} drawings from the fit's covariance {len(kept)} make a machine that can be: "
                "fit it from more interactions"
            )
        for settings in drawn_settings(text, tries + count, seed)[tries:]:
            if len(kept) < count:
                tries += 1
                kept += [settings] if can_be(settings) else []
    return tuple(kept), tries - count
