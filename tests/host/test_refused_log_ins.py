"""Log-ins that fail: what the message advises, what stays in the folder, and that the corrected command then runs."""

from __future__ import annotations

import shutil
import tomllib

import pytest
from support.outside import Bench, left_behind

QUICK = 'think = "none"\npasses = 3\nlines = ["echo here", "true"]\n'


def refusing(bench: Bench, message: str, status: int) -> str:
    """A program that prints `message` as a log-in does that fails, and ends with `status`."""
    program = bench.folder / "refusing"
    program.write_text(f"#!/bin/sh\necho '{message}'\nexit {status}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("message", "status", "remedy"),
    [
        ("This account is currently not available.", 1, "remedy: name an account that has a shell"),
        ("ssh: connect to host login1 port 22: Connection refused", 255, "remedy: start sshd on that host"),
    ],
    ids=["no shell", "no server"],
)
def test_the_message_of_a_refused_log_in_has_its_remedy(bench: Bench, message: str, status: int, remedy: str) -> None:
    login = refusing(bench, message, status)
    told = bench.typed("run", bench.script(QUICK), "--login", login, status=2).stderr
    assert f'it printed "{message}"; {remedy}' in told


@pytest.mark.parametrize(
    ("command", "failed"), [("run", "kept"), ("ab", "kept/001-"), ("capacity", "kept/trial-1-asked-1-user")]
)
def test_the_folder_of_a_refused_log_in_stays_and_the_message_says_how_to_go_on(
    bench: Bench, command: str, failed: str
) -> None:
    more = {"capacity": ("--target", "p90 < 9s", "--trials", "1", "--longest", "1s", "--max-users", "1")}
    arguments = (bench.script(QUICK), "--out", "kept", *more.get(command, ()))
    bad = bench.script(QUICK.replace("think", f'login = "{refusing(bench, "no", 1)}"\nthink'))
    for _ in range(2):
        told = bench.typed(command, bad, *arguments[1:], status=2).stderr
        assert f"holds a run that failed before any line was answered: remove it with `rm -r {failed}" in told
        assert told.count("rm -r") == 1
    if command == "run":
        kept = tomllib.loads((bench.folder / "kept/run.toml").read_text())
        assert kept["outcome"] == "failed", "the reasons of the refused log-ins stay to be read"
        shutil.rmtree(bench.folder / "kept")
        bench.script(QUICK)
        assert len(bench.run(*arguments[:1]).interactions) == 6
    assert left_behind(bench) == []


def test_a_folder_with_answered_lines_is_never_advised_to_be_removed(bench: Bench) -> None:
    script = bench.script(QUICK)
    bench.run(script)
    description = bench.folder / "kept/run.toml"
    description.write_text(description.read_text().replace('outcome = "done"', 'outcome = "failed"'))
    told = bench.typed("run", script, "--out", "kept", status=2).stderr
    assert "holds a run already: name another folder" in told
    assert "rm -r" not in told


def test_no_more_log_ins_are_counted_against_sshd_than_there_are_users(bench: Bench) -> None:
    """Nobody listens at port 1, so that the log-ins fail; the note on MaxStartups is made before them."""
    login = "ssh -p 1 127.0.0.1"
    bench.typed("run", bench.script(QUICK), "--login", login, "--users", "4", "--out", "kept", status=2)
    notes = "\n".join(tomllib.loads((bench.folder / "kept/run.toml").read_text())["notes"])
    assert "16 are planned" not in notes


@pytest.mark.parametrize(("command", "more"), [("run", ()), ("ab", ("--for", "1s", "--pairs", "4"))])
def test_a_run_that_is_refused_before_anybody_logs_in_leaves_no_folder(
    bench: Bench, command: str, more: tuple[str, ...]
) -> None:
    script = bench.script(QUICK + '\n[beside]\nPORT = "false"\n')
    told = bench.typed(command, script, "--out", "new/kept", *more, status=2).stderr
    assert "it ended before it said anything" in told
    assert "remove it with" not in told
    assert not (bench.folder / "new").exists()
    assert left_behind(bench) == []
