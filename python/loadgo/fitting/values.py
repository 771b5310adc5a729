"""A value of the machine that a fit found: the law, where it is from, and its estimates in every drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loadgo.fitting.uncertainty import Estimate
from loadgo.notation.laws import Law


@dataclass(frozen=True)
class Value:
    """What is written under a key of the machine file."""

    key: str
    """Dotted, as `--set` has it."""
    law: Law
    source: str
    """Where it is from, in words."""
    mean: Estimate | None = None
    """Of the law's mean; None where its doubt is not by drawing."""
    spread: Estimate | None = None
    """Of its standard deviation over its mean; None where the law has none of its own."""
    deviation: float | None = None
    """Of the logarithm of its mean, where that is known otherwise than by drawing."""


@dataclass(frozen=True)
class Found:
    """Values with what had to be assumed for them."""

    values: tuple[Value, ...]
    assumed: tuple[str, ...] = ()
    tables: tuple[tuple[str, Any], ...] = ()
    """Keys of the machine file that are known and not fitted, with their values."""


def joined(*parts: Found) -> Found:
    """All of them."""
    return Found(
        values=tuple(value for part in parts for value in part.values),
        assumed=tuple(dict.fromkeys(text for part in parts for text in part.assumed)),
        tables=tuple(pair for part in parts for pair in part.tables),
    )
