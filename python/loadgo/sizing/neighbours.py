"""The neighbours of a search's users: the share of the processors' time that others took."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.measures.total_time import OTHERS_WARNING_SHARE
from loadgo.notation.figures import share
from loadgo.sizing.results import Neighbours
from loadgo.sizing.trials import CapacityTrial


def neighbours_of(trials: Sequence[CapacityTrial]) -> Neighbours | None:
    """The neighbours' share over these trials; None where no trial measured it."""
    measured = [(trial.others, trial.seconds) for trial in trials if trial.others is not None]
    all_seconds = sum(seconds for _, seconds in measured)
    if not all_seconds:
        return None
    shares = [part for part, _ in measured]
    mean = sum(part * seconds for part, seconds in measured) / all_seconds
    return Neighbours(mean, min(shares), max(shares))


def neighbours_in_words(neighbours: Neighbours | None) -> str:
    """Sentences on the neighbours; empty where they took next to nothing."""
    if neighbours is None or neighbours.most <= OTHERS_WARNING_SHARE:
        return ""
    least, most = share(neighbours.least), share(neighbours.most)
    between = f" ({least} to {most} from trial to trial)" if least != most else ""
    return (
        f"That is with neighbours taking {share(neighbours.mean)} of the processors{between}. The trials do not tell "
        "what it would be on a quiet host: for that, search when it is quiet."
    )
