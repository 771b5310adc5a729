"""Student's t: how many standard errors a 95 % interval reaches to either side.

`scipy.special` has the same function, but loading it takes longer than all else that the report of a small run does.
"""

from __future__ import annotations

import math
from functools import cache

INTERVAL_CONFIDENCE = 0.95
"""The confidence level of intervals, unless they say another."""


@cache
def student_reach(degrees: int, confidence: float = INTERVAL_CONFIDENCE) -> float:
    """The t for which -t to t holds `confidence` of Student's distribution with so many degrees of freedom.

    Newton's method from 0. It never steps beyond the answer, since the probability of -t to t is concave in t.
    """
    density_at_0 = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    reach = 0.0
    while True:
        density = density_at_0 * (1 + reach * reach / degrees) ** (-(degrees + 1) / 2)
        step = (confidence - _within(reach, degrees)) / (2 * density)
        if step <= 1e-14 * reach:
            return reach
        reach += step


def _within(reach: float, degrees: int) -> float:
    """The probability of -reach to reach (Abramowitz and Stegun, 1964, formulas 26.7.3 and 26.7.4)."""
    angle = math.atan(reach / math.sqrt(degrees))
    cosine = math.cos(angle)
    odd = degrees % 2
    term = math.sin(angle) * (cosine if odd else 1.0)
    total = 0.0
    for n in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cosine * cosine * (n - 1) / n
    return 2 / math.pi * (angle + total) if odd else total
