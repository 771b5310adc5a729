"""The words of a report about its meters: which there were, why others are missing, and processes without a name."""

import dataclasses
import re

import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.report import render
from loadgo.reporting.view import View
from support.synthetic import frame
from support.synthetic_meters import metered_alone, metered_host


@pytest.fixture(scope="module")
def run() -> Tables:
    """A host's run with everything metered."""
    return metered_host()


@pytest.fixture(scope="module")
def alone() -> Tables:
    """A host that was metered without a load."""
    return metered_alone()


def full(run: Tables) -> str:
    """The full report of a run as wide text."""
    return str(render(summarize(run), run, "text", width=200, view=View(full=True)))


def test_which_meters_were_exact_estimated_or_not_there_is_told(alone: Tables) -> None:
    text = full(alone)
    for line in (
        "Exact in the exact meters: total time and run queue.",
        "Estimated: context switches, by a clock that samples.",
        "Not measured: mappings, since perf events are not permitted: run as root.",
        "2 programs did not load",
    ):
        assert line in text


def test_meters_that_are_missing_for_the_same_reason_share_a_sentence(alone: Tables) -> None:
    why = "the cheap meters leave it out: --meters exact"
    missing = {"faults": why, "primitives": why, "clock profile": "this kernel has no perf events"}
    meters = alone.conditions["meters"] | {"not_here": missing}
    cheap = dataclasses.replace(alone, conditions=alone.conditions | {"meters": meters})
    text = full(cheap)
    assert f"Not measured: faults and system calls, since {why}." in text
    assert "Not measured: clock profile, since this kernel has no perf events." in text


def test_processes_without_a_name_are_not_called_as_the_processes_that_are_left_out(run: Tables) -> None:
    row = run.processes.row(run.processes.height // 2, named=True) | {"who": "others", "user": None, "cpu_ns": 10**9}
    crowded = dataclasses.replace(run, processes=pl.concat([run.processes, frame([row], "processes")]))
    text = full(crowded)
    assert re.search(r"^unnamed ", text[text.index("\nTime by process") :], re.MULTILINE)
