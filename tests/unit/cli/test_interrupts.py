"""An interrupt of the command line, at any time after its loading: the status is 130, never a death by the signal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.outside import PATIENCE_S, environment

PROGRAM = """
import os, signal, sys
from loadgo import __main__
from loadgo.cli import app

def interrupted():
    {what}

app.main = interrupted
try:
    __main__.main()
finally:
    {at_the_end}
"""
PROGRAMS = {
    "LOADED": """
from loadgo import __main__
__main__.main()
""",
    "REPORTING": """
import sys
sys.path.pop(0)
from loadgo import __main__
from loadgo.cli import app

def reported():
    {kill}
    print("the signal was lost", file=sys.stderr)

app.main = reported
__main__.main()
""",
}
HERE = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(
    ("what", "at_the_end", "said"),
    [
        (HERE, "pass", ""),
        (f"exec({HERE!r})", "pass", ""),
        (f"try: exec({HERE!r})\n    except KeyboardInterrupt: sys.exit(130)", "pass", ""),
        ("sys.exit(130)", HERE, "loadgo: interrupted\n"),
        (HERE, HERE, "loadgo: interrupted\n"),
    ],
    ids=["in the work", "in code from a text", "answered in order", "at the end", "in the work and at the end"],
)
def test_an_interrupt_has_the_status_130(what: str, at_the_end: str, said: str, tmp_path: Path) -> None:
    """An interrupt after the command's own end, which nothing else would tell of, is said, too."""
    (tmp_path / "program.py").write_text(PROGRAM.format(what=what, at_the_end=at_the_end))
    # As a module: after `-m` Python ends by the signal of an interrupt that came in code from a text.
    words = [sys.executable, "-m", "program"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (130, said)


@pytest.mark.parametrize(
    ("name", "status", "program"),
    [
        ("SIGINT", 130, "LOADED"),
        ("SIGTERM", 143, "LOADED"),
        ("SIGHUP", 129, "LOADED"),
        ("SIGTERM", 143, "REPORTING"),
    ],
)
def test_a_signal_that_nothing_catches_gives_a_status_and_a_word(
    name: str, status: int, program: str, tmp_path: Path
) -> None:
    kill = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    # In place of the library that is loaded first: the signal comes while it is imported.
    (tmp_path / "typer.py").write_text(kill)
    (tmp_path / "program.py").write_text(PROGRAMS[program].format(kill=kill))
    words = [sys.executable, "-m", "program"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    said = "interrupted" if name == "SIGINT" else f"ended by {name}"
    assert (done.returncode, done.stderr) == (status, f"loadgo: {said}\n")


@pytest.mark.parametrize("module", ["signal", "typing"])
def test_an_interrupt_of_the_first_imports_has_no_traceback(module: str, tmp_path: Path) -> None:
    # In place of a module that is loaded before `main` could catch anything, or else while it does.
    (tmp_path / f"{module}.py").write_text("import os\nos.kill(os.getpid(), 2)\n")
    (tmp_path / "program.py").write_text(PROGRAMS["LOADED"])
    done = subprocess.run(
        [sys.executable, "-m", "program"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "loadgo: interrupted\n")
