"""Decomposition of a ratio into factors that multiply to it exactly, for figures made of sums and products of meters.

ln(Y0 / Y1) passes down from a figure to its parts. A product passes the logarithm of each part to that part. A sum
passes (y0 - y1) / L(Y0, Y1) to a part, with the logarithmic mean L(a, b) = (a - b) / ln(a / b). A product within a sum
divides its share in proportion to the logarithms of its own parts. The shares add up to ln(Y0 / Y1) exactly, without a
residual, and change sign if the sides are exchanged. B. W. Ang, Energy Policy 32 (2004), page 1131 (LMDI).

A part of a sum may be 0 or negative on either side, for instance a remainder. Such a part is not split further.
Values are arrays: the estimate first, then its resamples. Each of them is decomposed separately.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np

from loadgo.stats.resample import Floats, Interval

CLOSURE_TOLERANCE = 1e-12
"""Largest relative error of the sum of the shares. Only rounding may cause it."""


@dataclass(frozen=True)
class Link:
    """A figure before and after: the sum or the product of its parts, or without parts a meter."""

    name: str
    before: Floats
    after: Floats
    kind: Literal["meter", "sum", "product"] = "meter"
    parts: tuple[Link, ...] = ()
    description: str = ""
    """The figure's description in words."""


@dataclass(frozen=True)
class Share:
    """The share of one meter in the logarithm of the ratio."""

    name: str
    of: str
    """The sum to which the meter contributes. Empty if the meter is itself a factor of the ratio."""
    log: Floats
    before: Floats
    after: Floats
    description: str = ""

    @property
    def factor(self) -> Floats:
        """The meter's factor of the ratio. Above 1, the meter makes the figure smaller after than before."""
        factor: Floats = np.exp(self.log)
        return factor


def meter(name: str, before: Floats, after: Floats, description: str = "") -> Link:
    """A figure that is not decomposed further."""
    return Link(name, before, after, description=description)


def product(name: str, parts: tuple[Link, ...], description: str = "") -> Link:
    """The product of its parts."""
    before = np.prod([part.before for part in parts], axis=0)
    return Link(name, before, np.prod([part.after for part in parts], axis=0), "product", parts, description)


def total(name: str, parts: tuple[Link, ...], description: str = "") -> Link:
    """The sum of its parts."""
    before = np.sum([part.before for part in parts], axis=0)
    return Link(name, before, np.sum([part.after for part in parts], axis=0), "sum", parts, description)


def log_mean(a: Floats, b: Floats) -> Floats:
    """L(a, b) = (a - b) / ln(a / b) for a, b > 0, and L(a, a) = a. Exact to rounding, even if a and b are close."""
    small = np.minimum(a, b)
    excess = np.abs(a - b) / small
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.abs(a - b) / np.log1p(excess)
    mean: Floats = np.where(excess == 0, a, quotient)
    return mean


def decompose(figure: Link) -> tuple[Share, ...]:
    """The shares of all meters of `figure`. They add up to ln(before / after).

    Raises `ValueError` if the figure, or a part of a product in it, is not above 0.
    """
    shares = tuple(_product_shares(figure, np.ones_like(figure.before), ""))
    total_log = sum((share.log for share in shares), np.zeros_like(figure.before))
    ratio_log = np.log(figure.before / figure.after)
    scale = 1 + np.abs(ratio_log) + sum(np.abs(share.log) for share in shares)
    off = np.abs(total_log - ratio_log) > CLOSURE_TOLERANCE * scale
    assert not off.any(), (
        f"the factors of {figure.name} do not multiply to it: {total_log[off][:3]} for {ratio_log[off][:3]}"
    )
    return shares


def _product_shares(link: Link, weight: Floats, parent: str) -> list[Share]:
    """The shares of the meters of a figure above 0, whose logarithm counts with `weight`."""
    if not (np.all(link.before > 0) and np.all(link.after > 0)):
        raise ValueError(f"{link.name} is 0 on one side: there is no ratio to take apart")
    if link.kind == "meter":
        return [
            Share(
                link.name, parent, weight * np.log(link.before / link.after), link.before, link.after, link.description
            )
        ]
    if link.kind == "product":
        return [share for part in link.parts for share in _product_shares(part, weight, parent)]
    return _sum_shares(link, weight)


def _sum_shares(link: Link, weight: Floats) -> list[Share]:
    mean = log_mean(link.before, link.after)
    shares = []
    for part in link.parts:
        if part.kind != "meter" and _is_positive(part):
            shares += _product_shares(part, weight * log_mean(part.before, part.after) / mean, part.name)
        else:
            log = weight * (part.before - part.after) / mean
            if np.any(part.before != 0) or np.any(part.after != 0):
                shares.append(Share(part.name, link.name, log, part.before, part.after, part.description))
    return shares


def _is_positive(link: Link) -> bool:
    """Whether a figure, and each part of a product, is above 0 on both sides."""
    if not (np.all(link.before > 0) and np.all(link.after > 0)):
        return False
    return all(_is_positive(part) for part in link.parts) if link.kind == "product" else True


def exponential(log: float) -> float:
    """The factor whose natural logarithm is `log`, or the largest number if the factor is larger still."""
    with np.errstate(over="ignore"):
        return min(float(np.exp(log)), sys.float_info.max)


def exponential_interval(interval: Interval | None) -> Interval | None:
    """The interval of a factor, from the interval of its logarithm."""
    return None if interval is None else Interval(exponential(interval.low), exponential(interval.high))
