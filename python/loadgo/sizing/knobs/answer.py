"""The answer of a search over a limit, in words and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.notation.figures import counted, in_words
from loadgo.sizing.curve import Target
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.results import KnobEnd
from loadgo.sizing.knobs.search import KnobStanding


@dataclass(frozen=True)
class KnobAnswer:
    """The outcome of a search."""

    end: KnobEnd
    value: float | None
    interval: tuple[float, float] | None
    words: str


def answer_of(
    knob: Knob, standing: KnobStanding, targets: Sequence[Target], trials: int, *, stopped: bool
) -> KnobAnswer:
    """The answer from what the trials say."""
    met = [value for value, stands in standing.stands.items() if stands == "met"]
    missed = [value for value, stands in standing.stands.items() if stands == "missed"]
    kept, each = _targets_in_words(targets), "" if knob.scope == "limit" else " each"
    if standing.crossing is not None and not standing.is_narrow(knob):
        crossing = standing.crossing
        interval = (max(crossing.low, knob.low), min(crossing.high, knob.high))
        value = min(max(crossing.users, interval[0]), interval[1])
        shown = f"{knob.in_words(value)}{each} ({_ends(knob, interval)})"
        words = f"{standing.side.capitalize()} {shown} keep {kept}.{_other_end(knob, standing)}"
        return KnobAnswer("stopped" if stopped else "found", value, interval, words)
    if standing.bracket is not None and standing.is_narrow(knob):
        low, high = standing.bracket
        value, other = (low, high) if standing.side == "at most" else (high, low)
        words = f"{standing.side.capitalize()} {knob.in_words(value)}{each} keep {kept}; {knob.in_words(other)} do not."
        return KnobAnswer("stopped" if stopped else "found", value, standing.bracket, words)
    if standing.bracket is not None:
        low, high = standing.bracket
        value = low if standing.side == "at most" else high
        words = (
            f"{standing.side.capitalize()} {knob.in_words(value)}{each} keep {kept}; the answer lies between "
            f"{knob.in_words(low)} and {knob.in_words(high)}, and the trials do not show where."
        )
        return KnobAnswer("stopped" if stopped else "open", value, standing.bracket, words)
    if met and len(met) == len(standing.stands):
        return KnobAnswer(
            "stopped" if stopped else "every value",
            max(met),
            (min(met), max(met)),
            f"Every value from {knob.in_words(min(met))} to {knob.in_words(max(met))}{each} keeps {kept}.",
        )
    if missed and len(missed) == len(standing.stands):
        words = f"No value from {knob.in_words(min(missed))} to {knob.in_words(max(missed))}{each} keeps {kept}."
        return KnobAnswer("stopped" if stopped else "no value", None, None, words)
    words = f"Not decided: {counted(trials, 'trial')} do not show whether a value of {knob.text} keeps {kept}."
    return KnobAnswer("stopped" if stopped else "open", None, None, words)


def safe_value(knob: Knob, answer: KnobAnswer, standing: KnobStanding) -> float | None:
    """The value to recommend: the end of the interval at which the targets are surely met."""
    if answer.value is None or answer.interval is None:
        return None
    if standing.crossing is None or standing.is_narrow(knob):
        return knob.rounded(answer.value)
    return knob.rounded(answer.interval[0] if standing.side == "at most" else answer.interval[1])


def _other_end(knob: Knob, standing: KnobStanding) -> str:
    """A sentence if the targets are missed on the other side of the values that meet them, too."""
    met = [value for value, stands in standing.stands.items() if stands == "met"]
    missed = [value for value, stands in standing.stands.items() if stands == "missed"]
    if standing.side == "at least" or not met or min(missed, default=min(met)) >= min(met):
        return ""
    below = max(value for value in missed if value < min(met))
    return f" {knob.in_words(below)} are too few: they hold the others back themselves."


def _ends(knob: Knob, interval: tuple[float, float]) -> str:
    low, high = (knob.in_words(end) for end in interval)
    numbers = (low.split(" ", 1), high.split(" ", 1))
    return f"{numbers[0][0] if numbers[0][1] == numbers[1][1] else low} to {high.split(' ', 1)[0]}"


def _targets_in_words(targets: Sequence[Target]) -> str:
    return in_words([target.text for target in targets])
