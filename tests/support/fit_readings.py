"""Runs as a fit reads them, with the columns and fields that a test names."""

from typing import Any

import numpy as np
import polars as pl
from loadgo.fitting.reading import RunReading
from loadgo.fitting.uncertainty import Grouping
from loadgo.fitting.values import FittedValues
from loadgo.notation.laws import Law


def rows(**columns: list[Any]) -> pl.DataFrame:
    """Interactions; meters that are not named read 0."""
    count = len(next(iter(columns.values())))
    usual: dict[str, list[Any]] = {name: [0.0] * count for name in ("cpu", "ready", "paging", "io", "response")}
    return pl.DataFrame(usual | {"run": [0] * count, "line": list(range(count)), "command": ["edit"] * count} | columns)


def units(*weights: list[int]) -> Grouping:
    """Interactions that are units by themselves, drawn as often as these weights say; the first row has each once."""
    return Grouping(len(weights[0]), np.arange(len(weights[0])), np.array(weights, dtype=np.float64))


def by_key(values: FittedValues) -> dict[str, Law]:
    """The laws by their keys."""
    return {value.key: value.law for value in values.values}


def reading(**fields: Any) -> RunReading:
    """A run as a fit reads it, with these fields alone."""
    made = object.__new__(RunReading)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made
