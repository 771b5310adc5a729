"""A fitted machine as a prediction: it is run again with parameters drawn from the fit's covariance, so that the
interval of what it foretells carries the doubt of what was measured.
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

import tomlkit

from loadgo.errors import BadArgument, LoadgoError
from loadgo.prediction.draws import Doubt, Set, doubt_in, drawn
from loadgo.prediction.figures import figures_of, foreseen_of
from loadgo.prediction.fit_check import check_fit
from loadgo.records.machine_file import parsed_machine
from loadgo.records.prediction import DRAWN, FITTED, FORMAT, NAME, Foreseen, Prediction, run_folders
from loadgo.stats.resample import FEWEST_UNITS

USUAL_DRAWS = 20
"""How often parameters are drawn when nothing is said: the interval's ends are then known to a sixth of its width."""

Again = Callable[[Set, int, Path, Callable[[], bool]], None]
"""Does the run again: with these values set, this seed, into this folder, for as long as the last gives True."""
Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Drawing:
    """What is to be run besides the machine as fitted."""

    doubt: Doubt
    draws: tuple[Set, ...]
    redrawn: int


def drawing(
    machine_text: str, set: Sequence[str], draws: int | None, seed: int, *, file: str | None = None
) -> Drawing | None:
    """The draws of a machine's file with values `set`; `draws` None: 20 where its fit tells its doubt, else none.

    Raises `ValueError` where draws are asked for and there is nothing to draw, or fewer than give an interval;
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
    doubt = doubt_in(merged)
    if doubt is None or not doubt.parameters:
        if draws is None:
            return None
        lacks = "no value stands as it was fitted" if doubt else "it has no [fit] with a covariance"
        raise BadArgument(
            f"nothing of this machine can be drawn: {lacks}; loadgo fit makes one, or leave `draws` out"
        ).about("draws")
    kept, redrawn = drawn(merged, draws or USUAL_DRAWS, seed, lambda own: _can_be(machine_text, (*own, *set)))
    return Drawing(doubt, kept, redrawn)


def predict(again: Again, drawing: Drawing, folder: Path, seed: int, progress: Progress | None = None) -> Prediction:
    """Runs the machine again, as fitted and as drawn, below the run that is in `folder`, and says what it comes to.

    Raises what a run raises. An interrupt ends it: the run in `folder` is then a run, and no prediction.
    """
    count = len(drawing.draws)
    seeds = [(seed + place) % 2**63 for place in range(count)]
    fitted, below = run_folders(folder, count)
    asked: list[tuple[Set, int, Path]] = [((), seeds[place], fitted[place]) for place in range(1, count)]
    asked += [(draw, seeds[place], below[place]) for place, draw in enumerate(drawing.draws)]
    try:
        _run_all(again, asked, progress)
        prediction = _prediction(drawing, fitted, below)
        write_prediction(folder, prediction, drawing.doubt, drawing.draws, seeds)
    except BaseException:
        for name in (FITTED, DRAWN):
            shutil.rmtree(folder / name, ignore_errors=True)
        raise
    return prediction


def _can_be(machine_text: str, set: Set) -> bool:
    try:
        parsed_machine(machine_text, set)
    except LoadgoError:
        return False
    return True


def _run_all(again: Again, asked: Sequence[tuple[Set, int, Path]], progress: Progress | None) -> None:
    """As many at a time as there are processors; an error or an interrupt stops them all."""
    stop = threading.Event()
    workers = ThreadPoolExecutor(max_workers=os.cpu_count() or 2, thread_name_prefix="draw")
    try:
        waiting = [workers.submit(again, *one, lambda: not stop.is_set()) for one in asked]
        for done, future in enumerate(as_completed(waiting), start=1):
            future.result()
            if progress is not None:
                progress({"phase": "drawing", "runs": done, "runs_expected": len(asked)})
    finally:
        stop.set()
        workers.shutdown(cancel_futures=True)


def _prediction(drawing: Drawing, fitted: Sequence[Path], below: Sequence[Path]) -> Prediction:
    from loadgo.records.tables import tables

    every = [[tables(folder) for folder in folders] for folders in (fitted, below)]
    doubt = drawing.doubt
    return Prediction(
        draws=len(drawing.draws),
        redrawn=drawing.redrawn,
        parameters=doubt.parameters,
        set_aside=doubt.set_aside,
        users=doubt.users,
        figures={
            phases: foreseen_of(*([figures_of(run, phases) for run in runs] for runs in every))
            for phases in ("steady", "all")
        },
    )


def write_prediction(
    folder: Path, prediction: Prediction, doubt: Doubt, draws: Sequence[Set], seeds: Sequence[int]
) -> None:
    """Writes what was drawn and what it came to."""
    file = {
        "format": FORMAT,
        "draws": prediction.draws,
        "redrawn": prediction.redrawn,
        "users": prediction.users,
        "runs": doubt.runs,
        "set_aside": prediction.set_aside,
        "seeds": list(seeds),
        "parameters": prediction.parameters,
        "drawn": [list(draw) for draw in draws],
        "figures": {phases: list(map(_figure, figures)) for phases, figures in prediction.figures.items()},
    }
    (folder / NAME).write_text(tomlkit.dumps(file), encoding="utf-8")


def _figure(one: Foreseen) -> dict[str, Any]:
    ends = {"interval": one.interval, "doubt": one.doubt, "chance": one.chance}
    figure = {"command": one.command, "measure": one.measure, "predicted": one.predicted}
    return figure | {name: [end.low, end.high] for name, end in ends.items()}
