"""Stand-ins that use several processors at once, as the commands did that they stand for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.observation.sessions import CommandUse
from loadgo.observation.stand_in_jobs import StandInJob, stand_in_jobs

STAND_IN = Path(__file__).parents[3] / "python" / "loadgo" / "data" / "stand_ins" / "stand_in.py"
S = 1_000_000_000
FULL_DISK = """
import errno, os, runpy, sys
sys.argv = sys.argv[1:]
def full(file):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
os.fsync = full
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""A stand-in whose files find no room when they are to be stored."""


def processors(cpu_s: float, elapsed_s: float, queued_s: float = 0.0) -> float:
    use = CommandUse("make", round(cpu_s * S), 0, elapsed_ns=round(elapsed_s * S), queued_ns=round(queued_s * S))
    (job,) = stand_in_jobs([use])
    return job.processors


@pytest.mark.parametrize(
    ("cpu_s", "elapsed_s", "queued_s", "expected"),
    [
        (8, 2, 0, 4),
        (7.5, 2, 0, 4),
        (2, 2, 0, 1),
        (2.1, 2, 0, 1),
        (1, 5, 0, 1),
        (2, 2, 6, 4),
        (0.1, 0.02, 0, 1),
        (4, 0, 0, 1),
    ],
)
def test_a_run_used_as_many_processors_as_its_times_say(
    cpu_s: float, elapsed_s: float, queued_s: float, expected: int
) -> None:
    assert processors(cpu_s, elapsed_s, queued_s) == expected


def test_processors_are_the_last_word_of_a_job_and_need_those_before() -> None:
    job = StandInJob(8e9, 0, 100, 10, 5, 0)
    assert job.in_words() == "8 0 100 10 5 0"
    assert replace(job, processors=4).in_words() == "8 0 100 10 5 0 0 0 0 0 4"
    assert replace(job, processors=4, read_bytes=7).in_words() == "8 0 100 10 5 0 7 0 0 0 4"


def test_a_stand_in_divides_its_processor_time_among_processes_at_once(tmp_path: Path) -> None:
    before = os.times()
    words = ["1.2", "0", "0", "0", "1", "0", "0", "0", "0", "0", "3"]
    stand_in = subprocess.Popen([sys.executable, "-IS", STAND_IN, *words], cwd=tmp_path)
    most_children = 0
    while stand_in.poll() is None:
        children = Path(f"/proc/{stand_in.pid}/task/{stand_in.pid}/children")
        most_children = max(most_children, len(children.read_text().split()) if children.exists() else 0)
        time.sleep(0.01)
    assert stand_in.returncode == 0
    assert most_children == 2
    after = os.times()
    used_s = after.children_user + after.children_system - before.children_user - before.children_system
    assert used_s == pytest.approx(1.2, rel=0.1)


def test_a_stand_in_without_room_for_the_file_that_it_reads_fails_and_leaves_no_part_of_it(tmp_path: Path) -> None:
    words = ["0.05", "0", "10", "10", "1", "0", "0", "0", "65536", "0"]
    for _ in range(2):
        (tmp_path / "empty").mkdir(exist_ok=True)
        empty = tmp_path / "empty" / "stand-in.read"
        empty.touch()
        stand_in = subprocess.run(
            [sys.executable, "-IS", "-c", FULL_DISK, str(STAND_IN), *words],
            cwd=empty.parent,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert stand_in.returncode == 1
        assert "No space left on device" in stand_in.stderr
        assert not empty.exists()
