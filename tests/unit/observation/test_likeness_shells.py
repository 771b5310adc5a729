"""The shell of the people and that of a run: named where both are known and differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.observation.figures_file import figures_path, read_figures
from loadgo.observation.likeness.gaps import run_shell
from support.accounting_records import EPOCH_S, MadeProcess, made_day, written_accounting
from support.made_likeness import made_observation, made_run

SHELL_GAP = "work of the shell itself"


@pytest.mark.parametrize(
    ("login", "shell"),
    [
        ("sh", "sh"),
        ("/usr/bin/zsh -l", "zsh"),
        ("sh -c 'stand-in prepare 4096; exec sh'", "sh"),
        ("sh -c 'cd /srv; exec /bin/bash'", "bash"),
        ("sh -c 'menu'", ""),
        ("su - guest", ""),
        ("ssh -tt host", ""),
        ("sh -c 'no end", ""),
        ("", ""),
    ],
)
def test_the_shell_of_a_log_in_is_known_where_the_command_says_it(login: str, shell: str) -> None:
    assert run_shell(login) == shell


def test_accounting_tells_the_shell_of_each_session_that_ended(tmp_path: Path) -> None:
    lives_on = MadeProcess("ls", 9001, 9000, EPOCH_S + 5)
    records = written_accounting(tmp_path / "pacct", [*made_day(6), lives_on])
    loadgo.observe(records, output=tmp_path / "monday.toml")
    assert read_figures(tmp_path / "monday.figures.parquet").description.shells == (("bash", 6),)


def with_shells(script: Path, shells: list[Any] | None) -> None:
    """Writes the shells into the figures of a script; None takes them away, as an earlier loadgo had none."""
    path = figures_path(script)
    (key,) = (key for key in pl.read_parquet_metadata(path) if key.startswith("loadgo"))
    members = json.loads(pl.read_parquet_metadata(path)[key])
    members.pop("shells")
    members |= {} if shells is None else {"shells": shells}
    pl.read_parquet(path).write_parquet(path, metadata={key: json.dumps(members)})


@pytest.mark.parametrize(
    ("shells", "reason_start"),
    [
        ([["bash", 5], ["sh", 1]], "people typed to bash (5 of 6 sessions), and the run's users to sh: "),
        ([["sh", 6]], None),
        ([], None),
        (None, None),
    ],
    ids=["another", "the same", "not known", "of an earlier loadgo"],
)
def test_another_shell_than_that_of_the_people_is_named(
    tmp_path: Path, shells: list[Any] | None, reason_start: str | None
) -> None:
    made_observation(tmp_path, sessions=6)
    script = tmp_path / "monday.toml"
    with_shells(script, shells)
    system = {"kind": "host", "name": "made", "processors": 2, "login": "sh"}
    likeness = loadgo.likeness(script, made_run(tmp_path / "run", script, system=system))
    reasons = [gap.reason for gap in likeness.not_compared if gap.figure == SHELL_GAP]
    assert len(reasons) == int(bool(reason_start))
    assert all(reason.startswith(reason_start or "") for reason in reasons)
    assert (SHELL_GAP in likeness.report("text")) == bool(reason_start)
