"""Limits that the host cannot reach, and processes that the kernel killed for want of memory, are said over a run."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import loadgo
import pytest
from loadgo.measures.limits import limit_warnings
from loadgo.measures.run_warnings import facts_in, facts_of, run_warnings
from loadgo.measures.summary import summarize
from loadgo.pairing.experiment import ab
from loadgo.pairing.results import Experiment, Pair
from loadgo.pairing.run_figures import RunFigures
from loadgo.pairing.variant import Variant
from loadgo.pairing.words import warnings as experiment_warnings
from loadgo.records.phases import stretch_of
from loadgo.running.load import Load
from loadgo.running.prepared import RunSettings
from loadgo.sizing.report.document import capacity_document
from loadgo.sizing.site import prepare_site
from support.capacity_results import capacity_of
from support.known_capacity import exacts

HOST = {"processors": 2, "memory_bytes": 25_276_502_016}
LIVE_RUN = Path(__file__).parents[2] / "runs/reported/live-exact"
FIVE = "The limit of 5 processors cannot be reached: the host has 2. It holds nobody back."


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ({"cpus": 5.0}, (FIVE,)),
        (
            {"memory_bytes": 512 << 30},
            ("The limit of 550 GB of memory cannot be reached: the host has 25.3 GB. It holds nobody back.",),
        ),
        ({"cpus": 2.0, "memory_bytes": 25_276_502_016}, ()),
        ({"cpus": None, "memory_bytes": None}, ()),
        ({}, ()),
    ],
)
def test_a_limit_beyond_the_host_is_said(limit: dict[str, float | None], expected: tuple[str, ...]) -> None:
    assert limit_warnings(limit, HOST, {}) == expected
    assert limit_warnings(limit, {}, {}) == (), "of a host that is not described nothing is said"


@pytest.mark.parametrize(
    ("limit", "kills", "expected"),
    [
        (
            {"memory_bytes": 1 << 20},
            7,
            "The kernel killed 7 processes of the users for want of memory, since the users are held to 1.05 MB of "
            "memory. A shell",
        ),
        ({}, 1, "The kernel killed 1 process of the users for want of memory. A shell"),
    ],
)
def test_processes_that_the_kernel_killed_are_counted(limit: dict[str, int], kills: int, expected: str) -> None:
    (warning,) = limit_warnings(limit, HOST, {"users_memory_kills_end": kills})
    assert warning.startswith(expected)
    assert "exit status 137" in warning
    assert limit_warnings(limit, HOST, {"users_memory_kills_end": 0}) == ()


def test_both_stand_over_the_report_of_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(LIVE_RUN, run)
    text = (run / "run.toml").read_text()
    assert "[limit]" not in text
    text = text.replace("[conditions]\n", "[conditions]\nusers_memory_kills_end = 3\n")
    (run / "run.toml").write_text(text + "\n[limit]\ncpus = 4096.0\n")
    tables = loadgo.tables(run)
    warned = run_warnings(facts_of(tables, stretch_of(tables)))
    assert warned == run_warnings(facts_in(summarize(tables)))
    shown = " ".join(str(loadgo.report(run, width=100)).split())
    for begins in ("The limit of 4096 processors cannot be reached: the host has", "The kernel killed 3 processes"):
        assert sum(line.startswith(begins) for line in warned) == 1
        assert shown.index(begins) < shown.index("Response time")


def test_a_search_says_it_before_its_first_trial_and_over_its_answer() -> None:
    site = prepare_site("light", "here", RunSettings(limit="cpus=4096,memory=1M"))
    (warning,) = site.limit_warnings
    assert warning.startswith("The limit of 4096 processors cannot be reached")
    capacity = replace(capacity_of(exacts(4, 8)), limit_warnings=(warning,))
    assert capacity_document(capacity).warnings[0] == warning


def test_an_experiment_says_it_over_its_answer(tmp_path: Path) -> None:
    figures = RunFigures(tmp_path, {"response": 1.0, "cpu": 1.0, "p90 response": 1.0, "throughput": 1.0}, {}, 0, None)
    limited = replace(figures, limit_warnings=(FIVE,))
    pair = Pair(1, "A", figures, limited, 1 / 30)
    sides = (Variant("light"), Variant("light", limit="cpus=5"))
    experiment = Experiment(*sides, Load(), 0.05, ("response",), (pair, pair), (), "most pairs", tmp_path)
    assert experiment_warnings(experiment)[0] == FIVE


def test_an_experiment_says_it_before_its_first_run(tmp_path: Path) -> None:
    def stop_at_first_line(line: str) -> None:
        raise InterruptedError(line)

    limited = Variant("light", limit="cpus=4096")
    with pytest.raises(InterruptedError, match=r"^The limit of 4096 processors cannot be reached: the host has "):
        ab("light", limited, progress=stop_at_first_line, out=tmp_path / "ab")
