"""Sides that are printed as totals alone, compared as one mean interaction with all interactions of the other side.

Nobody knows which commands the totals are of, so each side keeps the mix of commands that it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from loadgo.comparison.rows import Matched, matched
from loadgo.comparison.side import ROW_SCHEMA, Side
from loadgo.errors import BadArgument

_TOTAL = "all interactions"
"""The command that stands for all commands of a side."""
_PAGE_FAULT = "page fault"
"""The count that an interaction has too."""


def matched_by_totals(
    a: Side, b: Side, by: Literal["line", "command"] | None, like_runs: Sequence[Side], margin: float
) -> Matched:
    """The measures of a mean interaction of both sides, without rows."""
    if by is not None:
        name = next(side.name for side in (a, b) if side.has_totals_alone)
        raise BadArgument(f"`by`: {name} has totals alone, and no {by}s: leave it out").about("by")
    whole_sides = matched(_as_one(a), _as_one(b), "command", [_as_one(group) for group in like_runs], margin)
    if not whole_sides.whole:
        return whole_sides
    throughput = whole_sides.whole["throughput"]
    throughput = replace(throughput, before=_throughput(a, throughput.before), after=_throughput(b, throughput.after))
    return replace(whole_sides, rows=(), whole={**whole_sides.whole, "throughput": throughput})


def _as_one(side: Side) -> Side:
    """The side with one command: a single mean interaction of totals, and all interactions of any other side."""
    if not side.has_totals_alone:
        return replace(side, rows=side.rows.with_columns(command=pl.lit(_TOTAL)))
    account = side.accounts[0]
    sums = {"cpu": account.cpu_ns, "faults": account.counts.get(_PAGE_FAULT)}
    means = {name: amount / account.interactions for name, amount in sums.items() if amount is not None}
    key = {"run": 0, "seed": 0, "user": 1, "pass": 1, "line": 1, "command": _TOTAL, "extrapolated": False}
    return replace(side, rows=pl.DataFrame([{**key, "moment": 0.0, **means}], schema=ROW_SCHEMA))


def _throughput(side: Side, measured: float | None) -> float | None:
    """The interactions of totals over their elapsed time; `measured` for any other side."""
    if not side.has_totals_alone:
        return measured
    account = side.accounts[0]
    return account.interactions / account.elapsed_ns * 1e9 if account.elapsed_ns else None
