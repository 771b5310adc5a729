"""Other work on a host beside a run: its share of the processors' time, and whether it disturbed the figures.

Beside other work with the share s, a line of pure processor time takes up to 1/(1 - s) times as long. That is 5 % more
at 5 %, and 11 % more at 10 %. Above 5 % a report notes the share, and above 10 % it warns. No share near the second
bound is passed over in silence.

Two nearly equal shares must not be judged differently where they are judged together, or one after the other. So there
is hysteresis: beside a share above a limit, or after one, the limit is four fifths of it, 8 % and 4 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.audit import is_remote
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.notation.figures import share
from loadgo.records.fleets import hosts_of_run, is_metering_of_hosts
from loadgo.records.interactions import CPU_NS, IS_MEASURED
from loadgo.records.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

BUSY_SHARE = 0.1
"""A host is busy with other things if they surely have more than this share of its processors' time."""
NOTED_SHARE = 0.05
"""A larger share of other work is told: it can be as much as the change that `loadgo ab` calls no difference."""
KEPT_LIMIT_SHARE = 0.8
"""Beside a busy measurement, or after one, a host counts as busy above this part of the limit."""
SHOWS_PROGRAMS = "`loadgo meter --for 10s` shows the programs."
"""The command that shows what keeps this host busy."""
_SHOWN_ERROR_SHARE = 0.005
"""An error of the share is shown from here on; a smaller one changes no word."""

Level = Literal["quiet", "partly busy", "busy"]
BUSY_LEVELS: tuple[Level, ...] = ("quiet", "partly busy", "busy")
"""The levels in ascending order."""


@dataclass(frozen=True)
class OtherWork:
    """The share of a host's processors' time that was neither the users' nor loadgo's nor the kernel's own."""

    share: float
    """The share, 0 to 1."""
    error: float = 0.0
    """Largest error of the share, since the kernel counts busy time in ticks."""
    at_most: bool = False
    """Whether the share may be smaller, since the users' time is known for their lines alone (as without root)."""
    host: str = ""
    """The name of the host, for a run on several; empty for a run on one."""
    beside: Level = "quiet"
    """The highest level of the measurements that it is judged with, or the level before it."""

    @property
    def level(self) -> Level:
        """`busy`: figures are probably affected. `partly busy`: they may be, or the share is too uncertain."""
        if self.share - self.error > BUSY_SHARE or (
            self.beside == "busy" and self.share > KEPT_LIMIT_SHARE * BUSY_SHARE
        ):
            return "busy"
        noted = NOTED_SHARE * (1.0 if self.beside == "quiet" else KEPT_LIMIT_SHARE)
        return "partly busy" if self.share > noted else "quiet"

    @property
    def in_words(self) -> str:
        """The share with its error, such as `at most 12.6 % (± 2.0 %)`; near an end with what is possible."""
        return f"{self.share_in_words}{self.error_in_words}"

    @property
    def share_in_words(self) -> str:
        """The share without its error, such as `at most 12.6 %`."""
        return f"{'at most ' if self.at_most else ''}{share(self.share)}"

    @property
    def error_in_words(self) -> str:
        """The error of the share behind a space, such as ` (± 2.0 %)`; empty for a small one."""
        low, high = self.share - self.error, self.share + self.error
        if self.error < _SHOWN_ERROR_SHARE:
            return ""
        return (
            f" (± {share(self.error)})"
            if low >= 0 and high <= 1
            else f" ({share(max(low, 0))} to {share(min(high, 1))})"
        )


def other_work_of(tables: Tables, stretch: Stretch, total: TotalTime | None) -> OtherWork | None:
    """The other work during the stretch, whose processors' time is `total`.

    Where the users' time was not measured by itself, the processor time of their lines stands for it. A host that users
    logged in to by ssh has no driver. Of several hosts it is that of the host with the largest share. None on a
    simulated machine, on several hosts without users, and where too little was measured.
    """
    if tables.by_host:
        return None if is_metering_of_hosts(tables.conditions) else _most_of_hosts(tables, stretch)
    if (metered := metered_other_work(total)) is not None:
        return metered
    if total is None or not total.total_ns or not _is_host(tables):
        return None
    error = total.account.resolution_ns / total.total_ns
    account, users_ns = total.account, _line_time_ns(tables, stretch)
    has_driver = account.driver_ns is not None or is_remote(tables.conditions)
    if users_ns is None or not has_driver:
        return None
    rest_ns = account.busy_ns - users_ns - (account.driver_ns or 0) - (account.meters_ns or 0)
    others_share = replace(total, account=replace(account, unattributed_ns=rest_ns)).others_share
    return None if others_share is None else OtherWork(others_share, error, at_most=True)


