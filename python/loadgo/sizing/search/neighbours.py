"""The share of other work in the processors' time during the trials of a search, in figures and in words."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.measures.other_work import OtherWork, shows_programs_on
from loadgo.notation.figures import people, share
from loadgo.sizing.search.results import Neighbours, QuietCapacity, TrialRecord
from loadgo.sizing.search.trials import CapacityTrial


def neighbours_of(trials: Sequence[CapacityTrial] | Sequence[TrialRecord]) -> Neighbours | None:
    """The share of other work over these trials; None where no trial measured it."""
    measured = [(trial.others, trial.seconds) for trial in trials if trial.others is not None]
    all_seconds = sum(seconds for _, seconds in measured)
    if not all_seconds:
        return None
    shares = [part for part, _ in measured]
    mean = sum(part * seconds for part, seconds in measured) / all_seconds
    return Neighbours(mean, min(shares), max(shares))


def neighbours_in_words(neighbours: Neighbours | None) -> str:
    """Sentences on other work; empty where it took little. Of a busy host a warning tells it, and this says no more.

    What is known of the same host without other work is said in any case.
    """
    if neighbours is None or is_quiet(neighbours):
        return ""
    if _is_busy(neighbours):
        return "" if neighbours.quiet is None else _quiet_in_words(neighbours.quiet)
    least, most = share(neighbours.least), share(neighbours.most)
    between = f" ({least} to {most} from trial to trial)" if least != most else ""
    quiet = _quiet_in_words(neighbours.quiet)
    return f"During the search, other work took {share(neighbours.mean)} of the processors' time{between}. {quiet}"


def _quiet_in_words(quiet: QuietCapacity | None) -> str:
    """A sentence on the host without other work."""
    if quiet is None:
        return "A quiet host may support more users: to find out, search again when it is quiet."
    if quiet.users is None:
        return (
            f"For a quiet host, the bounds are {quiet.low:,} to {people(quiet.high)}, which is no measurement: no "
            "fewer than this busy one holds, and no more than the users' own processor time permits. To know it, "
            "search again when it is quiet."
        )
    return (
        f"For a quiet host, the prediction is {people(quiet.users)} ({quiet.low:,} to {quiet.high:,}, with 95 % "
        "confidence), from the differences between trials with more and with less other work."
    )


def is_quiet(neighbours: Neighbours) -> bool:
    """Whether other work took little in each trial."""
    return OtherWork(neighbours.most).level == "quiet"


def _is_busy(neighbours: Neighbours) -> bool:
    """Whether other work took so much over all trials that a warning stands over the answer."""
    return OtherWork(neighbours.mean).level == "busy"


def busy_warning(neighbours: Neighbours | None, on: str) -> list[str]:
    """The warning about the host `on` that was busy with other things over all trials; empty for any other host."""
    if neighbours is None or not _is_busy(neighbours):
        return []
    least, most = share(neighbours.least), share(neighbours.most)
    between = f" ({least} to {most} from trial to trial)" if least != most else ""
    return [
        f"The host was busy with other things: {share(neighbours.mean)} of its processors' time over all trials"
        f"{between}. The answer is for the host in that state, and a quiet one may support more users: search again "
        f"when it is quiet. {shows_programs_on(on)}"
    ]


def other_work_doubts(neighbours: Neighbours | None, on: str, *, is_warned: bool) -> list[str]:
    """The reason against trust that other programs on a host give, unless the warning about them has it already."""
    if neighbours is None:
        return ["what other programs took of the host was not measured"]
    if is_quiet(neighbours) or (is_warned and busy_warning(neighbours, on)):
        return []
    return [f"other programs took up to {share(neighbours.most)} of the processors' time in a trial"]
