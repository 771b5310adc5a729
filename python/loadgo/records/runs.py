"""The folder of all runs, and the search for a run in it.

The folder is `$LOADGO_RUNS`, or `runs` in the current folder. Each run has a folder in it, whose name is the run's id.
An id begins with the date.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.documents.result import Result
from loadgo.errors import BadRun, LoadgoError
from loadgo.notation.figures import counted
from loadgo.records.conditions import has_open_load
from loadgo.records.run_file import RUN_FILE as RUN_FILE
from loadgo.records.run_file import check_path, check_regular, read_run_file, start_in, utf8_text
from loadgo.records.run_file_values import check_values
from loadgo.records.streams import whole_part

RunSpec = str | os.PathLike[str]
"""A run, as `loadgo.tables` takes it."""

LAST_RUN_NAME = "last"
CAPACITY_FILE = "capacity.json"
"""The result of `loadgo capacity --out`, in the folder that has the folders of its trials."""
FAR_FOLDER = "other-host"
"""The folder of another host's records in the folder of a run whose users log in there, while the run goes."""
SWEEP_FILE = "sweep.toml"
"""The file in a folder that makes it a sweep's."""
EXPERIMENT_FILE = "experiment.json"
"""The result of `loadgo ab`, in a folder whose runs are those of the experiment; their names end in `-a` and `-b`."""


@dataclass(frozen=True, repr=False)
class RecordedRun(Result, presented_by="loadgo.reporting.presentation:recorded_presentation"):
    """A run in a list of runs. Each call that accepts a run's folder also accepts a `RecordedRun`."""

    id: str
    folder: Path
    name: str
    """The script's name."""
    system: str
    users: int | None
    started: datetime | None
    finished: bool
    """False for a run that still goes on, and for one that was killed."""
    outcome: str
    """`done`, `stopped`, `failed`, `killed`, `running` or `unreadable`."""
    interactions: int | None
    """None if the folder cannot be read."""

    def _line(self) -> str:
        size = "" if self.interactions is None else f", {counted(self.interactions, 'interaction')}"
        return f"{self.id}, {self.name} on {self.system or 'an unknown system'}, {self.outcome}{size}"

    def __fspath__(self) -> str:
        return str(self.folder)


class RunList(Result, list[RecordedRun], presented_by="loadgo.reporting.lists.run_list:run_presentation"):
    """A list of recorded runs."""

    def _line(self) -> str:
        return f"{counted(len(self), 'run')}{f', the last {self[-1].id}' if self else ''}"


def runs_folder() -> Path:
    """The folder of all runs, relative to the current folder unless `$LOADGO_RUNS` is absolute."""
    return Path(os.environ.get("LOADGO_RUNS") or "runs")


def is_among_runs(folder: Path) -> bool:
    """Whether a run in `folder` is one of the folder of all runs, so that it has an id there and may be the last."""
    return folder.resolve().parent == runs_folder().resolve()


def runs(folder: str | os.PathLike[str] | None = None) -> RunList:
    """Lists the recorded runs, the newest last.

    Args:
        folder: The folder that has the runs' folders. By default `$LOADGO_RUNS`, or `runs` below the current folder.

    Returns:
        A list of `RecordedRun`. Each can be given to all calls that take a run. A run that cannot be read is listed
        too, with the outcome `unreadable`.
    """
    return RunList(read_run(run) for run in _folders(Path(folder) if folder else runs_folder()))


def run_names(spec: RunSpec | Sequence[RunSpec]) -> list[str]:
    """The name of each run in `spec`: a run, or several in a sequence or with commas between."""
    texts = [os.fspath(spec)] if isinstance(spec, str | os.PathLike) else [os.fspath(run) for run in spec]
    return [name for text in texts for name in text.split(",") if name]


