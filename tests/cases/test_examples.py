"""The examples run from their first cell to their last, with few users who hardly think."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.outside import PATIENCE_S, environment
from support.places import PROJECT

EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))


@dataclass(frozen=True)
class Finished:
    """An example that ran to its end in a folder."""

    example: Path
    process: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Each example, run once."""
    folder = tmp_path_factory.mktemp(request.param.stem)
    process = subprocess.run(
        [sys.executable, request.param],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(USERS="2", THINK="uniform(1ms, 5ms)"),
    )
    return Finished(request.param, process, folder)


def test_an_example_runs_to_its_end(finished: Finished) -> None:
    assert finished.process.returncode == 0, finished.process.stderr
    assert not finished.process.stderr
    assert (finished.folder / "runs").is_dir()


def test_the_first_run_shows_each_command_and_draws_a_chart(finished: Finished) -> None:
    assert finished.example.stem == "first_run", "another example needs claims of its own"
    output = finished.process.stdout
    assert "done: the records are in runs/" in output
    for command in ("edit", "compile", "rename", "print", "run", "list", "delete"):
        assert command in output
    (picture,) = finished.folder.glob("runs/*/first_run.html")
    assert "vega" in picture.read_text()
