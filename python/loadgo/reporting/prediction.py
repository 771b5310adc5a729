"""What a report says of a prediction: the interval of another run, and what part of it is the parameters' doubt."""

from __future__ import annotations

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import digits, duration, number, people
from loadgo.records.prediction import ALL_COMMANDS, PredictedFigure, Prediction
from loadgo.stats.resample import Interval

_NAMES = {
    "response": "response, mean",
    "p50 response": "response, p50",
    "p90 response": "response, p90",
    "cpu": "CPU",
    "throughput": "throughput",
}
_ANSWERED = {"response": "mean response", "p90 response": "p90", "throughput": "throughput"}
"""What the finding tells, and how it calls it."""
_OF_COMMANDS = "response"
"""What a page of text shows of each command."""


def prediction_table(prediction: Prediction | None) -> Table | None:
    """The figures of a prediction; None where there is none."""
    told = [] if prediction is None else [one for of in prediction.figures.values() for one in of if _shown(one)]
    if not told:
        return None
    columns = (
        Column("figure", tuple(map(_name, told))),
        Column("predicted", tuple(_figure(one, one.central) for one in told)),
        Column("another run, 95 %", tuple(_interval(one) for one in told)),
        Column("by the parameters", tuple(_around(one.doubt) for one in told), spare=2),
        Column("by chance", tuple(_around(one.chance) for one in told), spare=2),
        Column("as fitted", tuple(_figure(one, one.predicted) for one in told), spare=3),
        Column("parameters' part", tuple(f"{100 * one.parameters_share:.0f} %" for one in told), spare=1),
    )
    return Table("Predicted, with the doubt in what was fitted", columns)


def prediction_answer(prediction: Prediction | None) -> str:
    """The finding of a prediction in a sentence: the middle of the machines as drawn, and where another run would lie;
    empty where there is none.
    """
    told = [] if prediction is None else [one for of in prediction.figures.values() for one in of]
    figures = {one.measure: one for one in told if one.command == ALL_COMMANDS}
    parts = [_central(name, figures[name]) for name in _ANSWERED if name in figures]
    if not parts:
        return ""
    return f"{', '.join(parts)}. In brackets is where 95 of 100 such runs lie, with the doubt of the fit."


def _central(name: str, told: PredictedFigure) -> str:
    return f"{_ANSWERED[name]} {_figure(told, told.central)} ({_interval(told)})"


def prediction_words(prediction: Prediction | None) -> list[str]:
    """What stands below the tables of a prediction."""
    if prediction is None:
        return []
    fitted = f", which were fitted to runs with {people(*prediction.users)}" if prediction.users else ""
    draws, parameters = prediction.draws, len(prediction.parameters)
    found = [
        f"the machine was run {draws} times as fitted, and {draws} times with the same seeds and "
        f"{parameters} parameter{'s' if parameters != 1 else ''} drawn anew{fitted}. Another run of this load lies in "
        "the interval 95 times of 100 if the machine is of the right form: what its file leaves out is in no interval.",
        "the tables below it are of one run as fitted.",
    ]
    if prediction.set_aside:
        found.append(f"set otherwise than fitted, and in no doubt here: {', '.join(prediction.set_aside)}.")
    if prediction.redrawn:
        found.append(f"{number(prediction.redrawn)} draws were no machine that can be, and were drawn again.")
    return found


def _shown(one: PredictedFigure) -> bool:
    return one.command == ALL_COMMANDS or one.measure == _OF_COMMANDS


def _name(one: PredictedFigure) -> str:
    return _NAMES[one.measure] if one.command == ALL_COMMANDS else f"response of {one.command}"


def _figure(one: PredictedFigure, value: float) -> str:
    return f"{number(value)}/s" if one.measure == "throughput" else duration(value)


def _interval(one: PredictedFigure) -> str:
    return f"{_figure(one, one.interval.low)} to {_figure(one, one.interval.high)}"


def _around(factors: Interval) -> str:
    """A factor's interval as parts: `±4.2 %`, or both ends where they are not alike."""
    low, high = 100 * (factors.low - 1), 100 * (factors.high - 1)
    if abs(high + low) <= 0.2 * (high - low):
        return f"±{digits((high - low) / 2)} %"
    return f"{'−' if low < 0 else '+'}{digits(abs(low))} to {'−' if high < 0 else '+'}{digits(abs(high))} %"
