"""The cost of a laboratory of many runs: its page until the list is drawn, and the history of a figure.

python bench/bench_lab.py [RUNS] [ROUNDS]

*New* is the first time, when no run was read before; *known* is every later time, with the cache of figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import LOADGO, command_cost
from figures import Figure, figure, finish
from machine import machine
from pan import CHROMIUM, browser

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.made_laboratory import made_runs, scattered

FIGURE = "p90(compile)"


def main() -> None:
    """Makes the runs, and measures the page and the history, new and known."""
    runs, rounds = [*map(int, sys.argv[1:3]), *[1_000, 5][len(sys.argv) - 1 :]]
    here, figures = machine(), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        root, output = Path(place) / "runs", Path(place) / "output"
        os.environ["XDG_CACHE_HOME"] = str(Path(place) / "cache")
        made_runs(root, scattered([(runs * 6 // 10, 1.0), (runs - runs * 6 // 10, 1.25)]), hours=2)
        figures.append(figure("page, new: start until the list is answered", "s", [_first_list(root)]))
        history = ["history", FIGURE, "--runs", root]
        new = command_cost(history, output, good=(0, 1))
        known = [command_cost(history, output, good=(0, 1)) for _ in range(rounds)]
        figures += [
            figure("history, new", "s", [new.seconds]),
            figure("history, new, processor time", "s", [new.processor_s]),
            figure("history, known", "s", [cost.seconds for cost in known], "< 2"),
            figure("history, known, processor time", "s", [cost.processor_s for cost in known]),
            figure("page, known: start until the list is answered", "s", [_first_list(root) for _ in range(rounds)]),
        ]
        with _laboratory(root) as url:
            lists = [_seconds(f"{url}runs") for _ in range(rounds)]
            figures.append(figure("page, known: the list answered", "s", lists, "< 1"))
            histories = [_seconds(f"{url}history?figure=p90%28compile%29") for _ in range(rounds)]
            figures.append(figure("page, known: a history answered", "s", histories, "< 2"))
            drawn = _drawn(url, rounds)
            if drawn:
                figures.append(figure("page, known: the first rows drawn", "s", drawn, "< 1"))
    finish("lab", here, figures, [f"{runs:,} made runs of 4 users and 144 interactions"], {})


@contextmanager
def _laboratory(root: Path) -> Iterator[str]:
    """The address of a laboratory's page."""
    process = subprocess.Popen([LOADGO, "lab", root], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "http://" in line)
        yield f"http://{line.split('http://')[1].split()[0]}"
    finally:
        process.terminate()
        process.communicate()


def _first_list(root: Path) -> float:
    """Seconds from the start of the command until its page has the list."""
    began = time.monotonic()
    with _laboratory(root) as url:
        _seconds(f"{url}runs")
        return time.monotonic() - began


def _seconds(url: str) -> float:
    began = time.monotonic()
    with urllib.request.urlopen(url) as answer:
        answer.read()
    return time.monotonic() - began


def _drawn(url: str, rounds: int) -> list[float]:
    """Seconds until Chromium has the first rows, from the request on. Empty without Chromium."""
    if CHROMIUM is None:
        return []
    seconds = []
    with browser() as chromium:
        for _ in range(rounds):
            page = chromium.new_page()
            began = time.monotonic()
            page.goto(url)
            page.locator("#runs tbody tr").first.wait_for()
            seconds.append(time.monotonic() - began)
            page.close()
    return seconds


if __name__ == "__main__":
    main()
