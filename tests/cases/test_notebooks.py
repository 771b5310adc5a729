"""The notebooks in examples/ run from their first cell to their last, and each result shows itself in little HTML."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.outside import PATIENCE_S, environment
from support.places import PROJECT

NOTEBOOKS = sorted((PROJECT / "examples").glob("*.ipynb"))
MOST_OUTPUT_BYTES = 200_000


EXECUTE = """
import os, sys
import nbformat
from nbclient import NotebookClient

patience_s = int(sys.argv[1])
for path in sys.argv[2:]:
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": os.path.dirname(path)}}
    NotebookClient(notebook, startup_timeout=patience_s, iopub_timeout=patience_s, resources=place).execute()
    nbformat.write(notebook, path)
"""
"""As `jupyter execute --inplace` does it, which waits 4 s for a cell's output, and 60 s for a kernel on a busy host."""


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def execute(folder: Path, copies: list[Path]) -> None:
    """Executes notebooks in their own folders, one after the other; all that Jupyter keeps is below `folder`.

    One process takes them all: Jupyter's own start costs more than most of them.
    """
    own = {name: str(folder / "jupyter") for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    result = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(PATIENCE_S), *copies],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(USERS="2", THINK="uniform(1ms, 5ms)", **own),
    )
    assert result.returncode == 0, result.stderr[-3000:]


@dataclass(frozen=True)
class Executed:
    """A notebook that was executed, its code cells with their outputs, and the folder in which it was."""

    notebook: Path
    cells: list[dict[str, Any]]
    folder: Path


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """The copy of each notebook, executed once in a folder of its own."""
    folder = tmp_path_factory.mktemp("notebooks")
    copies = {notebook: folder / notebook.stem / notebook.name for notebook in NOTEBOOKS}
    for notebook, copy in copies.items():
        copy.parent.mkdir()
        copy.write_bytes(notebook.read_bytes())
    execute(folder, list(copies.values()))
    return copies


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def execution(request: pytest.FixtureRequest, executed: dict[Path, Path]) -> Executed:
    copy = executed[request.param]
    return Executed(request.param, code_cells(copy), copy.parent)


def test_a_notebook_runs_to_its_end(execution: Executed) -> None:
    cells = execution.cells
    shown = [output for cell in cells for output in cell["outputs"]]
    assert all(cell["outputs"] for cell in cells), "a cell shows nothing"
    assert all(len(json.dumps(output).encode()) < MOST_OUTPUT_BYTES for output in shown)
    results = ["".join(output["data"]["text/html"]) for output in cells[0]["outputs"] if "data" in output]
    assert len(results) == 1
    assert "<strong>" in results[0]
    assert "<script" not in results[0]
    assert (execution.folder / "runs").is_dir() or execution.notebook.stem == "capacity"


def test_a_printed_report_is_one_text(execution: Executed) -> None:
    printed = [cell for cell in execution.cells if "print(run.report(" in "".join(cell["source"])]
    assert len(printed) == (execution.notebook.stem == "first_run")
    for cell in printed:
        assert [output["output_type"] for output in cell["outputs"]] == ["stream"]
        assert "Response time" in "".join(cell["outputs"][0]["text"])


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code_cells(notebook))


def test_the_manual_names_every_notebook() -> None:
    manual = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")
    assert NOTEBOOKS
    assert all(f"(../examples/{notebook.name})" in manual for notebook in NOTEBOOKS)
