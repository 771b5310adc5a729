"""What the watch page costs: serving it while 1000 users are driven, and drawing a run of a million interactions.

    python bench/bench_watch.py [USERS] [SECONDS] [PAIRS] [INTERACTIONS] [VIEWERS]

Runs without and with ten viewers alternate; a run with many VIEWERS (200) follows. Then the page of a large run is
opened in headless Chromium, as often as there are pairs, and panned by drag at three widths, five seconds each.
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
from pan import CHROMIUM, WIDTHS, Seen, browser, look, page_of
from watched_run import Watched, watched_run

TEN = 10
PANNED_S = 5.0


def main() -> None:
    """Measures, prints and records."""
    usual = [1000, 20, 5, 1_000_000, 200]
    wanted, seconds, pairs, interactions, crowd = [*map(int, sys.argv[1:6]), *usual[len(sys.argv) - 1 :]]
    here = machine()
    with terminals(wanted) as users:
        runs = [[watched_run(users, seconds, viewers) for viewers in (0, TEN)] for _ in range(pairs)]
        crowded = watched_run(users, seconds, crowd)
    seen = _seen(interactions, pairs)
    notes = [
        f"{users} users who think exponential(1s), {seconds} s of steady load; the driver on processor 0, SCHED_FIFO",
        "viewers read the rows and draw nothing; they are one process of low priority on the same machine",
        f"the large run has {interactions:,} interactions of 1000 users; Chromium has no graphics card",
    ]
    if CHROMIUM is None:
        notes.append("chromium is not installed here: the page was not drawn")
    figures = [*_served(runs, crowded), *_drawn(seen)]
    raw = {"pairs": [[asdict(one) for one in pair] for pair in runs], "crowded": asdict(crowded)}
    finish("watch", here, figures, notes, raw | {"seen": [asdict(one) for one in seen]})


def _seen(interactions: int, rounds: int) -> list[Seen]:
    if CHROMIUM is None:
        return []
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        run = Path(place) / "large"
        command = [sys.executable, Path(__file__).parent / "large_run.py", run, str(interactions), "1000"]
        subprocess.run(command, check=True)
        with page_of(run) as url, browser() as chromium:
            return [look(chromium, url, PANNED_S) for _ in range(rounds)]


def _served(runs: Sequence[Sequence[Watched]], crowded: Watched) -> list[Figure]:
    alone, watched = [pair[0] for pair in runs], [pair[1] for pair in runs]
    late = [two.lateness_p99_us / one.lateness_p99_us for one, two in runs]
    lacking = [max(one.interactions - min(one.told), 0) for one in [*watched, crowded]]
    return [
        figure("serving ten viewers, share of one core", "", [one.serving for one in watched], "< 0.02"),
        figure("writing the records, share of one core", "", [one.writing for one in watched], "< 0.002"),
        figure("lateness p99 with viewers, to that without", "", late, "<= 1.1"),
        figure("lateness p99 without viewers", "us", [one.lateness_p99_us for one in alone]),
        figure("lateness p99 with ten viewers", "us", [one.lateness_p99_us for one in watched]),
        figure("interactions that a viewer did not get", "", lacking, "<= 0"),
        figure("memory of the serving process", "MB", [one.served_mb for one in watched]),
        figure(f"serving {crowded.viewers} viewers, share of one core", "", [crowded.serving]),
        figure(f"lateness p99 with {crowded.viewers} viewers", "us", [crowded.lateness_p99_us]),
    ]


def _drawn(seen: Sequence[Seen]) -> list[Figure]:
    if not seen:
        return []
    first = figure("large run: first picture", "s", [one.first_s for one in seen], "< 1")
    whole = figure("large run: all rows there", "s", [one.all_s for one in seen])
    rates = [
        figure(f"panning, {name} seen", "frames/s", [one.frames[name] for one in seen], ">= 30") for name in WIDTHS
    ]
    gaps = [figure(f"longest frame, {name} seen", "ms", [one.longest_ms[name] for one in seen]) for name in WIDTHS]
    return [first, whole, *rates, *gaps]


if __name__ == "__main__":
    main()
