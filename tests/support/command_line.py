"""The command line in the test's own process: the same words, output and exit status, without the start of a Python.

A command as a process costs a second of processor time before its first line of work. So tests start one where their
claim is about the process: signals, kills, other processes, what is left behind, standard streams, limits and rights.
All others type here.
"""

from __future__ import annotations

import subprocess
from contextlib import chdir
from pathlib import Path


def typed(folder: Path, *arguments: str | Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Runs `loadgo ARGUMENTS` in `folder`. It must exit with `status`, or None for any; a bug's error is raised."""
    from loadgo.cli.app import app
    from typer.testing import CliRunner

    words = [str(argument) for argument in arguments]
    variables = {"COLUMNS": "120", "NO_COLOR": "1", "LOADGO_RUNS": None, "LOADGO_TRACEBACK": None}
    with chdir(folder):
        told = CliRunner().invoke(app, words, env=variables, catch_exceptions=False)
    assert status in (None, told.exit_code), f"exit {told.exit_code}\n{told.stdout}\n{told.stderr}"
    return subprocess.CompletedProcess(words, told.exit_code, told.stdout, told.stderr)
