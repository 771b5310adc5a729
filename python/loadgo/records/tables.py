"""A run's tables as Polars frames: from Parquet when the run has ended, from its streams while it grows or was killed.

A stream is read up to its last whole batch, whatever a kill or a full disk left behind it. A table that a run did not
fill is an empty frame with the right columns. `docs/run-folder.md` says what the columns mean.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.records.prediction import Prediction, read_prediction
from loadgo.records.runs import LAST, check_sections, find_run

FORMAT = 1

Columns = dict[str, pl.DataType]
"""The columns of a table, in order."""

_COUNT = pl.UInt64()
_NUMBER = pl.UInt32()
_WORD = pl.Categorical()

COLUMNS: dict[str, Columns] = {
    "interactions": {
        "user": _NUMBER,
        "pass": _NUMBER,
        "line": _NUMBER,
        "command": _WORD,
        "planned_ns": _COUNT,
        "sent_ns": _COUNT,
        "first_output_ns": _COUNT,
        "ready_ns": _COUNT,
        "typing_ns": _COUNT,
        "think_ns": _COUNT,
        "cpu_user_ns": _COUNT,
        "cpu_system_ns": _COUNT,
        "faults_minor": _COUNT,
        "faults_major": _COUNT,
        "ready_wait_ns": _COUNT,
        "paging_wait_ns": _COUNT,
        "io_wait_ns": _COUNT,
        "bytes_out": _COUNT,
        "exit_status": pl.UInt8(),
        "outcome": _WORD,
        "phase": _WORD,
    },
    "sessions": {
        "user": _NUMBER,
        "planned_ns": _COUNT,
        "started_ns": _COUNT,
        "ready_ns": _COUNT,
        "ended_ns": _COUNT,
        "outcome": _WORD,
    },
    "time": {"at_ns": _COUNT, "span_ns": _COUNT, "processor": pl.UInt16(), "category": _WORD, "time_ns": _COUNT},
    "processes": {
        "at_ns": _COUNT,
        "span_ns": _COUNT,
        "who": _WORD,
        "cpu_ns": _COUNT,
        "memory_bytes": _COUNT,
        "user": _NUMBER,
        "ready_wait_ns": _COUNT,
    },
    "lost": {"at_ns": _COUNT, "user": _NUMBER, "what": _WORD, "count": _COUNT, "reason": pl.String()},
    "phases": {"at_ns": _COUNT, "phase": _WORD},
    "faults": {
        "at_ns": _COUNT,
        "span_ns": _COUNT,
        "kind": _WORD,
        "user": _NUMBER,
        "command": _WORD,
        "bucket_ns": _COUNT,
        "count": _COUNT,
        "cpu_ns": _COUNT,
        "wait_ns": _COUNT,
        "device": _WORD,
    },
    "segments": {
        "at_ns": _COUNT,
        "span_ns": _COUNT,
        "segment": _WORD,
        "user": _NUMBER,
        "faults_minor": _COUNT,
        "faults_major": _COUNT,
        "samples": _COUNT,
    },
    "primitives": {
        "at_ns": _COUNT,
        "span_ns": _COUNT,
        "name": _WORD,
        "user": _NUMBER,
        "command": _WORD,
        "bucket_ns": _COUNT,
        "count": _COUNT,
        "errors": _COUNT,
        "time_ns": _COUNT,
        "wait_ns": _COUNT,
        "faults": _COUNT,
    },
    "queue": {"at_ns": _COUNT, "span_ns": _COUNT, "queue": _WORD, "measure": _WORD, "value": pl.Float64()},
    "stacks": {
        "at_ns": _COUNT,
        "span_ns": _COUNT,
        "user": _NUMBER,
        "command": _WORD,
        "process": _WORD,
        "stack": _WORD,
        "samples": _COUNT,
    },
    "memory": {
        "at_ns": _COUNT,
        "span_ns": _COUNT,
        "who": _WORD,
        "user": _NUMBER,
        "resident_bytes": _COUNT,
        "device_bytes": _COUNT,
        "size_bytes": _COUNT,
        "taken_pages": _COUNT,
        "brought_pages": _COUNT,
    },
}
"""Every table of a run folder, and its columns."""


@dataclass(frozen=True)
class Tables:
    """A run's tables, raw: no mean, rounding or bucket yet.

    Times are integer nanoseconds since the run began; null is *not measured*.
    """

    interactions: pl.DataFrame
    sessions: pl.DataFrame
    time: pl.DataFrame
    processes: pl.DataFrame
    lost: pl.DataFrame
    phases: pl.DataFrame
    faults: pl.DataFrame
    segments: pl.DataFrame
    primitives: pl.DataFrame
    queue: pl.DataFrame
    stacks: pl.DataFrame
    memory: pl.DataFrame
    conditions: dict[str, Any]
    """`run.toml`, parsed."""
    prediction: Prediction | None = None
    """What the run foretells, where it is one of a fitted machine and its parameters were drawn."""

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by their tables' names."""
        return {name: getattr(self, name) for name in COLUMNS}


