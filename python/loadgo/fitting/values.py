"""The values of a fitted machine: their laws, sources and resampled values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loadgo.fitting.uncertainty import ResampledValue
from loadgo.notation.laws import Law


@dataclass(frozen=True)
class FittedValue:
    """The value of a key of the machine file."""

    key: str
    """The key with dots, as in `--set`."""
    law: Law
    source: str
    """The source of the value, in words."""
    mean: ResampledValue | None = None
    """The law's mean; None where its uncertainty is not from resampling."""
    spread: ResampledValue | None = None
    """The law's standard deviation divided by its mean; None where it follows from the law."""
    correlation: ResampledValue | None = None
    """The odds (1 + r) / (1 - r) of a correlation r; None for a law."""
    deviation: float | None = None
    """The standard deviation of the logarithm of the mean, where it is not from resampling."""


@dataclass(frozen=True)
class FittedValues:
    """Fitted values with their assumptions, and values that are known."""

    values: tuple[FittedValue, ...]
    assumed: tuple[str, ...] = ()
    tables: tuple[tuple[str, Any], ...] = ()
    """Keys of the machine file that are known and not fitted, with their values."""


def join_values(*parts: FittedValues) -> FittedValues:
    """Joins values, assumptions and known values. Equal assumptions are kept once."""
    return FittedValues(
        values=tuple(value for part in parts for value in part.values),
        assumed=tuple(dict.fromkeys(text for part in parts for text in part.assumed)),
        tables=tuple(table for part in parts for table in part.tables),
    )
