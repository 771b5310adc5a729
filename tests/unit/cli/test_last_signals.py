"""Signals that come while Python ends after a command: they do not take the command's status away."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys

class Last:
    def __init__(self):
        self.kill, self.me, self.number = os.kill, os.getpid(), getattr(signal, sys.argv[1])

    def __del__(self):
        self.kill(self.me, self.number)

sys.modules["last"] = Last()
import loadgo.__main__ as entry
import loadgo.cli.app as app

app.main = lambda: sys.exit(1)
entry.main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_as_python_ends_does_not_end_the_command_in_silence(name: str) -> None:
    assert subprocess.run([sys.executable, "-c", PROGRAM, name]).returncode == 1
