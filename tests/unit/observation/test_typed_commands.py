"""Commands of an observation that run themselves: the script types the lines that were given for them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import loadgo
import pytest
from support.accounting_records import made_day, written_accounting
from support.command_line import typed


def accounting(folder: Path) -> Path:
    return written_accounting(folder / "pacct", made_day())


def lines_by_name(text: str) -> dict[str, set[str]]:
    """The lines that a script types for each command."""
    lines: dict[str, set[str]] = {}

    def look(entry: object) -> None:
        if isinstance(entry, dict):
            if "type" in entry:
                lines.setdefault(entry["as"], set()).add(entry["type"].split("{")[0].strip())
            for nested in entry.values():
                look(nested)
        elif isinstance(entry, list):
            for nested in entry:
                look(nested)

    look(tomllib.loads(text)["lines"])
    return lines


def test_a_given_line_is_typed_in_place_of_the_stand_in(tmp_path: Path) -> None:
    line = """git -C "/tmp/a b" status | grep '{x}'"""
    observation = loadgo.observe(accounting(tmp_path), typed={"git": line})
    stand_in = {"sh stand-in.sh"}
    assert lines_by_name(observation.text)["ls"] == stand_in
    script = tomllib.loads(observation.text)
    assert line.split("{")[0].strip() in lines_by_name(observation.text)["git"]
    assert not any(name.endswith("-git") for name in script["words"]), "it needs no jobs"
    assert [(row.command, row.line) for row in observation.typed] == [("git", line)]
    assert not observation.warnings


def test_a_name_that_nobody_typed_is_told_and_loses_nothing(tmp_path: Path) -> None:
    observation = loadgo.observe(accounting(tmp_path), typed={"gitt": "git status"})
    assert observation.typed == ()
    (warning,) = observation.warnings
    assert warning.startswith("No command is called `gitt`")
    assert "`git`" in warning


@pytest.mark.parametrize(
    ("line", "reason"), [("a\x07b", "control character"), ("", "empty"), ("ls {random:nothing}", "nothing")]
)
def test_a_line_that_cannot_be_typed_is_refused_before_anything_is_read(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(loadgo.errors.BadArgument, match=f"the line for `ls` cannot be typed: .*{reason}"):
        loadgo.observe(tmp_path / "nowhere", typed={"ls": line})


def test_hashed_names_have_no_lines_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(loadgo.errors.BadArgument, match="hashes them"):
        loadgo.observe(accounting(tmp_path), names="none", typed={"ls": "ls"})


def test_the_command_takes_names_and_lines(tmp_path: Path) -> None:
    path, script = accounting(tmp_path), tmp_path / "seen.toml"
    typed(tmp_path, "observe", "--from", path, "-o", script, "--typed", "git=git log --format=%h -1")
    assert lines_by_name(script.read_text())["git"] == {"git log --format=%h -1"}
    for bad in ("git", "=ls", "git="):
        told = typed(tmp_path, "observe", "--from", path, "-o", "-", "--typed", bad, status=2)
        assert "is no name and line" in told.stderr
