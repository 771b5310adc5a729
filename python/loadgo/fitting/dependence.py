"""Commands whose processor time and waits rise or fall together, which a fitted machine draws independently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from loadgo.notation.figures import as_code, in_words
from loadgo.stats.resample import Floats

_FEWEST_INTERACTIONS = 30
_SURE_SHARE = 0.01
"""A dependence is told if chance alone shows as much in fewer cases than this share."""
_SMALL_VARIANCE_SHARE = 0.1
"""A smaller change of the variance of processor time and wait together is not told."""


@dataclass(frozen=True)
class Dependence:
    """How much more the sum of processor time and wait varies than if they were independent."""

    command: str
    variance_ratio: float


def dependences(rows: pl.DataFrame, waits: Floats) -> list[Dependence]:
    """The commands whose waits depend on their processor time (Spearman's rank correlation, at 1 %), in their order.

    `rows` are interactions, and `waits` their waits in nanoseconds.
    """
    names, cpu = rows["command"].to_numpy(), rows["cpu"].to_numpy()
    found = []
    for name in rows["command"].unique(maintain_order=True).to_list():
        work, wait = cpu[names == name], waits[names == name]
        if len(work) < _FEWEST_INTERACTIONS or not (np.ptp(work) and np.ptp(wait)):
            continue
        ratio = float((work + wait).var() / (work.var() + wait.var()))
        if abs(ratio - 1.0) > _SMALL_VARIANCE_SHARE and stats.spearmanr(work, wait).pvalue < _SURE_SHARE:
            found.append(Dependence(str(name), ratio))
    return found


def dependence_words(rows: pl.DataFrame, waits: Floats, waited_for: str) -> tuple[str, ...]:
    """An assumption of the machine, in words, for the commands that contradict it; nothing if none does."""
    found = dependences(rows, waits)
    if not found:
        return ()
    told = [
        f"{as_code(one.command)} (their sum has {one.variance_ratio:.2f} times the variance, so its longest responses "
        f"are predicted too {'short' if one.variance_ratio > 1 else 'long'})"
        for one in found
    ]
    return (
        f"processor time and {waited_for} are drawn independently, though in these runs they are not: {in_words(told)}",
    )
