"""A trial watched while it runs: ended when somebody asks for it, and on a host when a target is missed widely."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from loadgo.errors import BadRun
from loadgo.running.prepared import RunProgress
from loadgo.sizing.curve import Target

EVERY_S = 2.0
"""How often the records are looked at."""
FEWEST = 30
"""Interactions from which a target may be called missed widely."""
WIDELY = 3.0
"""So many times the limit: of a mean, or of the share of slow interactions."""


def watch_of(stop: threading.Event, targets: Sequence[Target], live: bool) -> Callable[[RunProgress, Path], bool]:
    """What hears how a trial stands; it says False when the trial must end."""
    looked = [time.monotonic()]

    def watch(told: RunProgress, folder: Path) -> bool:
        if stop.is_set():
            return False
        if not live or told["phase"] != "steady" or time.monotonic() - looked[0] < EVERY_S:
            return True
        looked[0] = time.monotonic()
        return not missed_widely(_answered(folder), targets)

    return watch


def missed_widely(rows: pl.DataFrame, targets: Sequence[Target]) -> bool:
    """Whether a response target is missed by so much that a host need not be loaded on; `rows` are interactions.

    More than a third of it must be missed in either half of the interactions too, so that a burst does not end a trial.
    """
    for target in targets:
        mine = rows if target.command is None else rows.filter(pl.col("command").cast(pl.String) == target.command)
        responses = (mine["ready_ns"].cast(pl.Float64) - mine["sent_ns"].cast(pl.Float64)).fill_null(np.inf).to_numpy()
        if len(responses) < FEWEST or (target.share is None and target.measure != "mean"):
            continue
        parts = [responses, responses[: len(responses) // 2], responses[len(responses) // 2 :]]
        limit_ns = target.limit * 1e9
        allowed = target.share if target.share is not None else limit_ns
        found = [float(np.mean(part > limit_ns)) if target.share is not None else float(part.mean()) for part in parts]
        if found[0] > min(WIDELY * allowed, 0.5 if target.share is not None else np.inf) and min(found) > 2 * allowed:
            return True
    return False


def _answered(folder: Path) -> pl.DataFrame:
    """The interactions of the steady phase, as far as they are written; none while nothing can be read."""
    from loadgo.records.tables import COLUMNS_BY_TABLE, read_table

    try:
        rows = read_table(folder, "interactions")
    except (BadRun, OSError):
        return pl.DataFrame(schema=COLUMNS_BY_TABLE["interactions"])
    return rows.filter(pl.col("phase").cast(pl.String) == "steady")
