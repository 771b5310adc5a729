"""The columns of the points of a sweep."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

INTERVAL_FIGURES = ("throughput", "mean_s", "p50_s", "p90_s", "p95_s", "p99_s", "busy")
"""Figures of a point that have an interval: a second, seconds, or a share."""


def interval_columns(name: str) -> tuple[str, str]:
    """The columns of the ends of a figure's interval: `p90_low_s` and `p90_high_s` for `p90_s`."""
    stem = name.removesuffix("_s")
    unit = name.removeprefix(stem)
    return f"{stem}_low{unit}", f"{stem}_high{unit}"


_FIGURE_COLUMNS: dict[str, pl.DataType] = {
    column: pl.Float64() for name in INTERVAL_FIGURES for column in (name, *interval_columns(name))
}
_LAST_COLUMNS: dict[str, pl.DataType] = {
    "errors": pl.Float64(),
    "interactions": pl.UInt64(),
    "virtual_s": pl.Float64(),
    "problem": pl.String(),
}


def columns_of(settings: Iterable[str]) -> dict[str, pl.DataType]:
    """The columns of a sweep with these settings, in order."""
    names: dict[str, pl.DataType] = {"point": pl.UInt32(), "machine": pl.String()}
    names |= {f"set {key}": pl.String() for key in settings}
    return names | {"users": pl.UInt32(), "seed": pl.UInt64()} | _FIGURE_COLUMNS | _LAST_COLUMNS
