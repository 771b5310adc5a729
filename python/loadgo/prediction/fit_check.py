"""Whether what a machine file says of its fit can be drawn from: keys that the machine has, a covariance that is one.

What is no list, no number or no square is refused when the file is read. Here is what can only be told by the machine
and by the figures themselves.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from loadgo.errors import Mistake
from loadgo.notation.laws import Law, read_law
from loadgo.prediction.fitted import Fitted, Parameter, fitted_in, law_at

MOST_DEVIATION = 5.0
"""Of a parameter's logarithm: with more, two drawings in three are not even within a hundred times of each other."""
_NEGATIVE = 1e-6
"""Eigenvalues below nothing by more than this part of the largest are no rounding."""
_FIT_AGAIN = "fit the machine again"


@dataclass(frozen=True)
class Wrong:
    """Something in `[fit]` that is wrong."""

    mark: str
    """What stands in its line."""
    says: str
    also: str = ""
    """What else stands there, where several lines have the mark."""


def check_fit(text: str, *, source: str | None = None, file: str | None = None) -> None:
    """Raises `Mistake` where the machine of a merged `text` has a fit that cannot be drawn from.

    `source` is the text as its user wrote it, in which the line is looked for; `file` its name.
    """
    fit = fitted_in(text)
    if fit is None or not fit.covariance.size:
        return
    found = _wrong_in(tomllib.loads(text), fit)
    if found is None:
        return
    line, column = _place(source or text, found)
    raise Mistake(line, column, found.says, file)


def _wrong_in(machine: Mapping[str, Any], fit: Fitted) -> Wrong | None:
    parts = (_parameter(machine, one) for one in fit.parameters)
    return next((part for part in parts if part is not None), None) or _covariance(fit)


def _parameter(machine: Mapping[str, Any], told: Parameter) -> Wrong | None:
    """What is wrong with one parameter: a value that is none, or a key that is no such value of the machine."""
    if (says := _of_value(told)) is not None:
        return Wrong(_quoted(told.key), f"parameter {told.key} ({told.of}): {says}", _quoted(told.of))
    there = _law(lambda: law_at(machine, told.key))
    if there is None or (told.of == "mean" and there.timed != read_law(_number(told.value)).timed):
        out = "take it out, with its row and column of the covariance, or " + _FIT_AGAIN
        return Wrong(
            _quoted(told.key), f"parameter {told.key}: the machine has no such {_kind(told)}: {out}", _quoted(told.of)
        )
    return None


def _quoted(key: str) -> str:
    """The key as its file has it."""
    return json.dumps(key, ensure_ascii=False)


def _kind(told: Parameter) -> str:
    if told.of == "spread":
        return "law"
    return "time" if read_law(_number(told.value)).timed else "number"


def _of_value(told: Parameter) -> str | None:
    law = _law(lambda: read_law(_number(told.value)))
    if law is None or not law.mean >= 0 or (told.of == "spread" and law.timed):
        example = '"0.8"' if told.of == "spread" else '"83ms" or "3.5"'
        return f"the value {told.value!r} is no {told.of}: write one, such as {example}, or {_FIT_AGAIN}"
    return None


def _number(text: str) -> str | float:
    """A value as a machine file has it: numbers are no strings there."""
    try:
        return float(text)
    except ValueError:
        return text


def _law(read: Any) -> Law | None:
    """The law that is read; None where there is none."""
    try:
        found: Law | None = read()
    except (ValueError, IndexError, TypeError):
        return None
    return found


def _covariance(fit: Fitted) -> Wrong | None:
    deviations = np.sqrt(np.diag(fit.covariance))
    worst = int(np.argmax(deviations))
    if deviations[worst] > MOST_DEVIATION:
        return Wrong(
            "covariance",
            f"covariance: row {worst + 1}, of {fit.parameters[worst].key}, has {deviations[worst] ** 2:.3g} on the "
            f"diagonal, so that nothing is known of it: at most {MOST_DEVIATION**2:g}; {_FIT_AGAIN}, from more "
            "interactions",
        )
    values = np.linalg.eigvalsh((fit.covariance + fit.covariance.T) / 2)
    if values.min() < -_NEGATIVE * max(float(values.max()), 1e-12):
        return Wrong(
            "covariance",
            "covariance: this is none, since with it some mixture of the parameters would vary by less than not at "
            f"all; {_FIT_AGAIN}",
        )
    return None


def _place(text: str, wrong: Wrong) -> tuple[int, int]:
    """Line and column of what is marked below `[fit]`; of `[fit]`, or the beginning, where it is not found."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    begins = next((at for at, line in enumerate(lines) if re.match(r"\s*\[\s*fit\s*\]", line)), 0)
    marked = [at for at in range(begins, len(lines)) if wrong.mark in lines[at]]
    if not marked:
        return begins + 1, 1
    line = next((at for at in marked if wrong.also in lines[at]), marked[0])
    return line + 1, lines[line].index(wrong.mark) + 1
