"""Searches over a limit with made trials, whose answer is known."""

import math
from dataclasses import replace

from loadgo.running.prepared import RunSettings
from loadgo.sizing.knobs.find import KnobSearch, knob_search, result_of
from loadgo.sizing.knobs.knob import parse_knob
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.knobs.rounds import KnobRounds
from loadgo.sizing.knobs.search import KnobTrial, first_values, next_value, standing_of
from loadgo.sizing.mix import parse_mix
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.targets import parse_targets

from support.made_trials import made_trial

KNOB = parse_knob("limit-each.cpus=0.25:8")
GOAL = SearchGoal(parse_targets("p90 < 1s"), 60, None, 1, 16, live=True)
TRUE_CPUS = 1.9
"""The value at which a tenth of the made interactions is slow."""


def slow_at(value: float, *, sense: float = 1.0) -> float:
    """The share of slow interactions where the limit has this value."""
    return 1 / (1 + math.exp(math.log(9) - sense * 2.2 * math.log2(value / TRUE_CPUS)))


def trial_at(value: float, index: int, seed: int, *, sense: float = 1.0) -> KnobTrial:
    made = made_trial(60, 400, slow_at(value, sense=sense), 100 * seed + index)
    return KnobTrial(value, replace(made, index=index))


def searched(seed: int, *, sense: float = 1.0) -> list[KnobTrial]:
    """The trials of a whole search on made interactions."""
    trials: list[KnobTrial] = []
    value: float | None = first_values(KNOB)[0]
    while value is not None and len(trials) < GOAL.most_trials:
        trials.append(trial_at(value, len(trials), seed, sense=sense))
        value = next_value(KNOB, trials, standing_of(KNOB, trials, GOAL))
    return trials


def search_of(*, vary: str = "limit-each.cpus=0.25:8", **changes: object) -> KnobSearch:
    arguments: dict[str, object] = {
        "users": None,
        "limit_each": ["pids=200"],
        "targets": "p90 < 1s",
        "settings": RunSettings(),
        "trial_s": 1.0,
        "most_trials": None,
        "seed": 1,
        "tariff": "default",
        "out": None,
    }
    mix = parse_mix("hog-cpu=3,typical-user=57")
    return knob_search(mix, "here", vary, **(arguments | changes))  # type: ignore[arg-type]


def made_knob_capacity(**changes: object) -> KnobCapacity:
    """The answer of a search over the processors of each user."""
    search = search_of(**changes)
    return result_of(search, search.site_at(8.0), GOAL, KnobRounds(tuple(searched(3)), ()))
