"""The content of files for a search: a compressed table as it is, and uncompressed with its description."""

from __future__ import annotations

from pathlib import Path

import polars as pl


def readable_bytes(path: Path) -> bytes:
    """The bytes of a file. Of a Parquet table they have all values and its description, too."""
    content = path.read_bytes()
    if path.suffix != ".parquet":
        return content
    rows = pl.read_parquet(path)
    return b"\n".join([content, repr(pl.read_parquet_metadata(path)).encode(), rows.write_csv().encode()])
