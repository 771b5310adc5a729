"""Sides of a comparison with live runs that differ by known factors."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from loadgo.comparison.compare import Comparison
from loadgo.comparison.side import Side
from loadgo.records.phases import Stretch

from support.compared_rows import rows_of_run
from support.synthetic import closed_loop

MEAN_NS = 2e9
USERS, PASSES = 12, 20
START = datetime(2026, 1, 1, tzinfo=UTC)


def side(seed: int, factors: Sequence[float], *, kind: str = "host", others: Sequence[float] = ()) -> Side:
    """A side with a run for each factor, which all its interactions take longer; runs are a minute apart."""
    rows = [_rows(run, seed + run, factor) for run, factor in enumerate(factors)]
    load = {"users": USERS, "duration_s": 10.0}
    template = closed_loop(2, 5)
    tables = [
        replace(
            template,
            conditions={
                "load": load,
                "script": "x.toml",
                "started": START + timedelta(minutes=seed + run),
                "finished": True,
                "outcome": "done",
            },
        )
        for run, _ in enumerate(factors)
    ]
    stretches = tuple(Stretch("all", 0, int(1e12), USERS * PASSES, 0, 0, 0, None) for _ in factors)
    made = Side("s", kind, "", pl.concat(rows), (), {}, (("x", "x"),), tuple(tables), stretches)  # type: ignore[arg-type]
    made.__dict__["others_shares"] = tuple(others) or (0.0,) * len(factors)
    return made


def _rows(run: int, seed: int, factor: float) -> pl.DataFrame:
    responses_ns = factor * MEAN_NS * np.random.default_rng(seed).gamma(9, 1 / 9, (PASSES, USERS))
    return rows_of_run(run, 1, responses_ns, "x")


def response(comparison: Comparison) -> str:
    return comparison.rows.whole["response"].verdict
