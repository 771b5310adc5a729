"""Logs that sudo 1.9.13 and tlog 12.1 wrote of one driven session are read as what was typed, with its times.

A program pressed a key each 80 ms. It typed `ls`, `sleep 0.5`, `python3` with two lines, `vim`, a line with an erased
key, `read -s` with a password, and `exit`.
"""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest

RECORDED = Path(__file__).parents[2] / "recorded"
KEY_NS = 80e6


@pytest.mark.parametrize("name", ["sudo-io", "tlog.json"])
def test_think_and_typing_times_are_those_of_the_driver(name: str) -> None:
    observation = loadgo.observe(RECORDED / name)
    assert observation.think is not None
    assert observation.think.measured == 7
    assert 0.6e9 < observation.think.mean_ns < 1.1e9
    assert observation.typing is not None
    typing = observation.typing
    assert typing.mean_ns / (typing.keys - 1) == pytest.approx(KEY_NS, rel=0.03)
    assert observation.notes[0].startswith("3 lines typed to programs")
    assert not observation.warnings
    for secret in ("secretArg", "hunter2", "hello", "root", "anna"):
        assert secret not in observation.text + observation.report() + observation.report("json")


def test_tlog_has_the_commands_and_how_long_they_took() -> None:
    rows = {row.command: row for row in loadgo.observe(RECORDED / "tlog.json").commands}
    assert {name: row.count for name, row in rows.items()} == {
        "ls": 2, "sleep": 1, "python3": 1, "vim": 1, "read": 1, "exit": 1,
    }  # fmt: skip
    assert rows["sleep"].elapsed_ns == pytest.approx(0.5e9, rel=0.05)


def test_lines_of_sudo_have_the_name_of_its_shell() -> None:
    observation = loadgo.observe(RECORDED / "sudo-io")
    assert {row.command: row.count for row in observation.commands} == {"bash": 7}
