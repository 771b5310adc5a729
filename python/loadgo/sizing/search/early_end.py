"""The early end of a trial: after an interrupt, and on a host when a target is missed widely."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from loadgo.errors import BadRun
from loadgo.running.prepared import ReportProgress, RunProgress
from loadgo.sizing.curve import Target

WATCH_PERIOD_S = 2.0
"""Time between two readings of the records."""
FEWEST_WATCHED_INTERACTIONS = 30
"""Fewest interactions in which a target can be missed widely."""
WIDE_MISS_RATIO = 3.0
"""A mean of more than this many times its limit, or a share of slow interactions of that, misses its target widely."""
WIDE_SLOW_SHARE = 0.5
"""A larger share of slow interactions is also a wide miss."""
HALVES_MISS_RATIO = 2.0
"""In both halves of the interactions, the figure must exceed its limit this many times: a burst ends no trial.

For a share of slow interactions, the middle between its limit and 1 is enough: twice a limit of 0.5 cannot be exceeded.
"""

TrialWatcher = Callable[[RunProgress, Path], bool]
"""A callback with the progress and the folder of a trial, about three times a second; False ends the trial."""


def trial_watcher(stop: threading.Event, targets: Sequence[Target], live: bool) -> TrialWatcher:
    """The callback that ends a trial when `stop` is set, and on a host when a target is missed widely."""
    last_read_s = [time.monotonic()]

    def watch(progress: RunProgress, folder: Path) -> bool:
        if stop.is_set():
            return False
        if not live or progress["phase"] != "steady" or time.monotonic() - last_read_s[0] < WATCH_PERIOD_S:
            return True
        last_read_s[0] = time.monotonic()
        return not misses_widely(_steady_interactions(folder), targets)

    return watch


def reported_trial(
    watcher: TrialWatcher, report: ReportProgress | None, duration_s: float | None, step: str
) -> TrialWatcher:
    """The watcher, which reports the state of the trial too: with its folder, its length, and `step`, its number."""
    if report is None:
        return watcher

    def watch(progress: RunProgress, folder: Path) -> bool:
        report(progress | {"folder": str(folder), "duration_s": duration_s, "until": None, "step": step})
        return watcher(progress, folder)

    return watch


def misses_widely(rows: pl.DataFrame, targets: Sequence[Target]) -> bool:
    """Whether a target on response times is missed so widely that the trial can end; `rows` are its interactions."""
    for target in targets:
        is_judged = pl.lit(True) if target.command is None else pl.col("command").cast(pl.String) == target.command
        response_ns = pl.col("ready_ns").cast(pl.Float64) - pl.col("sent_ns").cast(pl.Float64)
        responses = rows.filter(is_judged).select(response_ns.fill_null(np.inf)).to_series().to_numpy()
        if len(responses) < FEWEST_WATCHED_INTERACTIONS or (target.share is None and target.measure != "mean"):
            continue
        parts = [responses, responses[: len(responses) // 2], responses[len(responses) // 2 :]]
        limit_ns = target.limit * 1e9
        allowed = target.share if target.share is not None else limit_ns
        values = [float(np.mean(part > limit_ns)) if target.share is not None else float(part.mean()) for part in parts]
        wide_miss, halves_miss = WIDE_MISS_RATIO * allowed, HALVES_MISS_RATIO * allowed
        if target.share is not None:
            wide_miss, halves_miss = min(wide_miss, WIDE_SLOW_SHARE), min(halves_miss, (1 + target.share) / 2)
        if values[0] > wide_miss and min(values) > halves_miss:
            return True
    return False


def _steady_interactions(folder: Path) -> pl.DataFrame:
    """The interactions of the steady phase that are written so far; empty while the table cannot be read."""
    from loadgo.records.tables import COLUMNS_BY_TABLE, read_table

    try:
        rows = read_table(folder, "interactions")
    except (BadRun, OSError):
        return pl.DataFrame(schema=COLUMNS_BY_TABLE["interactions"])
    return rows.filter(pl.col("phase").cast(pl.String) == "steady")
