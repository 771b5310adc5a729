"""Sentences about what only one side of a comparison has, and what is therefore left out of it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from loadgo.comparison.side import Side
from loadgo.notation.figures import as_code


def rows_of_one_side(a: Side, b: Side, by: str, key_columns: Sequence[str]) -> list[str]:
    """Sentences about the commands or lines that only one side has."""
    sentences = []
    for side, other in ((a, b), (b, a)):
        keys = (
            side.rows.select(*key_columns)
            .unique()
            .join(other.rows.select(*key_columns).unique(), on=list(key_columns), how="anti")
        )
        if by == "command" and len(keys):
            sentences.append(f"only in {side.name}: {', '.join(map(as_code, sorted(keys['command'])))}")
        elif len(keys):
            sentences.append(f"only in {side.name}: {len(keys)} lines of the script")
    return sentences


def users_of_one_side(left: pl.DataFrame, right: pl.DataFrame, paired_units: int) -> list[str]:
    """A sentence about the users who have no counterpart on the other side."""
    count = left["unit"].n_unique() + right["unit"].n_unique() - 2 * paired_units
    return [f"{count} users without a counterpart on the other side are left out"] if count else []
