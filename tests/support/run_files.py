"""The files of a run's folder, as they were written."""

from pathlib import Path

import polars as pl
import tomlkit
from loadgo import _loadgo
from loadgo.records.manifest import MANIFEST_KEY

_WRITTEN_TYPES = {
    "uint8": pl.UInt8(),
    "uint16": pl.UInt16(),
    "uint32": pl.UInt32(),
    "uint64": pl.UInt64(),
    "float64": pl.Float64(),
    "word": pl.String(),
    "utf8": pl.String(),
}


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
