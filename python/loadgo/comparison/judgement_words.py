"""What is said of a prediction that was judged: what it is, and what would make a judgement possible."""

from __future__ import annotations

import math

from loadgo.comparison.figures import change, change_interval
from loadgo.comparison.judgement import Judged
from loadgo.notation.figures import in_words
from loadgo.notation.measures import name_of


def judged_in_words(told: tuple[Judged, ...]) -> str:
    """What the prediction is, in one sentence."""
    outside, untold = (
        [_called(one.measure) for one in told if one.judgement in kinds]
        for kinds in (("outside",), ("too wide to judge", "not to be judged"))
    )
    limit = f"{100 * told[0].within:g} %"
    if outside:
        return f"As a prediction, A is outside in {in_words(outside)}."
    if untold:
        return f"As a prediction, A cannot be judged in {in_words(untold)}: whether it is within {limit} is not known."
    return f"As a prediction, A is inside: within {limit}."


def off_in_words(told: tuple[Judged, ...]) -> str:
    """By how much each figure is off, with the interval that it is judged by."""
    parts = [f"{_called(one.measure)} {change(one)}{_between(one)}" for one in told if one.change is not None]
    return ", ".join(parts) or "nothing can be compared"


def _between(told: Judged) -> str:
    return "" if told.interval is None else f" ({change_interval(told)})"


def two_intervals(told: tuple[Judged, ...]) -> list[str]:
    """Why the same difference has another interval in the tables of the comparison."""
    if not any(one.doubt is not None for one in told):
        return []
    return [
        "is judged by intervals that hold the doubt in the machine's parameters, too; those of the tables of the "
        "comparison hold chance alone, as between any two runs, and are narrower."
    ]


def why_not_judged(told: tuple[Judged, ...]) -> list[str]:
    """For each figure that could not be judged, why, and what to do about it."""
    found = []
    for one in told:
        name = _called(one.measure)
        if one.judgement == "not to be judged":
            found.append(f"{name} has no interval on one of the sides: give more users, or five runs.")
        if one.judgement == "too wide to judge" and one.reach is not None:
            found.append(
                f"{name} may be off by {100 * one.reach:.0f} %, so a prediction that is wrong by "
                f"{100 * one.within:g} % would pass: {_remedy(one)}, or say --within {math.ceil(100 * one.reach)}%."
            )
    return found


def _remedy(told: Judged) -> str:
    """What would make the interval shorter: more of what has the largest part in it."""
    own, measured = (0.0 if end is None else end.high - end.low for end in (told.before_interval, told.after_interval))
    if measured >= own:
        return "measure for longer, or give several runs"
    doubted = told.doubt is not None and (told.doubt.high - told.doubt.low) * (told.before or 0.0) > own / 2
    return "fit the machine from more interactions" if doubted else "predict for longer"


def _called(measure: str) -> str:
    """Its name in a sentence; those of tables have commas in them."""
    return measure if measure.startswith("p") else name_of(measure)
