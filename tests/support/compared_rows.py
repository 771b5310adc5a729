"""Rows of a side of a comparison that are made of chance alone, with every column that such rows have."""

from __future__ import annotations

import numpy as np
import polars as pl
from loadgo.comparison.side import ROW_SCHEMA
from loadgo.stats.resample import Floats


def rows_of_run(run: int, seed: int, responses_ns: Floats, command: str, **columns: Floats) -> pl.DataFrame:
    """The rows of one run, whose users type `command` in turn; `responses_ns` has the shape (passes, users)."""
    passes, users = responses_ns.shape
    numbers = np.arange(passes * users)
    known_columns = {
        "run": np.full(len(numbers), run),
        "seed": np.full(len(numbers), seed),
        "user": numbers % users + 1,
        "pass": numbers // users + 1,
        "line": np.ones(len(numbers)),
        "command": [command] * len(numbers),
        "extrapolated": np.zeros(len(numbers), bool),
        "moment": numbers / len(numbers),
        "response": responses_ns.ravel(),
        "ready wait": np.zeros(len(numbers)),
        **{name: values.ravel() for name, values in columns.items()},
    }
    return pl.DataFrame(known_columns).select(
        pl.col(name).cast(dtype) if name in known_columns else pl.lit(None, dtype).alias(name)
        for name, dtype in ROW_SCHEMA.items()
    )
