"""A run's tables as Polars frames: from Parquet if the run has ended, from its streams if it grows or was killed.

A stream is read up to its last whole batch, also after a kill or on a full disk. A table without rows has its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.errors import BadRun, shortage_of_panic
from loadgo.records.driver_tables import merged_rows, rows_of_driver
from loadgo.records.drivers import DRIVER_COLUMN, DRIVERS_FOLDER, drivers_of_run
from loadgo.records.fleets import DRIVER_HOST, FLEET_FOLDER, HOST_COLUMN, with_hosts
from loadgo.records.machine_file import fit_warnings_in
from loadgo.records.manifest import damage_of, gone_losses
from loadgo.records.needed_threads import check_threads
from loadgo.records.prediction import Prediction, read_prediction
from loadgo.records.run_file import RUN_FILE, check_path, check_regular, read_run_file
from loadgo.records.run_file_values import check_values
from loadgo.records.runs import FAR_FOLDER, LAST_RUN_NAME, find_run, outcome_in
from loadgo.records.streams import whole_part

RUN_FORMAT = 1

Columns = dict[str, pl.DataType]
"""The columns of a table, in order."""

_POLARS_TYPES: dict[str, pl.DataType] = {
    "uint8": pl.UInt8(),
    "uint16": pl.UInt16(),
    "uint32": pl.UInt32(),
    "uint64": pl.UInt64(),
    "float64": pl.Float64(),
    "word": pl.Categorical(),
    "utf8": pl.String(),
}
"""Polars' type for each type of docs/run-folder.md. A `?` behind a type says that values may be null."""

COLUMNS_BY_TABLE: dict[str, Columns] = {
    table: {name: _POLARS_TYPES[kind.rstrip("?")] for name, kind in columns}
    for table, columns in _loadgo.table_columns().items()
}
"""Every table of a run folder, and its columns, as the Rust half writes them."""

LOAD_TABLES = ("interactions", "sessions", "phases", "time", "processes", "meter_price", "lost")
"""The tables that the figures of a load need: all but what meters count by kind of event, and screens."""


@dataclass(frozen=True)
class Tables:
    """A run's tables as recorded, before any mean, rounding or bucket.

    Times are integer nanoseconds since the run began; null means not measured.
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
    screens: pl.DataFrame
    session_usage: pl.DataFrame
    user_limits: pl.DataFrame
    meter_price: pl.DataFrame
    meter_windows: pl.DataFrame
    window_events: pl.DataFrame
    working_sets: pl.DataFrame
    lock_waits: pl.DataFrame
    processor_speed: pl.DataFrame
    conditions: dict[str, Any]
    """The content of `run.toml`."""
    prediction: Prediction | None = None
    """The prediction, if the run is one of a fitted machine with drawn parameters."""
    fit_warnings: tuple[str, ...] = ()
    """Reasons to doubt the fit of the machine that the run was simulated on."""
    part_ns: tuple[int, int] | None = None
    """The part of the run that the frames hold, in nanoseconds since its beginning; None for all of it."""
    far_records: Path | None = None
    """The folder of other hosts' records that are not in the frames, if there is one."""
    users_run: str = ""
    """The id of the run whose users were on the host of these records, if they are in its folder; else empty."""
    is_written: bool = False
    """Whether a process held the run open for writing when the frames were read."""
    by_host: tuple[Tables, ...] = ()
    """The tables of each host of a run on several, if these are without the meters' rows; else none."""

    @property
    def outcome(self) -> str:
        """The outcome as in `RecordedRun.outcome`; a run that has not finished is `running`, or `killed`."""
        return outcome_in(self.conditions, is_written=self.is_written)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by their tables' names."""
        return {name: getattr(self, name) for name in COLUMNS_BY_TABLE}


