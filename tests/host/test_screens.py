"""Bundled scripts whose users sit in programs: each is typed whole, and does what it says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from support.outside import Bench

SEARCH_PATH = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
"""The PATH on which the programs of the tests' Python come first: IPython is there."""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A place to run in."""
    (tmp_path / "homes").mkdir()
    monkeypatch.setenv("PATH", SEARCH_PATH)
    return Bench(tmp_path)


def needs(remedy: str, *programs: str) -> pytest.MarkDecorator:
    """Skips a test where a program is missing."""
    missing = [program for program in programs if shutil.which(program, path=SEARCH_PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed here: {', '.join(missing)} ({remedy})")


def typed_whole(bench: Bench, script: str) -> pl.DataFrame:
    """The interactions of two users who do not think, each of whom typed all of `script` and logged out."""
    measured = bench.run(script, "--users", "2", "--think", "none", "--meters", "none")
    assert measured.sessions["outcome"].cast(pl.String).to_list() == ["done", "done"]
    assert measured.lost.is_empty()
    return measured.interactions.sort("user", "sent_ns").with_columns(pl.col("command", "outcome").cast(pl.String))


def statuses(rows: pl.DataFrame, command: str) -> list[int]:
    """The exit statuses of a command's interactions that have one, in the order of users and lines."""
    return rows.filter(pl.col("command") == command)["exit_status"].drop_nulls().to_list()


@needs("apt install vim make gcc gdb", "vim", "make", "cc", "gdb")
def test_a_student_mends_the_program(bench: Bench) -> None:
    """The program's exit statuses show that what was typed to vim has reached its file."""
    rows = typed_whole(bench, "course")
    # A look at vim may tell nothing on a busy host, and the shell's mark after that is in doubt.
    assert set(rows["outcome"]) <= {"ok", "unconfirmed"}
    assert statuses(rows, "make error") == [2, 2]
    assert statuses(rows, "make") == [0] * 4
    assert statuses(rows, "run wrong") == [1, 1]
    assert statuses(rows, "run") == [0, 0]
    assert statuses(rows, "vim quit") == [0] * 4
    assert rows["ready_ns"].null_count() == 0
    assert rows.filter(pl.col("command").str.starts_with("gdb")).height == 2 * 14


CELLS = ["import", "draw", "product", "eigenvalues", "loop", "summary", "names"]


def check_cells(rows: pl.DataFrame) -> None:
    """Each cell is one interaction, which ended when the next cell's number was shown."""
    assert rows["command"].to_list() == ["start", *CELLS, "quit"] * 2
    assert set(rows["outcome"]) == {"ok"}
    assert statuses(rows, "quit") == [0, 0]
    assert rows["ready_ns"].null_count() == 0


def has_numpy(program: str) -> bool:
    """Whether the Python of `program` has numpy, as far as its first line names that Python."""
    path = shutil.which(program, path=SEARCH_PATH)
    if path is None:
        return False
    python = Path(path).read_text(errors="replace").splitlines()[0].removeprefix("#!").strip()
    return subprocess.run([*python.split(), "-c", "import numpy"], capture_output=True, check=False).returncode == 0


@needs("pip install ipython", "ipython")
def test_cells_are_computed_by_ipython(bench: Bench) -> None:
    if not has_numpy("ipython"):
        pytest.skip("the Python of ipython has no numpy (pip install numpy)")
    check_cells(typed_whole(bench, "notebook"))


@needs("scripts/setup dev installs it", "jupyter-console")
def test_cells_are_computed_by_a_kernel(bench: Bench) -> None:
    check_cells(typed_whole(bench, "notebook-kernel"))


def test_a_job_is_started_and_followed(bench: Bench) -> None:
    rows = typed_whole(bench, "shell-light")
    assert set(rows["outcome"]) == {"ok"}
    assert statuses(rows, "tail stop") == [130, 130]
    assert rows.filter(pl.col("command") == "queue").height == 2 * 5


def test_what_a_script_needs_is_named_with_its_remedy_before_anybody_logs_in(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The PATH has a shell and vim alone."""
    few = bench.folder / "bin"
    few.mkdir()
    (few / "sh").symlink_to("/bin/sh")
    (few / "vim").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(few))
    told = bench.typed("run", "course", "--out", "kept", status=2)
    said = " ".join(told.stderr.split())
    assert "the script needs `make`, `cc`, `gdb`, which this host does not have" in said
    assert "install them (apt install make gcc libc6-dev gdb), or use another script" in said
    assert not (bench.folder / "kept").exists()