def find_run(run: str | os.PathLike[str] = LAST_RUN_NAME) -> Path:
    """The folder of `run`: a path, an id or the beginning of an id, or `"last"`, the newest in the folder of all runs.

    Raises `BadRun` for an unknown run, and for a beginning that several ids have.
    """
    all_runs = runs_folder()
    if run == LAST_RUN_NAME:
        return _last_folder(all_runs)
    name = os.fspath(run)
    path = Path(name)
    if (path / RUN_FILE).is_file():
        return path
    if path.name == name != ".." and (all_runs / path / RUN_FILE).is_file():
        return all_runs / path
    matches = [folder for folder in _folders(all_runs) if folder.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise BadRun(f"{name} may be {_name_list(matches)}: write more of the name")
    if path.is_dir():
        raise BadRun(f"{path} is not a run's folder: there is no run.toml in it")
    folders = _folders(all_runs)
    if get_close_matches(name, [LAST_RUN_NAME]):
        raise BadRun(f"there is no run {name}; did you mean {LAST_RUN_NAME}?")
    known_runs = f"there are {_name_list(folders)}" if folders else "there is none yet"
    raise BadRun(f"there is no run {name}, neither as a folder nor in {all_runs}: {known_runs}")


def result_file(name: str) -> Path | None:
    """The result of an experiment, a capacity or a sweep in the folder `name`, a path or a folder beside the runs.

    None if there is none, or the folder is a run's.
    """
    for folder in (Path(name), runs_folder() / name):
        if (folder / RUN_FILE).is_file():
            return None
        for file in (folder / EXPERIMENT_FILE, folder / CAPACITY_FILE, folder / SWEEP_FILE):
            if file.is_file():
                return file
    return None


def read_run(folder: Path) -> RecordedRun:
    """The run in `folder`, as a list shows it. A run that cannot be read has the outcome `unreadable`."""
    try:
        run_toml = read_run_file(folder)
        check_values(run_toml)
        return _recorded_run(folder, run_toml)
    except (OSError, ValueError, LoadgoError):
        name = utf8_text(folder.name)
        return RecordedRun(name, folder, name, "", None, None, False, "unreadable", None)


def _recorded_run(folder: Path, run_toml: dict[str, Any]) -> RecordedRun:
    finished = bool(run_toml.get("finished", False))
    # Of an open load `run.toml` has the number that may come, and the list reads no tables.
    users = None if has_open_load(run_toml) else run_toml.get("load", {}).get("users")
    return RecordedRun(
        id=str(run_toml.get("id", utf8_text(folder.name))),
        folder=folder,
        name=str(run_toml.get("name", utf8_text(folder.name))),
        system=str(run_toml.get("system", {}).get("name", "")),
        users=users if isinstance(users, int) else None,
        started=start_in(run_toml),
        finished=finished,
        outcome=outcome_of(folder, run_toml),
        interactions=_interaction_count(folder),
    )


def outcome_of(folder: Path, run_toml: dict[str, Any]) -> str:
    """The outcome of the run in `folder`, from the content of its `run.toml`: as in `RecordedRun.outcome`."""
    finished = run_toml.get("finished", False)
    return outcome_in(run_toml, is_written=not finished and _loadgo.is_being_written(folder))


def outcome_in(run_toml: dict[str, Any], *, is_written: bool) -> str:
    """The outcome in the content of `run.toml`. `is_written` says whether somebody still writes an unfinished run."""
    if run_toml.get("finished", False):
        return str(run_toml.get("outcome", "done"))
    return "running" if is_written else "killed"


def _interaction_count(folder: Path) -> int:
    """Number of interactions in the run. Of a Parquet file only the footer is read."""
    parquet, stream = folder / "interactions.parquet", folder / "interactions.arrows"
    check_regular(parquet, stream)
    if not parquet.exists():
        return whole_part(stream).rows if stream.exists() else 0
    import polars as pl

    try:
        return int(pl.scan_parquet(check_path(parquet), glob=False).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise BadRun(f"{parquet} is damaged: {error}") from error


def _folders(all_runs: Path) -> list[Path]:
    """The folders of runs in `all_runs`, ordered by the start of the run, not by name."""
    return sorted((path.parent for path in all_runs.glob("*/run.toml") if os.path.isfile(path)), key=_start_key)


def _start_key(folder: Path) -> tuple[float, str]:
    """The start of the run in `folder`, in seconds. An unreadable run comes first, so that it is never the last run."""
    try:
        started = start_in(read_run_file(folder))
    except (OSError, ValueError):
        started = None
    return (0.0 if started is None else started.timestamp(), folder.name)


def _last_folder(all_runs: Path) -> Path:
    folders = _folders(all_runs)
    if not folders:
        raise BadRun(
            f"there is no run in {all_runs} yet: make one with `loadgo run typical-user`, or name the folder of a "
            "run that lies elsewhere"
        )
    return folders[-1]


def _name_list(folders: list[Path]) -> str:
    names = [folder.name for folder in folders[-5:]]
    return ", ".join(names) + (f" and {len(folders) - 5} more" if len(folders) > 5 else "")
