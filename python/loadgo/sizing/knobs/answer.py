"""The answer of a search over a limit, in words and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loadgo.notation.figures import capitalized, counted, in_words, setting
from loadgo.sizing.curve import Target
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.results import KnobEnd
from loadgo.sizing.knobs.search import KnobStanding
from loadgo.sizing.search.crossing import LimitCrossing

_LONGER_TIMES, _MORE_TIMES = 4, 2
"""An open answer names trials of this many times the length, and this many times as many, as its remedy."""


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
    if standing.bracket is not None and standing.is_narrow(knob):
        answer = _neighbours(knob, standing, standing.bracket, _targets_in_words(targets))
    elif standing.crossing is not None and not standing.is_rough:
        answer = _crossed(knob, standing, standing.crossing, _targets_in_words(targets))
    elif standing.bracket is not None:
        answer = _bracketed(knob, standing, standing.bracket, _targets_in_words(targets))
    else:
        answer = _without_bracket(knob, standing, _targets_in_words(targets), trials)
    return replace(answer, end="stopped") if stopped else answer


def _crossed(knob: Knob, standing: KnobStanding, crossing: LimitCrossing, targets: str) -> KnobAnswer:
    interval = (max(crossing.low, knob.low), min(crossing.high, knob.high))
    value = min(max(crossing.users, interval[0]), interval[1])
    shown = f"{knob.in_words(value)}{_each(knob)} ({_ends(knob, interval)}, with 95 % confidence)"
    words = (
        f"Probably {standing.side} {shown} keep {targets}, by the {_curve_in_words(standing)}."
        f"{_sure_in_words(knob, standing)}{_other_end(knob, standing)}"
    )
    return KnobAnswer("found", value, interval, words)


def _curve_in_words(standing: KnobStanding) -> str:
    return "curve through the trials near it" if standing.follows_curve else "line through all trials"


def _sure_in_words(knob: Knob, standing: KnobStanding) -> str:
    """A sentence on the value nearest to the answer that kept the targets in its own trials; empty without one."""
    met = [value for value, stands in standing.stands.items() if stands == "met"]
    if not met:
        return ""
    sure = max(met) if standing.side == "at most" else min(met)
    which = "most" if standing.side == "at most" else "least"
    return f" The {which} that kept it in own trials is {knob.in_words(sure, figures=3)}{_each(knob)}."


def _neighbours(knob: Knob, standing: KnobStanding, bracket: tuple[float, float], targets: str) -> KnobAnswer:
    met, missed = bracket if standing.side == "at most" else (bracket[1], bracket[0])
    shown = f"{knob.in_words(met)}{_each(knob)}"
    words = f"{capitalized(standing.side)} {shown} keep {targets}; {knob.in_words(missed)} do not."
    return KnobAnswer("found", met, bracket, words)


def _bracketed(knob: Knob, standing: KnobStanding, bracket: tuple[float, float], targets: str) -> KnobAnswer:
    low, high = bracket
    met, missed = (low, high) if standing.side == "at most" else (high, low)
    words = (
        f"{knob.in_words(met)}{_each(knob)} keep {targets}, and {knob.in_words(missed)} do not. The answer lies "
        "between them, and the trials do not show where."
    )
    return KnobAnswer("open", met, bracket, words)


def _without_bracket(knob: Knob, standing: KnobStanding, targets: str, trials: int) -> KnobAnswer:
    tried, stands = sorted(standing.stands), set(standing.stands.values())
    if stands in ({"met"}, {"missed"}):
        is_whole_range = {knob.rounded(knob.low), knob.rounded(knob.high)} <= set(tried)
        values = "value" if is_whole_range else "tried value"
        if len(tried) == 1:
            verb = "keeps" if stands == {"met"} else "does not keep"
            words = f"The tried value {knob.in_words(tried[0])}{_each(knob)} {verb} {targets}."
            return KnobAnswer("open", tried[0] if stands == {"met"} else None, None, words)
        shown = f"{values} from {knob.in_words(tried[0])} to {knob.in_words(tried[-1])}{_each(knob)} keeps {targets}."
        if stands == {"missed"}:
            return KnobAnswer("no value" if is_whole_range else "open", None, None, f"No {shown}")
        end: KnobEnd = "every value" if is_whole_range else "open"
        return KnobAnswer(end, tried[-1], (tried[0], tried[-1]), f"Every {shown}")
    if "met" in stands or "missed" in stands:
        return _partly_decided(knob, standing, targets)
    shows = {0: "no trial was complete, so that none shows", 1: "1 trial does not show"}
    shown = shows.get(trials, f"{counted(trials, 'trial')} do not show")
    return KnobAnswer("open", None, None, f"Not decided: {shown} whether a value of {knob.text} keeps {targets}.")


def _partly_decided(knob: Knob, standing: KnobStanding, targets: str) -> KnobAnswer:
    """The answer where some values are open, and all others agree."""
    decided = sorted(value for value, stands in standing.stands.items() if stands != "open")
    undecided = sorted(value for value, stands in standing.stands.items() if stands == "open")
    is_met = standing.stands[decided[0]] == "met"
    last_run = [value for value in decided if value > max((v for v in undecided if v < decided[-1]), default=0.0)]
    if len(decided) > 1 and last_run == decided:
        first, last = knob.in_words(decided[0]), knob.in_words(decided[-1])
        known = f"{'Every' if is_met else 'No'} tried value from {first} to {last}{_each(knob)} keeps {targets}"
    else:
        several = len(decided) > 1
        verb = {True: "keep" if several else "keeps", False: "do not keep" if several else "does not keep"}[is_met]
        values = f"The tried value{'s' if several else ''} {in_words([knob.in_words(value) for value in decided])}"
        known = f"{values}{_each(knob)} {verb} {targets}"
    words = f"{known}. Not decided: {in_words([knob.in_words(value) for value in undecided])}."
    return KnobAnswer("open", last_run[-1] if is_met else None, (last_run[0], last_run[-1]) if is_met else None, words)


def remedy(answer: KnobAnswer, trial_s: float, most_trials: int) -> str:
    """A sentence on what would narrow an answer that the trials left open; empty for any other answer.

    The doubt goes down with the root of the time: trials of four times the length halve it.
    """
    if answer.end != "open":
        return ""
    longer, more = f"{setting(_LONGER_TIMES * trial_s)}s", _MORE_TIMES * most_trials
    return f"Longer trials (`--shortest {longer}`) or more of them (`--trials {more}`) would narrow it."


def _each(knob: Knob) -> str:
    return "" if knob.scope == "limit" else " each"


def safe_value(knob: Knob, answer: KnobAnswer, standing: KnobStanding) -> float | None:
    """The value to recommend: a tried one that met the targets, or the end of the interval on that side.

    None where no value was shown to miss the targets, and some are open: a few trials are no ground for a limit.
    """
    if answer.value is None or answer.interval is None or (answer.end == "open" and standing.bracket is None):
        return None
    if _is_tried(knob, standing):
        return knob.rounded(answer.value)
    return knob.rounded(answer.interval[0] if standing.side == "at most" else answer.interval[1])


def taken_in_words(knob: Knob, answer: KnobAnswer, standing: KnobStanding) -> str:
    """A sentence on which value is recommended, and on how sure it is."""
    if not _is_tried(knob, standing):
        return "Taken is the end of the 95 % interval on the side of the values that met the targets."
    if standing.bracket is None:
        largest = knob.in_words(knob.high)
        return f"Taken is the largest value that met the targets in the trials; over {largest} none was tried."
    nearest = standing.bracket[1] if answer.value == standing.bracket[0] else standing.bracket[0]
    missed = knob.in_words(nearest)
    return f"Taken is a value that met the targets in the trials; {missed} missed them. Such a pair has no confidence."


def _is_tried(knob: Knob, standing: KnobStanding) -> bool:
    """Whether the answer is a value that was tried, and no crossing of a line through the trials."""
    return standing.crossing is None or standing.is_rough or standing.is_narrow(knob)


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
