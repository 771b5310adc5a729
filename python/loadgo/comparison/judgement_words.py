"""Sentences about a judged prediction: the verdict, and what would make a judgement possible."""

from __future__ import annotations

import math

from loadgo.comparison.figures import Notation, change, change_interval, notation_for
from loadgo.comparison.judgement import Judged
from loadgo.comparison.side import Side
from loadgo.notation.figures import in_words
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import name_of


def judged_in_words(judged: tuple[Judged, ...]) -> str:
    """The verdict on the prediction, in one sentence."""
    inside, outside = (
        [_phrase_for(figure.measure) for figure in judged if figure.judgement == kind] for kind in ("inside", "outside")
    )
    unjudged, right = unjudged_names(judged), f"right within {100 * judged[0].within:g} %"
    if not inside and not outside:
        return f"Whether the prediction is {right} in {in_words(unjudged)} cannot be told."
    parts = [f"wrong in {in_words(outside)}, and not by chance"] if outside else []
    parts += [f"{right} in {in_words(inside)}"] if inside else []
    sentence = f"The prediction is {'; it is '.join(parts)}"
    return f"{sentence}; in {in_words(unjudged)} that cannot be told." if unjudged else f"{sentence}."


def unjudged_names(judged: tuple[Judged, ...]) -> list[str]:
    """The figures in which the data do not tell whether the prediction is right."""
    kinds = ("too wide to judge", "not to be judged")
    return [_phrase_for(figure.measure) for figure in judged if figure.judgement in kinds]


def second_figures(side: Side) -> str:
    """The source of B's figures, beside those of a prediction."""
    return {"host": "measured", "machine": "simulated", "printed": "printed"}[side.kind]


def off_in_words(judged: tuple[Judged, ...]) -> str:
    """The error of each predicted figure, with the interval that the figure is judged by."""
    notation = notation_for(judged)
    phrases = [
        f"{_phrase_for(figure.measure)} {change(figure, notation)}{_interval(figure, notation)}"
        for figure in judged
        if figure.change is not None
    ]
    return ", ".join(phrases) or "nothing can be compared"


def _interval(figure: Judged, notation: Notation) -> str:
    return "" if figure.interval is None else f" ({change_interval(figure, notation)})"


def two_intervals(judged: tuple[Judged, ...]) -> str:
    """The line below the judgement on the other intervals that the same differences have in the further tables."""
    if not any(figure.doubt is not None for figure in judged):
        return ""
    return (
        "These intervals include the doubt in the fitted machine. Those of the tables below do not, and are narrower; "
        f"there the question is whether B differs by more than {margin_in_words(judged[0].margin)}."
    )


def why_not_judged(judged: tuple[Judged, ...]) -> list[str]:
    """The reason for each figure that could not be judged, and its remedy."""
    sentences = []
    for figure in judged:
        name = _phrase_for(figure.measure)
        if figure.judgement == "not to be judged":
            sentences.append(f"{name} has no interval on one of the sides: give more users, or five runs.")
        if figure.judgement == "too wide to judge" and figure.may_be_drift and not figure.may_be_chance:
            sentences.append(
                f"{name} differs by more than chance within the runs, but how much runs of this host differ by "
                "themselves is not known: give 3 measured runs, or 5 like runs beside the measured one."
            )
        elif figure.judgement == "too wide to judge" and figure.reach is not None:
            percent = math.ceil(100 * figure.reach)
            sentences.append(
                f"{name} may be off by {100 * figure.reach:.0f} %, so a prediction that is wrong by "
                f"{100 * figure.within:g} % would pass: {_remedy(figure)}, or say --within {percent}%."
            )
    return sentences


def _remedy(figure: Judged) -> str:
    """Advice that shortens the interval, for the part of it that is largest."""
    predicted_width, measured_width = (
        0.0 if interval is None else interval.high - interval.low
        for interval in (figure.before_interval, figure.after_interval)
    )
    if measured_width >= predicted_width:
        return "measure for longer, or give several runs"
    doubt_width = 0.0 if figure.doubt is None else (figure.doubt.high - figure.doubt.low) * (figure.before or 0.0)
    return "fit the machine from more interactions" if doubt_width > predicted_width / 2 else "predict for longer"


def _phrase_for(measure: str) -> str:
    """The measure's name in a sentence. The names of quantiles in tables have commas."""
    return measure if measure.startswith("p") else name_of(measure)
