"""Where runs are kept, and which there are.

Runs lie in `$LOADGO_RUNS`, or else in `runs` below the current folder; each in a folder that has its id for a name, and
ids begin with the date, so that names sort by age.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.errors import BadArgument, BadRun, LoadgoError

LAST = "last"

_SECTIONS = ("load", "system", "conditions", "limit", "usage", "meters", "driver")


@dataclass(frozen=True)
class RecordedRun:
    """A run that was recorded, as a list of runs shows it. It can be given wherever a run's folder can."""

    id: str
    folder: Path
    name: str
    """The script's."""
    system: str
    users: int | None
    started: datetime | None
    finished: bool
    """False while it runs, and after a kill."""
    outcome: str
    """`done`, `stopped`, `failed`, `killed`; `running` while it runs; `unreadable`."""
    interactions: int | None
    """None when the folder cannot be read."""

    def __fspath__(self) -> str:
        return str(self.folder)


def runs_folder() -> Path:
    """Where runs are kept."""
    return Path(os.environ.get("LOADGO_RUNS") or "runs")


def runs(folder: Path | None = None) -> list[RecordedRun]:
    """All runs in `folder` (`runs_folder()` when none is given), the newest last."""
    return [read_run(run) for run in _folders(folder or runs_folder())]


def find_run(run: str | os.PathLike[str] = LAST) -> Path:
    """The folder of `run`: a path, an id or the beginning of one, or `"last"`.

    Raises `BadRun` when there is none, or when more than one begins so.
    """
    kept = runs_folder()
    if run == LAST:
        return _last(kept)
    path = Path(run)
    if (path / "run.toml").is_file():
        return path
    named = [folder for folder in _folders(kept) if folder.name.startswith(str(run))]
    exact = [folder for folder in named if folder.name == str(run)]
    found = exact or named
    if len(found) == 1:
        return found[0]
    if found:
        raise BadRun(f"{run} may be {_listed(found)}: say more of the name")
    if path.is_dir():
        raise BadRun(f"{path} is not a run's folder: there is no run.toml in it")
    raise BadRun(f"there is no run {run}, neither as a folder nor in {kept}: {_known(kept)}")


def check_sections(told: dict[str, Any]) -> None:
    """Raises `ValueError` when a part of `run.toml` that is a table by its format is something else."""
    for name in _SECTIONS:
        if not isinstance(told.get(name, {}), dict):
            raise BadArgument(f"`{name}` is no table")


def read_run(folder: Path) -> RecordedRun:
    """The run in `folder`, as a list shows it: what cannot be read is left out, and its outcome says so."""
    try:
        told = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
        check_sections(told)
        return _run(folder, told)
    except (OSError, ValueError, LoadgoError, pl.exceptions.PolarsError):
        return RecordedRun(folder.name, folder, folder.name, "", None, None, False, "unreadable", None)


def _run(folder: Path, told: dict[str, Any]) -> RecordedRun:
    finished = bool(told.get("finished", False))
    started = told.get("started")
    return RecordedRun(
        id=str(told.get("id", folder.name)),
        folder=folder,
        name=str(told.get("name", folder.name)),
        system=str(told.get("system", {}).get("name", "")),
        users=told.get("load", {}).get("users"),
        started=started if isinstance(started, datetime) else None,
        finished=finished,
        outcome=str(told.get("outcome", "done")) if finished else _unfinished(folder),
        interactions=_interactions(folder),
    )


def _unfinished(folder: Path) -> str:
    return "running" if _loadgo.is_being_written(folder) else "killed"


def _interactions(folder: Path) -> int:
    """How many interactions the run in `folder` holds, without reading them all where Parquet tells."""
    parquet, stream = folder / "interactions.parquet", folder / "interactions.arrows"
    if parquet.exists():
        return int(pl.scan_parquet(parquet.resolve(), glob=False).select(pl.len()).collect().item())
    return int(_loadgo.whole(stream)[1]) if stream.exists() else 0


def _folders(kept: Path) -> list[Path]:
    """The folders of runs in `kept`, by when they were begun, whatever they are called."""
    return sorted((path.parent for path in kept.glob("*/run.toml")), key=_begun)


def _begun(folder: Path) -> tuple[float, str]:
    """When the run in `folder` was begun; what cannot be read comes first, and is never the last run."""
    try:
        started = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8")).get("started")
    except (OSError, ValueError):
        started = None
    return (started.timestamp() if isinstance(started, datetime) else 0.0, folder.name)


def _last(kept: Path) -> Path:
    folders = _folders(kept)
    if not folders:
        raise BadRun(f"there is no run in {kept} yet: make one with `loadgo run typical-user`, or name its folder")
    return folders[-1]


def _known(kept: Path) -> str:
    folders = _folders(kept)
    return f"there are {_listed(folders)}" if folders else "there is none yet"


def _listed(folders: list[Path]) -> str:
    names = [folder.name for folder in folders[-5:]]
    return ", ".join(names) + (f" and {len(folders) - 5} more" if len(folders) > 5 else "")
