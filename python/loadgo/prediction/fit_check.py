"""Check of a machine file's fit before parameters are drawn: keys that the machine has, and a valid covariance.

Wrong types, such as a text instead of a list, are refused when the file is read. The checks here need the machine and
the numbers themselves.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from loadgo.errors import Mistake
from loadgo.notation.laws import Law, read_law
from loadgo.notation.quantities import number_or_text
from loadgo.prediction.fitted import Fitted, Parameter, fitted_in, law_at

MOST_DEVIATION_EXPONENT = 5.0
"""Largest standard deviation of a parameter's logarithm. A third of the draws are off by more than e to this power."""
_ROUNDING_SHARE = 1e-6
"""Negative eigenvalues of at most this share of the largest are rounding."""
_FIT_AGAIN = "fit the machine again"


@dataclass(frozen=True)
class FitMistake:
    """Something in `[fit]` that is wrong."""

    mark: str
    """Text by which the mistake's line is found."""
    message: str
    second_mark: str = ""
    """Further text in that line, which other lines with the mark do not have."""


def check_fit(text: str, *, source: str | None = None, file: str | None = None) -> None:
    """Raises `Mistake` for a merged `text` with a fit that cannot be drawn from.

    `source` is the text as its user wrote it, which gives the line; `file` is its name.
    """
    fit = fitted_in(text)
    if fit is None or not fit.covariance.size:
        return
    mistake = _first_mistake(tomllib.loads(text), fit)
    if mistake is not None:
        line, column = _locate(source or text, mistake)
        raise Mistake(line, column, mistake.message, file)


def _first_mistake(machine: Mapping[str, Any], fit: Fitted) -> FitMistake | None:
    mistakes = (_parameter_mistake(machine, parameter) for parameter in fit.parameters)
    return next((mistake for mistake in mistakes if mistake is not None), None) or _covariance_mistake(fit)


def _parameter_mistake(machine: Mapping[str, Any], parameter: Parameter) -> FitMistake | None:
    """The mistake in a parameter: an invalid value, or a key without such a value in the machine."""
    key, moment = parameter.key, parameter.of
    if (message := _value_mistake(parameter)) is not None:
        return FitMistake(_quoted(key), f"parameter {key} ({moment}): {message}", _quoted(moment))
    law = _law_or_none(lambda: law_at(machine, key))
    if law is None or (moment == "mean" and law.timed != read_law(number_or_text(parameter.value)).timed):
        return FitMistake(
            _quoted(key),
            f"parameter {key}: the machine has no such {_value_noun(parameter)}: remove the parameter with its row "
            f"and column of the covariance, or {_FIT_AGAIN}",
            _quoted(moment),
        )
    return None


def _quoted(key: str) -> str:
    """The key as it stands in its file."""
    return json.dumps(key, ensure_ascii=False)


def _value_noun(parameter: Parameter) -> str:
    if parameter.of == "spread":
        return "law"
    return "time" if read_law(number_or_text(parameter.value)).timed else "number"


def _value_mistake(parameter: Parameter) -> str | None:
    law = _law_or_none(lambda: read_law(number_or_text(parameter.value)))
    least, most = (-1.0, 1.0) if parameter.of == "correlation" else (0.0, math.inf)
    if law is None or not least <= law.mean <= most or (parameter.of != "mean" and law.timed):
        example = '"83ms" or "3.5"' if parameter.of == "mean" else '"0.8"'
        return f"{parameter.value!r} is not a {parameter.of}: write a value such as {example}, or {_FIT_AGAIN}"
    return None


def _law_or_none(read: Callable[[], Law | None]) -> Law | None:
    """The law that `read` returns; None for a value that is not a law."""
    try:
        return read()
    except (ValueError, IndexError, TypeError):
        return None


def _covariance_mistake(fit: Fitted) -> FitMistake | None:
    deviations = np.sqrt(np.diag(fit.covariance))
    worst = int(np.argmax(deviations))
    if deviations[worst] > MOST_DEVIATION_EXPONENT:
        return FitMistake(
            "covariance",
            f"covariance: row {worst + 1}, of {fit.parameters[worst].key}, has {deviations[worst] ** 2:.3g} on the "
            f"diagonal, so that the parameter is practically unknown: the limit is {MOST_DEVIATION_EXPONENT**2:g}; "
            f"{_FIT_AGAIN}, from more interactions",
        )
    eigenvalues = np.linalg.eigvalsh((fit.covariance + fit.covariance.T) / 2)
    if eigenvalues.min() < -_ROUNDING_SHARE * max(float(eigenvalues.max()), 1e-12):
        message = f"covariance: this is not a covariance matrix, since it has a negative eigenvalue: {_FIT_AGAIN}"
        return FitMistake("covariance", message)
    return None


def _locate(text: str, mistake: FitMistake) -> tuple[int, int]:
    """Line and column of a mistake's marks below `[fit]`; without such a line, those of `[fit]` or of the text."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    fit_index = next((index for index, line in enumerate(lines) if re.match(r"\s*\[\s*fit\s*\]", line)), 0)
    marked = [index for index in range(fit_index, len(lines)) if mistake.mark in lines[index]]
    if not marked:
        return fit_index + 1, 1
    index = next((index for index in marked if mistake.second_mark in lines[index]), marked[0])
    return index + 1, lines[index].index(mistake.mark) + 1
