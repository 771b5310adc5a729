"""The resources that can saturate, and their utilisation: processors, a limit on them, and a machine's stores."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from loadgo.measures.total_time import TotalTime, is_busy
from loadgo.records.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

PROCESSORS_RESOURCE = "processors"
LOADING_CATEGORY = "idle loading"
"""The category of time in which a swapping machine's processor waits for a program to be loaded."""

_CPU_LIMIT_PREFIX = "limit cpus="

ServerCounts = Mapping[str, int | None]
"""Number of servers by resource. None means any number: the resource never saturates."""


@dataclass(frozen=True)
class ProcessorShares:
    """The use of a host's processors by the users and by other work."""

    users_processors: float
    """Mean number of processors that the users kept busy."""
    others: float
    """Share of other work in all processors' time."""
    users: float
    """Share of the users in all processors' time."""


def server_counts(machine: str, processors: int) -> dict[str, int | None]:
    """The resources of a machine, from the text of its merged file, with their numbers of servers."""
    stores: dict[str, dict[str, Any]] = tomllib.loads(machine).get("storage", {})
    return {PROCESSORS_RESOURCE: processors, **{name: _server_count(store) for name, store in stores.items()}}


def cpu_limit_servers(cpus: float | None, servers: ServerCounts) -> dict[str, int | None]:
    """`servers` with the users' limit of processors, such as `limit cpus=0.5`, if it is less than the processors.

    The limit is one resource with as many servers as it has processors, rounded up; a part of one is a slower server.
    """
    if cpus is None or cpus >= (servers.get(PROCESSORS_RESOURCE) or 0):
        return dict(servers)
    return {**servers, f"{_CPU_LIMIT_PREFIX}{cpus:g}": math.ceil(cpus)}


def is_cpu_limit(resource: str) -> bool:
    """Whether the resource is the users' limit of processors."""
    return resource.startswith(_CPU_LIMIT_PREFIX)


def cpu_limit_utilisation(servers: ServerCounts, shares: ProcessorShares | None) -> dict[str, float]:
    """The share of the users' limit that they used; empty without a limit, or where their time was not measured."""
    if shares is None:
        return {}
    limits = [resource for resource in servers if is_cpu_limit(resource)]
    return {limit: shares.users_processors / float(limit.removeprefix(_CPU_LIMIT_PREFIX)) for limit in limits}


def busy_spans(tables: Tables, stretch: Stretch, servers: ServerCounts) -> dict[str, pl.DataFrame]:
    """The spans of each resource that can saturate and was measured.

    Columns: `at_ns`, `span_ns`, `busy` and `whole`; the last two are in nanoseconds of all its servers together.
    """
    # Each host of several has processors of its own, and spans of its own.
    time = [_processor_spans(spans_in(host.time, stretch)) for host in tables.by_host or (tables,)]
    spans_by_resource = {PROCESSORS_RESOURCE: pl.concat(time)}
    queue_spans = spans_in(tables.queue, stretch).with_columns(pl.col("queue", "measure").cast(pl.String))
    for name, row in queue_spans.filter(pl.col("measure") == "busy_ns").partition_by("queue", as_dict=True).items():
        count = servers.get(str(name[0]))
        if count is not None:
            capacity_ns = pl.col("span_ns").cast(pl.Float64) * count
            spans_by_resource[str(name[0])] = row.select("at_ns", "span_ns", busy="value", whole=capacity_ns)
    return {name: spans for name, spans in spans_by_resource.items() if len(spans)}


def utilisations(spans: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """The busy share of the servers' time, by resource."""
    return {name: float(rows["busy"].sum()) / float(rows["whole"].sum()) for name, rows in spans.items()}


def loading_share(tables: Tables, stretch: Stretch) -> float:
    """The share of the processors' time that waits for a program to be loaded into memory."""
    spans = _processor_spans(spans_in(tables.time, stretch))
    whole_ns = float(spans["whole"].sum())
    return float(spans["loading"].sum()) / whole_ns if whole_ns else 0.0


def processor_shares(total: TotalTime) -> ProcessorShares | None:
    """The use of the processors; None where the users' time was not measured."""
    users_ns, others = total.account.users_ns, total.others_share
    if users_ns is None or others is None or not total.span_ns:
        return None
    return ProcessorShares(users_ns / total.span_ns, others, total.share_of(users_ns) or 0.0)


def _server_count(store: Mapping[str, Any]) -> int | None:
    """Number of servers of a store, as the simulator counts them; None for any number."""
    count = {"server": store.get("servers", 1), "drum": 1}.get(store.get("kind", ""), store.get("channels", 1))
    return int(count) if isinstance(count, int) else None


def _processor_spans(spans: pl.DataFrame) -> pl.DataFrame:
    by_processor = spans.filter(pl.col("processor").is_not_null())
    rows = (by_processor if len(by_processor) else spans).with_columns(pl.col("category").cast(pl.String))
    busy = [name for name in rows["category"].unique().to_list() if is_busy(name)]
    time = pl.col("time_ns").cast(pl.Float64)
    return rows.group_by("at_ns", "span_ns").agg(
        busy=time.filter(pl.col("category").is_in(busy)).sum(),
        whole=time.sum(),
        loading=time.filter(pl.col("category") == LOADING_CATEGORY).sum(),
    )
