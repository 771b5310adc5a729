"""A mean of observations, adjusted for a covariate that was measured beside each: the analysis of covariance.

If the covariate explains a part of the scatter, the mean at its value 0 is known better than the plain mean. The slope
is estimated, which costs one degree of freedom. The covariate must not depend on what the observations are about.
R. A. Fisher, Statistical Methods for Research Workers, 1932, section 49.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_ADJUSTED_VALUES = 5
"""The fewest observations that are adjusted: the scatter about a line through fewer says too little."""


@dataclass(frozen=True)
class AdjustedMean:
    """A mean with its standard error."""

    value: float
    error: float
    """The standard error; 0 of one observation."""
    slope: float
    """The change of an observation with the covariate; 0 where the mean is not adjusted."""


def adjusted_mean(values: Sequence[float], covariate: Sequence[float] | None = None) -> AdjustedMean:
    """The mean of `values` at the value 0 of the `covariate`; of few values, or without a covariate, the plain mean."""
    count = len(values)
    mean = math.fsum(values) / count
    scatter = math.fsum((value - mean) ** 2 for value in values)
    plain = AdjustedMean(mean, math.sqrt(scatter / max(count - 1, 1) / count), 0.0)
    if covariate is None or count < FEWEST_ADJUSTED_VALUES:
        return plain
    middle = math.fsum(covariate) / count
    spread = math.fsum((beside - middle) ** 2 for beside in covariate)
    if spread <= 0:
        return plain
    product = math.fsum((beside - middle) * value for beside, value in zip(covariate, values, strict=True))
    slope = product / spread
    variance = max(scatter - slope * product, 0.0) / (count - 2)
    return AdjustedMean(mean - slope * middle, math.sqrt(variance * (1 / count + middle**2 / spread)), slope)
