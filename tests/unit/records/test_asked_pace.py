"""The think time and the typing that a run was given in place of its script's."""

from pathlib import Path

import pytest
from loadgo.records.conditions import asked_pace

SCRIPT = 'name = "paced"\nlogin = "sh"\nthink = "exponential(1s)"\ntyping = "12.5 chars/s"\nlines = ["ls"]\n'
OWN = {"think": "exponential(1s)", "typing": "12.5 chars/s"}


@pytest.mark.parametrize(
    ("load", "asked"),
    [
        (OWN, {}),
        (OWN | {"think": "none"}, {"think": "none"}),
        (OWN | {"typing": "40 chars/s"}, {"typing": "40 chars/s"}),
        ({"think": OWN["think"]}, {"typing": "none"}),
        (OWN | {"typing": "edited by hand"}, {"typing": "edited by hand"}),
    ],
)
def test_what_a_run_had_of_its_own_is_no_option(tmp_path: Path, load: dict[str, str], asked: dict[str, str]) -> None:
    (tmp_path / "script.toml").write_text(SCRIPT)
    assert asked_pace(tmp_path, load) == asked


def test_without_its_script_a_run_keeps_what_it_has(tmp_path: Path) -> None:
    assert asked_pace(tmp_path, OWN) == OWN
