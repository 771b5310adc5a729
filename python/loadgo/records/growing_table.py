"""One table of a run that goes on: all rows that are written by now, each read once."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from loadgo import _loadgo
from loadgo.records.tables import COLUMNS_BY_TABLE, read_batches, with_table_columns


class GrowingTable:
    """A table of the run in `folder`, which need not be there yet."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.arrows"
        self._name = name
        self._stream: _loadgo.Growing | None = None
        self._rows = pl.DataFrame(schema=COLUMNS_BY_TABLE[name])

    def rows(self) -> pl.DataFrame:
        """The rows that the run has written by now. Raises `BadRun` for a damaged stream."""
        if self._stream is None:
            if not self._path.exists():
                return self._rows
            self._stream = _loadgo.Growing(self._path.parent, self._name)
        if batches := self._stream.news():
            folder = self._path.parent
            new_rows = read_batches(batches, folder, self._name)
            self._rows = self._rows.vstack(with_table_columns(new_rows, folder, self._name))
        return self._rows
