"""An output that is closed, full, or a pipe without a reader: no traceback, and the status of a failed command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.outside import COMMAND, PATIENCE_S, environment
from support.places import TESTS

RUN = str(TESTS / "runs" / "reported" / "sim-645")
PRINTING = [["--help"], ["run", "--help"], ["--version"], [], ["report", RUN, "--full"], ["machines"]]


def ended(arguments: list[str], redirection: str, folder: Path) -> tuple[int, str]:
    """The status and the standard error of loadgo with its outputs redirected as in a shell."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *arguments]
    done = subprocess.run(
        command, stderr=subprocess.PIPE, env=environment(), text=True, timeout=PATIENCE_S, check=False, cwd=folder
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", PRINTING)
def test_a_closed_standard_output_is_an_error_in_words(arguments: list[str], tmp_path: Path) -> None:
    status, errors = ended(arguments, ">&-", tmp_path)
    assert (status, errors.splitlines()[0][:37]) == (2, "loadgo: the standard output is closed")


@pytest.mark.processes
@pytest.mark.parametrize("arguments", PRINTING)
def test_a_pipe_that_nobody_reads_is_no_bad_finding(arguments: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, env=environment(), text=True, check=False,
        timeout=PATIENCE_S, cwd=tmp_path,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr.strip()) == (2, "loadgo: nobody reads the output any more")


@pytest.mark.processes
@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_errors_that_cannot_be_printed_leave_the_status(redirection: str, tmp_path: Path) -> None:
    assert ended(["report", "no-such-run"], redirection, tmp_path)[0] == 2
    assert ended(["--help"], f"{redirection} >/dev/null", tmp_path)[0] == 0
