"""Runs with a fault of a drawn kind at a drawn moment: each ends in words, leaves nothing, and its folder is read.

`make test` makes thirty. `LOADGO_RANDOM_FAULTS=2000 LOADGO_RANDOM_FAULTS_FROM=1 pytest -n 2 FILE` makes so many, from
this seed on; with `LOADGO_RANDOM_FAULTS_LOG=FILE` each adds a line of JSON to that file. A seed makes its run again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from support.drawn_faults import plan_of
from support.faulty_runs import outcome_of
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT
RUNS = int(os.environ.get("LOADGO_RANDOM_FAULTS", "30"))
"""How many runs there are."""
FIRST = int(os.environ.get("LOADGO_RANDOM_FAULTS_FROM", "1"))
"""The seed of the first."""
KINDS = re.compile(os.environ.get("LOADGO_RANDOM_FAULTS_KINDS", ""))
"""Only seeds of kinds that have this are taken."""
SEEDS = [seed for seed in range(FIRST, FIRST + RUNS) if KINDS.search(plan_of(seed).kind)]
LOG = os.environ.get("LOADGO_RANDOM_FAULTS_LOG")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_with_a_drawn_fault_ends_in_words_and_leaves_nothing(seed: int, tmp_path: Path) -> None:
    outcome = outcome_of(seed, tmp_path)
    if LOG:
        line = {"seed": seed, "kind": outcome.plan.kind, "stage": outcome.plan.stage, "deed": outcome.deed}
        line |= {"status": outcome.status, "faults": outcome.faults}
        with Path(LOG).open("a") as log:
            log.write(json.dumps(line) + "\n")
    assert not outcome.faults, "\n".join([str(outcome), *outcome.faults])
    shutil.rmtree(tmp_path)
