"""The examples run from their first cell to their last, with few users who hardly think."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.outside import PATIENCE_S, environment
from support.places import PROJECT

EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_to_its_end(example: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(USERS="2", THINK="uniform(1ms, 5ms)"),
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    assert (tmp_path / "runs").is_dir()


def test_the_first_run_shows_each_command_and_draws_a_chart(tmp_path: Path) -> None:
    first = next(path for path in EXAMPLES if path.stem == "first_run")
    output = subprocess.run(
        [sys.executable, first],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(USERS="3", THINK="none"),
    ).stdout
    assert "done: the records are in runs/" in output
    for command in ("edit", "compile", "rename", "print", "run", "list", "delete"):
        assert command in output
    (picture,) = tmp_path.glob("runs/*/first_run.html")
    assert "vega" in picture.read_text()
