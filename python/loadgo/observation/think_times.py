"""The law of think times, from the pauses of histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loadgo.fitting.law_choice import choose_law
from loadgo.notation.laws import Law, written
from loadgo.observation.history import HistoryRead, pauses
from loadgo.observation.results import ThinkTimes


def think_times(files: Sequence[HistoryRead]) -> ThinkTimes | None:
    """The law of the pauses of all files: the simplest that fits, as `loadgo fit` chooses it; None without pauses.

    A drawn think time is no longer than the longest measured one.
    """
    parts = [pauses(file.lines) for file in files]
    seconds = [pause_s for part in parts for pause_s in part.seconds]
    if not seconds:
        return None
    values_ns = np.array(seconds, np.float64) * 1e9
    law = choose_law(values_ns).law
    if law.name in ("exponential", "lognormal"):
        law = replace(law, most=float(values_ns.max()))
    return ThinkTimes(
        law=_in_script(law),
        measured=len(seconds),
        mean_ns=float(values_ns.mean()),
        absences=sum(part.absences for part in parts),
        is_upper_bound=any(part.is_upper_bound for part in parts),
    )


def _in_script(law: Law) -> str:
    """The law as a script has it, where a constant has a name, too."""
    if law.name != "fixed":
        return written(law)
    return f"fixed({written(law)})" if law.mean > 0 else "none"
