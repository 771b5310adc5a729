"""The uncertainty of a fitted machine's capacity: the search is repeated on machines with drawn parameters.

A machine from `loadgo fit` has uncertain parameters, with their covariance. Each draw of them is a machine with a
capacity of its own. The scatter of these capacities is the uncertainty of the fit and of the drawn searches together.
The drawn searches are less precise than the search itself, since the uncertainty of the fit is usually larger.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from loadgo.distribution.interrupts import interrupts_held_back
from loadgo.errors import LoadgoError, error_in_words
from loadgo.notation.figures import people
from loadgo.prediction.draws import Settings
from loadgo.sizing.search.outcomes import (
    CapacityFound,
    EveryNumberMeets,
    NoNumberMeets,
    SearchGoal,
    SearchOutcome,
    Undecided,
)
from loadgo.stats.resample import FEWEST_UNITS
from loadgo.stats.student import INTERVAL_CONFIDENCE, student_reach

DRAWN_WITHIN_SHARE = 0.05
"""A drawn search ends when its interval has this share of the answer as its width, or the width of `within`."""
MOST_DRAWN_TRIALS = 30
"""The largest number of trials of a drawn search."""

SearchDrawn = Callable[[Settings, SearchGoal], SearchOutcome]
"""A function that searches the capacity of the machine with these drawn parameters."""
SearchAllDrawn = Callable[[Sequence[Settings], SearchGoal], Sequence[SearchOutcome | None]]
"""A function that does so for many draws, and raises the error of one. None is for a search that was stopped."""


@dataclass(frozen=True)
class FitDoubt:
    """The interval of a fitted machine's capacity, with the uncertainty of its parameters."""

    draws: int
    """The number of drawn machines that the interval is based on."""
    low: int
    high: int | None
    """None if the interval reaches the largest number of users."""
    search_low: int | None
    """The lower end of the interval by the search alone, on the machine as fitted; None where it has none."""
    search_high: int | None
    fitted_users: tuple[int, ...]
    """The numbers of users in the runs from which the machine was fitted."""
    confidence: float = INTERVAL_CONFIDENCE
    """The confidence of the interval: that of the search alone, if this is less."""
    undecided: int = 0
    """The number of further draws, which are left out: their searches found no end of the capacity."""

    @property
    def in_words(self) -> str:
        """The interval in a sentence."""
        alone = ""
        if self.search_low is not None:
            alone = f"; the machine exactly as fitted supports {_ends_in_words(self.search_low, self.search_high)}"
        left_out = f"; {self.undecided} more, left out, did not decide it" if self.undecided else ""
        return (
            f"The machine was fitted: with the uncertainty of its parameters ({self.draws} draws{left_out}) the answer "
            f"is {_ends_in_words(self.low, self.high)}{self._confidence_in_words}{alone}."
        )

    @property
    def is_wider(self) -> bool:
        """Whether the interval is wider than that of the search alone, so that more trials would not narrow it."""
        return (self.low, self.high) != (self.search_low, self.search_high)

    @property
    def grounds_in_words(self) -> str:
        """The grounds of the interval, without its ends, in one or two sentences."""
        left_out = f"; {self.undecided} more, left out, did not decide it" if self.undecided else ""
        alone = ""
        if self.search_low is not None and self.is_wider:
            alone = f" The machine exactly as fitted supports {_ends_in_words(self.search_low, self.search_high)}."
        return (
            f"The machine was fitted: the interval has the uncertainty of its parameters ({self.draws} draws"
            f"{left_out}).{alone}"
        )

    @property
    def remedy(self) -> str:
        """A sentence on what would narrow the interval where more trials would not; else empty."""
        return "To narrow it, fit the machine to more runs, or to longer ones." if self.is_wider else ""

    @property
    def _confidence_in_words(self) -> str:
        return f", with {100 * self.confidence:.0f} % confidence" if self.confidence else ", more likely than not"


def _ends_in_words(low: int, high: int | None) -> str:
    if high is None:
        return f"{people(low)} or more"
    return f"{low:,} to {people(high)}" if low < high else people(low)


@dataclass(frozen=True)
class NoFitDoubt:
    """The uncertainty of the fit is not known."""

    why: str


