"""What could saturate: the processors, and a simulated machine's stores; how busy each was, and by whom."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from loadgo.measures.total_time import TotalTime, is_busy
from loadgo.records.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

PROCESSORS = "processors"

Servers = Mapping[str, int | None]
"""How many servers each resource has; None: any number, and it is never full."""


@dataclass(frozen=True)
class Whose:
    """Whose a host's processor time was."""

    users_processors: float
    """How many processors the users kept busy, in the mean."""
    others: float
    """The share of all processors' time that was neither the users' nor loadgo's, nor idle."""


def servers_of(machine: str, processors: int) -> dict[str, int | None]:
    """The resources of a machine file's text with everything merged, and their servers."""
    stores: dict[str, dict[str, Any]] = tomllib.loads(machine).get("storage", {})
    return {PROCESSORS: processors, **{name: _servers(store) for name, store in stores.items()}}


def busy_spans(tables: Tables, stretch: Stretch, servers: Servers) -> dict[str, pl.DataFrame]:
    """By resource that can be full and was measured: a row per span with `at_ns`, `span_ns`, `busy` and `whole`, in
    nanoseconds of all its servers together.
    """
    found = {PROCESSORS: _processor_spans(spans_in(tables.time, stretch))}
    words = spans_in(tables.queue, stretch).with_columns(pl.col("queue", "measure").cast(pl.String))
    for name, row in words.filter(pl.col("measure") == "busy_ns").partition_by("queue", as_dict=True).items():
        count = servers.get(str(name[0]))
        if count is not None:
            whole = pl.col("span_ns").cast(pl.Float64) * count
            found[str(name[0])] = row.select("at_ns", "span_ns", busy="value", whole=whole)
    return {name: spans for name, spans in found.items() if len(spans)}


def utilisation(spans: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Of each resource, the share of its servers' time that was busy."""
    return {name: float(rows["busy"].sum()) / float(rows["whole"].sum()) for name, rows in spans.items()}


def whose_of(total: TotalTime) -> Whose | None:
    """Whose the processors' time was; None where the users' is not told apart."""
    users_ns, others = total.account.users_ns, total.others_share
    if users_ns is None or others is None or not total.span_ns:
        return None
    return Whose(users_ns / total.span_ns, others)


def _servers(store: Mapping[str, Any]) -> int | None:
    """As the simulator counts them: what is held at once."""
    told = {"server": store.get("servers", 1), "drum": 1}.get(store.get("kind", ""), store.get("channels", 1))
    return int(told) if isinstance(told, int) else None


def _processor_spans(spans: pl.DataFrame) -> pl.DataFrame:
    own = spans.filter(pl.col("processor").is_not_null())
    rows = (own if len(own) else spans).with_columns(pl.col("category").cast(pl.String))
    busy = [name for name in rows["category"].unique().to_list() if is_busy(name)]
    time = pl.col("time_ns").cast(pl.Float64)
    return rows.group_by("at_ns", "span_ns").agg(
        busy=time.filter(pl.col("category").is_in(busy)).sum(), whole=time.sum()
    )