def tables(run: str | PathLike[str] = LAST_RUN_NAME) -> Tables:
    """Reads the tables of a run, as they were recorded.

    Args:
        run: A run's folder or id, `last`, or the result of `loadgo.run`, `loadgo.meter` or `loadgo.runs`.

    Returns:
        `Tables` with a Polars data frame for each table, and `conditions`, the parsed `run.toml`: docs/run-folder.md.

    Raises:
        loadgo.errors.BadRun: The run is missing, is still being written, or cannot be read.
    """
    folder = find_run(run)
    is_written = _is_written(folder)
    frames, conditions = _frames(folder, COLUMNS_BY_TABLE, is_written=is_written)
    return Tables(
        **frames,
        conditions=conditions,
        prediction=read_prediction(folder),
        fit_warnings=fit_warnings_in(folder),
        far_records=_far_records(folder),
        users_run=_users_run(folder),
        is_written=is_written,
    )


def _far_records(folder: Path) -> Path | None:
    """The folder of another host's records in a run's folder, or of the folders of several hosts; None without one."""
    one, several = folder / FAR_FOLDER, folder / FLEET_FOLDER
    if (one / RUN_FILE).exists():
        return one
    return several if any(several.glob(f"*/{RUN_FILE}")) else None


def _is_written(folder: Path) -> bool:
    """Whether a process writes the run in `folder`. Asked before the run is read, which may end meanwhile."""
    try:
        return _loadgo.is_being_written(folder)
    except BadRun:
        return False  # reading says what is wrong


def _users_run(folder: Path) -> str:
    """The id of the run in whose folder another host's records lie; empty for any other folder."""
    absolute = folder.absolute()
    run = absolute.parent.parent if absolute.parent.name == FLEET_FOLDER else absolute.parent
    is_far = absolute.name == FAR_FOLDER or absolute.parent.name == FLEET_FOLDER
    return run.name if is_far and (run / RUN_FILE).exists() else ""


def load_tables(folder: Path, also: Sequence[str] = ()) -> Tables:
    """The tables `LOAD_TABLES` of the run in `folder`, and those of `also`, for many runs one after the other.

    All others are empty. It is without a prediction and warnings of a fit. Raises `BadRun` as `tables` does.
    """
    is_written = _is_written(folder)
    frames, conditions = _frames(folder, (*LOAD_TABLES, *also), is_written=is_written)
    others: dict[str, Any] = {name: _empty_table(name) for name in COLUMNS_BY_TABLE if name not in frames}
    return Tables(**frames, **others, conditions=conditions, is_written=is_written)


