"""Runs that get too few processes and threads: each ends in words with its status, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.outside import NEEDS_ROOT, Bench, finished, left_behind

QUICK = 'think = "none"\npasses = 2\nlines = ["echo here", "true"]\n'
TREES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/pids"))
"""Where the controller of processes may be: in the unified tree, or in a tree of its own."""


@pytest.fixture
def few(tmp_path: Path) -> Iterator[Path]:
    """A control group of this test's own that can limit processes."""
    tree = next((tree for tree in TREES if _has_pids(tree)), None)
    if tree is None:
        pytest.skip("no control group here can limit processes: the controller `pids` is not there")
    group = tree / f"loadgo-test-few-{os.getpid()}"
    group.mkdir()
    yield group
    with suppress(OSError):
        group.rmdir()


def _has_pids(tree: Path) -> bool:
    delegated = tree / "cgroup.subtree_control"
    return "pids" in delegated.read_text().split() if delegated.exists() else tree.name == "pids" and tree.is_dir()


def run_in(bench: Bench, group: Path, most: int) -> subprocess.CompletedProcess[str]:
    """A run of two users in this group, which may have so many processes and threads."""
    (group / "pids.max").write_text(f"{most}\n")
    inside = ("sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh")
    return finished(bench.start("run", "asked.toml", "--users", "2", "--out", f"run-{most}", before=inside))


@NEEDS_ROOT
@pytest.mark.parametrize("most", [12, 20])
def test_a_run_that_may_have_too_few_processes_says_so_before_anybody_logs_in(
    bench: Bench, few: Path, most: int
) -> None:
    bench.script(QUICK)
    ended = run_in(bench, few, most)
    assert ended.returncode == 2
    assert "pids.max is" in ended.stderr
    assert "remedy: echo" in ended.stderr
    assert left_behind(bench) == []


@NEEDS_ROOT
def test_a_run_with_the_processes_that_it_asks_for_ends_well(bench: Bench, few: Path) -> None:
    bench.script(QUICK)
    ended = run_in(bench, few, 80)
    assert ended.returncode in (0, 1), ended.stderr
    assert "pids.max" not in ended.stderr
    assert left_behind(bench) == []
