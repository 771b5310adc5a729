"""Documents reproduced by workers: the same figures, and no process left after an interrupt."""

from __future__ import annotations

import json
import re
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument
from support.processes import LONGEST_WAIT_S, interrupted, start, wait_until, wait_until_gone, workers_of

pytestmark = pytest.mark.processes


def test_the_figures_are_the_same_bytes_by_threads_and_processes() -> None:
    def figures(**workers: int) -> str:
        return re.sub(r'"wall_s": [\d.]+', "", str(loadgo.reproduce("ctss-trivial", **workers).report("json")))

    by_threads = figures()
    assert figures(workers=1) == by_threads
    assert figures(workers=2) == by_threads


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_an_interrupt_ends_the_command_and_its_workers(tmp_path: Path, workers: tuple[str, ...]) -> None:
    process = start(tmp_path, "reproduce", *workers, TMPDIR=str(tmp_path))
    if workers:
        wait_until(lambda: len(workers_of(process.pid)) == 2)
    begun = "loadgo-workers-*/loadgo-run-*" if workers else "loadgo-reproduce-*/*"
    wait_until(lambda: list(tmp_path.glob(begun)))
    interrupted(process)
    assert list(tmp_path.iterdir()) == []


def test_a_dask_cluster_gives_the_same_figures_and_ends(tmp_path: Path) -> None:
    process = start(tmp_path, "reproduce", "ctss-trivial", "--format", "json", "--workers", "dask")
    out, error = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 0, error
    figures, by_threads = json.loads(out), json.loads(str(loadgo.reproduce("ctss-trivial").report("json")))
    assert figures["documents"] == by_threads["documents"]
    assert figures["experiments"] == by_threads["experiments"]
    wait_until_gone(process.pid)


def test_workers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadArgument, match="write a number of processes"):
        loadgo.reproduce("ctss-trivial", workers="many")
