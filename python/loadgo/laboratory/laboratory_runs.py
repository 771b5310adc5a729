"""The runs and experiments of a laboratory: the folders found in one folder, and what a list shows of each run.

A broken run is listed with the reason why it cannot be opened. Links that leave the laboratory are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from loadgo.errors import BadRun, LoadgoError
from loadgo.records.conditions import SCRIPT_FILE
from loadgo.records.run_file import read_run_file
from loadgo.records.run_file import read_small as read_small
from loadgo.records.run_file_values import check_values
from loadgo.records.runs import CAPACITY_FILE, EXPERIMENT_FILE, RUN_FILE, SWEEP_FILE, outcome_of

_TABLE_SUFFIXES = (".parquet", ".arrows")

NOT_READ = "not read yet"
"""The outcome of a run whose `run.toml` is not read yet."""

Stamp = tuple[int, ...]
"""Times of change and sizes of a run's files, which change when the run does."""


@dataclass(frozen=True)
class FoundRun:
    """A folder with a run, before its `run.toml` is read."""

    name: str
    """The folder's path below the laboratory, such as `light` or `ab-1/001-a`."""
    folder: Path
    stamp: Stamp
    damage: str
    """The reason why the run is not read; empty for a run that may be read."""


@dataclass(frozen=True)
class LaboratoryRun:
    """A run of the laboratory, as a list shows it."""

    name: str
    folder: Path
    stamp: Stamp
    damage: str = ""
    """The reason why the run cannot be read; empty for a good run."""
    kind: str = ""
    """`run` or `meter`."""
    script: str = ""
    script_mark: str = ""
    """A checksum of the script's text, so that two texts with one name are told apart."""
    system: str = ""
    """The system's name, with the values that were set: `here.toml, processors.count=4`."""
    host: str = ""
    """The host's name; empty for a simulated machine."""
    login: str = ""
    """The command that logged the users in; empty on a simulated machine, and in a run without users."""
    kernel: str = ""
    version: str = ""
    """The version of loadgo."""
    users: int | None = None
    started: datetime | None = None
    outcome: str = "unreadable"

    @property
    def experiment(self) -> str:
        """The name of the experiment that the run is a part of; empty for a run of its own."""
        return self.name.rpartition("/")[0]

    @property
    def start_s(self) -> float:
        """The start in seconds since 1970; 0 if it is not known."""
        return 0.0 if self.started is None else self.started.timestamp()


@dataclass(frozen=True)
class LaboratoryExperiment:
    """The stored result of `loadgo ab`, `loadgo capacity` or `loadgo sweep`."""

    name: str
    folder: Path
    kind: str
    """Key of `EXPERIMENT_FILES`."""


EXPERIMENT_FILES = {"ab": EXPERIMENT_FILE, "capacity": CAPACITY_FILE, "sweep": SWEEP_FILE}
"""The file that makes a folder the result of an experiment, by its kind."""

Found = TypeVar("Found", FoundRun, LaboratoryExperiment)


def found_in(root: Path) -> tuple[list[FoundRun], list[LaboratoryExperiment]]:
    """The runs and experiments below `root`, by name. Raises `BadRun` if there is no such folder.

    A folder that links lead to is found once, by its own name if it has one in `root`.
    """
    runs: list[FoundRun] = []
    experiments: list[LaboratoryExperiment] = []
    real_root = root.resolve()
    for name, folder in _folders(root):
        names = _entry_names(folder)
        kinds = [kind for kind, file in EXPERIMENT_FILES.items() if file in names]
        if _is_run(names):
            runs.append(_found_run(name, folder, real_root))
        elif kinds:
            experiments += [LaboratoryExperiment(name, folder, kind) for kind in kinds]
            parts = [(f"{name}/{part}", path) for part, path in _folders(folder) if _is_run(_entry_names(path))]
            runs += [_found_run(part, path, real_root) for part, path in parts]
    return _each_once(runs, root, real_root), _each_once(experiments, root, real_root)


def _each_once(found: list[Found], root: Path, real_root: Path) -> list[Found]:
    """The runs or experiments without further names of the same folder. A name without a link has precedence."""
    names: dict[tuple[Path, str], str] = {}
    keys = [(one.folder.resolve(), getattr(one, "kind", "")) for one in found]
    for one, key in zip(found, keys, strict=True):
        if key not in names or key[0] == real_root / one.folder.relative_to(root):
            names[key] = one.name
    return [one for one, key in zip(found, keys, strict=True) if names[key] == one.name]


