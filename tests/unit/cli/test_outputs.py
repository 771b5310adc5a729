"""Where an answer goes is tried before the work: a place that cannot be written costs nobody an hour."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from loadgo.cli.app import app
from loadgo.cli.output import check_writable, wants_color
from support.outside import COMMAND, PATIENCE_S, environment
from support.places import TESTS
from typer.testing import CliRunner

COMMANDS = {
    "capacity": ["capacity", "no-such-script", "--target", "p90 < 1s"],
    "fit": ["fit", "no-such-run"],
    "compare": ["compare", "no-such-run", "no-such-run"],
    "speedup": ["speedup", "no-such-script", "--on", "no-such-machine"],
    "cost": ["cost", "no-such-run"],
    "fairness": ["cost", "no-such-run", "--against", "no-such-run"],
    "reproduce": ["reproduce", "no-such-document"],
    "meter": ["meter", "--for", "no-such-time"],
    "ready": ["ready", "-o", "PLACE", "--", "no-such-command"],
    "profile": ["profile", "--folded", "PLACE", "--of", "no-such-run"],
}
"""Each with work that cannot be done: what is complained of is what was looked at first."""


def said(name: str, place: Path) -> str:
    """The message of a command whose output cannot be written to `place`; it must exit with 2."""
    asked = COMMANDS[name]
    whole = [str(place) if word == "PLACE" else word for word in asked]
    whole += [] if "PLACE" in asked else ["-o", str(place)]
    result = CliRunner().invoke(app, whole)
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_place_that_cannot_be_written_is_told_before_the_work(name: str, tmp_path: Path) -> None:
    words = said(name, tmp_path / "nowhere" / "answer.txt")
    assert "there is no folder" in words
    assert "name another file with" in words
    assert "no-such" not in words


@pytest.mark.parametrize("name", ["capacity", "compare", "fit"])
def test_a_place_that_is_tried_is_left_as_it_was(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.toml"
    kept.write_text("kept", encoding="utf-8")
    said(name, kept)
    said(name, tmp_path / "new.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.toml"]
    assert kept.read_text(encoding="utf-8") == "kept"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here: no disk is full on demand")
def test_an_answer_that_cannot_be_written_after_all_is_not_lost() -> None:
    result = CliRunner().invoke(app, ["compare", "mpl-16:ctss", "mpl-16:multics", "-o", "/dev/full"])
    assert result.exit_code == 2
    assert "B against A: CPU is higher (+39.7 %)." in result.output
    assert "/dev/full: No space left on device" in " ".join(result.output.split())


SAME_FILE = {
    "fit": (["fit", "no-such-run", "-o", "PLACE", "--report", "PLACE"], "--report and -o"),
    "transfer": (["transfer", "--to", "127.0.0.1:1", "--csv", "PLACE", "-o", "PLACE"], "-o and --csv"),
    "transfer of a command": (["transfer", "--csv", "PLACE", "-o", "PLACE", "--", "true"], "-o and --csv"),
}


@pytest.mark.parametrize("name", SAME_FILE)
def test_two_outputs_are_not_written_to_one_file(name: str, tmp_path: Path) -> None:
    arguments, options = SAME_FILE[name]
    place = tmp_path / "both"
    result = CliRunner().invoke(app, [str(place) if word == "PLACE" else word for word in arguments])
    assert (result.exit_code, place.exists()) == (2, False)
    assert f"{options} are both" in " ".join(result.output.split())


def test_a_message_names_the_option_of_its_file(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere" / "fit.txt")
    result = CliRunner().invoke(app, ["fit", "no-such-run", "-o", str(tmp_path / "fit.toml"), "--report", nowhere])
    assert "name another file with --report" in " ".join(result.output.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here: no disk is full on demand")
def test_two_files_that_cannot_be_written_are_both_named() -> None:
    result = CliRunner().invoke(app, ["transfer", "--csv", "/dev/full", "-o", "/dev/full", "--", "true"])
    assert result.exit_code == 2
    assert result.output.count("No space left on device") == 2


def test_a_printed_tariff_goes_into_its_file_and_no_option_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    printed = CliRunner().invoke(app, ["cost", "--print-tariff", "cloud"])
    written = CliRunner().invoke(app, ["cost", "--print-tariff", "cloud", "-o", str(file)])
    assert (printed.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert file.read_text(encoding="utf-8") == printed.stdout
    for more in (
        ["--print-tariff", "cloud", "--format", "json"],
        ["--print-tariff", "cloud", "last"],
        ["--tariffs", "last"],
    ):
        result = CliRunner().invoke(app, ["cost", *more])
        assert (result.exit_code, "leave" in result.output) == (2, True)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder: name a file in it with --csv"):
        check_writable(tmp_path, "--csv")


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be written \(File name too long\)"):
        check_writable(tmp_path / ("x" * 300))


def test_a_link_to_nothing_is_not_made_a_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    check_writable(link)
    assert (link.is_symlink(), link.exists()) == (True, False)


def test_a_second_cast_is_refused_by_the_name_of_its_option(tmp_path: Path) -> None:
    arguments = ["record", str(tmp_path / "a.toml"), "--from-cast", "a.cast", "--cast", str(tmp_path / "b.cast")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "omit --cast" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("term", "no_color", "colored"), [("xterm", "", True), ("dumb", "", False), (None, "", True), ("xterm", "1", False)]
)
def test_a_dumb_terminal_gets_no_colors(
    term: str | None, no_color: str, colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    controller, terminal = pty.openpty()
    with open(controller, "rb"), os.fdopen(terminal, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert wants_color() is colored
        monkeypatch.undo()


def printed_on_a_terminal(*arguments: str, apart: bool = False) -> str:
    """All that a command prints on a terminal; with `apart`, its standard output is a pipe."""
    controller, terminal = pty.openpty()
    try:
        running = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if apart else terminal,
            stderr=terminal,
            env=environment(),
        )
        os.close(terminal)
        pieces = []
        while select.select([controller], [], [], PATIENCE_S)[0]:
            try:
                pieces.append(os.read(controller, 1 << 16))
            except OSError:
                break  # the command has ended, and all is read
        piped = running.communicate(timeout=PATIENCE_S)[0] or b""
        return " ".join((b"".join(pieces) + piped).decode().split())
    finally:
        os.close(controller)


@pytest.mark.processes
def test_a_warning_stands_once_on_a_terminal_and_twice_where_the_outputs_are_apart() -> None:
    asked = ("report", str(TESTS / "runs/reported/live-exact"), "--fail-if", "p90 > 0s")
    assert printed_on_a_terminal(*asked).lower().count("failed: p90 is 29.0 ms, > 0") == 1
    assert printed_on_a_terminal(*asked, apart=True).lower().count("failed: p90 is 29.0 ms, > 0") == 2


def test_a_warning_stands_once_in_a_pipe_that_has_both_outputs() -> None:
    asked = ("report", str(TESTS / "runs/reported/live-exact"), "--fail-if", "p90 > 0s")
    both = subprocess.run(
        [*COMMAND, *asked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment()
    )
    assert both.returncode == 1
    assert " ".join(both.stdout.split()).lower().count("failed: p90 is 29.0 ms, > 0") == 1
