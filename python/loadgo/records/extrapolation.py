"""Estimated rows for a user who died: the lines that the user did not reach, from the other users' lines.

A missing line gets the other users' mean at the same place of the script. Each measure is then multiplied by a ratio:
the user's own answered lines over the others' lines at the same places. CSR RFC 20 did this for one of twenty
processes, which ended after about 80 % of its script.

The missing lines are known only if users do a fixed number of passes. Such rows have the outcome `extrapolated`, and
every figure that includes them is marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.records.conditions import has_passes
from loadgo.records.interactions import IS_ANSWERED, RESPONSE_NS, USAGE_COLUMNS
from loadgo.records.tables import with_columns

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_PLACE = ("pass", "line")
_SCALED_COLUMNS = ("response_ns", *USAGE_COLUMNS)


@dataclass(frozen=True)
class ExtrapolatedUser:
    """A user who died, with the number of lines that are extrapolated."""

    user: int
    done: int
    """Lines that the system answered."""
    missing: int
    """Lines that are extrapolated."""

    @property
    def share_done(self) -> float:
        """The share of the script's lines that the system answered, 0 to 1."""
        return self.done / (self.done + self.missing)


def with_missing(tables: Tables) -> tuple[pl.DataFrame, tuple[ExtrapolatedUser, ...]]:
    """The interactions of a run with the missing lines of users who died, and these users.

    Rows that are extrapolated already are kept. No row is added to a load that ends by time, nor for a line that no
    other user did.
    """
    interactions = tables.interactions
    load = tables.conditions.get("load", {})
    dead_users = _dead_users(tables)
    if not dead_users or not has_passes(tables.conditions) or load.get("model", "closed") != "closed":
        return interactions, ()
    place_means = _place_means(interactions.filter(~pl.col("user").is_in(dead_users) & IS_ANSWERED))
    added_frames: list[pl.DataFrame] = []
    extrapolated: list[ExtrapolatedUser] = []
    for user in dead_users:
        done = interactions.filter((pl.col("user") == user) & IS_ANSWERED)
        missing = place_means.join(done.select(_PLACE), on=_PLACE, how="anti")
        if missing.is_empty() or done.is_empty():
            continue
        added_frames.append(_extrapolated_rows(interactions, user, missing, _user_ratios(done, place_means)))
        extrapolated.append(ExtrapolatedUser(user, len(done), len(missing)))
    if not extrapolated:
        return interactions, ()
    users = [row.user for row in extrapolated]
    recorded = interactions.filter(~pl.col("user").is_in(users) | IS_ANSWERED)
    return pl.concat([recorded, *added_frames]), tuple(extrapolated)


def _dead_users(tables: Tables) -> list[int]:
    """Users whose last session died."""
    sessions = tables.sessions.with_columns(pl.col("outcome").cast(pl.String))
    last = sessions.sort("started_ns", maintain_order=True).group_by("user", maintain_order=True).last()
    return sorted(int(user) for user in last.filter(pl.col("outcome") == "died")["user"])


def _place_means(answered: pl.DataFrame) -> pl.DataFrame:
    """The mean response and usage at each place of the script."""
    response = RESPONSE_NS.cast(pl.Float64).mean()
    means = [pl.col(name).cast(pl.Float64).mean() for name in USAGE_COLUMNS]
    first = pl.col("command", "phase").first()
    return answered.group_by(_PLACE).agg(first, response, *means).sort(_PLACE)


def _user_ratios(done: pl.DataFrame, place_means: pl.DataFrame) -> dict[str, float]:
    """The ratio of a user's sum to the others' at the same places of the script, by measure; 1 if the others' is 0."""
    own_rows = done.with_columns(RESPONSE_NS.cast(pl.Float64)).select(
        *_PLACE, *(pl.col(name).cast(pl.Float64).alias(f"own {name}") for name in _SCALED_COLUMNS)
    )
    joined = own_rows.join(place_means, on=_PLACE, how="inner")
    ratios = {}
    for name in _SCALED_COLUMNS:
        pairs = joined.select(f"own {name}", name).drop_nulls()
        others = float(pairs[name].sum())
        ratios[name] = float(pairs[f"own {name}"].sum()) / others if others > 0 else 1.0
    return ratios


def _extrapolated_rows(
    interactions: pl.DataFrame, user: int, missing: pl.DataFrame, ratios: dict[str, float]
) -> pl.DataFrame:
    """The missing lines as rows of `interactions`. Their sending time is that of the last line which the user sent."""
    last_sent = interactions.filter(pl.col("user") == user)["sent_ns"].cast(pl.Int64).max() or 0
    sent_ns = pl.lit(last_sent, pl.UInt64)
    scaled = {name: (pl.col(name) * ratios[name]).round().cast(pl.UInt64) for name in _SCALED_COLUMNS}
    response_ns = scaled.pop("response_ns")
    zero = pl.lit(0, pl.UInt64)
    rows = missing.select(
        user=pl.lit(user, pl.UInt32),
        **{"pass": pl.col("pass")},
        line=pl.col("line"),
        command=pl.col("command"),
        planned_ns=sent_ns,
        sent_ns=sent_ns,
        first_output_ns=pl.lit(None, pl.UInt64),
        ready_ns=sent_ns + response_ns,
        typing_ns=zero,
        think_ns=zero,
        **scaled,
        exit_status=pl.lit(None, pl.UInt8),
        outcome=pl.lit("extrapolated"),
        phase=pl.col("phase"),
    )
    return with_columns(rows, dict(interactions.schema))
