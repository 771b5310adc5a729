"""A speed-up whose runs workers make: the same figures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument
from support.command_line import typed
from support.processes import interrupted, start, wait_until
from support.small_machine import laid

pytestmark = pytest.mark.processes


def test_the_figures_are_the_same_bytes_by_threads_processes_and_an_executor(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)

    def figures(**workers: object) -> str:
        attributed = loadgo.speedup(script, on=machine, changes=["processors.speed=2"], users=2, runs=3, **workers)
        return str(attributed.report("json"))

    by_threads = figures()
    assert figures(workers=1) == by_threads
    assert figures(workers=2) == by_threads
    with ThreadPoolExecutor(2) as executor:
        assert figures(executor=executor) == by_threads


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_an_interrupt_ends_the_command_and_its_workers(tmp_path: Path, workers: tuple[str, ...]) -> None:
    script, machine = laid(tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    options = ("--change", "processors.speed=2", "--users", "2", "--runs", "5000", *workers)
    process = start(tmp_path, "speedup", str(script), "--on", str(machine), *options, TMPDIR=str(temporary))
    begun = "loadgo-workers-*/loadgo-run-*" if workers else "loadgo-speedup-*/*"
    wait_until(lambda: list(temporary.glob(begun)))
    interrupted(process)
    assert list(temporary.iterdir()) == []


def test_runs_that_were_measured_have_no_work_for_workers(tmp_path: Path) -> None:
    refused = typed(tmp_path, "speedup", "--measured", "=a", "--workers", "2", status=2)
    assert "leave the script, --change, --to and --workers out" in " ".join(refused.stderr.split())
    with pytest.raises(BadArgument, match="write a number of processes"):
        loadgo.speedup("light", on="ctss", changes=["processors.speed=2"], workers=0)
