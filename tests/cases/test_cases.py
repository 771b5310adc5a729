"""The manual as tests: each page in `cases/` and in `docs/guides/` has scripts and commands, which are run as written.

A block marked `toml file=NAME` is a file. In a block marked `console`, a line after `$` is a command. The lines below
it must be lines of its output, in this order; `…` matches any text in a line, and spaces match any space. `(exit 1)` is
the command's status, by default 0.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.outside import ROOT, Bench, finished
from support.places import PROJECT, TESTS

GUIDES = [page for page in sorted((PROJECT / "docs" / "guides").glob("*.md")) if "```console" in page.read_text()]
PAGES = [*sorted((TESTS / "cases").glob("*.md")), *GUIDES]
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A command of a page, and what it must say."""

    words: list[str]
    expected: list[str]
    status: int


def steps_in(block: str) -> list[Step]:
    """The commands of a console block."""
    steps = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        status = re.fullmatch(r"\(exit (\d+)\)", lines[-1]) if lines else None
        steps.append(Step(shlex.split(command), lines[:-1] if status else lines, int(status[1]) if status else 0))
    return steps


def pattern_of(line: str) -> str:
    """The pattern of output lines that a line of the page matches."""
    parts = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in line.split("…")]
    return rf"^[^\S\n]*{'.*?'.join(parts)}[^\S\n]*$"


def check(step: Step, bench: Bench) -> None:
    """Runs a command as it is written, and compares what it says."""
    assert step.words[0] == "loadgo"
    told = finished(bench.start(*step.words[1:]))
    said = f"{told.stdout}\n{told.stderr}"
    # On a busy machine a driver may be late, and then says so above the report: that is no mistake of the page.
    busy = step.status == 0 and told.returncode == 1 and "INVALID" in told.stdout and "failed:" not in told.stderr
    assert busy or told.returncode == step.status, said
    place = 0
    for line in step.expected:
        found = re.compile(pattern_of(line), re.MULTILINE).search(said, place)
        assert found, f"{shlex.join(step.words)}\nsays no {line!r} after its first {place} characters:\n{said}"
        place = found.end()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_the_manual_is_true(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    if "<!-- needs root -->" in text and not ROOT:
        pytest.skip("needs root: run the tests with sudo -E make test")
    (tmp_path / "homes").mkdir()
    bench, commands = Bench(tmp_path), 0
    for language, name, content in BLOCK.findall(text):
        if name:
            (tmp_path / name).write_text(content)
        elif language == "console":
            for step in steps_in(content):
                check(step, bench)
                commands += 1
    assert commands > 0


def test_a_page_that_is_not_true_fails(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    for wrong in ("$ loadgo --version\nloadgo of another name\n", "$ loadgo --version\n(exit 3)\n"):
        with pytest.raises(AssertionError):
            check(steps_in(wrong)[0], Bench(tmp_path))
