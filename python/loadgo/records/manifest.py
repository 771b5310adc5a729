"""The manifest of a run: the rows, bytes and checksum of each table, in `run.toml`, by which damage of a file is seen.

A run of an earlier loadgo, and one that has not ended, has none: its tables are read without this check.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo

READER_VERSION: str = _loadgo.__version__
"""The version of the loadgo that reads."""
MANIFEST_KEY = "tables"
"""The section of `run.toml` with an entry for each table."""
_CHECKSUM_LINE = b"# crc32 of the lines above: "
"""The beginning of the last line of `run.toml`, a comment for other readers; also in `crates/store/src/checksum.rs`."""
FILES_KEY = "files"
"""The section of `run.toml` with an entry for the script, and for the machine of a simulated one."""


def damage_of(path: Path, name: str, run_toml: Mapping[str, Any]) -> str:
    """How the file of the table `name` differs from the manifest in `run_toml`; empty if it does not, or has no entry.

    Raises `OSError` for a file that cannot be read.
    """
    entries = run_toml.get(MANIFEST_KEY)
    entry = entries.get(name) if isinstance(entries, Mapping) else None
    if not isinstance(entry, Mapping):
        return ""
    return difference(path, entry)


def difference(path: Path, entry: Mapping[str, Any]) -> str:
    """How the file at `path` differs from its entry in `run.toml`; empty if it does not.

    Raises `OSError` for a file that cannot be read.
    """
    size, checksum = _loadgo.file_checksum(path)
    if size != entry.get("bytes"):
        return f"it has {size:,} bytes, and run.toml says {entry.get('bytes')}"
    return (
        "" if checksum == entry.get("crc32") else "its bytes have changed since the run (run.toml has their checksum)"
    )


def with_checksum_line(text: bytes) -> bytes:
    """The text of `run.toml` with a new last line, which has the checksum of the bytes before it.

    An old one is left out wherever it stands: a library of TOML adds sections behind it.
    """
    above = b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(_CHECKSUM_LINE))
    return b"%s%s%d\n" % (above, _CHECKSUM_LINE, zlib.crc32(above))


def damage_of_run_toml(text: bytes) -> str | None:
    """Damage of a text of `run.toml` by its last line; empty if there is none, None if it has no checksum.

    An earlier loadgo wrote none. Every last line that is a comment must be a checksum, so that damage of it is seen.
    """
    above, newline, last = text.removesuffix(b"\n").rpartition(b"\n")
    if not last.startswith(b"#"):
        return None
    checksum = _CHECKSUM_LINE + str(zlib.crc32(above + newline)).encode()
    return "" if text.endswith(b"\n") and last == checksum else "its bytes have changed since the run"


def gone_tables(folder: Path, run_toml: Mapping[str, Any]) -> dict[str, int]:
    """The tables that the manifest in `run_toml` names and that have no file in `folder`, with their rows there.

    A table without rows is left out, since nothing of it is lost.
    """
    entries = run_toml.get(MANIFEST_KEY)
    known = entries if isinstance(entries, Mapping) else {}
    gone = [name for name in _loadgo.table_columns() if name in known and not _has_file(folder, name)]
    rows = {name: known[name].get("rows") if isinstance(known[name], Mapping) else None for name in gone}
    return {name: count for name, count in rows.items() if isinstance(count, int) and count > 0}


def gone_losses(folder: Path, run_toml: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A loss for each table that is gone, as a row of the table `lost`."""
    return [
        {"at_ns": 0, "what": "record", "count": rows, "reason": f"the file of the table {name} is gone since the run"}
        for name, rows in gone_tables(folder, run_toml).items()
    ]


def tables_present(folder: Path) -> list[str]:
    """The names of the tables that have a file in `folder`."""
    return [name for name in _loadgo.table_columns() if _has_file(folder, name)]


def _has_file(folder: Path, name: str) -> bool:
    return any((folder / f"{name}.{kind}").exists() for kind in ("parquet", "arrows"))


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
