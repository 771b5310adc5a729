"""A run of which a user died, made whole: the lines that the user did not come to, as the others did them.

As CSR RFC 20 did with one of twenty processes that ended about 80 % through its script. A missing line takes what it
took the other users at the same place of the script, on average, times what the user's own lines took of the others'
(each measure on its own). Only where users do a number of passes is it known what is missing. Such rows have the
outcome `extrapolated`, and whoever shows a figure with them in it says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.records.interactions import ANSWERED, RESPONSE_NS, USED

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class Extrapolated:
    """A user who died, and how much of the user's script is extrapolated."""

    user: int
    done: int
    """Lines that the user was answered."""
    missing: int
    """Lines that are extrapolated."""

    @property
    def share_done(self) -> float:
        """The part of the script that the user came to, 0 to 1."""
        return self.done / (self.done + self.missing)


def with_missing(tables: Tables) -> tuple[pl.DataFrame, tuple[Extrapolated, ...]]:
    """The interactions of a run, those that dead users did not come to with them; and who died.

    Rows that are extrapolated already are kept. Nothing is added to a load that ends at a time, or where nobody else
    did the line.
    """
    own = tables.interactions
    load = tables.conditions.get("load", {})
    dead = _dead(tables)
    if not dead or "duration_s" in load or "until" in load or load.get("model", "closed") != "closed":
        return own, ()
    alive = own.filter(~pl.col("user").is_in(dead) & ANSWERED)
    places = _means(alive)
    frames, found = [own.filter(~pl.col("user").is_in(dead) | ANSWERED)], []
    for user in dead:
        done = own.filter((pl.col("user") == user) & ANSWERED)
        missing = places.join(done.select("pass", "line"), on=["pass", "line"], how="anti")
        if missing.is_empty() or done.is_empty():
            continue
        frames.append(_rows(own, user, missing, _ratios(done, places)))
        found.append(Extrapolated(user, len(done), len(missing)))
    known = [one.user for one in found]
    if not found:
        return own, ()
    frames[0] = own.filter(~pl.col("user").is_in(known) | ANSWERED)
    return pl.concat(frames), tuple(found)


def _dead(tables: Tables) -> list[int]:
    """Users whose last session died."""
    ends = tables.sessions.with_columns(pl.col("outcome").cast(pl.String))
    last = ends.sort("started_ns", maintain_order=True).group_by("user", maintain_order=True).last()
    return sorted(int(user) for user in last.filter(pl.col("outcome") == "died")["user"])


def _means(alive: pl.DataFrame) -> pl.DataFrame:
    """By pass and line: what it took the others, on average."""
    response = RESPONSE_NS.cast(pl.Float64).mean()
    means = [pl.col(name).cast(pl.Float64).mean() for name in USED]
    first = pl.col("command", "phase").first()
    return alive.group_by("pass", "line").agg(first, response, *means).sort("pass", "line")


def _ratios(done: pl.DataFrame, places: pl.DataFrame) -> dict[str, float]:
    """By measure: the dead user's lines over the others' at the same places; 1 where that cannot be told."""
    mine = done.with_columns(RESPONSE_NS.cast(pl.Float64)).select(
        "pass", "line", *(pl.col(name).cast(pl.Float64).alias(f"my {name}") for name in ("response_ns", *USED))
    )
    both = mine.join(places, on=["pass", "line"], how="inner")
    found = {}
    for name in ("response_ns", *USED):
        pairs = both.select(f"my {name}", name).drop_nulls()
        others = float(pairs[name].sum())
        found[name] = float(pairs[f"my {name}"].sum()) / others if others > 0 else 1.0
    return found


def _rows(own: pl.DataFrame, user: int, missing: pl.DataFrame, ratios: dict[str, float]) -> pl.DataFrame:
    """Rows with the columns of `interactions`; their times of day begin where the user's records end."""
    at = int(own.filter(pl.col("user") == user)["sent_ns"].cast(pl.Int64).max() or 0)  # type: ignore[arg-type]
    scaled = {name: (pl.col(name) * ratios[name]).round().cast(pl.UInt64) for name in USED}
    took = (pl.col("response_ns") * ratios["response_ns"]).round().cast(pl.UInt64)
    zero = pl.lit(0, pl.UInt64)
    rows = missing.select(
        user=pl.lit(user, pl.UInt32),
        **{"pass": pl.col("pass")},
        line=pl.col("line"),
        command=pl.col("command"),
        planned_ns=pl.lit(at, pl.UInt64),
        sent_ns=pl.lit(at, pl.UInt64),
        first_output_ns=pl.lit(None, pl.UInt64),
        ready_ns=pl.lit(at, pl.UInt64) + took,
        typing_ns=zero,
        think_ns=zero,
        **scaled,
        exit_status=pl.lit(None, pl.UInt8),
        outcome=pl.lit("extrapolated"),
        phase=pl.col("phase"),
    )
    return rows.select(pl.col(name).cast(kind) for name, kind in own.schema.items())
