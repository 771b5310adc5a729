"""The imports of a command: the large libraries that its answer needs, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import TESTS

LARGE_LIBRARIES = (
    "altair",
    "asyncio",
    "concurrent.futures.process",
    "jinja2",
    "multiprocessing",
    "numpy",
    "polars",
    "prometheus_client",
    "pydantic",
    "rich",
    "rich.markdown",
    "scipy",
    "starlette",
    "tomlkit",
    "uvicorn",
    "vl_convert",
)
"""Libraries, and parts of libraries, that take long to import."""
RUN = str(TESTS / "runs" / "reported" / "sim-645")
TABLES = {"numpy", "polars"}
NEEDED = {
    ("--version",): set[str](),
    ("--help",): {"rich"},
    ("run", "--help"): {"rich"},
    ("report", "--help"): {"rich"},
    ("runs",): {"rich"} | TABLES,
    ("report", RUN): {"rich"} | TABLES,
    ("report", RUN, "--format", "json"): TABLES,
    ("report", RUN, "--format", "csv"): TABLES,
    ("report", RUN, "--format", "html", "--output", "-"): {"altair", "jinja2"} | TABLES,
}
"""The large libraries that each command needs."""
RUN_A_COMMAND = (
    "import sys; from loadgo.__main__ import main\ntry: main()\nexcept SystemExit as end: assert not end.code"
)
IMPORT_WHAT_RUNS = "import sys, loadgo.cli.run, loadgo.running.run, loadgo.running.host"


def imported(program: str, *arguments: str, runs: Path) -> set[str]:
    """The large libraries that a new Python has imported when the program is done."""
    tell = (
        f"print(__import__('json').dumps([name for name in {LARGE_LIBRARIES} if name in sys.modules]), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\n{tell}", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"LOADGO_RUNS": str(runs)},
    )
    return set(json.loads(result.stderr.splitlines()[-1]))


@pytest.mark.processes
@pytest.mark.parametrize("arguments", NEEDED, ids=lambda words: " ".join(Path(word).name for word in words))
def test_a_command_imports_the_large_libraries_that_it_needs_and_no_other(arguments: tuple[str, ...]) -> None:
    assert imported(RUN_A_COMMAND, *arguments, runs=TESTS / "runs" / "reported") == NEEDED[arguments]


def test_a_run_begins_without_any_large_library(tmp_path: Path) -> None:
    assert imported(IMPORT_WHAT_RUNS, runs=tmp_path) == set()


def test_modules_of_another_python_are_named_with_the_remedy(tmp_path: Path) -> None:
    """A module of another Python's NumPy cannot be loaded, as this one cannot."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError('No module named numpy._core\\nPLEASE READ')")
    ended = subprocess.run(
        [sys.executable, "-m", "loadgo", "report", RUN],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "No module named numpy._core: PYTHONPATH is set" in ended.stderr
    assert "`env -u PYTHONPATH loadgo …`" in ended.stderr
