"""The margin: the relative change that is too small to matter, and whether an interval lies within it.

On the scale of logarithms the margin is symmetric: with 5 %, from −4.8 % to +5 %. So B against A has the same verdict
as A against B.
"""

from __future__ import annotations

import math

from loadgo.errors import BadArgument
from loadgo.notation.quantities import percentage

DEFAULT_MARGIN_SHARE = 0.05
"""The relative change that counts as no difference by default."""


def margin_share(given: str | float) -> float:
    """The margin as a part of one, from `5%` or 0.05. Raises `BadArgument` for any other text, and for 0."""
    percent = percentage(given) if isinstance(given, str) else 100 * given
    if not percent or not 0 < percent < math.inf:
        raise BadArgument(f"`margin={given}`: write a percentage over 0, such as 5%").about("margin")
    return percent / 100


def margin_in_words(share: float) -> str:
    """The margin in percent, without a sign and without needless decimals: `5 %`."""
    return f"{100 * share:g} %"


def is_within_margin(low: float, high: float, margin: float) -> bool:
    """Whether an interval of relative changes, from `low` to `high`, lies within the margin."""
    return 1 / (1 + margin) - 1 <= low and high <= margin
