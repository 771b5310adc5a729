"""Bytes of commands: those that were observed, beside those that the stand-ins of the run's script are to move.

A run does not count the bytes of an interaction. Its script has them: each run of a stand-in draws one of the jobs of
its command, each as likely. So the jobs are the distribution that the run was to have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loadgo.notation.toml_text import toml_table
from loadgo.observation.figures_file import KeptFigures
from loadgo.observation.likeness.results import ComparedBytes, MovedBytes
from loadgo.observation.likeness.script_match import ScriptLines, class_of_lines
from loadgo.records.conditions import SCRIPT_FILE
from loadgo.records.run_file import read_small
from loadgo.stats.distances import distance_between
from loadgo.stats.rank_correlation import rank_correlation
from loadgo.stats.resample import Floats

MOVED_COLUMNS: dict[MovedBytes, str] = {
    "read by calls": "read_bytes",
    "written by calls": "written_bytes",
    "read from storage": "storage_read_bytes",
    "written to storage": "storage_written_bytes",
}
"""The columns of an observation's figures, in the order in which a job has these counts."""
_STAND_IN = re.compile(r"sh stand-in\.sh \{random:([^{}]+)\}")
_TIMES = slice(0, 2)
_FIRST_COUNT = 6
"""The place of the bytes among the words of a job."""
_FEWEST_CORRELATED_RUNS, _FEWEST_CORRELATED_JOBS = 20, 10
"""Fewest of which a correlation says something."""
_MOST_CORRELATED_RUNS = 5_000
_P90_SHARE = 0.9


@dataclass(frozen=True)
class CommandJobs:
    """The jobs of a command in the run's script, each as likely."""

    cpu_s: Floats
    moved_bytes: Floats
    """A row for each job, with a column for each of `MOVED_COLUMNS`."""


JobsByCommand = Mapping[tuple[str, str], CommandJobs]
"""The jobs by class and command; a command that the script does not type as a stand-in has none."""


def jobs_of_script(folder: Path, lines: ScriptLines, figures: KeptFigures) -> JobsByCommand:
    """The jobs in the script of the run in `folder`, whose lines are `lines`; none if they cannot be told apart."""
    try:
        script = toml_table(read_small(folder / SCRIPT_FILE).decode("utf-8"))
    except (OSError, ValueError):
        return {}
    typed = list(_typed(script.get("lines")))
    if [name for _, name in typed] != [name for _, name in lines]:
        return {}
    found = {}
    for number, user_class in class_of_lines(lines, figures.description).items():
        text, command = typed[number - 1]
        stand_in = _STAND_IN.fullmatch(text)
        jobs = None if stand_in is None else _jobs(script.get("words", {}).get(stand_in[1]))
        if jobs is not None:
            found[user_class, command] = jobs
    return found


def _typed(lines: Any) -> Iterator[tuple[str, str]]:
    """The text and the command of each line below `lines`, in the order of the script."""
    for line in lines if isinstance(lines, list) else ():
        if isinstance(line, dict) and "choose" in line:
            yield from _typed(line["choose"])
        elif isinstance(line, dict):
            yield str(line.get("type", "")), str(line.get("as", ""))


def _jobs(words: Any) -> CommandJobs | None:
    """The jobs of a list of words; None for a list of other words."""
    try:
        rows = [[float(part) for part in str(word).split()] for word in words]
    except (TypeError, ValueError):
        return None
    if not rows or any(len(row) < _FIRST_COUNT or not all(map(math.isfinite, row)) for row in rows):
        return None
    counts = [[*row[_FIRST_COUNT:], 0.0, 0.0, 0.0, 0.0][: len(MOVED_COLUMNS)] for row in rows]
    return CommandJobs(np.array([sum(row[_TIMES]) for row in rows]), np.array(counts, np.float64))


def compared_bytes(figures: KeptFigures, jobs: JobsByCommand) -> Iterator[ComparedBytes]:
    """The bytes of each command, the most frequent first; none of a count that was not observed."""
    has_classes = len(figures.description.classes) > 1
    for each in figures.description.classes:
        rows = figures.rows.filter(pl.col("class") == each.name)
        for command in each.commands:
            runs = rows.filter(pl.col("command") == command)
            for place, (moved, column) in enumerate(MOVED_COLUMNS.items()):
                known = runs.filter(pl.col(column).is_not_null())
                if len(known):
                    told = jobs.get((each.name, command))
                    yield _compared(each.name if has_classes else "", command, moved, known, told, place)


def _compared(
    user_class: str, command: str, moved: MovedBytes, runs: pl.DataFrame, jobs: CommandJobs | None, place: int
) -> ComparedBytes:
    observed = runs[MOVED_COLUMNS[moved]].cast(pl.Float64).to_numpy()
    script = None if jobs is None else jobs.moved_bytes[:, place]
    mean = float(observed.mean())
    return ComparedBytes(
        user_class=user_class,
        command=command,
        moved=moved,
        runs=len(observed),
        observed=mean,
        observed_p90=float(np.quantile(observed, _P90_SHARE)),
        script=None if script is None else float(script.mean()),
        script_p90=None if script is None else float(np.quantile(script, _P90_SHARE)),
        relative=float(script.mean()) / mean - 1 if script is not None and mean > 0 else None,
        distance=distance_between(observed, script) / mean if script is not None and mean > 0 else None,
        observed_correlation=_correlation_of_runs(runs, observed),
        script_correlation=None
        if jobs is None or script is None
        else _correlation(jobs.cpu_s, script, _FEWEST_CORRELATED_JOBS),
    )


def _correlation_of_runs(known: pl.DataFrame, moved_bytes: Floats) -> float | None:
    """The rank correlation of processor time and bytes, of evenly spaced runs if there are many."""
    cpu_ns = known.select((pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).cast(pl.Float64)).to_series().to_numpy()
    step = -(-len(moved_bytes) // _MOST_CORRELATED_RUNS)
    is_known = np.isfinite(cpu_ns)
    return _correlation(cpu_ns[is_known][::step], moved_bytes[is_known][::step], _FEWEST_CORRELATED_RUNS)


def _correlation(cpu: Floats, moved_bytes: Floats, fewest: int) -> float | None:
    """The rank correlation; None with too few values, or where one of both figures is the same in all."""
    if len(cpu) < fewest:
        return None
    correlation = rank_correlation(cpu, moved_bytes)
    return correlation if math.isfinite(correlation) else None
