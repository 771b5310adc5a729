"""The law of think times and the typing rate, from the pauses and the keys of logs or watched sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loadgo.fitting.law_choice import choose_law
from loadgo.notation.laws import Law, written
from loadgo.observation.logs.log_read import LogRead, MeasuredTyping, joined_pauses
from loadgo.observation.results import ThinkTimes, TypingTimes


def think_times(logs: Sequence[LogRead]) -> ThinkTimes | None:
    """The law of the pauses of all logs: the simplest that fits, as `loadgo fit` chooses it; None without pauses.

    A drawn think time is no longer than the longest measured one.
    """
    pauses = joined_pauses(logs)
    return law_of_pauses(pauses.spans_ns, absences=pauses.absences, is_upper_bound=pauses.is_upper_bound)


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


def typing_times(logs: Sequence[LogRead]) -> TypingTimes | None:
    """The mean typing of all logs; None if no log has keys."""
    typing = sum((log.typing for log in logs), MeasuredTyping())
    if not typing.lines:
        return None
    return TypingTimes(typing.lines, typing.keys / typing.lines, typing.span_ns / typing.lines)


def _in_script(law: Law) -> str:
    """The law as a script has it, where a constant has a name, too."""
    if law.name != "fixed":
        return written(law)
    return f"fixed({written(law)})" if law.mean > 0 else "none"
