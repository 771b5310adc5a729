"""The law of think times, from the pauses of histories or of sessions that were watched."""

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
    return law_of_pauses(
        [pause_s * 1_000_000_000 for part in parts for pause_s in part.seconds],
        absences=sum(part.absences for part in parts),
        is_upper_bound=any(part.is_upper_bound for part in parts),
    )


def law_of_pauses(
    pauses_ns: Sequence[int], *, absences: int, is_upper_bound: bool = False, first_key_ns: Sequence[int] = ()
) -> ThinkTimes | None:
    """The law of these pauses, as `think_times` has it. `first_key_ns` are the times until the first keys."""
    if not pauses_ns:
        return None
    values_ns = np.array(pauses_ns, np.float64)
    law = choose_law(values_ns).law
    if law.name in ("exponential", "lognormal"):
        law = replace(law, most=float(values_ns.max()))
    return ThinkTimes(
        law=_in_script(law),
        measured=len(pauses_ns),
        mean_ns=float(values_ns.mean()),
        absences=absences,
        is_upper_bound=is_upper_bound,
        first_key_ns=float(np.mean(first_key_ns)) if first_key_ns else None,
    )


def _in_script(law: Law) -> str:
    """The law as a script has it, where a constant has a name, too."""
    if law.name != "fixed":
        return written(law)
    return f"fixed({written(law)})" if law.mean > 0 else "none"
