"""A ratio taken apart into factors that multiply to it exactly, when it is made of sums and products of meters.

ln(Y0 / Y1) is handed down from a figure to its parts. A product hands it on whole to each of them. A sum gives a part
(y0 - y1) / L(Y0, Y1) of it, with the logarithmic mean L(a, b) = (a - b) / ln(a / b); a product within a sum hands its
part on in the proportion of the logarithms of its own parts. The shares add up to ln(Y0 / Y1) identically, whichever
way round, and nothing is left over. B. W. Ang, Energy Policy 32 (2004), page 1131 (LMDI).

A part of a sum may be 0 or below on either side (something was removed, or a remainder): it is then not split further.
Values are arrays: the estimate first, then its draws, each of which is taken apart on its own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np

from loadgo.stats.resample import Floats, Interval

CLOSED = 1e-12
"""How far the sum of the shares may be off, as a part of 1: what floating point leaves."""


@dataclass(frozen=True)
class Link:
    """A figure before and after, as what it is made of; a figure without parts is a meter."""

    name: str
    before: Floats
    after: Floats
    kind: Literal["meter", "sum", "product"] = "meter"
    parts: tuple[Link, ...] = ()
    said: str = ""
    """What it is, in words."""


@dataclass(frozen=True)
class Share:
    """What one meter has of the logarithm of the whole ratio."""

    name: str
    of: str
    """The part of the sum that it is a part of; empty for a link of the chain itself."""
    log: Floats
    before: Floats
    after: Floats
    said: str = ""

    @property
    def factor(self) -> Floats:
        """What the whole is multiplied by because of it: above 1, less is used after than before."""
        factor: Floats = np.exp(self.log)
        return factor


def meter(name: str, before: Floats, after: Floats, said: str = "") -> Link:
    """A figure that is not taken apart."""
    return Link(name, before, after, said=said)


def product(name: str, parts: tuple[Link, ...], said: str = "") -> Link:
    """The product of its parts."""
    before = np.prod([part.before for part in parts], axis=0)
    return Link(name, before, np.prod([part.after for part in parts], axis=0), "product", parts, said)


def total(name: str, parts: tuple[Link, ...], said: str = "") -> Link:
    """The sum of its parts."""
    before = np.sum([part.before for part in parts], axis=0)
    return Link(name, before, np.sum([part.after for part in parts], axis=0), "sum", parts, said)


def log_mean(a: Floats, b: Floats) -> Floats:
    """L(a, b) = (a - b) / ln(a / b), for a, b > 0; L(a, a) = a. Exact to rounding also where a and b are close."""
    small = np.minimum(a, b)
    excess = np.abs(a - b) / small
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.abs(a - b) / np.log1p(excess)
    mean: Floats = np.where(excess == 0, a, between)
    return mean


def taken_apart(whole: Link) -> tuple[Share, ...]:
    """The shares of all its meters; they add up to ln(before / after).

    Raises `ValueError` in words where the whole, or a part of a product in it, is not above 0.
    """
    found = tuple(_product_shares(whole, np.ones_like(whole.before), ""))
    closed = sum((share.log for share in found), np.zeros_like(whole.before))
    ratio = np.log(whole.before / whole.after)
    off = np.abs(closed - ratio) > CLOSED * (1 + np.abs(ratio) + sum(np.abs(share.log) for share in found))
    assert not off.any(), f"the factors of {whole.name} do not multiply to it: {closed[off][:3]} for {ratio[off][:3]}"
    return found


def _product_shares(link: Link, weight: Floats, of: str) -> list[Share]:
    """The shares of a figure above 0, of whose logarithm `weight` counts."""
    if not (np.all(link.before > 0) and np.all(link.after > 0)):
        raise ValueError(f"{link.name} is 0 on one side: there is no ratio to take apart")
    if link.kind == "meter":
        return [Share(link.name, of, weight * np.log(link.before / link.after), link.before, link.after, link.said)]
    if link.kind == "product":
        return [share for part in link.parts for share in _product_shares(part, weight, of)]
    return _sum_shares(link, weight)


def _sum_shares(link: Link, weight: Floats) -> list[Share]:
    mean = log_mean(link.before, link.after)
    found = []
    for part in link.parts:
        splits = part.kind != "meter" and np.all(_leaves_above_0(part))
        if splits:
            found += _product_shares(part, weight * log_mean(part.before, part.after) / mean, part.name)
        else:
            log = weight * (part.before - part.after) / mean
            if np.any(part.before != 0) or np.any(part.after != 0):
                found.append(Share(part.name, link.name, log, part.before, part.after, part.said))
    return found


def _leaves_above_0(link: Link) -> bool:
    if not (np.all(link.before > 0) and np.all(link.after > 0)):
        return False
    return all(_leaves_above_0(part) for part in link.parts) if link.kind == "product" else True


def exponential(log: float) -> float:
    """The factor whose natural logarithm is `log`; the largest number where it would be beyond all numbers."""
    with np.errstate(over="ignore"):
        return min(float(np.exp(log)), sys.float_info.max)


def exponential_interval(interval: Interval | None) -> Interval | None:
    """The interval of a factor, from that of its logarithm."""
    return None if interval is None else Interval(exponential(interval.low), exponential(interval.high))
