"""Whether to believe a comparison: the reasons against it, and what speaks for it.

Without an interval the trust is low. It is moderate if the intervals leave out something as large, such as the drift
between runs.
"""

from __future__ import annotations

from loadgo.comparison.compare import Comparison
from loadgo.comparison.drift_words import ANSWERED_MEASURES, cannot_tell_measures, runs_a_side
from loadgo.comparison.judgement_words import unjudged_names
from loadgo.comparison.unlike_loads import UNLIKE_LOADS_DOUBT
from loadgo.decomposition.roads import disagreeing
from loadgo.measures.trust import A_MODEL, Evidence, effect_on, trust_in_words, unanswered_in_words
from loadgo.notation.figures import counted, in_words
from loadgo.notation.measures import name_of


def comparison_trust(comparison: Comparison, *, is_warned: bool) -> str:
    """The line on whether to believe the answer. `is_warned`: a warning stands over a run. Empty without figures."""
    if not comparison.rows.whole and not comparison.chains:
        return ""
    grounds = (*_interval_grounds(comparison), *_check_grounds(comparison), *_quiet_grounds(comparison))
    scope = A_MODEL if all(side.kind == "machine" for side in (comparison.a, comparison.b)) else ""
    evidence = Evidence(tuple(_against(comparison)), grounds, scope)
    is_low = not _has_intervals(comparison)
    return trust_in_words(evidence, is_warned=is_warned, is_low=is_low, untold=_untold(comparison))


def _untold(comparison: Comparison) -> str:
    """The part of the answer that the two sides cannot tell; empty if they tell all of it."""
    if comparison.judged:
        names = unjudged_names(comparison.judged)
        return f"whether the prediction of {in_words(names)} is right" if names else ""
    return effect_on([name_of(difference.measure) for difference in cannot_tell_measures(comparison.rows)])


def _against(comparison: Comparison) -> list[str]:
    """The reasons for doubt that are no warning."""
    rows, sides = comparison.rows, (comparison.a, comparison.b)
    reasons = []
    if not _has_intervals(comparison):
        is_printed = "printed" in (comparison.a.kind, comparison.b.kind)
        why = "printed figures have no intervals" if is_printed else "the runs are too short for intervals"
        reasons.append(f"{why}, so chance may explain any of the changes")
    elif rows.between.drift == "not known":
        reasons.append(
            f"the intervals are those within the runs, and from {runs_a_side(rows)} it is not known how much runs of "
            "this host differ by themselves"
        )
    if comparison.unlike_loads:
        reasons.append(UNLIKE_LOADS_DOUBT)
    if rows.waits is not None:
        reasons.append("the runs are short beside the waits of their users")
    if disagreeing(comparison.roads):
        reasons.append("two meters disagree on the ratio of B to A")
    if any(side.extrapolated for side in sides):
        reasons.append("a part of the figures is extrapolated")
    reasons += [
        f"in {side.name} other programs had {work.in_words} of the processors' time"
        for side in sides
        if (work := side.other_work) is not None and work.level == "partly busy"
    ]
    reasons += [
        f"in {side.name} {unanswered_in_words(side.unanswered, len(side.rows))}" for side in sides if side.unanswered
    ]
    return reasons


def _interval_grounds(comparison: Comparison) -> list[str]:
    rows = comparison.rows
    if not _has_intervals(comparison):
        return []
    a, b = rows.units
    units = f"{a} {rows.unit}s a side" if a == b else f"{a} and {b} {rows.unit}s"
    intervals = f"the 95 % intervals are from {units}"
    if rows.between.drift == "allowed":
        runs = rows.between.like_runs or sum(rows.between.live_runs)
        intervals += f" and include how much {counted(runs, 'run')} of this host differed" if runs else ""
    return [intervals]


def _check_grounds(comparison: Comparison) -> list[str]:
    verdicts = [check.verdict for _, check in comparison.checks]
    if "broken" in verdicts or "holds" not in verdicts:
        return []
    known = verdicts.count("holds")
    return [f"all {known} checks of the records hold" if known > 1 else "the check of the records holds"]


def _quiet_grounds(comparison: Comparison) -> list[str]:
    """The phrase on other work: that nothing else ran on simulated machines, or that the hosts were quiet."""
    sides = (comparison.a, comparison.b)
    if all(side.kind == "machine" for side in sides):
        return ["both sides are simulated, so nothing else ran"]
    works = [side.other_work for side in sides if side.kind == "host"]
    if works and all(work is not None and work.level == "quiet" for work in works):
        return ["the host was quiet" if len(works) == 1 else "the host was quiet in both"]
    return []


def _has_intervals(comparison: Comparison) -> bool:
    whole = comparison.rows.whole
    return any(whole[name].interval is not None for name in ANSWERED_MEASURES if name in whole)
