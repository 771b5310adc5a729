"""The command line from outside: what it says and how it exits, on what people type by mistake and on real runs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import loadgo as library
import pytest
from support.command_line import typed
from support.outside import LOOK_EVERY_S, NEEDS_ROOT, PATIENCE_S, Bench, check_good

COMMAND = [sys.executable, "-m", "loadgo"]
QUICK = 'name = "quick"\nlogin = "sh"\nthink = "none"\nlines = ["true", "echo hello"]\n'


def loadgo(*arguments: str | Path, folder: Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Runs `loadgo ARGUMENTS` in `folder`, which must exit with `status`, or None for any."""
    finished = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(),
    )
    exited = f"exit {finished.returncode}\n{finished.stdout}\n{finished.stderr}"
    assert status in (None, finished.returncode), exited
    assert "Traceback" not in finished.stderr
    return finished


def recorded(*arguments: str | Path, folder: Path) -> None:
    """Records the run `kept` by `loadgo run ARGUMENTS`, which must be a good one."""
    told = typed(folder, "run", *arguments, "--out", "kept", status=None)
    check_good(told, library.tables(folder / "kept"))


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "LOADGO_RUNS"} | {
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """A script that is over at once."""
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return path


def test_alone_it_shows_a_first_command_that_works(tmp_path: Path) -> None:
    assert "loadgo run typical-user --users 20" in loadgo(folder=tmp_path).stdout


def test_help_names_the_commands_and_the_exit_statuses(tmp_path: Path) -> None:
    told = loadgo("--help", folder=tmp_path).stdout
    for command in ("run", "report", "runs", "query", "record", "doctor"):
        assert f" {command} " in told
    assert "Exit status" in told


def test_a_mistake_in_a_script_has_its_file_line_and_column(tmp_path: Path) -> None:
    script = tmp_path / "wrong.toml"
    script.write_text('name = "wrong"\nlogin = "sh"\nthink = "uniform(9s, 1s)"\nlines = ["true"]\n')
    assert "wrong.toml, line 3, column " in typed(tmp_path, "run", script, status=2).stderr


def test_a_file_that_is_no_text_is_refused_with_the_place(tmp_path: Path) -> None:
    script = tmp_path / "binary.toml"
    script.write_bytes(b'name = "x"\nlogin = "\xff"\n')
    assert "binary.toml:2: byte 21 of the file is not UTF-8" in typed(tmp_path, "run", script, status=2).stderr


def test_a_run_is_recorded_and_reported_in_every_format(quick: Path, tmp_path: Path) -> None:
    recorded(quick, "--users", "3", "--passes", "4", folder=tmp_path)
    shown = loadgo("report", "kept", folder=tmp_path).stdout
    assert "3 users" in shown
    assert typed(tmp_path, "report", "kept").stdout == shown, "a process says what is said here"
    assert json.loads(typed(tmp_path, "report", "kept", "--format", "json").stdout)
    for drawn, begins in (("html", b"<!"), ("svg", b"<svg"), ("png", b"\x89PNG")):
        typed(tmp_path, "report", "kept", "--format", drawn)
        assert (tmp_path / "kept" / f"report.{drawn}").read_bytes().lower().startswith(begins.lower())
    answer = typed(tmp_path, "query", "SELECT count(*) AS n FROM interactions", "--run", "kept", "--format", "csv")
    assert answer.stdout.split() == ["n", "24"]
    counted = typed(tmp_path, "query", "SELECT count(*) AS n FROM interactions", "kept", "--format", "csv")
    assert counted.stdout == answer.stdout


def test_a_quiet_run_prints_its_folder_and_the_list_of_runs_has_it(quick: Path, tmp_path: Path) -> None:
    told = loadgo("run", quick, "--quiet", folder=tmp_path, status=None)
    folder = told.stdout.strip()
    assert folder.startswith("runs/")
    check_good(told, library.tables(tmp_path / folder))
    assert Path(folder).name in typed(tmp_path, "runs").stdout


def test_a_quiet_run_says_that_a_command_does_not_exist(tmp_path: Path) -> None:
    script = tmp_path / "misspelt.toml"
    script.write_text(QUICK.replace("echo hello", "no-such-command status"))
    told = typed(tmp_path, "run", script, "--passes", "3", "--quiet", status=None)
    assert told.stdout.startswith("runs/")
    assert "loadgo: Lines ended with exit status 127, with which a shell says that there is no such" in told.stderr
    assert "of `no-such-command`. Their times are those of the message." in told.stderr


def test_a_condition_that_holds_fails_the_run(quick: Path, tmp_path: Path) -> None:
    told = typed(tmp_path, "run", quick, "--users", "2", "--fail-if", "errors >= 0", status=1)
    assert "failed:" in told.stderr
    recorded(quick, "--users", "2", "--fail-if", "errors > 0", folder=tmp_path)


def test_a_missing_program_is_named_before_anybody_logs_in(tmp_path: Path) -> None:
    script = tmp_path / "needy.toml"
    script.write_text('name = "needy"\nlogin = "sh"\nneeds = ["no-such-compiler"]\nlines = ["true"]\n')
    assert "no-such-compiler" in typed(tmp_path, "run", script, status=2).stderr


def test_a_reader_who_goes_away_is_no_traceback(quick: Path, tmp_path: Path) -> None:
    recorded(quick, folder=tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [*COMMAND, "report", "kept"], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment()
    )
    os.close(writer)
    assert result.returncode == 2
    assert result.stderr.strip() == "loadgo: nobody reads the output any more"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_stopped_in_order_and_reported(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "long.toml"
    script.write_text('name = "long"\nlogin = "sh"\nthink = "fixed(50ms)"\npasses = 100000\nlines = ["echo here"]\n')
    running = subprocess.Popen(
        [*COMMAND, "run", "long.toml", "--out", "kept"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    wait_for_records(tmp_path / "kept" / "interactions.arrows", running)
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, err
    assert "stopped before its end" in err
    assert "1 user" in out
    assert 'outcome = "stopped"' in (tmp_path / "kept" / "run.toml").read_text()
    assert (tmp_path / "kept" / "interactions.parquet").exists()


def wait_for_records(stream: Path, running: subprocess.Popen[str]) -> None:
    """Returns when the run has written a batch; fails when it ends before."""
    while running.poll() is None:
        if stream.exists() and stream.stat().st_size > 4096:
            return
        time.sleep(LOOK_EVERY_S)
    pytest.fail("the run ended by itself")


def test_doctor_says_of_each_ability_whether_it_can_be_had(tmp_path: Path) -> None:
    told = loadgo("doctor", folder=tmp_path).stdout
    assert "terminals" in told
    assert " are available" in told
    assert max(map(len, told.splitlines())) <= 120


@NEEDS_ROOT
@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize("command", ["ready", "meter", "profile", "transfer --csv rows.csv"])
def test_a_report_that_cannot_be_printed_leaves_the_command_s_status(
    command: str, redirection: str, tmp_path: Path
) -> None:
    (tmp_path / "homes").mkdir()
    without_stderr = ("sh", "-c", f'exec "$@" {redirection}', "sh")
    Bench(tmp_path).loadgo(*command.split(), "--", "sh", "-c", "exit 3", status=3, before=without_stderr)
    if "--csv" in command:
        assert len((tmp_path / "rows.csv").read_text().splitlines()) == 2
