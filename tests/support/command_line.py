"""The command line in the test's own process: the same words, output and exit status, without the start of a Python.

A command as a process costs a second of processor time before its first line of work. So tests start one where their
claim is about the process: signals, kills, other processes, what is left behind, standard streams, limits and rights.
All others type here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path


def typed(
    folder: Path, *arguments: str | Path, status: int | None = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs `loadgo ARGUMENTS` in `folder`, with these variables in the environment.

    It must exit with `status`, or None for any; a bug's error is raised. With a `TMPDIR` the users' homes are there.
    """
    from loadgo.cli.app import app
    from typer.testing import CliRunner

    words = [str(argument) for argument in arguments]
    usual = {"COLUMNS": "120", "NO_COLOR": "1", "LOADGO_RUNS": None, "LOADGO_TRACEBACK": None}
    with chdir(folder), process_settings(words, variables.get("TMPDIR")):
        told = CliRunner().invoke(app, words, env=usual | variables, catch_exceptions=False)
    assert status in (None, told.exit_code), f"exit {told.exit_code}\n{told.stdout}\n{told.stderr}"
    return subprocess.CompletedProcess(words, told.exit_code, told.stdout, told.stderr)


@contextmanager
def process_settings(words: list[str], temporary: str | None) -> Iterator[None]:
    """Sets `sys.argv` and the folder of temporary files, and sets them back at the end of the context.

    Python reads `TMPDIR` only once, so that setting the variable alone would change nothing.
    """
    before = sys.argv, tempfile.tempdir
    sys.argv, tempfile.tempdir = ["loadgo", *words], temporary or tempfile.tempdir
    try:
        yield
    finally:
        sys.argv, tempfile.tempdir = before
