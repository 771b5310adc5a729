"""The cost of the watch page: serving it while 1000 users are driven, and drawing a run of a million interactions.

    python bench/bench_watch.py [USERS] [SECONDS] [PAIRS] [INTERACTIONS] [VIEWERS]

Runs without and with ten viewers alternate; a run with many VIEWERS (200) follows. Then headless Chromium opens the
page of a large run, once for each pair. It pans the page by drag at three widths, for five seconds each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from figures import Figure, figure, finish
from machine import machine, terminals
from pan import CHROMIUM, WIDTHS, Seen, browser, page_of, view_page
from watched_run import Watched, watched_run

TEN = 10
PANNED_S = 5.0


def main() -> None:
    """Measures, prints and records all figures."""
    usual = [1000, 20, 5, 1_000_000, 200]
    wanted, seconds, pairs, interactions, crowd = [*map(int, sys.argv[1:6]), *usual[len(sys.argv) - 1 :]]
    here = machine()
    with terminals(wanted) as users:
        runs = [[watched_run(users, seconds, viewers) for viewers in (0, TEN)] for _ in range(pairs)]
        crowded = watched_run(users, seconds, crowd)
    views = _page_views(interactions, pairs)
    notes = [
        f"{users} users who think exponential(1s), {seconds} s of steady load; the driver on processor 0, SCHED_FIFO",
        "viewers read the rows and draw nothing; they are one process of low priority on the same machine",
        f"the large run has {interactions:,} interactions of 1000 users; Chromium has no graphics card",
    ]
    if CHROMIUM is None:
        notes.append("chromium is not installed here: the page was not drawn")
    figures = [*_served(runs, crowded), *_drawn(views)]
    raw = {"pairs": [list(map(asdict, pair)) for pair in runs], "crowded": asdict(crowded)}
    finish("watch", here, figures, notes, raw | {"seen": list(map(asdict, views))})


def _page_views(interactions: int, rounds: int) -> list[Seen]:
    if CHROMIUM is None:
        return []
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        run = Path(place) / "large"
        command = [sys.executable, Path(__file__).parent / "large_run.py", run, str(interactions), "1000"]
        subprocess.run(command, check=True)
        with page_of(run) as url, browser() as chromium:
            return [view_page(chromium, url, PANNED_S) for _ in range(rounds)]


def _served(runs: Sequence[Sequence[Watched]], crowded: Watched) -> list[Figure]:
    alone, watched = [pair[0] for pair in runs], [pair[1] for pair in runs]
    late = [with_viewers.lateness_p99_us / without.lateness_p99_us for without, with_viewers in runs]
    missing = [max(run.interactions - min(run.told), 0) for run in [*watched, crowded]]
    return [
        figure("serving ten viewers, share of one core", "", [run.serving for run in watched], "< 0.02"),
        figure("writing the records, share of one core", "", [run.writing for run in watched], "< 0.002"),
        figure("lateness p99 with viewers, to that without", "", late, "<= 1.1"),
        figure("lateness p99 without viewers", "us", [run.lateness_p99_us for run in alone]),
        figure("lateness p99 with ten viewers", "us", [run.lateness_p99_us for run in watched]),
        figure("interactions that a viewer did not get", "", missing, "<= 0"),
        figure("memory of the serving process", "MB", [run.served_mb for run in watched]),
        figure(f"serving {crowded.viewers} viewers, share of one core", "", [crowded.serving]),
        figure(f"lateness p99 with {crowded.viewers} viewers", "us", [crowded.lateness_p99_us]),
    ]


def _drawn(views: Sequence[Seen]) -> list[Figure]:
    if not views:
        return []
    first = figure("large run: first picture", "s", [view.first_s for view in views], "< 1")
    complete = figure("large run: all rows there", "s", [view.all_s for view in views])
    rates = [
        figure(f"panning, {name} seen", "frames/s", [view.frames[name] for view in views], ">= 30") for name in WIDTHS
    ]
    gaps = [figure(f"longest frame, {name} seen", "ms", [view.longest_ms[name] for view in views]) for name in WIDTHS]
    return [first, complete, *rates, *gaps]


if __name__ == "__main__":
    main()
