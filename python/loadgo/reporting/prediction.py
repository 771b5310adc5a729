"""The prediction in a report: where another run would lie, and how much of that interval the fit's doubt causes."""

from __future__ import annotations

from loadgo.comparison.figures import decimals_of, percent_interval
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import duration, number, people
from loadgo.records.prediction import ALL_COMMANDS, PredictedFigure, Prediction
from loadgo.stats.resample import Interval

_NAMES = {
    "response": "response, mean",
    "p50 response": "response, p50",
    "p90 response": "response, p90",
    "cpu": "CPU",
    "throughput": "throughput",
}
_ANSWER_NAMES = {"response": "mean response", "p90 response": "p90", "throughput": "throughput"}
"""Measures in the answer, with their names there."""
_OF_ALL_RUNS = (
    "These figures are of all runs of the prediction. The tables below are of one of them, and differ a little."
)
_COMMAND_MEASURE = "response"
"""The measure that is shown for each command."""


def prediction_table(prediction: Prediction | None) -> Table | None:
    """The figures of a prediction; None without a prediction."""
    figures = [figure for figure in _figures(prediction) if _is_shown(figure)]
    if not figures:
        return None
    columns = (
        Column("figure", tuple(map(_name, figures))),
        Column("predicted", tuple(_figure(figure, figure.central) for figure in figures)),
        Column("another run, 95 %", tuple(_interval(figure) for figure in figures)),
        Column("by the parameters", tuple(_around(figure.doubt) for figure in figures), spare=2),
        Column("by chance", tuple(_around(figure.chance) for figure in figures), spare=2),
        Column("machine as fitted", tuple(_figure(figure, figure.predicted) for figure in figures), spare=3),
        Column(
            "interval due to the fit", tuple(f"{100 * figure.parameters_share:.0f} %" for figure in figures), spare=1
        ),
    )
    return Table("Predicted, with the doubt in what was fitted", columns, id="predicted", foot=_OF_ALL_RUNS)


def prediction_answer(prediction: Prediction | None, *, is_doubtful: bool = False) -> str:
    """The answer of a prediction: the median of the drawn machines, and the interval of another run.

    If the fit is doubtful the interval is left out: it holds only for a machine of the right form. Empty without a
    prediction.
    """
    figures = {figure.measure: figure for figure in _figures(prediction) if figure.command == ALL_COMMANDS}
    parts = [_central(name, figures[name], is_doubtful=is_doubtful) for name in _ANSWER_NAMES if name in figures]
    if not parts:
        return ""
    if is_doubtful:
        return f"{', '.join(parts)}. Do not rely on these figures: the warnings say how far off they may be."
    return f"{', '.join(parts)}. In brackets: where 95 of 100 such runs lie, with the uncertainty of the fit."


def _central(name: str, figure: PredictedFigure, *, is_doubtful: bool) -> str:
    interval = "" if is_doubtful else f" ({_interval(figure)})"
    return f"{_ANSWER_NAMES[name]} {_figure(figure, figure.central)}{interval}"


def prediction_words(prediction: Prediction | None) -> list[str]:
    """Notes below the tables of a prediction."""
    if prediction is None:
        return []
    fitted = f", which were fitted to runs with {people(*prediction.users)}" if prediction.users else ""
    draws, parameters = prediction.draws, len(prediction.parameters)
    notes = [
        f"the machine was run {draws} times as fitted, and {draws} times with the same seeds and "
        f"{parameters} parameter{'s' if parameters != 1 else ''} drawn anew{fitted}. Another run of this load lies in "
        "the interval 95 times of 100 if the machine is of the right form: what its file leaves out is in no interval.",
        "the tables below it show one run as fitted.",
    ]
    if prediction.set_aside:
        notes.append(f"set to another value than fitted, and taken as exact: {', '.join(prediction.set_aside)}.")
    if prediction.redrawn:
        notes.append(f"{number(prediction.redrawn)} draws gave an impossible machine, and were drawn again.")
    return notes


def _figures(prediction: Prediction | None) -> list[PredictedFigure]:
    if prediction is None:
        return []
    return [figure for figures in prediction.figures.values() for figure in figures]


def _is_shown(figure: PredictedFigure) -> bool:
    return figure.command == ALL_COMMANDS or figure.measure == _COMMAND_MEASURE


def _name(figure: PredictedFigure) -> str:
    return _NAMES[figure.measure] if figure.command == ALL_COMMANDS else f"response of {figure.command}"


def _figure(figure: PredictedFigure, value: float) -> str:
    return f"{number(value)}/s" if figure.measure == "throughput" else duration(value)


def _interval(figure: PredictedFigure) -> str:
    return f"{_figure(figure, figure.interval.low)} to {_figure(figure, figure.interval.high)}"


def _around(factors: Interval) -> str:
    """A factor's interval in percent: `±4.2 %`, or both ends if they differ."""
    shares = Interval(factors.low - 1, factors.high - 1)
    if abs(shares.high + shares.low) <= 0.2 * (shares.high - shares.low):
        return f"±{50 * (shares.high - shares.low):.{decimals_of(shares)}f} %"
    return percent_interval(shares)
