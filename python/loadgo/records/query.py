"""Questions in SQL to the tables of one run or several, answered by Polars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike

import polars as pl

from loadgo.errors import BadQuery
from loadgo.records.runs import LAST
from loadgo.records.tables import COLUMNS, Tables, tables

Asked = str | PathLike[str]
"""A run, as `loadgo.tables` takes it."""


def query(sql: str, run: Asked | Sequence[Asked] = LAST) -> pl.DataFrame:
    """The answer to `sql` from the tables of `run`: interactions, sessions, time, processes, lost, phases, faults,
    segments, primitives, queue, stacks, memory.

    In SQL the bare word `user` is a function that nobody needs here: it is read as the column.
    Of several runs each table holds the rows of all, with a column `run`, the run's id.
    Raises `BadQuery` with the tables and columns that there are; `BadRun` when a run cannot be read.
    """
    frames = tables(run).frames() if isinstance(run, (str, PathLike)) else _together([tables(one) for one in run])
    try:
        return pl.SQLContext({name: _with_plain_words(frame) for name, frame in frames.items()}).execute(
            _user_is_a_column(sql), eager=True
        )
    except pl.exceptions.PolarsError as error:
        raise BadQuery(f"{_first_line(error)}\n{_known(frames)}") from error


def _with_plain_words(frame: pl.DataFrame) -> pl.LazyFrame:
    """The table with words as text, for LIKE and functions of text; only columns in the query are converted."""
    return frame.lazy().with_columns(pl.col(pl.Categorical).cast(pl.String))


_WORDS = re.compile(
    r"""'(?:[^']|'')*' | "[^"]*" | --[^\n]* | /\*.*?\*/ | (?P<user>\buser\b)""", re.VERBOSE | re.DOTALL | re.IGNORECASE
)


def _user_is_a_column(sql: str) -> str:
    """`sql` with `user` in quotes, where it stands in none and in no comment."""
    return _WORDS.sub(lambda word: '"user"' if word["user"] else word[0], sql)


def _together(several: Sequence[Tables]) -> dict[str, pl.DataFrame]:
    """The tables of several runs, one behind the other."""
    if not several:
        raise BadQuery("there is no run to ask: name at least one")
    named = [(str(one.conditions.get("id", number)), one.frames()) for number, one in enumerate(several, 1)]
    return {name: pl.concat([_marked(frames[name], run) for run, frames in named]) for name in COLUMNS}


def _marked(frame: pl.DataFrame, run: str) -> pl.DataFrame:
    return frame.select(pl.lit(run).alias("run"), pl.all())


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def _known(frames: dict[str, pl.DataFrame]) -> str:
    lines = [f"    {name}: {', '.join(frame.columns)}" for name, frame in frames.items()]
    return "\n".join(["The tables and their columns:", *lines])


def csv_of(frame: pl.DataFrame) -> str:
    """An answer as CSV. Raises `BadQuery` for a column that CSV has no form for, such as a list."""
    try:
        return frame.write_csv()
    except pl.exceptions.PolarsError as error:
        raise BadQuery(f"{_first_line(error)}: cast the column to varchar, or ask for --format json") from error