def _frames(folder: Path, names: Iterable[str], *, is_written: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables of a run by name, and the content of its `run.toml`."""
    conditions = read_conditions(folder)
    _check_main_tables(folder, conditions)
    frames: dict[str, Any] = _read_tables(folder, tuple(names), conditions)
    frames |= {name: frame for name, frame in _rows_of_drivers(folder, conditions).items() if name in frames}
    cut = () if is_written else cut_streams(folder, frames)
    losses = [*conditions.get("lost", []), *gone_losses(folder, conditions), *cut]
    if losses:
        late = loss_rows(losses)
        if HOST_COLUMN in frames["lost"].columns:
            late = late.with_columns(pl.lit(DRIVER_HOST, pl.Categorical).alias(HOST_COLUMN))
        frames["lost"] = pl.concat([frames["lost"], late], how="diagonal")
    return with_hosts(frames, conditions), conditions


def _rows_of_drivers(folder: Path, conditions: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """The rows of all drivers of a run that has not been completed; empty for any other run."""
    if conditions.get("finished") or not (folder / DRIVERS_FOLDER).is_dir():
        return {}
    parts = [
        rows_of_driver(driver, partial(read_table, folder / DRIVERS_FOLDER / driver.name))
        for driver in drivers_of_run(conditions)
    ]
    return merged_rows(parts).frames if parts else {}


DAMAGE_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""Errors of Polars for a damaged table. A panic of its reader is no `Exception`."""

_MAIN_TABLES = ("interactions", "sessions")
"""Tables that every run under a load has. A run that metered one command has the first only."""


def _check_main_tables(folder: Path, conditions: dict[str, Any]) -> None:
    """Raises `BadRun` if a run that ended well lacks a main table: it is damaged, not empty."""
    ended = conditions.get("finished") and conditions.get("outcome") in ("done", "stopped")
    required = _MAIN_TABLES[:1] if conditions.get("kind") == "meter" else _MAIN_TABLES
    for name in required if ended else ():
        if not any(path.exists() for path in _files(folder, name)):
            raise BadRun(f"{folder} has lost its table {name}: the run ended well, and the file is missing")


def read_conditions(folder: Path) -> dict[str, Any]:
    """The `run.toml` of the run in `folder`. Raises `BadRun` for a missing or damaged file, and for a later format."""
    path = folder / "run.toml"
    try:
        conditions = read_run_file(folder)
        check_values(conditions)
    except (FileNotFoundError, NotADirectoryError):
        raise BadRun(f"{folder} is not a run's folder: there is no run.toml in it") from None
    except (OSError, ValueError) as error:
        raise BadRun(f"cannot read {path}: {error}") from error
    version = conditions.get("format", RUN_FORMAT)
    if version != RUN_FORMAT:
        raise BadRun(f"{folder} has format {version}, and this version of loadgo reads {RUN_FORMAT}: use a newer one")
    return conditions


def cut_streams(folder: Path, names: Iterable[str]) -> list[dict[str, Any]]:
    """A loss for each damaged or cut stream of a run that is over. All batches before the damage are read.

    Raises `BadRun` for a stream whose columns are damaged.
    """
    losses = []
    for name in names:
        parquet, stream = _files(folder, name)
        whole = None if parquet.exists() or not stream.exists() else whole_part(stream)
        if whole is not None and whole.rest is not None:
            losses.append({"at_ns": 0, "what": "record", "count": 1, "reason": whole.lost_reason(name)})
    return losses


def _read_tables(folder: Path, names: Sequence[str], conditions: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """These tables of the run in `folder`. Together they take half the processor time of one after the other."""
    check_threads()
    try:
        frames = {name: _planned_table(folder, name, conditions) for name in names}
        collected = iter(pl.collect_all([frame for frame in frames.values() if frame is not None]))
    except (OSError, *DAMAGE_ERRORS) as error:
        if _is_shortage(error):
            raise
        return {name: read_table(folder, name, conditions) for name in names}  # which says which of them is damaged
    return {name: _empty_table(name) if frame is None else next(collected).rechunk() for name, frame in frames.items()}


def _is_shortage(error: BaseException) -> bool:
    """Whether a panic of Polars is from want of descriptors or memory, and not from a damaged table."""
    return isinstance(error, pl.exceptions.PanicException) and bool(shortage_of_panic(str(error)))


def read_table(folder: Path, name: str, conditions: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """The table `name` of the run in `folder`; empty if the run did not fill it.

    With the content of `run.toml` as `conditions`, raises `BadRun` for a file that has changed since the run.
    """
    try:
        frame = _planned_table(folder, name, conditions)
        # In one piece: the last digit of a quotient may depend on how a column lies in memory.
        return _empty_table(name) if frame is None else frame.collect().rechunk()
    except OSError as error:
        raise BadRun(f"cannot read the table {name} of {folder}: {error}") from error
    except DAMAGE_ERRORS as error:
        if _is_shortage(error):
            raise
        raise BadRun(_damage_message(folder, name)) from error


def _planned_table(folder: Path, name: str, conditions: Mapping[str, Any] | None) -> pl.LazyFrame | None:
    """The table `name` with its columns, which is read when the frame is collected; None without a file.

    With the content of `run.toml` as `conditions`, raises `BadRun` for a file that has changed since the run.
    """
    parquet, _ = _files(folder, name)
    if conditions and parquet.is_file() and (damage := damage_of(parquet, name, conditions)):
        raise BadRun(_damage_message(folder, name, damage))
    frame = _scan(folder, name)
    if frame is None:
        return None
    _check_columns(folder, name, frame.collect_schema().names())
    return _lazy_with_columns(frame, COLUMNS_BY_TABLE[name])


def _empty_table(name: str) -> pl.DataFrame:
    """The table `name` without rows: a copy of one, since a frame of forty columns takes half a millisecond to make."""
    return _empty_tables()[name].clone()


@cache
def _empty_tables() -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(schema=columns) for name, columns in COLUMNS_BY_TABLE.items()}


def _check_columns(folder: Path, name: str, names: Iterable[str]) -> None:
    """Raises `BadRun` for a file of another table: columns of this table are missing, and others are present.

    A run of an earlier version only lacks columns, and one of a later version only has more.
    """
    present, expected = set(names), COLUMNS_BY_TABLE[name].keys()
    if present <= expected or present >= expected:
        return
    other = next((table for table, columns in COLUMNS_BY_TABLE.items() if columns.keys() >= present), "")
    raise BadRun(_damage_message(folder, name, f"it holds the table {other}" if other else "it holds another table"))


def _damage_message(folder: Path, name: str, damage: str = "it has been cut or written over since the run") -> str:
    file = next((path for path in _files(folder, name) if path.exists()), folder)
    alternative = "" if name in _MAIN_TABLES else ", or remove it: the rest of the run is read, and this table is lost"
    return f"{file} is damaged: {damage}; take it from a copy{alternative}"


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    """The file of a table after the run, and its stream during the run."""
    return folder / f"{name}.parquet", folder / f"{name}.arrows"


def read_stream(path: Path) -> pl.DataFrame | None:
    """The whole batches of the Arrow stream at `path`; None if it was cut within its schema.

    Raises `BadRun` for damaged ones, and for a damaged schema.
    """
    length = whole_part(path).bytes
    with path.open("rb") as stream:
        batches = stream.read(length)
    return read_batches(batches, path.parent, path.stem) if batches else None


def read_batches(batches: bytes, folder: Path, name: str) -> pl.DataFrame:
    """The rows of whole batches of the table `name`. Raises `BadRun` for damaged ones."""
    try:
        return pl.read_ipc_stream(batches)
    except (OSError, *DAMAGE_ERRORS) as error:
        raise BadRun(_damage_message(folder, name)) from error


def with_table_columns(rows: pl.DataFrame, folder: Path, name: str) -> pl.DataFrame:
    """Rows that were read of the table `name`, with its columns and types. Raises `BadRun` if they are damaged."""
    columns = COLUMNS_BY_TABLE[name]
    try:
        return rows if dict(rows.schema) == columns else with_columns(rows, columns)
    except DAMAGE_ERRORS as error:
        raise BadRun(_damage_message(folder, name)) from error


def _scan(folder: Path, name: str) -> pl.LazyFrame | None:
    """The file of a table, which is read when the frame is collected; None without a file.

    Reads Parquet before the stream: a run that is just ending has both for a moment, then Parquet alone."""
    parquet, stream = _files(folder, name)
    check_regular(parquet, stream)
    if not parquet.exists() and stream.exists():
        try:
            frame = read_stream(stream)
            return None if frame is None else frame.lazy()
        except (FileNotFoundError, BadRun):
            if not parquet.exists():
                raise
    # The path is no pattern: a folder may be called `g[1]` or begin with `~`.
    return pl.scan_parquet(check_path(parquet), glob=False) if parquet.exists() else None


def with_columns(frame: pl.DataFrame | None, columns: Columns) -> pl.DataFrame:
    """`frame` with these columns and types, and `host` and `driver` if it has them. Missing columns are null.

    None gives an empty frame.
    """
    if frame is None:
        return pl.DataFrame(schema=columns)
    return _lazy_with_columns(frame.lazy(), columns).collect()


def _lazy_with_columns(frame: pl.LazyFrame, columns: Columns) -> pl.LazyFrame:
    present = frame.collect_schema()
    if present.names() == list(columns):
        return frame.cast({name: kind for name, kind in columns.items() if present[name] != kind})
    missing = [pl.lit(None).alias(name) for name in columns if name not in present]
    kept = {**columns, **{name: pl.Categorical() for name in (HOST_COLUMN, DRIVER_COLUMN) if name in present}}
    return frame.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in kept.items())


def losses_from_conditions(conditions: dict[str, Any]) -> pl.DataFrame:
    """The losses that are recorded in `run.toml`, since they happened after the table `lost` was closed."""
    return loss_rows(conditions.get("lost", []))


def loss_rows(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Losses as rows of the table `lost`."""
    return with_columns(pl.DataFrame(rows) if rows else None, COLUMNS_BY_TABLE["lost"])
