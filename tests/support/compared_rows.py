"""Rows of a side of a comparison that are made of chance alone, with every column that such rows have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from loadgo.comparison.side import ROW_SCHEMA, Side
from loadgo.records.phases import Stretch
from loadgo.stats.resample import Floats

from support.synthetic import closed_loop


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


USERS, PASSES = 12, 20
MEAN_NS = 2e9


def side(
    name: str,
    seed: int,
    factors: Mapping[str, float],
    conditions: Mapping[str, str] | None = None,
    *,
    kind: str = "machine",
    passes: int = PASSES,
) -> Side:
    """A side of users who type each command in turn. A command takes `factors` times as long as `MEAN_NS`."""
    random = np.random.default_rng(seed)
    rows = [
        rows_of_run(0, 1, factor * MEAN_NS * random.gamma(9, 1 / 9, (passes, USERS)), command).with_columns(
            line=pl.lit(line, pl.Int64)
        )
        for line, (command, factor) in enumerate(factors.items(), start=1)
    ]
    lines = tuple((str(line), command) for line, command in enumerate(factors, start=1))
    stretch = Stretch("all", 0, int(1e12), USERS * passes * len(factors), 0, 0, 0, None)
    load = {"load": {"users": USERS}, "script": "x.toml", "finished": True, "outcome": "done"}
    tables = replace(closed_loop(2, 5), conditions=load)
    made = Side(name, kind, "", pl.concat(rows), (), conditions or {}, lines, (tables,), (stretch,))  # type: ignore[arg-type]
    made.__dict__["others_shares"] = (0.0,)
    return made
