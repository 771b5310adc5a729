"""`loadgo ab` on this host: twice the work is found, and an interrupt keeps the pairs that were complete."""

import json
import os
import signal
from pathlib import Path

import pytest
from support.outside import Bench, finished, left_behind, wait_until

SPIN = """
name = "spin"
think = "uniform(20ms, 60ms)"
typing = "2000 chars/s"
lines = [{{ type = "i=0; while [ $i -lt {count} ]; do i=$((i + 1)); done", as = "spin", status = 0 }}]
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run in."""
    (tmp_path / "homes").mkdir()
    return Bench(tmp_path)


def test_twice_the_work_is_found(bench: Bench) -> None:
    a, b = (bench.script(SPIN.format(count=count), name) for name, count in (("a", 5000), ("b", 10000)))
    load = ("--users", "2", "--for", "1s", "--measure", "cpu", "--pairs", "20")
    document = json.loads(bench.loadgo("ab", a, b, *load, "--format", "json", "--out", "kept").stdout)
    assert document["end"] == "decided", document["answer"]
    cpu = next(change for change in document["changes"] if change["measure"] == "cpu")
    assert cpu["verdict"] == "worse"
    assert cpu["interval"]["low"] <= cpu["change"] <= cpu["interval"]["high"]
    assert (bench.folder / "kept" / "experiment.json").exists()


def test_an_interrupt_keeps_the_pairs_that_are_complete(bench: Bench) -> None:
    script = bench.script(SPIN.format(count=2000))
    running = bench.start("ab", script, "--users", "1", "--for", "1s", "--margin", "0.01%", "--out", "kept")
    result = bench.folder / "kept" / "experiment.json"
    wait_until(lambda: result.exists() and bool(json.loads(result.read_text())["pairs"]), running)
    os.kill(running.pid, signal.SIGINT)
    ended = finished(running)
    assert ended.returncode == 130, ended.stderr
    assert "The experiment was stopped" in ended.stdout
    document = json.loads(result.read_text())
    assert document["end"] == "stopped"
    assert document["pairs"]
    assert left_behind(bench) == []
