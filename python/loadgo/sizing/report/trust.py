"""Whether to believe a capacity: the reasons against it, the meaning of its interval, and what speaks for it.

Without confidence in the interval the trust is low. It is moderate if other programs, unsteady trials, or a fitted
machine may make the capacity another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.measures.trust import (
    A_MODEL,
    NOTHING_ELSE_RAN,
    fitted_doubt,
    trust_line,
    unanswered_in_words,
    verdict_in_words,
)
from loadgo.notation.figures import capitalized, counted, number, people
from loadgo.running.prepared import is_host
from loadgo.sizing.curve import ENDED_EARLY
from loadgo.sizing.search.neighbours import is_quiet, other_work_doubts
from loadgo.sizing.search.results import Capacity, TrialRecord
from loadgo.stats.student import INTERVAL_CONFIDENCE

_MOST_LATE_SHARE = 0.01
"""From this share of late lines on, the trust names them. A run's p99 of lateness is then late."""


def capacity_trust(capacity: Capacity, *, is_warned: bool) -> str:
    """The line on whether to believe the answer. `is_warned`: a warning stands over it. Empty without an answer."""
    if capacity.interval is None:
        return ""
    against, is_open = _against(capacity, is_warned=is_warned), capacity.answer is None and capacity.end != "range"
    verdict = verdict_in_words(against, is_warned=is_warned, is_low=not capacity.confidence)
    sentences = (interval_in_words(capacity), _grounds(capacity), _scope(capacity))
    return trust_line(verdict, sentences, "how many users meet the targets" if is_open else "")


def interval_in_words(capacity: Capacity) -> str:
    """The sentence on what the interval of the answer means, without its full stop.

    Empty where the answer has no two ends, or where they have no confidence.
    """
    if capacity.interval is None or not capacity.confidence:
        return ""
    (low, high), percent = capacity.interval, f"{100 * capacity.confidence:.0f}"
    if not low or high is None:
        return ""
    numbers = f"{low:,} to {people(high)}" if low < high else f"{people(low)} alone"
    return f"The {percent} % interval is {numbers}: in {percent} of 100 such searches it holds the true number"


def _against(capacity: Capacity, *, is_warned: bool) -> list[str]:
    """The reasons for doubt that are no warning, and that none of the warnings has."""
    reasons = []
    if not capacity.confidence:
        if any(point.valid for point in capacity.points):
            reasons.append("the ends are only more likely than not")
    elif capacity.confidence < INTERVAL_CONFIDENCE:
        reasons.append(f"the confidence is {100 * capacity.confidence:.0f} %, not {100 * INTERVAL_CONFIDENCE:.0f} %")
    if is_host(capacity.on):
        reasons += other_work_doubts(capacity.neighbours, capacity.on, is_warned=is_warned)
    unsteady = [
        point.users for point in capacity.points if point.valid and not point.steady and point.steady_why != ENDED_EARLY
    ]
    if unsteady:
        reasons.append(f"with {people(*unsteady)} the response times had not settled")
    reasons += _unanswered(capacity)
    reasons += late_driver(capacity.each_trial)
    reasons += _invalid_beyond(capacity)
    doubt = capacity.fit_doubt
    if doubt is not None and doubt.fitted_users:
        reasons.append(fitted_doubt(doubt.fitted_users))
    return reasons


def _invalid_beyond(capacity: Capacity) -> list[str]:
    """The reason that no trial with more users was valid, where the answer is only a lower end."""
    low, high = capacity.interval or (0, None)
    tried = sorted({trial.users for trial in capacity.each_trial if trial.users > low and not trial.valid})
    if high is not None or capacity.fit_doubt is not None or not capacity.confidence or not tried:
        return []
    return [f"with {people(*tried)} no trial was valid"]


def late_driver(trials: Sequence[TrialRecord]) -> list[str]:
    """The reason that the driver was late in trials that the answer uses, as their own reports warn.

    A trial in which a few lines were late is valid, since a response is measured from its own sending.
    """
    used = [trial for trial in trials if trial.used and trial.valid]
    late, lines = sum(trial.late for trial in used), sum(trial.interactions for trial in used)
    if not lines or late / lines <= _MOST_LATE_SHARE:
        return []
    return [f"the driver sent {number(late)} of {number(lines)} lines late"]


def _unanswered(capacity: Capacity) -> list[str]:
    """The reasons that lines had no answer with numbers of users that the capacity contains.

    Beyond the capacity that is why a target is missed, and no doubt.
    """
    contained = [point for point in capacity.points if point.unanswered and point.users <= (capacity.answer or 0)]
    return [
        f"with {people(point.users)} {unanswered_in_words(point.unanswered, point.interactions)}" for point in contained
    ]


def _grounds(capacity: Capacity) -> str:
    """The sentence on what speaks for the answer, without its full stop; empty if nothing does."""
    points = capacity.points
    grounds = []
    left_out = sum(not trial.valid for trial in capacity.each_trial)
    if points and left_out and all(point.valid for point in points):
        grounds.append(f"{capacity.trials - left_out:,} of {counted(capacity.trials, 'trial')} are valid")
    elif points and all(point.valid for point in points):
        unsteady = sum(not point.steady for point in points)
        steady = " and steady" if not unsteady else ", but not steady" if unsteady == len(points) else ""
        grounds.append(
            f"all {counted(capacity.trials, 'trial')} are valid{steady}"
            if capacity.trials > 1
            else f"the trial is valid{steady}"
        )
    if not is_host(capacity.on):
        grounds.append(NOTHING_ELSE_RAN)
    elif capacity.neighbours is not None and is_quiet(capacity.neighbours):
        grounds.append("the host was quiet")
    return capitalized("; ".join(grounds))


def _scope(capacity: Capacity) -> str:
    return "" if is_host(capacity.on) else A_MODEL
