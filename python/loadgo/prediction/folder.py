"""A prediction's folder: a run of the machine as fitted, with the runs that carry its doubt below it.

RUN/                     a run as any other, of the machine as it was fitted
RUN/fitted/02 …          the same with other seeds: what chance makes of it
RUN/drawn/01 …           with parameters drawn anew, each with the seed of its partner above
RUN/prediction.toml      what was drawn, and what it came to; written last
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from loadgo.prediction.draws import Doubt, Set
from loadgo.records.prediction import FORMAT, NAME, Foreseen, Prediction


def write_prediction(
    folder: Path, prediction: Prediction, doubt: Doubt, draws: Sequence[Set], seeds: Sequence[int]
) -> None:
    """Writes what was drawn and what it came to."""
    lines = [
        f"format = {FORMAT}",
        f"draws = {prediction.draws}",
        f"redrawn = {prediction.redrawn}",
        f"users = {json.dumps(prediction.users)}",
        f"runs = {_words(doubt.runs)}",
        f"set_aside = {_words(prediction.set_aside)}",
        f"seeds = {json.dumps(seeds)}",
        f"parameters = {_words(prediction.parameters)}",
        "drawn = [",
        *(f"    {_words(draw)}," for draw in draws),
        "]",
    ]
    for phases, figures in prediction.figures.items():
        for one in figures:
            lines += ["", f"[[figures.{phases}]]", *_lines(one)]
    (folder / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines(one: Foreseen) -> list[str]:
    ends = {"interval": one.interval, "doubt": one.doubt, "chance": one.chance}
    return [
        f"command = {json.dumps(one.command, ensure_ascii=False)}",
        f"measure = {json.dumps(one.measure)}",
        f"predicted = {one.predicted!r}",
        *(f"{name} = {_numbers((end.low, end.high))}" for name, end in ends.items()),
    ]


def _words(words: tuple[str, ...]) -> str:
    """A list of strings, as TOML and JSON both have it."""
    return json.dumps(words, ensure_ascii=False)


def _numbers(values: tuple[float, ...]) -> str:
    return f"[{', '.join(map(repr, values))}]"