def other_work_in(tables: Tables, time: pl.DataFrame, processes: pl.DataFrame) -> OtherWork | None:
    """The other work in these spans of the tables `time` and `processes`; None as for `metered_other_work`."""
    last_ns = 0 if time.is_empty() else int(time["at_ns"].max())  # type: ignore[arg-type]
    all_spans = Stretch("all", -last_ns, last_ns, 0, 0, 0, 0, None)
    return metered_other_work(total_time_of(replace(tables, time=time, processes=processes), all_spans))


def metered_other_work(total: TotalTime | None) -> OtherWork | None:
    """The other work where the users' time was measured by itself; else None, and on a simulated machine."""
    if total is None or not total.total_ns or total.kind == "machine" or total.others_share is None:
        return None
    return OtherWork(total.others_share, total.account.resolution_ns / total.total_ns)


def judged_together(works: Iterable[OtherWork | None]) -> tuple[OtherWork | None, ...]:
    """The measurements of one result, of which nearly equal ones have one level. None stays None."""
    listed = tuple(works)
    levels = [replace(work, beside="quiet").level for work in listed if work is not None]
    highest: Level = max(levels, key=BUSY_LEVELS.index, default="quiet")
    return tuple(None if work is None else replace(work, beside=highest) for work in listed)


def judged_after(work: OtherWork | None, before: OtherWork | None) -> OtherWork | None:
    """The measurement that follows `before` in time: a host that is busy stays so down to a lower limit."""
    return None if work is None else replace(work, beside="quiet" if before is None else before.level)


def most_other_work(runs: Iterable[tuple[Tables, Stretch]]) -> OtherWork | None:
    """The other work of the run with the largest share; None where no run measured it."""
    measured = [other_work_of(tables, stretch, total_time_of(tables, stretch)) for tables, stretch in runs]
    return max((work for work in measured if work is not None), key=lambda work: work.share, default=None)


def _most_of_hosts(tables: Tables, stretch: Stretch) -> OtherWork | None:
    """The other work on the host of a run on several that has the largest share of it; None if it is known on none."""
    works = [
        replace(work, host=host.name)
        for host, own in zip(hosts_of_run(tables.conditions), tables.by_host, strict=True)
        if (work := other_work_of(own, stretch, total_time_of(own, stretch))) is not None
    ]
    return max(works, key=lambda work: work.share, default=None)


def shows_programs(system: Mapping[str, Any], work: OtherWork) -> str:
    """The command that shows what keeps the host of this work busy. `system` is the section of `run.toml`."""
    addresses = {host.get("name"): host.get("address") for host in system.get("hosts", ())}
    return shows_programs_on(str(addresses.get(work.host) or system.get("name", "")))


def shows_programs_on(address: str) -> str:
    """The command that shows what keeps the host with this address busy; for another address, that of this host."""
    if not address.startswith(SSH_SCHEME):
        return SHOWS_PROGRAMS
    return SHOWS_PROGRAMS.replace("meter", f"meter --on {address}", 1)


def busy_clause(work: OtherWork | None, before: str = "", up_to: str = "") -> str:
    """The clause that says that a host was busy, or partly busy, with other things; empty for a quiet one.

    `before` are words before the host. `up_to` stands before the share, where it is the largest of several runs.
    """
    if work is None or work.level == "quiet":
        return ""
    whose = work.host or ("the host" if before else "The host")
    used = f"may have used up to {share(work.share)}" if work.at_most else f"used {up_to}{share(work.share)}"
    return (
        f"{before}{whose} was {work.level} with other things: other programs {used}{work.error_in_words} of its "
        "processors' time"
    )


def _is_host(tables: Tables) -> bool:
    return str(tables.conditions.get("system", {}).get("kind", "host")) == "host"


def _line_time_ns(tables: Tables, stretch: Stretch) -> int | None:
    """The processor time of the users' lines within the spans of `time` that lie in the stretch.

    A line that is partly outside counts in proportion. None if a line has no processor time, or if the run was
    interrupted, since the lines in progress then have no row.
    """
    spans = spans_in(tables.time, stretch)
    if spans.is_empty() or tables.conditions.get("outcome") != "done":
        return None
    begin_ns, end_ns = spans.select(
        (pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)).min().alias("begin"),
        pl.col("at_ns").cast(pl.Int64).max().alias("end"),
    ).row(0)
    sent_ns, ready_ns = pl.col("sent_ns").cast(pl.Int64), pl.col("ready_ns").cast(pl.Int64)
    inside_ns = (pl.min_horizontal(ready_ns, end_ns) - pl.max_horizontal(sent_ns, begin_ns)).clip(0)
    overlapping = (
        tables.interactions.filter(IS_MEASURED)
        .select(CPU_NS.cast(pl.Float64), inside_ns=inside_ns, length_ns=(ready_ns - sent_ns).clip(1))
        .filter(pl.col("inside_ns").is_null() | (pl.col("inside_ns") > 0))
    )
    if overlapping.select(pl.any_horizontal(pl.all().is_null().any())).item():
        return None
    return int(overlapping.select((pl.col("cpu_ns") * pl.col("inside_ns") / pl.col("length_ns")).sum()).item())
