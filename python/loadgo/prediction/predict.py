"""A prediction from a fitted machine: the run is repeated with parameters drawn from the fit's covariance.

The interval of a predicted figure therefore includes the uncertainty of the fitted parameters.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.distribution.interrupts import interrupts_held_back
from loadgo.errors import BadArgument, LoadgoError
from loadgo.prediction.draws import Settings, UncertainParameters, draw_parameters, uncertain_parameters
from loadgo.prediction.figures import figures_of, predicted_figures
from loadgo.prediction.fit_check import check_fit
from loadgo.records.machine_file import parsed_machine
from loadgo.records.prediction import (
    DRAWN_FOLDER,
    FITTED_FOLDER,
    PREDICTION_FILE,
    PREDICTION_FORMAT,
    PredictedFigure,
    Prediction,
    run_folders,
)
from loadgo.stats.resample import FEWEST_UNITS

DEFAULT_DRAWS = 20
"""With 20 draws, the ends of an interval are known to a sixth of its width."""

RunAgain = Callable[[Settings, int, Path, Callable[[], bool]], None]
"""Repeats the run with these settings and this seed, into this folder. It stops if the last argument returns False."""
Progress = Callable[[dict[str, Any]], None]
_FurtherRun = tuple[Settings, int, Path]


@dataclass(frozen=True)
class DrawPlan:
    """The draws of a prediction, made before the first run."""

    uncertain: UncertainParameters
    draws: tuple[Settings, ...]
    redrawn: int
    """Number of draws that made no valid machine and were replaced."""


def plan_draws(
    machine_text: str, set: Sequence[str], draws: int | None, seed: int, *, file: str | None = None
) -> DrawPlan | None:
    """The draws of a machine file with values `set`. None for `draws` means 20 if the fit has a covariance, else none.

    Raises `ValueError` for a machine without parameters to draw, and for too few draws to give an interval. Raises
    `Mistake` for a fit that cannot be drawn from.
    """
    if (draws is not None and 0 < draws < FEWEST_UNITS) or (draws or 0) < 0:
        raise BadArgument(
            f"{draws} draws give no interval: at least {FEWEST_UNITS}, or 0 for the machine as it was fitted alone"
        )
    if draws == 0:
        return None
    merged = str(parsed_machine(machine_text, set)["text"])
    check_fit(merged, source=machine_text, file=file)
    uncertain = uncertain_parameters(merged)
    if uncertain is None or not uncertain.parameters:
        if draws is None:
            return None
        reason = "all fitted values were replaced" if uncertain else "it has no [fit] with a covariance"
        raise BadArgument(
            f"no parameter of this machine can be drawn: {reason}; fit a machine with loadgo fit, or omit `draws`"
        ).about("draws")
    valid_draws, redrawn = draw_parameters(
        merged, draws or DEFAULT_DRAWS, seed, lambda settings: _is_valid(machine_text, (*settings, *set))
    )
    return DrawPlan(uncertain, valid_draws, redrawn)


def predict(
    run_again: RunAgain,
    plan: DrawPlan,
    folder: Path,
    seed: int,
    progress: Progress | None = None,
    *,
    threads: int | None = None,
) -> Prediction:
    """Repeats the run in `folder`, as fitted and with drawn parameters, and writes the prediction into `folder`.

    `threads` calls of `run_again` are under way at a time; None means as many as there are processors.

    Raises what a run raises. After an error or an interrupt, the run in `folder` stays without a prediction.
    """
    count = len(plan.draws)
    seeds = [(seed + offset) % 2**63 for offset in range(count)]
    fitted, drawn = run_folders(folder, count)
    further_runs: list[_FurtherRun] = [((), seeds[index], fitted[index]) for index in range(1, count)]
    further_runs += zip(plan.draws, seeds, drawn, strict=True)
    try:
        _run_all(run_again, further_runs, progress, threads or os.cpu_count() or 2)
        prediction = _prediction(plan, fitted, drawn)
        write_prediction(folder, prediction, plan, seeds)
    except BaseException:
        for name in (FITTED_FOLDER, DRAWN_FOLDER):
            shutil.rmtree(folder / name, ignore_errors=True)
        raise
    return prediction


def _is_valid(machine_text: str, settings: Settings) -> bool:
    try:
        parsed_machine(machine_text, settings)
    except LoadgoError:
        return False
    return True


def _run_all(run_again: RunAgain, further_runs: Sequence[_FurtherRun], progress: Progress | None, threads: int) -> None:
    """Runs `threads` at a time. An error or an interrupt stops all of them."""
    stop = threading.Event()
    workers = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="draw")
    try:
        with interrupts_held_back():
            futures = [workers.submit(run_again, *run, lambda: not stop.is_set()) for run in further_runs]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            if progress is not None:
                progress({"phase": "drawing", "runs": done, "runs_expected": len(further_runs)})
    finally:
        stop.set()
        workers.shutdown(cancel_futures=True)


def _prediction(plan: DrawPlan, fitted: Sequence[Path], drawn: Sequence[Path]) -> Prediction:
    from loadgo.records.tables import tables

    fitted_runs, drawn_runs = ([tables(folder) for folder in folders] for folders in (fitted, drawn))
    return Prediction(
        draws=len(plan.draws),
        redrawn=plan.redrawn,
        parameters=plan.uncertain.parameters,
        set_aside=plan.uncertain.set_aside,
        users=plan.uncertain.users,
        figures={
            phases: predicted_figures(
                [figures_of(run, phases) for run in fitted_runs], [figures_of(run, phases) for run in drawn_runs]
            )
            for phases in ("steady", "all")
        },
    )


def write_prediction(folder: Path, prediction: Prediction, plan: DrawPlan, seeds: Sequence[int]) -> None:
    """Writes the draws and the predicted figures into a run's folder."""
    document = {
        "format": PREDICTION_FORMAT,
        "draws": prediction.draws,
        "redrawn": prediction.redrawn,
        "users": prediction.users,
        "runs": plan.uncertain.runs,
        "set_aside": prediction.set_aside,
        "seeds": list(seeds),
        "parameters": prediction.parameters,
        "drawn": [list(draw) for draw in plan.draws],
        "figures": {phases: list(map(_figure_toml, figures)) for phases, figures in prediction.figures.items()},
    }
    import tomlkit

    (folder / PREDICTION_FILE).write_text(tomlkit.dumps(document), encoding="utf-8")


def _figure_toml(figure: PredictedFigure) -> dict[str, Any]:
    intervals = {"interval": figure.interval, "doubt": figure.doubt, "chance": figure.chance}
    keys = {"command": figure.command, "measure": figure.measure, "predicted": figure.predicted}
    return keys | {name: [interval.low, interval.high] for name, interval in intervals.items()}