def doubt_of_fit(
    outcome: SearchOutcome,
    draws: Sequence[Settings],
    fitted_users: tuple[int, ...],
    goal: SearchGoal,
    search_all: SearchAllDrawn,
    stop: threading.Event,
) -> FitDoubt | NoFitDoubt:
    """Searches the capacity of each drawn machine by `search_all`.

    `stop` ends these searches. If one of them fails, its error is the reason in `NoFitDoubt`, and `stop` is set.
    """
    drawn = _drawn_outcomes(draws, _drawn_goal(outcome, goal), search_all, stop)
    if isinstance(drawn, NoFitDoubt):
        return drawn
    all_capacities = [_capacity_of(drawn_outcome, goal) for drawn_outcome in drawn]
    capacities = [capacity for capacity in all_capacities if capacity is not None]
    if len(capacities) < FEWEST_UNITS:
        return NoFitDoubt(f"only {len(capacities)} of {len(draws)} searches with drawn parameters found a capacity")
    low, high = capacity_interval(capacities, goal.max_users)
    own_low, own_high = _ends_of(outcome)
    return FitDoubt(
        draws=len(capacities),
        low=low if own_low is None else min(low, own_low),
        high=None if high is None or own_high is None else max(high, own_high),
        search_low=own_low,
        search_high=own_high,
        fitted_users=fitted_users,
        confidence=outcome.confidence if isinstance(outcome, Undecided) else INTERVAL_CONFIDENCE,
        undecided=len(draws) - len(capacities),
    )


def _drawn_outcomes(
    draws: Sequence[Settings], drawn_goal: SearchGoal, search_all: SearchAllDrawn, stop: threading.Event
) -> list[SearchOutcome] | NoFitDoubt:
    """The outcomes of all drawn searches, or the reason why they ended before."""
    try:
        outcomes = search_all(draws, drawn_goal)
    except (LoadgoError, OSError) as error:
        stop.set()
        return NoFitDoubt(f"a search with drawn parameters failed ({error_in_words(error)})")
    if stop.is_set():
        return NoFitDoubt("the search was stopped before it was known")
    return [outcome for outcome in outcomes if outcome is not None]


def search_in_threads(search_drawn: SearchDrawn, stop: threading.Event) -> SearchAllDrawn:
    """The function that searches on all processors of this host at once. An error of a search sets `stop`."""

    def search_all(draws: Sequence[Settings], goal: SearchGoal) -> list[SearchOutcome | None]:
        errors: list[LoadgoError | OSError] = []

        def search(settings: Settings) -> SearchOutcome | None:
            try:
                return None if stop.is_set() else search_drawn(settings, goal)
            except (LoadgoError, OSError) as error:
                errors.append(error)
                stop.set()
                return None

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 2, thread_name_prefix="draw") as workers:
            with interrupts_held_back():
                searches = workers.map(search, draws)
            outcomes = list(searches)
        if errors:
            raise errors[0]
        return outcomes

    return search_all


def capacity_interval(capacities: Sequence[float], max_users: int) -> tuple[int, int | None]:
    """The ends between which the capacity of one more drawn machine lies with 95 % confidence.

    The crossing of a capacity of n users lies between n and n + 1, on average at n + 1/2. The logarithms of the
    crossings are taken as normal, as in other predictions of fitted machines. The ends are those of the crossing,
    rounded down. The upper end is None if it reaches `max_users`, since no search goes beyond.
    """
    logs = np.log(np.asarray(capacities) + 0.5)
    count = len(logs)
    half = student_reach(count - 1) * float(logs.std(ddof=1)) * math.sqrt(1 + 1 / count)
    low, high = (math.floor(math.exp(float(logs.mean()) + sign * half)) for sign in (-1, 1))
    return min(low, max_users), None if high >= max_users else high


def with_doubt(outcome: SearchOutcome, doubt: FitDoubt | None) -> SearchOutcome:
    """The outcome with the interval of `doubt`; only a capacity that was found changes."""
    if doubt is None or not isinstance(outcome, CapacityFound):
        return outcome
    return replace(outcome, low=doubt.low, high=outcome.high if doubt.high is None else doubt.high)


def _drawn_goal(outcome: SearchOutcome, goal: SearchGoal) -> SearchGoal:
    users = outcome.users if isinstance(outcome, CapacityFound | EveryNumberMeets) else 0
    within = max(goal.within or 1, round(DRAWN_WITHIN_SHARE * users))
    return replace(goal, within=within, most_trials=min(goal.most_trials, MOST_DRAWN_TRIALS))


def _capacity_of(outcome: SearchOutcome, goal: SearchGoal) -> float | None:
    """The most likely capacity: the crossing of a line less half a user, or what is known; None if nothing is known.

    With two ends it is the middle on the scale of logarithms. With a lower end alone it is this end.
    """
    if isinstance(outcome, NoNumberMeets):
        return 0.0
    if isinstance(outcome, EveryNumberMeets):
        return float(goal.max_users)
    if isinstance(outcome, CapacityFound):
        return float(outcome.users) if outcome.crossing is None else max(outcome.crossing.users - 0.5, 0.0)
    if outcome.high is None:
        return float(outcome.low) if outcome.low else None
    return math.sqrt((outcome.low + 0.5) * (outcome.high + 0.5)) - 0.5


def _ends_of(outcome: SearchOutcome) -> tuple[int | None, int | None]:
    if isinstance(outcome, NoNumberMeets):
        return 0, 0
    if isinstance(outcome, EveryNumberMeets):
        return outcome.users, None
    return outcome.low, outcome.high
