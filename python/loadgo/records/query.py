"""SQL queries to the tables of one run or several, executed by Polars."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from os import PathLike

import polars as pl

from loadgo.documents.as_csv import safe_polars_csv
from loadgo.documents.as_json import JSON_FORMAT
from loadgo.errors import BadQuery
from loadgo.records.runs import LAST_RUN_NAME, RunSpec
from loadgo.records.statement import check_statement
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables, tables


def query(sql: str, run: RunSpec | Sequence[RunSpec] = LAST_RUN_NAME, *, allow_files: bool = False) -> pl.DataFrame:
    """Answers an SQL query from the tables of one or more runs.

        loadgo.query("SELECT command, avg(ready_ns - sent_ns) FROM interactions GROUP BY command", run="last")

    Args:
        sql: A SELECT of Polars' SQL. The tables are interactions, sessions, time, processes, lost, phases, faults,
            segments, primitives, queue, stacks and memory; docs/run-folder.md has their columns. Times are integer
            nanoseconds.
        run: A run's folder, its id or `last`. With several runs in a sequence each table has the rows of all, and a
            column `run` with the run's id.
        allow_files: Lets `sql` read other files and addresses, too, by `read_csv`, `read_parquet` and their like.

    Returns:
        The answer as a Polars data frame. Null means not measured.

    Raises:
        loadgo.errors.BadQuery: The tables have no answer; the text lists the tables and columns. Or `sql` would change
            tables, reads other files, has a recursive part, which Polars would compute without end, or a chain of
            more than 1,000 words and signs, which Polars' stack may not hold.
        loadgo.errors.BadRun: A run is missing or cannot be read.

    The word `user` without quotes is the column, not the SQL function.
    """
    check_statement(sql, allow_files=allow_files)
    frames = tables(run).frames() if isinstance(run, (str, PathLike)) else _combined([tables(name) for name in run])
    try:
        return pl.SQLContext({name: _with_words_as_text(frame) for name, frame in frames.items()}).execute(
            _with_quoted_user(sql), eager=True
        )
    except pl.exceptions.PolarsError as error:
        raise BadQuery(f"{_first_line(error)}\n{_columns_text(frames)}") from error


def _with_words_as_text(frame: pl.DataFrame) -> pl.LazyFrame:
    """The table with categorical columns as text, for LIKE and text functions. Polars reads only queried columns."""
    return frame.lazy().with_columns(pl.col(pl.Categorical).cast(pl.String))


_QUOTED_OR_USER = re.compile(
    r"""'(?:[^']|'')*' | "[^"]*" | --[^\n]* | /\*.*?\*/ | (?P<user>\buser\b)""", re.VERBOSE | re.DOTALL | re.IGNORECASE
)


def _with_quoted_user(sql: str) -> str:
    """`sql` with quotes around each `user` that is outside quotes and comments."""
    return _QUOTED_OR_USER.sub(lambda match: '"user"' if match["user"] else match[0], sql)


def _combined(runs: Sequence[Tables]) -> dict[str, pl.DataFrame]:
    """The tables of several runs, with a column `run`."""
    if not runs:
        raise BadQuery("the query has no run: name at least one")
    frames_by_run = [(str(run.conditions.get("id", number)), run.frames()) for number, run in enumerate(runs, 1)]
    return {
        name: pl.concat([_with_run(frames[name], run_id) for run_id, frames in frames_by_run], how="diagonal")
        for name in COLUMNS_BY_TABLE
    }


def _with_run(frame: pl.DataFrame, run_id: str) -> pl.DataFrame:
    return frame.select(pl.lit(run_id).alias("run"), pl.all())


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def _columns_text(frames: dict[str, pl.DataFrame]) -> str:
    lines = [f"    {name}: {', '.join(frame.columns)}" for name, frame in frames.items()]
    return "\n".join(["The tables and their columns:", *lines])


def csv_of(frame: pl.DataFrame) -> str:
    """The result of a query as CSV, without formulas and control characters.

    Raises `BadQuery` for a column that CSV cannot hold, such as a list.
    """
    try:
        return safe_polars_csv(frame)
    except pl.exceptions.PolarsError as error:
        raise BadQuery(f"{_first_line(error)}: cast the column to varchar, or ask for --format json") from error


def json_of(frame: pl.DataFrame, warnings: Sequence[str] = ()) -> str:
    """The result of a query as one JSON object, with the run's warnings. Its `rows` have the columns as keys.

    A number that is not finite is null. Raises `BadQuery` for a column that JSON cannot hold, such as bytes.
    """
    for name, kind in frame.schema.items():
        if "Binary" in str(kind):
            raise BadQuery(f"the column {name!r} has bytes, which JSON cannot hold: cast it to varchar")
    told = json.dumps(list(warnings), ensure_ascii=False)
    return f'{{"format": {JSON_FORMAT}, "warnings": {told}, "rows": {frame.write_json()}}}\n'
