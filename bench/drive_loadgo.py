"""Runs loadgo under one load: `drive_loadgo.py LOAD` takes a `driven.Load` as JSON and prints a `driven.Driven`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import loadgo
from driven import Driven, Load
from loadgo.running.host import Driver
from memory import Memory, memory

WARM_UP_S = 3.0
SCRIPT = r"""
name = "calculator"
login = "{login}"
until = '\? $'
think = "{think}"
logout = "quit"
lines = ["12 + 30"]
"""


@dataclass
class Watch:
    """The process's own processor time and memory at both ends of the window, read while loadgo drives."""

    before: Memory = field(default_factory=memory)
    last: Memory | None = None
    over: bool = False
    samples: list[tuple[float, float, int]] = field(default_factory=list)
    """The steady load's first moment and its latest: seconds, processor seconds, interactions."""

    def on_progress(self, progress: dict[str, Any]) -> None:
        """Reads the clocks. loadgo calls it some times a second."""
        if progress["phase"] == "steady":
            if not self.samples:
                self.last = memory()
            now = (time.monotonic(), time.process_time(), int(progress["interactions"]))
            self.samples = [*self.samples[:1], now]
        if progress["phase"] == "ramp-down" and not self.over:
            self.over = True
            self.last = memory()


def main() -> None:
    """Runs the load, and prints its figures."""
    load = Load(**json.loads(sys.argv[1]))
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        script = Path(place) / "calculator.toml"
        script.write_text(SCRIPT.format(login=load.login, think=_think(load)))
        if load.pinned:
            os.sched_setaffinity(0, {1})
        watch = Watch()
        run = loadgo.run(
            script,
            users=load.users,
            duration=load.seconds,
            warm_up=WARM_UP_S,
            driver=Driver(fifo=load.scheduling == "fifo", processor=0 if load.pinned else None),
            meters=load.meters,
            out=Path(place) / "run",
            progress=watch.on_progress,
        )
        print(json.dumps(asdict(_figures(watch, loadgo.tables(run)))))


def _think(load: Load) -> str:
    return f"exponential({load.think_s}s)" if load.think_s else "none"


def _figures(watch: Watch, tables: Any) -> Driven:
    import polars as pl

    if len(watch.samples) < 2 or watch.last is None:
        raise SystemExit("the run was over before it was steady")
    (began, cpu_began, first), (ended, cpu_ended, last) = watch.samples
    grown = watch.last.since(watch.before)
    rows = tables.interactions.filter(pl.col("phase") == "steady")
    response = (rows["ready_ns"].cast(pl.Int64) - rows["sent_ns"].cast(pl.Int64)).drop_nulls() / 1e3
    lateness = (rows["sent_ns"].cast(pl.Int64) - rows["planned_ns"].cast(pl.Int64)) / 1e3
    return Driven(
        interactions=last - first,
        window_s=ended - began,
        cpu_s=cpu_ended - cpu_began,
        allocated_bytes=grown.allocated,
        resident_bytes=grown.resident,
        log_in_s=tables.sessions["ready_ns"].max() / 1e9,
        response_p50_us=response.quantile(0.5),
        response_p99_us=response.quantile(0.99),
        lateness_p50_us=lateness.quantile(0.5),
        lateness_p99_us=lateness.quantile(0.99),
        more={**_thread(tables), **_usage(rows, tables), "driver": tables.conditions.get("driver")},
    )


def _thread(tables: Any) -> dict[str, float]:
    """The driver's own thread, and those that meter, over the whole samples inside the steady load."""
    import polars as pl

    begins = dict(tables.phases.select(pl.col("phase").cast(pl.String), "at_ns").iter_rows())
    inside = tables.processes.filter(
        (pl.col("at_ns") - pl.col("span_ns") >= begins["steady"]) & (pl.col("at_ns") <= begins["ramp-down"])
    )
    span_ns = inside.filter(pl.col("who") == "driver")["span_ns"].sum()
    until = inside["at_ns"].max()
    done = tables.interactions.filter(pl.col("ready_ns").is_between(until - span_ns, until, closed="left")).height
    used = {who: inside.filter(pl.col("who") == who)["cpu_ns"].sum() for who in ("driver", "meters", "users")}
    return {
        "driver_share_of_core": used["driver"] / span_ns,
        **{f"{who}_cpu_us": cpu_ns / done / 1e3 for who, cpu_ns in used.items()},
    }


def _usage(rows: Any, tables: Any) -> dict[str, object]:
    measured = rows["cpu_user_ns"].len() - rows["cpu_user_ns"].null_count()
    return {
        "usage_share": measured / rows.height,
        "usage_every": tables.conditions["usage"]["every"],
        "usage_from": tables.conditions["usage"]["cpu"],
        "lost": int(tables.lost["count"].sum()),
        "sessions_refused": int((tables.sessions["outcome"] != "done").sum()),
    }


if __name__ == "__main__":
    main()