def tables(run: str | PathLike[str] = LAST) -> Tables:
    """The tables of `run`: its folder, what `loadgo.run` or `loadgo.runs` gave, its id, or `"last"`, the newest.

    Raises `BadRun` when there is no such run, or its folder cannot be read.
    """
    folder = find_run(run)
    conditions = read_conditions(folder)
    _whole(folder, conditions)
    frames = {name: read_table(folder, name) for name in COLUMNS}
    frames["lost"] = pl.concat([frames["lost"], told_lost(conditions)])
    return Tables(**frames, conditions=conditions, prediction=read_prediction(folder))


_MAIN = ("interactions", "sessions")
"""Without the first nothing is known of a run, and without the second not how long its users were there."""


def _whole(folder: Path, conditions: dict[str, Any]) -> None:
    """Raises `BadRun` when a run that has ended well lacks one of its main tables: that is damage, not an empty run."""
    ended = conditions.get("finished") and conditions.get("outcome") in ("done", "stopped")
    for name in _MAIN if ended and conditions.get("kind") != "meter" else _MAIN[:1]:
        if ended and not any((folder / f"{name}.{kind}").exists() for kind in ("parquet", "arrows")):
            raise BadRun(f"{folder} has lost its table {name}: the run ended well, and it is not there any more")


def read_conditions(folder: Path) -> dict[str, Any]:
    """The `run.toml` of the run in `folder`. Raises `BadRun` when it is missing, damaged, or of a later format."""
    path = folder / "run.toml"
    try:
        conditions = tomllib.loads(path.read_text(encoding="utf-8"))
        check_sections(conditions)
    except (FileNotFoundError, NotADirectoryError):
        raise BadRun(f"{folder} is not a run's folder: there is no run.toml in it") from None
    except (OSError, ValueError) as error:
        raise BadRun(f"cannot read {path}: {error}") from error
    if conditions.get("format", FORMAT) != FORMAT:
        later = conditions["format"]
        raise BadRun(f"{folder} has format {later}, and this version of loadgo reads format {FORMAT}: use a newer one")
    return conditions


def read_table(folder: Path, name: str) -> pl.DataFrame:
    """The table `name` of the run in `folder`; empty when the run did not fill it."""
    try:
        found = _read(folder, name)
        _own(folder, name, found)
        return _with_columns(found, COLUMNS[name])
    except OSError as error:
        raise BadRun(f"cannot read the table {name} of {folder}: {error}") from error
    except pl.exceptions.PolarsError as error:
        raise BadRun(_damage(folder, name)) from error


def _own(folder: Path, name: str, frame: pl.DataFrame | None) -> None:
    """Raises `BadRun` for a file that holds another table: it has columns that are not this one's, and lacks some.

    A run of an earlier version lacks columns, one of a later version has more.
    """
    if frame is None or set(frame.columns) <= COLUMNS[name].keys() or set(frame.columns) >= COLUMNS[name].keys():
        return
    other = next((one for one, columns in COLUMNS.items() if columns.keys() >= set(frame.columns)), "")
    raise BadRun(_damage(folder, name, f"it holds the table {other}" if other else "it holds another table"))


def _damage(folder: Path, name: str, how: str = "it has been cut or written over since the run") -> str:
    """That the table's file is no longer as it was written, and what to do."""
    file = next((path for path in _files(folder, name) if path.exists()), folder)
    rest = "" if name in _MAIN else ", or remove it: the rest of the run is read without it"
    return f"{file} is damaged: {how}; take it from a copy{rest}"


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    """Where the table is: when the run has ended, and while it runs."""
    return folder / f"{name}.parquet", folder / f"{name}.arrows"


def read_stream(path: Path) -> pl.DataFrame | None:
    """The whole batches of the Arrow stream at `path`; None when not even its schema is whole."""
    length, _ = _loadgo.whole(path)
    with path.open("rb") as stream:
        batches = stream.read(length)
    return pl.read_ipc_stream(batches) if batches else None


def _read(folder: Path, name: str) -> pl.DataFrame | None:
    """Parquet before the stream: a run that ends just now has both for a moment, then Parquet alone."""
    parquet, stream = _files(folder, name)
    if not parquet.exists() and stream.exists():
        try:
            return read_stream(stream)
        except (FileNotFoundError, BadRun):
            if not parquet.exists():
                raise
    # A whole path, and no pattern: a folder may be called `g[1]` or begin with `~`.
    return pl.read_parquet(parquet.resolve(), glob=False) if parquet.exists() else None


def _with_columns(frame: pl.DataFrame | None, columns: Columns) -> pl.DataFrame:
    """`frame` with these columns and types; a column that it lacks was not measured."""
    if frame is None:
        return pl.DataFrame(schema=columns)
    missing = [pl.lit(None).alias(name) for name in columns if name not in frame.columns]
    return frame.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in columns.items())


def told_lost(conditions: dict[str, Any]) -> pl.DataFrame:
    """The losses that only `run.toml` could hold."""
    rows = conditions.get("lost", [])
    return _with_columns(pl.DataFrame(rows) if rows else None, COLUMNS["lost"])
