"""The headline of a run, from its interactions alone: the p90 of the steady phase, and the errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.measures.usage import outcomes_of
from loadgo.records.interactions import IS_MEASURED, IS_UNSEEN, RESPONSE_NS, RESPONSE_OR_INFINITE_NS
from loadgo.stats.quantiles import Quantile, response_quantile

HEADLINE_PROBABILITY = 0.9


@dataclass(frozen=True)
class Headline:
    """The figures that stand for a run in a list, and for a run that goes on."""

    p90: Quantile
    """Without an interval."""
    errors: int
    """Interactions that failed, timed out or died."""
    counted: int
    """Interactions that the figures are of."""


def headline_of(interactions: pl.DataFrame) -> Headline:
    """The headline of the table `interactions`: of its steady phase, or without one of the whole run."""
    measured = interactions.filter(IS_MEASURED)
    steady = measured.filter(pl.col("phase").cast(pl.String) == "steady")
    rows = steady if len(steady) else measured
    seen = rows.filter(~IS_UNSEEN).with_columns(RESPONSE_NS)
    responses = seen.select(RESPONSE_OR_INFINITE_NS)
    p90 = response_quantile(np.sort(responses.to_series().cast(pl.Float64).to_numpy()), HEADLINE_PROBABILITY)
    return Headline(p90, outcomes_of(rows).errors, len(rows))
