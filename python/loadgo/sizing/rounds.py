"""The search at work: each step becomes a trial of fitting length, watched while it runs, until there is an outcome."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from loadgo.notation.figures import people
from loadgo.sizing.outcomes import Outcome, Step, Untold, Wanted
from loadgo.sizing.results import Progress
from loadgo.sizing.search import next_step, standing
from loadgo.sizing.steady_state import steadiness_of
from loadgo.sizing.trials import Trial

FEWEST_CYCLES = 24.0
"""A trial is at least as long as so many cycles of a user: six batches of four."""
WARM_UP_CYCLES = 3.0
"""Left out at a trial's beginning: queues fill at the pace at which users come round."""
WARM_UP_SHARE = 0.1
"""And at least this part of what counts."""
AGAIN = 2
"""How often a trial that was not steady is done again, each time twice as long."""


class Tries(Protocol):
    """What makes a trial: users, seed, warm-up and length in seconds; without a length, the first of all."""

    def __call__(self, step: Step, seed: int, length: Length | None) -> Trial: ...


@dataclass(frozen=True)
class Length:
    """How long a trial is, in the system's own time."""

    warm_up_s: float
    seconds: float


@dataclass(frozen=True)
class Bounds:
    """How short and how long a trial may be, in the system's own time."""

    shortest_s: float = 0.0
    longest_s: float = math.inf


@dataclass(frozen=True)
class Searched:
    """All trials, and what they came to."""

    trials: tuple[Trial, ...]
    """That count."""
    left_out: tuple[Trial, ...]
    """That were not steady, and were done again longer; or that measured the driver, and not the system."""
    outcome: Outcome


def search(
    tries: Tries,
    wanted: Wanted,
    *,
    seed: int = 1,
    bounds: Bounds | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Searched:
    """Makes trials until there is an outcome; `stop` ends the search with what is known by then."""
    trials: list[Trial] = []
    left_out: list[Trial] = []
    stopped = stop or threading.Event()
    while True:
        step = next_step(trials, wanted)
        if not isinstance(step, Step):
            return Searched(tuple(trials), tuple(left_out), step)
        for again in range(AGAIN + 1):
            length = length_of(step, trials, bounds or Bounds(), 2.0**again)
            made = tries(step, seed + len(trials) + len(left_out), length)
            if progress is not None:
                progress(_told(made, wanted))
            if stopped.is_set() or not made.valid:
                why = made.why or "the search was stopped"
                return Searched(tuple(trials), (*left_out, made), _so_far(trials, wanted, why))
            if again == AGAIN or counts(made, wanted):
                trials.append(made)
                break
            left_out.append(made)


def _so_far(trials: Sequence[Trial], wanted: Wanted, why: str) -> Untold:
    """What the trials tell that were made."""
    stands = {trial.users: standing(trial.users, trials, wanted) for trial in trials}
    missed = min((users for users, stood in stands.items() if stood == "missed"), default=None)
    met = [users for users, stood in stands.items() if stood == "met" and (missed is None or users < missed)]
    return Untold(max(met, default=0), None if missed is None else missed - 1, why)


def _told(trial: Trial, wanted: Wanted) -> str:
    """One trial in a line, for who waits."""
    figures = []
    for target, tally in zip(wanted.targets, trial.tallies, strict=True):
        if not tally.weight:
            figures.append(f"nothing of {target.text}")
        elif target.share is not None:
            figures.append(f"{tally.ratio:.1%} slower than {target.limit:g} s")
        elif target.measure in ("errors", "busy"):
            figures.append(f"{target.measure} {tally.ratio:.1%}")
        else:
            figures.append(f"{target.measure} {tally.ratio:.3g}{'/s' if target.measure == 'throughput' else ' s'}")
    stands = standing(trial.users, [trial], wanted)
    early = ", ended early" if trial.cut_short else ""
    load = f"{people(trial.users)}, {trial.seconds:,.0f} s, {trial.counted:,} interactions"
    return f"{load}: {', '.join(figures)}: {stands}{early}"


def counts(trial: Trial, wanted: Wanted) -> bool:
    """Whether a trial need not be done again: it does not drift, or tells surely all the same."""
    return trial.cut_short or not steadiness_of(trial).drifts or standing(trial.users, [trial], wanted) != "open"


def length_of(step: Step, trials: Sequence[Trial], bounds: Bounds, factor: float = 1.0) -> Length | None:
    """How long the trial of `step` is: by the cycle of a user in the trials nearest to it, in whole passes.

    None for the first of all, of which no cycle is known.
    """
    if not trials:
        return None
    near = min(trials, key=lambda trial: (abs(trial.users - step.users), -trial.counted))
    cycle = near.think_s + (near.response_s or 0.0)
    seconds = factor * max(step.interactions * cycle / step.users, FEWEST_CYCLES * cycle)
    lines = max(trials, key=lambda trial: trial.counted).lines_a_pass or 1.0
    a_pass = lines * cycle
    if lines > 1 and a_pass > 0:
        seconds = math.ceil(seconds / a_pass) * a_pass
    seconds = min(max(seconds, bounds.shortest_s), bounds.longest_s)
    return Length(min(max(WARM_UP_CYCLES * cycle * factor, WARM_UP_SHARE * seconds), bounds.longest_s), seconds)
