"""A prediction in a run's folder: the drawn parameters, and each figure with its interval.

- `RUN/`: a run of the machine as it was fitted, with the files of any run.
- `RUN/fitted/02` …: the same with other seeds, which show the effect of chance.
- `RUN/drawn/01` …: runs with drawn parameters, each with the seed of its partner in `fitted`.
- `RUN/prediction.toml`: the drawn parameters, and the figures. It is written last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from loadgo.errors import BadRun
from loadgo.notation.toml_text import toml_table
from loadgo.stats.resample import Interval

PREDICTION_FILE = "prediction.toml"
"""The file in a run's folder that holds the prediction."""
FITTED_FOLDER, DRAWN_FOLDER = "fitted", "drawn"
"""The folders below the run's for further runs: of the fitted machine, and of machines with drawn parameters."""
PREDICTION_FORMAT = 1
"""The version of the file's layout."""

ALL_COMMANDS = ""
"""The command name of figures for all commands together."""
PREDICTED_QUANTILES = {"p50 response": 0.5, "p90 response": 0.9}
"""The measures that are quantiles of the response time."""
COMMAND_MEASURES = ("response", "cpu")
"""The measures that a prediction also has for each single command."""


@dataclass(frozen=True)
class PredictedFigure:
    """One figure of a prediction."""

    command: str
    """The command's name; empty for all commands together."""
    measure: str
    predicted: float
    """The mean over the runs of the machine as fitted."""
    interval: Interval
    """The 95 % prediction interval for another run of the same load. It assumes that the machine has the right form."""
    doubt: Interval
    """The interval that the uncertainty of the parameters alone would give, as factors of the predicted figure."""
    chance: Interval
    """The interval that chance in one run alone would give, as factors of the predicted figure."""

    @property
    def central(self) -> float:
        """The middle of the interval on the logarithmic scale, where the runs with drawn parameters have their mean."""
        return float(np.sqrt(self.interval.low * self.interval.high))

    @property
    def parameters_share(self) -> float:
        """The share of the interval's squared width that comes from the parameters, 0 to 1; the rest is chance."""
        squares = [np.log(interval.high / interval.low) ** 2 for interval in (self.doubt, self.chance)]
        return float(squares[0] / sum(squares)) if sum(squares) else 0.0


@dataclass(frozen=True)
class Prediction:
    """The result of running a fitted machine again with drawn parameters."""

    draws: int
    redrawn: int
    """Number of draws that made no valid machine and were drawn again."""
    parameters: tuple[str, ...]
    """The drawn parameters: each a key of the machine's file, and `mean` or `spread`."""
    set_aside: tuple[str, ...]
    """Keys whose fitted values the user replaced: these were not drawn."""
    users: tuple[int, ...]
    """The numbers of users in the runs from which the machine was fitted."""
    figures: Mapping[str, tuple[PredictedFigure, ...]]
    """The figures by stretch of the run, `steady` or `all`. Figures of all commands together come first."""

    def of(self, stretch: str) -> Prediction:
        """The same prediction with the figures of one stretch alone."""
        return replace(self, figures={stretch: self.figures.get(stretch, ())})


def run_folders(folder: Path, draws: int) -> tuple[list[Path], list[Path]]:
    """The folders of the fitted machine's runs, `folder` itself first, and those of the runs with drawn parameters."""
    numbers = [f"{number:02}" for number in range(1, draws + 1)]
    fitted = [folder, *(folder / FITTED_FOLDER / number for number in numbers[1:])]
    return fitted, [folder / DRAWN_FOLDER / number for number in numbers]


def read_prediction(folder: Path) -> Prediction | None:
    """Reads the prediction in a run's folder; None if there is none. Raises `BadRun` for a damaged file."""
    path = folder / PREDICTION_FILE
    try:
        document = toml_table(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise BadRun(f"cannot read {path}: {error}") from error
    version = document.get("format")
    if version != PREDICTION_FORMAT:
        raise BadRun(
            f"{path} has format {version}, and this version of loadgo reads {PREDICTION_FORMAT}: use a newer one"
        )
    try:
        return _prediction(document)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRun(f"{path} is damaged ({error!r}): predict again") from error


def _prediction(document: dict[str, Any]) -> Prediction:
    return Prediction(
        draws=int(document["draws"]),
        redrawn=int(document["redrawn"]),
        parameters=tuple(map(str, document["parameters"])),
        set_aside=tuple(map(str, document["set_aside"])),
        users=tuple(map(int, document["users"])),
        figures={phases: tuple(map(_figure, figures)) for phases, figures in document.get("figures", {}).items()},
    )


def _figure(row: dict[str, Any]) -> PredictedFigure:
    interval, doubt, chance = (Interval(*map(float, row[name])) for name in ("interval", "doubt", "chance"))
    return PredictedFigure(str(row["command"]), str(row["measure"]), float(row["predicted"]), interval, doubt, chance)
