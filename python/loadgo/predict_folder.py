"""A prediction's folder: a run of the machine as fitted, with the runs that carry its doubt below it.

RUN/                     a run as any other, of the machine as it was fitted
RUN/fitted/02 …          the same with other seeds: what chance makes of it
RUN/drawn/01 …           with parameters drawn anew, each with the seed of its partner above
RUN/prediction.toml      what was drawn, and what it came to; written last
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadgo.errors import BadRun
from loadgo.predict_draws import Doubt, Set
from loadgo.predict_figures import Foreseen, Prediction
from loadgo.resample import Interval

NAME = "prediction.toml"
FITTED, DRAWN = "fitted", "drawn"
FORMAT = 1


def run_folders(folder: Path, draws: int) -> tuple[list[Path], list[Path]]:
    """The folders of the runs as fitted, the first of them `folder` itself, and of their partners as drawn."""
    numbers = [f"{number:02}" for number in range(1, draws + 1)]
    fitted = [folder, *(folder / FITTED / number for number in numbers[1:])]
    return fitted, [folder / DRAWN / number for number in numbers]


def read_prediction(folder: Path) -> Prediction | None:
    """The prediction in a run's folder; None where the run is none. Raises `BadRun` for one that is damaged."""
    path = folder / NAME
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise BadRun(f"cannot read {path}: {error}") from error
    if told.get("format") != FORMAT:
        raise BadRun(
            f"{path} has format {told.get('format')}, and this version of loadgo reads {FORMAT}: use a newer one"
        )
    try:
        return _prediction(told)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRun(f"cannot read {path}: {error!r} is wrong in it: predict again") from error


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


def _prediction(told: dict[str, Any]) -> Prediction:
    return Prediction(
        draws=int(told["draws"]),
        redrawn=int(told["redrawn"]),
        parameters=tuple(map(str, told["parameters"])),
        set_aside=tuple(map(str, told["set_aside"])),
        users=tuple(map(int, told["users"])),
        figures={phases: tuple(map(_figure, figures)) for phases, figures in told.get("figures", {}).items()},
    )


def _figure(told: dict[str, Any]) -> Foreseen:
    interval, doubt, chance = (Interval(*map(float, told[name])) for name in ("interval", "doubt", "chance"))
    return Foreseen(str(told["command"]), str(told["measure"]), float(told["predicted"]), interval, doubt, chance)


def _words(words: tuple[str, ...]) -> str:
    """A list of strings, as TOML and JSON both have it."""
    return json.dumps(words, ensure_ascii=False)


def _numbers(values: tuple[float, ...]) -> str:
    return f"[{', '.join(map(repr, values))}]"
