"""The files of a run's folder: written from made-up tables, checked, and made those of an earlier loadgo."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import polars as pl
import tomlkit
from loadgo import _loadgo
from loadgo.records.manifest import MANIFEST_KEY
from loadgo.records.tables import Tables

_WRITTEN_TYPES = {
    "uint8": pl.UInt8(),
    "uint16": pl.UInt16(),
    "uint32": pl.UInt32(),
    "uint64": pl.UInt64(),
    "float64": pl.Float64(),
    "word": pl.String(),
    "utf8": pl.String(),
}


def written_run(folder: Path, tables: Tables, frames: Mapping[str, pl.DataFrame] = MappingProxyType({})) -> Path:
    """The folder of a run or metering that has ended, with these tables; `frames` replace some. Returns the folder."""
    folder.mkdir()
    conditions = {"format": 1, "id": folder.name, "kind": "run", "wall_s": 60.0, **tables.conditions}
    (folder / "run.toml").write_text(tomlkit.dumps(conditions))
    for name, rows in (tables.frames() | frames).items():
        rows.cast({pl.Categorical: pl.String}).write_parquet(folder / f"{name}.parquet")
    return folder


def assert_written_columns(folder: Path) -> None:
    """Checks that each table in `folder` has exactly the columns and types that the Rust half lists, in order."""
    tables = _loadgo.table_columns()
    written = {name: pl.read_parquet_schema(folder / f"{name}.parquet") for name in tables}
    listed = {
        name: {column: _WRITTEN_TYPES[kind.rstrip("?")] for column, kind in columns} for name, columns in tables.items()
    }
    for name in tables:
        assert list(written[name].items()) == list(listed[name].items()), name


def forget_manifest(folder: Path) -> Path:
    """Makes the run in `folder` one of an earlier loadgo, whose tables a test may change. Returns the folder."""
    run_toml = tomlkit.parse((folder / "run.toml").read_text())
    run_toml.pop(MANIFEST_KEY, None)
    (folder / "run.toml").write_text(tomlkit.dumps(run_toml))
    return folder
