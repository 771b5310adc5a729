"""The manifest of a run: the rows, bytes and checksum of each table, in `run.toml`, by which damage of a file is seen.

A run of an earlier loadgo, and one that has not ended, has none: its tables are read without this check.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo

MANIFEST_KEY = "tables"
"""The section of `run.toml`."""


def damage_of(path: Path, name: str, run_toml: Mapping[str, Any]) -> str:
    """How the file of the table `name` differs from the manifest in `run_toml`; empty if it does not, or has no entry.

    Raises `OSError` for a file that cannot be read.
    """
    entries = run_toml.get(MANIFEST_KEY)
    entry = entries.get(name) if isinstance(entries, Mapping) else None
    if not isinstance(entry, Mapping):
        return ""
    size, checksum = _loadgo.file_checksum(path)
    if size != entry.get("bytes"):
        return f"it has {size:,} bytes, and run.toml says {entry.get('bytes')}"
    return (
        "" if checksum == entry.get("crc32") else "its bytes have changed since the run (run.toml has their checksum)"
    )


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of the tables that the run in `folder` has now."""
    entries = {}
    for name in _loadgo.table_columns():
        path = folder / f"{name}.parquet"
        if path.exists():
            size, checksum = _loadgo.file_checksum(path)
            rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
            entries[name] = {"rows": rows, "bytes": size, "crc32": checksum}
    return entries