def _folders(root: Path) -> Iterator[tuple[str, Path]]:
    try:
        names = sorted(entry.name for entry in os.scandir(root) if not entry.name.startswith(".") and _is_folder(entry))
    except OSError as error:
        raise BadRun(f"{root}: {error.strerror}") from error
    for name in names:
        yield readable(name), root / name


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def readable(name: str) -> str:
    """A file's name as text. Bytes that are not UTF-8 are written as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _entry_names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _is_run(names: set[str]) -> bool:
    """Whether a folder with these files has a run, or the remains of one."""
    return RUN_FILE in names or any(f"interactions{suffix}" in names for suffix in _TABLE_SUFFIXES)


def _found_run(name: str, folder: Path, real_root: Path) -> FoundRun:
    damage = link_out(folder, real_root) or _unreadable_name(folder)
    return FoundRun(name, folder, () if damage else _stamp(folder), damage)


def _unreadable_name(folder: Path) -> str:
    """A sentence on a folder whose name is not UTF-8; empty for any other."""
    return "" if readable(folder.name) == folder.name else "the folder's name is not UTF-8: rename it"


def link_out(folder: Path, real_root: Path) -> str:
    """A sentence on a link of a run's folder that leaves the laboratory; empty without one."""
    try:
        paths = [folder, *(Path(entry) for entry in os.scandir(folder) if entry.is_symlink())]
        for path in paths:
            # Path.resolve raises an error for a link to itself.
            if not Path(os.path.realpath(path)).is_relative_to(real_root):
                return f"{readable(path.name)} is a link that leaves the folder of runs: it is not followed"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def link_out_of_experiment(folder: Path, real_root: Path) -> str:
    """A sentence on a link out of the laboratory, in an experiment's folder or a folder in it; empty without one."""
    damage = link_out(folder, real_root)
    inner = [] if damage else [Path(entry) for entry in os.scandir(folder) if entry.is_dir()]
    return damage or next(filter(None, (link_out(one, real_root) for one in inner)), "")


def _stamp(folder: Path) -> Stamp:
    values: list[int] = []
    for file in (RUN_FILE, SCRIPT_FILE, "interactions.parquet", "interactions.arrows"):
        try:
            status = os.stat(folder / file)
            values += [status.st_mtime_ns, status.st_size]
        except OSError:
            values += [0, 0]
    return tuple(values)


def not_read_yet(found: FoundRun) -> LaboratoryRun:
    """The run as a list shows it before its `run.toml` is read."""
    return LaboratoryRun(found.name, found.folder, found.stamp, found.damage, outcome=NOT_READ)


def described(found_run: FoundRun) -> LaboratoryRun:
    """The run as a list shows it, from its `run.toml`."""
    if found_run.damage:
        return LaboratoryRun(found_run.name, found_run.folder, found_run.stamp, found_run.damage)
    try:
        run_toml = read_run_file(found_run.folder)
        check_values(run_toml)
        return _described(found_run, run_toml)
    except FileNotFoundError:
        return LaboratoryRun(found_run.name, found_run.folder, found_run.stamp, f"there is no {RUN_FILE}")
    except (OSError, ValueError, TypeError, LoadgoError) as error:
        damage = f"{RUN_FILE} cannot be read: {reason_of(error)}"
        return LaboratoryRun(found_run.name, found_run.folder, found_run.stamp, damage)


def _described(found_run: FoundRun, run_toml: dict[str, Any]) -> LaboratoryRun:
    system, started, users = run_toml.get("system", {}), run_toml.get("started"), run_toml.get("load", {}).get("users")
    return LaboratoryRun(
        found_run.name,
        found_run.folder,
        found_run.stamp,
        kind=str(run_toml.get("kind", "run")),
        script=str(run_toml.get("name", "")),
        script_mark=_script_mark(found_run.folder),
        system=_system_name(system),
        host=str(system.get("hostname", "")),
        login=str(system.get("login", "")),
        kernel=str(system.get("kernel", "")),
        version=str(run_toml.get("loadgo", "")),
        users=users if isinstance(users, int) else None,
        started=_in_zone(started) if isinstance(started, datetime) else None,
        outcome=outcome_of(found_run.folder, run_toml),
    )


def _system_name(system: Mapping[str, Any]) -> str:
    """The system's name, with the values that were set: a machine with another value is another machine."""
    return ", ".join([str(system.get("name", "")), *map(str, system.get("set", []))])


def _in_zone(moment: datetime) -> datetime:
    """The moment with a zone, which is UTC if `run.toml` names none."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_STORED_TEXTS = ("kind", "script", "script_mark", "system", "host", "login", "kernel", "version", "outcome")


def run_as_json(run: LaboratoryRun) -> dict[str, Any]:
    """The description of a run in JSON's types."""
    started = None if run.started is None else run.started.isoformat()
    return {name: getattr(run, name) for name in _STORED_TEXTS} | {"users": run.users, "started": started}


def run_from_json(found_run: FoundRun, members: Mapping[str, Any]) -> LaboratoryRun:
    """The run from `run_as_json`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    users, started = members["users"], members["started"]
    if not all(isinstance(members[name], str) for name in _STORED_TEXTS) or not isinstance(users, int | None):
        raise ValueError("a stored run has values of wrong types")
    moment = None if started is None else _in_zone(datetime.fromisoformat(started))
    texts = {name: members[name] for name in _STORED_TEXTS}
    return LaboratoryRun(found_run.name, found_run.folder, found_run.stamp, users=users, started=moment, **texts)


def _script_mark(folder: Path) -> str:
    try:
        return f"{crc32(read_small(folder / SCRIPT_FILE)):08x}"
    except OSError:
        return ""


def reason_of(error: Exception) -> str:
    """The text of an error about a file that is named beside it: the system's errors without number and name."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
